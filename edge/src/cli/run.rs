//! `pdm-edge run`: runs the service. SIGTERM and SIGINT stop the service; SIGHUP makes it read its
//! configuration again.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pdm_service::clock::SystemClock;
use pdm_service::exit::Exit;
use pdm_service::files::keep_private;
use pdm_service::{shutdown, telemetry};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::Failure;
use crate::pipeline::{Edge, Handle, StartError};
use crate::settings::{self, EdgeSettings};
use crate::spool::SpoolError;

mod log;

/// Arguments of `run`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  pdm-edge run --config config/edge.toml
  PDM_LOG=debug pdm-edge run --config config/edge.toml --until-done

Exit codes: 0 stopped by SIGINT or SIGTERM, 65/66/74 a source or the spool cannot be opened, 70 a \
part failed while it ran, 78 the configuration is wrong")]
pub struct Args {
    /// Configuration file
    #[arg(long, value_name = "FILE", env = "PDM_EDGE_CONFIG")]
    pub config: PathBuf,
    /// End when every source has come to its end and the broker has taken everything
    #[arg(long)]
    pub until_done: bool,
}

/// Runs the command.
///
/// # Errors
/// A [`Failure`]: 78 for a configuration that cannot be used, 66, 65 or 74 for a source or a spool
/// that cannot be opened, 70 for a part that failed while it ran.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let (settings, log) =
        settings::read_settings(&args.config).map_err(|error| Failure::new(Exit::Config, error))?;
    with_a_small_heap();
    keep_private();
    telemetry::start(log.format, &log.filter);
    runtime()?.block_on(serve(args, settings))
}

/// Settings of glibc's heap: one heap instead of one for each thread, each of which keeps its
/// largest size; blocks of samples directly from the system, since they leave holes in the heap;
/// and no reserve at the heap's end. Measured by `cargo bench -p pdm-edge --bench memory` with
/// eight channels at 25.6 kHz: 12 MB less, half a MB of it by the last two settings.
const HEAP: [(&str, &str); 4] = [
    ("MALLOC_ARENA_MAX", "1"),
    ("MALLOC_MMAP_THRESHOLD_", "32768"),
    ("MALLOC_TRIM_THRESHOLD_", "32768"),
    ("MALLOC_TOP_PAD_", "4096"),
];

/// Applies [`HEAP`]. glibc reads its settings before `main`, so the program replaces itself once by
/// itself with the settings in its environment. If one of them is set already, nothing is changed.
fn with_a_small_heap() {
    let is_told = HEAP.iter().any(|(name, _)| std::env::var_os(name).is_some());
    if !cfg!(target_env = "gnu") || is_told {
        return;
    }
    let mut arguments = std::env::args_os();
    if let (Ok(program), Some(name)) = (std::env::current_exe(), arguments.next()) {
        let mut again = std::process::Command::new(program);
        // `exec` returns only if it failed; the program then runs with the usual heap
        let _error = again.arg0(name).args(arguments).envs(HEAP).exec();
    }
}

/// The runtime of a command, with one thread for each core.
pub(super) fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}

/// Runs the service. After a SIGHUP with a valid configuration, the edge is stopped as by SIGTERM
/// and started with the new settings; the spool keeps all state between. Settings with which it
/// does not start are given up for those of before.
async fn serve(args: &Args, mut settings: EdgeSettings) -> anyhow::Result<Exit> {
    let stop = shutdown::on_signal()?;
    let mut reload = signal(SignalKind::hangup())?;
    let (mut before, mut refused) = (None, None);
    loop {
        settings.until_done = args.until_done;
        let now = settings.clone();
        let edge = match Edge::start(now.clone(), Arc::new(SystemClock)).await {
            Ok(edge) => edge,
            Err(error) => {
                let Some(earlier) = before.take() else { return Err(started(error).into()) };
                log::configuration_given_up(&error);
                let config = args.config.display();
                refused = Some(format!("{config}: the gateway does not start with it: {error}"));
                settings = earlier;
                continue;
            }
        };
        if let Some(why) = refused.take() {
            edge.remarks().refuse_configuration(&why);
        }
        let mut progress = edge.progress();
        log::measuring();
        let renewed = tokio::select! {
            () = stop.cancelled() => None,
            () = edge.drained(), if args.until_done => None,
            // an error would mean that the sender is gone, and the sender is part of the edge
            _ = progress.wait_for(|progress| progress.failed) => None,
            renewed = renewed_settings(&mut reload, &args.config, &now, &edge) => Some(renewed),
        };
        let done = edge.stop().await.map_err(|error| Failure::new(Exit::Software, error))?;
        log::stopped(&done);
        match renewed {
            Some(renewed) => before = Some(std::mem::replace(&mut settings, renewed)),
            None => return Ok(Exit::Ok),
        }
    }
}

/// Waits for a SIGHUP with a valid configuration. One that is invalid, or lacks what no reload may
/// take away, is logged, said in `/healthz` and, over the broker, to staff, and the service
/// continues.
async fn renewed_settings(
    reload: &mut Signal,
    path: &Path,
    now: &EdgeSettings,
    edge: &Handle,
) -> EdgeSettings {
    loop {
        if reload.recv().await.is_none() {
            // the stream of signals has ended, so no SIGHUP can come any more
            std::future::pending::<()>().await;
        }
        let read = settings::read_settings(path).map_err(|error| error.to_string());
        let whole = read.and_then(|(settings, _log)| match now.torn_off_in(&settings) {
            None => Ok(settings),
            Some(torn) => Err(format!("{}: {torn}", path.display())),
        });
        match whole {
            Ok(settings) => {
                log::configuration_renewed(path);
                return settings;
            }
            Err(why) => {
                log::configuration_refused(&why);
                edge.remarks().refuse_configuration(&why);
            }
        }
    }
}

/// The exit code of an edge that did not start.
pub(super) fn started(error: StartError) -> Failure {
    let exit = match &error {
        StartError::Spool(error) => spool_exit(error),
        // the options of a source come from the configuration here
        StartError::Source { source, .. } if source.exit() == Exit::Usage => Exit::Config,
        StartError::Source { source, .. } => source.exit(),
        StartError::Unfit { .. } | StartError::Admin(_) => Exit::Config,
    };
    Failure::new(exit, error)
}

/// The exit code of a spool that cannot be opened.
pub(super) fn spool_exit(error: &SpoolError) -> Exit {
    let not_ours = matches!(error, SpoolError::Foreign { .. } | SpoolError::Newer { .. });
    if not_ours { Exit::Config } else { Exit::Io }
}
