//! What the records say of the plant: its bearings, its gateways, who is on duty, and what is not there.

use chrono::{Days, NaiveDate};
use pdm_shared::delivery::NotificationReason;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Language;

use super::dates;
use super::desk::{CoreFields, DUTY_DAYS, Desk, DutyRoster, GatewayLine, ToldLine};
use super::entities::UnknownName;
use super::figures;
use super::reader::Reader;

/// Bearings that a listing tells.
const MAX_LISTED: usize = 10;

/// Every bearing, worst first: as many as a clause asks for (`top 5`), else [`MAX_LISTED`].
pub(super) fn fleet(fleet: &[CoreFields], clause: &str, reader: Reader) -> String {
    let language = reader.language;
    if fleet.is_empty() {
        return match language {
            Language::Ko => "아직 판정된 베어링이 없습니다.".to_owned(),
            Language::En => "No bearing has been judged yet.".to_owned(),
        };
    }
    let mut order: Vec<&CoreFields> = fleet.iter().collect();
    // of one risk and stage what has the shortest life left
    order.sort_by(|a, b| {
        let life = |core: &CoreFields| core.rul_hours.unwrap_or(f64::INFINITY);
        (b.risk, b.stage).cmp(&(a.risk, a.stage)).then(life(a).total_cmp(&life(b)))
    });
    let asked = listed_in(clause);
    let shown = asked.unwrap_or(MAX_LISTED);
    let lines: Vec<String> =
        order.iter().take(shown).map(|core| line_with_age(core, reader)).collect();
    let standing = fleet.iter().filter(|core| core.risk > RiskLevel::Normal).count();
    let all = fleet.len();
    let head = match (standing, language) {
        (0, Language::Ko) => format!("베어링 {all}개가 모두 정상입니다."),
        (0, Language::En) => format!("All {all} bearings are Normal."),
        (_, Language::Ko) => {
            format!("베어링 {all}개 가운데 {standing}개가 정상이 아닙니다. 나쁜 순서:")
        }
        (_, Language::En) => format!("Not Normal: {standing} of {all} bearings. Worst first:"),
    };
    let more = more(all, language).filter(|_| asked.is_none());
    std::iter::once(head).chain(lines).chain(more).collect::<Vec<_>>().join("\n")
}

/// A bearing's line, with how long ago it was measured where that is long.
fn line_with_age(core: &CoreFields, reader: Reader) -> String {
    let line = core.line(reader.language);
    let age_h = reader.now.zip(core.measured_at).map(|(now, at)| now.seconds_since(at) / 3600.0);
    match (age_h.filter(|age_h| *age_h >= figures::OLD_H), reader.language) {
        (None, _) => line,
        (Some(age_h), Language::Ko) => format!("{line}, {age_h:.0}시간째 측정 없음"),
        (Some(age_h), Language::En) => format!("{line}, not measured for {age_h:.0} h"),
    }
}

/// How many of a listing a clause asks for: `top 5`, `상위 3개`, `3대만`.
fn listed_in(clause: &str) -> Option<usize> {
    let lower = clause.to_lowercase();
    let is_asked = ["top", "상위", "worst", "만 ", "개만", "대만", "first", "제일", "가장"]
        .iter()
        .any(|word| lower.contains(word));
    let mut words = lower.split(|c: char| !c.is_ascii_digit()).filter(|word| !word.is_empty());
    let number: usize = words.next()?.parse().ok()?;
    (is_asked && (1..=MAX_LISTED).contains(&number)).then_some(number)
}

/// The bearings that are judged Normal; one that is no longer measured is told to be so.
pub(super) fn sound(fleet: &[CoreFields], reader: Reader) -> String {
    let language = reader.language;
    let normal: Vec<&CoreFields> =
        fleet.iter().filter(|core| core.risk == RiskLevel::Normal).collect();
    let (all, count) = (fleet.len(), normal.len());
    let head = match (count, language) {
        (0, Language::Ko) => format!("베어링 {all}개 가운데 정상인 것이 없습니다."),
        (0, Language::En) => format!("None of the {all} bearings is Normal."),
        (_, Language::Ko) => format!("베어링 {all}개 가운데 정상은 {count}개:"),
        (_, Language::En) => format!("Normal: {count} of {all} bearings"),
    };
    let lines = normal.iter().take(MAX_LISTED).map(|core| {
        let old = figures::age(core, reader).map(|old| format!(". {old}"));
        let (name, risk) = (core.full_name(language), core.risk.label());
        format!("- {name}: {}{}", risk.in_language(language), old.unwrap_or_default())
    });
    let more = more(count, language);
    std::iter::once(head).chain(lines).chain(more).collect::<Vec<_>>().join("\n")
}

