//! Signal science of rolling bearings: pure functions of samples, no clock, no files, no runtime.
//!
//! Stands between the edge's windows and its events: samples in m/s² come in, statistics of the
//! waveform ([`mod@time_domain`]), velocity ([`integrate`]) and the verdict on the four defect
//! frequencies ([`mod@diagnose`], thorough; [`fast`], every window) go out. Invariants: the same
//! samples give the same figures on every run; no input panics; no figure is NaN.

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
pub use spectrum::Spectrum;
pub use time_domain::{TimeDomain, time_domain};
