//! Says who is on duty: now, at an hour of the next day, on a day or in the week ahead, of the
//! sites that are asked about.

use chrono::{Datelike as _, Days, NaiveDate};
use pdm_shared::text::Language;

use super::desk::{AlarmRoute, CoreFields, DUTY_DAYS, Desk, DutyRoster, PAST_DUTY_DAYS};
use super::reader::Reader;
use super::{dates, escalation, sites};

/// Says who is on duty: now, at an hour of the next day, or on a day of the next days.
pub(super) async fn duty(
    desk: &dyn Desk,
    fleet: &[CoreFields],
    clause: &str,
    reader: Reader,
) -> Option<String> {
    let language = reader.language;
    let mut roster = desk.duty().await.ok()??;
    let sites = sites::named_in(clause, fleet).known;
    if sites.len() > 1 {
        // of two sites one may be in the name of its rota, and the other in a route alone
        let routes = desk.routes(None).await.unwrap_or_default();
        keep_rotas_of_all(&mut roster, &routes, clause, &sites);
    } else if !keep_named_rotas(&mut roster, clause) {
        keep_rotas_of_sites(&mut roster, &desk.routes(None).await.unwrap_or_default(), fleet);
    }
    let roster = roster;
    if let Some(days) = reader.today().and_then(|today| week_in(clause, today)) {
        return Some(duty_of_week(&roster, days, reader));
    }
    if let Some(told) = duty_of_past(&roster, clause, reader) {
        return Some(told);
    }
    let people = |names: &[String]| names.join(", ");
    let ahead = reader.today().and_then(|today| Some((dates::day_ahead_in(clause, today)?, today)));
    if let Some((day, today)) = ahead.filter(|_| dates::names_weekend(clause)) {
        let days = [Some(day), day.succ_opt()].into_iter().flatten();
        let told = days.map(|day| duty_of_day(&roster, day, today, language));
        return Some(told.collect::<Vec<_>>().join("\n"));
    }
    if let Some((day, today)) = ahead.filter(|(day, today)| day > today) {
        let of_day = duty_of_day(&roster, day, today, language);
        // "who is on now, and who tomorrow night?"
        let asks_now = ["지금", "현재", "right now", " now", "currently"];
        let asks_now = asks_now.iter().any(|word| clause.to_lowercase().contains(word));
        let now = roster.rotas.iter().filter(|_| asks_now).map(|one| on_duty_now(one, language));
        return Some(now.chain([of_day]).collect::<Vec<_>>().join("\n"));
    }
    if let Some(hour) = dates::hour_in(clause)
        && let Some(told) = duty_of_hour(&roster, hour, language)
    {
        return Some(told);
    }
    if !roster.rotas.is_empty() {
        return Some(duty_soon(&roster, reader));
    }
    let everybody = people(&roster.everybody);
    Some(match (roster.everybody.is_empty(), language) {
        (true, Language::Ko) => {
            "당직표가 설정되어 있지 않고, 알림을 받는 사람도 설정되어 있지 않습니다.".to_owned()
        }
        (true, Language::En) => {
            "No rota is configured, and nobody is configured to be told.".to_owned()
        }
        (false, Language::Ko) => {
            format!("당직표가 설정되어 있지 않습니다. 알림은 모두에게 갑니다: {everybody}")
        }
        (false, Language::En) => format!("No rota is configured. Everybody is told: {everybody}"),
    })
}

/// Says who was on duty on past days that a clause names, by the rota as it stands now.
fn duty_of_past(roster: &DutyRoster, clause: &str, reader: Reader) -> Option<String> {
    let (today, language) = (reader.today()?, reader.language);
    let span = dates::span_in(clause, today).filter(|span| span.from < today)?;
    if roster.rotas.is_empty() {
        return None;
    }
    let last = span.to.min(today.pred_opt()?);
    let first = span.from.max(today.checked_sub_days(Days::new(u64::from(PAST_DUTY_DAYS) - 1))?);
    if last < first {
        return Some(match language {
            Language::Ko => format!("지난 {PAST_DUTY_DAYS}일의 당직만 알 수 있습니다."),
            Language::En => {
                format!("I know who was on duty in the last {PAST_DUTY_DAYS} days only.")
            }
        });
    }
    let days = first.iter_days().take_while(|day| *day <= last);
    let lines = days.flat_map(|day| {
        roster.rotas.iter().map(move |(rota, _)| past_day(roster, (rota, day), language))
    });
    let head = match language {
        Language::Ko => "지금 설정된 당직표로 본 지난 당직입니다:",
        Language::En => "By the rota as it is configured now, on duty were:",
    };
    Some(std::iter::once(head.to_owned()).chain(lines).collect::<Vec<_>>().join("\n"))
}

