//! IMS test 2 by its feature tables: bearing 1 fails, the others only pick up its vibration.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use anyhow::Context;
use pdm_edge::condition::Judgement;
use pdm_edge::series::{Request, judge, read_table};

use super::score::{Life, RunOutcome, score};

const TABLES: [(&str, &[&str]); 2] = [
    ("features_test2_raw.csv", &["rms", "kurt"]),
    ("features_test2_spectral.csv", &["env_bpfo_energy", "energy", "mean_abs"]),
];
const PERIOD_S: f64 = 600.0;

/// The outcomes of the tables in `folder`.
pub(super) fn outcomes(folder: &Path) -> anyhow::Result<Vec<RunOutcome>> {
    let mut outcomes = Vec::new();
    for (name, features) in TABLES {
        let path = folder.join(name);
        if path.exists() {
            let table = outcomes_of(&path, features);
            outcomes.extend(table.with_context(|| path.display().to_string())?);
        }
    }
    Ok(outcomes)
}

fn outcomes_of(path: &Path, features: &[&str]) -> anyhow::Result<Vec<RunOutcome>> {
    // bearings on one shaft vibrate with a failing one: only for bearing 1 the end of life is known
    let values: Vec<String> =
        features.iter().map(|feature| format!("Bearing1_ch1_{feature}")).collect();
    let request =
        Request { time: "file_index".to_owned(), values, period_s: PERIOD_S, ..Request::default() };
    let table = read_table(File::open(path)?, &request)?;
    let mut judgements: BTreeMap<String, Vec<Judgement>> = BTreeMap::new();
    judge(&table, &BTreeMap::new(), |line| {
        judgements.entry(line.column.to_owned()).or_default().push(Judgement {
            change: None,
            period: None,
            anomaly_detected: line.anomaly_detected,
            anomaly: line.anomaly,
            trend: line.trend,
            rul: line.rul,
            grown: None,
            baseline_completed: false,
        });
        anyhow::Ok(())
    })?;
    let outcome = |(column, judgements): (String, Vec<Judgement>)| {
        let life = Life {
            name: format!("IMS test 2 {column}"),
            bearing: "IMS test 2 bearing 1".to_owned(),
            period_h: PERIOD_S / 3600.0,
            windows: table.rows.len(),
            asked_at: None,
            fails: true,
            // the first 40 % have no sustained alarm and are healthy by every feature
            damaged_from: Some(table.rows.len() * 4 / 10),
        };
        score(&life, judgements.into_iter())
    };
    Ok(judgements.into_iter().map(outcome).collect())
}
