//! One machine of the simulated plant: what its two bearings are measured to be, window by window.
//!
//! The generator shares nothing with the judgement: levels are products of slow and fast factors,
//! drawn for each machine. Figures are orders of magnitude of vibration routes, not of a data set.

use pdm_edge::condition::Features;
use pdm_shared::time::Timestamp;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use crate::benchmark::random::gaussian;

/// Days that the plant is watched.
pub(super) const DAYS: f64 = 90.0;
/// Seconds from window to window.
pub(super) const PERIOD_S: f64 = 3600.0;
/// Bearings of each kind of damage in a plant of 200 machines.
const FAILING_PER_KIND: u64 = 20;
const PLANT: u64 = 200;

/// How a bearing fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Decay {
    /// A spall: impacts first, then the level.
    Spall,
    /// Wear: the level alone, slowly.
    Wear,
    /// Lack of lubrication: the high-frequency envelope, then the level.
    Lubrication,
    /// Within hours.
    Abrupt,
}

impl Decay {
    const ALL: [Self; 4] = [Self::Spall, Self::Wear, Self::Lubrication, Self::Abrupt];

    /// Days from damage to failure.
    fn days(self, random: &mut ChaCha8Rng) -> f64 {
        match self {
            Self::Spall => random.random_range(10.0..40.0),
            Self::Wear => random.random_range(20.0..50.0),
            Self::Lubrication => random.random_range(8.0..25.0),
            Self::Abrupt => random.random_range(0.25..2.0),
        }
    }
}

/// A bearing as it was drawn.
#[derive(Debug, Clone)]
pub(super) struct Bearing {
    pub(super) name: String,
    pub(super) decay: Option<Decay>,
    pub(super) damaged_from_h: Option<f64>,
    /// Hours that it runs from damage to failure.
    lasts_h: f64,
    /// The hour at which level and damage are twice the healthy level, and a day of running later.
    doubled_at_h: f64,
    told_by_h: f64,
    pub(super) fails_at_h: Option<f64>,
    seed: u64,
    level_g: f64,
    scatter: f64,
    run_in: f64,
    /// Invalid windows from hour to hour.
    sensor: Option<(f64, f64)>,
    /// Replaced at this hour by one of another level; told by `relearn` or not.
    replaced: Option<(f64, f64, bool)>,
}

/// A machine as it was drawn.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    pub(super) bearings: Vec<Bearing>,
    /// Standstills: begin, end, and the step that the levels make with it.
    stops: Vec<(f64, f64, f64)>,
    season: (f64, f64),
    day: f64,
    /// Second load: its factor, the hour from which it occurs, hours of one load, announced.
    load: Option<(f64, f64, f64, bool)>,
}

/// A window of a bearing.
#[derive(Debug, Clone)]
pub(super) struct Window {
    pub(super) at: Timestamp,
    pub(super) hours: f64,
    pub(super) state: &'static str,
    pub(super) valid: bool,
    pub(super) relearn: bool,
    pub(super) features: Features,
    /// The present event of the machine, for the report.
    pub(super) going_on: String,
}

impl Bearing {
    /// Hours before the end at which level and damage are twice the healthy level.
    pub(super) fn doubled_before_end_h(&self) -> f64 {
        self.fails_at_h.map_or(0.0, |end_h| end_h - self.doubled_at_h)
    }

    /// Hours before the end at which the machine has run for a day since then.
    pub(super) fn told_before_end_h(&self) -> f64 {
        self.fails_at_h.map_or(0.0, |end_h| (end_h - self.told_by_h).max(0.0))
    }

    /// Sets the hours of doubling and failure on a machine that stands at times: rolling contact
    /// fatigue and wear count revolutions, so damage rests while the machine does.
    fn age(&mut self, stops: &[(f64, f64, f64)]) {
        let Some(from_h) = self.damaged_from_h else { return };
        let doubled = 10.0_f64.ln() / 60.0_f64.ln();
        self.doubled_at_h = after_running(stops, from_h, doubled * self.lasts_h);
        self.told_by_h = after_running(stops, self.doubled_at_h, 24.0);
        self.fails_at_h = Some(after_running(stops, from_h, self.lasts_h));
    }
}

/// Whether the machine stands at an hour.
fn stands(stops: &[(f64, f64, f64)], hours: f64) -> bool {
    stops.iter().any(|(begin, end, _)| (*begin..*end).contains(&hours))
}

/// Hours that the machine runs between two hours.
fn running_h(stops: &[(f64, f64, f64)], from_h: f64, to_h: f64) -> f64 {
    let mut edges: Vec<f64> = stops.iter().flat_map(|stop| [stop.0, stop.1]).collect();
    edges.retain(|edge| (from_h..to_h).contains(edge));
    edges.extend([from_h, to_h]);
    edges.sort_by(f64::total_cmp);
    let runs = edges.windows(2).filter(|pair| !stands(stops, f64::midpoint(pair[0], pair[1])));
    runs.map(|pair| pair[1] - pair[0]).sum()
}

