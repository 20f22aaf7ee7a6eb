//! The fast path: every window in service, from a fixed number of transforms, without allocation.
//!
//! Three transforms a window: the whole window (power, velocity, floor), the band back to time
//! (squared envelope), the envelope (defect lines). Samples are `f32`: converters give 24 bits or
//! fewer, the same as its mantissa, and single precision halves memory traffic; sums over the
//! window are kept in `f64`. Two things are cheaper in the spectrum than in time: the Hann taper is
//! a sum of three neighbouring lines, and medians of floors are taken of an evenly spaced sample of
//! the lines. Invariants: after [`FastPath::new`] no memory is allocated; a window
//! with a sample that is not finite gives no figures.

use std::sync::Arc;

use pdm_shared::fault::Fault;
use pdm_shared::units::{Band, Rpm, SampleRate};
use realfft::{RealFftPlanner, RealToComplex};
use rustfft::num_complex::Complex32;
use rustfft::{Fft, FftPlanner};

use crate::bearing::DefectOrders;
use crate::time_domain::TimeDomain;
use crate::transform::fast_length_at_least;

mod lanes;

/// A set-up that cannot be measured. The caller reports it with the bearing's name.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FastError {
    /// The window is too short.
    #[error("{samples} samples a window, at least {least} are needed")]
    TooFewSamples {
        /// The request.
        samples: usize,
        /// The least.
        least: usize,
    },
    /// The band does not fit the sampling rate or the window.
    #[error("envelope band {band} does not fit below the Nyquist frequency {nyquist_hz} Hz")]
    Band {
        /// The band.
        band: Band,
        /// Half the sampling rate, Hz.
        nyquist_hz: f64,
    },
    /// The window given has another length than the path was made for.
    #[error("the window has {got} samples, the path was made for {expected}")]
    Length {
        /// Samples the path was made for.
        expected: usize,
        /// Samples given.
        got: usize,
    },
    /// A sample that is NaN or infinite.
    #[error("the window holds samples that are not finite")]
    NotFinite,
}

/// One defect frequency as the fast path sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FastLine {
    /// Which part.
    pub fault: Fault,
    /// Where its line is looked for, Hz (1×BSF for the ball).
    pub frequency_hz: f64,
    /// Amplitude of the acceleration spectrum where the defect shows, m/s².
    pub amplitude_m_s2: f64,
    /// Amplitude of the envelope's modulation there, m/s².
    pub envelope_amplitude_m_s2: f64,
    /// Mean level of its first four harmonics over the local floor, dB.
    pub snr_db: f64,
}

/// Figures of one window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FastFindings {
    /// Statistics of the waveform.
    pub time: TimeDomain,
    /// Velocity RMS 10–1000 Hz, mm/s; `None` if window or rate do not allow it.
    pub velocity_rms_mm_s: Option<f64>,
    /// RMS of the acceleration in the same band, m/s², also in windows too short for a velocity;
    /// `None` if the rate does not reach it.
    pub low_band_rms_m_s2: Option<f64>,
    /// Band whose envelope was taken.
    pub band: Band,
    /// RMS of the envelope's variation in that band, m/s².
    pub envelope_rms_m_s2: f64,
    /// Median amplitude of the acceleration spectrum in that band, m/s².
    pub noise_floor_m_s2: f64,
    /// The four lines in the order of [`Fault::ALL`].
    pub lines: [FastLine; 4],
}

/// Plans and memory of the fast path of one channel.
pub struct FastPath {
    samples: usize,
    rate: SampleRate,
    band: Band,
    first: usize,
    width: usize,
    forward: Arc<dyn RealToComplex<f32>>,
    inverse: Arc<dyn Fft<f32>>,
    envelope_forward: Arc<dyn RealToComplex<f32>>,
    work: Vec<f32>,
    lines: Vec<Complex32>,
    narrow: Vec<Complex32>,
    envelope: Vec<f32>,
    envelope_lines: Vec<Complex32>,
    taper: Vec<f32>,
    /// `1 / ω²` of the lines in the velocity band, from `velocity_first` on; empty where the
    /// velocity cannot be measured.
    inverse_omega_squared: Vec<f32>,
    velocity_first: usize,
    scratch: Vec<Complex32>,
    sort: Vec<f32>,
}

impl std::fmt::Debug for FastPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FastPath")
            .field("samples", &self.samples)
            .field("rate", &self.rate)
            .field("band", &self.band)
            .finish_non_exhaustive()
    }
}

/// Fewest samples of a window.
pub const LEAST_SAMPLES: usize = 256;

