//! `pdm-edge analyze`.

use pdm_shared::exit::Exit;

/// Arguments of `analyze`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: &Args) -> anyhow::Result<Exit> {
    anyhow::bail!("analyze is not built yet")
}
