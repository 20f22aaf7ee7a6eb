//! The fast path: every window in service, from a fixed number of transforms, without allocation.
//!
//! Three transforms a window: the whole window (power, velocity, floor), the band back to time
//! (squared envelope), the envelope (defect lines). Samples are `f32`: converters give 24 bits or
//! fewer, the same as its mantissa, and single precision halves memory traffic; sums over the
//! window are kept in `f64`. Invariants: after [`FastPath::new`] no memory is allocated; a window
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

/// A set-up that cannot be measured. The caller reports it with the bearing's name.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FastError {
    /// The window is too short.
    #[error("{samples} samples a window, at least {least} are needed")]
    TooFewSamples {
        /// What was asked.
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
        Ok(Self {
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
            sort: Vec::with_capacity(width.max(length)),
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
        let time = single_precision_time_domain(accel_m_s2).ok_or(FastError::NotFinite)?;
        let mean =
            (accel_m_s2.iter().map(|x| f64::from(*x)).sum::<f64>() / self.samples as f64) as f32;
        self.work.iter_mut().zip(accel_m_s2).for_each(|(w, x)| *w = x - mean);
        self.forward
            .process_with_scratch(&mut self.work, &mut self.lines, &mut self.scratch)
            .expect("buffers were made by this plan");
        let envelope_rms_m_s2 = self.demodulate();
        let lines = Fault::ALL.map(|fault| self.line(fault, speed, orders));
        Ok(FastFindings {
            time,
            velocity_rms_mm_s: self.velocity(),
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
        let (mut sum, mut squares) = (0.0_f64, 0.0_f64);
        for (e, z) in self.envelope.iter_mut().zip(&self.narrow) {
            *e = z.norm_sqr().sqrt() * gain;
            sum += f64::from(*e);
            squares += f64::from(*e * *e);
        }
        let count = self.envelope.len() as f64;
        let mean = sum / count;
        for (e, w) in self.envelope.iter_mut().zip(&self.taper) {
            *e = (*e - mean as f32) * w;
        }
        self.envelope_forward
            .process_with_scratch(&mut self.envelope, &mut self.envelope_lines, &mut self.scratch)
            .expect("buffers were made by this plan");
        (squares / count - mean * mean).max(0.0).sqrt()
    }

    fn velocity(&self) -> Option<f64> {
        let (low_hz, high_hz) = crate::integrate::VELOCITY_BAND_HZ;
        let df = self.df_hz();
        if df * 2.0 > low_hz || self.rate.nyquist_hz() < high_hz {
            return None;
        }
        let first = (low_hz / df).ceil() as usize;
        let last = ((high_hz / df) as usize).min(self.lines.len() - 1);
        let sum: f64 = (first..=last)
            .map(|k| {
                let omega = std::f64::consts::TAU * k as f64 * df;
                f64::from(self.lines[k].norm_sqr()) / (omega * omega)
            })
            .sum();
        Some((2.0 * sum).sqrt() / self.samples as f64 * 1000.0)
    }

    fn floor(&mut self) -> f64 {
        self.sort.clear();
        let band = self.first..self.first + self.width;
        self.sort.extend(self.lines[band].iter().map(Complex32::norm_sqr));
        let middle = self.sort.len() / 2;
        let (_, power, _) = self.sort.select_nth_unstable_by(middle, f32::total_cmp);
        2.0 * f64::from(power.sqrt()) / self.samples as f64
    }

    fn line(&mut self, fault: Fault, speed: Rpm, orders: &DefectOrders) -> FastLine {
        let at = orders.of(fault).at(speed);
        let df = self.df_hz();
        let carrier = (at / df).round() as usize;
        let amplitude = self.lines.get(carrier).map_or(0.0, |z| f64::from(z.norm()));
        // Length of the envelope and of the window span the same time, so df is the same.
        let peak = self.envelope_peak(at, at, df);
        let gain = 4.0 / self.envelope.len() as f64;
        let levels = (1..=4).map(|k| self.level(f64::from(k) * at, at, df)).sum::<f64>() / 4.0;
        let shown = if fault == Fault::Ball { at / 2.0 } else { at };
        FastLine {
            fault,
            frequency_hz: shown,
            amplitude_m_s2: 2.0 * amplitude / self.samples as f64,
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
        self.sort.extend(self.envelope_lines[low..high].iter().map(Complex32::norm_sqr));
        let middle = self.sort.len() / 2;
        let (_, floor, _) = self.sort.select_nth_unstable_by(middle, f32::total_cmp);
        20.0 * (peak / f64::from(floor.sqrt()).max(1e-30)).log10()
    }
}

fn single_precision_time_domain(accel_m_s2: &[f32]) -> Option<TimeDomain> {
    let count = accel_m_s2.len() as f64;
    let mean = accel_m_s2.iter().map(|x| f64::from(*x)).sum::<f64>() / count;
    if !mean.is_finite() {
        return None;
    }
    let mut sums = crate::time_domain::Sums::default();
    for x in accel_m_s2 {
        sums.add(f64::from(*x) - mean);
    }
    Some(sums.finish(count))
}
