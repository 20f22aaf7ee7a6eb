//! Keeps the lines that stood in the envelope spectra of a measuring point from the first day.
//!
//! While the baseline is learnt, each thorough look leaves its [`Past`]: for every spectrum the
//! standing lines on the order axis, the level of each part's comb and of the cage's, and the
//! speed. Later looks are compared with the mean of them: the level that stood already is taken off
//! each line, except for a rest that every line keeps ([`LEFT_DB`]), before combs are read.
//! Invariants: a past never holds a line that its first look did not show, so it can only fall
//! while it is learnt; its bytes stay below [`MOST_BYTES`].

use pdm_shared::fault::Fault;

use super::spectra::{LogSpectrum, Slot};
use crate::part::PerPart;

mod bytes;

/// Level above the local floor from which a line is kept, and what is left of it when it is taken
/// off, dB. 6 dB is the change that Randall (Vibration-based Condition Monitoring, 2011) calls
/// significant; with 3 dB the folds of the recordings name the same.
const LEFT_DB: f64 = 6.0;
/// Most lines of a past; the highest are kept.
const MOST_LINES: usize = 5800;
/// Most bytes of a past.
pub const MOST_BYTES: usize = 18_500;
/// Bins of an order: half of what the finest spectra resolve.
const BINS: f64 = 200.0;
/// Steps of a kept level, dB.
const STEP_DB: f64 = 0.1;
/// The level above unrelated combs, in the mean of all spectra, from which the comb of a part is
/// said to have stood since commissioning, dB. Chosen: half of the excess that a named part has at
/// least.
const STOOD_DB: f64 = 3.0;

/// The spectra of one record, as it is and with its steady lines clipped.
pub(super) type BothSources<'a> = (&'a [LogSpectrum], &'a [LogSpectrum]);

/// The lines that stood in the looks at one measuring point in one operating state.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Past {
    looks: u32,
    /// Mean shaft frequency of the looks, Hz.
    shaft_hz: f64,
    /// Mean level of each part's comb above unrelated ones, dB.
    parts_db: PerPart<f64>,
    /// Mean level of the cage's comb above unrelated ones, dB.
    cage_db: f64,
    spectra: Vec<KeptSpectrum>,
}

/// The lines of one spectrum.
#[derive(Debug, Clone, PartialEq)]
struct KeptSpectrum {
    slot: Slot,
    is_clipped: bool,
    /// Orders that two lines must lie apart to be told from each other.
    resolution: f64,
    /// The lines by rising bin.
    lines: Vec<KeptLine>,
}

/// A line that stands: its place in bins of an order, and its level in steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct KeptLine {
    bin: u16,
    level: u8,
}

impl Past {
    /// Returns the past of one look.
    pub(super) fn of_look(
        (as_it_is, clipped): BothSources<'_>,
        (shaft_hz, turns): (f64, f64),
        (parts_db, cage_db): (PerPart<f64>, Option<f64>),
    ) -> Self {
        let kept = |spectra: &[LogSpectrum], is_clipped| -> Vec<KeptSpectrum> {
            let one = |spectrum| KeptSpectrum::new(spectrum, is_clipped, (shaft_hz, turns));
            spectra.iter().map(one).collect()
        };
        let spectra = [kept(as_it_is, false), kept(clipped, true)].concat();
        let cage_db = cage_db.unwrap_or(0.0);
        let mut past = Self { looks: 1, shaft_hz, parts_db, cage_db, spectra };
        past.keep_highest();
        past
    }

    /// The past of these looks and of one more.
    ///
    /// A line that the other look does not show counts with nothing there: what does not stand in
    /// most of the looks falls below what is kept, and is let go.
    #[must_use]
    pub fn and(mut self, look: &Self) -> Self {
        if self.looks == 0 {
            return look.clone();
        }
        let (before, more) = (f64::from(self.looks), f64::from(look.looks.max(1)));
        let mean = |old: f64, new: f64| (before * old + more * new) / (before + more);
        for kept in &mut self.spectra {
            let other = look.spectrum(kept.slot, kept.is_clipped);
            let dense =
                other.map_or_else(Dense::default, |other| Dense::new(other, kept.resolution));
            for line in &mut kept.lines {
                let new = dense.level_db(usize::from(line.bin));
                line.level = steps(mean(f64::from(line.level) * STEP_DB, new));
            }
            kept.lines.retain(|line| f64::from(line.level) * STEP_DB >= LEFT_DB);
        }
        self.shaft_hz = mean(self.shaft_hz, look.shaft_hz);
        self.parts_db = PerPart::from_fn(|part| mean(self.parts_db[part], look.parts_db[part]));
        self.cage_db = mean(self.cage_db, look.cage_db);
        self.looks = self.looks.saturating_add(look.looks);
        self
    }

