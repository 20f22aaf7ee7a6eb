//! Damage that goes on within a level: what staff hears of it, and what not.

use pdm_shared::fault::Fault;
use proptest::prelude::*;

use super::*;

const UNNAMED: Finding = Finding { stage: 1, fault: None, is_urgent: false };

fn stage(stage: u8) -> Finding {
    Finding { stage, ..UNNAMED }
}

/// R-AGENT-10
#[test]
fn a_higher_stage_a_named_element_and_hurried_parts_are_told_once_each() {
    let mut bench = Bench::new();
    assert_eq!(bench.found(Warning, UNNAMED), Some(Tell::Raised(Warning)));
    assert_eq!(bench.found(Warning, UNNAMED), None, "the same again");
    assert_eq!(bench.found(Warning, stage(3)), Some(Tell::Developed(Warning)));
    assert_eq!(bench.found(Warning, stage(2)), None, "a stage that falls is told nobody");
    assert_eq!(bench.found(Warning, stage(3)), None, "once");
    let cage = Finding { fault: Some(Fault::Cage), ..stage(3) };
    assert_eq!(bench.found(Warning, cage), Some(Tell::Developed(Warning)));
    for _ in 0..100 {
        assert_eq!(bench.found(Warning, UNNAMED), None);
        assert_eq!(bench.found(Warning, cage), None);
    }
    let hurried = Finding { is_urgent: true, ..cage };
    assert_eq!(bench.found(Warning, hurried), None, "twice in this day already");
    for _ in 0..300 {
        bench.found(Warning, hurried);
    }
    let developed = bench.tells().iter().filter(|tell| **tell == Tell::Developed(Warning)).count();
    assert_eq!(developed, 3, "told when the day is over, since it stands");
}

#[test]
fn what_comes_with_a_level_is_not_told_again_and_critical_says_it_all() {
    let mut bench = Bench::new();
    bench.found(Watch, UNNAMED);
    let named = Finding { fault: Some(Fault::OuterRace), ..stage(2) };
    assert_eq!(bench.found(Warning, named), Some(Tell::Raised(Warning)));
    assert_eq!(bench.found(Warning, named), None);
    assert_eq!(bench.found(Critical, stage(3)), Some(Tell::Raised(Critical)));
    assert_eq!(bench.found(Critical, stage(4)), None);
}

/// Somebody who has acknowledged Warning has not seen its stage 3; his acknowledgement of the level
/// stands.
#[test]
fn an_acknowledgement_of_a_level_does_not_hide_that_its_damage_goes_on() {
    let mut bench = Bench::new();
    bench.found(Warning, UNNAMED);
    bench.acknowledge();
    assert_eq!(bench.found(Warning, stage(3)), Some(Tell::Developed(Warning)));
    assert_eq!(bench.state(), EpisodeState::AcknowledgedActive);
}

#[test]
fn on_a_shelf_it_waits_for_the_end_of_the_shelf() {
    let mut bench = Bench::new();
    bench.found(Warning, UNNAMED);
    bench.shelve(1.0);
    for _ in 0..11 {
        assert_eq!(bench.found(Warning, stage(3)), None);
    }
    bench.window += 2;
    bench.end_shelf();
    assert_eq!(bench.found(Warning, stage(3)), Some(Tell::Developed(Warning)));
}

/// The damage that an earlier version told is not known, so nobody is told of all open episodes at
/// once.
#[test]
fn an_episode_of_an_earlier_version_counts_what_stands_as_told() {
    let mut bench = Bench::new();
    bench.found(Warning, UNNAMED);
    let course = &mut bench.episode.as_mut().expect("one").course;
    course.told_finding = None;
    assert_eq!(bench.found(Warning, stage(2)), None);
    assert_eq!(bench.found(Warning, stage(2)), None);
    assert_eq!(bench.found(Warning, stage(3)), Some(Tell::Developed(Warning)));
}

fn finding() -> impl Strategy<Value = Finding> {
    let faults =
        vec![None, None, Some(Fault::OuterRace), Some(Fault::InnerRace), Some(Fault::Cage)];
    (0_u8..5, prop::sample::select(faults), any::<bool>())
        .prop_map(|(stage, fault, is_urgent)| Finding { stage, fault, is_urgent })
}

fn level() -> impl Strategy<Value = RiskLevel> {
    prop::sample::select(vec![Normal, Watch, Watch, Warning, Warning, Critical])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Each window draws its level and its damage anew: staff hears each news of it once, at most
    /// twice in 24 hours, and never on a shelf.
    #[test]
    fn damage_is_told_at_most_twice_a_day_and_never_on_a_shelf(
        windows in prop::collection::vec((1_u32..40, level(), finding(), 0_u8..20), 1..60),
    ) {
        let mut bench = Bench::new();
        for (count, level, finding, act) in windows {
            if act == 0 {
                bench.shelve(2.0);
            } else if act == 1 {
                bench.acknowledge();
            }
            for _ in 0..count {
                bench.end_shelf();
                let before = bench.episode.clone();
                let told = bench.found(level, finding);
                let Some(Tell::Developed(at)) = told else { continue };
                let before = before.expect("told before");
                prop_assert!(!before.suppression.holds(bench.now()));
                prop_assert_eq!((Some(at), at), (before.course.told, level));
                let told_before = before.course.told_finding.unwrap_or_default();
                prop_assert!(told_before.is_exceeded_by(&finding));
                let after = bench.episode.as_ref().and_then(|one| one.course.told_finding.clone());
                prop_assert!(!after.unwrap_or_default().is_exceeded_by(&finding));
            }
        }
        let developed = bench.told.iter().filter(|(_, tell)| matches!(tell, Tell::Developed(_)));
        let by_episode: Vec<f64> = developed.map(|(minutes, _)| *minutes).collect();
        if bench.episodes.len() == 1 {
            for from in &by_episode {
                let day = by_episode.iter().filter(|at| (0.0..1440.0).contains(&(**at - from)));
                prop_assert!(day.count() <= 2, "{by_episode:?}");
            }
        }
    }
}
