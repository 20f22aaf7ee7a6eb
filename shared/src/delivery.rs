//! The small documents around an event: receipt, state, gateway status, notification,
//! acknowledgement, dead letter.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::bounds::{
    self, BoundError, LINE_PATTERN, MAX_BEARINGS, MAX_LINE, MAX_NOTE, MAX_REASON_BYTES,
    MAX_TOPIC_BYTES, MAX_WITHIN_SITE, MAX_WORD,
};
use crate::capture::{CaptureAnswer, MAX_ANSWERS};
use crate::episode::{EpisodeState, Transition};
use crate::event::{Event, IsoZone, TrendDirection};
use crate::fault::Fault;
use crate::id::{BearingId, Epoch, EquipmentId, EventId, GatewayId, MeasuringPoint, SiteId};
use crate::relearn::{MAX_RELEARN_ANSWERS, RelearnAnswer};
use crate::risk::RiskLevel;
use crate::text::Text;
use crate::time::Timestamp;

/// The value of `schema` in a receipt.
pub const RECEIPT_SCHEMA: &str = "pdm.receipt/1";
/// The value of `schema` in a bearing's state.
pub const STATE_SCHEMA: &str = "pdm.state/1";
/// The value of `schema` in a gateway's status.
pub const STATUS_SCHEMA: &str = "pdm.gateway/1";
/// The value of `schema` in a notification.
pub const NOTIFICATION_SCHEMA: &str = "pdm.notification/1";
/// The value of `schema` in an acknowledgement.
pub const ACK_SCHEMA: &str = "pdm.ack/1";
/// Most ranges of numbers that a status names as gone; the next status names the rest.
pub const MAX_GONE: usize = 64;
/// The value of `schema` in a dead letter.
pub const DEAD_LETTER_SCHEMA: &str = "pdm.dead_letter/1";

/// The events of a gateway that the agent has stored: the edge may delete these, and sends the gaps
/// again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Receipt {
    /// Always [`RECEIPT_SCHEMA`].
    pub schema: String,
    /// The gateway whose events were stored.
    pub gateway_id: GatewayId,
    /// The count that the numbers belong to; absent if the gateway has named none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<Epoch>,
    /// Highest sequence stored without a gap; 0 if none.
    pub stored_through: u64,
    /// Gaps above `stored_through`, `[first, last]` inclusive, to be sent again.
    pub missing: Vec<[u64; 2]>,
    /// Time at which the receipt was true.
    pub at: Timestamp,
}

/// The short form of a bearing's last event, retained per bearing. Of a bearing with several
/// measuring points, that of the point that is worst.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct State {
    /// Always [`STATE_SCHEMA`].
    pub schema: String,
    /// Identity of the last event.
    pub event_id: EventId,
    /// Sequence number of the last event at its gateway.
    pub sequence: u64,
    /// Location of the sensor; absent if the bearing has one sensor without a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measuring_point: Option<MeasuringPoint>,
    /// Start of the event's window.
    pub measured_at: Timestamp,
    /// Whether the machine was running.
    pub running: bool,
    /// Whether the signal can be judged.
    pub signal_valid: bool,
    /// The anomaly flag.
    pub anomaly_detected: bool,
    /// The anomaly score.
    pub anomaly_score: Option<f64>,
    /// Acceleration RMS, g.
    pub rms_g: Option<f64>,
    /// Velocity RMS, mm/s.
    pub velocity_rms_mm_s: Option<f64>,
    /// Evaluation zone of ISO 20816-1.
    pub iso_zone: Option<IsoZone>,
    /// The named fault.
    pub dominant_fault: Option<Fault>,
    /// Confidence in the named fault, 0…1.
    pub confidence: f64,
    /// Direction of the trend.
    pub trend_direction: TrendDirection,
    /// Remaining useful life, h.
    pub rul_hours: Option<f64>,
}

impl From<&Event> for State {
    fn from(event: &Event) -> Self {
        Self {
            schema: STATE_SCHEMA.to_owned(),
            event_id: event.event_id,
            sequence: event.sequence,
            measuring_point: event.measuring_point.clone(),
            measured_at: event.measured_at,
            running: event.operating.running,
            signal_valid: event.signal_quality.valid,
            anomaly_detected: event.anomaly_detected,
            anomaly_score: event.anomaly.score,
            rms_g: event.time_domain.rms_g,
            velocity_rms_mm_s: event.time_domain.velocity_rms_mm_s,
            iso_zone: event.time_domain.iso_zone,
            dominant_fault: event.frequency_domain.dominant_fault,
            confidence: event.frequency_domain.confidence,
            trend_direction: event.trend.trend_direction,
            rul_hours: event.rul.hours,
        }
    }
}