    /// Looks that it was learnt from.
    pub const fn looks(&self) -> u32 {
        self.looks
    }

    /// Mean shaft frequency of the looks, Hz.
    pub const fn shaft_hz(&self) -> f64 {
        self.shaft_hz
    }

    /// The elements whose combs stood above unrelated ones, with their levels, dB.
    pub fn standing(&self) -> Vec<(Fault, f64)> {
        let parts = self.parts_db.iter().map(|(part, db)| (part.fault(), *db));
        parts.chain([(Fault::Cage, self.cage_db)]).filter(|(_, db)| *db >= STOOD_DB).collect()
    }

    /// Returns how far the cage's comb stood above unrelated ones, dB; never below 0.
    pub const fn cage_db(&self) -> f64 {
        self.cage_db.max(0.0)
    }

    /// Takes the standing levels off the lines of a look.
    pub(super) fn take_off(&self, spectra: &mut [LogSpectrum], is_clipped: bool, shaft_hz: f64) {
        for spectrum in spectra {
            let Some(kept) = self.spectrum(spectrum.slot, is_clipped) else { continue };
            let dense = Dense::new(kept, kept.resolution);
            for (i, level) in spectrum.levels.iter_mut().enumerate() {
                let order = i as f64 * spectrum.df_hz / shaft_hz;
                let stood = dense.level_db((order * BINS).round() as usize);
                *level -= (stood - LEFT_DB).max(0.0);
            }
        }
    }

    fn spectrum(&self, slot: Slot, is_clipped: bool) -> Option<&KeptSpectrum> {
        self.spectra.iter().find(|kept| kept.slot == slot && kept.is_clipped == is_clipped)
    }

    /// Lets the lowest lines go where there are more than may be kept.
    fn keep_highest(&mut self) {
        let mut levels: Vec<u8> =
            self.spectra.iter().flat_map(|kept| kept.lines.iter().map(|line| line.level)).collect();
        let Some(surplus) = levels.len().checked_sub(MOST_LINES).filter(|surplus| *surplus > 0)
        else {
            return;
        };
        let (_, highest_gone, _) = levels.select_nth_unstable(surplus - 1);
        let highest_gone = *highest_gone;
        for kept in &mut self.spectra {
            kept.lines.retain(|line| line.level > highest_gone);
        }
    }
}

impl KeptSpectrum {
    fn new(spectrum: &LogSpectrum, is_clipped: bool, (shaft_hz, turns): (f64, f64)) -> Self {
        let mut lines: Vec<KeptLine> = Vec::new();
        for (i, level) in spectrum.levels.iter().enumerate().filter(|(_, db)| **db >= LEFT_DB) {
            let bin = (i as f64 * spectrum.df_hz / shaft_hz * BINS).round();
            let line = KeptLine { bin: bin.min(f64::from(u16::MAX)) as u16, level: steps(*level) };
            match lines.last_mut().filter(|last| last.bin == line.bin) {
                Some(last) => last.level = last.level.max(line.level),
                None => lines.push(line),
            }
        }
        let resolution = 1.0 / spectrum.block_turns.min(turns);
        Self { slot: spectrum.slot, is_clipped, resolution, lines }
    }
}

/// The lines of a spectrum by bin, each as wide as the resolution.
#[derive(Default)]
struct Dense(Vec<u8>);

impl Dense {
    fn new(kept: &KeptSpectrum, resolution: f64) -> Self {
        let reach = (resolution.max(kept.resolution) * BINS).ceil() as usize;
        let count = kept.lines.last().map_or(0, |line| usize::from(line.bin) + reach + 1);
        let mut levels = vec![0; count];
        for line in &kept.lines {
            let bin = usize::from(line.bin);
            for level in &mut levels[bin.saturating_sub(reach)..=bin + reach] {
                *level = line.level.max(*level);
            }
        }
        Self(levels)
    }

    fn level_db(&self, bin: usize) -> f64 {
        f64::from(self.0.get(bin).copied().unwrap_or(0)) * STEP_DB
    }
}

/// A level in steps.
fn steps(level_db: f64) -> u8 {
    (level_db / STEP_DB).round().clamp(0.0, f64::from(u8::MAX)) as u8
}

#[cfg(test)]
mod tests;
