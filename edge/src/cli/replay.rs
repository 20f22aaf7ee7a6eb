//! `pdm-edge replay`.

use pdm_shared::exit::Exit;

/// Arguments of `replay`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: &Args) -> anyhow::Result<Exit> {
    anyhow::bail!("replay is not built yet")
}
