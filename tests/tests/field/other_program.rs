//! Another program that opens the agent's file: Python's sqlite3, in a process of its own. A
//! connection of the test itself would map the file's shared memory into the test, and what the
//! agent does to that file would end the test.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{ChildStdout, Command, Stdio};

use pdm_harness::{Child, program};

/// Runs each line of its input as a statement, and answers each.
const SCRIPT: &str = "
import sqlite3, sys
file = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)
for statement in sys.stdin:
    file.execute(statement)
    print('done', flush=True)
";

/// The other program, with the file open until it is dropped.
pub(crate) struct OtherProgram {
    process: Child,
    answers: BufReader<ChildStdout>,
}

impl OtherProgram {
    /// Opens `file`; `None` where there is no Python.
    pub(crate) fn open(test: &str, file: &Path) -> Option<Self> {
        let python = program(test, "python3")?;
        let mut command = Command::new(python);
        command.args(["-c", SCRIPT]).arg(file).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = Child::start(&mut command);
        let answers = BufReader::new(process.output().expect("its output"));
        Some(Self { process, answers })
    }

    /// Runs one statement and waits until it is done.
    pub(crate) fn runs(&mut self, statement: &str) {
        let input = self.process.inner().stdin.as_mut().expect("its input");
        writeln!(input, "{statement}").expect("written");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("an answer");
        assert_eq!(answer, "done\n", "{statement}");
    }
}