/// How many of a listing are not told.
fn more(count: usize, language: Language) -> Option<String> {
    match (count.saturating_sub(MAX_LISTED), language) {
        (0, _) => None,
        (rest, Language::Ko) => Some(format!("그 밖에 {rest}개")),
        (rest, Language::En) => Some(format!("and {rest} more")),
    }
}

/// The alarms that stand: those of the days that a clause names, or those that nobody has acknowledged.
pub(super) fn alarms(fleet: &[CoreFields], clause: &str, reader: Reader) -> String {
    let language = reader.language;
    let span = reader.today().and_then(|today| dates::span_in(clause, today));
    let lower = clause.to_lowercase();
    let words = ["미확인", "확인 안", "확인하지 않", "unacknowledged", "not acknowledged"];
    let is_unseen_asked = words.iter().any(|word| lower.contains(word));
    let (standing, earlier): (Vec<_>, Vec<_>) = fleet
        .iter()
        .filter_map(|core| Some((core, core.alarm.as_ref()?)))
        .filter(|(_, alarm)| !is_unseen_asked || alarm.acknowledged_by.is_none())
        .partition(|(_, alarm)| span.is_none_or(|span| span.holds(reader.day(alarm.since))));
    let of_days = span.map(|span| match language {
        Language::Ko => format!(" ({}에 시작된 것)", span.in_words()),
        Language::En => format!(" (of those that began {})", span.in_words()),
    });
    let of_days = of_days.unwrap_or_default();
    let count = standing.len();
    let head = match (count, is_unseen_asked, language) {
        (0, false, Language::Ko) => format!("열린 경보가 없습니다{of_days}."),
        (0, false, Language::En) => format!("No alarm is open{of_days}."),
        (0, true, Language::Ko) => format!("확인되지 않은 경보가 없습니다{of_days}."),
        (0, true, Language::En) => format!("No alarm waits for an acknowledgement{of_days}."),
        (_, false, Language::Ko) => format!("열린 경보 {count}건{of_days}:"),
        (_, false, Language::En) => format!("Open alarms{of_days}: {count}"),
        (_, true, Language::Ko) => format!("확인되지 않은 경보 {count}건{of_days}:"),
        (_, true, Language::En) => format!("Alarms that nobody has acknowledged{of_days}: {count}"),
    };
    let lines = standing.iter().take(MAX_LISTED).map(|(core, alarm)| {
        let (name, risk) = (core.full_name(language), core.risk.label());
        let put_off = core.suppressed_in_words(language).map(|word| format!(", {word}"));
        let seen = format!("{}{}", alarm.in_words(language), put_off.unwrap_or_default());
        let risk = risk.in_language(language);
        let since = reader.clock_time(alarm.since);
        match language {
            Language::Ko => format!("- {name}: {risk}, {since}부터, {seen}"),
            Language::En => format!("- {name}: {risk}, since {since}, {seen}"),
        }
    });
    let others = (!earlier.is_empty()).then(|| {
        let named = earlier.iter().take(MAX_LISTED);
        let names: Vec<String> = named.map(|(core, _)| core.line(language)).collect();
        let (count, names) = (earlier.len(), names.join("\n- "));
        match language {
            Language::Ko => format!("다른 날에 시작되어 열려 있는 경보 {count}건:\n- {names}"),
            Language::En => format!("Open alarms that began on other days: {count}\n- {names}"),
        }
    });
    let rest = more(count, language).into_iter().chain(others);
    std::iter::once(head).chain(lines).chain(rest).collect::<Vec<_>>().join("\n")
}