/// `- 정비 당직, 2026-11-27: 00:00 박서연 → 07:00 정하늘`.
fn past_day(roster: &DutyRoster, (rota, day): (&str, NaiveDate), language: Language) -> String {
    let changes: Vec<_> = roster.past.iter().filter(|(name, _, _)| name == rota).collect();
    let people = |names: &[String]| match (names.is_empty(), language) {
        (true, Language::Ko) => "당직 없음".to_owned(),
        (true, Language::En) => "nobody".to_owned(),
        (false, _) => names.join(", "),
    };
    let before = changes.iter().rev().find(|(_, at, _)| at.date() < day);
    let first = before.map(|(_, _, names)| format!("00:00 {}", people(names)));
    let of_day = changes.iter().filter(|(_, at, _)| at.date() == day);
    let of_day = of_day.map(|(_, at, names)| format!("{} {}", at.format("%H:%M"), people(names)));
    let all: Vec<String> = first.into_iter().chain(of_day).collect();
    format!("- {rota}, {day}: {}", all.join(" → "))
}

/// Says who is on duty at an hour of the next day.
fn duty_of_hour(roster: &DutyRoster, hour: u32, language: Language) -> Option<String> {
    let then = roster.hours.iter().filter(|(at, _, _)| *at == hour);
    let lines: Vec<String> = then
        .map(|(_, rota, names)| {
            let people = names.join(", ");
            match (names.is_empty(), language) {
                (true, Language::Ko) => format!("- {rota}: {hour}시에는 당직이 없습니다"),
                (true, Language::En) => format!("- {rota}: nobody is on duty at {hour}:00"),
                (false, Language::Ko) => format!("- {rota}: {hour}시의 당직은 {people}"),
                (false, Language::En) => format!("- {rota}: on duty at {hour}:00 is {people}"),
            }
        })
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Says who is on duty now, and from when on who else until the end of the next day.
fn duty_soon(roster: &DutyRoster, reader: Reader) -> String {
    let language = reader.language;
    let tomorrow = reader.today().and_then(|today| today.succ_opt());
    let soon =
        roster.changes.iter().filter(|(_, at, _)| tomorrow.is_none_or(|day| at.date() <= day));
    let changes = soon.map(|(rota, at, names)| {
        let (at, people) = (at.format("%m-%d %H:%M"), names.join(", "));
        match (names.is_empty(), language) {
            (true, Language::Ko) => format!("- {rota}: {at}부터 당직 없음"),
            (true, Language::En) => format!("- {rota}: from {at} on nobody"),
            (false, Language::Ko) => format!("- {rota}: {at}부터 {people}"),
            (false, Language::En) => format!("- {rota}: from {at} on {people}"),
        }
    });
    let now = roster.rotas.iter().map(|one| on_duty_now(one, language));
    now.chain(changes).collect::<Vec<_>>().join("\n")
}

/// Leaves the rotas of several sites that a clause names: those that it names by a word, and those
/// of the sites' routes.
fn keep_rotas_of_all(
    roster: &mut DutyRoster,
    routes: &[AlarmRoute],
    clause: &str,
    sites: &[String],
) {
    let of_sites = routes.iter().filter(|route| {
        route.sites.is_empty() || sites.iter().any(|site| escalation::takes_site(route, site))
    });
    let told: Vec<&String> =
        of_sites.flat_map(|route| &route.steps).flat_map(|step| &step.to).collect();
    let is_kept =
        |name: &str| is_named(name, clause) || told.iter().any(|one| one.as_str() == name);
    if roster.rotas.iter().any(|(name, _)| is_kept(name)) {
        keep(roster, is_kept);
    }
}

/// Whether a clause names a rota by a word of its name.
fn is_named(name: &str, clause: &str) -> bool {
    // words that every clause about duty may have name none
    const GENERAL: [&str; 9] = ["조", "반", "당직", "duty", "rota", "on", "call", "crew", "team"];
    let lower = clause.to_lowercase();
    name.to_lowercase()
        .split_whitespace()
        .any(|word| word.chars().count() > 1 && !GENERAL.contains(&word) && lower.contains(word))
}

/// Leaves the rotas that a clause names by a word of their names (`여수`); whether it names some.
fn keep_named_rotas(roster: &mut DutyRoster, clause: &str) -> bool {
    let is_named = |name: &str| is_named(name, clause);
    let names_some = roster.rotas.iter().any(|(name, _)| is_named(name));
    if names_some {
        keep(roster, is_named);
    }
    names_some
}

/// Leaves the rotas that take alarms of the sites that are asked about, where routes say which
/// these are.
fn keep_rotas_of_sites(roster: &mut DutyRoster, routes: &[AlarmRoute], fleet: &[CoreFields]) {
    let of_sites = routes.iter().filter(|route| escalation::is_of_sites(route, fleet));
    let told: Vec<&String> =
        of_sites.flat_map(|route| &route.steps).flat_map(|step| &step.to).collect();
    let is_told = |name: &str| told.iter().any(|one| one.as_str() == name);
    if roster.rotas.iter().any(|(name, _)| is_told(name)) {
        keep(roster, is_told);
    }
}

fn keep(roster: &mut DutyRoster, is_kept: impl Fn(&str) -> bool) {
    roster.rotas.retain(|(name, _)| is_kept(name));
    roster.changes.retain(|(name, _, _)| is_kept(name));
    roster.hours.retain(|(_, name, _)| is_kept(name));
}

/// The days of the week that a clause asks for: the rest of this one, or the next one.
fn week_in(clause: &str, today: NaiveDate) -> Option<Vec<NaiveDate>> {
    let lower = clause.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    // a day of the next week is a day
    if dates::names_weekday(&lower) || dates::names_weekend(&lower) {
        return None;
    }
    let to_monday = 7 - u64::from(today.weekday().num_days_from_monday());
    let (from, count) = if has(&["다음 주", "다음주", "next week", "coming week"]) {
        (today.checked_add_days(Days::new(to_monday))?, 7)
    } else if has(&[
        "이번 주",
        "이번주",
        "금주",
        "일주일",
        "한 주",
        "this week",
        "the week",
        "weekly",
        "7 days",
    ]) && !dates::names_weekend(&lower)
    {
        (today, if has(&["일주일", "7 days", "weekly"]) { 7 } else { to_monday })
    } else {
        return None;
    };
    (0..count).map(|ahead| from.checked_add_days(Days::new(ahead))).collect()
}

/// Says who is on duty on each of some days.
fn duty_of_week(roster: &DutyRoster, days: Vec<NaiveDate>, reader: Reader) -> String {
    let (today, language) = (reader.today().unwrap_or_default(), reader.language);
    let told = days.into_iter().map(|day| duty_of_day(roster, day, today, language));
    told.collect::<Vec<_>>().join("\n")
}

fn on_duty_now((rota, names): &(String, Vec<String>), language: Language) -> String {
    let people = names.join(", ");
    match (names.is_empty(), language) {
        (true, Language::Ko) => format!("- {rota}: 지금 당직이 없습니다"),
        (true, Language::En) => format!("- {rota}: nobody is on duty now"),
        (false, Language::Ko) => format!("- {rota}: 지금 당직은 {people}"),
        (false, Language::En) => format!("- {rota}: on duty now is {people}"),
    }
}

/// Says who is on duty on a day ahead: at its begin and after each change.
fn duty_of_day(
    roster: &DutyRoster,
    day: NaiveDate,
    today: NaiveDate,
    language: Language,
) -> String {
    if day > today + Days::new(u64::from(DUTY_DAYS) - 1) {
        return match language {
            Language::Ko => format!("앞으로 {DUTY_DAYS}일의 당직만 알 수 있습니다."),
            Language::En => format!("I know who is on duty in the next {DUTY_DAYS} days only."),
        };
    }
    let people = |names: &[String], language| match (names.is_empty(), language) {
        (true, Language::Ko) => "당직 없음".to_owned(),
        (true, Language::En) => "nobody".to_owned(),
        (false, _) => names.join(", "),
    };
    let lines = roster.rotas.iter().map(|(rota, now)| {
        let changes: Vec<_> = roster.changes.iter().filter(|(name, _, _)| name == rota).collect();
        let before = changes.iter().rev().find(|(_, at, _)| at.date() < day);
        let first = before.map_or(now, |(_, _, names)| names);
        let of_day = changes.iter().filter(|(_, at, _)| at.date() == day);
        let of_day = of_day
            .map(|(_, at, names)| format!("{} {}", at.format("%H:%M"), people(names, language)));
        let all: Vec<String> =
            std::iter::once(format!("00:00 {}", people(first, language))).chain(of_day).collect();
        format!("- {rota}, {day}: {}", all.join(" → "))
    });
    let lines: Vec<String> = lines.collect();
    match (lines.is_empty(), language) {
        (true, Language::Ko) => "당직표가 설정되어 있지 않습니다.".to_owned(),
        (true, Language::En) => "No rota is configured.".to_owned(),
        (false, _) => lines.join("\n"),
    }
}
