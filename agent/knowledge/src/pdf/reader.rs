//! The handle by which a program reads PDFs: in a child process, one at a time, bounded in time and
//! in bytes of the answer.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pdm_service::confined::{ConfinedProgram, ending};

use super::child::{ANSWER, EMPTY, REFUSED, TEXT};
use super::{COMMAND, MAX_TEXT_BYTES, PdfFault, markdown, not_blank};
use crate::document::DocumentError;

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
    way: Way,
    turn: Arc<Mutex<()>>,
}

#[derive(Debug, Clone)]
enum Way {
    Absent,
    InProcess,
    Child { program: ConfinedProgram, time: Duration },
}

impl PdfReader {
    /// Refuses every PDF: for a program that takes no documents.
    pub fn absent() -> Self {
        Self::by(Way::Absent)
    }

    /// Parses in this process: for tests and benchmarks with files of their own.
    pub fn in_process() -> Self {
        Self::by(Way::InProcess)
    }

    /// Parses in a child process of the running program, which has the command [`COMMAND`].
    pub fn own_program() -> Self {
        Self::by(Way::Child { program: ConfinedProgram::own(COMMAND), time: MAX_TIME })
    }

    /// Parses in a child process of `program`.
    pub fn child(program: impl Into<PathBuf>, arguments: &[&str]) -> Self {
        let program = ConfinedProgram::other(program, arguments);
        Self::by(Way::Child { program, time: MAX_TIME })
    }

    fn by(way: Way) -> Self {
        Self { way, turn: Arc::default() }
    }

    /// The text of the PDF called `path`, as Markdown with a section for each page. Blocks until
    /// the file is read or its time is over.
    ///
    /// # Errors
    /// [`DocumentError::Pdf`] with the reason; [`DocumentError::Empty`] if there is no text.
    pub fn text(&self, path: &Path, bytes: Vec<u8>) -> Result<String, DocumentError> {
        let refused = |reason: &str| Err(PdfFault::Refused(reason.to_owned()));
        let read = match &self.way {
            Way::Absent => refused("this program reads no PDF"),
            Way::InProcess => markdown(bytes).and_then(not_blank),
            Way::Child { program, time } => {
                let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
                converse(program.command(), bytes, *time)
                    .map_err(PdfFault::Refused)
                    .and_then(|answer| understood(&answer))
            }
        };
        read.map_err(|fault| fault.at(path))
    }
}

/// The text in an answer.
fn understood(answer: &[u8]) -> Result<String, PdfFault> {
    let answer = String::from_utf8_lossy(answer);
    let parts = answer.strip_prefix(ANSWER).and_then(|answer| answer.split_once('\n'));
    match parts {
        Some((TEXT, text)) => not_blank(text.to_owned()),
        Some((EMPTY, _)) => Err(PdfFault::Empty),
        Some((REFUSED, reason)) => Err(PdfFault::Refused(shown(reason))),
        _ => Err(PdfFault::Refused("the reading process gave no answer".to_owned())),
    }
}

/// A reason as one line without control characters.
fn shown(reason: &str) -> String {
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
        let program = ConfinedProgram::other("/bin/sh", &["-c", script]);
        let way = Way::Child { program, time };
        let read = PdfReader::by(way).text(Path::new("a.pdf"), vec![7; 1 << 20]);
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
            ("echo hello", LONG, "gave no answer"),
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

    #[test]
    fn a_program_without_a_reader_says_so() {
        let error = PdfReader::absent().text(Path::new("a.pdf"), Vec::new()).expect_err("refused");
        assert!(error.to_string().contains("reads no PDF"), "{error}");
    }
}
