//! The verdict on looks that are given: the cage's lines with and without those of the spin.

use super::*;
use crate::diagnose::cage::Cage;
use crate::diagnose::score::Standing;
use pdm_shared::units::Band;

/// A whole-band look in which the outer race stands `race` deviations out, beside the cage's lines.
fn look(race: f64, spin: Option<Spin>) -> Look {
    let standing = |z| Standing { z, order: 3.0 };
    Look {
        source: Source::White,
        kind: LookKind::FullWhole,
        band: Band::new(0.0, 6000.0).expect("a band"),
        standings: PerPart::from_fn(|part| {
            standing(if part == Part::OuterRace { race } else { -1.0 })
        }),
        cage: Some(Cage { z: cage::STANDS + 1.0, order: 0.38 }),
        spin,
    }
}

/// A spin that stands with a clear lead.
const SPIN: Option<Spin> =
    Some(Spin { z: spin::STANDS + 0.7, order: 3.92, rival: 2.0, line: 0.003 });

fn judged(looks: &[Look], cause: Option<ForeignCause>) -> Judged {
    judge(&rank(looks, &[]), cause, 300.0)
}

#[test]
fn the_cages_lines_alone_are_told_and_not_named() {
    let judged = judged(&[look(0.0, None), look(0.0, None)], None);
    assert_eq!(judged.dominant, None);
    assert_eq!(judged.undetermined, Some(Undetermined::CageLines));
}

#[test]
fn the_spins_lines_beside_them_name_the_ball() {
    let looks = [look(0.0, SPIN), look(0.0, SPIN)];
    let judged = judged(&looks, None);
    assert_eq!(judged.dominant, Some(Fault::Ball));
    assert!(judged.confidence >= NAMING_CONFIDENCE);
    assert_eq!(rank(&looks, &[]).own_order(Part::Ball), Some(3.92));
}

#[test]
fn a_spin_that_one_look_misses_names_nothing() {
    let judged = judged(&[look(0.0, SPIN), look(0.0, None)], None);
    assert_eq!(judged.dominant, None);
}

#[test]
fn a_spin_that_something_else_explains_names_nothing() {
    let cause = ForeignCause::Mains(120.0);
    let judged = judged(&[look(0.0, SPIN), look(0.0, SPIN)], Some(cause));
    assert_eq!(judged.dominant, None);
    let told = Undetermined::Foreign { candidate: Fault::Ball, cause };
    assert_eq!(judged.undetermined, Some(told));
}

/// The race's own lines are worth mentioning, so the cage's may come from the race.
#[test]
fn a_spin_beside_a_race_names_nothing() {
    let strong = 8.0;
    let ranked = rank(&[look(strong, SPIN), look(strong, SPIN)], &[]);
    assert_eq!(ranked.order[0], Part::OuterRace);
    assert!(ranked.evidence[Part::OuterRace] >= MENTION_SCORE, "{ranked:?}");
    assert_eq!(ranked.spin, None);
}
