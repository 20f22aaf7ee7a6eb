//! The commands of `pdm`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::demo;

/// Bearing predictive maintenance in one process: broker, edge and agent.
#[derive(Debug, Parser)]
#[command(name = "pdm", version, about, propagate_version = true)]
pub(crate) struct Cli {
    /// The command.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the whole chain on a simulated run to failure, or on a recording
    Demo(Box<demo::Args>),
    /// Run the whole chain in production on one machine
    Up(UpArgs),
    /// Print shell completions
    Completions {
        /// Shell to write completions for
        shell: clap_complete::Shell,
    },
}

/// Arguments of `pdm up`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pdm up --config config                 the folder with edge.toml and agent.toml
  pdm up --config /etc/pdm --listen 127.0.0.1:1883

Exit codes: 0 stopped by SIGINT or SIGTERM, 69 the broker's address is taken,
70 a part failed, 74 a folder cannot be written, 78 the configuration is wrong")]
pub(crate) struct UpArgs {
    /// Folder with edge.toml and agent.toml; databases are below it unless the files say otherwise
    #[arg(long, value_name = "DIR")]
    pub(crate) config: PathBuf,
    /// Address of the embedded broker; both programs use it whatever their files say
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:1883")]
    pub(crate) listen: SocketAddr,
    /// Folder for the broker's sessions and queues (default: DIR/broker)
    #[arg(long, value_name = "DIR")]
    pub(crate) broker_folder: Option<PathBuf>,
    /// End when every source has ended and every event is judged and every notification sent
    #[arg(long)]
    pub(crate) exit: bool,
}
