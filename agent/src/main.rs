//! The program `pdm-agent`: arguments in, exit code out; everything else is in the library.

use std::process::ExitCode;

use clap::Parser;
use pdm_agent::cli::{Cli, dispatch, exit_of};

fn main() -> ExitCode {
    match dispatch(Cli::parse()) {
        Ok(exit) => exit.into(),
        Err(error) => {
            report(&error);
            exit_of(&error).into()
        }
    }
}

#[expect(clippy::print_stderr, reason = "the program's last word goes to the person who typed")]
fn report(error: &anyhow::Error) {
    eprintln!("pdm-agent: {error:#}");
}
