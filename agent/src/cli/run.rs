//! `pdm-agent run`: runs the service until it is stopped.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pdm_service::clock::{FollowingClock, SharedClock, SystemClock};
use pdm_service::config::ConfigError;
use pdm_service::error_chain::error_chain;
use pdm_service::exit::{Exit, Failure};
use pdm_service::files::keep_private;
use pdm_service::telemetry::LogFormat;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::failure;
use crate::configuration::AgentFile;
use crate::service::{Agent, Handle};
use crate::settings::AgentSettings;
use crate::traces::Telemetry;

/// Interval of the check whether a part of the service has ended by itself.
const LOOK: Duration = Duration::from_secs(1);

/// Arguments of `run`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pdm-agent run --config /etc/pdm/agent.toml
  PDM_LOG=info,pdm_agent=debug pdm-agent run --config agent.toml --log json

A store that is away is waited for, with health served and staff told. SIGHUP reads the \
configuration again; one that is wrong is refused whole.

Exit codes: 0 stopped, 69 address unavailable or another agent runs on the file of the store, \
74 the store is of a newer version, 78 bad configuration, or a database that is not UTF8 or behind \
a pooler in transaction mode")]
pub struct Args {
    /// The configuration
    #[arg(long, value_name = "FILE", env = "PDM_AGENT_CONFIG")]
    config: PathBuf,
    /// Name of this replica's session at the broker, in place of `broker.client_id`
    #[arg(long, value_name = "NAME", env = "PDM_CLIENT_ID")]
    client_id: Option<String>,
    /// Form of the log lines on standard error
    #[arg(long, value_name = "FORM", default_value = "text", value_parser = ["text", "json"])]
    log: String,
}

/// Runs the command.
///
/// # Errors
/// A [`Failure`] with its exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let format = if args.log == "json" { LogFormat::Json } else { LogFormat::Text };
    let settings = read(args).map_err(failure::config)?;
    keep_private();
    let telemetry = Telemetry::start(&settings, format, "info");
    let telemetry = telemetry.map_err(|error| Failure::new(Exit::Unavailable, error))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(failure::runtime)?;
    let served = runtime.block_on(serve(args, settings));
    telemetry.end();
    served
}

