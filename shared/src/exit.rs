//! Exit codes by meaning, as in BSD's `sysexits.h`: scripts branch on them.

use std::process::ExitCode;

/// Why a program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Ok,
    /// The command line is wrong.
    Usage,
    /// The input is there but cannot be read as what it should be.
    BadInput,
    /// The input is not there.
    NoInput,
    /// A service that is needed cannot be reached.
    Unavailable,
    /// A bug.
    Software,
    /// Reading or writing failed: disk full, no permission.
    Io,
    /// The configuration is wrong.
    Config,
}

impl Exit {
    /// The number.
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
