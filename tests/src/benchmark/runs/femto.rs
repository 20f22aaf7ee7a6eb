//! FEMTO-ST PRONOSTIA: two accelerometers of a bearing that is run to failure in hours.
//!
//! Snapshots of 0.1 s every 10 s at 25.6 kHz, milli-g as `int32` `[snapshot][channel][sample]`.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::Context;
use flate2::read::GzDecoder;
use ndarray::Array3;
use ndarray_npy::ReadNpyExt;
use pdm_dsp::{DefectOrders, FastPath};
use pdm_edge::condition::{Features, Judgement, Monitor, MonitorSettings, Observation};
use pdm_edge::event::features;
use pdm_edge::features::{fast_block, time_block, to_g};
use pdm_shared::time::Timestamp;
use pdm_shared::units::{Band, M_S2_PER_G, Rpm, SampleRate};

use super::score::{Life, RunOutcome, score};
use super::variants::Variant;
use super::yardstick::{self, Verdict};

/// The runs of the challenge: file, speed, and where the remaining life was asked for (snapshots of
/// the published test set).
pub const RUNS: [(&str, f64, Option<usize>); 17] = [
    ("Bearing1_1", 1800.0, None),
    ("Bearing1_2", 1800.0, None),
    ("Bearing1_3", 1800.0, Some(1802)),
    ("Bearing1_4", 1800.0, Some(1139)),
    ("Bearing1_5", 1800.0, Some(2302)),
    ("Bearing1_6", 1800.0, Some(2302)),
    ("Bearing1_7", 1800.0, Some(1502)),
    ("Bearing2_1", 1650.0, None),
    ("Bearing2_2", 1650.0, None),
    ("Bearing2_3", 1650.0, Some(1202)),
    ("Bearing2_4", 1650.0, Some(612)),
    ("Bearing2_5", 1650.0, Some(2002)),
    ("Bearing2_6", 1650.0, Some(572)),
    ("Bearing2_7", 1650.0, Some(172)),
    ("Bearing3_1", 1500.0, None),
    ("Bearing3_2", 1500.0, None),
    ("Bearing3_3", 1500.0, Some(352)),
];
const CHANNELS: [&str; 2] = ["horizontal", "vertical"];
const RATE_HZ: f64 = 25_600.0;
const PERIOD_S: f64 = 10.0;
/// Defect orders of 13 elements, 3.5 mm, 25.6 mm, 0° (the data set's description).
const ORDERS: [f64; 4] = [5.611, 7.389, 3.589, 0.4316];
/// Envelope band, above the rig's structure and within the sensors' range.
const BAND_HZ: (f64, f64) = (2_500.0, 10_000.0);

/// A run as features, measured once and judged as often as settings are tried.
#[derive(Debug, Clone)]
pub struct Measured {
    /// The run.
    pub name: String,
    asked_at: Option<usize>,
    turns_per_h: f64,
    period_s: f64,
    /// The features of each axis, window by window.
    features: Vec<Vec<Features>>,
    /// The level of the signal in hindsight.
    level: Vec<f64>,
    /// Windows in which the yardstick looks to either side.
    near: usize,
}

impl Measured {
    /// Hours from window to window.
    pub(crate) fn period_h(&self) -> f64 {
        self.period_s / 3600.0
    }

    /// The judgements of each axis, one a window.
    pub(crate) fn judged(&self, settings: &MonitorSettings) -> Vec<Vec<Judgement>> {
        let axis = |features: &Vec<Features>| {
            let mut monitor = Monitor::new(settings.clone());
            let observation = |(window, features): (usize, &Features)| {
                Some(Observation {
                    at: Timestamp::from_unix_ms((window as f64 * self.period_s * 1000.0) as i64)?,
                    state: "default".to_owned(),
                    usable: true,
                    turns_per_h: Some(self.turns_per_h),
                    features: features.clone(),
                })
            };
            let observations = features.iter().enumerate().filter_map(observation);
            observations.map(|observation| monitor.observe(&observation)).collect()
        };
        self.features.iter().map(axis).collect()
    }

    /// The alarms against what the signal shows.
    pub(crate) fn verdict(&self, judged: &[Vec<Judgement>]) -> Verdict {
        let mut on = vec![false; self.level.len()];
        for axis in judged {
            for (on, judgement) in on.iter_mut().zip(axis) {
                *on |= judgement.anomaly_detected;
            }
        }
        yardstick::hold(&self.name, (&self.level, self.near), &on)
    }

    /// The outcome of each axis.
    pub(crate) fn outcomes(&self, judged: Vec<Vec<Judgement>>) -> Vec<RunOutcome> {
        let outcome = |(label, judgements): (&str, Vec<Judgement>)| {
            let life = Life {
                name: format!("FEMTO {} {label}", self.name),
                bearing: format!("FEMTO {}", self.name),
                period_h: self.period_s / 3600.0,
                windows: self.level.len(),
                asked_at: self.asked_at,
                fails: true,
                damaged_from: None,
            };
            score(&life, judgements.into_iter())
        };
        CHANNELS.into_iter().zip(judged).map(outcome).collect()
    }
}