/// Birth document and last will of a gateway, retained.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GatewayStatus {
    /// Always [`STATUS_SCHEMA`].
    pub schema: String,
    /// The gateway.
    pub gateway_id: GatewayId,
    /// Online, or offline by last will or clean stop.
    pub status: Presence,
    /// Time of the statement; a last will carries the time of the gateway's connection.
    pub at: Timestamp,
    /// Version of the edge program.
    #[serde(default)]
    #[schemars(length(max = MAX_WORD), regex(pattern = LINE_PATTERN))]
    pub version: Option<String>,
    /// The measured bearings, as `equipment/bearing`.
    #[serde(default)]
    #[schemars(length(max = MAX_BEARINGS), inner(length(max = MAX_WITHIN_SITE)))]
    pub bearings: Vec<String>,
    /// Highest sequence number given out; 0 if none.
    #[serde(default)]
    pub last_sequence: Option<u64>,
    /// Identity of the gateway's count of sequence numbers. A new one on this topic, which only the
    /// gateway may write, is what makes the agent follow a new count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<Epoch>,
    /// First number of that count that the gateway can send.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_sequence: Option<u64>,
    /// Number of events that wait in the spool.
    #[serde(default)]
    pub spooled: Option<u64>,
    /// Number of events lost by policy since the spool was made.
    #[serde(default)]
    pub dropped: Option<u64>,
    /// What keeps the gateway from keeping its events, in words; none if nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = MAX_LINE), regex(pattern = LINE_PATTERN))]
    pub trouble: Option<String>,
    /// Events that the broker did not take whole since the gateway's start, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub too_large: Option<GatewayTooLarge>,
    /// Numbers of the present count that the agent's last receipt asks for and the gateway no
    /// longer has, `[first, last]` inclusive: an agent whose database is a restored backup asks for
    /// such.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MAX_GONE))]
    pub gone: Vec<[u64; 2]>,
    /// Whether the broker has ended the gateway's connections again and again before this one:
    /// another client may use its name.
    #[serde(default, skip_serializing_if = "is_false")]
    pub thrown_out: bool,
    /// The newest answers to demands for captures since the gateway's start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MAX_ANSWERS))]
    pub capture_answers: Vec<CaptureAnswer>,
    /// The newest answers to requests to learn a bearing anew since the gateway's start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MAX_RELEARN_ANSWERS))]
    pub relearn_answers: Vec<RelearnAnswer>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// Events of a gateway that are larger than its broker takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GatewayTooLarge {
    /// Events that were sent without their spectra.
    pub without_spectra: u64,
    /// Events that are larger than that without them; the gateway keeps them and does not send
    /// them.
    pub parked: u64,
    /// The largest packet that the broker takes, bytes, as far as the gateway knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_bytes: Option<u64>,
}

/// Whether a gateway is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// Connected.
    Online,
    /// Not connected.
    Offline,
}

/// A message to staff about one bearing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Notification {
    /// Always [`NOTIFICATION_SCHEMA`].
    pub schema: String,
    /// The idempotency key: the same on every channel and every retry.
    pub notification_id: Uuid,
    /// The event that caused it, if one did.
    pub event_id: Option<EventId>,
    /// Site of the bearing.
    pub site: SiteId,
    /// Machine of the bearing.
    pub equipment_id: EquipmentId,
    /// The bearing.
    pub bearing_id: BearingId,
    /// The risk level that staff is told.
    pub risk_level: RiskLevel,
    /// The reason for the notification.
    pub reason: NotificationReason,
    /// The notification in one line.
    pub title: Text,
    /// The findings, since when they have held, and the recommended action.
    pub body: Text,
    /// Time at which the notification was written.
    pub created_at: Timestamp,
    /// The episode that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub episode_id: Option<Uuid>,
    /// The number of the change of that episode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub episode_sequence: Option<u64>,
    /// What changed the episode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transition: Option<Transition>,
    /// The state of the episode afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub episode_state: Option<EpisodeState>,
    /// Others that this tells of too, as `site/equipment/bearing`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MAX_BEARINGS), inner(length(max = MAX_TOPIC_BYTES)))]
    pub related: Vec<String>,
    /// The address at which it can be acknowledged: a page, or a signed link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = MAX_REASON_BYTES))]
    pub ack_url: Option<String>,
}

