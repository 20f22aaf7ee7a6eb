//! The first block of a live source, and why there is none.
//!
//! A source is read on a thread of its own, since a read may hang on a device. While it is read it
//! states what is wrong with it as a running edge would show in `/healthz`; the finding repeats
//! that.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use pdm_service::error_chain::error_chain;
use pdm_service::exit::Exit;

use super::Finding;
use crate::settings::SourceSettings;
use crate::source::values::{PointValue, PointValues};
use crate::source::{Block, Source, SourceError, SourceHost, SourceInput};

/// The time to wait beyond that of the first block, so that a connection that gives up at that time
/// says so itself.
const GRACE: Duration = Duration::from_secs(1);

/// The advice on an address behind which nobody answers.
const UNREACHED: &str = "is the device on, are host and port right, does a firewall lie between?";

type Read = Result<Option<Block>, SourceError>;

/// A live source that is read.
pub(super) struct LiveLook<'a> {
    what: String,
    source: &'a SourceSettings,
    host: SourceHost,
    rate_hz: f64,
    /// Samples of a window; 0: each block is one.
    wanted: usize,
    /// The source has handed out a block, be it without content: its connection stands, or it
    /// listens.
    has_answered: Arc<AtomicBool>,
    told: Receiver<Read>,
    wait: Duration,
    until: Instant,
}

impl<'a> LiveLook<'a> {
    /// Begins to read. The thread is not joined, for the command ends soon.
    pub(super) fn begin(
        what: String,
        mut opened: Box<dyn Source>,
        source: &'a SourceSettings,
        host: SourceHost,
        wait: Duration,
    ) -> Self {
        let rate_hz = opened.format().sample_rate.get();
        let wanted =
            source.window.map_or(0, |window| (window.as_secs_f64() * rate_hz).round() as usize);
        let has_answered = Arc::new(AtomicBool::new(false));
        let answered = Arc::clone(&has_answered);
        let (tell, told) = sync_channel(2);
        std::thread::spawn(move || {
            let first = next_filled(&mut opened, &answered);
            let is_short = matches!(&first, Ok(Some(block)) if block.values.is_none()
                && block.accel_m_s2.ncols() < wanted);
            // an error of the channel means that the time is up and the block is not awaited any
            // more
            let last = if is_short {
                // short ones are measured where they follow on
                let _late = tell.send(first);
                next_filled(&mut opened, &answered)
            } else {
                first
            };
            // a session at a server is closed before the command ends
            drop(opened);
            let _late = tell.send(last);
        });
        let until = Instant::now() + wait + GRACE;
        Self { what, source, host, rate_hz, wanted, has_answered, told, wait, until }
    }

    /// Returns the finding on what the source has brought until the time is up.
    pub(super) fn finding(self) -> Finding {
        match self.next() {
            Ok(Ok(Some(Block { values: Some(values), .. }))) => self.values_read(&values),
            Ok(Ok(Some(block))) => self.block_read(&block),
            Ok(Ok(None)) => Finding::good(self.what, "is at its end"),
            Ok(Err(error)) => self.failed(&error),
            Err(_silent) => self.silent(),
        }
    }

    fn next(&self) -> Result<Read, RecvTimeoutError> {
        self.told.recv_timeout(self.until.saturating_duration_since(Instant::now()))
    }

    /// Appends the faults that the source reports to a text.
    fn with_reasons(&self, text: String) -> String {
        let reasons = self.host.remarks.reasons();
        if reasons.is_empty() { text } else { format!("{text}; {}", reasons.join("; ")) }
    }

    fn block_read(self, block: &Block) -> Finding {
        let (channels, samples) = block.accel_m_s2.dim();
        let wanted = self.wanted;
        let text = format!("delivers: {channels} channels, {samples} samples a block");
        if samples >= wanted {
            let text = self.with_reasons(text);
            return Finding::good(self.what, text);
        }
        if matches!(self.next(), Ok(Ok(Some(next))) if next.follows_on) {
            let text = self.with_reasons(format!("{text}, without gaps"));
            return Finding::good(self.what, text);
        }
        let most_s = (samples as f64 / self.rate_hz * 1000.0).floor() / 1000.0;
        let text = format!(
            "{text}: a window (window_s) has {wanted}, and no block was seen that follows on, so \
             nothing would be measured; window_s = {most_s} measures such blocks"
        );
        let text = self.with_reasons(text);
        Finding { what: self.what, outcome: Err((Exit::Config, text)) }
    }

    /// Returns the finding on a transmitter's values; a value that is missing is a failure.
    fn values_read(self, values: &PointValues) -> Finding {
        let texts: Vec<String> = values
            .values
            .iter()
            .map(|PointValue { channel, figure, value, .. }| {
                let value =
                    value.map_or_else(|| "no value".to_owned(), |value| format!("{value:.4}"));
                format!("channel {channel} {} {value}", figure.key())
            })
            .collect();
        let text = self.with_reasons(format!("delivers: {}", texts.join(", ")));
        if values.values.iter().all(|value| value.value.is_some()) {
            return Finding::good(self.what, text);
        }
        Finding { what: self.what, outcome: Err((Exit::Unavailable, text)) }
    }

