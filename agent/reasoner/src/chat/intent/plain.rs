//! Kinds of questions that a few words decide alone (`config/words/plain.toml`), before the lists
//! of `questions.toml` and the likeness to other questions are asked: those that were taken for a
//! commoner kind, such as a count of false alarms for one of alarms.

use super::lookup::Lookup;
use super::named::{Topic, topic};
use super::words::{QUESTION_WORDS, has};
use crate::chat::{bare, dates, stated};

pub(in crate::chat) use of_one::asks_why_untold;
pub(in crate::chat) use words::PLAIN_WORDS;

mod bodily;
mod of_one;
mod words;

/// Returns the look-ups that a clause plainly asks for, whatever its other words are; `None` if it
/// plainly asks for none.
pub(super) fn plain(clause: &str, names_bearing: bool, is_about_one: bool) -> Option<Vec<Lookup>> {
    let text = clause.to_lowercase();
    if has(&text, &QUESTION_WORDS.act) && !super::asks_who(&text) {
        return None;
    }
    if !names_bearing && is_outside(&text) {
        return Some(vec![Lookup::OutOfScope]);
    }
    let spoken = (names_bearing, is_about_one);
    let found = match of_rules(&text, spoken) {
        Some(found) => found,
        None if is_order(&text) => return Some(vec![Lookup::Act]),
        None => match of_acts(clause, &text, is_about_one) {
            Some(found) => return Some(found),
            None => of_staff_and_parts(clause, &text, spoken)?,
        },
    };
    Some(with_halves(found, clause, names_bearing, is_about_one))
}

/// What a clause plainly asks for of rules and limits.
fn of_rules(text: &str, (names_bearing, is_about_one): (bool, bool)) -> Option<Vec<Lookup>> {
    let words = &*PLAIN_WORDS;
    let is_of_whole = !names_bearing && !is_about_one;
    Some(match () {
        () if asks_verdicts(text, names_bearing) => vec![Lookup::Verdicts],
        () if is_about_one && has(text, &words.false_alarms) => {
            vec![Lookup::Verdicts, Lookup::Doubts]
        }
        () if asks_zone_limits(text) || is_of_whole && rates_value(text) => {
            vec![Lookup::ZoneLimits]
        }
        () if asks_thresholds(text) => {
            let why = names_bearing && has(text, &QUESTION_WORDS.why)
                || is_about_one && has(text, &words.decided);
            why.then_some(Lookup::Why).into_iter().chain([Lookup::Thresholds]).collect()
        }
        () if has(text, &words.due_next) => {
            let is_late = has(text, &QUESTION_WORDS.overdue);
            is_late.then_some(Lookup::Overdue).into_iter().chain([Lookup::DueNext]).collect()
        }
        () => return None,
    })
}

/// What a clause plainly asks for where it states a reading, or asks for what no level of vibration
/// answers.
fn of_acts(clause: &str, text: &str, is_about_one: bool) -> Option<Vec<Lookup>> {
    if asks_contact(text) {
        return None;
    }
    if is_about_one && stated::reading_in(clause).is_some() {
        return Some(vec![Lookup::Manual, Lookup::Stop]);
    }
    bodily::asked_of_safety(text, is_about_one)
}

