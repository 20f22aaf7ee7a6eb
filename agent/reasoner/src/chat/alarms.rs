//! The alarms that stand, and what staff was told, in sentences. Each time says whether it is that
//! of a measurement or of a message: after an outage they are days apart.

use chrono::NaiveDateTime;
use pdm_shared::delivery::NotificationReason;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Language;
use pdm_shared::time::Timestamp;

use super::dates::{self, Span};
use super::desk::{CoreFields, Desk, StandingAlarm, ToldLine, Watch};
use super::plant_records::{MAX_LISTED, more, rests_on};
use super::reader::Reader;
use super::{sites, suppressed, watching};

/// Words by which a clause asks for alarms that nobody has acknowledged.
const UNSEEN: [&str; 12] = [
    "미확인",
    "확인 안",
    "확인하지 않",
    "아무도 확인",
    "unacknowledged",
    "not acknowledged",
    "nobody",
    "anybody ack",
    "anyone ack",
    "not acked",
    "unacked",
    "looked at",
];

/// The alarms that stand: those of the days that a clause names, or those that nobody has
/// acknowledged.
pub(super) fn alarms(fleet: &[CoreFields], clause: &str, reader: Reader) -> String {
    let language = reader.language;
    let span = reader.today().and_then(|today| dates::span_in(clause, today));
    let lower = clause.to_lowercase();
    let is_unseen_asked = UNSEEN.iter().any(|word| lower.contains(word));
    let all_open = fleet.iter().filter(|core| core.alarm.is_some()).count();
    let (standing, earlier): (Vec<_>, Vec<_>) = fleet
        .iter()
        .filter_map(|core| Some((core, core.alarm.as_ref()?)))
        .filter(|(_, alarm)| !is_unseen_asked || alarm.acknowledged_by.is_none())
        .partition(|(core, alarm)| {
            let begun = core.abnormal_since.unwrap_or(alarm.since);
            let rose = core.risen.iter().map(|(_, at)| *at);
            let mut changes = std::iter::once(begun).chain(rose);
            span.is_none_or(|span| changes.any(|at| span.holds(reader.day(at))))
        });
    let of_days = span.map(|span| match language {
        Language::Ko => format!(" ({}의 측정에서 시작되거나 올라간 것)", span.in_words()),
        Language::En => {
            format!(" (of those that began or rose by measurements of {})", span.in_words())
        }
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
        (_, true, Language::Ko) => {
            format!("열린 경보 {all_open}건 가운데 확인되지 않은 경보 {count}건{of_days}:")
        }
        (_, true, Language::En) => format!(
            "Alarms that nobody has acknowledged{of_days}: {count} of {all_open} that are open"
        ),
    };
    let lines =
        standing.iter().take(MAX_LISTED).map(|(core, alarm)| alarm_line(core, alarm, reader));
    let beside = told_beside(fleet, reader);
    let others = (!earlier.is_empty()).then(|| {
        let named = earlier.iter().take(MAX_LISTED);
        let names: Vec<String> = named.map(|(core, _)| core.line(language)).collect();
        let (count, names) = (earlier.len(), names.join("\n- "));
        match language {
            Language::Ko => format!("그 밖의 날에 시작되어 열려 있는 경보 {count}건:\n- {names}"),
            Language::En => format!("Open alarms that began on other days: {count}\n- {names}"),
        }
    });
    let rest = more(count, language).into_iter().chain(beside).chain(others);
    let unread = dates::unread(clause, span, language);
    unread.into_iter().chain([head]).chain(lines).chain(rest).collect::<Vec<_>>().join("\n")
}

/// An alarm: since when by its measurements, when staff was told, whether it is seen or put off.
fn alarm_line(core: &CoreFields, alarm: &StandingAlarm, reader: Reader) -> String {
    let language = reader.language;
    let name = core.full_name(language);
    let put_off = core.suppressed_in_words(language).map(|word| format!(", {word}"));
    let seen = format!("{}{}", alarm.in_words(language), put_off.unwrap_or_default());
    let (risk, told) = (core.risk_in_words(language), reader.clock_time(alarm.since));
    let rose = core.reached_in_words(reader);
    match (core.abnormal_since.map(|at| reader.clock_time(at)), language) {
        (Some(since), Language::Ko) => {
            format!("- {name}: {risk}, 이상 {since}부터(측정){rose}, {told} 알림, {seen}")
        }
        (Some(since), Language::En) => {
            format!(
                "- {name}: {risk}, abnormal since {since} (measured){rose}, told {told}, {seen}"
            )
        }
        (None, Language::Ko) => format!("- {name}: {risk}{rose}, {told} 알림, {seen}"),
        (None, Language::En) => format!("- {name}: {risk}{rose}, told {told}, {seen}"),
    }
}

/// The bearings that staff is told of with another's alarm alone.
fn told_beside(fleet: &[CoreFields], reader: Reader) -> Option<String> {
    let beside = fleet.iter().filter(|core| core.alarm.is_none() && core.risk > RiskLevel::Normal);
    let lines: Vec<String> = beside
        .filter_map(|core| suppressed::suppressed(core, reader))
        .map(|line| format!("- {line}"))
        .collect();
    let (count, lines) = (lines.len(), lines.join("\n"));
    (count > 0).then(|| match reader.language {
        Language::Ko => format!("따로 알리지 않은 것 {count}건:\n{lines}"),
        Language::En => format!("Not told by themselves: {count}\n{lines}"),
    })
}

/// Lists the messages that staff was sent about any bearing on the days that a clause names.
pub(super) async fn told_of_all(
    desk: &dyn Desk,
    fleet: &[CoreFields],
    clause: &str,
    reader: Reader,
) -> Option<String> {
    let language = reader.language;
    let mut all = desk.told_lately().await.ok()?;
    let sites = sites::all(fleet);
    all.retain(|one| sites.is_empty() || sites.contains(&one.key.site.as_str()));
    let asked_time = AskedTime::of(clause, reader);
    let is_in = |at: Timestamp| asked_time.holds(at, reader);
    let of_days = asked_time.in_words();
    let began = if asked_time.is_some() {
        Some(changed_in(desk, fleet, is_in, reader).await)
    } else {
        None
    };
    let asked: Vec<&ToldLine> = all.iter().filter(|one| is_in(one.at)).collect();
    // what is said again is counted
    let (again, asked): (Vec<&ToldLine>, Vec<&ToldLine>) =
        asked.into_iter().partition(|one| one.reason == NotificationReason::Repeated);
    let again = (!again.is_empty()).then(|| match language {
        Language::Ko => format!("그 밖에 같은 경보의 재알림 {}건", again.len()),
        Language::En => format!("and {} reminders of alarms", again.len()),
    });
    let oldest = all.last().map(|one| one.at);
    let is_cut = asked_time.span.zip(oldest).is_some_and(|(span, at)| span.from <= reader.day(at));
    let bound = is_cut.then(|| rests_on(&all, reader)).flatten();
    let lines: Vec<String> =
        asked.iter().take(MAX_LISTED).map(|one| told_line(one, sites.len() > 1, reader)).collect();
    let head = match (lines.is_empty(), language) {
        (true, Language::Ko) => format!("보낸 알림이 없습니다{of_days}."),
        (true, Language::En) => format!("Nothing was told{of_days}."),
        (false, Language::Ko) => format!("보낸 알림{of_days}, 새것부터:"),
        (false, Language::En) => format!("What staff was told{of_days}, newest first:"),
    };
    let rest = more(asked.len(), language).into_iter().chain(again).chain(bound);
    let unread = dates::unread(clause, asked_time.span, language);
    let unread = unread.filter(|_| asked_time.night.is_none());
    let first = unread.into_iter().chain(began).chain([head]);
    Some(first.chain(lines).chain(rest).collect::<Vec<_>>().join("\n"))
}

/// A message of a list, with its site where the plant has several, and whom it went to.
fn told_line(one: &ToldLine, is_of_many_sites: bool, reader: Reader) -> String {
    let language = reader.language;
    let to: Vec<&str> = one.told_to.iter().map(|to| to.in_language(language)).collect();
    let to = if to.is_empty() { String::new() } else { format!(" → {}", to.join(", ")) };
    let site = if is_of_many_sites { format!("{}: ", one.key.site) } else { String::new() };
    format!("- {} {site}{}{to}", reader.clock_time(one.at), one.title.in_language(language))
}

/// The time that a clause asks about: hours of a night, or days.
#[derive(Debug, Clone, Copy)]
struct AskedTime {
    night: Option<(NaiveDateTime, NaiveDateTime)>,
    span: Option<Span>,
}

impl AskedTime {
    fn of(clause: &str, reader: Reader) -> Self {
        let today = reader.today();
        Self {
            night: today.and_then(|today| dates::hours_in(clause, today)),
            span: today.and_then(|today| dates::span_in(clause, today)),
        }
    }

    const fn is_some(self) -> bool {
        self.night.is_some() || self.span.is_some()
    }

    fn holds(self, at: Timestamp, reader: Reader) -> bool {
        match (self.night, self.span) {
            (Some((from, to)), _) => (from..to).contains(&reader.zone.local(at)),
            (None, Some(span)) => span.holds(reader.day(at)),
            (None, None) => true,
        }
    }

    /// Returns ` (2026-11-20 – 2026-11-22)`; empty where no time is asked about.
    fn in_words(self) -> String {
        match (self.night, self.span) {
            (Some((from, to)), _) => {
                format!(" ({} – {})", from.format("%Y-%m-%d %H:%M"), to.format("%m-%d %H:%M"))
            }
            (None, Some(span)) => format!(" ({})", span.in_words()),
            (None, None) => String::new(),
        }
    }
}

/// Lists the bearings whose abnormality began or rose within a time, by their measurements and
/// whenever staff was told of it, and the gateways that were lost. A rise within an abnormality
/// counts as a change at its own time.
async fn changed_in(
    desk: &dyn Desk,
    fleet: &[CoreFields],
    is_in: impl Fn(Timestamp) -> bool + Send + Sync,
    reader: Reader,
) -> String {
    let language = reader.language;
    let mut all: Vec<(Timestamp, String)> = Vec::new();
    for core in fleet {
        all.extend(levels_in(core, reader));
        all.extend(match &core.watch {
            // its gateway is told below
            Watch::Judged | Watch::Silent { .. } => None,
            Watch::Standing { since, .. } | Watch::Invalid { since, .. } => {
                watching::unseen(core, reader).map(|told| (*since, told))
            }
        });
    }
    let sites = sites::all(fleet);
    let gateways = desk.gateways().await.unwrap_or_default();
    let lost = gateways.into_iter().filter(|one| {
        let site = one.name.split_once('/').map(|(site, _)| site);
        one.is_online == Some(false) && site.is_none_or(|site| sites.contains(&site))
    });
    all.extend(lost.filter_map(|one| {
        let told = match language {
            Language::Ko => format!("게이트웨이 {}: 통신 두절", one.name),
            Language::En => format!("gateway {}: offline", one.name),
        };
        Some((one.since?, told))
    }));
    all.retain(|(at, _)| is_in(*at));
    all.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    let lines: Vec<String> =
        all.iter().map(|(at, told)| format!("- {} {told}", reader.clock_time(*at))).collect();
    match (lines.is_empty(), language) {
        (true, Language::Ko) => {
            "이 시간의 측정에서 시작되거나 올라가 지금도 이어지는 것은 없습니다.".to_owned()
        }
        (true, Language::En) => {
            "Nothing that still stands began or rose by measurements of this time.".to_owned()
        }
        (false, Language::Ko) => format!(
            "이 시간의 측정에서 시작되거나 올라가 지금도 이어지는 것(측정 시각):\n{}",
            lines.join("\n")
        ),
        (false, Language::En) => format!(
            "Began or rose by measurements of this time and still stands (times of \
             measurement):\n{}",
            lines.join("\n")
        ),
    }
}

/// The begin of a bearing's abnormality and the levels that it reached since, each with its time.
fn levels_in(core: &CoreFields, reader: Reader) -> Vec<(Timestamp, String)> {
    let language = reader.language;
    if core.risk <= RiskLevel::Normal {
        return Vec::new();
    }
    let line = core.line(language);
    let reached = core.level_since();
    let of = |level: RiskLevel, at: Timestamp| {
        let label = level.label();
        let label = label.in_language(language);
        let told = match (level == core.risk, language) {
            (true, Language::Ko) => format!("{label} 도달: {line}"),
            (true, Language::En) => format!("reached {label}: {line}"),
            (false, Language::Ko) => format!(
                "{label} 도달: {}, 지금은 {}",
                core.full_name(language),
                core.risk_in_words(language)
            ),
            (false, Language::En) => format!(
                "reached {label}: {}, now {}",
                core.full_name(language),
                core.risk_in_words(language)
            ),
        };
        (at, told)
    };
    let mut all: Vec<(Timestamp, String)> =
        core.risen.iter().map(|(level, at)| of(*level, *at)).collect();
    let is_told = |at: Timestamp| core.risen.iter().any(|(_, risen)| *risen == at);
    all.extend(core.abnormal_since.filter(|at| !is_told(*at)).map(|at| {
        let told = match (reached, language) {
            (None, _) => line.clone(),
            (Some(_), Language::Ko) => format!("이상 시작: {}", core.full_name(language)),
            (Some(_), Language::En) => format!("became abnormal: {}", core.full_name(language)),
        };
        (at, told)
    }));
    all
}