/// Why an agent ends.
enum End {
    /// A signal asked for it.
    Stopped,
    /// A part has ended by itself.
    Failed(&'static str),
    /// The configuration was read again.
    Renewed(Box<AgentSettings>),
}

/// Runs the service. After a SIGHUP with a valid configuration the agent is stopped as by SIGTERM
/// and started with the new settings: broker and store keep everything between. Settings with which
/// it does not start are given up for those of before.
async fn serve(args: &Args, settings: AgentSettings) -> anyhow::Result<Exit> {
    let stop = pdm_service::shutdown::on_signal().map_err(failure::runtime)?;
    let mut hang_up = signal(SignalKind::hangup()).map_err(failure::runtime)?;
    let file = Arc::new(AgentFile::new(&args.config));
    let (mut settings, mut before) = (settings, None);
    let mut refused: Option<String> = None;
    loop {
        let now = settings.clone();
        let starting = Agent::start_from(now.clone(), following_clock(), Some(Arc::clone(&file)));
        let started = tokio::select! {
            started = starting => Some(started),
            // a start that waits for its store ends at once: nothing was taken in yet
            () = stop.cancelled() => return Ok(Exit::Ok),
            renewed = renewed((args, &now), &file, &mut hang_up, |why| refused = Some(why)) => {
                settings = renewed;
                refused = None;
                None
            }
        };
        let agent = match (started, before.take()) {
            (None, _) => continue,
            (Some(Ok(agent)), _) => {
                file.settled();
                agent
            }
            (Some(Err(error)), Some(earlier)) => {
                let error = error_chain(&error);
                tracing::error!(
                    error,
                    "the agent does not start with the new configuration, the one of before stays"
                );
                refused = Some(format!(
                    "{}: the agent does not start with it: {error}",
                    args.config.display()
                ));
                // a later start must not fail on what a page wrote
                file.put_back();
                settings = earlier;
                continue;
            }
            (Some(Err(error)), None) => return Err(failure::start(error).into()),
        };
        tracing::info!("the agent runs");
        if let Some(why) = refused.take() {
            agent.refuses_configuration(&why);
        }
        let end = watched((args, &settings), &agent, &file, (&stop, &mut hang_up)).await;
        match ended(agent, end).await? {
            Some(renewed) => before = Some(std::mem::replace(&mut settings, renewed)),
            None => return Ok(Exit::Ok),
        }
    }
}

/// Waits until the agent has to end.
async fn watched(
    (args, settings): (&Args, &AgentSettings),
    agent: &Handle,
    file: &AgentFile,
    (stop, hang_up): (&CancellationToken, &mut Signal),
) -> End {
    loop {
        tokio::select! {
            () = stop.cancelled() => return End::Stopped,
            renewed = renewed((args, settings), file, hang_up,
                |why| agent.refuses_configuration(&why)) => {
                return End::Renewed(Box::new(renewed));
            }
            () = tokio::time::sleep(LOOK) => {
                if let Some(part) = agent.failed() {
                    return End::Failed(part);
                }
            }
        }
    }
}

/// Stops the agent; returns the settings with which it starts again, if it does.
async fn ended(agent: Handle, end: End) -> anyhow::Result<Option<AgentSettings>> {
    let done = agent.stop().await;
    if let End::Failed(part) = end {
        let error = match done {
            Ok(_) => anyhow::anyhow!("the part {part} has ended by itself"),
            Err(error) => error.into(),
        };
        return Err(Failure::new(Exit::Software, error).into());
    }
    let progress = done.map_err(|error| Failure::new(Exit::Software, error))?;
    tracing::info!(
        stored = progress.stored,
        judged = progress.judged,
        notified = progress.notified,
        dead_letters = progress.dead_letters,
        "stopped"
    );
    Ok(match end {
        End::Renewed(settings) => Some(*settings),
        End::Stopped | End::Failed(_) => None,
    })
}

/// Waits for a SIGHUP, or for a page that wrote the file, with a valid configuration. One that is
/// invalid, or lacks what no reload may take away, is refused whole, logged and handed to `refuse`,
/// and the agent goes on with what it has.
async fn renewed(
    (args, now): (&Args, &AgentSettings),
    file: &AgentFile,
    hang_up: &mut Signal,
    mut refuse: impl FnMut(String),
) -> AgentSettings {
    loop {
        tokio::select! {
            signal = hang_up.recv() => if signal.is_none() {
                // the stream of signals has ended, so no SIGHUP can come any more
                file.written().await;
            },
            () = file.written() => {}
        }
        let config = args.config.display();
        let read = read(args).map_err(|error| error_chain(&error));
        let whole = read.and_then(|settings| match now.torn_off_in(&settings) {
            None => Ok(settings),
            Some(torn) => Err(format!("{config}: {torn}")),
        });
        match whole {
            Ok(settings) => {
                tracing::info!(%config, "the configuration was read again, starting with it; \
                    [telemetry], --log and PDM_LOG stay as they are until the program is started \
                    anew");
                return settings;
            }
            Err(error) => {
                tracing::error!(
                    error,
                    "the new configuration is refused, the agent goes on with the one it has"
                );
                refuse(error);
            }
        }
    }
}

/// Reads the configuration with the replica's name of the command line.
fn read(args: &Args) -> Result<AgentSettings, ConfigError> {
    let mut settings = AgentSettings::read(&args.config)?;
    if let Some(name) = &args.client_id {
        settings.name_replica(name);
    }
    Ok(settings)
}

/// The machine's clock, which follows that of the database's server where they are apart.
fn following_clock() -> SharedClock {
    Arc::new(FollowingClock::new(Arc::new(SystemClock)))
}
