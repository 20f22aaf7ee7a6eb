//! The notifications of the policy, window by window.

use pdm_expert::case::{Case, Memory};
use pdm_expert::rules::Rules;
use pdm_shared::event::{Change, ChangeKind, Event, PeriodChange, QualityFlag, Timing};

use super::*;

#[test]
fn what_happens_in_one_interval_leaves_at_its_end() {
    let at = |ms| Timestamp::from_unix_ms(ms).expect("in range");
    for ms in [10_000, 10_001, 14_999] {
        assert_eq!(end_of_interval(at(ms), 5.0), at(15_000));
    }
    assert_eq!(end_of_interval(at(15_000), 5.0), at(20_000));
    assert_eq!(end_of_interval(at(-1), 5.0), at(0));
    assert_eq!(end_of_interval(at(12_345), 0.0), at(12_345), "no wait");
}

/// Plays a bearing whose level is a multiple of its baseline at these hours; `None` where its
/// sensor measures nothing. Returns the messages to staff, and when they came.
fn told(course: &[(f64, Option<f64>)]) -> Vec<(f64, NotificationReason, RiskLevel)> {
    let policy = Policy::new(NotifySettings::default(), Prefix::default());
    let mut rules = Rules::default();
    rules.risk.downgrade_after = 1;
    let healthy = include_str!("../../../../config/examples/event-healthy.json");
    let mut event: Event = serde_json::from_str(healthy).expect("event");
    let key = BearingKey {
        site: event.site.clone(),
        equipment: event.equipment_id.clone(),
        bearing: event.bearing_id.clone(),
    };
    let begin = event.measured_at;
    let (mut memory, mut record, mut told) = (Memory::default(), None, Vec::new());
    for (hours, ratio) in course {
        event.measured_at = begin.plus_seconds(3600.0 * hours);
        event.anomaly_detected = ratio.is_some_and(|ratio| ratio >= 1.3);
        event.anomaly.level_ratio = *ratio;
        event.time_domain.rms_g = ratio.map(|ratio| 0.1 * ratio);
        event.signal_quality.valid = ratio.is_some();
        let flat = || vec![QualityFlag::FlatLine];
        event.signal_quality.flags = ratio.map_or_else(flat, |_| Vec::new());
        let (judgement, point) = {
            let case = Case { event: &event, memory: &memory, now: event.measured_at };
            (pdm_expert::judge(&case, &rules), case.point().to_owned())
        };
        memory.recall(&event, &judgement);
        let now = event.measured_at;
        let window = JudgedWindow {
            event: &event,
            judgement: &judgement,
            point: &point,
            is_repaired: false,
        };
        let followed = policy.judged(&key, &window, record.as_ref(), now);
        let (announcement, quiet) = match followed {
            Some(Followed::Told(announcement)) => (Some(*announcement), None),
            Some(Followed::Quiet(change)) => (None, Some(change)),
            None => (None, None),
        };
        let announcement = announcement.or_else(|| policy.beside_risk(&key, &window, now));
        if let Some(announcement) = &announcement {
            let notification = &announcement.notification;
            told.push((*hours, notification.reason, notification.risk_level));
        }
        let change = announcement.and_then(|one| one.episode).or(quiet);
        if let Some(change) = change {
            record = Some(EpisodeRecord::after(record, *change));
        }
    }
    told
}

/// Windows of five minutes: for each entry this many at a level.
fn stretches(levels: &[(u32, Option<f64>)]) -> Vec<(f64, Option<f64>)> {
    let windows = levels.iter().flat_map(|(count, ratio)| (0..*count).map(move |_| *ratio));
    windows.enumerate().map(|(n, ratio)| (n as f64 / 12.0, ratio)).collect()
}

#[test]
fn a_level_that_comes_back_after_its_hold_is_told_again_and_before_it_is_not() {
    use NotificationReason::{Cleared, Raised};
    use RiskLevel::{Critical, Normal, Watch};
    let at = |minutes: &[(u32, Option<f64>)]| {
        let told = told(&stretches(minutes)).into_iter();
        told.map(|(_, reason, risk)| (reason, risk)).collect::<Vec<_>>()
    };
    let (sound, watch, critical) = (Some(1.0), Some(1.5), Some(6.0));
    assert_eq!(at(&[(3, critical), (4, watch), (3, critical)]), [(Raised, Critical)]);
    assert_eq!(
        at(&[(3, critical), (12, watch), (3, critical)]),
        [(Raised, Critical), (Raised, Critical)]
    );
    assert_eq!(at(&[(3, watch), (4, sound), (3, watch), (4, sound)]), [(Raised, Watch)]);
    assert_eq!(at(&[(3, watch), (98, sound)]), [(Raised, Watch), (Cleared, Normal)]);
}