/// What staff was told of any bearing, on the days that a clause names.
pub(super) async fn told_of_all(desk: &dyn Desk, clause: &str, reader: Reader) -> Option<String> {
    let language = reader.language;
    let all = desk.told_lately().await.ok()?;
    let span = reader.today().and_then(|today| dates::span_in(clause, today));
    let is_asked = |one: &&ToldLine| span.is_none_or(|span| span.holds(reader.day(one.at)));
    let of_days = span.map(|span| format!(" ({})", span.in_words())).unwrap_or_default();
    let asked: Vec<&ToldLine> = all.iter().filter(is_asked).collect();
    // what is said again is counted
    let (again, asked): (Vec<&ToldLine>, Vec<&ToldLine>) =
        asked.into_iter().partition(|one| one.reason == NotificationReason::Repeated);
    let again = (!again.is_empty()).then(|| match language {
        Language::Ko => format!("그 밖에 같은 경보의 재알림 {}건", again.len()),
        Language::En => format!("and {} reminders of alarms", again.len()),
    });
    let oldest = all.last().map(|one| one.at);
    let is_cut = span.zip(oldest).is_some_and(|(span, at)| span.from <= reader.day(at));
    let bound = is_cut.then(|| rests_on(&all, reader)).flatten();
    let lines: Vec<String> = asked
        .iter()
        .take(MAX_LISTED)
        .map(|one| {
            let to: Vec<&str> = one.told_to.iter().map(|to| to.in_language(language)).collect();
            let to = if to.is_empty() { String::new() } else { format!(" → {}", to.join(", ")) };
            format!("- {} {}{to}", reader.clock_time(one.at), one.title.in_language(language))
        })
        .collect();
    let head = match (lines.is_empty(), language) {
        (true, Language::Ko) => format!("보낸 알림이 없습니다{of_days}."),
        (true, Language::En) => format!("Nothing was told{of_days}."),
        (false, Language::Ko) => format!("보낸 알림{of_days}, 새것부터:"),
        (false, Language::En) => format!("What staff was told{of_days}, newest first:"),
    };
    let rest = more(asked.len(), language).into_iter().chain(again).chain(bound);
    Some(std::iter::once(head).chain(lines).chain(rest).collect::<Vec<_>>().join("\n"))
}

/// On how many messages an answer rests; nothing if there is none.
pub(super) fn rests_on(all: &[ToldLine], reader: Reader) -> Option<String> {
    let (count, since) = (all.len(), reader.clock_time(all.last()?.at));
    Some(match reader.language {
        Language::Ko => format!("최근 알림 {count}건({since}부터)만 살펴본 결과입니다."),
        Language::En => format!("This rests on the newest {count} messages, since {since}."),
    })
}

/// How many bearings and machines there are.
pub(super) fn count(fleet: &[CoreFields], language: Language) -> String {
    let mut machines: Vec<&str> = fleet.iter().map(|core| core.key.equipment.as_str()).collect();
    machines.sort_unstable();
    machines.dedup();
    let (bearings, machines) = (fleet.len(), machines.len());
    match language {
        Language::Ko => format!("판정하는 베어링은 {bearings}개, 설비는 {machines}대입니다."),
        Language::En => {
            let s = |count: usize| if count == 1 { "" } else { "s" };
            let (of_bearings, of_machines) = (s(bearings), s(machines));
            format!("I judge {bearings} bearing{of_bearings} of {machines} machine{of_machines}.")
        }
    }
}

/// Asks which of the bearings that stand is meant.
pub(super) fn which(fleet: &[CoreFields], language: Language) -> String {
    let standing = fleet.iter().filter(|core| core.risk > RiskLevel::Normal).take(MAX_LISTED);
    let lines = standing.map(|core| format!("- {}", core.line(language)));
    let head = match language {
        Language::Ko => "어느 베어링을 말씀하십니까? 정상이 아닌 베어링:",
        Language::En => "Which bearing do you mean? Not Normal are:",
    };
    std::iter::once(head.to_owned()).chain(lines).collect::<Vec<_>>().join("\n")
}

