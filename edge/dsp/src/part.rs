//! The parts of a bearing that a record is asked about one beside the other, and values by part.
//!
//! The cage is no [`Part`]: its lines are sidebands of the others' as often as its own, so
//! the diagnosis judges it apart. Invariant: a [`PerPart`] holds one value for each part.

use std::ops::{Index, IndexMut};

use pdm_shared::fault::Fault;

/// A part with lines of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// Outer race: lines at BPFO.
    OuterRace,
    /// Inner race: lines at BPFI, modulated by the shaft.
    InnerRace,
    /// Rolling element: lines at twice BSF, modulated by the cage.
    Ball,
}

impl Part {
    /// All parts.
    pub const ALL: [Self; 3] = [Self::OuterRace, Self::InnerRace, Self::Ball];

    /// The fault that damage of this part is.
    ///
    /// ```
    /// # use pdm_dsp::part::Part;
    /// # use pdm_dsp::Fault;
    /// assert_eq!(Part::Ball.fault(), Fault::Ball);
    /// ```
    pub const fn fault(self) -> Fault {
        match self {
            Self::OuterRace => Fault::OuterRace,
            Self::InnerRace => Fault::InnerRace,
            Self::Ball => Fault::Ball,
        }
    }

    /// The part of a fault; `None` for the cage.
    pub const fn of(fault: Fault) -> Option<Self> {
        match fault {
            Fault::OuterRace => Some(Self::OuterRace),
            Fault::InnerRace => Some(Self::InnerRace),
            Fault::Ball => Some(Self::Ball),
            Fault::Cage => None,
        }
    }
}

/// One value for each part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PerPart<T> {
    /// The value of the outer race.
    pub outer_race: T,
    /// The value of the inner race.
    pub inner_race: T,
    /// The value of the rolling elements.
    pub ball: T,
}

impl<T> PerPart<T> {
    /// The values that `value` gives for each part.
    ///
    /// ```
    /// # use pdm_dsp::part::{Part, PerPart};
    /// let count = PerPart::from_fn(|part| part.fault().as_str().len());
    /// assert_eq!(count[Part::Ball], 4);
    /// ```
    pub fn from_fn(mut value: impl FnMut(Part) -> T) -> Self {
        Self {
            outer_race: value(Part::OuterRace),
            inner_race: value(Part::InnerRace),
            ball: value(Part::Ball),
        }
    }

    /// Parts with their values.
    pub fn iter(&self) -> impl Iterator<Item = (Part, &T)> {
        Part::ALL.into_iter().map(|part| (part, &self[part]))
    }
}

impl PerPart<f64> {
    /// Parts by falling value.
    ///
    /// ```
    /// # use pdm_dsp::part::{Part, PerPart};
    /// let levels = PerPart { outer_race: 1.0, inner_race: 3.0, ball: 2.0 };
    /// assert_eq!(levels.ranked(), [Part::InnerRace, Part::Ball, Part::OuterRace]);
    /// ```
    pub fn ranked(&self) -> [Part; 3] {
        let mut parts = Part::ALL;
        parts.sort_by(|a, b| self[*b].total_cmp(&self[*a]));
        parts
    }
}

impl<T> Index<Part> for PerPart<T> {
    type Output = T;

    fn index(&self, part: Part) -> &T {
        match part {
            Part::OuterRace => &self.outer_race,
            Part::InnerRace => &self.inner_race,
            Part::Ball => &self.ball,
        }
    }
}

impl<T> IndexMut<Part> for PerPart<T> {
    fn index_mut(&mut self, part: Part) -> &mut T {
        match part {
            Part::OuterRace => &mut self.outer_race,
            Part::InnerRace => &mut self.inner_race,
            Part::Ball => &mut self.ball,
        }
    }
}