impl Notification {
    /// Whether it begins an alarm or makes it worse, as statistics count alarms.
    #[must_use]
    pub const fn raises_alarm(&self) -> bool {
        match self.reason {
            NotificationReason::Raised => true,
            NotificationReason::Silent => self.episode_id.is_some(),
            NotificationReason::Repeated
            | NotificationReason::Cleared
            | NotificationReason::Message => false,
        }
    }
}

/// The reason for a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NotificationReason {
    /// The risk rose.
    Raised,
    /// The risk persists and nobody has acknowledged it.
    Repeated,
    /// The risk fell back.
    Cleared,
    /// A gateway went silent.
    Silent,
    /// A tool's call has a message for staff; the risk did not change.
    Message,
}

/// Confirmation by staff that a notification was seen. Published without the retain flag: a
/// retained one would silence later alarms and is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Acknowledgement {
    /// Always [`ACK_SCHEMA`].
    pub schema: String,
    /// The acknowledged notification; if absent, the bearing's last one.
    #[serde(default)]
    pub notification_id: Option<Uuid>,
    /// The person who acknowledges.
    #[schemars(length(max = MAX_LINE), regex(pattern = LINE_PATTERN))]
    pub by: String,
    /// Time of the acknowledgement. Without `notification_id`, one of before the alarm means
    /// another alarm and ends nothing.
    pub at: Timestamp,
    /// The person's note of the work done or the finding.
    #[serde(default)]
    #[schemars(length(max = MAX_NOTE))]
    pub note: Option<String>,
    /// The episode that is acknowledged; one of before the bearing's present one ends nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub episode_id: Option<Uuid>,
    /// The way that the acknowledgement takes: `mqtt`, `page`, `api`, `link`, `cli`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = MAX_WORD), regex(pattern = LINE_PATTERN))]
    pub via: Option<String>,
}

/// A field of a document beyond its bound. The caller dead-letters the message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} {reason}")]
pub struct FieldError {
    /// The field.
    pub field: &'static str,
    /// The bound and what it is.
    pub reason: BoundError,
}

pub(crate) fn bounded(
    field: &'static str,
    checked: Result<(), BoundError>,
) -> Result<(), FieldError> {
    checked.map_err(|reason| FieldError { field, reason })
}

impl GatewayStatus {
    /// A status that says no more than every status has to.
    pub fn bare(gateway_id: GatewayId, status: Presence, at: Timestamp) -> Self {
        Self {
            schema: STATUS_SCHEMA.to_owned(),
            gateway_id,
            status,
            at,
            version: None,
            bearings: Vec::new(),
            last_sequence: None,
            epoch: None,
            first_sequence: None,
            spooled: None,
            dropped: None,
            trouble: None,
            too_large: None,
            gone: Vec::new(),
            thrown_out: false,
            capture_answers: Vec::new(),
            relearn_answers: Vec::new(),
        }
    }

    /// Checks the rules that the types cannot express.
    ///
    /// # Errors
    /// [`FieldError`] of the first field beyond its bound.
    pub fn check(&self) -> Result<(), FieldError> {
        bounded("version", bounds::line(self.version.as_deref().unwrap_or_default(), MAX_WORD))?;
        bounded("trouble", bounds::line(self.trouble.as_deref().unwrap_or_default(), MAX_LINE))?;
        bounded("gone", bounds::count(self.gone.len(), MAX_GONE))?;
        bounded("bearings", bounds::count(self.bearings.len(), MAX_BEARINGS))?;
        for bearing in &self.bearings {
            bounded("bearings", bounds::line(bearing, MAX_WITHIN_SITE))?;
        }
        bounded("capture_answers", bounds::count(self.capture_answers.len(), MAX_ANSWERS))?;
        for refusal in self.capture_answers.iter().filter_map(|answer| answer.refusal.as_ref()) {
            bounded("capture_answers.cause", bounds::line(&refusal.cause, MAX_WORD))?;
            bounded("capture_answers.told", bounds::line(&refusal.told, MAX_LINE))?;
        }
        let answers = bounds::count(self.relearn_answers.len(), MAX_RELEARN_ANSWERS);
        bounded("relearn_answers", answers)?;
        for refusal in self.relearn_answers.iter().filter_map(|answer| answer.refusal.as_ref()) {
            bounded("relearn_answers.cause", bounds::line(&refusal.cause, MAX_WORD))?;
            bounded("relearn_answers.told", bounds::line(&refusal.told, MAX_LINE))?;
        }
        Ok(())
    }
}

