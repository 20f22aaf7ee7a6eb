//! The program `pdm`: broker, edge and agent in one process.

mod broker;
mod chain;
mod cli;
mod demo;
mod up;
mod view;

use std::io::Write;
use std::process::ExitCode;

use clap::CommandFactory;
use pdm_service::command_line;
use pdm_service::exit::Exit;
use pdm_service::files::keep_private;
use pdm_service::telemetry::{self, LogFormat};

use crate::cli::{Cli, Command};

fn main() -> ExitCode {
    command_line::run::<Cli>(run)
}

fn run(cli: Cli) -> anyhow::Result<Exit> {
    let runtime = || tokio::runtime::Builder::new_multi_thread().enable_all().build();
    match cli.command {
        Command::Demo(args) => {
            keep_private();
            // the view shows the progress, so the log is reduced to warnings and errors
            telemetry::start(LogFormat::Text, "warn,mqtt5=error,mqtt5::broker::server=off");
            runtime()?.block_on(demo::run(&args))
        }
        Command::Up(args) => {
            keep_private();
            up::run(&args, &runtime()?)
        }
        Command::Backtest(args) => pdm_agent::cli::backtest::run(&args),
        Command::Tune(args) => pdm_agent::cli::tune::run(&args),
        Command::RunProgram => pdm_agent::cli::run_program::run(),
        Command::Completions { shell } => {
            let mut out = pdm_service::command_line::stdout();
            clap_complete::generate(shell, &mut Cli::command(), "pdm", &mut out);
            Ok(Exit::Ok)
        }
    }
}

/// Prints one line to standard output. A closed pipe is not an error.
pub(crate) fn print(line: &str) {
    let _closed = writeln!(pdm_service::command_line::stdout(), "{line}");
}