/// What a clause plainly asks for of alarms and who takes them, of parts, and of machines.
fn of_staff_and_parts(
    clause: &str,
    text: &str,
    (names_bearing, is_about_one): (bool, bool),
) -> Option<Vec<Lookup>> {
    let words = &*PLAIN_WORDS;
    let is_of_whole = !names_bearing && !is_about_one;
    let is_of_time = dates::names_day(clause) || dates::names_weekend(clause);
    let of_one = of_one::asked_of_one(clause, text, (names_bearing, is_about_one));
    Some(match () {
        () if has(text, &words.how) && has(text, &words.alarm_acts) => vec![Lookup::Act],
        () if !is_about_one && has(text, &words.of_program) => vec![Lookup::Program],
        () if asks_contact(text) => {
            let duty = has(text, &QUESTION_WORDS.duty).then_some(Lookup::Duty);
            std::iter::once(Lookup::Search).chain(duty).collect()
        }
        () if of_one.is_some() => return of_one,
        () if !names_bearing && counts_level(clause, text) => vec![Lookup::Fleet],
        () if has(text, &words.escalation)
            || has(text, &words.who_hears) && has(text, &words.if_nobody) =>
        {
            let on_duty = is_of_time.then_some(Lookup::Duty);
            on_duty.into_iter().chain([Lookup::Route]).collect()
        }
        () if has(text, &words.permission) && has(text, &words.conditions) => {
            let stop = (is_about_one && has(text, &words.running)).then_some(Lookup::Stop);
            std::iter::once(Lookup::Manual).chain(stop).collect()
        }
        () if is_about_one && has(text, &words.not_running) && has(text, &words.why_or_until) => {
            vec![Lookup::Shelf, Lookup::State]
        }
        () if asks_assigned(text, names_bearing) => vec![Lookup::Assigned],
        () if asks_stock(text) => vec![Lookup::Stock],
        () if has(text, &words.procedures) => vec![Lookup::Manual],
        () if is_of_whole && is_of_time && has(text, &words.changed) => vec![Lookup::ToldOfAll],
        () if is_of_whole && is_of_time && asks_what_came(clause, text) => vec![Lookup::ToldOfAll],
        () => of_records(clause, text, (names_bearing, is_about_one))?,
    })
}

/// Returns the look-ups that a clause plainly asks for in the records of one machine, or in the
/// notes.
fn of_records(
    clause: &str,
    text: &str,
    (names_bearing, is_about_one): (bool, bool),
) -> Option<Vec<Lookup>> {
    let words = &*PLAIN_WORDS;
    let is_of_whole = !names_bearing && !is_about_one;
    Some(match () {
        () if names_bearing && has(text, &words.first_of) => vec![Lookup::Compare, Lookup::Work],
        () if is_about_one && has(text, &words.same_bearing) => vec![Lookup::Identity],
        () if is_about_one && has(text, &words.same_fault) => vec![Lookup::Compare],
        () if is_of_whole && has(text, &words.who_found) => {
            vec![Lookup::NotesOfAll, Lookup::Verdicts]
        }
        () if is_about_one && has(text, &words.ever_done) => vec![Lookup::Notes],
        () if (names_bearing || is_about_one) && has(text, &words.last_heard) => {
            vec![Lookup::Heard]
        }
        () if is_about_one && topic(clause) == Some(Topic::Grease) && has(text, &words.greased) => {
            vec![Lookup::Notes]
        }
        () if is_about_one && has(text, &words.when) && has(text, &words.replacement) => {
            vec![Lookup::Life, Lookup::Work]
        }
        () if is_about_one && has(text, &words.compared_days) => vec![Lookup::Changes],
        () => return None,
    })
}

/// Returns the look-ups of a shift handover: what stands, what is late, put off or blind, and the
/// messages to staff; the parts in store if the text speaks of parts.
pub(in crate::chat) fn handed_over(text: &str) -> Vec<Lookup> {
    use Lookup as L;
    let parts = has(text, &PLAIN_WORDS.parts).then_some(L::Stock);
    let rest = [L::Overdue, L::Shelf, L::Sensors, L::NotesOfAll, L::ToldOfAll];
    std::iter::once(L::Fleet).chain(parts).chain(rest).collect()
}

/// Whether a clause asks whether something may be done.
pub(in crate::chat) fn asks_permission(clause: &str) -> bool {
    has(&clause.to_lowercase(), &PLAIN_WORDS.permission)
}

/// Whether a message asks whether something may be done under a condition of which vibration says
/// nothing.
pub(in crate::chat) fn asks_under_condition(message: &str) -> bool {
    asks_permission(message) && has(&message.to_lowercase(), &PLAIN_WORDS.conditions)
}

