//! Requirements on the results of the runs to failure.

use std::path::PathBuf;

use super::*;

fn data(folder: &str, test: &str) -> Option<PathBuf> {
    let data = std::env::var_os("PDM_DATA_DIR").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"),
        PathBuf::from,
    );
    if data.join(folder).exists() {
        return Some(data.join(folder));
    }
    let why = format!("{} is absent", data.join(folder).display());
    assert!(std::env::var_os("PDM_REQUIRE_ALL").is_none_or(|v| v != "1"), "{test}: {why}");
    println!("NOT RUN: {test}: {why}");
    None
}

/// R-EDGE-6.
#[test]
fn femto_bearings_are_alarmed_for_good_before_their_ends() {
    let test = "femto_bearings_are_alarmed_for_good_before_their_ends";
    let Some(folder) = data("femto", test) else { return };
    let (outcomes, verdicts) = femto::outcomes(&folder).expect("reads");
    assert_eq!(outcomes.len(), 6);
    for outcome in &outcomes {
        assert!(outcome.lead_h.is_some(), "{outcome:?}");
    }
    assert_eq!(verdicts.len(), 3);
    for verdict in &verdicts {
        assert!(verdict.on_at_end && verdict.early == 0, "{verdict:?}");
        assert!(verdict.groundless <= 0.02, "{verdict:?}");
    }
}

/// R-EDGE-8.
#[test]
fn intervals_of_simulated_lives_hold_the_truth_as_often_as_they_say() {
    let outcomes: Vec<RunOutcome> = (0..40).map(simulated::outcome).collect();
    let told: usize = outcomes.iter().map(|outcome| outcome.told).sum();
    let covered: usize = outcomes.iter().map(|outcome| outcome.covered).sum();
    assert!(told > 1000 && covered * 10 >= told * 8, "{covered} of {told}");
    let asked = outcomes.iter().filter_map(|o| o.rul).filter(|rul| rul.told_h.is_some());
    let (ours, naive) = asked.fold((0.0, 0.0), |sum, rul| (sum.0 + rul.score, sum.1 + rul.naive));
    assert!(ours > naive, "PHM 2012 score {ours}, \"0.2 × age\" {naive}");
}

#[test]
fn the_challenge_score_is_one_when_right_and_worse_when_late() {
    assert!((phm_2012(100.0, 100.0) - 1.0).abs() < 1e-12);
    assert!((phm_2012(100.0, 80.0) - 0.5).abs() < 1e-12);
    assert!((phm_2012(100.0, 105.0) - 0.5).abs() < 1e-12);
}

/// R-EDGE-8: the challenge asks for one life of each bearing, at one window. A life is told by the
/// bearing's own growth alone; where there is too little of it, none is told.
#[test]
fn the_bearing_of_the_challenge_is_told_better_than_by_its_age_or_not_at_all() {
    let test = "the_bearing_of_the_challenge_is_told_better_than_by_its_age_or_not_at_all";
    let Some(folder) = data("femto", test) else { return };
    let (outcomes, _) = femto::outcomes(&folder).expect("reads");
    let bearings = score::by_bearing(&outcomes);
    assert_eq!(bearings.keys().copied().collect::<Vec<_>>(), ["FEMTO Bearing2_4"]);
    for (bearing, rul) in bearings {
        assert!(rul.told_h.is_none() || rul.score > rul.naive, "{bearing}: {rul:?}");
    }
}

#[test]
fn of_two_points_the_one_with_the_earlier_bound_speaks_for_the_bearing() {
    let life = |name: &str| Life {
        name: name.to_owned(),
        bearing: "bearing".to_owned(),
        period_h: 1.0,
        windows: 10,
        asked_at: None,
        fails: true,
        damaged_from: None,
    };
    let told = |name, told_h, low_h| {
        let rul = RulScore { left_h: 5.0, told_h, low_h, score: 0.5, naive: 0.1, damaged: true };
        RunOutcome { rul: Some(rul), ..score::score(&life(name), std::iter::empty()) }
    };
    let spoken = |points: &[RunOutcome]| score::by_bearing(points)["bearing"].told_h;
    let (early, late) = (told("a", Some(6.0), Some(2.0)), told("b", Some(4.0), Some(3.0)));
    let silent = told("c", None, None);
    assert_eq!(spoken(&[silent.clone(), late.clone(), early]), Some(6.0));
    assert_eq!(spoken(&[late, silent.clone()]), Some(4.0));
    assert_eq!(spoken(&[silent]), None);
}
