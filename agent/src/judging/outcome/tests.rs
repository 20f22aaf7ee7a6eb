//! Tests of the results of a judgement.

use pdm_expert::grounding::Grounds;
use pdm_expert::research::Inquiry;
use pdm_expert::rules::Rules;
use pdm_shared::topic::Prefix;

use super::*;
use crate::notify::policy::{Followed, JudgedWindow, Policy};
use crate::settings::NotifySettings;

/// The work of a stop that was ordered anew was overdue from the time of the order before it.
#[test]
fn no_work_is_due_before_it_is_asked_for_and_a_time_ahead_is_kept() {
    let event: Event = serde_json::from_str(include_str!("../../../../config/examples/event.json"))
        .expect("event");
    let memory = Memory::default();
    let case = Case { event: &event, memory: &memory, now: event.measured_at };
    let mut diagnosis = pdm_expert::judge(&case, &Rules::default()).diagnosis;
    for (risk, before_s) in
        [(RiskLevel::Critical, -43.0), (RiskLevel::Warning, -86_400.0), (RiskLevel::Warning, 60.0)]
    {
        diagnosis.risk_level = risk;
        let first = asked_actions(&diagnosis, &Memory::default());
        let kept = diagnosis.judged_at.plus_seconds(before_s);
        let mut memory = Memory::default();
        note_work(&mut memory, &diagnosis, &first, false);
        memory.work.iter_mut().for_each(|work| work.due_at = Some(kept));
        let again = asked_actions(&diagnosis, &memory);
        let due: Vec<Timestamp> = again.iter().filter_map(|one| one.due_at).collect();
        let expected = kept.max(diagnosis.judged_at);
        assert!(due.len() == 2 && due.iter().all(|due| *due == expected), "{risk}: {due:?}");
    }
}

/// Every message of a plant whose clock is not UTC once told its times as unverified.
#[test]
fn times_of_the_plants_own_clock_are_grounded_and_another_time_is_not() {
    let event: Event = serde_json::from_str(include_str!("../../../../config/examples/event.json"))
        .expect("event");
    let (memory, inquiry) = (Memory::default(), Inquiry::default());
    let case = Case { event: &event, memory: &memory, now: event.measured_at };
    let judgement = pdm_expert::judge(&case, &Rules::default());
    let grounds = Grounds { event: &event, memory: &memory, inquiry: &inquiry };
    for name in ["Asia/Seoul", "America/Sao_Paulo", "Asia/Kolkata", "Europe/Berlin"] {
        let zone: Zone = serde_json::from_value(json!(name)).expect("a zone");
        let settings = NotifySettings { zone, ..NotifySettings::default() };
        let policy = Policy::new(settings, Prefix::default());
        let window = JudgedWindow {
            event: &event,
            judgement: &judgement,
            point: case.point(),
            is_repaired: false,
        };
        let told = policy.judged(&event.key(), &window, None, case.now);
        let Some(Followed::Told(mut told)) = told else { panic!("a Warning is told") };
        let since = zone.in_words(judgement.state.since.expect("a Warning has begun"));
        assert!(told.notification.body.en.contains(&since), "{}", told.notification.body.en);
        let mut sources = Sources::of(&judgement.diagnosis, &grounds);
        let kept = hold_to_sources(&mut told, &mut sources, &judgement, None, zone);
        assert_eq!(kept, Vec::<String>::new(), "{name}: {}", told.notification.body.en);
        told.notification.body.en.push_str(" Told at 2026-11-21 03:33.");
        let kept = hold_to_sources(&mut told, &mut sources, &judgement, None, zone);
        assert_eq!(kept, ["2026-11-21 03:33"], "{name}");
    }
}

