//! PDFs, read by a program of their own: `pdm-pdf` ([`PDF_PROGRAM`]), a child process that the
//! system confines, one at a time, bounded in time and in bytes of the answer. It may be missing:
//! then PDFs are refused by name.
//!
//! A PDF is foreign input in a complex format, and 7 KB of nested brackets end the process that
//! parses it. Whatever a file does to the child, the agent gets its text or an error.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pdm_service::confined::{ConfinedProgram, ending};
use pdm_service::document_text::{DocumentText, MAX_TEXT_BYTES, PDF_PROGRAM};

use super::document::DocumentError;

/// Longest time for one file.
const MAX_TIME: Duration = Duration::from_mins(1);
/// Longest time from the end of the answer to the end of the child.
const LAST_STEPS: Duration = Duration::from_secs(2);
/// Interval of looking whether the child has ended.
const LOOK: Duration = Duration::from_millis(5);
/// Most bytes of an answer: the text with the headings of its pages, and the first line.
const MAX_ANSWER_BYTES: u64 = MAX_TEXT_BYTES as u64 + (64 << 10);
/// Most letters of a reason that are shown: a parser's message may quote the file.
const MAX_REASON_CHARS: usize = 200;

/// Reads PDFs; clones read one at a time, so that many uploads cost the memory of one child.
#[derive(Debug, Clone)]
pub struct PdfReader {
    program: PathBuf,
    arguments: Vec<String>,
    time: Duration,
    turn: Arc<Mutex<()>>,
}

impl PdfReader {
    /// Reads with `program` (`[knowledge] pdf_reader`); without one, with the program `pdm-pdf`
    /// beside the running one.
    pub fn new(program: Option<&Path>) -> Self {
        let program = program.map_or_else(beside_this_program, Path::to_owned);
        // the child starts in the root folder
        let program = std::path::absolute(&program).unwrap_or(program);
        Self { program, arguments: Vec::new(), time: MAX_TIME, turn: Arc::default() }
    }

    /// The program that reads PDFs, wherever it should be.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Whether the program is there. It can be installed while the agent runs.
    pub fn is_installed(&self) -> bool {
        self.program.is_file()
    }

    /// The text of the PDF called `path`, as Markdown with a section for each page. Blocks until
    /// the file is read or its time is over.
    ///
    /// # Errors
    /// [`DocumentError::NoPdfReader`] without a program; [`DocumentError::Pdf`] with the reason;
    /// [`DocumentError::Empty`] if there is no text.
    pub fn text(&self, path: &Path, bytes: Vec<u8>) -> Result<String, DocumentError> {
        let called = path.display().to_string();
        if !self.is_installed() {
            let program = self.program.display().to_string();
            return Err(DocumentError::NoPdfReader { path: called, program });
        }
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        let program = ConfinedProgram::other(&self.program, &arguments);
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let refused = |reason| DocumentError::Pdf { path: called.clone(), reason };
        let answer = converse(program.command(), bytes, self.time).map_err(refused)?;
        match DocumentText::parse(&answer) {
            Some(DocumentText::Markdown(text)) => Ok(text),
            Some(DocumentText::Empty) => Err(DocumentError::Empty { path: called }),
            Some(DocumentText::Refused(reason)) => Err(refused(in_one_line(&reason))),
            None => Err(refused(format!("{} gave no answer", self.program.display()))),
        }
    }
}

/// The program that is installed beside the running one. A running program that was replaced keeps
/// its folder.
fn beside_this_program() -> PathBuf {
    let own = std::env::current_exe().unwrap_or_default();
    own.parent().unwrap_or(Path::new("")).join(PDF_PROGRAM)
}

/// A reason as one line without control characters.
fn in_one_line(reason: &str) -> String {
    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
    reason.chars().map(plain).take(MAX_REASON_CHARS).collect()
}

