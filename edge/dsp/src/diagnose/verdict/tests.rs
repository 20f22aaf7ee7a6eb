//! The verdict on figures that are given: the cage's lines with and without those of the spin.

use super::*;
use crate::diagnose::cage::Cage;

/// A whole-band look in which the cage's lines stand.
fn look(spin: Option<Spin>) -> Look {
    Look { cage: Cage { z: cage::STANDS + 1.0, order: 0.38 }, spin }
}

/// A spin that stands with a clear lead.
const SPIN: Option<Spin> =
    Some(Spin { z: spin::STANDS + 0.7, order: 3.92, rival: 2.0, line: 0.003 });

fn judged(evidence: &Evidence, looks: &[Look], cause: Option<ForeignCause>) -> Judged {
    judge(&Ranked::new(*evidence, looks, 300.0), cause, (300.0, 0.398))
}

/// Returns the evidence of an outer race that stands by `excess` units in all bands.
fn outer_race(excess: f64) -> Evidence {
    let figures = Figures {
        excess,
        excess_whole: 1.5 * excess,
        height_db: 20.0,
        lead: excess.min(3.0),
        own_db: 10.0,
        off_whole: 1.0,
        ..Figures::default()
    };
    Evidence { parts: PerPart { outer_race: figures, ..PerPart::default() }, ..Evidence::default() }
}

#[test]
fn the_cages_lines_alone_are_told_and_not_named() {
    let judged = judged(&Evidence::default(), &[look(None), look(None)], None);
    assert_eq!(judged.dominant, None);
    assert_eq!(judged.undetermined, Some(Undetermined::CageLines));
}

#[test]
fn the_spins_lines_beside_them_name_the_ball() {
    let judged = judged(&Evidence::default(), &[look(SPIN), look(SPIN)], None);
    assert_eq!(judged.dominant, Some(Fault::Ball));
    assert!(judged.confidence >= NAMING_CONFIDENCE);
    assert_eq!(judged.ranked.order_at(Part::Ball, 30.0), Some(3.92));
}

#[test]
fn a_spin_that_one_look_misses_names_nothing() {
    let judged = judged(&Evidence::default(), &[look(SPIN), look(None)], None);
    assert_eq!(judged.dominant, None);
}

#[test]
fn a_spin_that_something_else_explains_names_nothing() {
    let cause = ForeignCause::Mains(120.0);
    let judged = judged(&Evidence::default(), &[look(SPIN), look(SPIN)], Some(cause));
    assert_eq!(judged.dominant, None);
    let told = Undetermined::Foreign { candidate: Fault::Ball, cause };
    assert_eq!(judged.undetermined, Some(told));
}

/// Lines that are locked to the mains are no name, however plainly they stand.
#[test]
fn a_race_whose_lines_are_those_of_the_mains_is_not_named() {
    let cause = ForeignCause::Mains(120.0);
    let judged = judged(&outer_race(4.0), &[], Some(cause));
    assert_eq!(judged.dominant, None);
    assert!(judged.confidence < MENTION_CONFIDENCE);
    let told = Undetermined::Foreign { candidate: Fault::OuterRace, cause };
    assert_eq!((judged.undetermined, judged.damaged), (Some(told), None));
}

/// The race's own lines are named, so the cage's may come from the race.
#[test]
fn a_race_that_stands_is_named_beside_a_spin() {
    let judged = judged(&outer_race(4.0), &[look(SPIN), look(SPIN)], None);
    assert_eq!(judged.dominant, Some(Fault::OuterRace));
    assert_eq!(judged.ranked.spin, None);
}

#[test]
fn a_race_between_mention_and_name_is_told_as_weak_or_with_its_other_cause() {
    let at = |step: u32| outer_race(f64::from(step) / 50.0);
    let scored = |evidence: &Evidence| Ranked::new(*evidence, &[], 300.0).scores[Part::OuterRace];
    let between =
        |evidence: &Evidence| (MENTION_CONFIDENCE..NAMING_CONFIDENCE).contains(&scored(evidence));
    let weak = (0..200).map(at).find(between).expect("one between");
    let told = judged(&weak, &[], None);
    assert_eq!(told.dominant, None);
    assert!(matches!(
        told.undetermined,
        Some(Undetermined::Weak { candidate: Fault::OuterRace, .. })
    ));
    let cause = ForeignCause::Comb(18.0);
    let told = judged(&weak, &[], Some(cause));
    assert_eq!(
        told.undetermined,
        Some(Undetermined::Foreign { candidate: Fault::OuterRace, cause })
    );
}

