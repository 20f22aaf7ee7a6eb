//! `pdm-agent run`: runs the service until it is stopped.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pdm_service::clock::SystemClock;
use pdm_service::exit::{Exit, Failure};
use pdm_service::files::keep_private;
use pdm_service::telemetry::LogFormat;

use super::failure;
use crate::service::Agent;
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

Exit codes: 0 stopped, 69 store or address unavailable, 78 bad configuration")]
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
    let mut settings = AgentSettings::read(&args.config).map_err(failure::config)?;
    if let Some(name) = &args.client_id {
        settings.name_replica(name);
    }
    keep_private();
    let telemetry = Telemetry::start(&settings, format, "info");
    let telemetry = telemetry.map_err(|error| Failure::new(Exit::Unavailable, error))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(failure::runtime)?;
    let served = runtime.block_on(serve(settings));
    telemetry.end();
    served
}

async fn serve(settings: AgentSettings) -> anyhow::Result<Exit> {
    let stop = pdm_service::shutdown::on_signal().map_err(failure::runtime)?;
    let agent = Agent::start(settings, Arc::new(SystemClock)).await.map_err(failure::start)?;
    tracing::info!("the agent runs");
    let failed = loop {
        tokio::select! {
            () = stop.cancelled() => break None,
            () = tokio::time::sleep(LOOK) => {
                if let Some(part) = agent.failed() {
                    break Some(part);
                }
            }
        }
    };
    let end = agent.stop().await;
    if let Some(part) = failed {
        let error = match end {
            Ok(_) => anyhow::anyhow!("the part {part} has ended by itself"),
            Err(error) => error.into(),
        };
        return Err(Failure::new(Exit::Software, error).into());
    }
    let progress = end.map_err(|error| Failure::new(Exit::Software, error))?;
    tracing::info!(
        stored = progress.stored,
        judged = progress.judged,
        notified = progress.notified,
        dead_letters = progress.dead_letters,
        "stopped"
    );
    Ok(Exit::Ok)
}
