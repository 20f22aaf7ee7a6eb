//! The four parts of a rolling bearing that can be named as faulty.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::Text;

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

impl Fault {
    /// The element's name for people.
    pub fn name(self) -> Text {
        match self {
            Self::OuterRace => Text::new("외륜", "outer race"),
            Self::InnerRace => Text::new("내륜", "inner race"),
            Self::Ball => Text::new("전동체", "rolling element"),
            Self::Cage => Text::new("보지기", "cage"),
        }
    }
}

/// Returns the finding on a bearing at a stage, in a few words for a title. The same words stand in
/// a message and on a page, where they follow the bearing's stage.
pub fn finding_in_words(fault: Option<Fault>, stage: u8) -> Text {
    match (fault.map(Fault::name), stage) {
        (Some(name), 0) => Text::new(
            format!("베어링 {} 결함 의심", name.ko),
            format!("{} fault suspected", name.en),
        ),
        (Some(name), _) => Text::new(
            format!("베어링 {} 결함(P-F {stage}단계)", name.ko),
            format!("{} fault (P-F stage {stage})", name.en),
        ),
        (None, 0) => Text::new("진동 이상", "vibration anomaly"),
        (None, _) => Text::new(
            format!("베어링 이상, 부위 미특정(P-F {stage}단계)"),
            format!("bearing anomaly, element not named (P-F stage {stage})"),
        ),
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