impl FastPath {
    /// Plans the transforms of windows of `samples` samples, and allocates everything.
    ///
    /// # Errors
    /// [`FastError::TooFewSamples`], [`FastError::Band`].
    pub fn new(samples: usize, rate: SampleRate, band: Band) -> Result<Self, FastError> {
        if samples < LEAST_SAMPLES {
            return Err(FastError::TooFewSamples { samples, least: LEAST_SAMPLES });
        }
        let nyquist_hz = rate.nyquist_hz();
        let df_hz = rate.get() / samples as f64;
        let first = (band.low_hz() / df_hz).ceil().max(1.0) as usize;
        let last = (band.high_hz() / df_hz).floor() as usize;
        if band.high_hz() > nyquist_hz || last < first + 8 {
            return Err(FastError::Band { band, nyquist_hz });
        }
        let width = (last + 1 - first).min(samples / 2 + 1 - first);
        let length = fast_length_at_least(2 * width);
        let mut real = RealFftPlanner::<f32>::new();
        let forward = real.plan_fft_forward(samples);
        let envelope_forward = real.plan_fft_forward(length);
        let inverse = FftPlanner::<f32>::new().plan_fft_inverse(length);
        let scratch = forward
            .get_scratch_len()
            .max(envelope_forward.get_scratch_len())
            .max(inverse.get_inplace_scratch_len());
        let zero = Complex32::new(0.0, 0.0);
        let (velocity_first, inverse_omega_squared) = velocity_weights(samples, rate);
        Ok(Self {
            velocity_first,
            inverse_omega_squared,
            samples,
            rate,
            band,
            first,
            width,
            work: vec![0.0; samples],
            lines: forward.make_output_vec(),
            narrow: vec![zero; length],
            envelope: vec![0.0; length],
            envelope_lines: envelope_forward.make_output_vec(),
            taper: crate::envelope::block_taper(length).iter().map(|w| *w as f32).collect(),
            scratch: vec![zero; scratch],
            sort: Vec::with_capacity(2 * FLOOR_SAMPLES),
            forward,
            inverse,
            envelope_forward,
        })
    }

    /// Samples of a window.
    pub const fn samples(&self) -> usize {
        self.samples
    }

    /// Measures one window.
    ///
    /// **Input** acceleration, m/s², as many samples as the path was made for; speed and orders may
    /// change from window to window.
    ///
    /// # Errors
    /// [`FastError::Length`], [`FastError::NotFinite`].
    pub fn measure(
        &mut self,
        accel_m_s2: &[f32],
        speed: Rpm,
        orders: &DefectOrders,
    ) -> Result<FastFindings, FastError> {
        if accel_m_s2.len() != self.samples {
            return Err(FastError::Length { expected: self.samples, got: accel_m_s2.len() });
        }
        let mean = lanes::mean(accel_m_s2);
        if !mean.is_finite() {
            return Err(FastError::NotFinite);
        }
        let sums = lanes::centre(accel_m_s2, mean, &mut self.work);
        let time = sums.finish(self.samples as f64);
        self.forward
            .process_with_scratch(&mut self.work, &mut self.lines, &mut self.scratch)
            .expect("buffers were made by this plan");
        let envelope_rms_m_s2 = self.demodulate();
        let lines = Fault::ALL.map(|fault| self.line(fault, speed, orders));
        Ok(FastFindings {
            time,
            velocity_rms_mm_s: self.velocity(),
            low_band_rms_m_s2: self.low_band(),
            band: self.band,
            envelope_rms_m_s2,
            noise_floor_m_s2: self.floor(),
            lines,
        })
    }

    fn df_hz(&self) -> f64 {
        self.rate.get() / self.samples as f64
    }

    fn demodulate(&mut self) -> f64 {
        self.narrow.fill(Complex32::new(0.0, 0.0));
        self.narrow[..self.width].copy_from_slice(&self.lines[self.first..self.first + self.width]);
        self.inverse.process_with_scratch(&mut self.narrow, &mut self.scratch);
        let gain = 2.0 / self.samples as f32;
        let (mean, rms) = lanes::magnitudes(&self.narrow, gain, &mut self.envelope);
        for (e, w) in self.envelope.iter_mut().zip(&self.taper) {
            *e = (*e - mean as f32) * w;
        }
        self.envelope_forward
            .process_with_scratch(&mut self.envelope, &mut self.envelope_lines, &mut self.scratch)
            .expect("buffers were made by this plan");
        rms
    }