/// One gateway: whether it is connected, its last event, its bearings.
fn gateway_line(gateway: &GatewayLine, reader: Reader) -> String {
    let language = reader.language;
    let state = match (gateway.is_online, language) {
        (Some(true), Language::Ko) => "연결됨",
        (Some(true), Language::En) => "online",
        (Some(false), Language::Ko) => "통신 두절",
        (Some(false), Language::En) => "offline",
        (None, Language::Ko) => "연결 상태를 보낸 적 없음",
        (None, Language::En) => "has never sent its status",
    };
    let since = gateway.since.map(|at| format!(" ({})", reader.clock_time(at))).unwrap_or_default();
    let last = gateway.last_event_at.map_or_else(
        || match language {
            Language::Ko => "측정값 없음".to_owned(),
            Language::En => "no measurement yet".to_owned(),
        },
        |at| match language {
            Language::Ko => format!("마지막 측정값 {}", reader.clock_time(at)),
            Language::En => format!("last measurement {}", reader.clock_time(at)),
        },
    );
    let of = gateway.bearings.join(", ");
    let of = match (of.is_empty(), language) {
        (true, _) => String::new(),
        (false, Language::Ko) => format!(", 베어링 {of}"),
        (false, Language::En) => format!(", bearings {of}"),
    };
    format!("- {}: {state}{since}, {last}{of}", gateway.name)
}

