//! Counts the alarms that staff was told of in some time, whatever has become of them since: in
//! all, by level, and by bearing.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use chrono::{Days, Months, NaiveTime};
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Language;

use super::dates::{self, Span};
use super::desk::{CoreFields, Desk, RaisedAlarm};
use super::intent::{self, PLAIN_WORDS};
use super::reader::Reader;
use super::sites;

/// Days that are counted where a clause names none, as the page of statistics does.
const DAYS: u64 = 30;
/// Bearings that are told one by one.
const MAX_TOLD: usize = 10;

/// Counts the alarms of the days that a clause names, else of the last thirty; `None` if they
/// cannot be counted.
pub(super) async fn alarm_counts(
    desk: &dyn Desk,
    fleet: &[CoreFields],
    clause: &str,
    reader: Reader,
) -> Option<String> {
    let today = reader.today()?;
    let span = dates::span_in(clause, today);
    let compared = span.filter(|_| intent::has(&clause.to_lowercase(), &PLAIN_WORDS.compared));
    let compared = compared.and_then(|span| before(span, &clause.to_lowercase()));
    let first = compared.or(span);
    let first =
        first.map_or_else(|| today.checked_sub_days(Days::new(DAYS)), |span| Some(span.from));
    let since = reader.zone.instant(first?.and_time(NaiveTime::MIN))?;
    let read = desk.alarms_since(since).await.ok()??;
    let sites = sites::all(fleet);
    let level = intent::level_in(&clause.to_lowercase());
    let is_in = |one: &RaisedAlarm, span: Option<Span>| {
        (sites.is_empty() || sites.contains(&one.key.site.as_str()))
            && span.is_none_or(|span| span.holds(reader.day(one.at)))
            && level.is_none_or(|level| level == one.level)
    };
    let asked: Vec<&RaisedAlarm> = read.alarms.iter().filter(|one| is_in(one, span)).collect();
    let change = compared.map(|span| {
        let count = read.alarms.iter().filter(|one| is_in(one, Some(span))).count();
        changed(asked.len(), (count, span), reader.language)
    });
    let open = fleet.iter().filter(|core| core.alarm.is_some());
    let open = open.filter(|core| level.is_none_or(|level| core.risk == level)).count();
    let parts = [
        dates::unread(clause, span, reader.language),
        Some(head(&asked, span, (level, read.is_cut), reader.language)),
        change,
        by_level(&asked, level, reader.language),
        by_bearing(&asked, fleet, reader.language),
        Some(open_now(open, reader.language)),
    ];
    Some(parts.into_iter().flatten().collect::<Vec<_>>().join("\n"))
}

/// The time before a time: the week before a week that has begun, the month before a month, else as
/// many days.
fn before(span: Span, clause: &str) -> Option<Span> {
    let to = span.from.pred_opt()?;
    if intent::has(clause, &PLAIN_WORDS.months) {
        return Some(Span { from: span.from.checked_sub_months(Months::new(1))?, to });
    }
    let days = if intent::has(clause, &PLAIN_WORDS.weeks) {
        7
    } else {
        u64::try_from((span.to - span.from).num_days() + 1).ok()?
    };
    Some(Span { from: span.from.checked_sub_days(Days::new(days))?, to })
}

/// Says how many there were in the time before, and whether they have become more.
fn changed(count: usize, (before, span): (usize, Span), language: Language) -> String {
    let span = span.in_words();
    match (count.cmp(&before), language) {
        (Ordering::Greater, Language::Ko) => format!("그 앞({span})에는 {before}건: 늘었습니다"),
        (Ordering::Less, Language::Ko) => format!("그 앞({span})에는 {before}건: 줄었습니다"),
        (Ordering::Equal, Language::Ko) => format!("그 앞({span})에도 {before}건: 같습니다"),
        (Ordering::Greater, Language::En) => format!("Before ({span}): {before}, so more now"),
        (Ordering::Less, Language::En) => format!("Before ({span}): {before}, so fewer now"),
        (Ordering::Equal, Language::En) => format!("Before ({span}): {before}, the same"),
    }
}

fn head(
    asked: &[&RaisedAlarm],
    span: Option<Span>,
    (level, is_cut): (Option<RiskLevel>, bool),
    language: Language,
) -> String {
    let count = asked.len();
    let days = match (span, language) {
        (Some(span), _) => span.in_words(),
        (None, Language::Ko) => format!("지난 {DAYS}일"),
        (None, Language::En) => format!("the last {DAYS} days"),
    };
    let level = level.map(RiskLevel::label);
    let level = level.as_ref().map(|label| format!("{} ", label.in_language(language)));
    let level = level.unwrap_or_default();
    match (is_cut, language) {
        (false, Language::Ko) => format!("{days}에 알린 {level}경보: {count}건(알린 시각 기준)"),
        (false, Language::En) => {
            format!(
                "{level}alarms that staff was told of in {days}: {count} (by the time of telling)"
            )
        }
        (true, Language::Ko) => {
            format!("{days}에 알린 {level}경보: {count}건 이상(기록이 더 있음)")
        }
        (true, Language::En) => {
            format!("{level}alarms that staff was told of in {days}: {count} or more")
        }
    }
}

fn by_level(
    asked: &[&RaisedAlarm],
    level: Option<RiskLevel>,
    language: Language,
) -> Option<String> {
    if asked.is_empty() || level.is_some() {
        return None;
    }
    let levels = [RiskLevel::Critical, RiskLevel::Warning, RiskLevel::Watch];
    let told = levels.map(|level| {
        let count = asked.iter().filter(|one| one.level == level).count();
        format!("{} {count}", level.label().in_language(language))
    });
    Some(format!("- {}", told.join(", ")))
}

/// The bearings with their numbers, those with the most first.
fn by_bearing(asked: &[&RaisedAlarm], fleet: &[CoreFields], language: Language) -> Option<String> {
    let mut counts: BTreeMap<&BearingKey, usize> = BTreeMap::new();
    for one in asked {
        *counts.entry(&one.key).or_default() += 1;
    }
    let mut counts: Vec<(&BearingKey, usize)> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let more = counts.len().saturating_sub(MAX_TOLD);
    let mut told: Vec<String> = counts
        .into_iter()
        .take(MAX_TOLD)
        .map(|(key, count)| {
            let core = fleet.iter().find(|core| core.key == *key);
            let name = core.map_or_else(|| key.to_string(), |core| core.full_name(language));
            format!("{name} {count}")
        })
        .collect();
    told.extend((more > 0).then(|| match language {
        Language::Ko => format!("그 밖에 베어링 {more}개"),
        Language::En => format!("and {more} other bearings"),
    }));
    (!told.is_empty()).then(|| format!("- {}", told.join("\n- ")))
}

fn open_now(open: usize, language: Language) -> String {
    match language {
        Language::Ko => format!("지금 열려 있는 경보: {open}건"),
        Language::En => format!("Open now: {open}"),
    }
}
