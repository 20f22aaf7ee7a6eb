//! What a question asks for, by its words (`config/words/questions.toml`), where no language model answers.
//!
//! A clause may ask for several things. What is more precise takes the place of what is less: a value of a manual
//! that of the manual, the begin of an abnormality that of the history.

use std::path::Path;
use std::sync::LazyLock;

use pdm_service::config;
use pdm_shared::fault::Fault;
use pdm_shared::risk::RiskLevel;
use serde::Deserialize;

use super::{bare, dates, meanings};

/// One thing that a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lookup {
    /// The state of every bearing.
    Fleet,
    /// Which site is worse off.
    Sites,
    /// Which bearings are to be stopped.
    Stops,
    /// Which machines stand still.
    Standing,
    /// How many bearings there are.
    Count,
    /// Which bearings are sound.
    Sound,
    /// Which alarms stand.
    Alarms,
    /// Which bearings are no longer measured, or whether one is.
    Heard,
    /// Which bearings are in a zone.
    Zones,
    /// What staff was told of any bearing.
    ToldOfAll,
    /// The open work of all bearings.
    WorkOfAll,
    /// The open work whose time is over.
    Overdue,
    /// Alarms that are put off: of the bearing, or all.
    Shelf,
    /// Sensors that cannot be judged.
    Sensors,
    /// What people wrote of the bearing.
    Notes,
    /// The lines of the bearing's elements in the last spectrum.
    Lines,
    /// Two bearings beside each other.
    Compare,
    /// The state of the bearing.
    State,
    /// The grounds of its judgement.
    Why,
    /// Since when it is abnormal.
    Onset,
    /// What has changed of it.
    Changes,
    /// Whether it may go on running.
    Stop,
    /// How certain its judgement is.
    Doubts,
    /// Figures of its last window, or of the days that the clause names.
    Figures,
    /// What bearing it is, and where.
    Identity,
    /// Something that is not measured.
    Unmeasured,
    /// Its remaining life.
    Life,
    /// The work that is asked for.
    Work,
    /// What staff was told.
    Told,
    /// Its earlier judgements.
    Past,
    /// Who is on duty.
    Duty,
    /// Which gateways report.
    Gateways,
    /// What a word means.
    Meaning,
    /// A value of the manual for mounting.
    Value,
    /// Manuals and procedures.
    Manual,
    /// Manuals, by words that do not say what is asked for.
    Search,
    /// Past cases.
    Cases,
    /// Which bearing is meant: the question needs one, and several stand.
    Which,
    /// Something that is to be done, which the chat does not do.
    Act,
    /// What can be asked.
    Help,
}

impl Lookup {
    /// Whether the look-up reads documents alone.
    pub(super) const fn is_of_documents(self) -> bool {
        matches!(
            self,
            Self::Meaning
                | Self::Value
                | Self::Manual
                | Self::Search
                | Self::Cases
                | Self::Act
                | Self::Help
        )
    }

    /// Whether the look-up is about one bearing.
    pub(super) const fn is_of_bearing(self) -> bool {
        matches!(
            self,
            Self::State
                | Self::Why
                | Self::Onset
                | Self::Changes
                | Self::Stop
                | Self::Doubts
                | Self::Figures
                | Self::Identity
                | Self::Life
                | Self::Work
                | Self::Told
                | Self::Past
                | Self::Notes
                | Self::Lines
        )
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct QuestionWords {
    why: Vec<String>,
    life: Vec<String>,
    work: Vec<String>,
    todo: Vec<String>,
    told: Vec<String>,
    past: Vec<String>,
    manual: Vec<String>,
    cases: Vec<String>,
    pub(super) fleet: Vec<String>,
    state: Vec<String>,
    onset: Vec<String>,
    pub(super) compare: Vec<String>,
    changes: Vec<String>,
    stop: Vec<String>,
    doubts: Vec<String>,
    duty: Vec<String>,
    gateways: Vec<String>,
    count: Vec<String>,
    meaning: Vec<String>,
    help: Vec<String>,
    act: Vec<String>,
    alarms: Vec<String>,
    sound: Vec<String>,
    heard: Vec<String>,
    identity: Vec<String>,
    gateway_names: Vec<String>,
    all: Vec<String>,
    overdue: Vec<String>,
    news: Vec<String>,
    shelf: Vec<String>,
    sensors: Vec<String>,
    notes: Vec<String>,
    told_cases: Vec<String>,
    order: Vec<String>,
    pub(super) machine_kinds: Vec<String>,
    pub(super) same_kinds: Vec<Vec<String>>,
    pub(super) towns: Vec<String>,
    pub(super) site_words: Vec<String>,
    pub(super) neighbour: Vec<String>,
    pub(super) heals: Vec<String>,
    pub(super) any_of_all: Vec<String>,
    pub(super) dropped: Vec<String>,
    pub(super) not_bolts: Vec<Vec<String>>,
    standing: Vec<String>,
    temperature: Vec<String>,
    past_of_one: Vec<String>,
    damage: Vec<String>,
    ordered: Vec<String>,
    in_alarm: Vec<String>,
    pub(super) plural: Vec<String>,
    pub(super) request: Vec<String>,
    pub(super) procedure: Vec<String>,
    pub(super) figures: FigureWords,
    pub(super) values: ValueWords,
    pub(super) passages: PassageWords,
}

/// Words of measured figures.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FigureWords {
    pub(super) any: Vec<String>,
    pub(super) speed: Vec<String>,
    pub(super) zone: Vec<String>,
    pub(super) level: Vec<String>,
    pub(super) lines: Vec<String>,
    pub(super) unmeasured: Vec<String>,
}

/// Words of the topics of values.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ValueWords {
    torque: Vec<String>,
    grease: Vec<String>,
    heating: Vec<String>,
    clearance: Vec<String>,
}

