//! A row of the spool as the publisher sees it, and the copy of its payload that is sent.

use std::sync::Arc;

use bytes::Bytes;
use pdm_shared::topic::Topic;

/// Which rows are wanted: numbers in `first..end`, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lane {
    /// Lowest number wanted.
    pub first: u64,
    /// The number after the highest wanted.
    pub end: u64,
}

/// An event that waits for its PUBACK. Dropping the value leaves the row on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a row without an acknowledgement is sent again"]
pub struct Row {
    /// Its place in the gateway's sequence.
    pub sequence: u64,
    /// When it was committed, ms since 1970.
    pub spooled_ms: i64,
    /// Where it is published.
    pub topic: Arc<Topic>,
    /// The event as it was committed, canonical JSON.
    pub payload: Bytes,
}

/// The short form of a bearing's last event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BearingState {
    /// The event's number.
    pub sequence: u64,
    /// Where it is published.
    pub topic: Topic,
    /// The `pdm.state/1` document.
    pub payload: Vec<u8>,
}

const PROMPT: &[u8] = br#""replayed":false,"delayed_s":0.0"#;

impl Row {
    /// The payload to be sent at `now_ms`: the committed bytes, or, where more than `late_after_s`
    /// have passed since the commit, the same with `replayed` and `delayed_s` set.
    ///
    /// Only these two fields differ. They are found as bytes: inside a JSON text their quotes
    /// would be escaped, so the first match is the field.
    pub fn payload_at(self, now_ms: i64, late_after_s: f64) -> Bytes {
        let delayed_s = (now_ms - self.spooled_ms).max(0) as f64 / 1000.0;
        if delayed_s <= late_after_s {
            return self.payload;
        }
        let Some(at) = self.payload.windows(PROMPT.len()).position(|bytes| bytes == PROMPT) else {
            return self.payload;
        };
        let mut late = Vec::with_capacity(self.payload.len() + 16);
        late.extend_from_slice(&self.payload[..at]);
        late.extend_from_slice(format!(r#""replayed":true,"delayed_s":{delayed_s:?}"#).as_bytes());
        late.extend_from_slice(&self.payload[at + PROMPT.len()..]);
        late.into()
    }
}
