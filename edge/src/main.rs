//! The program `pdm-edge`. The commands are in the library, in [`pdm_edge::cli`].

use std::process::ExitCode;

use pdm_edge::cli::{Cli, dispatch};
use pdm_service::command_line;

fn main() -> ExitCode {
    command_line::run::<Cli>(dispatch)
}
