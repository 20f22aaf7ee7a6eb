//! The program `pdm-pdf`: the PDF on standard input, its text on standard output.

use std::process::ExitCode;

use clap::Parser;
use pdm_pdf::child;
use pdm_service::command_line;
use pdm_service::exit::{Exit, Failure};

/// Writes the text of the PDF on standard input: a line that says what follows, then Markdown or
/// the reason
///
/// pdm-agent starts it for each PDF, confined by the system: 512 MiB, 60 s, no file and no network.
#[derive(Debug, Parser)]
#[command(
    name = "pdm-pdf",
    version,
    after_help = "\
Example:
  pdm-pdf < manual.pdf

The first line of the answer is `pdm-document/1 text`, `… empty` (no page holds a letter) or
`… refused`, with the reason on the next line. Exit codes: 0 answered, 70 the limits cannot be set
or a pipe is gone"
)]
struct Cli;

fn main() -> ExitCode {
    command_line::run::<Cli>(|Cli| {
        child::run(std::io::stdin().lock(), command_line::stdout())
            .map_err(|error| Failure::new(Exit::Software, error))?;
        Ok(Exit::Ok)
    })
}