    /// Velocity RMS as in [`crate::integrate`]: Hann taper, division by ω, 10–1000 Hz.
    fn velocity(&self) -> Option<f64> {
        let weights = &self.inverse_omega_squared;
        let lines = self.lines.get(self.velocity_first - 1..)?.windows(3);
        if weights.is_empty() {
            return None;
        }
        let sum: f32 = lines.zip(weights).map(|(near, w)| tapered(near).norm_sqr() * w).sum();
        // One-sided (2) and the taper's mean square (3/8).
        let variance = 2.0 * f64::from(sum) / HANN_MEAN_SQUARE;
        Some(variance.sqrt() / self.samples as f64 * 1000.0)
    }

    /// RMS of the acceleration in the velocity's band, Hann taper.
    fn low_band(&self) -> Option<f64> {
        let last = (crate::integrate::VELOCITY_BAND_HZ.1 / self.df_hz()) as usize;
        let lines = self.lines.get(self.velocity_first - 1..last + 2)?.windows(3);
        let sum: f32 = lines.map(|near| tapered(near).norm_sqr()).sum();
        // One-sided (2) and the taper's mean square (3/8).
        Some((2.0 * f64::from(sum) / HANN_MEAN_SQUARE).sqrt() / self.samples as f64)
    }

    /// Median amplitude of the band, of at most [`FLOOR_SAMPLES`] evenly spaced lines.
    fn floor(&mut self) -> f64 {
        let band = &self.lines[self.first..self.first + self.width];
        self.sort.clear();
        let stride = band.len().div_ceil(FLOOR_SAMPLES);
        self.sort.extend(band.iter().step_by(stride).map(Complex32::norm_sqr));
        2.0 * middle(&mut self.sort) / self.samples as f64
    }

    fn line(&mut self, fault: Fault, speed: Rpm, orders: &DefectOrders) -> FastLine {
        let at = orders.of(fault).at(speed);
        let df = self.df_hz();
        let carrier = (at / df).round().max(1.0) as usize;
        let amplitude = self
            .lines
            .get(carrier - 1..carrier + 2)
            .map_or(0.0, |near| f64::from(tapered(near).norm()));
        // Length of the envelope and of the window span the same time, so df is the same.
        let peak = self.envelope_peak(at, at, df);
        let gain = 4.0 / self.envelope.len() as f64;
        let levels = (1..=4).map(|k| self.level(f64::from(k) * at, at, df)).sum::<f64>() / 4.0;
        let shown = if fault == Fault::Ball { at / 2.0 } else { at };
        FastLine {
            fault,
            frequency_hz: shown,
            // The Hann taper's coherent gain is 1/2.
            amplitude_m_s2: 4.0 * amplitude / self.samples as f64,
            envelope_amplitude_m_s2: gain * peak,
            snr_db: levels,
        }
    }

    fn envelope_peak(&self, hz: f64, first_hz: f64, df: f64) -> f64 {
        let reach = (0.015 * first_hz).max(1.5 * df);
        let low = ((hz - reach) / df).max(1.0) as usize;
        let high = (((hz + reach) / df) as usize + 2).min(self.envelope_lines.len());
        let peak = self
            .envelope_lines
            .get(low..high)
            .map_or(0.0, |part| part.iter().map(Complex32::norm_sqr).fold(0.0, f32::max));
        f64::from(peak.sqrt())
    }

    fn level(&mut self, hz: f64, first_hz: f64, df: f64) -> f64 {
        let peak = self.envelope_peak(hz, first_hz, df);
        let around = (0.6 * first_hz / df).max(12.0);
        let low = (hz / df - around).max(1.0) as usize;
        let high = ((hz / df + around) as usize).min(self.envelope_lines.len());
        if low >= high || peak <= 0.0 {
            return 0.0;
        }
        self.sort.clear();
        let stride = (high - low).div_ceil(FLOOR_SAMPLES / 8);
        let lines = self.envelope_lines[low..high].iter().step_by(stride);
        self.sort.extend(lines.map(Complex32::norm_sqr));
        20.0 * (peak / middle(&mut self.sort).max(1e-30)).log10()
    }
}

/// Most lines of which a floor is the median (chosen: its standard error is 6 %).
const FLOOR_SAMPLES: usize = 512;

/// Mean square of the Hann taper.
const HANN_MEAN_SQUARE: f64 = 0.375;

/// The middle one of three neighbouring lines as a Hann-tapered window would have it.
fn tapered(near: &[Complex32]) -> Complex32 {
    near[1] * 0.5 - (near[0] + near[2]) * 0.25
}

/// Root of the median power.
fn middle(powers: &mut [f32]) -> f64 {
    let at = powers.len() / 2;
    if powers.is_empty() {
        return 0.0;
    }
    let (_, power, _) = powers.select_nth_unstable_by(at, f32::total_cmp);
    f64::from(power.sqrt())
}

