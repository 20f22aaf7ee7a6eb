//! `pdm-agent notify`: what staff would be told, and whether a message arrives.

use pdm_service::exit::Exit;

mod preview;
mod trial;

/// Arguments of `notify`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pdm-agent notify preview --stored 500 --config /etc/pdm/agent.toml
  pdm-agent notify test --recipient kim --config /etc/pdm/agent.toml

Exit codes: those of preview and of test; see their help.")]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Say what staff would be told of events, without telling anybody
    Preview(preview::PreviewArgs),
    /// Send a message of trial through the real channels and say what came back
    Test(trial::TrialArgs),
}

/// Runs the command.
///
/// # Errors
/// A [`pdm_service::exit::Failure`] with its exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.what {
        What::Preview(args) => preview::run(args),
        What::Test(args) => trial::run(args),
    }
}
