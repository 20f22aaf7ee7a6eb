//! Finds what a question asks for without a language model: by its words
//! (`config/words/questions.toml`), and by the questions that it resembles
//! (`config/words/asked.toml`).
//!
//! A clause may ask for several things. The more precise look-up replaces the less precise one: the
//! value of a manual replaces the manual, the start of an abnormality replaces the history.

use super::{bare, dates, meanings};
pub(super) use guessed::{is_guessed, name as kind_name};
pub(super) use lookup::Lookup;
use lookup::precise;
pub(super) use named::{Topic, fault_in, level_in, topic};
pub(super) use plain::{
    PLAIN_WORDS, asks_beyond_vibration, asks_contact, asks_permission, asks_under_condition,
    asks_value, asks_why_untold, asks_zone_limits, handed_over, is_of_one_piece, numbers, power_kw,
    velocity_mm_s,
};
use resemblance::Spoken;
pub(super) use resemblance::{asked_words, listed_words, share_of_documents};
pub(super) use words::{QUESTION_WORDS, has};

mod guessed;
mod lookup;
mod named;
mod plain;
mod resemblance;
mod words;

/// Returns the look-ups that a clause asks for, in the order of the sentences of the answer; empty
/// if none of its words asks for one. `names_bearing`: the clause names a bearing itself;
/// `is_about_one`: it does, or the words before it do.
pub(super) fn asked_for(clause: &str, names_bearing: bool, is_about_one: bool) -> Vec<Lookup> {
    if let Some(plain) = plain::plain(clause, names_bearing, is_about_one) {
        return plain;
    }
    let ruled = by_rules(clause, names_bearing, is_about_one);
    let spoken = match (names_bearing, is_about_one) {
        (true, _) => Spoken::Named,
        (false, true) => Spoken::Before,
        (false, false) => Spoken::Plant,
    };
    let mut asked =
        plain::refined(resemblance::settled(ruled, clause, spoken), clause, names_bearing);
    if asks_who(&clause.to_lowercase()) && asked.contains(&Lookup::Act) {
        // who may do it stands in a document
        asked = vec![Lookup::Manual];
    }
    asked
}

/// Returns the look-ups that the words of a clause ask for.
fn by_rules(clause: &str, names_bearing: bool, is_about_one: bool) -> Vec<Lookup> {
    let (text, words) = (clause.to_lowercase(), &*QUESTION_WORDS);
    if has(&text, &words.act) && !asks_who(&text) {
        return vec![Lookup::Act];
    }
    // whether something was ordered is asked of the records
    let is_ordered = has(&text, &words.ordered);
    if has(&text, &words.order)
        && !is_ordered
        && !bare::asks_quantity(clause)
        && !text.contains("work order")
    {
        // which part it would be is known, where the bearing is
        let part = names_bearing.then_some(Lookup::Identity);
        return [Some(Lookup::Act), part].into_iter().flatten().collect();
    }
    let mut asked = by_words(&text);
    if topic(clause).is_some() && bare::asks_quantity(clause) {
        asked.push(Lookup::Value);
    }
    add_figures(&mut asked, &text, names_bearing || is_about_one);
    of_faults_and_counts(&mut asked, &text, names_bearing);
    of_one_or_all(&mut asked, clause, names_bearing, is_about_one);
    let is_explained = !names_bearing && meanings::named_in(&text).is_some();
    if !is_explained {
        asked.retain(|one| *one != Lookup::Meaning);
    }
    let is_state_asked = names_bearing && has(&text, &words.state);
    if asked.contains(&Lookup::Duty) && !is_state_asked {
        asked.retain(|one| *one != Lookup::State);
    }
    precise(asked)
}

/// Whether a clause asks who may do something, and does not order it.
pub(super) fn asks_who(text: &str) -> bool {
    let is_secret = ["prompt", "프롬프트", "password", "비밀번호"];
    !is_secret.iter().any(|word| text.contains(word))
        && (text.trim_start().starts_with("who ") || text.contains("누가"))
}