/// FEMTO Bearing2_3 is loud in its first hour, sound for five, and breaks.
#[test]
fn the_end_is_told_whatever_was_told_before() {
    let course = stretches(&[(12, Some(6.0)), (60, Some(1.0)), (6, Some(1.4)), (6, Some(9.0))]);
    let told = told(&course);
    assert!(told.iter().any(|(hours, _, risk)| *risk == RiskLevel::Critical && *hours > 5.0));
    assert!(told.len() <= 5, "{told:?}");
}

#[test]
fn each_return_waits_longer_so_a_level_that_flutters_is_told_a_few_times() {
    let hourly: Vec<_> = (0..24).flat_map(|_| [(2, Some(1.5)), (10, Some(1.0))]).collect();
    assert!(told(&stretches(&hourly)).len() <= 6);
}

/// A message tells times on the plant's clock.
#[test]
fn times_of_a_message_are_those_of_the_plants_clock() {
    let key = BearingKey::parse("ulsan-1", "P-101", "DE").expect("names");
    let at = Timestamp::parse("2026-11-20T00:30:00Z").expect("a time");
    let change = pdm_shared::event::Change {
        kind: pdm_shared::event::ChangeKind::Replaced,
        since: at,
        level_ratio: 2.0,
        bearings: Vec::new(),
    };
    let zone = serde_json::from_str("\"Asia/Seoul\"").expect("a zone");
    let (_, body) = super::wording::changed(&key, &change, zone);
    assert!(body.ko.starts_with("시작: 2026-11-20 09:30 KST\n"), "{}", body.ko);
    let (_, body) = super::wording::changed(&key, &change, pdm_routes::Zone::default());
    assert!(body.en.starts_with("Since: 2026-11-20 00:30 UTC\n"), "{}", body.en);
}

#[test]
fn a_sensor_that_fails_is_told_once_and_so_is_its_return() {
    use NotificationReason::{Message, Raised, Silent};
    let course = stretches(&[(12, Some(6.0)), (100, None), (12, Some(6.0))]);
    let told: Vec<_> = told(&course).into_iter().map(|(_, reason, _)| reason).collect();
    assert_eq!(told, [Raised, Silent, Message], "the risk is frozen, not cleared");
}

/// A change of the machine is told as such: no risk, no alarm, with what to do.
#[test]
fn a_change_of_the_machine_is_told_beside_its_risk() {
    let policy = Policy::new(NotifySettings::default(), Prefix::default());
    let at = Timestamp::from_unix_ms(1_795_238_000_000).expect("in range");
    let key = BearingKey {
        site: "ulsan-1".parse().expect("name"),
        equipment: "P-101".parse().expect("name"),
        bearing: "DE".parse().expect("name"),
    };
    let told = |kind| {
        let bearings = vec!["NDE".parse().expect("name")];
        let change = Change { kind, since: at, level_ratio: 1.4, bearings };
        let told = policy.changed(&key, Some(&change), at).expect("told");
        assert_eq!(told.episode, None);
        assert_eq!(told.notification.reason, NotificationReason::Message);
        format!("{}\n{}", told.notification.title.en, told.notification.body.en)
    };
    let operating = told(ChangeKind::Operating);
    assert!(operating.contains("P-101: all bearings") && operating.contains("1.40"), "{operating}");
    assert!(told(ChangeKind::Replaced).contains("relearn"));
    assert!(told(ChangeKind::Swapped).contains("swapped with NDE"));
    assert!(policy.changed(&key, None, at).is_none());
}

