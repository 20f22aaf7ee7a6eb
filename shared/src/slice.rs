//! A slice of the machines of a plant: the archive and the back-test cut a year of events alike, so
//! that each job of an array takes the same machines in both.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Most slices: an array of jobs of the usual schedulers is no longer.
const MOST_SLICES: u64 = 10_000;

/// The k-th of n slices of the machines, by a hash of their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineSlice {
    /// Which one, from 1.
    pub number: u64,
    /// The number of slices.
    pub of: u64,
}

impl MachineSlice {
    /// Everything.
    pub const WHOLE: Self = Self { number: 1, of: 1 };

    /// Whether a machine belongs to the slice. `site` and `equipment` are as they stand in the
    /// events.
    pub fn holds(self, site: &str, equipment: &str) -> bool {
        if self.of == 1 {
            return true;
        }
        let digest = Sha256::digest(format!("{site}/{equipment}"));
        let first = digest.iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        first % self.of == self.number - 1
    }
}

impl fmt::Display for MachineSlice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.number, self.of)
    }
}

impl FromStr for MachineSlice {
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
                let holding: Vec<u64> = (1..=of)
                    .filter(|number| MachineSlice { number: *number, of }.holds("s", &name))
                    .collect();
                assert_eq!(holding.len(), 1, "{name} of {of}");
                counts[(holding[0] - 1) as usize] += 1;
            }
            assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
        }
    }

    /// The slices of an archive that was cut before are those of today.
    #[test]
    fn a_machine_stays_in_the_slice_that_it_was_in() {
        let slice_of =
            |name| (1..=7).find(|number| MachineSlice { number: *number, of: 7 }.holds("s", name));
        let slices = ["P-1", "P-2", "P-3", "P-4"].map(slice_of);
        assert_eq!(slices, [Some(6), Some(3), Some(1), Some(3)]);
    }

    #[test]
    fn a_slice_that_is_none_is_refused_by_its_words() {
        assert_eq!("2/7".parse(), Ok(MachineSlice { number: 2, of: 7 }));
        for wrong in ["0/7", "8/7", "7", "a/b", "1/0", "1/10001", "-1/2", "1/2/3"] {
            let told = wrong.parse::<MachineSlice>().expect_err("refused");
            assert!(told.contains(wrong), "{told}");
        }
    }
}
