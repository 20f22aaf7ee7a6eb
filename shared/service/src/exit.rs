//! Exit codes by meaning, as in BSD's `sysexits.h`: scripts branch on them.

use std::process::ExitCode;

use crate::error_chain::error_chain;

/// The reason why a program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Success.
    Ok,
    /// The command line is wrong.
    Usage,
    /// The input exists but has the wrong form.
    BadInput,
    /// The input does not exist.
    NoInput,
    /// A required service cannot be reached.
    Unavailable,
    /// A bug in the program.
    Software,
    /// Reading or writing failed: disk full, no permission.
    Io,
    /// The configuration is wrong.
    Config,
}

impl Exit {
    /// The number of the exit code.
    pub const fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Usage => 64,
            Self::BadInput => 65,
            Self::NoInput => 66,
            Self::Unavailable => 69,
            Self::Software => 70,
            Self::Io => 74,
            Self::Config => 78,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// A failure of a command, with its exit code; its text tells each cause once.
#[derive(Debug, thiserror::Error)]
#[error("{}", told(.cause))]
pub struct Failure {
    exit: Exit,
    // no `source`: the failure's own text already holds the whole chain
    cause: anyhow::Error,
}

impl Failure {
    /// A failure that ends the program with `exit`.
    pub fn new(exit: Exit, cause: impl Into<anyhow::Error>) -> Self {
        Self { exit, cause: cause.into() }
    }
}

/// An error and its causes in one line, each cause once.
fn told(error: &anyhow::Error) -> String {
    error_chain(&**error)
}

/// The exit code of an input that cannot be read: a folder where a file is wanted has the wrong
/// form, everything else is not there.
pub fn exit_of_input(error: &std::io::Error) -> Exit {
    if error.kind() == std::io::ErrorKind::IsADirectory { Exit::BadInput } else { Exit::NoInput }
}

/// The exit code of an error: that of the [`Failure`] in its chain; [`Exit::Io`] of a failed read
/// or write, such as output to a full disk; else [`Exit::Software`].
pub fn exit_of(error: &anyhow::Error) -> Exit {
    if let Some(failure) = error.downcast_ref::<Failure>() {
        return failure.exit;
    }
    let is_of_io = error.chain().any(<dyn std::error::Error>::is::<std::io::Error>);
    if is_of_io { Exit::Io } else { Exit::Software }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cause stood twice where a text already tells its source, and full disks were bugs.
    #[test]
    fn a_cause_is_told_once_and_a_full_disk_is_74() {
        let path = std::path::Path::new("/nowhere/nope.toml");
        let missing = crate::config::read_config::<u8>(path).expect_err("no such file");
        let told = Failure::new(Exit::Config, missing).to_string();
        assert_eq!(told.matches("No such file").count(), 1, "{told}");
        assert!(told.starts_with("cannot read /nowhere/nope.toml: "), "{told}");
        let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
        let full = anyhow::Error::from(full).context("cannot print");
        assert_eq!(exit_of(&full), Exit::Io);
        let bad = anyhow::Error::from(Failure::new(Exit::BadInput, full));
        assert_eq!(exit_of(&bad), Exit::BadInput, "the command's own word counts");
        let folder = std::fs::read("/").expect_err("no file");
        assert_eq!(exit_of_input(&folder), Exit::BadInput, "{folder}");
        assert_eq!(exit_of_input(&std::io::ErrorKind::NotFound.into()), Exit::NoInput);
    }

    #[test]
    fn a_failure_keeps_its_exit_code_and_its_words() {
        let failure = Failure::new(Exit::NoInput, anyhow::anyhow!("a.npy: no such file"));
        let error = anyhow::Error::from(failure);
        assert_eq!(exit_of(&error), Exit::NoInput);
        assert_eq!(error.to_string(), "a.npy: no such file");
        assert_eq!(format!("{error:#}"), "a.npy: no such file");
        assert_eq!(exit_of(&anyhow::anyhow!("a bug")), Exit::Software);
    }
}