/// Returns the look-ups of the lists whose words the text has, in the order of the sentences of the
/// answer.
fn by_words(text: &str) -> Vec<Lookup> {
    let words = &*QUESTION_WORDS;
    let all = [
        (Lookup::Compare, &words.compare),
        (Lookup::Stop, &words.stop),
        (Lookup::State, &words.state),
        (Lookup::Why, &words.why),
        (Lookup::Onset, &words.onset),
        (Lookup::Changes, &words.changes),
        (Lookup::Doubts, &words.doubts),
        (Lookup::Life, &words.life),
        (Lookup::Work, &words.work),
        (Lookup::Told, &words.told),
        (Lookup::Past, &words.past),
        (Lookup::Count, &words.count),
        (Lookup::Duty, &words.duty),
        (Lookup::Gateways, &words.gateways),
        (Lookup::Cases, &words.cases),
        (Lookup::Manual, &words.manual),
        (Lookup::Fleet, &words.fleet),
        (Lookup::Meaning, &words.meaning),
        (Lookup::Help, &words.help),
        (Lookup::Alarms, &words.alarms),
        (Lookup::Sound, &words.sound),
        (Lookup::Heard, &words.heard),
        (Lookup::Overdue, &words.overdue),
        (Lookup::ToldOfAll, &words.news),
        (Lookup::Shelf, &words.shelf),
        (Lookup::Sensors, &words.sensors),
        (Lookup::Notes, &words.notes),
        (Lookup::Standing, &words.standing),
        (Lookup::LeadTime, &words.lead_time),
    ];
    all.into_iter().filter(|(_, words)| has(text, words)).map(|(lookup, _)| lookup).collect()
}

/// Whether a clause has a word of the lists that ask for something.
pub(super) fn has_words(clause: &str) -> bool {
    !by_words(&clause.to_lowercase()).is_empty()
}

/// Corrects the look-ups where the words count alarms, name damage of any bearing, or greet before
/// they ask.
fn of_faults_and_counts(asked: &mut Vec<Lookup>, text: &str, names_bearing: bool) {
    let words = &*QUESTION_WORDS;
    if asked.contains(&Lookup::Count) && has(text, &words.in_alarm) {
        *asked = vec![Lookup::Fleet];
    }
    let is_of_any = has(text, &words.plural) || has(text, &words.any_of_all);
    let is_of_document =
        [Lookup::Manual, Lookup::Cases, Lookup::Value, Lookup::Meaning, Lookup::Compare];
    if !names_bearing
        && has(text, &words.damage)
        && is_of_any
        && fault_in(text).is_some()
        && !is_of_document.iter().any(|one| asked.contains(one))
    {
        *asked = vec![Lookup::Fleet];
    }
    if asked.is_empty() && level_in(text).is_some() && !names_bearing {
        asked.push(Lookup::Fleet);
    }
    if names_bearing && has(text, &words.past_of_one) {
        *asked = vec![Lookup::Past];
    }
    if names_bearing {
        // thanks before a question are no question
        asked.retain(|one| *one != Lookup::Help);
    }
}

/// Whether a text in lower case has a word of questions, or by itself resembles questions of one
/// kind.
pub(super) fn is_of_questions(text: &str) -> bool {
    fault_in(text).is_some()
        || level_in(text).is_some()
        || topic(text).is_some()
        || resemblance::is_plain(text)
}

/// Whether a question resembles most of all those that ask for the state of a machine if it names
/// one, and none that asks for something else of the plant, such as its gateways.
pub(super) fn asks_state(question: &str) -> bool {
    let of_one = resemblance::likely(question, resemblance::Spoken::Named)[0].lookup;
    let of_plant = resemblance::likely(question, resemblance::Spoken::Plant)[0];
    let is_of_state = of_plant
        .lookup
        .is_none_or(|lookup| matches!(lookup, Lookup::State | Lookup::Fleet | Lookup::Sound));
    of_one == Some(Lookup::State) && (is_of_state || of_plant.share < resemblance::SURE)
}

/// Whether a text in lower case asks for a temperature.
pub(super) fn asks_temperature(text: &str) -> bool {
    has(text, &QUESTION_WORDS.temperature)
}

