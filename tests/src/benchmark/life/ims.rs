//! The bearings of NASA/IMS that failed, by columns of the feature tables.

use std::fs::File;
use std::path::Path;

use anyhow::Context;
use pdm_edge::condition::{Features, Judgement, Monitor, MonitorSettings, Observation};
use pdm_edge::series::{Request, SeriesTable, read_table};

/// Bearing, table and columns.
const FAILED: [(&str, &str, &[&str]); 4] = [
    ("IMS test 2 bearing 1", "features_test2_raw.csv", &["Bearing1_ch1_rms"]),
    (
        "IMS test 2 bearing 1",
        "features_test2_spectral.csv",
        &["Bearing1_ch1_energy", "Bearing1_ch1_mean_abs"],
    ),
    ("IMS test 1 bearing 3", "features_test1_raw.csv", &["Bearing3_ch1_rms", "Bearing3_ch2_rms"]),
    ("IMS test 1 bearing 4", "features_test1_raw.csv", &["Bearing4_ch1_rms", "Bearing4_ch2_rms"]),
];

/// Judgements with the hours of their rows since the table's first.
type Judged = Vec<(f64, Judgement)>;

/// The judgements of each column, with the bearing's name.
pub(super) fn judged(folder: &Path) -> anyhow::Result<Vec<(String, Judged)>> {
    let mut judged = Vec::new();
    for (bearing, file, columns) in FAILED {
        let path = folder.join(file);
        if !path.exists() {
            continue;
        }
        let values = columns.iter().map(|column| (*column).to_owned()).collect();
        // the table of spectra has no times: test 2 has a row every ten minutes
        let time = if file.contains("raw") { "timestamp" } else { "file_index" };
        let request =
            Request { time: time.to_owned(), values, period_s: 600.0, ..Request::default() };
        let table = File::open(&path)
            .map_err(anyhow::Error::from)
            .and_then(|file| Ok(read_table(file, &request)?))
            .with_context(|| path.display().to_string())?;
        let columns = 0..table.columns.len();
        judged.extend(columns.map(|column| (bearing.to_owned(), judge(&table, column))));
    }
    Ok(judged)
}

fn judge(table: &SeriesTable, column: usize) -> Judged {
    let begin = table.rows.first().map(|row| row.at);
    let mut monitor = Monitor::new(MonitorSettings::default());
    let name = &table.columns[column];
    let judged = table.rows.iter().map(|row| {
        let value = row.values[column];
        let features: Features = value.map(|value| (name.clone(), value)).into_iter().collect();
        let judgement = monitor.observe(&Observation {
            at: row.at,
            state: "default".to_owned(),
            usable: value.is_some(),
            turns_per_h: None,
            features,
        });
        (begin.map_or(0.0, |begin| row.at.seconds_since(begin) / 3600.0), judgement)
    });
    judged.collect()
}
