//! Evaluation zones of the velocity RMS: the limits between A, B, C and D, mm/s.
//!
//! The published copies of ISO 10816-3 / 20816-3 disagree, so the limits are configuration. The
//! built-in groups are those of the most frequent copy (ISO 20816-3:2022 groups 1 and 2, rigid and
//! flexible support), as stated by two independent stored copies of the table.

use pdm_shared::event::IsoZone;

/// The limits A/B, B/C and C/D of a group of machines.
#[derive(Debug, Clone, PartialEq)]
pub struct ZoneTable {
    /// Name of the table in a verdict, such as `ISO 20816-3 group 2 rigid`.
    pub name: String,
    limits_mm_s: [f64; 3],
}

impl ZoneTable {
    /// Built-in machine groups: name in the configuration, title, limits.
    pub const GROUPS: [(&'static str, &'static str, [f64; 3]); 4] = [
        ("large_rigid", "ISO 20816-3 group 1 rigid", [2.3, 4.5, 7.1]),
        ("large_flexible", "ISO 20816-3 group 1 flexible", [3.5, 7.1, 11.0]),
        ("medium_rigid", "ISO 20816-3 group 2 rigid", [1.4, 2.8, 4.5]),
        ("medium_flexible", "ISO 20816-3 group 2 flexible", [2.3, 4.5, 7.1]),
    ];

    /// A table with configured limits.
    ///
    /// # Errors
    /// A text with the allowed limits, if the limits are not finite, above 0 and rising.
    pub fn new(name: impl Into<String>, limits_mm_s: [f64; 3]) -> Result<Self, String> {
        let [ab, bc, cd] = limits_mm_s;
        if ab.is_finite() && cd.is_finite() && 0.0 < ab && ab < bc && bc < cd {
            Ok(Self { name: name.into(), limits_mm_s })
        } else {
            Err("three rising limits above 0, mm/s".to_owned())
        }
    }

    /// The built-in table of a machine group.
    pub fn of_group(group: &str) -> Option<Self> {
        let (_, title, limits_mm_s) = Self::GROUPS.into_iter().find(|(name, ..)| *name == group)?;
        Some(Self { name: title.to_owned(), limits_mm_s })
    }

    /// Limits A/B, B/C and C/D, mm/s.
    pub const fn limits_mm_s(&self) -> [f64; 3] {
        self.limits_mm_s
    }

    /// The zone of a velocity RMS, mm/s.
    pub fn zone(&self, velocity_rms_mm_s: f64) -> IsoZone {
        let [ab, bc, cd] = self.limits_mm_s;
        match velocity_rms_mm_s {
            v if v <= ab => IsoZone::A,
            v if v <= bc => IsoZone::B,
            v if v <= cd => IsoZone::C,
            _ => IsoZone::D,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-EDGE-2.
    #[test]
    fn a_velocity_falls_into_the_zone_of_its_group() {
        let table = ZoneTable::of_group("medium_rigid").expect("built in");
        let zones = [1.0, 2.0, 4.0, 9.0].map(|velocity| table.zone(velocity));
        assert_eq!(zones, [IsoZone::A, IsoZone::B, IsoZone::C, IsoZone::D]);
    }

    #[test]
    fn limits_that_do_not_rise_are_no_table() {
        assert!(ZoneTable::new("own", [2.0, 1.0, 3.0]).is_err());
        assert!(ZoneTable::new("own", [f64::NAN, 1.0, 3.0]).is_err());
    }
}
