//! Looks at the whole band twice, as it is and pre-whitened, and checks whether the lines of the
//! cage and of a rolling element's spin stand in both.
//!
//! They are taken from the random part ([`crate::separate`]) at the resolution of the whole record,
//! which the cage's slow lines need. Invariant: a look that cannot tell gives a cage of 0.

use pdm_shared::units::{Band, Rpm};

use super::Request;
use super::cage::{self, Cage};
use super::spin::{self, Spin};
use crate::cepstrum::prewhiten;
use crate::envelope::{RecordLines, envelope_spectrum, squared_envelope};
use crate::transform::Transforms;

/// One look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// How far the cage's lines stand.
    pub cage: Cage,
    /// How far those of a rolling element's spin stand beside them.
    pub spin: Option<Spin>,
}

/// Highest frequency of an envelope spectrum that is looked at, Hz: four harmonics of the fastest
/// defect line and its sidebands.
pub fn limit_hz(request: &Request, speed: Rpm) -> f64 {
    let orders = &request.orders;
    let most = orders.bpfi.get().max(orders.bpfo.get()).max(2.0 * orders.bsf.get());
    (4.3 * most + 3.0) * speed.shaft_hz()
}

/// Takes both looks at the random part, in the whole band.
pub fn looks(
    random: &RecordLines,
    request: &Request,
    speed: Rpm,
    transforms: &mut Transforms,
) -> Vec<Look> {
    let Some(band) = whole_band(random.rate_hz) else { return Vec::new() };
    let (shaft_hz, limit_hz) = (speed.shaft_hz(), limit_hz(request, speed));
    [random, &prewhiten(random)]
        .into_iter()
        .filter_map(|lines| {
            let envelope = squared_envelope(lines, band, transforms);
            if envelope.values.is_empty() {
                return None;
            }
            let spectrum = envelope_spectrum(&envelope, limit_hz, transforms);
            let cage = cage::standing(&spectrum, shaft_hz, request);
            let spin = spin::standing(&spectrum, shaft_hz, request, cage);
            Some(Look { cage, spin })
        })
        .collect()
}

/// Returns the band from 0 to the Nyquist frequency.
pub fn whole_band(rate_hz: f64) -> Option<Band> {
    Band::new(0.0, rate_hz / 2.0).ok()
}
