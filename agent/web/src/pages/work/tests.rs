//! Tests which work comes first, and which work is shown as one card.

use pdm_shared::text::Text;

use super::*;

fn at(seconds: f64) -> Timestamp {
    Timestamp::from_unix_ms(1_795_238_000_000).expect("in range").plus_seconds(seconds)
}

fn key(name: &str) -> BearingKey {
    BearingKey::parse("ulsan-1", name, "DE").expect("names")
}

fn action(name: &str, event: u128, number: u32, due_s: Option<f64>) -> WorkRow {
    WorkRow {
        event_id: EventId(Uuid::from_u128(event)),
        number,
        key: key(name),
        action: Text::new("정지하고 교체", "Stop and replace"),
        asked_at: at(0.0),
        due_at: due_s.map(at),
        work_order: Some("WO-20261125-000000000001".to_owned()),
        state: FollowUpState::Open,
        by: None,
        at: None,
        note: None,
        repaired: false,
        found: None,
    }
}

fn bearing(name: &str, risk: RiskLevel) -> BearingRow {
    BearingRow {
        key: key(name),
        risk_level: risk,
        fault_stage: 4,
        fault_type: None,
        judged_at: at(0.0),
        event_id: None,
        measured_at: None,
        rul_low_hours: None,
        rul_median_hours: None,
        rul_high_hours: None,
        rul_hours: None,
        beat_s: None,
        blind: None,
        alarm: None,
        episode: None,
    }
}

/// Overdue Critical work, then by risk, then what is due first; actions of one judgement are one
/// card.
#[test]
fn the_urgent_comes_first_and_one_judgement_is_one_card() {
    let now = at(100.0);
    let list = [
        action("watch", 1, 1, Some(-5000.0)),
        action("critical-later", 2, 1, Some(5000.0)),
        action("warning-late", 3, 1, Some(50.0)),
        action("critical-late", 4, 1, None),
        action("critical-late", 4, 2, Some(50.0)),
        action("warning-endless", 5, 1, None),
        action("unknown", 6, 1, Some(0.0)),
    ];
    let fleet = [
        bearing("watch", RiskLevel::Watch),
        bearing("critical-later", RiskLevel::Critical),
        bearing("warning-late", RiskLevel::Warning),
        bearing("critical-late", RiskLevel::Critical),
        bearing("warning-endless", RiskLevel::Warning),
    ];
    let of_key: HashMap<&BearingKey, &BearingRow> =
        fleet.iter().map(|row| (&row.key, row)).collect();
    let mut cards = cards(&list, &of_key, now);
    cards.sort_by_cached_key(Card::urgency);
    let order: Vec<&str> = cards.iter().map(|card| card.key.equipment.as_str()).collect();
    let expected =
        ["critical-late", "critical-later", "warning-late", "warning-endless", "watch", "unknown"];
    assert_eq!(order, expected);
    assert_eq!(cards[0].actions.len(), 2);
}

/// "Overdue" stood beside "at once" as soon as a stop was ordered.
#[test]
fn work_that_is_due_at_its_asking_is_told_as_at_once() {
    let fleet = HashMap::new();
    for (due_s, at_once) in [(Some(0.0), true), (Some(50.0), false), (None, false)] {
        let list = [action("pump", 1, 1, due_s)];
        let cards = cards(&list, &fleet, at(100.0));
        assert_eq!(cards[0].is_at_once(), at_once, "{due_s:?}");
    }
}

/// A filter stays in the address that a form brings a person back to.
#[test]
fn filters_stay_in_the_address() {
    let asked =
        WorkPageAsked { q: "P 101".to_owned(), late: "yes".to_owned(), ..Default::default() };
    assert_eq!(asked.own_address(), "/work?q=P%20101&late=yes");
    assert_eq!(asked.address("Critical", ""), "/work?q=P%20101&risk=Critical");
    assert_eq!(WorkPageAsked::default().own_address(), "/work");
}