/// Which gateways report, and which do not.
pub(super) async fn gateways(
    desk: &dyn Desk,
    clause: &str,
    of: Option<&CoreFields>,
    reader: Reader,
) -> Option<String> {
    let language = reader.language;
    let mut all = desk.gateways().await.ok()?;
    let lower = clause.to_lowercase();
    let is_named = |one: &GatewayLine| {
        let name = one.name.rsplit('/').next().unwrap_or_default().to_lowercase();
        let number = name.trim_start_matches(|c: char| !c.is_ascii_digit()).trim_start_matches('0');
        let by_number = ["번", "호"].iter().any(|unit| lower.contains(&format!(" {number}{unit}")));
        let is_whole = lower.match_indices(&name).any(|(at, _)| {
            !lower[at + name.len()..].starts_with(|c: char| c.is_ascii_alphanumeric())
        });
        !name.is_empty() && (is_whole || !number.is_empty() && by_number)
    };
    let measures = |one: &GatewayLine| of.is_some_and(|core| one.bearings.contains(&core.name()));
    if all.iter().any(is_named) {
        all.retain(is_named);
    } else if all.iter().any(measures) {
        all.retain(measures);
    }
    if all.is_empty() {
        return Some(match language {
            Language::Ko => "제 기록에 게이트웨이가 없습니다.".to_owned(),
            Language::En => "There is no gateway in my records.".to_owned(),
        });
    }
    let line = |gateway: &GatewayLine| gateway_line(gateway, reader);
    let (silent, others): (Vec<_>, Vec<_>) =
        all.iter().partition(|one| one.is_online == Some(false));
    let head = match (silent.len(), language) {
        (0, Language::Ko) => "통신이 끊겼다고 알린 게이트웨이는 없습니다.".to_owned(),
        (0, Language::En) => "No gateway is told to be offline.".to_owned(),
        (count, Language::Ko) => format!("통신이 끊긴 게이트웨이 {count}개:"),
        (count, Language::En) => format!("Offline gateways: {count}"),
    };
    let lines = silent.into_iter().chain(others).take(2 * MAX_LISTED).map(line);
    Some(std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n"))
}

/// Who is on duty: now, at an hour of the next day, or on a day of the next days.
pub(super) async fn duty(desk: &dyn Desk, clause: &str, reader: Reader) -> Option<String> {
    let language = reader.language;
    let roster = desk.duty().await.ok()??;
    let people = |names: &[String]| names.join(", ");
    let ahead = reader.today().and_then(|today| Some((dates::day_ahead_in(clause, today)?, today)));
    if let Some((day, today)) = ahead.filter(|(day, today)| day > today) {
        return Some(duty_of_day(&roster, day, today, language));
    }
    if let Some(hour) = dates::hour_in(clause) {
        let then = roster.hours.iter().filter(|(at, _, names)| *at == hour && !names.is_empty());
        let lines: Vec<String> = then
            .map(|(_, rota, names)| match language {
                Language::Ko => format!("- {rota}: {hour}시의 당직은 {}", people(names)),
                Language::En => format!("- {rota}: on duty at {hour}:00 is {}", people(names)),
            })
            .collect();
        if !lines.is_empty() {
            return Some(lines.join("\n"));
        }
    }
    let line = |(rota, names): &(String, Vec<String>)| match (names.is_empty(), language) {
        (true, Language::Ko) => format!("- {rota}: 지금 당직이 없습니다"),
        (true, Language::En) => format!("- {rota}: nobody is on duty now"),
        (false, Language::Ko) => format!("- {rota}: 지금 당직은 {}", people(names)),
        (false, Language::En) => format!("- {rota}: on duty now is {}", people(names)),
    };
    if !roster.rotas.is_empty() {
        let tomorrow = reader.today().and_then(|today| today.succ_opt());
        let soon =
            roster.changes.iter().filter(|(_, at, _)| tomorrow.is_none_or(|day| at.date() <= day));
        let changes = soon.map(|(rota, at, names)| {
            let at = at.format("%m-%d %H:%M");
            match language {
                Language::Ko => format!("- {rota}: {at}부터 {}", people(names)),
                Language::En => format!("- {rota}: from {at} on {}", people(names)),
            }
        });
        return Some(roster.rotas.iter().map(line).chain(changes).collect::<Vec<_>>().join("\n"));
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

/// Who is on duty on a day ahead: at its begin and after each change.
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

/// Says that a machine does not exist, with the names that are near.
pub(super) fn unknown(name: &UnknownName, is_registered: bool, language: Language) -> String {
    let (name, near) = (&name.name, name.near.join(", "));
    if is_registered {
        return match language {
            Language::Ko => format!("{name}: 설비 목록에는 있지만 판정하는 베어링이 없습니다."),
            Language::En => {
                format!("{name} is in the register of machines, but no bearing of it is judged.")
            }
        };
    }
    match (near.is_empty(), language) {
        (true, Language::Ko) => format!("{name}: 제 기록에 없는 설비입니다."),
        (true, Language::En) => format!("There is no {name} in my records."),
        (false, Language::Ko) => {
            format!("{name}: 제 기록에 없습니다. 혹시 {near} 가운데 하나입니까?")
        }
        (false, Language::En) => {
            format!("There is no {name} in my records. Did you mean one of: {near}?")
        }
    }
}

/// Says that the chat changes nothing, and where it is done.
pub(super) const fn read_only(language: Language) -> &'static str {
    match language {
        Language::Ko => {
            "이 대화는 기록을 조회만 하고 아무것도 바꾸지 않습니다. 경보 확인, 보류, 작업 보고는 베어링과 작업 페이지에서, 또는 `pdm-agent ack`, `shelve`, \
             `follow-up` 명령으로 합니다."
        }
        Language::En => {
            "This chat only looks up records and changes nothing. Acknowledge, shelve and report work on the pages of the \
             bearing and of the work, or by `pdm-agent ack`, `shelve` and `follow-up`."
        }
    }
}

/// What the chat answers without a model.
pub(super) const fn help(language: Language) -> &'static str {
    match language {
        Language::Ko => {
            "답할 수 있는 것: 베어링의 상태와 판정 근거, 언제부터 이상인지, 무엇이 변했는지, 측정값과 회전 속도(날짜별로도), 두 베어링의 비교, 잔여수명, \
             세워야 하는지와 할 일, 열린 경보, 보낸 알림과 확인, 당직, 게이트웨이와 측정이 끊긴 설비, 교체 절차와 토크·그리스·가열·틈새 값, 비슷한 사례, 용어의 뜻."
        }
        Language::En => {
            "I can answer: the state of a bearing and its grounds, since when it is abnormal, what has changed, its \
             figures and speed (of a day too), a comparison, the remaining life, whether to stop and what to do, open \
             alarms, what staff was told and who acknowledged, who is on duty, gateways and what is no longer measured, \
             procedures and values for torque, grease, heating and clearance, similar cases, \
             and what a word means."
        }
    }
}

/// Says that the records do not hold the answer, and what they hold.
pub(super) fn not_recorded(language: Language) -> String {
    let help = help(language);
    match language {
        Language::Ko => format!("그 답은 제 기록에 없습니다. {help}"),
        Language::En => format!("That is not in my records. {help}"),
    }
}