/// Words that count as one where a passage is chosen.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PassageWords {
    pub(super) case: Vec<String>,
    pub(super) same: Vec<Vec<String>>,
    /// Words that the heading of a passage has to have where a question has them.
    pub(super) decisive: Vec<Vec<String>>,
}

/// The words of questions.
pub(super) static QUESTION_WORDS: LazyLock<QuestionWords> = LazyLock::new(|| {
    let text = include_str!("../../../../config/words/questions.toml");
    config::parse(Path::new("questions.toml"), text).expect("tests read the shipped file")
});

/// A topic of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Topic {
    Torque,
    Grease,
    Heating,
    Clearance,
}

/// Whether a text holds one of the words: a Korean one anywhere, an English one from the begin of a word on.
pub(super) fn has(text: &str, words: &[String]) -> bool {
    words.iter().any(|word| {
        text.match_indices(word.as_str()).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            // `the wo` is a work order, `the worst` is none
            let is_whole = !word.ends_with("wo")
                || !text[at + word.len()..].starts_with(|c: char| c.is_ascii_alphabetic());
            !word.is_ascii() || is_whole && !before.is_some_and(|c| c.is_ascii_alphanumeric())
        })
    })
}

/// The topic of values that a clause names.
pub(super) fn topic(clause: &str) -> Option<Topic> {
    let (text, words) = (clause.to_lowercase(), &QUESTION_WORDS.values);
    let topics = [
        (Topic::Torque, &words.torque),
        (Topic::Clearance, &words.clearance),
        (Topic::Heating, &words.heating),
        (Topic::Grease, &words.grease),
    ];
    topics.into_iter().find(|(_, words)| has(&text, words)).map(|(topic, _)| topic)
}

/// What a clause asks for, in the order of the sentences of the answer; nothing if no word of it says so.
/// `names_bearing`: the clause names a bearing itself; `is_about_one`: it does, or the words before it do.
pub(super) fn asked_for(clause: &str, names_bearing: bool, is_about_one: bool) -> Vec<Lookup> {
    let (text, words) = (clause.to_lowercase(), &*QUESTION_WORDS);
    if has(&text, &words.act) {
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

/// What each list of words asks for, in the order of the sentences of the answer.
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
    ];
    all.into_iter().filter(|(_, words)| has(text, words)).map(|(lookup, _)| lookup).collect()
}

/// What the words ask for where they count alarms, name damage of any bearing, or greet before they ask.
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

/// The element that a text in lower case names.
pub(super) fn fault_in(text: &str) -> Option<Fault> {
    const NAMES: [(Fault, &[&str]); 4] = [
        (Fault::OuterRace, &["외륜", "아우터", "outer"]),
        (Fault::InnerRace, &["내륜", "이너", "inner"]),
        (Fault::Ball, &["전동체", "볼 ", "볼결함", "롤러", "ball", "roller", "rolling element"]),
        (Fault::Cage, &["보지기", "케이지", "리테이너", "cage"]),
    ];
    NAMES
        .into_iter()
        .find(|(_, names)| names.iter().any(|name| text.contains(name)))
        .map(|(fault, _)| fault)
}

