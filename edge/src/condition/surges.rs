//! Levels that surge or have doubled: a level far above its baseline does not wait for run rules
//! that count windows where windows are far apart.
//!
//! Run rules want six windows and more, because windows that follow each other at once stray
//! together. What must not be a passing event is a matter of time and turns: three windows in a row
//! that stand at [`MonitorSettings::strong_ratio`] for a minute are no less certain than six within
//! a minute.

use super::MonitorSettings;
use super::baseline::Baseline;
use super::packed::Packed;
use super::steps::Steps;

/// Windows in a row whose rise is a surge: each higher than the one before by chance alone is one
/// order of six.
pub(super) const SURGE_WINDOWS: usize = 3;

/// Hours between windows from which on a surge of levels is not left to the run rules. Chosen: six
/// windows of ten minutes are an hour, in which a bearing that seizes may be gone.
const SPARSE_H: f64 = 1.0 / 6.0;

/// Hours for which levels that have doubled must have stood. Chosen: the six windows of the
/// shortest run rule are a minute on the runs that it was chosen on.
const STOOD_H: f64 = 1.0 / 60.0;

/// How far apart windows are, and how fast the shaft turns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pace {
    /// Usual time between windows, hours.
    pub(super) gap_h: f64,
    /// Turns of the shaft in an hour, where they are known.
    pub(super) turns_per_h: Option<f64>,
}

impl Pace {
    /// Three windows rise by more than a bearing that seizes leaves time for.
    const fn is_sparse(self) -> bool {
        self.gap_h >= SPARSE_H
    }

    /// Three windows stand for long enough and for enough turns of the shaft.
    pub(super) fn has_stood(self, settings: &MonitorSettings) -> bool {
        let span_h = (SURGE_WINDOWS - 1) as f64 * self.gap_h;
        let turns = self.turns_per_h.map(|per_h| per_h * span_h);
        span_h >= STOOD_H && turns.is_none_or(|turns| turns >= settings.least_turns)
    }
}

/// Returns the levels that rise from window to window beyond [`MonitorSettings::strong_ratio`], or
/// have stood beyond it; empty unless two of them do, or the only one there is.
pub(super) fn surging(
    steps: &Steps,
    here: &Baseline,
    pace: Pace,
    settings: &MonitorSettings,
) -> Vec<String> {
    let (is_sparse, has_stood) = (pace.is_sparse(), pace.has_stood(settings));
    if !is_sparse && !has_stood {
        return Vec::new();
    }
    let by: Vec<String> = steps
        .latest_levels()
        .filter_map(|(key, column)| {
            let above = Above::of(key, column, here)?;
            let counts =
                (is_sparse && above.surges(settings)) || (has_stood && above.has_doubled(settings));
            counts.then(|| key.clone())
        })
        .collect();
    if by.len() < steps.latest_levels().count().min(2) { Vec::new() } else { by }
}

/// The latest windows of a level against its baseline.
struct Above {
    /// Natural logarithms.
    windows: Vec<f64>,
    /// The distance of the first of them, robust standard deviations.
    first_distance: f64,
    /// The least of their distances.
    least_distance: f64,
}

impl Above {
    fn of(key: &str, column: &Packed, here: &Baseline) -> Option<Self> {
        let normal = here.normal(key)?;
        let latest = &column.0[column.0.len().checked_sub(SURGE_WINDOWS)?..];
        let centre = normal.log_centre()?;
        let distance = |value: &f32| normal.distance(f64::from(*value).exp());
        Some(Self {
            windows: latest.iter().map(|value| f64::from(*value) - centre).collect(),
            first_distance: distance(latest.first()?),
            least_distance: latest.iter().map(distance).reduce(f64::min)?,
        })
    }

    fn surges(&self, settings: &MonitorSettings) -> bool {
        let (Some(first), Some(last)) = (self.windows.first(), self.windows.last()) else {
            return false;
        };
        self.windows.windows(2).all(|pair| pair[1] > pair[0])
            && last - first > settings.level_ratio.ln()
            && self.first_distance > settings.clear_sigma
            && *last > settings.strong_ratio.ln()
    }

    fn has_doubled(&self, settings: &MonitorSettings) -> bool {
        self.windows.iter().all(|above| *above > settings.strong_ratio.ln())
            && self.least_distance > settings.main_rule().sigma
    }
}