/// Returns the hour at which the machine has run for `runs_h` hours since `from_h`.
fn after_running(stops: &[(f64, f64, f64)], from_h: f64, runs_h: f64) -> f64 {
    let mut at_h = from_h + runs_h;
    loop {
        let missing_h = runs_h - running_h(stops, from_h, at_h);
        if missing_h < 1e-6 {
            return at_h;
        }
        at_h += missing_h;
    }
}

impl Machine {
    /// Draws the machine of this seed in a plant of `machines` machines.
    pub(super) fn draw(seed: u64, machines: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let failing = machines.min(PLANT) * FAILING_PER_KIND / PLANT;
        let place = seed % machines.max(1);
        let kind = usize::try_from(place.checked_div(failing.max(1)).unwrap_or(0)).unwrap_or(4);
        let stops = (0..random.random_range(0..4)).map(|_| {
            let begin = random.random_range(100.0..24.0 * DAYS - 300.0);
            let length = random.random_range(1.4_f64..5.5).exp();
            let step = if length > 24.0 { 0.08 * gaussian(&mut random) } else { 0.0 };
            (begin, begin + length, step)
        });
        let mut machine = Self {
            stops: stops.collect(),
            bearings: Vec::new(),
            season: (
                random.random_range(0.0..0.1),
                random.random_range(0.0..std::f64::consts::TAU),
            ),
            day: random.random_range(0.0..0.05),
            load: random.random_bool(0.4).then(|| {
                let from = if random.random_bool(0.5) { 0.0 } else { 24.0 * 30.0 };
                let (factor, dwell) =
                    (random.random_range(1.1..1.6), random.random_range(4.0..48.0));
                (factor, from, dwell, random.random_bool(0.5))
            }),
        };
        for number in 0..2 {
            let decay = Decay::ALL.get(kind).copied().filter(|_| number == 0 && failing > 0);
            machine.bearings.push(bearing(seed, number, decay, &mut random));
        }
        for bearing in &mut machine.bearings {
            bearing.age(&machine.stops);
        }
        machine
    }

    /// Hours for which the machine is watched: the plant's days, or until its bearing has failed.
    pub(super) fn watched_h(&self) -> f64 {
        let ends = self.bearings.iter().filter_map(|bearing| bearing.fails_at_h);
        ends.fold(24.0 * DAYS, f64::max)
    }

    /// Level of a bearing's damage, in healthy levels, at an hour.
    fn damage(&self, bearing: &Bearing, hours: f64) -> f64 {
        let Some(from_h) = bearing.damaged_from_h.filter(|from_h| *from_h < hours) else {
            return 0.0;
        };
        let share = (running_h(&self.stops, from_h, hours) / bearing.lasts_h).min(1.0);
        // from a tenth of the healthy level to six of them
        if share > 0.0 { 0.1 * (60.0_f64.ln() * share).exp() } else { 0.0 }
    }

    /// The windows of a bearing until its end.
    pub(super) fn windows<'a>(&'a self, bearing: &'a Bearing) -> impl Iterator<Item = Window> + 'a {
        let mut random = ChaCha8Rng::seed_from_u64(bearing.seed);
        let end_h = bearing.fails_at_h.unwrap_or_else(|| self.watched_h());
        let count = (end_h * 3600.0 / PERIOD_S) as usize;
        let mut wander = 0.0;
        (0..count).filter_map(move |n| {
            let hours = n as f64 * PERIOD_S / 3600.0;
            // hours of one day, so that neighbouring windows resemble each other
            wander = 0.96 * wander + 0.008 * gaussian(&mut random);
            let stands = stands(&self.stops, hours);
            let window = self.window(bearing, hours, wander, &mut random)?;
            (!stands).then_some(window)
        })
    }

