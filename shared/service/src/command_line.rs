//! The way from the command line to the exit code, the same in every program.

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use clap::Parser;

use crate::error_chain::error_chain;
use crate::exit::{Exit, exit_of};

/// Parses the command line, runs the command and prints a failure to standard error.
///
/// Help and version are not failures; a wrong command line ends with [`Exit::Usage`].
pub fn run<C: Parser>(dispatch: impl FnOnce(C) -> anyhow::Result<Exit>) -> ExitCode {
    let typed = match C::try_parse() {
        Ok(typed) => typed,
        Err(told) => return refuse(&told).into(),
    };
    let done = dispatch(typed);
    // the failure stands below what the log says of it
    crate::telemetry::finish();
    match done {
        Ok(exit) => exit.into(),
        Err(error) => {
            report(C::command().get_name(), &error);
            exit_of(&error).into()
        }
    }
}

/// Prints a failure for the person at the terminal.
#[expect(
    clippy::print_stderr,
    reason = "the error of a command goes to the person at the terminal"
)]
pub fn report(program: &str, error: &anyhow::Error) {
    eprintln!("{program}: {}", error_chain(&**error));
}

/// Standard output for which a closed pipe (`| head`) is not an error: output after that is
/// dropped.
#[must_use]
pub fn stdout() -> impl Write {
    Leaving(io::stdout().lock())
}

/// A writer that treats a closed pipe as success.
#[derive(Debug)]
struct Leaving<W>(W);

impl<W: Write> Write for Leaving<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        unless_left(self.0.write(bytes), bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        unless_left(self.0.flush(), ())
    }
}

fn unless_left<T>(outcome: io::Result<T>, otherwise: T) -> io::Result<T> {
    match outcome {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(otherwise),
        other => other,
    }
}

fn refuse(told: &clap::Error) -> Exit {
    // no way is left to report a failure of this print
    let _ = told.print();
    if told.use_stderr() { Exit::Usage } else { Exit::Ok }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program.
    #[derive(Debug, Parser)]
    #[command(version = "1")]
    struct Typed {
        /// A number
        #[arg(long)]
        _number: Option<u32>,
    }

    /// A writer that fails, as a pipe without a reader or a full disk does.
    struct Failing(ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(self.0.into())
        }
    }

    #[test]
    fn a_reader_that_left_is_no_failure_but_a_full_disk_is() {
        let print = |kind| {
            let mut out = Leaving(Failing(kind));
            writeln!(out, "a line").and_then(|()| out.flush())
        };
        assert!(print(ErrorKind::BrokenPipe).is_ok());
        assert_eq!(print(ErrorKind::StorageFull).unwrap_err().kind(), ErrorKind::StorageFull);
    }

    #[test]
    fn only_a_wrong_command_line_is_a_failure() {
        let exit = |argument: &str| {
            refuse(&Typed::try_parse_from(["program", argument]).expect_err("ends here"))
        };
        assert_eq!(exit("--help"), Exit::Ok);
        assert_eq!(exit("--version"), Exit::Ok);
        assert_eq!(exit("--unheard-of"), Exit::Usage);
    }
}
