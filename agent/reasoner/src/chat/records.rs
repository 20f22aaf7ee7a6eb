//! Tells the records of one bearing in sentences.

use pdm_shared::follow_up::FollowUpState;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::{Language, Text};
use pdm_shared::time::Timestamp;

use super::desk::{CoreFields, Focus, NoteLine, Watch, WorkLine};
use super::extract::Sources;
use super::figures::age;
use super::intent::{Lookup, QUESTION_WORDS, has};
use super::reader::Reader;
use super::suppressed;
use super::watching;
use super::{entities, notified, stopping};

/// Notes that stand beside work.
const MAX_NOTES: usize = 3;

/// Returns the result of a look-up of one bearing in sentences.
#[expect(clippy::too_many_lines, reason = "a table: one entry a look-up")]
pub(super) fn record_in_words(
    lookup: Lookup,
    focus: &Focus,
    clause: &str,
    reader: Reader,
) -> Option<String> {
    let language = reader.language;
    match lookup {
        Lookup::Onset => Some(onset(focus, reader)),
        Lookup::Stop => Some(stopping::stop(focus, clause, reader)),
        Lookup::Doubts => Some(doubts(focus, reader)),
        Lookup::Life => Some(life(focus, language)),
        Lookup::Work => Some(work(focus, reader)),
        Lookup::Told => Some(notified::notified(focus, clause, reader)),
        Lookup::Changes
        | Lookup::Why
        | Lookup::State
        | Lookup::Past
        | Lookup::Overdue
        | Lookup::Shelf
        | Lookup::Sensors
        | Lookup::Notes
        | Lookup::NotesOfAll
        | Lookup::Lines
        | Lookup::Fleet
        | Lookup::Sites
        | Lookup::Stops
        | Lookup::Standing
        | Lookup::Count
        | Lookup::Sound
        | Lookup::Alarms
        | Lookup::AlarmCounts
        | Lookup::Verdicts
        | Lookup::Thresholds
        | Lookup::ZoneLimits
        | Lookup::DueNext
        | Lookup::Assigned
        | Lookup::Replacement
        | Lookup::Own
        | Lookup::Handover
        | Lookup::OutOfScope
        | Lookup::NotRead
        | Lookup::Stock
        | Lookup::LeadTime
        | Lookup::ReplaceTime
        | Lookup::ToldOfAll
        | Lookup::WorkOfAll
        | Lookup::Heard
        | Lookup::Zones
        | Lookup::Figures
        | Lookup::Speed
        | Lookup::Identity
        | Lookup::Unmeasured
        | Lookup::Compare
        | Lookup::Duty
        | Lookup::Route
        | Lookup::Person
        | Lookup::Gateways
        | Lookup::Meaning
        | Lookup::Value
        | Lookup::Manual
        | Lookup::Search
        | Lookup::Cases
        | Lookup::Which
        | Lookup::Act
        | Lookup::Program
        | Lookup::Help => None,
    }
}

pub(super) fn list(head: &Text, lines: Vec<String>, language: Language) -> Option<String> {
    let head = head.in_language(language);
    (!lines.is_empty()).then(|| format!("{head}\n{}", lines.join("\n")))
}

fn bullets(texts: &[Text], language: Language) -> Vec<String> {
    texts.iter().map(|text| format!("- {}", text.in_language(language))).collect()
}

fn uncertain(focus: &Focus, language: Language) -> Option<String> {
    list(&Text::new("불확실성:", "Uncertainty:"), bullets(&focus.doubts, language), language)
}

