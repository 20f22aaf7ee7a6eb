//! The four parts of a rolling bearing that can be named as faulty.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The element of the bearing that has the defect (ISO 13373-3 names defects by their frequency).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// Outer race, visible at BPFO.
    OuterRace,
    /// Inner race, visible at BPFI with sidebands of the shaft speed.
    InnerRace,
    /// Rolling element, visible at 2×BSF with sidebands of FTF.
    Ball,
    /// Cage, visible at FTF.
    Cage,
}

impl Fault {
    /// All four, in the order of the event's frequency block: BPFO, BPFI, BSF, FTF.
    pub const ALL: [Self; 4] = [Self::OuterRace, Self::InnerRace, Self::Ball, Self::Cage];

    /// The value on the wire: `outer_race`, `inner_race`, `ball`, `cage`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OuterRace => "outer_race",
            Self::InnerRace => "inner_race",
            Self::Ball => "ball",
            Self::Cage => "cage",
        }
    }

    /// The key of the event's frequency block that carries this fault: `bpfo`, `bpfi`, `bsf`,
    /// `ftf`.
    pub const fn frequency_key(self) -> &'static str {
        match self {
            Self::OuterRace => "bpfo",
            Self::InnerRace => "bpfi",
            Self::Ball => "bsf",
            Self::Cage => "ftf",
        }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