    fn window(
        &self,
        bearing: &Bearing,
        hours: f64,
        wander: f64,
        random: &mut ChaCha8Rng,
    ) -> Option<Window> {
        let (state, load) = self.load_at(hours);
        let steps: f64 = self.stops.iter().filter(|s| s.1 <= hours).map(|s| s.2).sum();
        let warm: f64 = self
            .stops
            .iter()
            .filter(|s| s.1 <= hours)
            .map(|s| 0.1 * (-(hours - s.1) / 6.0).exp())
            .sum();
        let run_in = bearing.run_in * (-hours / 72.0).exp();
        let turn =
            |period_h: f64, phase: f64| (std::f64::consts::TAU * hours / period_h + phase).sin();
        let season =
            self.season.0 * turn(365.25 * 24.0, self.season.1) + self.day * turn(24.0, 0.0);
        let replaced = bearing.replaced.filter(|(at, _, _)| hours >= *at);
        let other = replaced.map_or(0.0, |(_, step, _)| step);
        let slow = (steps + warm + season + wander + other).exp() * (1.0 + run_in) * load;
        let damage = self.damage(bearing, hours);
        let mut noisy = |level: f64, scatter: f64| level * (scatter * gaussian(random)).exp();
        let (early, impacts) = match bearing.decay {
            Some(Decay::Spall) => (2.0, 6.0 * damage / (1.0 + damage * damage / 4.0)),
            Some(Decay::Lubrication) => (2.0, 0.3 * damage),
            Some(Decay::Wear | Decay::Abrupt) => (1.0, 0.2 * damage),
            None => (0.0, 0.0),
        };
        let features = Features::from([
            ("rms_g".to_owned(), noisy(bearing.level_g * slow * (1.0 + damage), bearing.scatter)),
            (
                "envelope_rms_g".to_owned(),
                noisy(0.4 * bearing.level_g * slow * (1.0 + early * damage), 1.5 * bearing.scatter),
            ),
            ("kurtosis".to_owned(), noisy(3.1 + impacts, 0.06)),
            ("crest_factor".to_owned(), noisy(4.2 + 0.5 * impacts, 0.08)),
            ("velocity_rms_mm_s".to_owned(), noisy(1.2 * slow.sqrt(), 0.04)),
        ]);
        let at = Timestamp::from_unix_ms(1_767_225_600_000)?.plus_seconds(3600.0 * hours);
        let begins = |at_h: f64| (hours..hours + PERIOD_S / 3600.0).contains(&at_h);
        Some(Window {
            at,
            hours,
            state,
            valid: !bearing.sensor.is_some_and(|(from, to)| (from..to).contains(&hours)),
            relearn: bearing.replaced.is_some_and(|(at, _, told)| told && begins(at)),
            features,
            going_on: self.going_on(bearing, hours),
        })
    }

    /// Operating state as the configuration knows it, and the factor of the load.
    fn load_at(&self, hours: f64) -> (&'static str, f64) {
        let Some((factor, from, dwell, announced)) = self.load else { return ("default", 1.0) };
        let is_high = hours >= from && (hours / dwell) as u64 % 2 == 1;
        match (is_high, announced) {
            (true, true) => ("high", factor),
            (true, false) => ("default", factor),
            (false, _) => ("default", 1.0),
        }
    }

    fn going_on(&self, bearing: &Bearing, hours: f64) -> String {
        let mut words = Vec::new();
        if let Some((factor, from, _, announced)) = self.load.filter(|load| hours >= load.1) {
            let told = if announced { "announced" } else { "not announced" };
            words.push(format!("loads {factor:.2} apart since {from:.0} h, {told}"));
        }
        words.extend(
            self.stops
                .iter()
                .filter(|stop| stop.1 <= hours)
                .map(|stop| format!("stood {:.0} h until {:.0} h", stop.1 - stop.0, stop.1)),
        );
        if let Some((at, step, _)) = bearing.replaced.filter(|replaced| replaced.0 <= hours) {
            words.push(format!("replaced at {at:.0} h, level × {:.2}", step.exp()));
        }
        if let Some((from, to)) = bearing.sensor.filter(|sensor| sensor.0 <= hours) {
            words.push(format!("sensor failed from {from:.0} h to {to:.0} h"));
        }
        if bearing.run_in > 0.0 {
            words.push(format!("run-in of {:.2}", bearing.run_in));
        }
        if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
    }
}

fn bearing(seed: u64, number: u64, decay: Option<Decay>, random: &mut ChaCha8Rng) -> Bearing {
    let damaged_from_h = decay.map(|_| 24.0 * random.random_range(20.0..35.0));
    let days = decay.map_or(0.0, |decay| decay.days(random));
    Bearing {
        name: format!("machine {seed} bearing {}", number + 1),
        decay,
        damaged_from_h,
        lasts_h: 24.0 * days,
        doubled_at_h: 0.0,
        told_by_h: 0.0,
        fails_at_h: None,
        seed: seed * 2 + number + 1_000_000,
        level_g: random.random_range(-1.6_f64..0.7).exp(),
        scatter: random.random_range(0.03..0.08),
        run_in: if random.random_bool(0.3) { random.random_range(0.1..0.6) } else { 0.0 },
        sensor: random.random_bool(0.05).then(|| {
            let from = random.random_range(200.0..1500.0);
            (from, from + random.random_range(5.0..200.0))
        }),
        replaced: (decay.is_none() && random.random_bool(0.05)).then(|| {
            let at = random.random_range(500.0..1800.0);
            (at, random.random_range(-0.2..0.22), random.random_bool(0.5))
        }),
    }
}
