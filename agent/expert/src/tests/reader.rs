//! A reader's test: some two hundred judgements are read in both languages and compared with each
//! other, as a reliability engineer would.
//!
//! The judgements are of the sequences that the edge made (`config/scenarios/edge`), with their
//! memory, and of single windows out of them as recordings without a history. With
//! `PDM_PRINT_JUDGEMENTS=1` and `--nocapture` the test prints them all.

use std::collections::BTreeSet;

use pdm_shared::diagnosis::{Diagnosis, ThoughtTitle};
use pdm_shared::event::{BaselineState, Event, Rul, TrendDirection};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;

use super::{Life, judge_one};

/// The sequences that the edge made, each with its name.
fn sequences() -> Vec<(String, Vec<Event>)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../config/scenarios/edge");
    let mut found = Vec::new();
    for file in std::fs::read_dir(folder).expect("there").flatten() {
        let path = file.path();
        if path.extension().is_none_or(|ending| ending != "jsonl") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("read");
        let events = text.lines().map(|line| serde_json::from_str(line).expect("an event"));
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        found.push((name, events.collect()));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

/// A window as a recording that nothing is known of before.
fn alone(event: &Event) -> Event {
    let mut event = event.clone();
    event.anomaly_detected = false;
    event.anomaly.contributors.clear();
    event.anomaly.baseline.state = BaselineState::Learning;
    event.anomaly.level_ratio = None;
    event.trend.trend_direction = TrendDirection::Unknown;
    event.trend.acceleration_detected = false;
    event.rul = Rul::unknown("one recording has no history");
    event
}

/// Every fifth judgement of each sequence, those at which the risk or the stage changes, and the
/// last windows as recordings.
fn judgements() -> Vec<(String, Diagnosis)> {
    let mut all = Vec::new();
    for (name, events) in sequences() {
        let mut life = Life::new();
        let mut before = (RiskLevel::Normal, 0);
        for (place, event) in events.iter().enumerate() {
            life.at = event.measured_at;
            let diagnosis = life.next(event).diagnosis;
            let now = (diagnosis.risk_level, diagnosis.fault_stage);
            if now != before || place % 5 == 0 {
                all.push((format!("{name} {place}"), diagnosis));
            }
            before = now;
        }
        for event in events.iter().rev().step_by(12).take(5) {
            all.push((format!("{name} alone"), judge_one(&alone(event)).diagnosis));
        }
    }
    all
}

fn texts(diagnosis: &Diagnosis) -> Vec<&Text> {
    let thoughts = diagnosis.thoughts.iter().map(|thought| &thought.conclusion);
    let causes = diagnosis.uncertainty.causes.iter();
    thoughts.chain([&diagnosis.recommendation, &diagnosis.memory.summary]).chain(causes).collect()
}

fn thought(diagnosis: &Diagnosis, title: ThoughtTitle) -> &Text {
    let found = diagnosis.thoughts.iter().find(|thought| thought.title == title);
    &found.expect("there").conclusion
}

/// Returns the places in a judgement's texts over which a reader stumbles.
fn stumbles(diagnosis: &Diagnosis) -> Vec<String> {
    let mut found = Vec::new();
    let all = texts(diagnosis);
    for text in &all {
        found.extend(wrong_particles(&text.ko));
        found.extend(foreign_words(&text.ko));
        found.extend(odd_figures(&text.ko).chain(odd_figures(&text.en)));
        if figures(&text.ko) != figures(&text.en) {
            found.push(format!("figures differ: {} | {}", text.ko, text.en));
        }
    }
    found.extend(against_the_risk(diagnosis));
    found.extend(against_the_stage(diagnosis));
    found.extend(against_the_life(diagnosis));
    found
}

/// The advice and the reason against the risk.
fn against_the_risk(diagnosis: &Diagnosis) -> Vec<String> {
    let mut found = Vec::new();
    let (risk, advice) = (diagnosis.risk_level, &diagnosis.recommendation);
    let overall = thought(diagnosis, ThoughtTitle::OverallRisk);
    // a window that nothing can be said of is no Normal one
    let is_undecided = risk == RiskLevel::Normal && overall.en.starts_with("Not judged:");
    let is_told = overall.ko.starts_with(&risk.label().ko) && overall.en.starts_with(risk.as_str());
    if !is_told && !is_undecided {
        found.push(format!("{risk} is told as {}", overall.en));
    }
    let stops = advice.en.contains("Stop as soon");
    if stops != (risk == RiskLevel::Critical) && diagnosis.thoughts.len() == 5 {
        found.push(format!("{risk}: {}", advice.en));
    }
    let speaks_of_bearing = advice.en.contains("eplace") || advice.ko.contains("발주");
    if speaks_of_bearing && diagnosis.is_of_machine() {
        found.push(format!("no sign of the bearing: {}", advice.en));
    }
    let screening = thought(diagnosis, ThoughtTitle::InitialScreening);
    let is_quiet = overall.en.contains("nothing that asks for action");
    if is_quiet && (screening.en.contains("dominates") || risk > RiskLevel::Normal) {
        found.push(format!("{} | {}", screening.en, overall.en));
    }
    found
}

/// The stage that is told against the row of the matrix that is cited.
fn against_the_stage(diagnosis: &Diagnosis) -> Vec<String> {
    let mut found = Vec::new();
    let stage = diagnosis.fault_stage;
    let overall = diagnosis.thoughts.iter().find(|one| one.title == ThoughtTitle::OverallRisk);
    let overall = overall.expect("there");
    let rows = overall.evidence.iter().filter(|one| one.path.starts_with("config.risk."));
    for row in rows.filter(|one| one.rule.as_deref() == Some("RISK-1")) {
        let is_own = row.path.ends_with(&format!("[{stage}]"));
        let asked = row.value.as_str().and_then(|word| word.parse::<RiskLevel>().ok());
        let is_held = ["RISK-10", "RISK-12"]
            .iter()
            .any(|rule| overall.evidence.iter().any(|one| one.rule.as_deref() == Some(rule)));
        if !is_own {
            found.push(format!("stage {stage} by {}", row.path));
        } else if asked.is_none_or(|asked| asked > diagnosis.risk_level) && !is_held {
            found.push(format!("{} by {} = {}", diagnosis.risk_level, row.path, row.value));
        }
    }
    for text in texts(diagnosis) {
        let told = text
            .en
            .match_indices("P-F stage ")
            .filter_map(|(at, word)| text.en[at + word.len()..].chars().next()?.to_digit(10));
        for told in told.filter(|told| *told != u32::from(stage)) {
            found.push(format!("stage {stage}, told {told}: {}", text.en));
        }
    }
    found
}

/// The remaining life against its own interval and the time to plan in.
fn against_the_life(diagnosis: &Diagnosis) -> Vec<String> {
    let mut found = Vec::new();
    let text = thought(diagnosis, ThoughtTitle::Rul);
    let is_told = !text.en.contains("cannot be told yet");
    if is_told && text.en.contains("lower bound") && !text.en.contains("median") {
        found.push(format!("a bound without its median: {}", text.en));
    }
    let is_short = text.en.contains("shorter than the lead time");
    if is_short && diagnosis.recommendation.en.contains("within 7 days") {
        found.push(format!("{} | {}", text.en, diagnosis.recommendation.en));
    }
    found
}

/// Particles that do not fit the sound before them: only those whose form decides (로/으로, 을/를).
fn wrong_particles(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().filter(|c| !matches!(c, ')' | '(')).collect();
    let end = |c: char| ('가'..='힣').contains(&c).then(|| (c as u32 - '가' as u32) % 28);
    let mut found = Vec::new();
    for at in 1..letters.len() {
        let is_last = letters.get(at + 1).is_none_or(|next| !('가'..='힣').contains(next));
        let before = letters[at - 1];
        let is_wrong = match (letters[at], end(before)) {
            ('로', Some(end)) => before != '으' && is_last && !matches!(end, 0 | 8),
            ('을', Some(end)) => is_last && end == 0,
            ('를', Some(end)) => is_last && end != 0,
            ('으', Some(end)) if letters.get(at + 1) == Some(&'로') => matches!(end, 0 | 8),
            _ => false,
        };
        if is_wrong {
            let from = at.saturating_sub(8);
            found.push(format!("particle: …{}", letters[from..=at].iter().collect::<String>()));
        }
    }
    found
}

/// Words of English in Korean, but for names of the field and of the risk levels of the contract.
fn foreign_words(text: &str) -> Vec<String> {
    const KNOWN: [&str; 14] = [
        "RUL", "BPFO", "BPFI", "BSF", "FTF", "ISO", "LOTO", "Normal", "Watch", "Warning",
        "Critical", "dB", "rpm", "mm",
    ];
    let words = text.split(|c: char| !c.is_ascii_alphabetic());
    let foreign = words.filter(|word| word.len() > 2 && !KNOWN.contains(word));
    foreign.map(|word| format!("English in Korean: {word} in {text}")).collect()
}

/// Figures of times that no person would write: more than one decimal before an hour or a day.
fn odd_figures(text: &str) -> impl Iterator<Item = String> + '_ {
    let units = ["시간", " h", "일", " days", " day"];
    units.into_iter().flat_map(move |unit| {
        text.match_indices(unit).filter_map(move |(at, _)| {
            let head = &text[..at];
            let from = head
                .rfind(|c: char| !c.is_ascii_digit() && c != '.')
                .map_or(0, |at| at + head[at..].chars().next().map_or(1, char::len_utf8));
            let decimals = head[from..].split_once('.').map_or(0, |(_, rest)| rest.len());
            (decimals > 1).then(|| format!("figure: {}{unit}", &head[from..]))
        })
    })
}

