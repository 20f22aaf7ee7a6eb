//! `pdm-edge check`.

use pdm_shared::exit::Exit;

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: &Args) -> anyhow::Result<Exit> {
    anyhow::bail!("check is not built yet")
}