/// A clock that was moved and another period are told of the gateway, in words for people.
#[test]
fn a_gateways_clock_and_period_are_told_beside_any_risk() {
    let policy = Policy::new(NotifySettings::default(), Prefix::default());
    let mut event: Event =
        serde_json::from_str(include_str!("../../../../config/examples/event-healthy.json"))
            .expect("an event");
    let at = event.measured_at;
    assert!(policy.timing(&event, at).is_none());
    let mut told = |clock_moved_s, period| {
        event.timing = Some(Timing { clock_moved_s, period });
        event.check().expect("within its bounds");
        let told = policy.timing(&event, at).expect("told");
        assert_eq!(told.episode, None);
        assert_eq!(told.notification.reason, NotificationReason::Message);
        assert_eq!(told.notification.bearing_id.as_str(), event.gateway_id.as_str());
        let Notification { title, body, .. } = told.notification;
        (format!("{}\n{}", title.ko, body.ko), format!("{}\n{}", title.en, body.en))
    };
    let (ko, en) = told(Some(7190.0), None);
    assert!(ko.contains("앞으로") && ko.contains("약 120분"), "{ko}");
    assert!(en.contains("set ahead") && en.contains("about 120 min"), "{en}");
    let (ko, en) = told(Some(-86_400.0), None);
    assert!(ko.contains("뒤로") && en.contains("set back") && en.contains("24 h"), "{ko}\n{en}");
    let period = PeriodChange { before_s: 10.0, after_s: 600.0, since: at };
    let (ko, en) = told(None, Some(period.clone()));
    assert!(ko.contains("10초에서 10분(으)로"), "{ko}");
    assert!(en.contains("each 10 min instead of 10 s"), "{en}");
    let (_, en) = told(Some(60.5), Some(period));
    assert!(en.contains("set ahead") && en.contains("several windows"), "{en}");
}

/// A change of the machine and a moved clock come with one window; where that window raises an
/// alarm they stand in it, and where it does not they are told by themselves.
#[test]
fn what_comes_with_the_window_of_an_alarm_stands_in_the_alarm() {
    let policy = Policy::new(NotifySettings::default(), Prefix::default());
    let mut event: Event =
        serde_json::from_str(include_str!("../../../../config/examples/event.json"))
            .expect("an event");
    let at = event.measured_at;
    event.timing = Some(Timing { clock_moved_s: Some(7190.0), period: None });
    event.change = Some(Change {
        kind: ChangeKind::Replaced,
        level_ratio: 1.4,
        bearings: Vec::new(),
        since: at,
    });
    let (key, memory) = (event.key(), Memory::default());
    let case = Case { event: &event, memory: &memory, now: at };
    let judgement = pdm_expert::judge(&case, &Rules::default());
    let point = case.point();
    let window = JudgedWindow { event: &event, judgement: &judgement, point, is_repaired: false };
    let Some(Followed::Told(told)) = policy.judged(&key, &window, None, at) else {
        panic!("an alarm");
    };
    assert_eq!(told.notification.reason, NotificationReason::Raised);
    let body = &told.notification.body;
    assert!(body.en.contains("run relearn") && body.en.contains("set ahead"), "{}", body.en);
    assert!(body.ko.contains("재학습") && body.ko.contains("앞으로"), "{}", body.ko);
    for row in &told.outgoing {
        assert!(format!("{:?}", row.payload).contains("relearn"), "{row:?}");
    }
    let beside = policy.beside_risk(&key, &window, at).expect("told by itself");
    assert_eq!(beside.notification.reason, NotificationReason::Message);
}

/// Returns the hook's row for an operating change of a machine, and whether the broker's row leaves
/// at once.
fn operating_change(machine: &str, ratio: f64, settings: &NotifySettings) -> (Outgoing, bool) {
    let policy = Policy::new(settings.clone(), Prefix::default());
    let healthy = include_str!("../../../../config/examples/event-healthy.json");
    let event: Event = serde_json::from_str(healthy).expect("event");
    let now = Timestamp::parse("2026-11-24T03:00:00Z").expect("a time");
    let change = Change {
        kind: ChangeKind::Operating,
        level_ratio: ratio,
        bearings: Vec::new(),
        since: now,
    };
    let key = BearingKey { equipment: machine.parse().expect("a name"), ..event.key() };
    let told = policy.changed(&key, Some(&change), now).expect("told");
    let (broker, hook): (Vec<_>, Vec<_>) =
        told.outgoing.into_iter().partition(|row| row.topic.is_some());
    (hook.into_iter().next().expect("the hook's"), broker[0].due_at == now)
}

