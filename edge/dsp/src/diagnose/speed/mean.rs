//! The shaft speed of a measuring point by the mean of many sound windows.
//!
//! One window often shows no shaft lines, or lines of something else beside them. What turns with
//! the shaft stands in all windows: the teeth of the comb are averaged at every speed within 5 % of
//! the stated one, and the speed at which they stand takes the stated one's place. Invariants: a
//! comb that a part's line makes teaches no speed; where the stated speed stands, or nothing does,
//! there is no other.

use super::tried::posed_as;
use super::{CAP_DB, LEAST_COMB_DB, LEAST_LEAD_DB, TEETH, Teeth};
use crate::diagnose::levels::log_levels;
use crate::diagnose::{LEAST_TURNS, Request};
use crate::robust::median;
use crate::spectrum::amplitude_spectrum;
use crate::transform::Transforms;

/// How far from the stated speed it is searched, as a ratio: the slip of small motors of which the
/// synchronous speed was typed in, and a belt's.
const REACH: f64 = 0.05;
/// The step from one speed to the next, as a ratio.
const STEP: f64 = 0.001;
const STEPS: usize = 101;
/// The deviation from which a speed is another than the stated one, as a ratio: below it, the
/// search of every look ([`super::tried`]) sharpens the stated one.
pub(in crate::diagnose) const DIFFERS: f64 = 0.005;
/// Windows that a mean needs at least (chosen: the fewest seconds of a sound recording at hand,
/// Paderborn's).
const LEAST_WINDOWS: u32 = 4;
/// Teeth that have to stand at least, and their level, dB: a line of mains or of vanes is one.
const LEAST_TEETH: usize = 3;
const TOOTH_DB: f64 = 8.0;
/// How much higher than that of the stated speed the comb has to stand, dB, as for a single record.
const OTHER_LEAD_DB: f64 = 3.0;
/// Speeds whose comb is that near to the highest share its place, dB.
const TOP_DB: f64 = 0.3;
/// Steps of a level in the bytes, dB.
const BYTES_STEP_DB: f64 = 0.001;

/// The mean teeth of the shaft's comb at the speeds around the stated one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SpeedMean {
    windows: u32,
    /// Mean level of each tooth, dB, at each speed; empty before the first window.
    teeth: Vec<Teeth>,
}

impl SpeedMean {
    /// The mean over a whole record in windows of a second, or of sixteen turns where these take
    /// longer.
    ///
    /// **Input** acceleration, m/s², at the request's rate.
    pub fn of_record(accel_m_s2: &[f64], request: &Request) -> Self {
        let seconds = ((LEAST_TURNS + 1.0) / request.speed.shaft_hz()).max(1.0);
        let length = ((seconds * request.rate.get()) as usize).max(1);
        let mut mean = Self::default();
        for window in accel_m_s2.chunks_exact(length) {
            mean.take(window, request);
        }
        mean
    }

    /// Adds a window; one of fewer turns than a verdict needs says nothing.
    ///
    /// **Input** acceleration, m/s², at the request's rate; the request of the look with the stated
    /// speed.
    pub fn take(&mut self, accel_m_s2: &[f64], request: &Request) {
        let (rate_hz, shaft_hz) = (request.rate.get(), request.speed.shaft_hz());
        if (accel_m_s2.len() as f64) < LEAST_TURNS * rate_hz / shaft_hz {
            return;
        }
        let limit_hz = (TEETH.len() as f64 + 2.0) * (1.0 + REACH) * shaft_hz;
        let spectrum = amplitude_spectrum(accel_m_s2, rate_hz, &mut Transforms::new());
        let spectrum = spectrum.up_to(limit_hz);
        let levels = log_levels(&spectrum, shaft_hz);
        if levels.is_empty() {
            return;
        }
        self.teeth.resize(STEPS, Teeth::default());
        let before = f64::from(self.windows);
        for (i, teeth) in self.teeth.iter_mut().enumerate() {
            let first = ratio(i) * shaft_hz / spectrum.df_hz;
            for (k, tooth) in (1_u32..).zip(teeth) {
                let shown = tooth_db(&levels, f64::from(k) * first);
                *tooth = (before * *tooth + shown) / (before + 1.0);
            }
        }
        self.windows = self.windows.saturating_add(1);
    }

    /// Windows that it is the mean of.
    pub const fn windows(&self) -> u32 {
        self.windows
    }

