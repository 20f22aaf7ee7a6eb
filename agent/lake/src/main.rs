//! The program `pdm-lake`: arguments in, exit code out; everything else is in the library.

use std::process::ExitCode;

use pdm_lake::cli::{Cli, dispatch};
use pdm_service::command_line;

fn main() -> ExitCode {
    command_line::run::<Cli>(dispatch)
}
