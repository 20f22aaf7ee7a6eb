//! How long a bearing may say nothing, by its own past. Pure.
//!
//! A bearing that is measured once a day, in shifts or on a round pauses by its nature, and says so
//! by its pauses. Those that its past let expect count at once. One that it did not let expect,
//! such as the time in which a sensor was broken, counts from its second occurrence: that is how
//! often a plant's own rhythm may be told as a silence.

use pdm_shared::time::Timestamp;
use pdm_store::BearingPause;

/// Usual pauses after which a bearing is silent. Chosen: three, as the pages do, so that a round
/// that was left out and one that was late are no silence. Played over the times of two runs to
/// failure: none of the thirteen pauses of more than three hours of IMS test 1 (2,156 recordings,
/// 34 days, a rig that stood for up to 148 h) is told; test 2 (984 recordings) has no pause.
const MISSED_PAUSES: f64 = 3.0;
/// The shortest usual pause that is a night's, s. Chosen: a plant of two shifts stands for eight
/// hours; its first window comes some time after the start of the shift, its last one before the
/// end.
const NIGHT_S: f64 = 6.0 * 3600.0;
/// The time for which whatever pauses over a night may pause over a weekend, s. Chosen: what is
/// measured once a working day comes after 72 h, after 96 h where the Monday is free, and some
/// hours later where it is late.
const WEEKEND_S: f64 = 100.0 * 3600.0;
/// How many times the configured time a bearing has to have been measured. Chosen: eight, which is
/// a day by the default of three hours: the first night of a bearing says how it spends nights.
const MEASURED_FOR: f64 = 8.0;
/// Pauses shorter than the configured time by this factor are not kept: three of them are within
/// that time.
const KEPT_FROM: f64 = 1.0 / MISSED_PAUSES;

/// The past of a bearing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Past<'a> {
    /// When it was heard for the first time.
    pub(super) since: Timestamp,
    /// Its pauses that are kept.
    pub(super) pauses: &'a [BearingPause],
}

/// The shortest pause that is kept, s, where a bearing is told after `after_s`.
pub(super) fn kept_from_s(after_s: f64) -> f64 {
    after_s * KEPT_FROM
}

impl Past<'_> {
    /// The time for which a bearing may say nothing, s; `after_s` is the configured one.
    pub(super) fn bound_s(&self, after_s: f64) -> f64 {
        let usual_s = self.usual_pause_s();
        let weekend_s = if usual_s >= NIGHT_S { WEEKEND_S } else { 0.0 };
        after_s.max(MISSED_PAUSES * usual_s).max(weekend_s)
    }

    /// Whether a bearing that was heard last at `last` had been measured regularly until then: for
    /// as long as it may say nothing, and for [`MEASURED_FOR`]. A new one, a trial and a replay of
    /// old files are not.
    pub(super) fn is_regular(&self, last: Timestamp, after_s: f64) -> bool {
        last.seconds_since(self.since) >= self.bound_s(after_s).max(MEASURED_FOR * after_s)
    }

    /// The longest pause that is usual, s; 0 without one.
    fn usual_pause_s(&self) -> f64 {
        let expected = self.pauses.iter().filter(|pause| !pause.is_exceptional);
        let longest_s = expected.map(BearingPause::seconds).fold(0.0, f64::max);
        let mut lengths: Vec<f64> = self.pauses.iter().map(BearingPause::seconds).collect();
        lengths.sort_by(|a, b| b.total_cmp(a));
        longest_s.max(lengths.get(1).copied().unwrap_or(0.0))
    }
}

#[cfg(test)]
mod tests;