    /// The true speed as a multiple of the stated one, where the mean shows another within the
    /// request's tolerance; `None` where it shows the stated one or none.
    pub fn other(&self, request: &Request) -> Option<f64> {
        if self.windows < LEAST_WINDOWS {
            return None;
        }
        let total: f64 = TEETH.iter().sum();
        let comb =
            |teeth: &Teeth| TEETH.iter().zip(teeth).map(|(w, db)| w * db).sum::<f64>() / total;
        let curve: Vec<f64> = self.teeth.iter().map(comb).collect();
        let reach = request.speed_tolerance.min(REACH);
        let is_near = |i: &usize, reach: f64| (ratio(*i) - 1.0).abs() <= reach + 0.1 * STEP;
        let within = |reach: f64| (0..curve.len()).filter(move |i| is_near(i, reach));
        let best = within(reach).max_by(|a, b| curve[*a].total_cmp(&curve[*b]))?;
        let level = curve[best];
        let stated = within(DIFFERS).map(|i| curve[i]).fold(0.0, f64::max);
        let usual = median(&curve).unwrap_or(0.0);
        let stands = level >= LEAST_COMB_DB.max(usual + LEAST_LEAD_DB).max(stated + OTHER_LEAD_DB);
        // a comb that still rises at the end of what is searched has its top beyond
        let beside = curve.get(best.checked_sub(1)?).zip(curve.get(best + 1))?;
        let is_top = *beside.0 <= level && *beside.1 <= level;
        let teeth = &self.teeth[best];
        let standing = teeth.iter().filter(|db| **db >= TOOTH_DB).count();
        if !(stands && is_top) || standing < LEAST_TEETH || posed_as(teeth, request).is_some() {
            return None;
        }
        let shares = |i: &usize| i.abs_diff(best) <= 5 && curve[*i] >= level - TOP_DB;
        let top: Vec<f64> = (0..curve.len()).filter(shares).map(ratio).collect();
        let other = top.iter().sum::<f64>() / top.len() as f64;
        ((other - 1.0).abs() > DIFFERS).then_some(other)
    }

    /// The mean as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let steps = |db: &f64| ((db / BYTES_STEP_DB).round() as u16).to_le_bytes();
        let levels = self.teeth.iter().flatten().flat_map(steps);
        self.windows.to_le_bytes().into_iter().chain(levels).collect()
    }

    /// The mean of these bytes; `None` if they are not those of a mean.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (windows, levels) = bytes.split_first_chunk::<4>()?;
        let windows = u32::from_le_bytes(*windows);
        if windows == 0 || levels.len() != STEPS * TEETH.len() * 2 {
            return None;
        }
        let (pairs, _) = levels.as_chunks::<2>();
        let db =
            |pair: &[u8; 2]| (f64::from(u16::from_le_bytes(*pair)) * BYTES_STEP_DB).min(CAP_DB);
        let levels: Vec<f64> = pairs.iter().map(db).collect();
        let (teeth, _) = levels.as_chunks::<{ TEETH.len() }>();
        Some(Self { windows, teeth: teeth.to_vec() })
    }
}

/// A speed as a multiple of the stated one.
fn ratio(step: usize) -> f64 {
    1.0 - REACH + STEP * step as f64
}

/// Level of a tooth between the lines of a spectrum, dB; the highest where a step holds several
/// lines.
fn tooth_db(levels: &[f64], place: f64) -> f64 {
    let half = 0.5 * STEP * place;
    let level = if half < 0.5 {
        between(levels, place)
    } else {
        let (low, high) = ((place - half).round() as usize, (place + half).round() as usize);
        let lines = levels.get(low..=high.min(levels.len().saturating_sub(1)));
        lines.unwrap_or_default().iter().copied().fold(0.0, f64::max)
    };
    level.clamp(0.0, CAP_DB)
}

