//! NASA/IMS by the RMS columns of its feature tables: which bearings alarm, how long before the
//! end.

use std::collections::BTreeMap;
use std::fmt::{Display, Formatter};
use std::fs::File;
use std::path::Path;

use anyhow::Context;
use pdm_edge::condition::MonitorSettings;
use pdm_edge::series::{Request, SeriesTable, judge_by, read_table};

/// Hours before the end of a test from which on a sound bearing may alarm: the whole rig shakes.
const SHAKES_H: f64 = 48.0;
/// Bearings that failed, with the hours before the end that are asked of each.
type Failed = &'static [(usize, f64)];
/// Name, table, columns a bearing has, and the bearings that failed.
const TESTS: [(&str, &str, &[&str], Failed); 2] = [
    ("IMS test 1", "features_test1_raw.csv", &["ch1", "ch2"], &[(3, 48.0), (4, 120.0)]),
    ("IMS test 2", "features_test2_raw.csv", &["ch1"], &[(1, 74.0)]),
];
const BEARINGS: usize = 4;

/// A test by its table.
pub(super) struct ImsTest {
    name: &'static str,
    failed: Failed,
    table: SeriesTable,
}

/// Hours before the end at which each bearing first alarmed.
#[derive(Debug, Clone)]
pub(super) struct Leads {
    pub(super) name: &'static str,
    failed: Failed,
    by_bearing: BTreeMap<usize, f64>,
}

/// The tests whose tables are in `folder`.
pub(super) fn tests(folder: &Path) -> anyhow::Result<Vec<ImsTest>> {
    let mut tests = Vec::new();
    for (name, file, channels, failed) in TESTS {
        let path = folder.join(file);
        if !path.exists() {
            continue;
        }
        let column = |bearing: usize| {
            channels.iter().map(move |channel| format!("Bearing{bearing}_{channel}_rms"))
        };
        let values = (1..=BEARINGS).flat_map(column).collect();
        let request =
            Request { time: "timestamp".to_owned(), values, period_s: 600.0, ..Request::default() };
        let table = File::open(&path)
            .map_err(anyhow::Error::from)
            .and_then(|file| Ok(read_table(file, &request)?))
            .with_context(|| path.display().to_string())?;
        tests.push(ImsTest { name, failed, table });
    }
    Ok(tests)
}

impl ImsTest {
    /// Returns when each bearing first alarms by these settings.
    pub(super) fn leads(&self, settings: &MonitorSettings) -> Leads {
        let end = self.table.rows.last().map(|row| row.at);
        let mut by_bearing = BTreeMap::new();
        // the sink has no error to give
        let _ = judge_by(settings.clone(), &self.table, |line| {
            let number = line.column.trim_start_matches("Bearing").split('_').next();
            let bearing = number.and_then(|number| number.parse::<usize>().ok());
            if let (true, Some(bearing), Some(end)) = (line.anomaly_detected, bearing, end) {
                by_bearing.entry(bearing).or_insert(end.seconds_since(line.time) / 3600.0);
            }
            Ok::<(), std::convert::Infallible>(())
        });
        Leads { name: self.name, failed: self.failed, by_bearing }
    }
}

impl Leads {
    fn sound(&self) -> impl Iterator<Item = f64> {
        let sound = |bearing: &usize| self.failed.iter().all(|(failed, _)| failed != bearing);
        self.by_bearing.iter().filter(move |(bearing, _)| sound(bearing)).map(|(_, lead)| *lead)
    }

    /// Ten for each sound bearing that alarms too early, and ten times the share of the hours asked
    /// that a failed one lacks.
    pub(super) fn cost(&self) -> f64 {
        let early = self.sound().filter(|lead_h| *lead_h > SHAKES_H).count() as f64;
        let lacks = self.failed.iter().map(|(bearing, asked_h)| {
            let lead_h = self.by_bearing.get(bearing).copied().unwrap_or(0.0);
            (1.0 - lead_h / asked_h).max(0.0)
        });
        10.0 * (early + lacks.sum::<f64>())
    }
}

impl Display for Leads {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        for (bearing, _) in self.failed {
            match self.by_bearing.get(bearing) {
                Some(lead_h) => write!(f, "bearing {bearing} {lead_h:.1} h ahead, ")?,
                None => write!(f, "bearing {bearing} NEVER, ")?,
            }
        }
        match self.sound().reduce(f64::max) {
            Some(lead_h) => write!(f, "a sound one {lead_h:.1} h before the end"),
            None => write!(f, "no sound one"),
        }
    }
}
