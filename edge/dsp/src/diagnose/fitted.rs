//! The constants of the naming rule, printed by
//! `cargo run --release -p pdm-tests --bin fit -- names --data DIR --data DIR`.
//!
//! In a second a shaft turns too few times to resolve its lines as a whole recording does, and
//! chance levels differ with it: short records have a rule of their own, fitted on recordings cut
//! into windows of a second.

use super::rule::Rule;

/// Fitted on 326 channels of recordings and 589 generated records (304 adversaries, 285 simulated).
/// The figure of each weight: [`super::figures::NAMES`].
pub const FITTED: Rule = Rule {
    weights: [0.3223, 0.3021, 0.1192, 0.1723],
    offset: -3.2736,
    threshold: 1.1165,
    // 0.3 units above the strongest sound record that shows the stated speed (a generated one)
    damaged_from: 1.09,
    slope: 1.05,
};

/// Fitted on 1074 windows of a second of the same recordings (16 turns at least, six of a recording
/// at most) and on the first second of the same generated records.
pub const FITTED_SHORT: Rule = Rule {
    weights: [0.2836, 0.2744, 0.1525, 0.2424],
    offset: -2.7004,
    threshold: 0.6011,
    // off: what `fit` prints for windows of a second has not been judged on bearings left out
    damaged_from: f64::INFINITY,
    slope: 1.20,
};

/// Shaft turns below which a record is short (chosen: a second of a shaft of 2700 rpm; whole
/// recordings have 51 turns and more, but for the snapshots of a second of NASA/IMS).
pub const SHORT_TURNS: f64 = 45.0;

/// Returns the rule for a record with `turns` shaft turns.
pub const fn fitted(turns: f64) -> Rule {
    if turns < SHORT_TURNS { FITTED_SHORT } else { FITTED }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::figures::{Evidence, Figures};
    use crate::part::{Part, PerPart};

    /// Figures of a family that a whole recording asks more of than a window of a second.
    #[test]
    fn a_second_of_a_plain_family_is_named_where_a_recording_needs_more() {
        let figures = Figures {
            excess: 2.2,
            excess_whole: 3.0,
            height_db: 14.5,
            lead: 2.2,
            own_db: 8.0,
            off_whole: 1.0,
            ..Figures::default()
        };
        let parts = PerPart { inner_race: figures, ..PerPart::default() };
        let evidence = Evidence { parts, ..Evidence::default() };
        let named = |turns: f64| fitted(turns).name(&evidence).map(|(part, _)| part);
        assert_eq!((named(30.0), named(300.0)), (Some(Part::InnerRace), None));
        assert_eq!(fitted(30.0).name(&Evidence::default()), None);
    }
}
