//! The commands of `pdm`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Parser, Subcommand};

use pdm_agent::cli::RUN_PROGRAM;

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
    /// Say what a configuration would have told of events that lie in the past
    Backtest(Box<pdm_agent::cli::backtest::Args>),
    /// Propose thresholds that would have cost less in the plant's own past
    Tune(Box<pdm_agent::cli::tune::Args>),
    /// Run the programs of a language model on standard input within the limits of a child process
    #[command(name = RUN_PROGRAM, hide = true)]
    RunProgram,
    /// Print shell completions
    Completions {
        /// For which shell
        shell: clap_complete::Shell,
    },
}

/// Arguments of `pdm up`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pdm up --config config                 the folder with edge.toml and agent.toml
  pdm up --config /etc/pdm --listen 127.0.0.1:1883
  pdm up --config /etc/pdm --listen 0.0.0.0:8883 --tls-certificate broker.crt --tls-key \
  broker.key \\
         --tls-ca ca.crt                 other machines connect with a certificate

SIGHUP makes it read both files again; agent and edge start with them on the same broker. Where \
one is wrong, both stay as they are.

Exit codes: 0 stopped by SIGINT or SIGTERM, 69 the broker's address is taken, 70 a part failed, \
74 a folder cannot be written, 78 the configuration is wrong")]
pub(crate) struct UpArgs {
    /// Folder with edge.toml and agent.toml; databases are below it unless these files name other
    /// paths
    #[arg(long, value_name = "DIR")]
    pub(crate) config: PathBuf,
    /// Address of the embedded broker; both programs use it instead of the brokers in their files
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:1883")]
    pub(crate) listen: SocketAddr,
    /// Certificate chain of the broker, PEM; needed on other addresses than loopback
    #[arg(long, value_name = "FILE", requires_all = ["tls_key", "tls_ca"])]
    pub(crate) tls_certificate: Option<PathBuf>,
    /// Private key of the certificate, PEM
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Authorities that may sign a client's certificate, PEM; each client needs one
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub(crate) tls_ca: Option<PathBuf>,
    /// Revoked certificates of clients, PEM; read at start
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub(crate) tls_crl: Option<PathBuf>,
    /// Folder for sessions and queues of the embedded broker (default: DIR/broker)
    #[arg(long, value_name = "DIR")]
    pub(crate) broker_folder: Option<PathBuf>,
    /// End when every source is at its end and everything is judged and sent
    #[arg(long)]
    pub(crate) exit: bool,
}
