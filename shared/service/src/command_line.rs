//! From the command line to the exit code: the same for every program.

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use clap::Parser;

use crate::exit::{Exit, exit_of};

/// Reads the command line, carries it out and says on standard error what stopped it.
///
/// Help and version are no failure; a wrong command line ends with [`Exit::Usage`].
pub fn run<C: Parser>(dispatch: impl FnOnce(C) -> anyhow::Result<Exit>) -> ExitCode {
    let typed = match C::try_parse() {
        Ok(typed) => typed,
        Err(told) => return refuse(&told).into(),
    };
    match dispatch(typed) {
        Ok(exit) => exit.into(),
        Err(error) => {
            report(C::command().get_name(), &error);
            exit_of(&error).into()
        }
    }
}

/// Tells a failure to the person who typed.
#[expect(clippy::print_stderr, reason = "a program's last word goes to the person who typed")]
pub fn report(program: &str, error: &anyhow::Error) {
    eprintln!("{program}: {error:#}");
}

/// Standard output, for which a reader that has gone away (`| head`) is no failure: what would
/// have been written is dropped.
#[must_use]
pub fn stdout() -> impl Write {
    Leaving(io::stdout().lock())
}

/// A writer whose reader may leave.
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
    // nobody is left to tell if even this cannot be printed
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

    /// A pipe whose reader is gone, or a disk that is full.
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
