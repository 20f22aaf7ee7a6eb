//! Levels that surge: what doubles within a few windows does not wait for the run rules where windows
//! are far apart.

use super::MonitorSettings;
use super::baseline::Baseline;
use super::packed::Packed;
use super::steps::Steps;

/// Windows in a row whose rise is a surge: each higher than the one before by chance alone is one
/// order of six.
pub(super) const SURGE_WINDOWS: usize = 3;

/// The levels that rise from window to window beyond [`MonitorSettings::strong_ratio`]; none unless
/// two of them do, or the only one there is.
pub(super) fn surging(steps: &Steps, here: &Baseline, settings: &MonitorSettings) -> Vec<String> {
    let by: Vec<String> = steps
        .latest_levels()
        .filter(|(key, column)| surges(key, column, here, settings))
        .map(|(key, _)| key.clone())
        .collect();
    if by.len() < steps.latest_levels().count().min(2) { Vec::new() } else { by }
}

fn surges(key: &str, column: &Packed, here: &Baseline, settings: &MonitorSettings) -> bool {
    let above = || -> Option<(Vec<f64>, f64)> {
        let normal = here.normal(key)?;
        let latest = &column.0[column.0.len().checked_sub(SURGE_WINDOWS)?..];
        let centre = normal.log_centre()?;
        let above = latest.iter().map(|value| f64::from(*value) - centre).collect();
        Some((above, normal.distance(f64::from(*latest.first()?).exp())))
    };
    let Some((above, distance)) = above() else { return false };
    let (Some(first), Some(last)) = (above.first(), above.last()) else { return false };
    above.windows(2).all(|pair| pair[1] > pair[0])
        && last - first > settings.level_ratio.ln()
        && distance > settings.clear_sigma
        && *last > settings.strong_ratio.ln()
}
