//! `pdm-edge mcp`: serves the judgement of series over standard input and output.

use pdm_service::exit::{Exit, Failure};
use pdm_service::telemetry::{self, LogFormat};

/// Arguments of `mcp`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example, in agent.toml:
  [tools.servers.edge]
  program = \"pdm-edge\"
  arguments = [\"mcp\"]

The one tool is judge_series: a series of a station, its faults, trend, picture and the nearest \
of past series. Nothing is kept between calls. Exit codes: 0 the client disconnected, 65 the \
client does not speak the protocol")]
pub struct Args {}

/// Runs the command.
///
/// # Errors
/// A [`Failure`] with its exit code.
pub fn run(_args: &Args) -> anyhow::Result<Exit> {
    telemetry::start(LogFormat::Text, "warn");
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let tokio = tokio.map_err(|error| Failure::new(Exit::Unavailable, error))?;
    let served = tokio.block_on(crate::mcp::serve());
    // reading standard input blocks a thread that nothing can interrupt
    tokio.shutdown_background();
    served.map_err(|error| Failure::new(Exit::BadInput, error))?;
    Ok(Exit::Ok)
}
