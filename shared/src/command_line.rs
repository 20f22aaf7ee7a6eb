//! From the command line to the exit code: the same for every program.

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