/// The outcomes of the runs in `folder`, each measuring point on its own (the scorer takes the
/// points of a bearing together where the challenge does), and their alarms against the signal.
pub(super) fn outcomes(folder: &Path) -> anyhow::Result<(Vec<RunOutcome>, Vec<Verdict>)> {
    let (mut outcomes, mut verdicts) = (Vec::new(), Vec::new());
    for run in measured(folder)? {
        let judged = run.judged(&MonitorSettings::default());
        verdicts.push(run.verdict(&judged));
        outcomes.extend(run.outcomes(judged));
    }
    Ok((outcomes, verdicts))
}

/// The runs in `folder`.
pub(crate) fn measured(folder: &Path) -> anyhow::Result<Vec<Measured>> {
    recorded(folder)?.iter().map(|(run, samples)| run.measure(samples)).collect()
}

/// A run of the challenge as it was recorded, or as it might have been.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recorded {
    name: &'static str,
    rpm: f64,
    asked_at: Option<usize>,
}

/// The runs in `folder`, with their samples.
pub(crate) fn recorded(folder: &Path) -> anyhow::Result<Vec<(Recorded, Array3<i32>)>> {
    let mut runs = Vec::new();
    for (name, rpm, asked_at) in RUNS {
        let path = folder.join(format!("{name}_acc.npy.gz"));
        if path.exists() {
            let samples = read(&path).with_context(|| path.display().to_string())?;
            runs.push((Recorded { name, rpm, asked_at }, samples));
        }
    }
    Ok(runs)
}

impl Recorded {
    /// Measures every window of the run.
    pub(crate) fn measure(&self, samples: &Array3<i32>) -> anyhow::Result<Measured> {
        let axes = 0..CHANNELS.len();
        let features = axes.map(|channel| features_of(samples, channel, self.rpm));
        Ok(Measured {
            name: self.name.to_owned(),
            asked_at: self.asked_at,
            turns_per_h: 60.0 * self.rpm,
            period_s: PERIOD_S,
            features: features.collect::<anyhow::Result<_>>()?,
            level: yardstick::level(samples, RATE_HZ),
            near: yardstick::NEAR,
        })
    }

    /// Measures the same as `variant` would have recorded it, held to what the run itself shows.
    pub(crate) fn measure_as(
        &self,
        variant: Variant,
        samples: &Array3<i32>,
        truth: &Measured,
    ) -> anyhow::Result<Measured> {
        let (kept, recorded) = variant.of(samples);
        let run = self.measure(&recorded)?;
        Ok(Measured {
            name: format!("{} {}", self.name, variant.name()),
            asked_at: None,
            period_s: PERIOD_S * variant.step() as f64,
            level: kept.iter().map(|n| truth.level[*n]).collect(),
            near: (yardstick::NEAR / variant.step()).max(1),
            ..run
        })
    }
}

/// Reads the level of each snapshot of one run in hindsight, and the time from one to the next, s.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn level_of(path: &Path) -> anyhow::Result<(Vec<f64>, f64)> {
    Ok((yardstick::level(&read(path)?, RATE_HZ), PERIOD_S))
}

fn read(path: &Path) -> anyhow::Result<Array3<i32>> {
    Ok(Array3::read_npy(GzDecoder::new(BufReader::new(File::open(path)?)))?)
}

fn features_of(samples: &Array3<i32>, channel: usize, rpm: f64) -> anyhow::Result<Vec<Features>> {
    let (rate, speed) = (SampleRate::new(RATE_HZ)?, Rpm::new(rpm)?);
    let [bpfo, bpfi, bsf, ftf] = ORDERS;
    let orders = DefectOrders::new(bpfo, bpfi, bsf, ftf)?;
    let band = Band::new(BAND_HZ.0, BAND_HZ.1)?;
    let mut path = FastPath::new(samples.dim().2, rate, band)?;
    let mut windows = Vec::with_capacity(samples.dim().0);
    for snapshot in samples.outer_iter() {
        let accel: Vec<f32> = snapshot
            .row(channel)
            .iter()
            .map(|milli_g| (f64::from(*milli_g) / 1000.0 * M_S2_PER_G) as f32)
            .collect();
        let findings = path.measure(&accel, speed, &orders)?;
        let mut time = time_block(
            &findings.time,
            findings.velocity_rms_mm_s,
            Some(findings.envelope_rms_m_s2),
            None,
        );
        time.low_band_rms_g = findings.low_band_rms_m_s2.map(to_g);
        // three shaft turns a snapshot resolve no defect line
        windows.push(features(&time, &fast_block(&findings, speed), false));
    }
    Ok(windows)
}
