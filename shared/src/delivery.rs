//! The small documents around an event: receipt, state, gateway status, notification,
//! acknowledgement, dead letter.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::event::{Event, IsoZone, TrendDirection};
use crate::fault::Fault;
use crate::id::{BearingId, EquipmentId, EventId, GatewayId, SiteId};
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
/// The value of `schema` in a dead letter.
pub const DEAD_LETTER_SCHEMA: &str = "pdm.dead_letter/1";

/// What the agent has stored of a gateway: what the edge may forget and what it must send again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Receipt {
    /// Always [`RECEIPT_SCHEMA`].
    pub schema: String,
    /// Whose events.
    pub gateway_id: GatewayId,
    /// Highest sequence stored without a gap; 0 if none.
    pub stored_through: u64,
    /// Gaps beyond it, `[first, last]` inclusive, to be sent again.
    pub missing: Vec<[u64; 2]>,
    /// When this was so.
    pub at: Timestamp,
}

/// The last event's short form, retained per bearing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct State {
    /// Always [`STATE_SCHEMA`].
    pub schema: String,
    /// The event in short.
    pub event_id: EventId,
    /// Its place in the gateway's sequence.
    pub sequence: u64,
    /// When it was measured.
    pub measured_at: Timestamp,
    /// Machine runs.
    pub running: bool,
    /// The signal can be judged.
    pub signal_valid: bool,
    /// The anomaly flag.
    pub anomaly_detected: bool,
    /// Its score.
    pub anomaly_score: Option<f64>,
    /// RMS, g.
    pub rms_g: Option<f64>,
    /// Velocity RMS, mm/s.
    pub velocity_rms_mm_s: Option<f64>,
    /// Zone.
    pub iso_zone: Option<IsoZone>,
    /// Named fault.
    pub dominant_fault: Option<Fault>,
    /// How sure.
    pub confidence: f64,
    /// Direction.
    pub trend_direction: TrendDirection,
    /// Remaining life, h.
    pub rul_hours: Option<f64>,
}

impl From<&Event> for State {
    fn from(event: &Event) -> Self {
        Self {
            schema: STATE_SCHEMA.to_owned(),
            event_id: event.event_id,
            sequence: event.sequence,
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
    /// Which gateway.
    pub gateway_id: GatewayId,
    /// Online, or offline by last will or clean stop.
    pub status: Presence,
    /// When it said so; a last will carries the time of its connection.
    pub at: Timestamp,
    /// Version of the program.
    #[serde(default)]
    pub version: Option<String>,
    /// What it measures, as `equipment/bearing`.
    #[serde(default)]
    pub bearings: Vec<String>,
    /// Highest sequence number given out; 0 if none.
    #[serde(default)]
    pub last_sequence: Option<u64>,
    /// Events waiting in the spool.
    #[serde(default)]
    pub spooled: Option<u64>,
    /// Events lost by policy since the spool was made.
    #[serde(default)]
    pub dropped: Option<u64>,
}

/// Whether a gateway is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// Connected.
    Online,
    /// Gone.
    Offline,
}

/// What staff is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Notification {
    /// Always [`NOTIFICATION_SCHEMA`].
    pub schema: String,
    /// The idempotency key: the same on every channel and every retry.
    pub notification_id: Uuid,
    /// The event that caused it, if one did.
    pub event_id: Option<EventId>,
    /// Site.
    pub site: SiteId,
    /// Machine.
    pub equipment_id: EquipmentId,
    /// Bearing.
    pub bearing_id: BearingId,
    /// The level told.
    pub risk_level: RiskLevel,
    /// Why now.
    pub reason: NotificationReason,
    /// One line.
    pub title: Text,
    /// What is known, since when, what to do.
    pub body: Text,
    /// When it was written.
    pub created_at: Timestamp,
}

/// Why a notification goes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NotificationReason {
    /// The risk rose.
    Raised,
    /// The risk stands and nobody acknowledged.
    Repeated,
    /// The risk fell back.
    Cleared,
    /// A gateway went silent.
    Silent,
    /// Somebody has something to say to staff: a tool's call, not a change of risk.
    Message,
}

/// Staff has seen it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Acknowledgement {
    /// Always [`ACK_SCHEMA`].
    pub schema: String,
    /// Which notification; the bearing's last if absent.
    #[serde(default)]
    pub notification_id: Option<Uuid>,
    /// Who.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// What was done or seen.
    #[serde(default)]
    pub note: Option<String>,
}

/// A message that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeadLetter {
    /// Always [`DEAD_LETTER_SCHEMA`].
    pub schema: String,
    /// Where it came in.
    pub topic: String,
    /// Why it was refused.
    pub reason: String,
    /// The first 4 KiB of it, invalid UTF-8 replaced.
    pub payload_head: String,
    /// Its whole length, bytes.
    pub payload_bytes: u64,
    /// When.
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
            topic: topic.to_owned(),
            reason,
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
    fn a_dead_letter_keeps_the_head_only() {
        let at = Timestamp::from_unix_ms(0).expect("epoch");
        let letter = DeadLetter::of("t", &[b'x'; 10_000], "too long".to_owned(), at);
        assert_eq!((letter.payload_head.len(), letter.payload_bytes), (4096, 10_000));
    }
}