#[test]
fn fewer_turns_than_needed_name_nothing() {
    let judged = judge(&Ranked::new(outer_race(4.0), &[], 14.0), None, (14.0, 0.398));
    assert_eq!(judged.dominant, None);
    assert_eq!(judged.undetermined, Some(Undetermined::TooFewTurns { turns: 14.0 }));
}

/// R-EDGE-4. A damaged rolling element passes the load zone once a turn of the cage.
#[test]
fn a_comb_of_the_cage_that_is_new_names_the_rolling_element() {
    let grown = Evidence { slow_db: Some(12.0), new_slow_db: Some(11.0), ..Evidence::default() };
    let told = judged(&grown, &[look(None), look(None)], None);
    assert_eq!((told.dominant, told.new_comb_db), (Some(Fault::Ball), Some(11.0)));
    assert!((told.confidence - COMB_CONFIDENCE).abs() < 1e-12);
    let stood = Evidence { new_slow_db: Some(1.0), ..grown };
    let told = judged(&stood, &[look(None), look(None)], None);
    assert_eq!((told.dominant, told.undetermined), (None, Some(Undetermined::CageLines)));
}

/// A comb that sound snapshots show by chance holds a name back, and is a word only where it does.
#[test]
fn a_speed_that_may_not_fit_is_said_where_it_holds_a_name_back() {
    let at = |excess: f64| Evidence { speed: SpeedFit::MayMisfit(12.0), ..outer_race(excess) };
    let told = judged(&at(4.0), &[], None);
    assert_eq!(told.dominant, None);
    assert_eq!(told.undetermined, Some(Undetermined::SpeedMisfit { shown_rpm: 720.0 }));
    assert_eq!(judged(&at(0.0), &[], None).undetermined, None);
}

/// The shaft turns at another speed than the stated one: whatever stands at the orders is no name.
#[test]
fn nothing_is_named_at_a_speed_that_does_not_fit() {
    let evidence = Evidence { speed: SpeedFit::Misfit(12.0), ..outer_race(4.0) };
    let judged = judged(&evidence, &[look(SPIN), look(SPIN)], None);
    assert_eq!((judged.dominant, judged.ranked.spin), (None, None));
    assert_eq!(judged.undetermined, Some(Undetermined::SpeedMisfit { shown_rpm: 720.0 }));
    assert!(judged.confidence <= MISFIT_CONFIDENCE);
}

/// Issue 35, point 4: damage is told with its two parts where none is named, at a speed that the
/// record shows, and not where another cause explains its lines.
#[test]
fn damage_whose_part_is_open_is_told_with_the_two_that_it_may_be() {
    let figures = |excess: f64| Figures {
        excess,
        excess_whole: 0.5,
        height_db: 8.0,
        own_db: 10.0,
        off_whole: 1.0,
        ..Figures::default()
    };
    let parts = PerPart { outer_race: figures(0.4), inner_race: figures(1.6), ball: figures(1.5) };
    let shown = Evidence { parts, speed: SpeedFit::Confirmed, ..Evidence::default() };
    let told = judged(&shown, &[], None);
    assert_eq!(told.dominant, None);
    assert_eq!(told.damaged, Some((Fault::InnerRace, Fault::Ball)));
    assert_eq!(judged(&shown, &[], Some(ForeignCause::Mains(100.0))).damaged, None);
    for speed in [SpeedFit::Open, SpeedFit::Other, SpeedFit::Misfit(12.0)] {
        assert_eq!(judged(&Evidence { speed, ..shown }, &[], None).damaged, None, "{speed:?}");
    }
    let named = Evidence { speed: SpeedFit::Confirmed, ..outer_race(4.0) };
    assert_eq!(judged(&named, &[], None).damaged, None, "the part is not open");
}