impl Acknowledgement {
    /// Checks the rules that the types cannot express.
    ///
    /// # Errors
    /// [`FieldError`] of the first field beyond its bound.
    pub fn check(&self) -> Result<(), FieldError> {
        bounded("by", bounds::line(&self.by, MAX_LINE))?;
        bounded("via", bounds::line(self.via.as_deref().unwrap_or_default(), MAX_WORD))?;
        bounded("note", bounds::lines(self.note.as_deref().unwrap_or_default(), MAX_NOTE))
    }
}

/// A message that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeadLetter {
    /// Always [`DEAD_LETTER_SCHEMA`].
    pub schema: String,
    /// The topic on which the message arrived.
    pub topic: String,
    /// The reason for the refusal.
    pub reason: String,
    /// The first 4 KiB of the message, invalid UTF-8 replaced.
    pub payload_head: String,
    /// Length of the whole message, bytes.
    pub payload_bytes: u64,
    /// Time at which the message arrived.
    pub received_at: Timestamp,
}

/// Bytes of a refused message that are kept.
pub const DEAD_LETTER_HEAD_BYTES: usize = 4096;

impl DeadLetter {
    /// The letter for a refused message.
    pub fn of(topic: &str, payload: &[u8], reason: String, received_at: Timestamp) -> Self {
        let head = &payload[..payload.len().min(DEAD_LETTER_HEAD_BYTES)];
        Self {
            schema: DEAD_LETTER_SCHEMA.to_owned(),
            topic: bounds::cut(topic, MAX_TOPIC_BYTES),
            reason: bounds::cut(&reason, MAX_REASON_BYTES),
            payload_head: String::from_utf8_lossy(head).into_owned(),
            payload_bytes: payload.len() as u64,
            received_at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contracts_receipt_is_read_and_written_back_unchanged() {
        let text = include_str!("../../config/examples/receipt.json");
        let before: serde_json::Value = serde_json::from_str(text).expect("json");
        let receipt: Receipt = serde_json::from_str(text).expect("receipt");
        assert_eq!(before, serde_json::to_value(&receipt).expect("json"));
    }

    #[test]
    fn a_name_or_note_of_a_person_beyond_its_bound_is_refused() {
        let ack = |by: &str, note: &str| {
            let at = Timestamp::from_unix_ms(0).expect("epoch");
            Acknowledgement {
                schema: ACK_SCHEMA.to_owned(),
                notification_id: None,
                by: by.to_owned(),
                at,
                note: Some(note.to_owned()),
                episode_id: None,
                via: None,
            }
            .check()
        };
        assert_eq!(ack("김 정비", "greased\nnoise is gone"), Ok(()));
        assert_eq!(ack("a\nb", "").map_err(|error| error.field), Err("by"));
        assert_eq!(ack(&"x".repeat(257), "").map_err(|error| error.field), Err("by"));
        assert_eq!(ack("", "\u{202e}").map_err(|error| error.field), Err("note"));
    }

    #[test]
    fn a_dead_letters_reason_and_topic_are_bounded() {
        let at = Timestamp::from_unix_ms(0).expect("epoch");
        let letter = DeadLetter::of(&"t".repeat(60_000), b"{", "r\n".repeat(500_000), at);
        assert!(letter.reason.len() <= 1024 && letter.topic.len() <= 512);
        assert!(!letter.reason.contains('\n'));
    }

    #[test]
    fn a_dead_letter_keeps_the_head_only() {
        let at = Timestamp::from_unix_ms(0).expect("epoch");
        let letter = DeadLetter::of("t", &[b'x'; 10_000], "too long".to_owned(), at);
        assert_eq!((letter.payload_head.len(), letter.payload_bytes), (4096, 10_000));
    }
}
