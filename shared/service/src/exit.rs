//! Exit codes by meaning, as in BSD's `sysexits.h`: scripts branch on them.

use std::process::ExitCode;

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

/// A failure of a command, with its exit code.
#[derive(Debug, thiserror::Error)]
#[error("{cause:#}")]
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

/// The exit code of an error: that of the [`Failure`] in its chain, else [`Exit::Software`].
pub fn exit_of(error: &anyhow::Error) -> Exit {
    error.downcast_ref::<Failure>().map_or(Exit::Software, |failure| failure.exit)
}

#[cfg(test)]
mod tests {
    use super::*;

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
