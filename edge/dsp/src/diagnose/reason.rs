//! The reasons why no fault is named although lines stand: a person reads them instead of a name.

use pdm_shared::fault::Fault;

use super::LEAST_TURNS;

/// Why no fault is named although one cannot be excluded.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Undetermined {
    /// The record holds too few shaft turns.
    TooFewTurns {
        /// Turns in the record.
        turns: f64,
    },
    /// The stated speed does not fit what the record shows.
    SpeedMisfit {
        /// The speed at which the lines of a shaft stand, rpm.
        shown_rpm: f64,
    },
    /// Lines stand out, but not enough to bet on.
    Weak {
        /// The leading candidate.
        candidate: Fault,
        /// The confidence of the candidate.
        confidence: f64,
    },
    /// Two parts explain the lines about equally well.
    Ambiguous {
        /// The leading candidate.
        first: Fault,
        /// The other.
        second: Fault,
    },
    /// The cage's lines stand out: its own damage, or that of a rolling element.
    CageLines,
    /// The lines can be explained by something else than the bearing.
    Foreign {
        /// The candidate that they would have named.
        candidate: Fault,
        /// The more likely cause.
        cause: ForeignCause,
    },
}

/// The other causes that can put a line at a defect frequency.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum ForeignCause {
    /// Mains frequency or its multiple, Hz.
    Mains(f64),
    /// A multiple of the shaft speed.
    ShaftHarmonic(u32),
    /// A multiple of the cage speed: every multiple stands, not only the race's.
    CageHarmonic(u32),
    /// A multiple of something that strikes this often, Hz: a belt, another shaft.
    Comb(f64),
    /// A line at a multiple of the defect frequency: neither the first nor the second stands.
    HigherHarmonicsOnly,
    /// Discrete lines of the acceleration spectrum that beat: without them nothing is left.
    DiscreteLines,
}

impl std::fmt::Display for ForeignCause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Mains(hz) => write!(f, "the mains frequency {hz:.0} Hz"),
            Self::ShaftHarmonic(n) => write!(f, "{n} times the shaft speed"),
            Self::CageHarmonic(n) => write!(f, "{n} times the cage speed: cage or rolling element"),
            Self::Comb(hz) => {
                write!(f, "something that strikes at {hz:.1} Hz, such as a belt or another shaft")
            }
            Self::HigherHarmonicsOnly => f.write_str(
                "a line at one of their multiples: neither the first nor the second stands",
            ),
            Self::DiscreteLines => f.write_str(
                "steady tones that beat (drive, gear, fan): nothing is left without them",
            ),
        }
    }
}

impl std::fmt::Display for Undetermined {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooFewTurns { turns } => {
                // rounded, 14.98 turns were "15.0, needs at least 15"
                let turns = (turns * 100.0).floor() / 100.0;
                write!(
                    f,
                    "the record holds {turns} shaft turns, a verdict needs at least \
                     {LEAST_TURNS:.0}"
                )
            }
            Self::SpeedMisfit { shown_rpm } => write!(
                f,
                "the stated speed does not fit: the lines of a shaft stand at {shown_rpm:.0} rpm, \
                 beyond the speed's tolerance; correct the speed or widen its tolerance"
            ),
            Self::Weak { candidate, confidence } => write!(
                f,
                "lines of {candidate} are seen, but confidence {confidence:.2} is too low to name \
                 it"
            ),
            Self::Ambiguous { first, second } => {
                write!(f, "{first} and {second} explain the lines about equally well")
            }
            Self::CageLines => f.write_str(
                "lines of the cage stand out: the cage or a rolling element may be damaged",
            ),
            Self::Foreign { candidate, cause } => {
                write!(f, "lines near those of {candidate} can be explained by {cause}")
            }
        }
    }
}