/// Gives the child its input and takes its answer, in time or not at all.
fn converse(mut command: Command, bytes: Vec<u8>, time: Duration) -> Result<Vec<u8>, String> {
    let until = Instant::now() + time;
    let failed = |error: std::io::Error| format!("the reading process cannot be started: {error}");
    let mut child = command.spawn().map_err(failed)?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let (Some(mut input), Some(output)) = (input, output) else {
        return Err(given_up(child, "the reading process has no pipes"));
    };
    let (done, answered) = sync_channel(1);
    std::thread::spawn(move || {
        // a child that refuses early does not read the rest
        let _closed = input.write_all(&bytes);
    });
    std::thread::spawn(move || {
        let mut answer = Vec::new();
        let read = output.take(MAX_ANSWER_BYTES + 1).read_to_end(&mut answer).map(|_| answer);
        // the time is over and nobody waits
        let _late = done.send(read);
    });
    let answer = match answered.recv_timeout(until.saturating_duration_since(Instant::now())) {
        Ok(Ok(answer)) if answer.len() as u64 <= MAX_ANSWER_BYTES => answer,
        Ok(Ok(_)) => {
            return Err(given_up(child, &format!("more than {MAX_ANSWER_BYTES} bytes of text")));
        }
        Ok(Err(error)) => return Err(given_up(child, &error.to_string())),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
            return Err(given_up(child, &format!("not read within {} s", time.as_secs_f64())));
        }
    };
    match ended(&mut child) {
        Some(status) if status.success() => Ok(answer),
        Some(status) => Err(told(status)),
        None => Err(given_up(child, "the reading process does not end")),
    }
}

/// Kills the child; returns the reason.
fn given_up(mut child: Child, reason: &str) -> String {
    // an error means that the child has ended by itself
    let _gone = child.kill();
    let _reaped = child.wait();
    reason.to_owned()
}

/// The status of a child that has closed its output; `None` if it does not end.
fn ended(child: &mut Child) -> Option<ExitStatus> {
    let until = Instant::now() + LAST_STEPS;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < until => std::thread::sleep(LOOK),
            Ok(None) | Err(_) => return None,
        }
    }
}

/// Describes the end of a child that gave no answer.
fn told(status: ExitStatus) -> String {
    match ending(status) {
        (told, true) => format!(
            "the reading process {told}: the file is nested too deep, needs too much memory or \
             time, or makes the parser fail"
        ),
        (told, false) => format!("the reading process {told}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(script: &str, time: Duration) -> String {
        let arguments = ["-c", script].map(str::to_owned).to_vec();
        let shell = PdfReader::new(Some(Path::new("/bin/sh")));
        let read =
            PdfReader { arguments, time, ..shell }.text(Path::new("a.pdf"), vec![7; 1 << 20]);
        read.unwrap_or_else(|error| error.to_string())
    }

    const LONG: Duration = Duration::from_secs(30);

    #[test]
    fn a_child_that_hangs_overflows_or_dies_is_an_error_with_its_reason() {
        for (script, time, expected) in [
            ("sleep 60", Duration::from_millis(100), "not read within 0.1 s"),
            ("exec sleep 60 >&-", LONG, "does not end"),
            ("exec cat /dev/zero", LONG, "more than 4259840 bytes"),
            ("kill -ABRT $$", LONG, "signal 6"),
            ("exit 70", LONG, "exit status: 70"),
            ("echo hello", LONG, "/bin/sh gave no answer"),
            ("echo pdm-document/1 refused; printf 'a\\033b\\nc'", LONG, "no readable PDF: a b c"),
            ("echo pdm-document/1 empty", LONG, "no text in it"),
        ] {
            let told = read(script, time);
            assert!(told.starts_with("a.pdf: ") && told.contains(expected), "{script}: {told}");
        }
        assert_eq!(read("echo pdm-document/1 text; echo '## 1 p.1'", LONG), "## 1 p.1\n");
    }

    #[test]
    fn the_child_sees_nothing_of_the_environment() {
        // sh itself sets PWD and a few more, none of which is the test's own
        assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
        let told = read("echo pdm-document/1 text; echo \"<$CARGO_MANIFEST_DIR>\"", LONG);
        assert_eq!(told, "<>\n");
    }

    /// The test's own folder has no such program: a build without it, or an installation that
    /// forgot it.
    #[test]
    fn a_missing_program_is_named_with_what_to_install() {
        let beside = PdfReader::new(None);
        let missing = beside.program().display().to_string();
        assert!(!beside.is_installed() && missing.ends_with("/pdm-pdf"), "{missing}");
        let told = beside.text(Path::new("a.pdf"), Vec::new()).expect_err("refused").to_string();
        for part in ["a.pdf: ", &missing, "install pdm-pdf", "knowledge.pdf_reader"] {
            assert!(told.contains(part), "{part}: {told}");
        }
    }
}