/// Whether a clause asks for what a judgement of vibration does not cover.
pub(in crate::chat) fn asks_beyond_vibration(clause: &str) -> bool {
    let text = clause.to_lowercase();
    bodily::asks_of_body(&text) || bodily::asks_harder(&text) || bodily::asks_act_first(&text)
}

/// Whether a message states or asks something whose parts stand between commas: a reading with the
/// question whether it is allowed, an act with the question what comes first.
pub(in crate::chat) fn is_of_one_piece(message: &str) -> bool {
    asks_beyond_vibration(message) || stated::reading_in(message).is_some()
}

/// Whether a clause counts the bearings of a level.
fn counts_level(clause: &str, text: &str) -> bool {
    let words = &*PLAIN_WORDS;
    bare::asks_quantity(clause)
        && has(text, &words.counted_levels)
        && !has(text, &words.no_counted_levels)
        && !dates::names_day(clause)
}

/// Whether a text in lower case asks how somebody is reached.
pub(in crate::chat) fn asks_contact(text: &str) -> bool {
    let words = &*PLAIN_WORDS;
    let is_number = text.contains("번호") && !has(text, &words.no_contact);
    let is_asked = ["뭐", "알려", "좀", "몇", "아는", "?", "어떻게 되"];
    let is_short = text.trim_end().ends_with("번호");
    has(text, &words.contact)
        || is_number && (is_short || is_asked.iter().any(|word| text.contains(word)))
}

/// Whether a clause orders something to be done: a verb at its begin, behind `please` and the like.
fn is_order(text: &str) -> bool {
    const BEFORE: [&str; 7] =
        ["please ", "can you ", "could you ", "will you ", "would you ", "just ", "and "];
    let mut rest = text.trim_start();
    while let Some(behind) = BEFORE.iter().find_map(|begin| rest.strip_prefix(begin)) {
        rest = behind.trim_start();
    }
    PLAIN_WORDS.orders.iter().any(|verb| rest.starts_with(verb.as_str()))
}

/// Whether the text asks which alarms came up in some time, and not how many.
fn asks_what_came(clause: &str, text: &str) -> bool {
    let words = &*PLAIN_WORDS;
    let of_any = has(text, &words.levels)
        || ["anything", "뭐", "무슨", "것"].iter().any(|one| text.contains(one));
    has(text, &words.raised) && of_any && !bare::asks_quantity(clause)
}

/// Adds the look-ups that the other half of the clause asks for by its words: `상태랑 부품 있어?`
fn with_halves(
    mut found: Vec<Lookup>,
    clause: &str,
    names_bearing: bool,
    is_about_one: bool,
) -> Vec<Lookup> {
    // an ending such as `어떻고` stays in its half, whose verb it is
    const AND: [&str; 11] = [
        " and ",
        "이랑 ",
        "랑 ",
        "하고 ",
        "와 ",
        "과 ",
        "떻고 ",
        "떤지 ",
        "인지 ",
        "누구고 ",
        "얼마고 ",
    ];
    let Some(word) = AND.iter().find(|word| clause.contains(**word)) else { return found };
    let mut beside: Vec<Lookup> = Vec::new();
    for half in clause.split_inclusive(word).map(str::trim) {
        // the state is asked by another form of the verb at the end of a question
        let half = &half.replace("떻고", "때").replace("떤지", "때");
        let is_plain = plain(half, names_bearing, is_about_one).is_some();
        if !is_plain {
            beside.extend(super::by_rules(half, names_bearing, is_about_one));
        }
    }
    // a name before the word has no words of its own; documents are asked for by whole clauses
    let is_of_parts = found.contains(&Lookup::Stock);
    beside.retain(|one| {
        // spares are no work where they are asked for as parts
        one.is_of_bearing() && !found.contains(one) && !(is_of_parts && *one == Lookup::Work)
    });
    beside.dedup();
    beside.append(&mut found);
    beside
}

