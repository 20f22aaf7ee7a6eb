//! Series of a measuring station whose truth is known: hours of a pollutant, sound or with one
//! planted fault. The generator knows nothing of any code that judges series.
//!
//! A series is a base level with a daily cycle, weather that takes days, and noise whose neighbours
//! resemble each other (first-order autoregressive), rounded to the resolution of an analyser. A
//! sound one has up to three single hours missing.

/// Hours of a series: two weeks.
const HOURS: usize = 336;

/// The truth of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Planted {
    /// Nothing is wrong.
    Sound,
    /// One to three peaks of one or two hours, 0.8 to 2.5 times the base level.
    Spike,
    /// A ramp that begins in the middle third and reaches 0.7 to 1.5 times the base level, or takes
    /// 0.45 to 0.7 of it away.
    Drift,
    /// 8 to 30 hours that are missing, zero, or frozen at one value.
    Dropout,
}

impl Planted {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Sound => "sound",
            Self::Spike => "spike",
            Self::Drift => "drift",
            Self::Dropout => "dropout",
        }
    }
}

/// A series with its truth.
#[derive(Debug, Clone)]
pub struct PlantedSeries {
    /// The fault that was planted.
    pub truth: Planted,
    /// The pollutant.
    pub element: &'static str,
    /// One value an hour; `None` is missing.
    pub values: Vec<Option<f64>>,
}

/// Numbers from a seed (SplitMix64: Steele, Lea & Flood 2014, doi:10.1145/2714064.2660195).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    fn whole(&mut self, low: usize, high: usize) -> usize {
        low + (self.unit() * (high - low + 1) as f64) as usize
    }

    /// A normal number (sum of twelve uniform ones).
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

/// Pollutants with their usual level and the resolution of an analyser.
const ELEMENTS: [(&str, f64, f64); 6] = [
    ("SO2", 0.006, 0.0001),
    ("NO2", 0.022, 0.0002),
    ("O3", 0.034, 0.0002),
    ("CO", 0.52, 0.005),
    ("PM10", 44.0, 0.5),
    ("PM2.5", 21.0, 0.25),
];

/// One series of a seed.
pub fn planted(truth: Planted, seed: u64) -> PlantedSeries {
    let mut random = Random(seed.wrapping_mul(0x2545_F491_4F6C_DD1D) ^ truth as u64);
    let (element, usual, resolution) = ELEMENTS[random.whole(0, ELEMENTS.len() - 1)];
    let base = usual * random.between(0.8, 1.25);
    let mut values = background(&mut random, base);
    plant(truth, &mut random, base, &mut values);
    let round = |value: f64| (value.max(0.0) / resolution).round() * resolution;
    let mut values: Vec<Option<f64>> =
        values.into_iter().map(|value| value.is_finite().then(|| round(value))).collect();
    for _ in 0..random.whole(0, 3) {
        let at = random.whole(0, HOURS - 1);
        values[at] = None;
    }
    PlantedSeries { truth, element, values }
}

/// Several series of each truth, from one seed.
pub fn planted_set(seed: u64, counts: &[(Planted, usize)]) -> Vec<PlantedSeries> {
    let mut number = seed.wrapping_mul(1000);
    let mut all = Vec::new();
    for (truth, count) in counts {
        for _ in 0..*count {
            number = number.wrapping_add(1);
            all.push(planted(*truth, number));
        }
    }
    all
}

fn background(random: &mut Random, base: f64) -> Vec<f64> {
    let turn = std::f64::consts::TAU;
    let daily = base * random.between(0.12, 0.40);
    let morning = random.between(0.0, turn);
    let second = daily * random.between(0.0, 0.5);
    let weather = base * random.between(0.04, 0.14);
    let (period_h, phase) = (random.between(80.0, 170.0), random.between(0.0, turn));
    let (keeps, noise) = (random.between(0.4, 0.8), base * random.between(0.05, 0.10));
    let mut carried = 0.0;
    (0..HOURS)
        .map(|hour| {
            let hour = hour as f64;
            let day = turn * hour / 24.0 + morning;
            carried = keeps * carried + noise * (1.0 - keeps * keeps).sqrt() * random.normal();
            base + daily * day.sin()
                + second * (2.0 * day).sin()
                + weather * (turn * hour / period_h + phase).sin()
                + carried
        })
        .collect()
}

fn plant(truth: Planted, random: &mut Random, base: f64, values: &mut [f64]) {
    match truth {
        Planted::Sound => {}
        Planted::Spike => {
            for _ in 0..random.whole(1, 3) {
                let (at, width) = (random.whole(6, HOURS - 8), random.whole(1, 2));
                let height = base * random.between(0.8, 2.5);
                for value in &mut values[at..at + width] {
                    *value += height;
                }
            }
        }
        Planted::Drift => {
            let start = random.whole(HOURS / 3, 2 * HOURS / 3);
            let is_rise = random.unit() < 0.6;
            let end = if is_rise { random.between(0.7, 1.5) } else { -random.between(0.45, 0.7) };
            let length = (HOURS - start) as f64;
            for (step, value) in values[start..].iter_mut().enumerate() {
                *value += base * end * step as f64 / length;
            }
        }
        Planted::Dropout => {
            let (start, length) = (random.whole(24, HOURS - 60), random.whole(8, 30));
            let instead = match random.whole(0, 2) {
                0 => f64::NAN,
                1 => 0.0,
                _ => values[start],
            };
            values[start..start + length].fill(instead);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_series_and_another_seed_another() {
        let one = planted(Planted::Spike, 7);
        assert_eq!(one.values, planted(Planted::Spike, 7).values);
        assert_ne!(one.values, planted(Planted::Spike, 8).values);
        let set = planted_set(3, &[(Planted::Sound, 2), (Planted::Dropout, 4)]);
        assert_eq!(set.len(), 6);
        assert!(set.iter().all(|series| series.values.len() == HOURS));
    }
}