fn state(focus: &Focus, reader: Reader) -> String {
    let language = reader.language;
    let line = focus.core.line(language);
    let advice = focus.advice.in_language(language);
    let unseen = watching::unseen(&focus.core, reader);
    // an advice of before says nothing of a machine that cannot be judged now
    let advice = focus.core.is_advised().then(|| format!("→ {advice}"));
    let parts = [
        Some(line),
        unseen,
        advice,
        levels(focus, language),
        watching::temperature(focus, language),
        age(&focus.core, reader),
        suppressed::suppressed(&focus.core, reader),
        uncertain(focus, language),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// `진동속도 1.9 mm/s, 첨도 5.1`
pub(super) fn levels(focus: &Focus, language: Language) -> Option<String> {
    let told = focus.record.levels.iter().map(|level| {
        let value = pdm_expert::wording::figure(level.value);
        format!("{} {value} {}", level.name.in_language(language), level.unit).trim().to_owned()
    });
    let told: Vec<String> = told.collect();
    let head = match focus.core.watch {
        Watch::Judged | Watch::Standing { .. } | Watch::Silent { .. } => {
            Text::new("마지막 측정: ", "Last measurement: ")
        }
        // what no judgement rests on is told as what it is
        Watch::Invalid { .. } => Text::new(
            "마지막 측정(무효, 판정에 쓰지 않음): ",
            "Last measurement (not valid, no judgement rests on it): ",
        ),
    };
    (!told.is_empty()).then(|| format!("{}{}", head.in_language(language), told.join(", ")))
}

/// The state of a bearing, with the other bearings of its machine where a clause names the machine
/// alone.
pub(super) fn state_of_machine(
    sources: &Sources<'_>,
    focus: &Focus,
    clause: &str,
    reader: Reader,
) -> String {
    let others = others_of_machine(sources, &focus.core, clause, reader);
    let parts = std::iter::once(state(focus, reader)).chain(others);
    parts.collect::<Vec<_>>().join("\n")
}

/// The other bearings of the machine, where a clause names the machine alone.
fn others_of_machine(
    sources: &Sources<'_>,
    core: &CoreFields,
    clause: &str,
    reader: Reader,
) -> Option<String> {
    let language = reader.language;
    let is_asked = entities::names_bearing(clause, core) || entities::asks_for_neighbour(clause);
    let is_other = |other: &&CoreFields| {
        other.key.equipment == core.key.equipment
            && other.key.site == core.key.site
            && other.key.bearing != core.key.bearing
            && sources.foci.iter().all(|focus| focus.core.key != other.key)
    };
    let others = sources.fleet.iter().filter(is_other).filter(|_| !is_asked);
    let lines: Vec<String> = others.map(|other| other.line(language)).collect();
    (!lines.is_empty()).then(|| match language {
        Language::Ko => format!("같은 설비의 다른 베어링:\n{}", lines.join("\n")),
        Language::En => format!("Other bearings of the machine:\n{}", lines.join("\n")),
    })
}

/// Lists the notes on a bearing, newest first, with who acknowledged its alarm.
pub(super) fn notes(focus: &Focus, reader: Reader) -> String {
    let language = reader.language;
    let lines: Vec<String> = focus.record.notes.iter().map(|note| written(note, reader)).collect();
    let none =
        Text::new("적힌 메모나 점검 결과가 없습니다.", "No note and no finding is recorded.");
    let head = Text::new("메모와 점검 결과, 새것부터:", "Notes and findings, newest first:");
    let listed = list(&head, lines, language);
    let listed = listed.unwrap_or_else(|| none.in_language(language).to_owned());
    let seen = notified::acknowledged(focus, reader);
    let parts = [Some(focus.core.full_name(language)), seen, Some(listed)];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

pub(super) fn written(note: &NoteLine, reader: Reader) -> String {
    let language = reader.language;
    let found = note.found.as_ref().map(|found| found.in_language(language).to_owned());
    let said: Vec<String> = found.into_iter().chain(note.note.clone()).collect();
    format!("- {} {}: {}", reader.clock_time(note.at), note.by, said.join(". "))
}

/// The grounds of the last judgement.
pub(super) fn why(focus: &Focus, language: Language) -> Option<String> {
    let mut lines = bullets(&focus.grounds, language);
    lines.extend(focus.disagreement.iter().map(|text| text.in_language(language).to_owned()));
    list(&Text::new("판정 근거:", "Grounds of the judgement:"), lines, language)
}

pub(super) fn onset(focus: &Focus, reader: Reader) -> String {
    let language = reader.language;
    let name = focus.core.name();
    let unseen = watching::unseen(&focus.core, reader);
    let Some(onset) = &focus.record.onset else {
        let none = match language {
            Language::Ko => format!("{name}: 제 기록에는 이상이 시작된 적이 없습니다."),
            Language::En => format!("{name}: no abnormality has begun in my records."),
        };
        return unseen.into_iter().chain([none]).collect::<Vec<_>>().join("\n");
    };
    let begun = reader.clock_time(onset.opened_at);
    let head = match (language, onset.closed_at.map(|at| reader.clock_time(at))) {
        (Language::Ko, None) => {
            format!("{name}: {begun}부터 이상이 이어지고 있습니다(측정 시각).")
        }
        (Language::En, None) => format!("{name}: abnormal since {begun} (time of measurement)."),
        (Language::Ko, Some(over)) => {
            format!("{name}: 지금은 이상이 없습니다. 마지막 이상은 {begun}부터 {over}까지였습니다.")
        }
        (Language::En, Some(over)) => {
            format!("{name}: nothing stands now. The last abnormality was from {begun} to {over}.")
        }
    };
    let told = onset.levels.iter().filter_map(|(level, at)| {
        let (label, at) = (level.label(), reader.clock_time((*at)?));
        let label = label.in_language(language);
        let told = first_told(focus, *level, onset.opened_at).map(|at| reader.clock_time(at));
        Some(match (language, told) {
            (Language::Ko, Some(told)) => format!("- {label}: {at}의 측정으로 판정, {told} 알림"),
            (Language::Ko, None) => format!("- {label}: {at}의 측정으로 판정"),
            (Language::En, Some(told)) => {
                format!("- {label}: by the measurement of {at}, told {told}")
            }
            (Language::En, None) => format!("- {label}: by the measurement of {at}"),
        })
    });
    unseen.into_iter().chain([head]).chain(told).collect::<Vec<_>>().join("\n")
}

/// Returns when staff was first told of a level since an abnormality began, as far as the messages
/// that were read reach.
fn first_told(focus: &Focus, level: RiskLevel, since: Timestamp) -> Option<Timestamp> {
    let begin = format!("[{}]", level.label().en);
    let of_level =
        focus.told.iter().filter(|(at, title)| *at >= since && title.en.starts_with(&begin));
    of_level.map(|(at, _)| *at).min()
}

fn doubts(focus: &Focus, reader: Reader) -> String {
    let language = reader.language;
    let screening = focus.grounds.first().map(|text| text.in_language(language).to_owned());
    let none = Text::new("불확실성: 기록된 원인이 없습니다.", "Uncertainty: no cause is recorded.");
    let doubts =
        uncertain(focus, language).unwrap_or_else(|| none.in_language(language).to_owned());
    let evidence = Text::new("근거", "Evidence");
    let evidence = evidence.in_language(language);
    let notes: Vec<String> = focus.record.notes.iter().map(|note| written(note, reader)).collect();
    let notes = list(&Text::new("현장 기록:", "From the machine:"), notes, language);
    let line = focus.core.line(language);
    let parts =
        [Some(line), screening.map(|text| format!("{evidence}: {text}")), Some(doubts), notes];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

pub(super) fn life(focus: &Focus, language: Language) -> String {
    let ground = focus.grounds.get(3).map(|text| text.in_language(language));
    let hours = focus.core.rul_hours.map_or_else(
        || match language {
            Language::Ko => format!("{}: 잔여수명을 추정하지 않았습니다", focus.core.name()),
            Language::En => format!("{}: no remaining life is estimated", focus.core.name()),
        },
        |hours| match language {
            Language::Ko => format!("계획에 쓰는 잔여수명 {hours:.0}시간"),
            Language::En => format!("Remaining life to plan with: {hours:.0} h"),
        },
    );
    let parts: Vec<String> = std::iter::once(hours).chain(ground.map(str::to_owned)).collect();
    parts.join(". ")
}

fn work(focus: &Focus, reader: Reader) -> String {
    let language = reader.language;
    // an advice of before says nothing of a machine that cannot be judged now
    let advice =
        focus.core.is_advised().then(|| format!("→ {}", focus.advice.in_language(language)));
    let unseen = watching::unseen(&focus.core, reader);
    let open = focus.work.iter().filter(|work| work.state == FollowUpState::Open);
    let rest = focus.work.iter().filter(|work| work.state == FollowUpState::Done);
    let dropped = focus.work.iter().filter(|work| work.state == FollowUpState::Dropped);
    let lines: Vec<String> =
        open.chain(rest).chain(dropped).map(|work| worked(work, reader)).collect();
    let head = Text::new("요청된 조치:", "Work that is asked for:");
    let notes: Vec<String> =
        focus.record.notes.iter().take(MAX_NOTES).map(|note| written(note, reader)).collect();
    let notes = list(
        &Text::new("현장 기록, 새것부터:", "What people wrote, newest first:"),
        notes,
        language,
    );
    let has_open = focus.work.iter().any(|work| work.state == FollowUpState::Open);
    let none = Text::new("열린 작업이 없습니다.", "No work is open, and none is ordered.");
    let none = (!has_open).then(|| none.in_language(language).to_owned());
    let listed = list(&head, lines, language);
    let line = focus.core.line(language);
    let parts = [Some(line), unseen, advice, none, listed, notes];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// The work that staff does not do, with who says so and why.
pub(super) fn dropped_of(focus: &Focus, reader: Reader) -> Option<String> {
    let language = reader.language;
    let dropped = focus.work.iter().filter(|work| work.state == FollowUpState::Dropped);
    let mut lines: Vec<String> = dropped.map(|work| worked(work, reader)).collect();
    if lines.is_empty() {
        return None;
    }
    let is_of_drop =
        |note: &&NoteLine| note.found.as_ref().is_some_and(|found| found.en.contains("dropped"));
    lines.extend(focus.record.notes.iter().filter(is_of_drop).map(|note| written(note, reader)));
    let head = match language {
        Language::Ko => format!("{}: 하지 않기로 한 작업", focus.core.full_name(language)),
        Language::En => format!("{}: work that was dropped", focus.core.full_name(language)),
    };
    Some(format!("{head}\n{}", lines.join("\n")))
}

/// The work that staff does not do, of all bearings.
fn dropped_work(foci: &[Focus], reader: Reader) -> String {
    let all: Vec<String> = foci.iter().filter_map(|focus| dropped_of(focus, reader)).collect();
    let none = Text::new("하지 않기로 한 작업이 없습니다.", "No work was dropped.");
    if all.is_empty() { none.in_language(reader.language).to_owned() } else { all.join("\n") }
}

/// The open work of all bearings.
pub(super) fn work_of_all(foci: &[Focus], clause: &str, reader: Reader) -> String {
    let language = reader.language;
    let lower = clause.to_lowercase();
    if has(&lower, &QUESTION_WORDS.dropped) {
        return dropped_work(foci, reader);
    }
    let orders =
        foci.iter().flat_map(|focus| &focus.work).filter_map(|work| work.work_order.as_ref());
    let orders: Vec<&String> =
        orders.filter(|order| lower.contains(&order.to_lowercase())).collect();
    // an order that is named is told in whichever state it is
    let is_asked = |work: &&WorkLine| match &work.work_order {
        Some(order) if !orders.is_empty() => orders.contains(&order),
        Some(_) | None => orders.is_empty() && work.state == FollowUpState::Open,
    };
    let of = |focus: &Focus| {
        let open = focus.work.iter().filter(is_asked);
        let lines: Vec<String> = open.map(|work| worked(work, reader)).collect();
        (!lines.is_empty())
            .then(|| format!("{}:\n{}", focus.core.full_name(language), lines.join("\n")))
    };
    let all: Vec<String> = foci.iter().filter_map(of).collect();
    let none = Text::new("열린 작업이 없습니다.", "No work is open, and none is ordered.");
    if all.is_empty() {
        return none.in_language(language).to_owned();
    }
    let head = orders.is_empty().then(|| orders_in_short(foci, language)).flatten();
    head.into_iter().chain(all).collect::<Vec<_>>().join("\n")
}

/// Says how many work orders are open, and names the oldest: orders are numbered by their day.
fn orders_in_short(foci: &[Focus], language: Language) -> Option<String> {
    let open = foci.iter().flat_map(|focus| {
        let open = focus.work.iter().filter(|work| work.state == FollowUpState::Open);
        open.filter_map(move |work| Some((work.work_order.as_ref()?, &focus.core)))
    });
    let mut open: Vec<(&String, &CoreFields)> = open.collect();
    open.sort_by_key(|(order, _)| *order);
    open.dedup_by_key(|(order, _)| *order);
    let (oldest, core) = open.first()?;
    let (count, name) = (open.len(), core.full_name(language));
    Some(match language {
        Language::Ko => format!("열린 작업 지시 {count}건, 가장 오래된 것 {oldest} ({name})"),
        Language::En => format!("Open work orders: {count}, the oldest {oldest} ({name})"),
    })
}

/// Whether open work should have been done by now.
fn is_overdue(work: &WorkLine, reader: Reader) -> bool {
    let is_past = work.due_at.zip(reader.now).is_some_and(|(due_at, now)| due_at < now);
    work.state == FollowUpState::Open && is_past
}

/// The open work whose time is over, the latest first.
pub(super) fn overdue_work(foci: &[Focus], reader: Reader) -> String {
    let language = reader.language;
    let late = |focus: &Focus| {
        let late: Vec<&WorkLine> =
            focus.work.iter().filter(|work| is_overdue(work, reader)).collect();
        let first = late.iter().filter_map(|work| work.due_at).min()?;
        let lines: Vec<String> = late.into_iter().map(|work| worked(work, reader)).collect();
        Some((first, format!("{}:\n{}", focus.core.full_name(language), lines.join("\n"))))
    };
    let mut all: Vec<(Timestamp, String)> = foci.iter().filter_map(late).collect();
    all.sort_by_key(|(first, _)| *first);
    let none = Text::new("기한이 지난 작업이 없습니다.", "No open work is overdue.");
    let head = Text::new("기한이 지난 작업:", "Overdue work:");
    let lines: Vec<String> = all.into_iter().map(|(_, text)| text).collect();
    list(&head, lines, language).unwrap_or_else(|| none.in_language(language).to_owned())
}

pub(super) fn worked(work: &WorkLine, reader: Reader) -> String {
    let language = reader.language;
    let state = match work.state {
        FollowUpState::Open => Text::new("남음", "open"),
        FollowUpState::Done => Text::new("완료", "done"),
        FollowUpState::Dropped => Text::new("하지 않음", "dropped"),
        FollowUpState::Superseded => Text::new("대체됨", "superseded"),
    };
    let late = match (is_overdue(work, reader), language) {
        (false, _) => "",
        (true, Language::Ko) => ", 기한 지남",
        (true, Language::En) => ", overdue",
    };
    let until = work.due_at.map(|at| match language {
        Language::Ko => format!(", 기한 {}{late}", reader.clock_time(at)),
        Language::En => format!(", due {}{late}", reader.clock_time(at)),
    });
    let until = until.unwrap_or_default();
    let order = work.work_order.as_ref().map(|order| format!(", {order}")).unwrap_or_default();
    let (action, state) = (work.action.in_language(language), state.in_language(language));
    format!("- {action} ({state}{until}{order})")
}
