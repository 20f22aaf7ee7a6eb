//! The child process that runs the programs of one answer: limits first, then standard input, then
//! programs until it ends.
//!
//! Invariant: nothing of the program is read before the process is confined. The process has no
//! file but its two pipes, and can open none; a socket would be a file.

use std::io::{self, BufRead, Write};

use pdm_service::process_limits::{Confinement, LimitError, confine};
use serde_json::{Map, Value};

use crate::run::{self, Ended, Names, NoResult, Outside};
use crate::wire::{FromChild, MAX_ARGUMENTS, MAX_LINE_OF_PARENT, MAX_TEXT, ToChild, cut};
use crate::{MAX_PROGRAM_BYTES, parse};

/// The limits of the programs of one answer, ten at most. The interpreter's own limit of memory
/// lies at a third of this one, so that a program is told which limit it met; the parent ends a
/// program after 1.5 s.
const LIMITS: Confinement = Confinement { memory_bytes: 96 << 20, cpu_s: 15 };

/// Most characters of a reason.
const MAX_REASON: usize = 500;

/// The child cannot do its work. The parent tells that there is no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChildError {
    /// The limits cannot be set, so nothing is run.
    #[error(transparent)]
    Limits(#[from] LimitError),
    /// Standard input or output is gone.
    #[error("cannot talk to the parent process: {0}")]
    Pipe(#[from] io::Error),
    /// The parent says something else than a program.
    #[error("the parent process sent no program: {0}")]
    NoProgram(String),
}

/// Limits this process and runs the programs on `input`.
///
/// # Errors
/// [`ChildError`].
pub fn run(input: impl BufRead, output: impl Write) -> Result<(), ChildError> {
    confine(LIMITS)?;
    serve(input, output)
}

/// Runs the programs on `input` in this process, unconfined, so that only the interpreter's own
/// limits hold: for fuzzing and property tests, never for a model's program.
///
/// # Errors
/// [`ChildError`], except for limits.
pub fn run_unconfined(input: impl BufRead, output: impl Write) -> Result<(), ChildError> {
    serve(input, output)
}

/// Runs the programs on `input`.
fn serve(input: impl BufRead, output: impl Write) -> Result<(), ChildError> {
    let mut pipe = Pipe { input, output, tools: Vec::new() };
    pipe.say(&FromChild::Ready)?;
    let names = Names::default();
    loop {
        let program = match pipe.hear()? {
            Some(ToChild::Start { program, tools }) => {
                pipe.tools = tools;
                program
            }
            Some(ToChild::Result { .. } | ToChild::Failed { .. }) => {
                return Err(ChildError::NoProgram("a result".to_owned()));
            }
            None => return Ok(()),
        };
        let Ended { printed, answer, error } = ended(&program, &names, &mut pipe);
        let answer = answer.map(|text| cut(&text, MAX_TEXT));
        let error = error.map(|text| cut(&text, MAX_REASON));
        pipe.say(&FromChild::Ended { printed, answer, error })?;
    }
}

fn ended(program: &str, names: &Names, outside: &mut dyn Outside) -> Ended {
    if program.len() > MAX_PROGRAM_BYTES {
        let told = format!("the program has {} bytes, at most {MAX_PROGRAM_BYTES}", program.len());
        return Ended { error: Some(told), ..Ended::default() };
    }
    match parse::program(program) {
        Ok(block) => run::program(&block, names, outside),
        Err(stop) => Ended { error: Some(stop.to_string()), ..Ended::default() },
    }
}

/// Whether a tool's name can be used as a function of a program.
pub(crate) fn is_callable(name: &str) -> bool {
    parse::is_name(name) && !matches!(name, "json" | "print" | "final_answer")
}

/// The two pipes.
struct Pipe<I, O> {
    input: I,
    output: O,
    tools: Vec<String>,
}

impl<I: BufRead, O: Write> Pipe<I, O> {
    fn say(&mut self, what: &FromChild) -> io::Result<()> {
        serde_json::to_writer(&mut self.output, what)?;
        self.output.write_all(b"\n")?;
        self.output.flush()
    }

    /// Reads the next line of the parent; `None` at its end.
    fn hear(&mut self) -> Result<Option<ToChild>, ChildError> {
        let mut line = Vec::new();
        let most = MAX_LINE_OF_PARENT as u64;
        io::Read::take(&mut self.input, most).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        serde_json::from_slice(&line).map_err(|error| ChildError::NoProgram(error.to_string()))
    }
}

impl<I: BufRead, O: Write> Outside for Pipe<I, O> {
    fn has(&self, tool: &str) -> bool {
        self.tools.iter().any(|name| name == tool)
    }

    fn call(&mut self, tool: &str, arguments: Map<String, Value>) -> Result<String, NoResult> {
        let length = serde_json::to_string(&arguments).map_or(usize::MAX, |text| text.len());
        if length > MAX_ARGUMENTS {
            let told = format!("the arguments have {length} bytes, at most {MAX_ARGUMENTS}");
            return Err(NoResult::Failed(told));
        }
        let gone = |error: &dyn std::fmt::Display| NoResult::Gone(error.to_string());
        let call = FromChild::Call { tool: tool.to_owned(), arguments };
        self.say(&call).map_err(|error| gone(&error))?;
        match self.hear().map_err(|error| gone(&error))? {
            Some(ToChild::Result { text }) => Ok(text),
            Some(ToChild::Failed { reason }) => Err(NoResult::Failed(reason)),
            Some(ToChild::Start { .. }) | None => {
                Err(NoResult::Gone("nobody answers the program".to_owned()))
            }
        }
    }
}

/// A program's end as its parent would get it, in this process: for tests of the dialect.
#[cfg(test)]
pub(crate) fn tried(program: &str, outside: &mut dyn Outside) -> Ended {
    ended(program, &Names::default(), outside)
}
