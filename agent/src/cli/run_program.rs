//! `pdm-agent run-program`, hidden: the child process in which a running agent runs the programs
//! that a language model writes. It limits itself, reads standard input and answers on standard
//! output.

use pdm_script::child;
use pdm_service::exit::{Exit, Failure};

/// Runs the command.
///
/// # Errors
/// A [`Failure`] if the limits cannot be set or the parent is gone.
pub fn run() -> anyhow::Result<Exit> {
    let answered = child::run(std::io::stdin().lock(), pdm_service::command_line::stdout());
    answered.map_err(|error| Failure::new(Exit::Software, error))?;
    Ok(Exit::Ok)
}
