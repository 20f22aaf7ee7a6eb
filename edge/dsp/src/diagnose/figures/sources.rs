//! The inputs of a record's figures: the record, the same without its steady lines, their spectra,
//! and the past with which it is compared.

use super::{LEAST_TEETH, Search, WHOLE_STATED, off_whole};
use crate::diagnose::Request;
use crate::diagnose::past::{BothSources, Past};
use crate::diagnose::spectra::{LogSpectrum, clip_lines, log_spectra};
use crate::diagnose::speed::Tried;
use crate::envelope::RecordLines;
use crate::separate::Separated;
use crate::transform::Transforms;

/// The record as it is and without its steady lines.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// Transform of the record.
    pub record: &'a RecordLines,
    /// The record taken apart into its steady lines and the rest.
    pub separated: &'a Separated,
}

impl Sources<'_> {
    /// Whether enough multiples of a defect frequency stand as steady lines that impacts made them,
    /// and no vanes or teeth, whose frequencies are whole multiples of the shaft's.
    fn has_impacts_without_slip(
        self,
        (tried_hz, stated_hz): (&[f64], f64),
        search: &Search,
        turns: f64,
    ) -> bool {
        let df = self.record.df_hz();
        let orders = &search.orders;
        tried_hz.iter().flat_map(|hz| orders.iter().map(move |(_, order)| order * hz)).any(|hz| {
            let reach = (search.tolerance * hz / df) as i32;
            (-reach..=reach)
                .map(|line| hz + f64::from(line) * df)
                .filter(|hz| off_whole(*hz, stated_hz, WHOLE_STATED, turns) >= 1.0)
                .any(|hz| self.separated.discrete_multiples(hz) >= LEAST_TEETH)
        })
    }
}

/// The past with which a record is compared.
#[derive(Debug, Clone, Copy)]
pub enum Against<'a> {
    /// Nothing: no past is known, and none is learnt.
    Nothing,
    /// No past; later records are to be compared with this one.
    Learning,
    /// The lines that stood while the baseline was learnt: they are taken off the lines of this
    /// record.
    Past(&'a Past),
}

/// The spectra of one record in which orders are searched for.
pub(super) struct Taken {
    pub(super) as_it_is: Vec<LogSpectrum>,
    pub(super) clipped: Vec<LogSpectrum>,
    /// The shaft frequency that their blocks were cut by, Hz, or a few percent from it the one that
    /// the envelope shows, and its turns in the record.
    pub(super) stated: (f64, f64),
}

impl Taken {
    /// The spectra of the record as it is and with its steady lines clipped.
    pub(super) fn new(
        sources: Sources<'_>,
        tried: &Tried,
        (request, search): (&Request, &Search),
        transforms: &mut Transforms,
    ) -> Self {
        let stated_hz = tried.hz.first().copied().unwrap_or_else(|| request.speed.shaft_hz());
        let turns = sources.record.samples as f64 / sources.record.rate_hz * stated_hz;
        let fastest = tried.hz.iter().copied().fold(stated_hz, f64::max);
        let limits = (stated_hz, (4.2 * search.most + 3.0) * fastest);
        let band = request.envelope_band;
        let as_it_is = log_spectra(sources.record, band, limits, transforms);
        let speeds = (tried.hz.as_slice(), stated_hz);
        let clipped = if sources.has_impacts_without_slip(speeds, search, turns) {
            as_it_is.clone()
        } else {
            log_spectra(&clip_lines(sources.record), band, limits, transforms)
        };
        Self { as_it_is, clipped, stated: (stated_hz, turns) }
    }

    /// Takes the first of these shaft frequencies for that of the record.
    pub(super) fn read_at(&mut self, tried: &Tried) {
        let (cut_hz, turns) = self.stated;
        let shaft_hz = tried.hz.first().copied().unwrap_or(cut_hz);
        self.stated = (shaft_hz, turns * shaft_hz / cut_hz);
    }

    pub(super) fn take_off(&mut self, past: &Past) {
        past.take_off(&mut self.as_it_is, false, self.stated.0);
        past.take_off(&mut self.clipped, true, self.stated.0);
    }

    pub(super) fn both(&self) -> BothSources<'_> {
        (&self.as_it_is, &self.clipped)
    }
}