/// Removes the look-ups that a clause has only through words of a plainer kind.
pub(super) fn refined(mut asked: Vec<Lookup>, clause: &str, names_bearing: bool) -> Vec<Lookup> {
    let text = clause.to_lowercase();
    if is_replacement(&text) && !has(&text, &QUESTION_WORDS.todo) {
        use Lookup as L;
        asked.retain(|one| {
            !matches!(
                one,
                L::Manual | L::Work | L::WorkOfAll | L::Act | L::Value | L::ReplaceTime | L::Cases
            ) && (names_bearing || !one.is_of_bearing())
        });
        asked.push(L::Replacement);
    }
    let is_counted = bare::asks_quantity(clause) && has(&text, &PLAIN_WORDS.counted);
    if asked.contains(&Lookup::ToldOfAll) && dates::names_day(clause) && !is_counted {
        // what is new in some time is no list of what stands
        asked.retain(|one| *one != Lookup::Alarms);
    }
    asked
}

/// Whether a clause asks for the value of something: `what value is normal` behind a word of the
/// field asks for no list of sound bearings.
pub(in crate::chat) fn asks_value(clause: &str) -> bool {
    has(&clause.to_lowercase(), &PLAIN_WORDS.of_values)
}

/// Whether a clause asks for what no record of a plant holds, and for nothing else.
fn is_outside(text: &str) -> bool {
    let is_general = |one: &Lookup| {
        matches!(
            one,
            Lookup::State | Lookup::Meaning | Lookup::Help | Lookup::Fleet | Lookup::Stock
        )
    };
    has(text, &PLAIN_WORDS.outside) && super::by_words(text).iter().all(is_general)
}

/// Whether a clause asks how often judgements were right or wrong.
fn asks_verdicts(text: &str, names_bearing: bool) -> bool {
    let words = &*PLAIN_WORDS;
    let is_counted = has(text, &words.counted);
    let of_alarms = has(text, &words.false_alarms);
    let of_judgements = has(text, &words.judged) && has(text, &words.verdicts) && !names_bearing;
    is_counted && (of_alarms || of_judgements)
}

/// Whether a clause asks for the limits of ISO 20816-3 of a class of machines, which it names by
/// its power or its foundation: a question for a table, whatever machine of the plant is called by
/// the same word.
pub(in crate::chat) fn asks_zone_limits(text: &str) -> bool {
    let words = &*PLAIN_WORDS;
    let is_of_class = power_kw(text).is_some() || has(text, &words.foundation);
    let is_rated = text.contains("mm/s") || has(text, &words.rated);
    let has_value = velocity_mm_s(text).is_some() && is_rated;
    is_of_class && (has_value || has(text, &QUESTION_WORDS.figures.zone))
}

/// Whether a clause without a machine asks what a velocity is worth.
fn rates_value(text: &str) -> bool {
    text.contains("mm/s") && velocity_mm_s(text).is_some() && has(text, &PLAIN_WORDS.rated)
}

/// The power that a text in lower case names, kW.
pub(in crate::chat) fn power_kw(text: &str) -> Option<f64> {
    numbers(text).into_iter().find_map(|(_, to, value)| {
        let unit = text[to..].trim_start_matches([' ', '-']);
        if unit.starts_with("kw") || unit.starts_with("킬로와트") || unit.starts_with("키로와트")
        {
            Some(value)
        } else if unit.starts_with("mw") || unit.starts_with("메가와트") {
            Some(value * 1000.0)
        } else {
            None
        }
    })
}

