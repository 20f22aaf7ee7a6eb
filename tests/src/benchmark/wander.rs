//! Sound machines whose levels wander for seven weeks, as temperature, load and grease move them.
//!
//! Each machine is judged twice: by the features of a measuring point, and by its RMS alone as a
//! historian keeps it. Nothing is damaged and no level leaves its middle by more than a tenth, so
//! every alarm is groundless. Invariant: the same seed gives the same machine.

use std::fmt::Write as _;

use pdm_edge::condition::{Features, Monitor, MonitorSettings, Observation};
use pdm_shared::time::Timestamp;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use super::random::gaussian;

/// Hours from window to window, and windows of seven weeks.
const PERIOD_H: f64 = 1.0;
const WINDOWS: u32 = 7 * 7 * 24;
/// How far levels wander to either side, as a ratio.
const REACH: f64 = 0.1;
/// Days of a period of the wander.
const DAYS: (f64, f64) = (2.0, 40.0);
/// Scatter from window to window, as a ratio.
const SCATTER: (f64, f64) = (0.002, 0.03);
/// The first seed, which the plant does not use.
const FIRST_SEED: u64 = 70_000;

/// A machine with an alarm.
#[derive(Debug, Clone, Serialize)]
pub struct Groundless {
    /// Which machine and what of it was judged.
    pub name: String,
    /// Hours after the beginning at which it first alarmed.
    pub at_h: f64,
    /// Share of the windows that were alarmed.
    pub share: f64,
    /// How many times its healthy level it was told to have then.
    pub ratio: Option<f64>,
    /// The features that raised it.
    pub by: Vec<String>,
}

/// The results of the machines.
#[derive(Debug, Clone, Serialize)]
pub struct Wander {
    /// Machines watched.
    pub machines: u64,
    /// Those that alarmed.
    pub groundless: Vec<Groundless>,
}

/// Watches the machines for seven weeks.
pub fn evaluate(machines: u64) -> Wander {
    let groundless = (0..machines).flat_map(watch).collect();
    Wander { machines, groundless }
}

impl Wander {
    /// A table of the alarms.
    pub fn markdown(&self) -> String {
        let mut text = format!(
            "## Seven weeks of wander\n\n{} sound machines whose levels wander by ± {:.0} %, each \
             by its measuring point and by its RMS in a historian: {} alarms.\n",
            self.machines,
            100.0 * REACH,
            self.groundless.len()
        );
        for one in &self.groundless {
            let ratio = one.ratio.map_or("unknown".to_owned(), |ratio| format!("{ratio:.2}"));
            let (name, at_h, share, by) =
                (&one.name, one.at_h, 100.0 * one.share, one.by.join(", "));
            // writing to a string cannot fail
            let _ =
                writeln!(text, "- {name}: after {at_h:.0} h, {share:.1} %, ratio {ratio}, {by}");
        }
        text
    }
}

/// The levels of a machine by window: two slow waves that reach a tenth to either side together.
fn levels(random: &mut ChaCha8Rng) -> Vec<f64> {
    let share: f64 = random.random_range(0.3..1.0);
    let waves = [share, 1.0 - share].map(|part| {
        let hours = 24.0 * random.random_range(DAYS.0..DAYS.1);
        (part, hours, random.random_range(0.0..std::f64::consts::TAU))
    });
    let wave = |hours: f64| -> f64 {
        let one = |(part, period, phase): &(f64, f64, f64)| {
            part * (std::f64::consts::TAU * hours / period + phase).sin()
        };
        waves.iter().map(one).sum()
    };
    let middle = random.random_range(0.02..2.0);
    (0..WINDOWS).map(|n| middle * (1.0 + REACH * wave(f64::from(n) * PERIOD_H))).collect()
}

fn watch(machine: u64) -> Vec<Groundless> {
    let mut random = ChaCha8Rng::seed_from_u64(FIRST_SEED + machine);
    let levels = levels(&mut random);
    let scatter = random.random_range(SCATTER.0..SCATTER.1);
    let rows: Vec<(Features, Features)> = levels
        .iter()
        .map(|level| {
            let mut scattered = |of: f64, by: f64| of * (by * gaussian(&mut random)).exp();
            let rms = scattered(*level, scatter);
            let point = [
                ("rms_g", rms),
                ("envelope_rms_g", scattered(0.4 * level, 2.0 * scatter)),
                ("velocity_rms_mm_s", scattered(3.0 * level, scatter)),
                ("kurtosis", 3.0 + 0.1 * scattered(1.0, 0.5)),
                ("bpfo.snr_db", scattered(5.0, 0.3)),
            ];
            let point = point.map(|(key, value)| (key.to_owned(), value)).into();
            (point, Features::from([("DE_overall".to_owned(), rms)]))
        })
        .collect();
    let (points, columns): (Vec<Features>, Vec<Features>) = rows.into_iter().unzip();
    let judged = [("measuring point", points), ("historian", columns)];
    judged.into_iter().filter_map(|(what, rows)| judge(machine, what, rows)).collect()
}

fn judge(machine: u64, what: &str, rows: Vec<Features>) -> Option<Groundless> {
    let mut monitor = Monitor::new(MonitorSettings::default());
    let (mut first, mut alarmed, mut windows) = (None, 0.0, 0.0);
    for (n, features) in rows.into_iter().enumerate() {
        let hours = n as f64 * PERIOD_H;
        let judgement = monitor.observe(&Observation {
            at: Timestamp::from_unix_ms((hours * 3.6e6) as i64).expect("in range"),
            state: "default".to_owned(),
            usable: true,
            turns_per_h: None,
            features,
        });
        windows += 1.0;
        if judgement.anomaly_detected {
            alarmed += 1.0;
            let told = judgement.anomaly;
            first.get_or_insert((hours, told.level_ratio, told.contributors));
        }
    }
    let (at_h, ratio, by) = first?;
    let name = format!("machine {machine}, {what}");
    Some(Groundless { name, at_h, share: alarmed / windows, ratio, by })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No alarm below an effect that somebody would act on, whatever the scatter says (20 of the
    /// 200 machines of the benchmark).
    #[test]
    fn levels_that_wander_by_a_tenth_for_seven_weeks_alarm_nobody() {
        let wander = evaluate(20);
        assert!(wander.groundless.is_empty(), "{}", wander.markdown());
    }
}
