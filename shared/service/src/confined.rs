//! A child process that works on foreign input in the place of this program: a document to be
//! parsed, a program of a language model to be run.
//!
//! The parent starts it with nothing of its own environment, where secrets may be, and in no folder
//! of its own; the child limits itself before it reads anything
//! ([`confine`](crate::process_limits::confine)). Whatever the input does, it does to the child
//! alone.

use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};

/// A program, with the arguments by which it becomes such a child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfinedProgram {
    program: PathBuf,
    arguments: Vec<String>,
}

impl ConfinedProgram {
    /// The running program with a hidden command of its own.
    pub fn own(command: &str) -> Self {
        // the link names the running program, even after its file was replaced
        Self::other("/proc/self/exe", &[command])
    }

    /// Creates a confined program from another executable.
    pub fn other(program: impl Into<PathBuf>, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        Self { program: program.into(), arguments }
    }

    /// The command that starts the child: standard input and output are pipes.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).env_clear().current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        command
    }
}

/// Returns how a child that gave no answer ended: by a signal, or with a status.
pub fn ending(status: ExitStatus) -> (String, bool) {
    match status.signal() {
        Some(signal) => (format!("ended with signal {signal}"), true),
        None => (format!("ended with {status}"), false),
    }
}
