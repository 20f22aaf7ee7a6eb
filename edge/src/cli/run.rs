//! `pdm-edge run`.

use pdm_shared::exit::Exit;

/// Arguments of `run`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: &Args) -> anyhow::Result<Exit> {
    anyhow::bail!("run is not built yet")
}
