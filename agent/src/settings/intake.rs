//! `[intake]`: batches, receipts, gaps, quotas.

use std::path::Path;

use pdm_service::config::{ConfigError, above_zero, count_within, within};
use pdm_store::admission::{LARGEST_JUMP, NEW_BEARINGS_PER_HOUR, RIVAL_SILENT_S};
use serde::Deserialize;

use super::YEAR_H;

/// Most messages of one transaction: at 64 KiB an event with its spectra, 640 MiB.
const MAX_BATCH: u64 = 10_000;
/// Most events before a receipt: the spool of a gateway keeps them that long.
const MAX_RECEIPT_AFTER: u64 = 1_000_000;

/// `[intake]`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IntakeSettings {
    /// Most messages of one transaction.
    pub batch: usize,
    /// Longest time between a commit and its receipt, s.
    pub receipt_after_s: f64,
    /// Most events of a gateway before its receipt.
    pub receipt_after_events: u64,
    /// How far an event may lie ahead of the agent's clock, s; one beyond is judged and marked, and
    /// moves neither the bearing's last time nor its memory.
    pub ahead_s: f64,
    /// Hours after which a gap in a gateway's sequence counts as lost.
    pub gap_lost_after_h: f64,
    /// Whether the topic of an event has to name its gateway.
    pub gateway_in_topic: TopicProof,
    /// Highest number of events by which a gateway's sequence may jump ahead at once.
    pub largest_jump: u64,
    /// Time without an event of a gateway's count of sequence numbers after which another count
    /// that its status names is followed, s.
    pub rival_silent_s: f64,
    /// The quota of one gateway.
    pub quota: QuotaSettings,
}

/// Whether the topic of an event has to name its gateway.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TopicProof {
    /// Both forms of the topic are taken, unless `topic` in `[[gateways]]` says otherwise.
    #[default]
    Accepted,
    /// An event whose topic names no gateway is refused.
    Required,
}

/// `[intake.quota]`: what one gateway may send. An event above the quota of its minute is put off:
/// it is not stored, its number stays missing, and the gateway sends it again when it is asked.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct QuotaSettings {
    /// Most events of a gateway in a minute.
    pub events_per_minute: u64,
    /// Most bytes of a gateway's events in a minute.
    pub bytes_per_minute: u64,
    /// Most refused messages of a sender that are kept as dead letters in a minute; further ones
    /// are counted.
    pub refused_per_minute: u64,
    /// Most bearings that begin to belong to a gateway in an hour, those of `[[gateways]]` not
    /// counted.
    pub new_bearings_per_hour: u64,
}

impl Default for QuotaSettings {
    /// A gateway with 64 channels and a window a second makes 3,840 events a minute; the edge's
    /// default spool (1 GiB, about 400,000 events) is sent within seven minutes. Two gateways at
    /// these quotas stay below what the agent stored beside an attack on two busy cores (1,450
    /// messages a second are 87,000 a minute; what is put off costs a hundredth). Ten refused
    /// messages a second show what is wrong with a gateway.
    fn default() -> Self {
        Self {
            events_per_minute: 60_000,
            bytes_per_minute: 256 << 20,
            refused_per_minute: 600,
            new_bearings_per_hour: NEW_BEARINGS_PER_HOUR,
        }
    }
}

impl Default for IntakeSettings {
    fn default() -> Self {
        Self {
            batch: 512,
            receipt_after_s: 1.0,
            receipt_after_events: 100,
            ahead_s: 3600.0,
            gap_lost_after_h: 7.0 * 24.0,
            gateway_in_topic: TopicProof::Accepted,
            largest_jump: LARGEST_JUMP,
            rival_silent_s: RIVAL_SILENT_S,
            quota: QuotaSettings::default(),
        }
    }
}

impl IntakeSettings {
    pub(super) fn check(&self, path: &Path) -> Result<(), ConfigError> {
        count_within(path, "intake.batch", self.batch as u64, MAX_BATCH)?;
        let events = self.receipt_after_events;
        count_within(path, "intake.receipt_after_events", events, MAX_RECEIPT_AFTER)?;
        above_zero(path, "intake.largest_jump", self.largest_jump)?;
        let quota = &self.quota;
        above_zero(path, "intake.quota.events_per_minute", quota.events_per_minute)?;
        above_zero(path, "intake.quota.bytes_per_minute", quota.bytes_per_minute)?;
        above_zero(path, "intake.quota.refused_per_minute", quota.refused_per_minute)?;
        above_zero(path, "intake.quota.new_bearings_per_hour", quota.new_bearings_per_hour)?;
        within(path, "intake.receipt_after_s", self.receipt_after_s, 3600.0, "seconds")?;
        within(path, "intake.rival_silent_s", self.rival_silent_s, 86_400.0, "seconds")?;
        within(path, "intake.ahead_s", self.ahead_s, 86_400.0, "seconds")?;
        within(path, "intake.gap_lost_after_h", self.gap_lost_after_h, YEAR_H, "hours")
    }
}
