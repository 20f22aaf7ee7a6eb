//! The commands: one file for each, with its arguments, help and exit codes.

use std::io::Write;

use clap::{CommandFactory, Parser, Subcommand};
use pdm_service::exit::Exit;
pub use pdm_service::exit::{Failure, exit_of};

pub mod analyze;
pub mod bearings;
pub mod capture;
mod captured;
pub mod check;
pub mod mcp;
pub mod recording_options;
pub mod relearn;
pub mod replay;
pub mod run;
pub mod series;
pub mod simulate;

/// Bearing vibration on a gateway: measure, judge, publish without losing an event.
#[derive(Debug, Parser)]
#[command(name = "pdm-edge", version, about, propagate_version = true)]
pub struct Cli {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Analyse recordings without state: one event a recording
    Analyze(Box<analyze::Args>),
    /// Run snapshots through the whole stateful pipeline
    Replay(Box<replay::Args>),
    /// Run a historian's feature series through baseline, anomaly, trend and remaining life
    Series(series::Args),
    /// Serve the judgement of series to other programs (Model Context Protocol)
    Mcp(mcp::Args),
    /// Measure and publish until stopped
    Run(run::Args),
    /// Forget the baseline of a bearing that was replaced, and learn it anew
    Relearn(relearn::Args),
    /// List, show and export captured waveforms, or ask for one
    Capture(capture::Args),
    /// Check configuration and connections
    Check(check::Args),
    /// Write a simulated recording
    Simulate(simulate::Args),
    /// List the bearing catalogue
    Bearings(bearings::Args),
    /// Print shell completions
    Completions {
        /// For which shell
        shell: clap_complete::Shell,
    },
}

/// Runs one command to its end.
///
/// # Errors
/// The error that ended the command, with its context; [`exit_of`] gives the exit code.
pub fn dispatch(cli: Cli) -> anyhow::Result<Exit> {
    match cli.command {
        Command::Analyze(args) => analyze::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Series(args) => series::run(&args),
        Command::Mcp(args) => mcp::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Relearn(args) => relearn::run(&args),
        Command::Capture(args) => capture::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Bearings(args) => bearings::run(&args),
        Command::Completions { shell } => {
            clap_complete::generate(
                shell,
                &mut Cli::command(),
                "pdm-edge",
                &mut pdm_service::command_line::stdout(),
            );
            Ok(Exit::Ok)
        }
    }
}

/// Writes `text` to standard output. A closed pipe (`| head`) is not an error.
///
/// # Errors
/// Any other error of the operating system.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = pdm_service::command_line::stdout();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    Ok(written.map_err(|e| Failure::new(Exit::Io, e))?)
}

/// Prints a line on the input of a command to standard error, so that standard output stays the
/// result.
#[expect(clippy::print_stderr, reason = "how an input was read goes to the person at the terminal")]
pub(crate) fn note(line: &str) {
    eprintln!("pdm-edge: {line}");
}

/// Prints an error that does not end the command to standard error.
pub(crate) fn report(error: &anyhow::Error) {
    pdm_service::command_line::report("pdm-edge", error);
}
