//! Lines of the log on their way to standard error. A thread writes them: where nobody reads a pipe
//! any more (a collector that hangs, a container's log driver that blocks), the log stands still
//! and nothing else does.
//!
//! Invariant: a task that logs never waits. What finds no room is dropped, counted in
//! `pdm_log_lines_dropped_total`, and told in the log itself as soon as that moves again.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use pdm_shared::bounds::is_hidden;
use tracing_subscriber::fmt::MakeWriter;

/// Lines that wait to be written. Chosen: more than a start at `debug` writes at once, and below 10
/// MB.
const WAITING: usize = 16_384;
/// Longest wait at the end of a program for its last lines.
const LAST: Duration = Duration::from_secs(1);

/// The lines of this process.
static LINES: OnceLock<Lines> = OnceLock::new();

/// Takes lines, and never waits.
#[derive(Debug, Clone)]
pub(super) struct Lines {
    queue: SyncSender<Vec<u8>>,
    counts: Arc<Counts>,
    /// Whether lines have colours.
    is_coloured: bool,
}

#[derive(Debug, Default)]
struct Counts {
    /// Lines that wait or are being written.
    waiting: AtomicU64,
    dropped: AtomicU64,
}

impl Lines {
    /// The lines to standard error; they are written by one thread, however often this is called.
    pub(super) fn to_stderr() -> Self {
        let coloured =
            || Self { is_coloured: io::stderr().is_terminal(), ..Self::to(io::stderr()) };
        LINES.get_or_init(coloured).clone()
    }

    fn to(out: impl Write + Send + 'static) -> Self {
        let (queue, lines) = sync_channel(WAITING);
        let counts = Arc::new(Counts::default());
        let of_thread = Arc::clone(&counts);
        let thread = std::thread::Builder::new().name("log".to_owned());
        // without a thread every line is dropped and counted, and the program works
        let _started = thread.spawn(move || write_all(&lines, &of_thread, out));
        Self { queue, counts, is_coloured: false }
    }

    fn send(&self, line: Vec<u8>) {
        self.counts.waiting.fetch_add(1, Ordering::Relaxed);
        if self.queue.try_send(line).is_err() {
            self.counts.waiting.fetch_sub(1, Ordering::Relaxed);
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
            metrics::counter!("pdm_log_lines_dropped_total").increment(1);
        }
    }

    /// Waits until every line is written, for a limited time.
    fn finish(&self) {
        let begun = Instant::now();
        while self.counts.waiting.load(Ordering::Relaxed) > 0 && begun.elapsed() < LAST {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// A line without a character that would begin another one, move a terminal's cursor or turn the
/// direction of what follows: names of files and texts of senders hold such. Written as JSON
/// escapes them (`\\n`, `\\u001b`), so that a line of JSON stays one. Where lines have colours,
/// these stay.
fn on_one_line(line: Vec<u8>, is_coloured: bool) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(&line) else { return line };
    let body = text.strip_suffix('\n').unwrap_or(text);
    if !body.chars().any(is_hidden) {
        return line;
    }
    let mut out = String::with_capacity(line.len() + 32);
    let mut rest = body;
    while let Some(one) = rest.chars().next() {
        let colour = if is_coloured { colour_of(rest) } else { 0 };
        let (own, after) = rest.split_at(colour.max(one.len_utf8()));
        match one {
            _ if colour > 0 || !is_hidden(one) => out.push_str(own),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            other => {
                for unit in other.encode_utf16(&mut [0; 2]) {
                    let _infallible = write!(out, "\\u{unit:04x}");
                }
            }
        }
        rest = after;
    }
    out.push('\n');
    out.into_bytes()
}

/// The length of the code of a colour (ECMA-48, SGR) that a text begins with, 0 if it begins with
/// none.
fn colour_of(text: &str) -> usize {
    let Some(codes) = text.strip_prefix("\u{1b}[") else { return 0 };
    let length = codes.bytes().take_while(|one| one.is_ascii_digit() || *one == b';').count();
    if codes.as_bytes().get(length) == Some(&b'm') { length + 3 } else { 0 }
}

/// Waits until the log is written, for a limited time. The end of a program calls this.
pub fn finish() {
    if let Some(lines) = LINES.get() {
        lines.finish();
    }
}

fn write_all(lines: &Receiver<Vec<u8>>, counts: &Counts, mut out: impl Write) {
    while let Ok(line) = lines.recv() {
        // a log that cannot be written has no other place to say so
        let _unwritten = out.write_all(&line);
        counts.waiting.fetch_sub(1, Ordering::Relaxed);
        let dropped = counts.dropped.swap(0, Ordering::Relaxed);
        if dropped > 0 {
            let told = format!(
                " WARN {dropped} lines of the log were dropped: what reads standard error stood \
                 still\n"
            );
            let _unwritten = out.write_all(told.as_bytes());
        }
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line { lines: self, bytes: Vec::with_capacity(256) }
    }
}

/// A line that is being put together; it leaves when it is dropped.
#[derive(Debug)]
pub(super) struct Line<'a> {
    lines: &'a Lines,
    bytes: Vec<u8>,
}

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        if !self.bytes.is_empty() {
            let line = std::mem::take(&mut self.bytes);
            self.lines.send(on_one_line(line, self.lines.is_coloured));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use super::*;

    /// A pipe that nobody reads until the gate opens.
    struct Gated {
        gate: Option<Receiver<()>>,
        written: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Gated {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if let Some(gate) = self.gate.take() {
                let _opened = gate.recv();
            }
            self.written.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// R-EDGE-10: the name of a file began a line of the log, and another one cleared the screen.
    #[test]
    fn a_foreign_text_begins_no_line_and_moves_no_cursor() {
        let shown = |text: &str, is_coloured| {
            String::from_utf8(on_one_line(text.as_bytes().to_vec(), is_coloured)).expect("text")
        };
        let name = "\u{1b}[32m INFO\u{1b}[0m path=new\nline\u{1b}[2J\u{202e}.wav\u{e0041}\n";
        let colours =
            "\u{1b}[32m INFO\u{1b}[0m path=new\\nline\\u001b[2J\\u202e.wav\\udb40\\udc41\n";
        assert_eq!(shown(name, true), colours);
        assert!(!shown(name, false).trim_end().contains(char::is_control));
        assert_eq!(shown("펌프 1호 → ok\n", false), "펌프 1호 → ok\n");
    }

    #[test]
    fn a_log_that_nobody_reads_holds_nobody_up_and_says_what_was_dropped() {
        let (open, gate): (SyncSender<()>, Receiver<()>) = sync_channel(1);
        let written = Arc::new(Mutex::new(Vec::new()));
        let lines = Lines::to(Gated { gate: Some(gate), written: Arc::clone(&written) });
        let more = 5;
        for number in 0..=WAITING + more {
            writeln!(lines.make_writer(), "line {number}").expect("never fails");
        }
        assert!(lines.counts.dropped.load(Ordering::Relaxed) >= more as u64);
        open.send(()).expect("the thread waits");
        lines.finish();
        let text = String::from_utf8(written.lock().expect("whole").clone()).expect("text");
        assert!(
            text.starts_with("line 0\nline 1\n") || text.starts_with("line 0\n WARN"),
            "{}",
            &text[..80]
        );
        assert!(text.contains("lines of the log were dropped"));
    }
}
