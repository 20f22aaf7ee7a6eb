//! Names: a machine, the piece that is played by itself, and a slice of machines.

use std::fmt;
use std::str::FromStr;

use pdm_shared::event::Event;
use pdm_shared::id::{BearingKey, EquipmentId, SiteId};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Most slices: an array of jobs of the usual schedulers is no longer.
const MOST_SLICES: u64 = 10_000;

/// A machine of a site.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct MachineKey {
    /// The plant.
    pub(crate) site: SiteId,
    /// The machine.
    pub(crate) equipment: EquipmentId,
}

impl MachineKey {
    pub(crate) fn of(event: &Event) -> Self {
        Self { site: event.site.clone(), equipment: event.equipment_id.clone() }
    }
}

impl From<&BearingKey> for MachineKey {
    fn from(key: &BearingKey) -> Self {
        Self { site: key.site.clone(), equipment: key.equipment.clone() }
    }
}

impl fmt::Display for MachineKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.site, self.equipment)
    }
}

/// The k-th of n slices of the machines, by a hash of their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Slice {
    /// Which one, from 1.
    pub(crate) number: u64,
    /// The number of slices.
    pub(crate) of: u64,
}

impl Slice {
    /// Everything.
    pub(crate) const WHOLE: Self = Self { number: 1, of: 1 };

    /// Whether a machine belongs to the slice. `site` and `equipment` are as they stand in the
    /// events.
    pub(crate) fn holds(self, site: &str, equipment: &str) -> bool {
        if self.of == 1 {
            return true;
        }
        let digest: [u8; 32] = Sha256::digest(format!("{site}/{equipment}")).into();
        let mut first = [0; 8];
        first.copy_from_slice(&digest[..8]);
        u64::from_be_bytes(first) % self.of == self.number - 1
    }
}

impl fmt::Display for Slice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Slice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let allowed =
            || format!("{text:?} is no slice: K/N with K from 1 to N, N up to {MOST_SLICES}");
        let (number, of) = text.split_once('/').ok_or_else(allowed)?;
        let (Ok(number), Ok(of)) = (number.parse(), of.parse()) else { return Err(allowed()) };
        let is_right = (1..=of).contains(&number) && of <= MOST_SLICES;
        if is_right { Ok(Self { number, of }) } else { Err(allowed()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_machine_belongs_to_exactly_one_slice() {
        for of in [1, 2, 7] {
            let mut counts = vec![0; of as usize];
            for machine in 0..200 {
                let name = format!("P-{machine}");
                let holding =
                    (1..=of).filter(|number| Slice { number: *number, of }.holds("s", &name));
                let holding: Vec<u64> = holding.collect();
                assert_eq!(holding.len(), 1, "{name} of {of}");
                counts[(holding[0] - 1) as usize] += 1;
            }
            assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
        }
    }

    #[test]
    fn a_slice_that_is_none_is_refused_by_its_words() {
        assert_eq!("2/7".parse(), Ok(Slice { number: 2, of: 7 }));
        for wrong in ["0/7", "8/7", "7", "a/b", "1/0", "1/10001", "-1/2", "1/2/3"] {
            let told = wrong.parse::<Slice>().expect_err("refused");
            assert!(told.contains(wrong), "{told}");
        }
    }
}