/// The figures of a text, sorted: both languages tell the same ones.
fn figures(text: &str) -> BTreeSet<String> {
    let parts = text.split(|c: char| !(c.is_ascii_digit() || c == '.'));
    parts.map(|part| part.trim_matches('.').to_owned()).filter(|part| !part.is_empty()).collect()
}

/// Two hundred judgements are read without a contradiction, in Korean and English.
#[test]
fn two_hundred_judgements_contradict_neither_themselves_nor_each_other() {
    let all = judgements();
    assert!(all.len() >= 200, "{} judgements", all.len());
    let is_shown = std::env::var_os("PDM_PRINT_JUDGEMENTS").is_some();
    let mut found = Vec::new();
    for (name, diagnosis) in &all {
        if is_shown {
            println!("\n{name}: {} stage {}", diagnosis.risk_level, diagnosis.fault_stage);
            for text in texts(diagnosis) {
                println!("  {}\n  {}", text.ko, text.en);
            }
        }
        found.extend(stumbles(diagnosis).into_iter().map(|one| format!("{name}: {one}")));
    }
    assert!(found.is_empty(), "{} of {}:\n{}", found.len(), all.len(), found.join("\n"));
}

/// The rules find what they are there for.
#[test]
fn the_reader_stumbles_over_what_was_told_before() {
    assert_eq!(wrong_particles("정상(외륜)로 봄").len(), 1);
    assert_eq!(wrong_particles("5일으로, 주의을 본다").len(), 2);
    assert!(wrong_particles("정상으로 5일로 결함을 이를 위험으로").is_empty());
    assert_eq!(foreign_words("outer_race 결함 rms_g").len(), 3);
    assert_eq!(odd_figures("하한 0.00568시간, 6.01 h").count(), 2);
    let mut diagnosis = judge_one(&super::example()).diagnosis;
    assert_eq!(stumbles(&diagnosis), Vec::<String>::new());
    diagnosis.fault_stage = 3;
    assert!(stumbles(&diagnosis).len() >= 2, "another stage than the one that is told");
}
