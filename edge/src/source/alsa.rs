//! Audio interfaces of Linux (ALSA): USB accelerometers and sensors behind a sound card.
//!
//! A device hands out interleaved integers of 16, 24 (three bytes) or 32 bits ([`super::frames`]).
//! It says neither the voltage nor the acceleration of its full scale, so that both have to be
//! configured. The library is ALSA's own, through the crate `alsa`, built in by the feature of that
//! name; without it such a source is refused by name.
//!
//! Invariants: rate, format and number of channels are those of the device itself, and nothing is
//! resampled; samples before and after an overrun never stand in one window, and it is told; a
//! device that is unplugged is an error, after which the reader opens it again.

use std::time::Duration;

use super::frames::FrameFormat;

#[cfg(any(test, feature = "alsa"))]
mod capture;
#[cfg(feature = "alsa")]
mod device;
#[cfg(any(test, feature = "alsa"))]
mod log;

#[cfg(feature = "alsa")]
pub use device::open_alsa;

/// A device and what is read of it.
#[derive(Debug, Clone, PartialEq)]
pub struct AlsaSettings {
    /// Name of the device, such as `hw:CARD=Digiducer,DEV=0`.
    pub device: String,
    /// Channels, rate, encoding, blocks and calibration.
    pub format: FrameFormat,
    /// Share by which the true rate may differ from that of the format.
    pub rate_tolerance: f64,
    /// Time without samples after which the device counts as lost.
    pub silence: Duration,
}

/// The error of a program that was built without ALSA.
///
/// # Errors
/// Always: the feature is named.
#[cfg(not(feature = "alsa"))]
pub fn open_alsa(
    settings: &AlsaSettings,
    _host: &super::SourceHost,
) -> Result<Box<dyn super::Source>, super::SourceError> {
    let why = "this program is built without ALSA; `cargo build --release --features alsa` builds \
               it in (docs/connect.md)";
    Err(super::SourceError::options(settings.device.as_ref(), why))
}

#[cfg(test)]
#[cfg(not(feature = "alsa"))]
mod tests {
    use std::sync::Arc;

    use pdm_service::clock::SystemClock;
    use pdm_shared::units::SampleRate;

    use super::*;
    use crate::source::frames::Encoding;
    use crate::source::{SourceHost, SourceInput};

    #[test]
    fn a_program_without_alsa_names_the_feature() {
        let format = FrameFormat {
            channels: 1,
            sample_rate: SampleRate::new(48_000.0).expect("a rate"),
            encoding: Encoding::I24,
            block_samples: 48_000,
            calibrations: Vec::new(),
        };
        let (device, silence) = ("hw:0".to_owned(), Duration::from_secs(1));
        let settings = AlsaSettings { device, format, rate_tolerance: 0.05, silence };
        let host = SourceHost::alone(Arc::new(SystemClock), "n");
        let opened = SourceInput::Alsa(Box::new(settings)).open_at(&host);
        let error = opened.err().expect("no library").to_string();
        assert!(error.contains("--features alsa"), "{error}");
    }
}