/// Of a load that was never run before, staff of a whole plant reads in one message a day.
#[test]
fn operating_changes_of_all_machines_leave_together_once_a_day() {
    let hook = crate::settings::WebhookSettings {
        name: "ops".to_owned(),
        url: Some("http://ops.invalid/".to_owned()),
        ..Default::default()
    };
    let zone = serde_json::from_str("\"Asia/Seoul\"").expect("a zone");
    let mut settings = NotifySettings { webhook: vec![hook], zone, ..NotifySettings::default() };
    let (one, is_published) = operating_change("P-101", 1.3, &settings);
    assert!(is_published, "the topic hears at once");
    assert_eq!(one.due_at, Timestamp::parse("2026-11-24T23:00:00Z").expect("eight in Seoul"));
    let (other, _) = operating_change("P-102", 0.7, &settings);
    assert_eq!((one.group.clone(), one.due_at), (other.group, other.due_at));

    let soon = Timestamp::parse("2026-11-24T03:00:05Z").expect("a time");
    for doubled in [2.1, 0.4, f64::NAN] {
        let (doubled, _) = operating_change("P-103", doubled, &settings);
        assert!(doubled.due_at <= soon && doubled.group != one.group, "{doubled:?}");
    }
    settings.changes_at = None;
    let (at_once, _) = operating_change("P-101", 1.3, &settings);
    assert!(at_once.due_at <= soon, "{at_once:?}");
}

/// R-AGENT-10: a stage that rises within its level is told once, says what differs, and leaves
/// title and figures of the alarm as they are now; who has acknowledged the level need not do so
/// again.
#[test]
fn damage_that_goes_on_within_a_level_is_told_once_with_what_differs() {
    let policy = Policy::new(NotifySettings::default(), Prefix::default());
    let text = include_str!("../../../../config/examples/event.json");
    let mut event: Event = serde_json::from_str(text).expect("event");
    let (key, begin) = (event.key(), event.measured_at);
    let memory = Memory::default();
    let mut record = None;
    let mut told = Vec::new();
    for (minute, stage) in [(0, 1_u8), (5, 1), (10, 3), (15, 3)] {
        event.measured_at = begin.plus_seconds(60.0 * f64::from(minute));
        let now = event.measured_at;
        let case = Case { event: &event, memory: &memory, now };
        let (mut judgement, point) =
            (pdm_expert::judge(&case, &Rules::default()), case.point().to_owned());
        for one in judgement.state.points.values_mut() {
            one.risk = RiskLevel::Warning;
        }
        let diagnosis = &mut judgement.diagnosis;
        (diagnosis.risk_level, diagnosis.fault_stage) = (RiskLevel::Warning, stage);
        diagnosis.fault_type = None;
        let (event, judgement) = (&event, &judgement);
        let window = JudgedWindow { event, judgement, point: &point, is_repaired: false };
        let change = match policy.judged(&key, &window, record.as_ref(), now) {
            Some(Followed::Told(announcement)) => {
                let Announcement { notification, episode, .. } = *announcement;
                told.push(notification);
                episode
            }
            Some(Followed::Quiet(change)) => Some(change),
            None => None,
        };
        if let Some(change) = change {
            record = Some(EpisodeRecord::after(record, *change));
        }
        if minute == 5 {
            let mut seen: EpisodeRecord = record.expect("told");
            seen.episode = seen.episode.acknowledge("kim", None, now).expect("a step").episode;
            record = Some(seen);
        }
    }
    let titles: Vec<_> = told.iter().map(|one| one.title.en.as_str()).collect();
    assert_eq!(told.len(), 2, "{titles:?}");
    assert!(titles[1].starts_with("[Update] [Warning] P-101 DE"), "{titles:?}");
    let body = &told[1].body.en;
    assert!(body.starts_with("Since the last message: P-F stage 1 to 3\n"), "{body}");
    let record = record.expect("told");
    assert!(record.episode.acknowledgement.is_acknowledged());
    let alarm = record.alarm.expect("stands");
    assert!(!alarm.notification.title.en.contains("[Update]"), "{}", alarm.notification.title.en);
    assert!(alarm.notification.title.en.contains("stage 3"), "{}", alarm.notification.title.en);
}