/// The velocity that a text in lower case states, mm/s RMS: the figure with that unit, else the
/// only one without any.
pub(in crate::chat) fn velocity_mm_s(text: &str) -> Option<f64> {
    let all = numbers(text);
    let unit = |to: usize| text[to..].trim_start();
    let is_velocity = |(_, to, _): &&(usize, usize, f64)| {
        ["mm/s", "mm s", "mmps", "밀리미터", "미리"].iter().any(|word| unit(*to).starts_with(word))
    };
    if let Some((_, _, value)) = all.iter().find(is_velocity) {
        return Some(*value);
    }
    let is_bare = |(from, to, _): &&(usize, usize, f64)| {
        let before = text[..*from].chars().next_back();
        let behind = text[*to..].chars().next();
        let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '-');
        let is_counted =
            ["kw", "mw", "rpm", "hz", "g ", "호", "번", "대", "개", "시", "일", "%", "°"]
                .iter()
                .any(|word| unit(*to).starts_with(word));
        !is_letter(before) && !is_letter(behind) && !is_counted
    };
    let bare: Vec<f64> = all.iter().filter(is_bare).map(|(_, _, value)| *value).collect();
    match bare[..] {
        [value] if text[..].contains('.') => Some(value),
        _ => None,
    }
}

/// The numbers of a text, decimals too: where each begins and ends, and its value.
pub(in crate::chat) fn numbers(text: &str) -> Vec<(usize, usize, f64)> {
    let (mut found, mut from) = (Vec::new(), None);
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        let is_point = c == '.'
            && from.is_some()
            && text[at + 1..].starts_with(|next: char| next.is_ascii_digit());
        match (c.is_ascii_digit() || is_point, from) {
            (true, None) => from = Some(at),
            (false, Some(begin)) => {
                found.extend(text[begin..at].parse().ok().map(|value| (begin, at, value)));
                from = None;
            }
            _ => {}
        }
    }
    found
}

/// Whether a clause asks what makes a level.
fn asks_thresholds(text: &str) -> bool {
    let words = &*PLAIN_WORDS;
    let is_of_levels = has(text, &words.thresholds) && has(text, &words.levels);
    let count = [["critical", "위험"], ["warning", "경고"], ["watch", "주의"]]
        .iter()
        .filter(|names| names.iter().any(|name| text.contains(name)))
        .count();
    let is_difference =
        count > 1 && ["차이", "다른", "differ", " vs"].iter().any(|w| text.contains(w));
    let is_of_levels = is_of_levels || is_difference;
    (is_of_levels || has(text, &words.makes_level) || has(text, &words.decided))
        && !has(text, &words.no_thresholds)
}

/// Whether a clause asks who has a job.
fn asks_assigned(text: &str, names_bearing: bool) -> bool {
    let words = &*PLAIN_WORDS;
    has(text, &words.assigned) && (has(text, &words.jobs) || names_bearing)
}

/// Whether a clause asks for spare parts that are there.
fn asks_stock(text: &str) -> bool {
    let words = &*PLAIN_WORDS;
    let is_out = has(text, &words.parts) && has(text, &words.out_of_stock);
    if is_out || has(text, &words.stock_lists) {
        return true;
    }
    has(text, &words.parts)
        && has(text, &words.in_stock)
        && !has(text, &words.no_stock)
        && !has(text, &QUESTION_WORDS.ordered)
        && !has(text, &QUESTION_WORDS.lead_time)
}

/// Whether a clause asks for the order of work of replacing a bearing.
fn is_replacement(text: &str) -> bool {
    let words = &*PLAIN_WORDS;
    has(text, &words.replacement) && has(text, &words.in_order) && !has(text, &words.no_order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_velocity_and_a_power_are_read_with_their_units() {
        for (text, velocity, power) in [
            ("is 6.3 mm/s bad for a 45 kw fan on springs", Some(6.3), Some(45.0)),
            ("110kw 펌프 콘크리트에 2.6이면 어느 구역", Some(2.6), Some(110.0)),
            ("1.2 mw blower, flexible, 8 mm/s", Some(8.0), Some(1200.0)),
            ("fan-3 on a rigid base", None, None),
        ] {
            assert_eq!((velocity_mm_s(text), power_kw(text)), (velocity, power), "{text}");
        }
    }
}
