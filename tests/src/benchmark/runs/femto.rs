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
use pdm_edge::condition::{Judgement, Monitor, MonitorSettings, Observation};
use pdm_edge::event::features;
use pdm_edge::features::{fast_block, time_block, to_g};
use pdm_shared::time::Timestamp;
use pdm_shared::units::{Band, M_S2_PER_G, Rpm, SampleRate};

use super::score::{Life, RunOutcome, score};
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

/// The outcomes of the runs in `folder`, each measuring point on its own (the scorer takes the
/// points of a bearing together where the challenge does), and their alarms against the signal.
pub(super) fn outcomes(folder: &Path) -> anyhow::Result<(Vec<RunOutcome>, Vec<Verdict>)> {
    let (mut outcomes, mut verdicts) = (Vec::new(), Vec::new());
    for (name, rpm, asked_at) in RUNS {
        let path = folder.join(format!("{name}_acc.npy.gz"));
        if !path.exists() {
            continue;
        }
        let samples = read(&path).with_context(|| path.display().to_string())?;
        let mut on = vec![false; samples.dim().0];
        for (channel, label) in CHANNELS.iter().enumerate() {
            let life = Life {
                name: format!("FEMTO {name} {label}"),
                bearing: format!("FEMTO {name}"),
                period_h: PERIOD_S / 3600.0,
                windows: samples.dim().0,
                asked_at,
                fails: true,
                damaged_from: None,
            };
            let judgements = judge(&samples, channel, rpm)?;
            for (on, judgement) in on.iter_mut().zip(&judgements) {
                *on |= judgement.anomaly_detected;
            }
            outcomes.push(score(&life, judgements.into_iter()));
        }
        verdicts.push(yardstick::hold(name, &yardstick::level(&samples, RATE_HZ), &on));
    }
    Ok((outcomes, verdicts))
}

fn read(path: &Path) -> anyhow::Result<Array3<i32>> {
    Ok(Array3::read_npy(GzDecoder::new(BufReader::new(File::open(path)?)))?)
}

fn judge(samples: &Array3<i32>, channel: usize, rpm: f64) -> anyhow::Result<Vec<Judgement>> {
    let (rate, speed) = (SampleRate::new(RATE_HZ)?, Rpm::new(rpm)?);
    let [bpfo, bpfi, bsf, ftf] = ORDERS;
    let orders = DefectOrders::new(bpfo, bpfi, bsf, ftf)?;
    let band = Band::new(BAND_HZ.0, BAND_HZ.1)?;
    let mut path = FastPath::new(samples.dim().2, rate, band)?;
    let mut monitor = Monitor::new(MonitorSettings::default());
    let mut judgements = Vec::with_capacity(samples.dim().0);
    for (window, snapshot) in samples.outer_iter().enumerate() {
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
        let features = features(&time, &fast_block(&findings, speed), false);
        let at = Timestamp::from_unix_ms((window as f64 * PERIOD_S * 1000.0) as i64);
        judgements.push(monitor.observe(&Observation {
            at: at.context("time out of range")?,
            state: "default".to_owned(),
            usable: true,
            turns_per_h: Some(speed.shaft_hz() * 3600.0),
            features,
        }));
    }
    Ok(judgements)
}
