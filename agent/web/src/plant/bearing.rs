//! The row of a bearing as lists show it: its last judgement, what stands of its alarm, and why
//! nothing is known of it, if nothing is.
//!
//! Invariant: a bearing that is overdue by its own beat is never told to be sound
//! ([`BearingRow::at`]); a page that asks for the fleet asks for it at a time.

use pdm_shared::episode::{EpisodeState, Suppression};
use pdm_shared::fault::{Fault, finding_in_words};
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

/// A bearing as the fleet shows it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BearingRow {
    /// Site, machine and bearing.
    #[serde(flatten)]
    pub key: BearingKey,
    /// Risk of the last judgement.
    pub risk_level: RiskLevel,
    /// Stage on the P–F curve, 0–4.
    pub fault_stage: u8,
    /// The faulty element, if one is named.
    pub fault_type: Option<Fault>,
    /// When the last judgement was made.
    pub judged_at: Timestamp,
    /// The last judged event.
    pub event_id: Option<EventId>,
    /// When its window was measured.
    pub measured_at: Option<Timestamp>,
    /// Remaining life to plan with, hours.
    pub rul_hours: Option<f64>,
    /// Lower bound of the remaining life's 80 % interval in the last window, hours.
    pub rul_low_hours: Option<f64>,
    /// Median of the remaining life in the last window, hours.
    pub rul_median_hours: Option<f64>,
    /// Upper bound of the remaining life's 80 % interval in the last window, hours.
    pub rul_high_hours: Option<f64>,
    /// Mean time between its last five windows and those before them, s; none of a bearing with
    /// fewer windows.
    pub beat_s: Option<f64>,
    /// Why nothing is known of the bearing now, if nothing is.
    pub blind: Option<Blind>,
    /// What staff was told of the open episode.
    pub alarm: Option<AlarmRow>,
    /// The open episode.
    pub episode: Option<EpisodeRow>,
}

/// Why nothing is known of a bearing now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Blind {
    /// The signal is not that of the bearing: a flat line, clipping, a sensor that has come off.
    Sensor,
    /// The machine stands.
    Standing,
    /// Nothing was measured for long, by the bearing's own beat.
    Silent,
}

impl Blind {
    /// The word of the API and of lists.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sensor => "sensor",
            Self::Standing => "standing",
            Self::Silent => "silent",
        }
    }
}

/// The open episode of a bearing.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EpisodeRow {
    /// The episode.
    pub episode_id: Uuid,
    /// Its three axes in one word.
    pub state: EpisodeState,
    /// Whether and why staff is not told.
    pub suppression: Suppression,
}

/// An alarm that stands.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AlarmRow {
    /// The last notification of it; an acknowledgement names this.
    pub notification_id: Uuid,
    /// The highest level told.
    pub risk_level: RiskLevel,
    /// What staff was told.
    pub title: Text,
    /// When the alarm began.
    pub since: Timestamp,
    /// When it was acknowledged.
    pub acknowledged_at: Option<Timestamp>,
    /// Who acknowledged it.
    pub acknowledged_by: Option<String>,
}

/// Beats of a bearing without a window after which it is silent. Chosen: three, so that a window
/// that was refused and one that was late are no silence.
const MISSED_BEATS: f64 = 3.0;
/// Shortest time that is a silence, s. Chosen: above the minutes in which a gateway starts anew and
/// sends what it has kept.
const LEAST_SILENCE_S: f64 = 1800.0;
/// Time without a window after which a bearing of fewer than six windows is silent, s. Chosen: two
/// days, above the beat of rounds that are made once a day.
const SILENT_WITHOUT_BEAT_S: f64 = 2.0 * 86_400.0;

impl BearingRow {
    /// The row as it stands at `now`: a bearing that is overdue by its own beat is silent, whatever
    /// its last judgement was.
    #[must_use]
    pub fn at(mut self, now: Timestamp) -> Self {
        self.blind = self.blind.or_else(|| self.is_silent(now).then_some(Blind::Silent));
        self
    }

    /// Whether nothing was measured for [`MISSED_BEATS`] of the bearing's own beat; a bearing that
    /// has no beat yet is silent after [`SILENT_WITHOUT_BEAT_S`].
    pub fn is_silent(&self, now: Timestamp) -> bool {
        let Some(measured_at) = self.measured_at else { return false };
        let longest_s = self
            .beat_s
            .map_or(SILENT_WITHOUT_BEAT_S, |beat_s| (MISSED_BEATS * beat_s).max(LEAST_SILENCE_S));
        now.seconds_since(measured_at) > longest_s
    }

    /// The time at which the remaining life ends by its lower bound; none of a bearing at Watch or
    /// below, whose life is no reason to hurry, and of one of which nothing is known.
    pub fn act_by(&self) -> Option<Timestamp> {
        if self.risk_level < RiskLevel::Warning || self.blind.is_some() {
            return None;
        }
        Some(self.measured_at?.plus_seconds(3600.0 * self.rul_low_hours?))
    }

    /// The title of what stands, as the last judgement sees it: an alarm keeps the title of its
    /// message, which may be of an earlier stage. An alarm that is over, and waits to be
    /// acknowledged, keeps it.
    pub fn standing_title(&self) -> Text {
        if let (RiskLevel::Normal, Some(alarm)) = (self.risk_level, &self.alarm) {
            return alarm.title.clone();
        }
        let (label, what) =
            (self.risk_level.label(), finding_in_words(self.fault_type, self.fault_stage));
        let (equipment, bearing) = (&self.key.equipment, &self.key.bearing);
        Text::new(
            format!("[{}] {equipment} {bearing} {}", label.ko, what.ko),
            format!("[{}] {equipment} {bearing}: {}", label.en, what.en),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(beat_s: Option<f64>, measured_at: Timestamp) -> BearingRow {
        BearingRow {
            key: BearingKey::parse("north", "M-1", "DE").expect("a name"),
            risk_level: RiskLevel::Normal,
            fault_stage: 0,
            fault_type: None,
            judged_at: measured_at,
            event_id: None,
            measured_at: Some(measured_at),
            rul_hours: None,
            rul_low_hours: None,
            rul_median_hours: None,
            rul_high_hours: None,
            beat_s,
            blind: None,
            alarm: None,
            episode: None,
        }
    }

    /// A sensor that stopped was sound for good: its last judgement was.
    #[test]
    fn a_bearing_is_silent_by_its_own_beat() {
        let now = Timestamp::from_unix_ms(1_795_238_000_000).expect("a time");
        let silent = |beat_s, age_s: f64| row(beat_s, now.plus_seconds(-age_s)).is_silent(now);
        assert!(!silent(Some(60.0), 900.0), "a gateway that starts anew");
        assert!(silent(Some(60.0), 2_000.0), "one a minute, and none for half an hour");
        assert!(!silent(Some(86_400.0), 2.0 * 86_400.0), "a round a day that left one out");
        assert!(silent(Some(86_400.0), 3.5 * 86_400.0));
        assert!(!silent(None, 86_400.0) && silent(None, 3.0 * 86_400.0), "too few for a beat");
        let gone = row(Some(60.0), now.plus_seconds(-3_600.0)).at(now);
        assert_eq!(gone.blind, Some(Blind::Silent));
        let dead = BearingRow { blind: Some(Blind::Sensor), ..gone };
        assert_eq!(dead.at(now).blind, Some(Blind::Sensor), "what is known of it stays");
    }
}
