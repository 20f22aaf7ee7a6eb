//! A physical model of a failing bearing as a [`Source`].
//!
//! Acceleration at the housing = shaft harmonics + random background + an electrical tone + the
//! ringing of the structure's resonances under the impacts of a defect. The impacts come at random
//! angular periods around the defect order (slip), weighted by the load on the element that
//! strikes; growing damage adds broadband noise that pulses with the defect. Source: McFadden &
//! Smith 1984, doi:10.1016/0022-460X(84)90595-9 (impacts, load zone); Antoni & Randall 2003,
//! doi:10.1115/1.1569940 (random periods, cyclostationary noise of extended spalls).
//!
//! Invariants: the same settings give the same samples; a block depends on its index alone, so a
//! source can start at any block without computing the blocks before.

use ndarray::Array2;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::{Block, BlockRate, Source, SourceError, SourceFormat};

mod damage;
mod impacts;
mod resonance;
mod settings;
mod waveform;

pub use damage::Damage;
pub use settings::{Course, Rig, SimulatorError, SimulatorSettings};

/// The model as a source. Each block is a snapshot.
#[derive(Debug)]
pub struct Simulator {
    settings: SimulatorSettings,
    format: SourceFormat,
    samples: usize,
    next_index: u64,
}

impl Simulator {
    /// Checks the settings and makes the source.
    ///
    /// # Errors
    /// [`SimulatorError`] with the setting and its allowed values.
    pub fn new(settings: SimulatorSettings) -> Result<Self, SimulatorError> {
        let samples = settings.checked_samples()?;
        let format = SourceFormat {
            channels: settings.channels,
            sample_rate: settings.sample_rate,
            block_samples: Some(samples),
        };
        Ok(Self { settings, format, samples, next_index: 0 })
    }

    /// Returns the true damage in a snapshot; no damage where no element fails.
    pub fn damage_at(&self, index: u64) -> Damage {
        match self.settings.fault {
            None => Damage { severity: 0.0 },
            Some(_element) => self.settings.course.damage_at(index, self.settings.snapshots),
        }
    }

    /// The snapshot `index`.
    fn block(&self, index: u64) -> Block {
        let mut rng = ChaCha8Rng::seed_from_u64(self.settings.seed);
        // a random stream of its own for every snapshot, so that none depends on those before
        rng.set_stream(index.wrapping_add(1));
        let damage = self.damage_at(index);
        let mut accel_m_s2 = Array2::zeros((self.settings.channels, self.samples));
        waveform::fill(&self.settings, damage, &mut rng, &mut accel_m_s2);
        let after_s = self.settings.period_s * index as f64;
        let started_at = self.settings.started_at.map(|at| at.plus_seconds(after_s));
        Block {
            index,
            started_at,
            follows_on: false,
            rate: BlockRate::Format,
            input: None,
            values: None,
            accel_m_s2,
        }
    }
}

impl Source for Simulator {
    fn format(&self) -> &SourceFormat {
        &self.format
    }

    fn next_block(&mut self) -> Result<Option<Block>, SourceError> {
        if self.next_index >= self.settings.snapshots {
            return Ok(None);
        }
        let block = self.block(self.next_index);
        self.next_index += 1;
        Ok(Some(block))
    }

    fn skip_blocks(&mut self, count: u64) -> Result<u64, SourceError> {
        let skipped = count.min(self.settings.snapshots - self.next_index);
        self.next_index += skipped;
        Ok(skipped)
    }

    fn expected_blocks(&self) -> Option<u64> {
        Some(self.settings.snapshots)
    }
}

#[cfg(test)]
mod tests;
