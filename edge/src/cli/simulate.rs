//! `pdm-edge simulate`.

use pdm_shared::exit::Exit;

/// Arguments of `simulate`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: &Args) -> anyhow::Result<Exit> {
    anyhow::bail!("simulate is not built yet")
}
