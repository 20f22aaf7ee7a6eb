//! Elements and levels that a question names, and the topics of values.

use pdm_shared::fault::Fault;
use pdm_shared::risk::RiskLevel;

use super::plain::PLAIN_WORDS;
use super::words::{QUESTION_WORDS, has};

/// A topic of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::chat) enum Topic {
    Torque,
    Grease,
    Heating,
    Clearance,
}

/// The topic of values that a clause names.
pub(in crate::chat) fn topic(clause: &str) -> Option<Topic> {
    let (text, words) = (clause.to_lowercase(), &QUESTION_WORDS.values);
    let topics = [
        (Topic::Torque, &words.torque),
        (Topic::Clearance, &words.clearance),
        (Topic::Heating, &words.heating),
        (Topic::Grease, &words.grease),
    ];
    topics.into_iter().find(|(_, words)| has(&text, words)).map(|(topic, _)| topic)
}

/// The element that a text in lower case names.
pub(in crate::chat) fn fault_in(text: &str) -> Option<Fault> {
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
pub(in crate::chat) fn level_in(text: &str) -> Option<RiskLevel> {
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
    let named = NAMES.into_iter().find(|(_, names)| names.iter().any(|name| text.contains(name)));
    named.map(|(level, _)| level).or_else(|| counted_level(text))
}

/// The level whose bearings a text in lower case counts: `경고가 몇 개`, `how many are critical`.
fn counted_level(text: &str) -> Option<RiskLevel> {
    const NAMES: [(RiskLevel, [&str; 2]); 3] = [
        (RiskLevel::Critical, ["critical", "위험"]),
        (RiskLevel::Warning, ["warning", "경고"]),
        (RiskLevel::Watch, ["on watch", "주의"]),
    ];
    let is_counted = has(text, &PLAIN_WORDS.counted_levels)
        && (text.contains('몇') || text.contains("how many") || text.contains("number of"));
    let named = NAMES.into_iter().filter(|_| is_counted);
    let mut named = named.filter(|(_, names)| names.iter().any(|name| text.contains(name)));
    // "how many are in Warning or Critical" is no one level
    let (level, _) = named.next()?;
    named.next().is_none().then_some(level)
}