/// Corrects the look-ups where the clause is about one bearing, and where it is about all.
fn of_one_or_all(asked: &mut Vec<Lookup>, clause: &str, names_bearing: bool, is_about_one: bool) {
    let (text, words) = (clause.to_lowercase(), &*QUESTION_WORDS);
    if asked.contains(&Lookup::Onset) && !bare::asks_quantity(clause) {
        asked.retain(|one| *one != Lookup::Figures);
    }
    if is_about_one && asked.contains(&Lookup::Stop) {
        // "until the night shift" is a time
        asked.retain(|one| *one != Lookup::Duty);
    }
    if names_bearing && has(&text, &words.identity) {
        asked.push(Lookup::Identity);
    }
    if asked.contains(&Lookup::Heard) && !has(&text, &words.gateway_names) {
        // "silent" is said of machines too
        asked.retain(|one| *one != Lookup::Gateways);
    }
    if names_bearing && asked.contains(&Lookup::Sound) {
        asked.retain(|one| *one != Lookup::Sound);
        asked.push(Lookup::State);
    }
    if names_bearing && asked.contains(&Lookup::State) {
        // "어떻게 됐어" asks how it is, not how something is done
        asked.retain(|one| *one != Lookup::Manual);
    }
    if is_about_one && asked.contains(&Lookup::Cases) && !has(&text, &words.told_cases) {
        // "has it had this before" asks for its own history first
        asked.retain(|one| *one != Lookup::Cases);
        asked.push(Lookup::Past);
    }
    if asked.contains(&Lookup::ToldOfAll) && dates::names_day(clause) {
        // what was told in some time, not what stands now; a number is one of alarms
        let is_counted = bare::asks_quantity(clause) && asked.contains(&Lookup::Alarms);
        let other = if is_counted { Lookup::ToldOfAll } else { Lookup::Alarms };
        asked.retain(|one| *one != other);
    }
    if names_bearing && asked.contains(&Lookup::State) && dates::names_day(clause) {
        asked.retain(|one| *one != Lookup::State);
        asked.push(Lookup::Past);
    }
    if names_bearing && asked.contains(&Lookup::ToldOfAll) {
        asked.retain(|one| *one != Lookup::ToldOfAll);
        asked.push(Lookup::Past);
    }
    if asked.contains(&Lookup::Sensors) && topic_of_sensors_is_manual(&text) {
        asked.retain(|one| *one != Lookup::Sensors);
    }
    if !names_bearing && asked.contains(&Lookup::Told) && has(&text, &words.all) {
        asked.retain(|one| !matches!(one, Lookup::Told | Lookup::ToldOfAll));
        asked.push(Lookup::ToldOfAll);
    }
    if has(&text, &words.todo) {
        asked.retain(|one| !matches!(one, Lookup::Manual | Lookup::Work | Lookup::Told));
        asked.push(Lookup::Work);
    }
}

/// Whether a question about sensors is for a document: how one is mounted, not which one fails.
fn topic_of_sensors_is_manual(text: &str) -> bool {
    let words = &*QUESTION_WORDS;
    has(text, &words.procedure) || has(text, &words.manual) || has(text, &words.meaning)
}

/// Adds figures that a clause asks for: of a bearing, of all by their zone, or such as nobody
/// measures.
fn add_figures(asked: &mut Vec<Lookup>, text: &str, is_about_one: bool) {
    let (words, quantity) = (&QUESTION_WORDS.figures, bare::asks_quantity(text));
    let has_zone = has(text, &words.zone);
    let is_defined = meanings::named_in(text).is_some() && asked.contains(&Lookup::Meaning);
    let is_of_past = asked.iter().any(|one| {
        matches!(
            one,
            Lookup::Changes | Lookup::Told | Lookup::Alarms | Lookup::Onset | Lookup::Past
        )
    });
    let of_day = dates::names_day(text) && is_about_one && !is_of_past && has(text, &words.any);
    if is_about_one && has(text, &words.lines) && !is_defined {
        asked.push(Lookup::Lines);
    }
    if is_about_one && asks_temperature(text) && topic(text).is_none() && !is_defined {
        asked.push(Lookup::Unmeasured);
    } else if has(text, &words.unmeasured) && topic(text).is_none() && !is_defined {
        // of no machine: a limit that a manual states, such as that of a store
        let is_of_machine = is_about_one || has(text, &QUESTION_WORDS.plural);
        asked.push(if is_of_machine { Lookup::Unmeasured } else { Lookup::Manual });
    } else if has_zone && !is_about_one && !is_defined {
        asked.push(Lookup::Zones);
    } else if has(text, &words.speed)
        || of_day
        || is_about_one && !is_defined && (has_zone || has(text, &words.level))
        || quantity && has(text, &words.level) && !is_defined
    {
        asked.push(Lookup::Figures);
    }
}
