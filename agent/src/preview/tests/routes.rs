//! Tests who hears of an episode by the routes: day and night, steps, quiet hours.

use super::*;

/// Seoul, 2026-11-21: the example's window is measured in the afternoon there.
const ROUTES: &str = r#"
[store]
sqlite = "a.db"
[notify]
repeat_after_h = 0.0
zone = "Asia/Seoul"
quiet = [{ from = "22:00", to = "07:00" }]
[notify.email]
host = "localhost"
security = "none"
from_address = "pdm@plant.example"
[[notify.recipient]]
name = "kim"
email = "kim@plant.example"
[[notify.recipient]]
name = "lee"
email = "lee@plant.example"
[[notify.recipient]]
name = "choi"
email = "choi@plant.example"
email_from = "Warning"
[[notify.rota]]
name = "duty"
shift = [{ from = "08:00", to = "20:00", who = ["kim"] }, { from = "20:00", to = "08:00", who = ["lee"] }]
[[notify.route]]
name = "pumps"
step = [{ to = ["duty"] }, { after_minutes = 30, to = ["choi"] }]
"#;

/// A course that begins at this local time in Seoul.
fn at(local: &str) -> Course {
    by(ROUTES, local)
}

/// Returns the same course by other settings.
fn by(settings: &str, local: &str) -> Course {
    let path = std::path::Path::new("/etc/pdm/agent.toml");
    let settings = crate::settings::AgentSettings::parse(path, settings).expect("valid");
    let begin = format!("2026-11-21T{local}:00+09:00");
    let begin = Timestamp::parse(&begin).expect("a time");
    Course { begin, preview: Preview::new(settings.notify, Rules::default()), ..Course::new() }
}

impl Course {
    fn windows(&mut self, count: u32, ratio: f64) {
        for _ in 0..count {
            self.window(ratio);
        }
    }

    /// Returns the notifications: minutes after the start, reason, lanes.
    fn heard(&self) -> Vec<(f64, NotificationReason, Vec<String>)> {
        let told = self.preview.told().iter().enumerate();
        told.map(|(place, one)| {
            let minutes = one.created_at.seconds_since(self.begin) / 60.0;
            let lanes = self.preview.way(place).lanes;
            let lanes =
                lanes.iter().map(|lane| lane.replace("to:", "").replace(":email", "")).collect();
            (minutes, one.reason, lanes)
        })
        .collect()
    }
}

use pdm_shared::delivery::NotificationReason::{self, Cleared, Raised, Repeated};

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn a_warning_goes_to_whoever_is_on_duty_and_on_after_half_an_hour() {
    let mut course = at("19:00");
    course.windows(2, 1.0);
    course.windows(24, 6.0);
    let heard = course.heard();
    let begun = heard[0].0;
    assert_eq!(heard[0], (begun, Raised, names(&["kim"])));
    assert_eq!(heard[1], (begun + 30.0, Repeated, names(&["choi"])));
    let title = &course.preview.told()[1].title;
    assert!(title.en.starts_with("[Unacknowledged for 30 min] ["), "{}", title.en);
    assert!(title.ko.starts_with("[미확인 30분] ["), "{}", title.ko);
    // both hear that it is over, whoever is on duty then
    course.windows(30 * 12, 1.0);
    let last = course.heard().pop().expect("told");
    assert_eq!((last.1, last.2), (Cleared, names(&["choi", "kim"])));
}

#[test]
fn an_alarm_that_has_gone_its_whole_route_is_repeated() {
    let settings = ROUTES.replace("repeat_after_h = 0.0", "repeat_after_h = 2.0");
    let mut course = by(&settings, "14:00");
    course.windows(2, 1.0);
    course.windows(30, 6.0);
    let heard = course.heard();
    let begun = heard[0].0;
    assert_eq!(
        heard,
        [
            (begun, Raised, names(&["kim"])),
            (begun + 30.0, Repeated, names(&["choi"])),
            (begun + 120.0, Repeated, names(&["choi", "kim"])),
        ]
    );
}

/// A clock that was nine years ahead when the alarm was told, and is right again.
#[test]
fn a_step_that_a_clock_ahead_has_dated_comes_in_its_time_from_now_on() {
    const AHEAD_S: f64 = 9.0 * 365.0 * 86_400.0;
    let mut course = at("14:00");
    course.windows(4, 6.0);
    let key = course.event.key();
    let bearing = course.preview.bearings.get_mut(&key).expect("judged");
    let alarm = bearing.record.as_mut().and_then(|record| record.alarm.as_mut()).expect("told");
    let telling = alarm.telling.as_mut().expect("by a route");
    telling.begun = telling.begun.map(|begun| begun.plus_seconds(AHEAD_S));
    telling.next = telling.next.map(|next| next.plus_seconds(AHEAD_S));
    let corrected = 5.0 * f64::from(course.window);
    course.windows(12, 6.0);
    let last = course.heard().pop().expect("told");
    assert_eq!(last, (corrected + 30.0, Repeated, names(&["choi"])));
}

