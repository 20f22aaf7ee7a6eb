//! A past as bytes, three a line, and back.
//!
//! Invariant: bytes that are not those of a past give none, and never a panic.

use super::{KeptLine, KeptSpectrum, Past};
use crate::diagnose::spectra::Slot;
use crate::part::PerPart;

/// The form of the bytes.
const FORM: u8 = 1;
/// Most spectra of a past: thirty of each of two sources.
const MOST_SPECTRA: usize = 64;

impl Past {
    /// The past as bytes, at most [`super::MOST_BYTES`].
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![FORM];
        bytes.extend(self.looks.to_le_bytes());
        let parts = &self.parts_db;
        let figures = [self.shaft_hz, parts.outer_race, parts.inner_race, parts.ball, self.cage_db];
        bytes.extend(figures.iter().flat_map(|figure| figure.to_le_bytes()));
        for kept in &self.spectra {
            let Slot { division, index, is_fine } = kept.slot;
            let flags = u8::from(is_fine) | u8::from(kept.is_clipped) << 1;
            bytes.extend([division, index, flags]);
            bytes.extend(kept.resolution.to_le_bytes());
            bytes.extend((kept.lines.len() as u16).to_le_bytes());
            for line in &kept.lines {
                bytes.extend(line.bin.to_le_bytes());
                bytes.push(line.level);
            }
        }
        bytes
    }

    /// The past of these bytes; `None` if they are not those of a past.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut rest = Rest(bytes);
        if rest.next::<1>()? != [FORM] {
            return None;
        }
        let looks = u32::from_le_bytes(rest.next()?);
        let mut figure = || Some(f64::from_le_bytes(rest.next()?)).filter(|f| f.is_finite());
        let shaft_hz = figure().filter(|hz| *hz > 0.0)?;
        let (outer_race, inner_race, ball) = (figure()?, figure()?, figure()?);
        let cage_db = figure()?;
        let mut spectra = Vec::new();
        while !rest.0.is_empty() && spectra.len() < MOST_SPECTRA {
            spectra.push(rest.spectrum()?);
        }
        let parts_db = PerPart { outer_race, inner_race, ball };
        rest.0.is_empty().then_some(Self { looks, shaft_hz, parts_db, cage_db, spectra })
    }
}

/// Bytes that are still to be read.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn next<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, tail) = self.0.split_first_chunk::<N>()?;
        self.0 = tail;
        Some(*head)
    }

    fn spectrum(&mut self) -> Option<KeptSpectrum> {
        let [division, index, flags] = self.next()?;
        let resolution = f64::from_le_bytes(self.next()?);
        let is_sane = (0.0..=1.0).contains(&resolution);
        let count = u16::from_le_bytes(self.next()?);
        let mut lines: Vec<KeptLine> = Vec::with_capacity(usize::from(count).min(self.0.len() / 3));
        for _ in 0..count {
            let [low, high, level] = self.next()?;
            let line = KeptLine { bin: u16::from_le_bytes([low, high]), level };
            if lines.last().is_some_and(|last| last.bin >= line.bin) {
                return None;
            }
            lines.push(line);
        }
        let slot = Slot { division, index, is_fine: flags & 1 != 0 };
        let is_clipped = flags & 2 != 0;
        is_sane.then_some(KeptSpectrum { slot, is_clipped, resolution, lines })
    }
}