/// The parabola through the nearest three levels.
fn between(levels: &[f64], place: f64) -> f64 {
    let middle = place.round();
    let Some(start) = (middle as usize).checked_sub(1) else { return 0.0 };
    let Some(&[before, here, after]) = levels.get(start..start + 3) else { return 0.0 };
    let off = place - middle;
    here + 0.5 * (after - before) * off + (0.5 * (after + before) - here) * off * off
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bearing::DefectOrders;
    use pdm_shared::units::{Rpm, SampleRate};

    const RATE_HZ: f64 = 6400.0;

    /// A 6203 of which 1500 rpm, the synchronous speed, was typed in.
    fn request() -> Request {
        let orders = DefectOrders::new(3.0543, 4.9457, 1.9966, 0.3818).expect("valid");
        let (rate, speed) = (SampleRate::new(RATE_HZ), Rpm::new(1500.0));
        Request::new(rate.expect("valid"), speed.expect("valid"), orders)
    }

    /// A second of noise with tones: frequency, Hz, and amplitude.
    fn window(seed: u64, tones: &[(f64, f64)]) -> Vec<f64> {
        let mut state = seed * 7919 + 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as f64 / u64::MAX as f64 - 0.5
        };
        (0..RATE_HZ as usize)
            .map(|i| {
                let t = i as f64 / RATE_HZ + seed as f64;
                let tone = |(hz, amplitude): &(f64, f64)| {
                    amplitude * (std::f64::consts::TAU * hz * t + hz).sin()
                };
                4.0 * next() + tones.iter().map(tone).sum::<f64>()
            })
            .collect()
    }

    fn shaft(hz: f64, multiples: &[u32], amplitude: f64) -> Vec<(f64, f64)> {
        multiples.iter().map(|k| (f64::from(*k) * hz, amplitude)).collect()
    }

    fn mean(windows: u64, tones: &[(f64, f64)]) -> SpeedMean {
        let mut mean = SpeedMean::default();
        for seed in 0..windows {
            mean.take(&window(seed, tones), &request());
        }
        mean
    }

    const FIVE: [u32; 5] = [1, 2, 3, 4, 6];

    /// Slip that nobody typed in.
    #[test]
    fn the_speed_that_stands_in_the_mean_of_windows_is_learnt() {
        for off in [0.96, 0.97, 0.985, 1.03] {
            let mean = mean(12, &shaft(25.0 * off, &FIVE, 1.0));
            let other = mean.other(&request()).expect("it stands");
            assert!((other - off).abs() < 0.003, "{other} for {off}");
        }
    }

    #[test]
    fn a_stated_speed_that_fits_and_noise_alone_teach_nothing() {
        assert_eq!(mean(12, &shaft(25.0, &FIVE, 1.0)).other(&request()), None);
        assert_eq!(mean(12, &[]).other(&request()), None);
        // beyond what is searched
        assert_eq!(mean(12, &shaft(23.3, &FIVE, 1.0)).other(&request()), None);
        assert_eq!(mean(3, &shaft(24.25, &FIVE, 1.0)).other(&request()), None, "too few windows");
        let narrow = Request { speed_tolerance: 0.02, ..request() };
        assert_eq!(
            mean(12, &shaft(24.25, &FIVE, 1.0)).other(&narrow),
            None,
            "beyond the tolerance"
        );
    }

    /// Mains at 100 Hz, and the outer race of a 6203 at 3.05 turns, whose third poses as a shaft.
    #[test]
    fn lines_of_mains_and_of_a_race_are_no_shaft() {
        assert_eq!(mean(12, &[(97.0, 3.0), (50.0, 1.0)]).other(&request()), None);
        assert_eq!(mean(12, &shaft(25.45, &[3, 6], 4.0)).other(&request()), None);
    }

    #[test]
    fn a_mean_goes_on_after_its_bytes_and_foreign_bytes_are_none() {
        let mean = mean(12, &shaft(24.25, &FIVE, 1.0));
        let again = SpeedMean::from_bytes(&mean.to_bytes()).expect("its own form");
        assert_eq!(again.windows(), 12);
        let (a, b) = (mean.other(&request()), again.other(&request()));
        assert!((a.expect("stands") - b.expect("stands")).abs() < 1e-9);
        assert_eq!(SpeedMean::from_bytes(b"no mean"), None);
        assert_eq!(SpeedMean::from_bytes(&[]), None);
    }

    #[test]
    fn a_record_is_taken_in_windows() {
        let record: Vec<f64> =
            (0..6).flat_map(|seed| window(seed, &shaft(24.25, &FIVE, 1.0))).collect();
        let mean = SpeedMean::of_record(&record, &request());
        assert_eq!(mean.windows(), 6);
        assert!((mean.other(&request()).expect("it stands") - 0.97).abs() < 0.003);
    }
}
