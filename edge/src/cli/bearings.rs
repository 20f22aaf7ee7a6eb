//! `pdm-edge bearings`.

use pdm_shared::exit::Exit;

/// Arguments of `bearings`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: &Args) -> anyhow::Result<Exit> {
    anyhow::bail!("bearings is not built yet")
}