/// First line of the velocity band and `1 / ω²` of its lines.
fn velocity_weights(samples: usize, rate: SampleRate) -> (usize, Vec<f32>) {
    let (low_hz, high_hz) = crate::integrate::VELOCITY_BAND_HZ;
    let df_hz = rate.get() / samples as f64;
    let first = ((low_hz / df_hz).ceil() as usize).max(1);
    if 2.0 * df_hz > low_hz || rate.nyquist_hz() < high_hz {
        return (first, Vec::new());
    }
    let last = (high_hz / df_hz) as usize;
    let weight = |k: usize| (std::f64::consts::TAU * k as f64 * df_hz).powi(-2) as f32;
    (first, (first..=last).map(weight).collect())
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;
    use crate::integrate::velocity_rms_mm_s;
    use crate::time_domain::time_domain;
    use crate::transform::Transforms;

    const RATE: f64 = 20_480.0;

    /// 110 impacts a second ring at 4 kHz over a 30 Hz shaft line and a little noise.
    fn window() -> Vec<f64> {
        let mut noise = 1_u32;
        (0..20_480)
            .map(|i: i32| {
                noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let random = f64::from(noise >> 8) / f64::from(1 << 24) - 0.5;
                let t = f64::from(i) / RATE;
                let since = t - (t * 110.0).floor() / 110.0;
                0.8 * (TAU * 30.0 * t).sin()
                    + 5.0 * (-800.0 * since).exp() * (TAU * 4000.0 * since).sin()
                    + 0.4 * random
            })
            .collect()
    }

    fn measured(orders: &DefectOrders) -> (Vec<f64>, FastFindings) {
        let window = window();
        let single: Vec<f32> = window.iter().map(|x| *x as f32).collect();
        let band = Band::new(2500.0, 6000.0).expect("band");
        let mut path =
            FastPath::new(20_480, SampleRate::new(RATE).expect("rate"), band).expect("fits");
        let speed = Rpm::new(1800.0).expect("speed");
        let found = path.measure(&single, speed, orders).expect("finite");
        (window, found)
    }

    fn orders() -> DefectOrders {
        DefectOrders::new(110.0 / 30.0, 5.31, 2.3, 0.407).expect("orders")
    }

    #[test]
    fn fast_and_thorough_statistics_agree() {
        let (window, found) = measured(&orders());
        let want = time_domain(&window).expect("finite");
        // Single precision: 24 bits of mantissa, sums over 512 samples.
        let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-4;
        assert!(close(found.time.rms, want.rms) && close(found.time.peak, want.peak));
        let pairs = [
            (found.time.kurtosis, want.kurtosis),
            (found.time.shape_factor, want.shape_factor),
            (found.time.clearance_factor, want.clearance_factor),
        ];
        assert!(pairs.iter().all(|(a, b)| close(a.expect("moves"), b.expect("moves"))));
        let rate = SampleRate::new(RATE).expect("rate");
        let velocity = velocity_rms_mm_s(&window, rate, &mut Transforms::new()).expect("long");
        assert!(close(found.velocity_rms_mm_s.expect("long"), velocity));
        assert!(found.low_band_rms_m_s2.is_some_and(|low| low < found.time.rms));
    }

    #[test]
    fn the_line_of_the_impacts_stands_highest() {
        let (_, found) = measured(&orders());
        let [outer, inner, ball, cage] = found.lines;
        assert!(outer.snr_db > 20.0, "{outer:?}");
        assert!(inner.snr_db < outer.snr_db - 10.0 && ball.snr_db < outer.snr_db - 10.0);
        assert!(cage.snr_db < outer.snr_db && outer.envelope_amplitude_m_s2 > 0.3);
    }

    #[test]
    fn what_cannot_be_measured_is_an_error_with_its_numbers() {
        let rate = SampleRate::new(RATE).expect("rate");
        let band = Band::new(500.0, 20_000.0).expect("band");
        assert!(matches!(FastPath::new(20_480, rate, band), Err(FastError::Band { .. })));
        let band = Band::new(500.0, 5000.0).expect("band");
        assert!(matches!(FastPath::new(10, rate, band), Err(FastError::TooFewSamples { .. })));
        let mut path = FastPath::new(1024, rate, band).expect("fits");
        let speed = Rpm::new(1800.0).expect("speed");
        let short = path.measure(&[0.0; 8], speed, &orders());
        assert_eq!(short, Err(FastError::Length { expected: 1024, got: 8 }));
        let wild = path.measure(&[f32::NAN; 1024], speed, &orders());
        assert_eq!(wild, Err(FastError::NotFinite));
        assert!(path.measure(&[1.0; 1024], speed, &orders()).is_ok());
    }
}
