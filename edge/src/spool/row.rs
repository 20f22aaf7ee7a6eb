//! A row of the spool, and the copy of its payload that is sent.

use std::sync::Arc;

use bytes::Bytes;
use pdm_shared::id::Epoch;
use pdm_shared::topic::Topic;

/// A range of sequence numbers, `first..end`, read in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lane {
    /// Lowest number of the range.
    pub first: u64,
    /// The number after the highest one.
    pub end: u64,
}

/// An event that waits for its PUBACK. Dropping the value leaves the row on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a row without an acknowledgement is sent again"]
pub struct Row {
    /// Sequence number.
    pub sequence: u64,
    /// Time of the commit, ms since 1970.
    pub spooled_ms: i64,
    /// Topic of the publication.
    pub topic: Arc<Topic>,
    /// The event as it was committed, canonical JSON.
    pub payload: Bytes,
}

/// The short form of a bearing's last event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BearingState {
    /// Sequence number of the event.
    pub sequence: u64,
    /// Topic of the publication.
    pub topic: Topic,
    /// The `pdm.state/1` document.
    pub payload: Vec<u8>,
}

/// The two fields in a payload as it is committed.
const PROMPT: &[u8] = br#""replayed":false,"delayed_s":0.0"#;

/// The fields of an event whose samples came late already; the number follows.
const LATE: &[u8] = br#""replayed":true,"delayed_s":"#;

impl Row {
    /// The payload to be sent at `now_ms`: the committed bytes. If more than `late_after_s` have
    /// passed since the commit, `replayed` and `delayed_s` are set in it.
    ///
    /// Only these two fields differ. They are found by their bytes: quotes inside a JSON text are
    /// escaped, so the first match cannot be part of a text.
    pub fn payload_at(self, now_ms: i64, late_after_s: f64) -> Bytes {
        let delayed_s = (now_ms - self.spooled_ms).max(0) as f64 / 1000.0;
        if delayed_s <= late_after_s {
            return self.payload;
        }
        let Some((head, came_late_s, tail)) = delay_in(&self.payload) else {
            return self.payload;
        };
        let delayed_s = came_late_s + delayed_s;
        let mut late = Vec::with_capacity(self.payload.len() + 16);
        late.extend_from_slice(head);
        late.extend_from_slice(format!(r#""replayed":true,"delayed_s":{delayed_s:?}"#).as_bytes());
        late.extend_from_slice(tail);
        late.into()
    }
}

/// Splits a payload into the text before the two fields, the delay that they state, s, and the text
/// behind them.
fn delay_in(payload: &[u8]) -> Option<(&[u8], f64, &[u8])> {
    let split = |mark: &[u8]| {
        let at = payload.windows(mark.len()).position(|bytes| bytes == mark)?;
        Some((payload.get(..at)?, payload.get(at + mark.len()..)?))
    };
    if let Some((head, tail)) = split(PROMPT) {
        return Some((head, 0.0, tail));
    }
    let (head, rest) = split(LATE)?;
    let (number, tail) =
        rest.split_at_checked(rest.iter().position(|byte| b",}".contains(byte))?)?;
    Some((head, std::str::from_utf8(number).ok()?.parse().ok()?, tail))
}

/// The name of the field and the quote before its value.
const EPOCH: &[u8] = br#""epoch":""#;

/// Length of an identity as text.
const EPOCH_TEXT: usize = 36;

/// The payload with the identity of the count that its sequence number belongs to. Committed
/// payloads have it, so nothing is copied; a row of an earlier version gets it, and a row of a
/// count that was repaired gets the new one.
pub fn labelled(payload: Bytes, epoch: Epoch) -> Bytes {
    let text = epoch.to_string();
    let found = payload.windows(EPOCH.len()).position(|bytes| bytes == EPOCH);
    let (head, tail) = match found {
        Some(at) => {
            let value = at + EPOCH.len();
            let Some(tail) = payload.get(value + EPOCH_TEXT..) else { return payload };
            if payload[value..value + EPOCH_TEXT] == *text.as_bytes() {
                return payload;
            }
            (payload[..value].to_vec(), [text.as_bytes(), tail].concat())
        }
        None => match payload.strip_prefix(b"{") {
            Some(fields) => (format!(r#"{{"epoch":"{text}","#).into_bytes(), fields.to_vec()),
            None => return payload,
        },
    };
    [head, tail].concat().into()
}
