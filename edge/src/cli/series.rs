//! `pdm-edge series`.

use pdm_shared::exit::Exit;

/// Arguments of `series`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: &Args) -> anyhow::Result<Exit> {
    anyhow::bail!("series is not built yet")
}
