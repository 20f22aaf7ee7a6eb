//! Simulated lives of a feature's level: run-in, healthy variation, and one of four courses to
//! failure.
//!
//! The generator differs from the model under test: noise is correlated, spikes occur, the growth
//! is the model's exponential from onset to end in one of four cases only, and the level at failure
//! is drawn.

use pdm_edge::condition::{Features, Judgement, Monitor, MonitorSettings, Observation};
use pdm_shared::time::Timestamp;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::score::{Life, RunOutcome, score};
use crate::benchmark::random::gaussian;

/// The course of the damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Growth {
    /// Exponential from onset to end.
    Exponential,
    /// A slow straight rise, then exponential.
    SlowThenExponential,
    /// A power of time, slower than exponential at the end.
    Power,
    /// No sign until the last few windows.
    Abrupt,
}

/// The drawn properties of a life.
struct Drawn {
    growth: Growth,
    windows: usize,
    onset: usize,
    /// Level at failure, as a multiple of the healthy level.
    end: f64,
    /// Share of the rise that is slow before it becomes exponential.
    slow: f64,
    noise: f64,
    run_in: Option<f64>,
}

/// One life, judged and scored; one seed always gives the same life.
pub(super) fn outcome(seed: u64) -> RunOutcome {
    let (life, judgements) = judged(seed);
    score(&life, judgements.into_iter())
}

/// One life and the judgement of each of its windows.
pub(crate) fn judged(seed: u64) -> (Life, Vec<Judgement>) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let drawn = Drawn::draw(&mut random);
    let period_s = [10.0, 60.0, 600.0, 3600.0][random.random_range(0..4)];
    let share = random.random_range(0.5..0.95);
    let life = Life {
        name: format!("simulated {seed} {:?}", drawn.growth),
        bearing: format!("simulated {seed}"),
        period_h: period_s / 3600.0,
        windows: drawn.windows,
        asked_at: Some((share * drawn.windows as f64) as usize),
        fails: true,
        damaged_from: Some(drawn.onset),
    };
    let mut monitor = Monitor::new(MonitorSettings::default());
    let levels = drawn.levels(&mut random);
    let judgements = levels.into_iter().enumerate().filter_map(|(window, level)| {
        Some(monitor.observe(&Observation {
            at: Timestamp::from_unix_ms((window as f64 * period_s * 1000.0) as i64)?,
            state: "default".to_owned(),
            usable: true,
            turns_per_h: None,
            features: Features::from([("rms_g".to_owned(), level)]),
        }))
    });
    (life, judgements.collect())
}

impl Drawn {
    fn draw(random: &mut ChaCha8Rng) -> Self {
        let growth = match random.random_range(0..10) {
            0..4 => Growth::Exponential,
            4..7 => Growth::SlowThenExponential,
            7..9 => Growth::Power,
            _ => Growth::Abrupt,
        };
        let windows = random.random_range(400..3000_usize);
        let onset = match growth {
            Growth::Abrupt => random.random_range(0.97..0.995),
            Growth::Exponential | Growth::SlowThenExponential | Growth::Power => {
                random.random_range(0.25..0.8)
            }
        };
        Self {
            growth,
            windows,
            onset: (onset * windows as f64) as usize,
            end: (1.7 + 0.4 * gaussian(random)).exp().max(2.0),
            slow: random.random_range(0.05..0.3),
            noise: random.random_range(0.01..0.06),
            run_in: random.random_bool(0.3).then(|| random.random_range(0.1..0.6)),
        }
    }

    /// Damage at a share 0…1 of the time from onset to end, 1 at the end.
    fn damage(&self, share: f64) -> f64 {
        /// Growth of an exponential from onset to end, `ln`: it starts at a fiftieth of the final
        /// level.
        const DECADES: f64 = 3.9;
        let exponential = |x: f64| ((DECADES * x).exp() - 1.0) / (DECADES.exp() - 1.0);
        match self.growth {
            Growth::Exponential => exponential(share),
            Growth::SlowThenExponential => {
                self.slow * share + (1.0 - self.slow) * exponential(((share - 0.5) * 2.0).max(0.0))
            }
            Growth::Power => share * share,
            Growth::Abrupt => share.sqrt(),
        }
    }

    fn levels(&self, random: &mut ChaCha8Rng) -> Vec<f64> {
        let rest = (self.windows - self.onset).max(1) as f64;
        let (mut wander, mut noise) = (0.0, 0.0);
        (0..self.windows)
            .map(|window| {
                let share = (window as f64 - self.onset as f64).max(0.0) / rest;
                let run_in =
                    self.run_in.map_or(0.0, |height| height * (-(window as f64) / 40.0).exp());
                wander = 0.995 * wander + 0.002 * gaussian(random);
                noise = 0.3 * noise + self.noise * gaussian(random);
                let spike =
                    if random.random_bool(0.005) { random.random_range(1.5..5.0) } else { 1.0 };
                let level = 1.0 + run_in + (self.end - 1.0) * self.damage(share);
                level * (wander + noise).exp() * spike
            })
            .collect()
    }
}