    /// The source has failed: nobody answers, nothing comes over the connection, or another fault.
    fn failed(self, error: &SourceError) -> Finding {
        if error.exit() == Exit::Usage {
            return Finding::bad(self.what, Exit::Config, error);
        }
        let is_tcp = matches!(self.source.input, SourceInput::Tcp { .. });
        let kind = match error {
            SourceError::Io { source, .. } => Some(source.kind()),
            SourceError::Missing { .. }
            | SourceError::Malformed { .. }
            | SourceError::NothingReadable { .. }
            | SourceError::Options { .. }
            | SourceError::Failed { .. } => None,
        };
        if is_tcp && kind == Some(io::ErrorKind::TimedOut) {
            // it was connected: an address that does not answer has another kind
            return self.silent();
        }
        let mut text = error_chain(error);
        if kind == Some(io::ErrorKind::AddrInUse) {
            text.push_str(
                ": does the service run? stop it for the check, or look at its /healthz instead",
            );
        } else if kind.is_some_and(|kind| self.is_unreached(kind, &text)) {
            text = format!("{text}: {UNREACHED}");
        }
        // polls of a transmitter or a server state the same as their error
        let is_stream = matches!(
            self.source.input,
            SourceInput::Topic { .. } | SourceInput::Tcp { .. } | SourceInput::Listen { .. }
        );
        let text = if is_stream { self.with_reasons(text) } else { text };
        Finding { what: self.what, outcome: Err((Exit::Unavailable, text)) }
    }

    /// Whether an error says that nobody answers at the address.
    fn is_unreached(&self, kind: io::ErrorKind, text: &str) -> bool {
        match &self.source.input {
            SourceInput::Tcp { .. } => text.contains("cannot connect"),
            SourceInput::Topic { .. } => !self.has_answered.load(Ordering::Relaxed),
            SourceInput::Modbus(_) => matches!(
                kind,
                io::ErrorKind::TimedOut
                    | io::ErrorKind::ConnectionRefused
                    | io::ErrorKind::HostUnreachable
                    | io::ErrorKind::NetworkUnreachable
                    | io::ErrorKind::NotFound
            ),
            SourceInput::Recording { .. }
            | SourceInput::Watched { .. }
            | SourceInput::Simulator(_)
            | SourceInput::StandardInput(_)
            | SourceInput::Listen { .. }
            | SourceInput::Iio(_)
            | SourceInput::Alsa(_)
            | SourceInput::Opcua(_) => false,
        }
    }

    /// The time is up without a block and without an error.
    fn silent(self) -> Finding {
        let within = format!("within {} s", self.wait.as_secs());
        let reasons = self.host.remarks.reasons();
        if !reasons.is_empty() {
            let text =
                format!("no block {within}, for what comes is not used: {}", reasons.join("; "));
            return Finding { what: self.what, outcome: Err((Exit::BadInput, text)) };
        }
        let has_answered = self.has_answered.load(Ordering::Relaxed);
        let rarely = "a sensor that sends more rarely is awaited with --wait SECONDS";
        let text = match &self.source.input {
            // a server that is subscribed to brings an array when it changes
            SourceInput::Opcua(_) if has_answered => {
                let text = format!(
                    "connected; no array has changed {within}, so that unit and length are not \
                     known yet; {rarely}"
                );
                return Finding::good(self.what, text);
            }
            SourceInput::Topic { topic, .. } if has_answered => format!(
                "connected and subscribed to {}, and no message has come {within}: {rarely}; else \
                 is the topic spelt as the sender spells it, and does the sender run?",
                topic.topic
            ),
            SourceInput::Tcp { address, .. } => format!(
                "connected to {address}, and nothing has come {within}: {rarely}; else does the \
                 device wait for a command, or send on another port?"
            ),
            SourceInput::Listen { address, .. } => format!(
                "listens at {address}, and no sender has sent a block {within}: start the sender, \
                 and point it to this machine and port; {rarely}"
            ),
            SourceInput::StandardInput(_) => {
                format!("no block has come over standard input {within}: {rarely}")
            }
            SourceInput::Iio(_) => {
                format!("the device gives no samples {within}: does its trigger run?")
            }
            SourceInput::Alsa(_) => {
                format!("the device gives no samples {within}: is it plugged in, and its input on?")
            }
            SourceInput::Topic { .. } | SourceInput::Modbus(_) | SourceInput::Opcua(_) => {
                format!("no answer {within}: {UNREACHED}")
            }
            SourceInput::Recording { .. }
            | SourceInput::Watched { .. }
            | SourceInput::Simulator(_) => format!("no block {within}"),
        };
        Finding { what: self.what, outcome: Err((Exit::Unavailable, text)) }
    }
}

/// The next block with content; a source without a sender hands out blocks without samples.
fn next_filled(opened: &mut Box<dyn Source>, has_answered: &AtomicBool) -> Read {
    loop {
        let read = opened.next_block()?;
        has_answered.store(true, Ordering::Relaxed);
        match read {
            Some(block) if block.accel_m_s2.ncols() == 0 && block.values.is_none() => {}
            other => return Ok(other),
        }
    }
}
