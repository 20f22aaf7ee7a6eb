//! Claims about the tuning: a machine has no part in what is tried on it, and nothing is proposed
//! that did not cost less on machines that were left out.

use pdm_shared::risk::RiskLevel;
use proptest::prelude::*;

use super::costs::SideCost;
use super::*;
use crate::backtest::tests::{hump, play, run_to_failure, truth};
use crate::backtest::{Side, Terms};

const PRICE: Price = Price { miss_cost: 20.0, lead_h: 168.0, horizon_days: 90.0 };

/// A plant of machines with a bearing that fails and one that is a little up for two days without
/// reason.
fn tuned(machines: usize, failing: usize, price: Price) -> Tuning {
    let tried = candidates(&Side::shipped(None));
    let sides = tried.iter().map(|one| one.side.clone()).collect();
    let terms = Terms { sides, acknowledged_after_s: None };
    let mut rows = String::new();
    let mut costs = Vec::new();
    let mut known = Vec::new();
    for number in 0..machines {
        let name = format!("P-{number}");
        let mut events = hump(&name, "NDE");
        rows += &["ulsan-1,", &name, ",NDE,\n"].concat();
        if number < failing {
            events.extend(run_to_failure(&name, "DE"));
            let last = events.last().expect("events").measured_at;
            rows += &["ulsan-1,", &name, ",DE,", &last.to_string(), "\n"].concat();
        }
        events.sort_by_key(|event| (event.measured_at, event.event_id));
        known.push(play(&terms, &events));
    }
    let truth = truth(&rows);
    for machine in &known {
        costs.extend(MachineCosts::of(machine, tried.len(), &truth, &price));
    }
    assert_eq!(costs.len(), machines, "the site of the example is the one of the rows");
    Tuning::of(&tried, costs, price, Vec::new())
}

#[test]
fn the_configuration_itself_is_tried_first_and_each_other_one_once() {
    let base = Side::shipped(None);
    let tried = candidates(&base);
    assert_eq!(tried[0].side, base);
    assert_eq!(tried[0].changes, []);
    assert!((30..120).contains(&tried.len()), "{}", tried.len());
    for (place, one) in tried.iter().enumerate().skip(1) {
        assert!(!one.changes.is_empty());
        assert_eq!(one.side.rules.check(), Ok(()));
        assert!(!tried[..place].iter().any(|other| other.side == one.side), "{:?}", one.changes);
    }
}

#[test]
fn telling_less_is_proposed_where_false_alarms_outweigh_the_lead_time_that_it_costs() {
    let tuning = tuned(9, 3, Price { miss_cost: 3.0, ..PRICE });
    assert_eq!(tuning.advice, Advice::Change, "{:?}", tuning.left_out);
    let proposed = &tuning.curve[tuning.proposed];
    assert!(proposed.false_episodes < tuning.curve[0].false_episodes, "{proposed:?}");
    assert_eq!(proposed.failures_not_told, 0, "{proposed:?}");
    assert!(tuning.cost_left_out < tuning.cost);
    assert!(tuning.changes.iter().any(|one| one.key == "notify.from"), "{:?}", tuning.changes);
}

#[test]
fn lead_time_that_is_worth_more_than_false_alarms_is_kept() {
    let tuning = tuned(9, 3, Price { miss_cost: 1e6, ..PRICE });
    let lead = |place: usize| tuning.curve[place].lead_share.expect("failures");
    assert!(lead(tuning.proposed) >= lead(0), "{:?}", tuning.changes);
    assert!(!tuning.changes.iter().any(|one| one.key == "notify.from"), "{:?}", tuning.changes);
}

#[test]
fn with_failures_on_two_machines_nothing_is_proposed() {
    let tuning = tuned(9, 2, PRICE);
    assert_eq!((tuning.advice, tuning.proposed), (Advice::CannotSay, 0));
    assert_eq!(tuning.changes, []);
    assert!(page::finding(&tuning).en.contains("2 machines have a known failure, 3 are needed"));
}

#[test]
fn a_page_of_each_language_shows_configuration_and_proposal() {
    let tuning = tuned(9, 3, Price { miss_cost: 3.0, ..PRICE });
    for language in [pdm_shared::text::Language::Ko, pdm_shared::text::Language::En] {
        let page =
            page::page(&tuning, pdm_shared::time::Timestamp::EPOCH, language).expect("a page");
        assert!(page.contains("shipped") && page.contains("notify.from"), "{page}");
    }
    let json = serde_json::to_value(&tuning).expect("JSON");
    assert_eq!(json["schema"], "pdm.tune/1");
    assert_eq!(json["advice"], "change");
}

#[test]
fn who_tells_warnings_alone_is_offered_watches_too() {
    let mut base = Side::shipped(None);
    base.notify.from = RiskLevel::Warning;
    let changes = candidates(&base).into_iter().flat_map(|one| one.changes);
    let mut of_level = changes.filter(|one| one.key == "notify.from");
    assert!(
        of_level.all(|one| (one.from.as_str(), one.to.as_str()) == ("\"Warning\"", "\"Watch\""))
    );
}

fn costs(machines: &[Vec<(u64, f64)>]) -> Vec<MachineCosts> {
    let one = |(number, sides): (usize, &Vec<(u64, f64)>)| MachineCosts {
        machine: crate::backtest::MachineKey {
            site: "s".parse().expect("a name"),
            equipment: format!("P-{number}").parse().expect("a name"),
        },
        bearing_years: 1.0,
        failures: 1,
        sides: sides
            .iter()
            .map(|(false_episodes, short_of_lead)| SideCost {
                false_episodes: *false_episodes,
                short_of_lead: *short_of_lead,
                ..SideCost::default()
            })
            .collect(),
    };
    machines.iter().enumerate().map(one).collect()
}

proptest! {
    #[test]
    fn what_a_machine_costs_has_no_part_in_what_is_tried_on_it(
        machines in prop::collection::vec(prop::collection::vec((0_u64..9, 0.0..1.0), 5), 3..8),
        other in prop::collection::vec((0_u64..9, 0.0..1.0), 5),
        place in 0_usize..3,
    ) {
        let tried: Vec<Candidate> = candidates(&Side::shipped(None)).into_iter().take(5).collect();
        let of = |machines: &[Vec<(u64, f64)>]| {
            Tuning::of(&tried, costs(machines), PRICE, Vec::new())
        };
        let before = of(&machines);
        let mut changed = machines.clone();
        changed[place] = other;
        let after = of(&changed);
        prop_assert_eq!(&before.left_out[place].changes, &after.left_out[place].changes);
        prop_assert!(before.advice != Advice::Change || before.cost_left_out < before.cost);
        prop_assert!(before.advice == Advice::Change || before.proposed == 0);
    }
}
