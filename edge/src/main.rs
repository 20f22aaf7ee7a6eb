//! The program `pdm-edge`: arguments in, exit code out; everything else is in the library.

use std::process::ExitCode;

use clap::Parser;
use pdm_edge::cli::{Cli, dispatch, exit_of};
use pdm_shared::exit::Exit;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(told) => return refuse(&told).into(),
    };
    match dispatch(cli) {
        Ok(exit) => exit.into(),
        Err(error) => {
            report(&error);
            exit_of(&error).into()
        }
    }
}

#[expect(clippy::print_stderr, reason = "the program's last word goes to the person who typed")]
fn report(error: &anyhow::Error) {
    eprintln!("pdm-edge: {error:#}");
}

/// Help and version are no failure; a wrong command line ends with 64.
fn refuse(told: &clap::Error) -> Exit {
    // nobody is left to tell if even this cannot be printed
    let _ = told.print();
    if told.use_stderr() { Exit::Usage } else { Exit::Ok }
}
