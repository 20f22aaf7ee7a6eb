//! Many looks at the same record: which bands, as it is or pre-whitened, whole-record or averaged.
//!
//! No single band or resolution shows every fault. Each look is an envelope spectrum that
//! [`super::score`] judges on its own; [`super::verdict`] weighs them together. They are taken from
//! the random part ([`crate::separate`]); the record with its discrete lines is looked at only to
//! tell what those would have named ([`raw_looks`]).

use pdm_shared::units::{Band, Rpm};

use super::cage::{self, Cage};
use super::score::{Standings, standings};
use super::spin::{self, Spin};
use super::{Request, pooled};
use crate::cepstrum::prewhiten;
use crate::envelope::{RecordLines, averaged_envelope_spectrum, squared_envelope};
use crate::transform::Transforms;

/// Shaft turns in one block of the averaged spectrum (chosen: resolves 0.02 orders).
pub const BLOCK_TURNS: f64 = 50.0;

/// The signal that a look is taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The record as it is, discrete lines included.
    Raw,
    /// The random part of the record.
    Random,
    /// The random part pre-whitened.
    White,
}

/// How the look's band was chosen and its spectrum taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookKind {
    /// The whole band, whole-record resolution.
    FullWhole,
    /// The whole band, averaged.
    FullAveraged,
    /// One of the bank of half-overlapping bands, averaged.
    Bank,
    /// The logarithmic envelopes of the bank's narrow bands together, averaged.
    Pooled,
}

/// One look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// Raw or white.
    pub source: Source,
    /// Which kind.
    pub kind: LookKind,
    /// The band.
    pub band: Band,
    /// The findings of the look.
    pub standings: Standings,
    /// How far the cage's lines stand, where the look can tell.
    pub cage: Option<Cage>,
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

/// Takes all looks at the random part.
pub fn looks(
    random: &RecordLines,
    request: &Request,
    speed: Rpm,
    transforms: &mut Transforms,
) -> Vec<Look> {
    let white = prewhiten(random);
    let mut taker = Taker { request, speed, transforms, looks: Vec::new() };
    let nyquist = random.rate_hz / 2.0;
    let bands = request.envelope_band.map_or_else(|| bank(nyquist, speed), |band| vec![band]);
    for (source, lines) in [(Source::Random, random), (Source::White, &white)] {
        if let Ok(full) = Band::new(0.0, nyquist) {
            taker.take(lines, source, LookKind::FullWhole, full);
            taker.take(lines, source, LookKind::FullAveraged, full);
        }
        for band in &bands {
            taker.take(lines, source, LookKind::Bank, *band);
        }
        taker.pool(lines, source, &bands);
    }
    taker.looks
}

/// Looks at the record with its discrete lines, in the bank of bands.
pub fn raw_looks(
    record: &RecordLines,
    request: &Request,
    speed: Rpm,
    transforms: &mut Transforms,
) -> Vec<Look> {
    let mut taker = Taker { request, speed, transforms, looks: Vec::new() };
    let nyquist = record.rate_hz / 2.0;
    let bands = request.envelope_band.map_or_else(|| bank(nyquist, speed), |band| vec![band]);
    for band in bands {
        taker.take(record, Source::Raw, LookKind::Bank, band);
    }
    taker.looks
}

struct Taker<'a> {
    request: &'a Request,
    speed: Rpm,
    transforms: &'a mut Transforms,
    looks: Vec<Look>,
}

impl Taker<'_> {
    fn take(&mut self, record: &RecordLines, source: Source, kind: LookKind, band: Band) {
        let envelope = squared_envelope(record, band, self.transforms);
        if envelope.values.is_empty() {
            return;
        }
        let shaft_hz = self.speed.shaft_hz();
        let block_s =
            if kind == LookKind::FullWhole { f64::INFINITY } else { BLOCK_TURNS / shaft_hz };
        let limit = limit_hz(self.request, self.speed);
        let spectrum = averaged_envelope_spectrum(&envelope, block_s, limit, self.transforms);
        let standings = standings(&spectrum, shaft_hz, self.request);
        let cage = (kind == LookKind::FullWhole)
            .then(|| cage::standing(&spectrum, shaft_hz, self.request));
        let spin = cage.and_then(|cage| spin::standing(&spectrum, shaft_hz, self.request, cage));
        self.looks.push(Look { source, kind, band, standings, cage, spin });
    }

    fn pool(&mut self, lines: &RecordLines, source: Source, bands: &[Band]) {
        let widest = bands.iter().map(|band| band.width_hz()).fold(0.0, f64::max);
        let narrow: Vec<Band> =
            bands.iter().filter(|band| band.width_hz() < 0.7 * widest).copied().collect();
        let bands = if narrow.is_empty() { bands } else { &narrow };
        let shaft_hz = self.speed.shaft_hz();
        let (block_s, limit) = (BLOCK_TURNS / shaft_hz, limit_hz(self.request, self.speed));
        let spectrum = pooled::spectrum(lines, bands, shaft_hz, (block_s, limit), self.transforms);
        let standings = standings(&spectrum, shaft_hz, self.request);
        if let Some(band) = bands.first() {
            self.looks.push(Look {
                source,
                kind: LookKind::Pooled,
                band: *band,
                standings,
                cage: None,
                spin: None,
            });
        }
    }
}

/// Half-overlapping bands of a quarter and an eighth of the Nyquist frequency, from ten shaft
/// orders (at least 200 Hz) on.
pub fn bank(nyquist_hz: f64, speed: Rpm) -> Vec<Band> {
    let lowest = (10.0 * speed.shaft_hz()).max(200.0);
    [4_u32, 8]
        .iter()
        .flat_map(|&division| {
            let width = nyquist_hz / f64::from(division);
            (0..2 * division - 1).map(move |j| (f64::from(j) * width / 2.0, width))
        })
        .filter(|(low, width)| low + width >= lowest)
        .filter_map(|(low, width)| Band::new(low.max(lowest / 2.0), low + width).ok())
        .collect()
}