/// R-AGENT-2: what staff is told leans on the judgement's sources, on every way it leaves by.
#[test]
fn a_figure_without_a_source_is_withheld_from_every_copy_of_a_notification() {
    let event: Event = serde_json::from_str(include_str!("../../../../config/examples/event.json"))
        .expect("event");
    let (memory, inquiry) = (Memory::default(), Inquiry::default());
    let case = Case { event: &event, memory: &memory, now: event.measured_at };
    let judgement = pdm_expert::judge(&case, &Rules::default());
    let policy = Policy::new(NotifySettings::default(), Prefix::default());
    let key = event.key();
    let point = case.point();
    let window = JudgedWindow { event: &event, judgement: &judgement, point, is_repaired: false };
    let told = policy.judged(&key, &window, None, case.now);
    let Some(Followed::Told(mut told)) = told else { panic!("a Warning is told") };
    let grounds = Grounds { event: &event, memory: &memory, inquiry: &inquiry };
    let sources = || Sources::of(&judgement.diagnosis, &grounds);
    let place = "reports/P-101-DE-20261121.pdf".to_owned();
    let written = [Written { kind: DocumentKind::WorkOrder, place: place.clone() }];
    let mut all = sources();
    name_documents(&mut told, &mut all, &written);
    let kept = hold_to_sources(&mut told, &mut all, &judgement, None, Zone::default());
    assert_eq!(kept, Vec::<String>::new(), "{}", told.notification.body.ko);
    assert!(told.outgoing.iter().all(|row| row.payload.text().contains(&place)));
    let ten: Vec<Written> = ["json", "ko.html", "ko.pdf", "en.html", "en.pdf"]
        .into_iter()
        .flat_map(|ending| {
            [(DocumentKind::Report, "report"), (DocumentKind::WorkOrder, "work-order")]
                .map(|(kind, name)| Written { kind, place: format!("/r/{name}.{ending}") })
        })
        .collect();
    let lines = document_lines(&ten, "en", ["Report", "Work order"]);
    assert_eq!(lines, "\nReport: /r/report.en.pdf\nWork order: /r/work-order.en.pdf");
    told.notification.body.en.push_str(" Fails in 33 hours.");
    assert_eq!(hold_to_sources(&mut told, &mut all, &judgement, None, Zone::default()), ["33"]);
    assert!(told.outgoing.iter().all(|row| !row.payload.text().contains("33 hours")));
    let change = told.episode.expect("an episode begins");
    assert_eq!(change.alarm.expect("it stands").notification, told.notification);
}

/// R-AGENT-2: the figure of a change stood in the Korean text and was withheld from the English
/// one.
#[test]
fn the_figure_of_a_change_stands_in_both_languages() {
    use pdm_shared::event::{Change, ChangeKind};
    let mut event: Event =
        serde_json::from_str(include_str!("../../../../config/examples/event.json"))
            .expect("event");
    let since = event.measured_at;
    let (memory, inquiry) = (Memory::default(), Inquiry::default());
    let policy = Policy::new(NotifySettings::default(), Prefix::default());
    for kind in [ChangeKind::Operating, ChangeKind::Replaced, ChangeKind::Swapped] {
        let bearings = Vec::new();
        event.change = Some(Change { kind, level_ratio: 3.0, bearings, since });
        let case = Case { event: &event, memory: &memory, now: event.measured_at };
        let judgement = pdm_expert::judge(&case, &Rules::default());
        let grounds = Grounds { event: &event, memory: &memory, inquiry: &inquiry };
        let (point, is_repaired) = (case.point(), false);
        let judgement = &judgement;
        let window = JudgedWindow { event: &event, judgement, point, is_repaired };
        let told = policy.beside_risk(&event.key(), &window, case.now).expect("told");
        let mut told = Box::new(told);
        let mut sources = Sources::of(&judgement.diagnosis, &grounds);
        let kept = hold_to_sources(&mut told, &mut sources, judgement, None, Zone::default());
        let body = &told.notification.body;
        assert_eq!(kept, Vec::<String>::new(), "{}\n{}", body.en, body.ko);
        if kind != ChangeKind::Swapped {
            assert!(body.en.contains("3.00") && body.ko.contains("3.00"), "{}", body.en);
        }
    }
}

/// A bearing was reported replaced, damage was still measured, and no work asked for it.
#[test]
fn damage_that_outlives_a_reported_repair_is_work_anew() {
    let event: Event = serde_json::from_str(include_str!("../../../../config/examples/event.json"))
        .expect("event");
    let mut memory = Memory::default();
    let judge = |memory: &Memory, by_s: f64| {
        let mut event = event.clone();
        event.measured_at = event.measured_at.plus_seconds(by_s);
        let case = Case { event: &event, memory, now: event.measured_at };
        (pdm_expert::judge(&case, &Rules::default()), event)
    };
    let (first, of_first) = judge(&memory, 0.0);
    assert!(first.diagnosis.risk_level >= RiskLevel::Warning, "the example is damaged");
    let actions = asked_actions(&first.diagnosis, &memory);
    memory.recall(&of_first, &first);
    note_work(&mut memory, &first.diagnosis, &actions, false);
    let again = |memory: &Memory, by_s: f64| {
        let (judgement, event) = judge(memory, by_s);
        (has_outlived_repair(&judgement, &event, memory), judgement, event)
    };
    let (asks, _, _) = again(&memory, 60.0);
    assert!(!asks, "its work is open");
    for work in &mut memory.work {
        (work.state, work.at) =
            (FollowUpState::Done, Some(of_first.measured_at.plus_seconds(30.0)));
    }
    let mut closed = memory.clone();
    memory.work[0].repaired = true;
    let mut asked = Vec::new();
    for minute in 1..=3 {
        let (asks, judgement, event) = again(&memory, 60.0 * f64::from(minute));
        memory.recall(&event, &judgement);
        asked.push(asks);
    }
    assert_eq!(asked, [false, true, true], "one window may be of the run-in");
    let (_, judgement, event) = again(&closed, 60.0);
    closed.recall(&event, &judgement);
    assert!(!again(&closed, 120.0).0, "done, and nobody says repaired: it is as they say");
}
