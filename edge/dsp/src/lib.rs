//! Signal science of rolling bearings: pure functions of samples, no clock, no files, no runtime.
//!
//! Samples in m/s² come in; statistics of the waveform ([`mod@time_domain`]), velocity
//! ([`integrate`]) and the verdict on the four defect frequencies ([`mod@diagnose`], thorough;
//! [`fast`], for every window of a stream) go out. Invariants: the same samples give the same
//! figures on every run; no input panics; no figure is NaN.
//!
//! # Start
//! A bearing's geometry, the sampling rate and the shaft speed make a [`Request`]; [`diagnose()`]
//! judges a record by it. Here two seconds of a 6205 whose outer race is struck, made by hand:
//!
//! ```
//! use pdm_dsp::units::{Rpm, SampleRate};
//! use pdm_dsp::{Fault, Geometry, Request, diagnose};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (rate_hz, rpm) = (12_800.0, 1797.0);
//! // nine balls of 7.94 mm on a circle of 39.04 mm, contact angle 0°
//! let orders = Geometry::new(9, 7.94, 39.04, 0.0)?.orders();
//!
//! let mut state = 1_u32;
//! let mut noise = || {
//!     state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
//!     f64::from(state >> 8) / f64::from(1 << 24) - 0.5
//! };
//! let mut accel_m_s2: Vec<f64> = (0..25_600).map(|_| 2.0 * noise()).collect();
//! let mut strike_s = 0.0;
//! while strike_s < 2.0 {
//!     let first = (strike_s * rate_hz) as usize;
//!     for (after, accel) in accel_m_s2.iter_mut().skip(first).take(200).enumerate() {
//!         let t = after as f64 / rate_hz;
//!         *accel += 6.0 * (-900.0 * t).exp() * (std::f64::consts::TAU * 3000.0 * t).sin();
//!     }
//!     // elements slip a little, so strikes are not evenly spaced
//!     strike_s += (1.0 + 0.01 * noise()) * 60.0 / (orders.bpfo.get() * rpm);
//! }
//!
//! let request = Request::new(SampleRate::new(rate_hz)?, Rpm::new(rpm)?, orders);
//! let findings = diagnose(&accel_m_s2, &request)?;
//! assert_eq!(findings.dominant, Some(Fault::OuterRace));
//! assert!(findings.confidence > 0.8);
//! # Ok(())
//! # }
//! ```
//!
//! Quantities whose mix-up would give a wrong verdict are types of [`units`]; bulk samples are
//! slices with the unit in their name.

pub mod band;
pub mod band_pass;
pub mod bearing;
pub mod cepstrum;
pub mod diagnose;
pub mod envelope;
pub mod fast;
pub mod integrate;
pub mod order;
pub mod part;
pub mod robust;
pub mod separate;
pub mod spectrum;
pub mod taper;
pub mod time_domain;
pub mod transform;

pub use bearing::{DefectOrders, Geometry};
pub use diagnose::{
    DiagnoseError, ElementLine, Evidence, Findings, Request, Undetermined, diagnose,
};
pub use fast::{FastFindings, FastPath};
pub use part::{Part, PerPart};
#[doc(inline)]
pub use pdm_shared::fault::Fault;
#[doc(inline)]
pub use pdm_shared::units;
pub use spectrum::Spectrum;
pub use time_domain::{TimeDomain, time_domain};

/// The examples of `README.md` as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeExamples;