#[test]
fn an_acknowledged_alarm_goes_no_further() {
    let mut course = at("19:00");
    course.windows(4, 6.0);
    let key = course.event.key();
    course.preview.acknowledge(&key, "kim", course.now());
    course.windows(24, 6.0);
    assert!(
        course.heard().iter().all(|(_, reason, _)| *reason != Repeated),
        "{:?}",
        course.heard()
    );
}

#[test]
fn quiet_hours_hold_back_a_watch_and_tell_it_once_when_they_end() {
    let mut course = at("23:00");
    course.windows(110, 1.5);
    let heard = course.heard();
    assert_eq!(heard[0].1, Raised);
    assert_eq!(heard[0].2, names(&[]), "held back");
    let (first, second) = (&course.preview.told()[0], &course.preview.told()[1]);
    assert_eq!(first.notification_id, second.notification_id, "the same notification");
    assert_eq!(heard[1].2, names(&["lee"]), "on duty at 07:00");
    // half an hour later a Watch reaches nobody of the second step, who hears from Warning on
    assert_eq!(heard.len(), 3);
    assert_eq!(heard[2].2, names(&[]));
}

#[test]
fn a_watch_that_ends_within_the_quiet_hours_is_told_to_nobody() {
    let mut course = at("22:00");
    course.windows(6, 1.5);
    course.windows(30 * 12, 1.0);
    let heard = course.heard();
    assert!(heard.iter().all(|(_, _, lanes)| lanes.is_empty()), "{heard:?}");
}

#[test]
fn a_watch_that_becomes_a_warning_in_the_night_is_told_at_once() {
    let mut course = at("23:00");
    course.windows(6, 1.5);
    course.windows(3, 6.0);
    let heard = course.heard();
    assert_eq!(heard[0].2, names(&[]));
    assert!(
        heard[1..].iter().any(|(_, reason, lanes)| *reason == Raised && *lanes == names(&["lee"]))
    );
}

/// Two bearings of a machine whose level rises, the second one 20 minutes later.
#[test]
fn bearings_of_one_machine_are_told_once_and_what_is_worse_is_told_with_its_likely_source() {
    let mut first = Course::new();
    first.windows(2, 1.0);
    let mut other = first.event.clone();
    other.bearing_id = "NDE".parse().expect("a name");
    let both = |course: &mut Course, other: &mut Event, count: u32, ratio: f64| {
        for _ in 0..count {
            other.measured_at = course.now();
            other.anomaly_detected = ratio >= 1.3;
            other.anomaly.level_ratio = Some(ratio);
            other.time_domain.rms_g = Some(0.1 * ratio);
            course.preview.play(other);
            course.window(1.5);
        }
    };
    both(&mut first, &mut other, 4, 1.0);
    let told = |course: &Course| {
        let told = course.preview.told().iter();
        told.map(|one| format!("{} {}", one.bearing_id, one.risk_level)).collect::<Vec<_>>()
    };
    assert_eq!(told(&first), ["DE Watch"]);
    both(&mut first, &mut other, 4, 1.5);
    assert_eq!(told(&first), ["DE Watch"], "told with it");
    assert_eq!(first.preview.episodes(), 2);
    both(&mut first, &mut other, 3, 6.0);
    assert_eq!(told(&first), ["DE Watch", "NDE Critical"]);
    let worse = &first.preview.told()[1];
    assert_eq!(worse.related, ["ulsan-1/P-101/DE"]);
    assert!(worse.body.en.contains("Likely source: this bearing"), "{}", worse.body.en);
}

#[test]
fn what_is_told_with_an_alarm_that_is_shelved_is_told_by_itself() {
    let mut course = Course::new();
    course.windows(6, 1.5);
    let mut other = course.event.clone();
    other.bearing_id = "NDE".parse().expect("a name");
    let both = |course: &mut Course, other: &mut Event| {
        for _ in 0..3 {
            other.measured_at = course.now();
            course.preview.play(other);
            course.window(1.5);
        }
    };
    both(&mut course, &mut other);
    assert_eq!(course.preview.told().len(), 1, "told with it");
    let (key, now) = (course.event.key(), course.now());
    let (until, by, reason) = (now.plus_seconds(86_400.0), "kim".to_owned(), "spare".to_owned());
    course.preview.suppress(&key, Suppression::Shelved { until, by, reason }, now);
    both(&mut course, &mut other);
    let told = course.preview.told().iter().map(|one| one.bearing_id.as_str());
    assert_eq!(told.collect::<Vec<_>>(), ["DE", "NDE"]);
}