/// The level alone that a text in lower case asks for: `only criticals`, `경고만`.
pub(super) fn level_in(text: &str) -> Option<RiskLevel> {
    const NAMES: [(RiskLevel, &[&str]); 3] = [
        (
            RiskLevel::Critical,
            &[
                "criticals",
                "only critical",
                "critical only",
                "on critical",
                "위험만",
                "위험인",
                "위험 등급",
            ],
        ),
        (
            RiskLevel::Warning,
            &[
                "on warning",
                "warnings",
                "only warning",
                "in warning",
                "warning only",
                "경고만",
                "경고인",
                "경고 상태인",
                "경고 등급",
                "경고 뜬",
            ],
        ),
        (
            RiskLevel::Watch,
            &[
                "on watch",
                "only watch",
                "watch only",
                "주의만",
                "주의인",
                "주의 상태인",
                "주의 등급",
            ],
        ),
    ];
    NAMES
        .into_iter()
        .find(|(_, names)| names.iter().any(|name| text.contains(name)))
        .map(|(level, _)| level)
}

/// Whether a text in lower case asks for a temperature.
pub(super) fn asks_temperature(text: &str) -> bool {
    has(text, &QUESTION_WORDS.temperature)
}

/// What the words ask for where the clause is about one bearing, and where it is about all.
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

/// Adds figures that a clause asks for: of a bearing, of all by their zone, or such as nobody measures.
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

/// Leaves out what something more precise stands for.
fn precise(mut asked: Vec<Lookup>) -> Vec<Lookup> {
    use Lookup as L;
    const OVER: [(Lookup, &[Lookup]); 30] = [
        (
            L::Value,
            &[L::Manual, L::Work, L::State, L::Life, L::Changes, L::Doubts, L::Meaning, L::Onset],
        ),
        (L::Overdue, &[L::Work, L::WorkOfAll, L::Fleet, L::State, L::Alarms, L::Told, L::Figures]),
        (L::Notes, &[L::State, L::Told, L::Doubts, L::Manual, L::Cases, L::Alarms, L::Past]),
        (L::Shelf, &[L::Told, L::State, L::Alarms, L::Fleet, L::Why, L::Life, L::Manual, L::Onset]),
        (L::Sensors, &[L::State, L::Fleet, L::Told, L::ToldOfAll, L::Alarms, L::Doubts, L::Sound]),
        (L::Lines, &[L::State, L::Figures, L::Meaning, L::Manual, L::Fleet]),
        (L::Standing, &[L::Stop, L::State, L::Fleet, L::Heard, L::Manual]),
        (L::Past, &[L::State, L::Changes, L::Alarms, L::Told]),
        (L::Cases, &[L::ToldOfAll]),
        (L::Unmeasured, &[L::State, L::Figures, L::Value, L::Changes, L::Manual, L::Fleet]),
        (L::Changes, &[L::Figures, L::Past]),
        (L::Onset, &[L::Past, L::Told, L::Changes, L::Life, L::Heard, L::State, L::Alarms]),
        (L::Compare, &[L::Figures]),
        (L::Figures, &[L::State, L::Manual, L::Meaning, L::Fleet]),
        (L::Zones, &[L::Fleet, L::State, L::Manual, L::Meaning, L::Figures]),
        (L::Identity, &[L::State, L::Fleet, L::Meaning, L::Manual, L::Figures]),
        (L::Meaning, &[L::Manual, L::State, L::Work, L::Fleet, L::Value, L::Past, L::Stop]),
        (L::Duty, &[L::Fleet, L::Told, L::ToldOfAll, L::Stop, L::Manual, L::Work]),
        (L::Gateways, &[L::State, L::Fleet, L::Told, L::Stop, L::Manual, L::Heard, L::Why]),
        (L::Heard, &[L::State, L::Fleet, L::Manual, L::Why, L::Past, L::Told, L::Figures, L::Stop]),
        (L::Count, &[L::State, L::Fleet, L::Life, L::Changes]),
        (L::Alarms, &[L::State, L::Fleet, L::Told, L::ToldOfAll, L::Changes, L::Count, L::Work]),
        (L::Sound, &[L::State, L::Fleet, L::Manual, L::Told, L::ToldOfAll, L::Alarms]),
        (L::Compare, &[L::State, L::Fleet, L::Changes, L::Why]),
        (L::Fleet, &[L::State]),
        (L::Stop, &[L::State, L::Life, L::Work, L::Manual]),
        (L::Cases, &[L::Past, L::State, L::Why, L::Manual]),
        (L::Manual, &[L::Work, L::Past]),
        (L::Told, &[L::State]),
        (L::ToldOfAll, &[L::State, L::Fleet, L::Changes]),
    ];
    for (precise, others) in OVER {
        if asked.contains(&precise) {
            asked.retain(|one| !others.contains(one));
        }
    }
    if asked.len() > 1 {
        asked.retain(|one| *one != Lookup::Help);
    }
    asked
}
