//! A reader's rules for judgements: sentences and figures of one diagnosis that contradict each
//! other.
//!
//! A rule knows nothing of how the judgement was made: it reads what a person reads. A judgement
//! that breaks none may still be wrong; one that breaks any is. [`against_the_event`] reads the
//! event beside it.

mod claims;

pub use claims::against_the_event;
use pdm_expert::grounding::WITHHELD;
use pdm_shared::diagnosis::{Diagnosis, ThoughtTitle};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;

/// Words in Latin letters that Korean texts use: levels as the user's documents write them,
/// quantities, units, procedures and names of places.
const LATIN_IN_KOREAN: [&str; 34] = [
    "Normal", "Watch", "Warning", "Critical", "BPFO", "BPFI", "BSF", "FTF", "RMS", "P-F", "LOTO",
    "dB", "g", "h", "mm", "s", "Hz", "kHz", "VPF", "rpm", "DE", "NDE", "ISO", "RUL", "A", "B", "C",
    "D", "m", "x", "EM", "MH", "MQTT", "C3",
];

/// Sentences of which one denies the other.
const AGAINST_EACH_OTHER: [(&str, &str); 4] = [
    ("in the usual range", "hint at a defect"),
    ("similar:", "No case of the maintenance history has these signs"),
    ("No sign of damage on the P-F curve", "the stage is confirmed"),
    ("The remaining life cannot be estimated", "shorter than the lead time"),
];

/// A rule that a judgement breaks, and the text that breaks it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// The rule's name.
    pub rule: &'static str,
    /// The text, or both.
    pub text: String,
}

/// Everything in a judgement that a reader would object to.
pub fn contradictions(diagnosis: &Diagnosis) -> Vec<Contradiction> {
    let mut found = Vec::new();
    for text in texts(diagnosis) {
        found.extend(form(&text.ko).chain(form(&text.en)).map(|text| of("form", text)));
        if text.en.chars().any(is_hangul) {
            found.push(of("Korean in an English text", text.en.clone()));
        }
        let odd = latin(&text.ko).find(|word| !is_known(word));
        found
            .extend(odd.map(|word| of("English in a Korean text", format!("{word}: {}", text.ko))));
    }
    found.extend(stages(diagnosis));
    found.extend(life(diagnosis));
    found.extend(advice(diagnosis));
    found.extend(claims::claims(diagnosis));
    let all: Vec<&str> = diagnosis.thoughts.iter().map(|one| one.conclusion.en.as_str()).collect();
    let all = all.join(" | ");
    for (one, other) in AGAINST_EACH_OTHER {
        if all.contains(one) && all.contains(other) {
            found.push(of("sentences against each other", format!("{one} / {other}")));
        }
    }
    found
}

fn of(rule: &'static str, text: String) -> Contradiction {
    Contradiction { rule, text }
}

/// Every text of a judgement that staff reads.
fn texts(diagnosis: &Diagnosis) -> Vec<&Text> {
    let thoughts = diagnosis.thoughts.iter().map(|thought| &thought.conclusion);
    let causes = diagnosis.uncertainty.causes.iter();
    thoughts.chain(causes).chain([&diagnosis.recommendation, &diagnosis.memory.summary]).collect()
}

/// Finds text that no sentence has: doubled spaces, empty brackets, a separator without a second
/// part, values of a program, figures that were withheld, figures with more digits than anybody
/// measures.
fn form(text: &str) -> impl Iterator<Item = String> {
    const NEVER: [&str; 14] = [
        "  ",
        " ,",
        " .",
        "()",
        "NaN",
        "null",
        "None",
        "{",
        "}",
        "· ·",
        "undefined",
        " :",
        WITHHELD.0,
        WITHHELD.1,
    ];
    let odd = NEVER.iter().any(|part| text.contains(part)) || text.trim_end().ends_with('·');
    let long = text
        .split(|c: char| !(c.is_ascii_digit() || c == '.'))
        .any(|figure| figure.contains('.') && significant(figure) > 3);
    (odd || long).then(|| text.to_owned()).into_iter()
}

/// The digits of a figure from its first that is not zero.
fn significant(figure: &str) -> usize {
    figure.trim_start_matches(['0', '.']).bytes().filter(u8::is_ascii_digit).count()
}

fn is_hangul(c: char) -> bool {
    ('가'..='힣').contains(&c)
}

fn latin(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'))
        .map(|word| word.trim_matches(|c: char| c.is_ascii_digit() || c == '-'))
        .filter(|word| !word.is_empty())
}

fn is_known(word: &str) -> bool {
    LATIN_IN_KOREAN.contains(&word) || word.starts_with("EM-") || word.starts_with("MH-")
}

fn thought(diagnosis: &Diagnosis, title: ThoughtTitle) -> &str {
    let thought = diagnosis.thoughts.iter().find(|thought| thought.title == title);
    thought.map_or("", |thought| thought.conclusion.en.as_str())
}

/// A stage that a thought names is the judgement's.
fn stages(diagnosis: &Diagnosis) -> Vec<Contradiction> {
    let named = |title| {
        let text = thought(diagnosis, title);
        let (_, rest) = text.split_once("P-F stage ")?;
        let stage: u8 = rest.chars().next()?.to_digit(10)?.try_into().ok()?;
        (stage != diagnosis.fault_stage).then(|| of("stage", text.to_owned()))
    };
    [ThoughtTitle::PfStage, ThoughtTitle::OverallRisk].into_iter().filter_map(named).collect()
}

/// Hours of a text such as `less than 1 h`, `14 h`, `3 days`.
fn hours(text: &str) -> Option<f64> {
    let text = text.trim().trim_start_matches("less than ");
    let mut words = text.split(' ');
    let figure: f64 = words.next()?.parse().ok()?;
    let unit = words.next()?.trim_end_matches(',');
    Some(if unit.starts_with('d') { figure * 24.0 } else { figure })
}

/// The bounds of the remaining life enclose its median, and no date of the advice lies behind it.
fn life(diagnosis: &Diagnosis) -> Vec<Contradiction> {
    let text = thought(diagnosis, ThoughtTitle::Rul);
    let after = |word: &str| text.split_once(word).and_then(|(_, rest)| hours(rest));
    let (low, median, high) = (after("lower bound "), after("median "), after("upper bound "));
    let mut found = Vec::new();
    let is_open = median.is_some_and(|median| {
        low.is_some_and(|low| low > median) || high.is_some_and(|high| high < median)
    });
    if is_open {
        found.push(of("interval", text.to_owned()));
    }
    let advice = &diagnosis.recommendation.en;
    let within = advice.split_once("within ").and_then(|(_, rest)| hours(rest));
    if let (Some(within), Some(median)) = (within, median)
        && median < within
        && !text.contains("for information")
    {
        found.push(of("a date behind the life", format!("{text} / {advice}")));
    }
    found
}

/// Finds advice that does not fit the level.
fn advice(diagnosis: &Diagnosis) -> Vec<Contradiction> {
    let text = &diagnosis.recommendation.en;
    let stops = text.contains("Stop as soon as it is safe");
    let orders = text.contains("Plan the replacement") || stops;
    let wrong = match diagnosis.risk_level {
        RiskLevel::Critical => !stops && !text.contains("still stands"),
        RiskLevel::Warning => stops,
        RiskLevel::Normal | RiskLevel::Watch => orders,
    };
    let risk = diagnosis.risk_level;
    wrong.then(|| of("advice against the level", format!("{risk}: {text}"))).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Diagnosis {
        serde_json::from_str(include_str!("../../config/examples/diagnosis.json")).expect("example")
    }

    fn rules(change: impl FnOnce(&mut Diagnosis)) -> Vec<&'static str> {
        let mut diagnosis = example();
        change(&mut diagnosis);
        contradictions(&diagnosis).into_iter().map(|one| one.rule).collect()
    }

    fn say(diagnosis: &mut Diagnosis, title: ThoughtTitle, text: &str) {
        let thought = diagnosis.thoughts.iter_mut().find(|one| one.title == title);
        thought.expect("five thoughts").conclusion.en = text.to_owned();
    }

    #[test]
    fn the_example_breaks_no_rule() {
        assert_eq!(contradictions(&example()), []);
    }

    /// Claims that one sentence makes against the rest of the example (an outer race at Warning).
    #[test]
    fn each_claim_without_a_ground_is_found() {
        use ThoughtTitle::{Degradation, OverallRisk, PfStage, Rul};
        let progress = "P-F stage 2: harmonics · from stage 1 to 2 in 8 h";
        let at_once = "P-F stage 2: level and impulsiveness up together: a spall that grows; \
                       kurtosis fell from 96 to 40.6";
        let life = "Remaining life: lower bound less than 1 h, median less than 1 h, upper bound \
                    less than 1 h";
        let rapid = "Degradation is accelerating: rapid (Envelope RMS slope -0.00135 g/h)";
        for (rule, title, text) in [
            ("no sign of damage at a high risk", PfStage, "No sign of damage on the P-F curve"),
            ("degradation of what does not degrade", Degradation, rapid),
            ("no trend with a slope", Degradation, "No trend (Envelope RMS slope 3 g/h)"),
            ("progress without growth", PfStage, progress),
            ("rising and fallen at once", PfStage, at_once),
            ("a life of no bearing", PfStage, "It is up without a sign of bearing damage"),
            ("an end within the hour at a low risk", Rul, life),
            ("kept from no judgement", PfStage, "The stage of the former judgement is kept"),
            ("another machine as a proof", PfStage, "MH-06 too: the stage is confirmed"),
            ("a stage of no bearing", PfStage, "P-F stage 2: the level itself is up"),
            ("the guide of another element", OverallRisk, "Warning: rising · manual: EM-03"),
            ("an order on one measurement", OverallRisk, "by one measurement without a history"),
        ] {
            let broken = rules(|d| {
                d.memory.summary.en = "No earlier judgement".to_owned();
                say(d, Degradation, "No significant trend");
                say(d, Rul, "Remaining life: lower bound 15 h, median 3 days");
                if title == Rul {
                    d.risk_level = RiskLevel::Watch;
                }
                if rule.ends_with("of no bearing") {
                    d.fault_type = None;
                }
                if title == OverallRisk {
                    d.recommendation.en = "Set its date and order the parts".to_owned();
                }
                say(d, title, text);
            });
            assert!(broken.contains(&rule), "{rule}: {broken:?}");
        }
    }

    #[test]
    fn a_stop_without_a_ground_is_found() {
        let stop = |d: &mut Diagnosis| {
            (d.risk_level, d.fault_type) = (RiskLevel::Critical, None);
            d.recommendation.en = "Stop as soon as it is safe and replace the bearing".to_owned();
            say(d, ThoughtTitle::OverallRisk, "Critical: this window is in the usual range");
        };
        let broken = rules(stop);
        for rule in ["a stop at the usual level", "a replacement without a named part"] {
            assert!(broken.contains(&rule), "{rule}: {broken:?}");
        }
    }

    /// A question that the event leaves open is never told as sound.
    #[test]
    fn a_window_that_cannot_be_judged_is_not_called_sound() {
        let event = include_str!("../../config/examples/event.json");
        let mut event: pdm_shared::event::Event = serde_json::from_str(event).expect("event");
        event.frequency_domain.bpfo.harmonics.clear();
        let mut sound = example();
        say(&mut sound, ThoughtTitle::InitialScreening, "No anomaly; the features agree");
        assert_eq!(against_the_event(&sound, &event), []);
        event.frequency_domain.undetermined = Some("the record holds 12.0 shaft turns".to_owned());
        assert_eq!(against_the_event(&sound, &event)[0].rule, "sound though nothing can be said");
        event.frequency_domain.undetermined = None;
        event.time_domain.iso_zone = Some(pdm_shared::event::IsoZone::D);
        assert_eq!(against_the_event(&sound, &event)[0].rule, "sound in a bad zone");
        event.time_domain.iso_zone = None;
        event.frequency_domain.damaged = Some(pdm_shared::event::OpenDamage {
            most_likely: pdm_shared::fault::Fault::OuterRace,
            or_else: pdm_shared::fault::Fault::Ball,
        });
        assert_eq!(against_the_event(&sound, &event)[0].rule, "sound with damage");
        event.signal_quality.valid = false;
        assert_eq!(against_the_event(&sound, &event), []);
    }

    #[test]
    fn each_contradiction_is_found() {
        let rul = "Remaining life: lower bound 3 days, median 14 h, upper bound 4 days";
        for (rule, broken) in [
            ("stage", rules(|d| d.fault_stage += 1)),
            ("interval", rules(|d| say(d, ThoughtTitle::Rul, rul))),
            ("form", rules(|d| d.recommendation.en.push_str("  twice"))),
            ("form", rules(|d| d.recommendation.ko.push_str("(축 [근거 미확인]회전 이상)"))),
            ("form", rules(|d| say(d, ThoughtTitle::Degradation, "slope 12.34567 g/h"))),
            ("Korean in an English text", rules(|d| d.recommendation.en.push('베'))),
            ("English in a Korean text", rules(|d| d.recommendation.ko.push_str(" bearing"))),
            (
                "advice against the level",
                rules(|d| {
                    d.risk_level = RiskLevel::Watch;
                    d.recommendation.en = "Plan the replacement of the bearing".to_owned();
                }),
            ),
            (
                "sentences against each other",
                rules(|d| {
                    say(d, ThoughtTitle::InitialScreening, "The features hint at a defect");
                    say(d, ThoughtTitle::OverallRisk, "Watch: this window is in the usual range");
                }),
            ),
            (
                "a date behind the life",
                rules(|d| {
                    say(d, ThoughtTitle::Rul, "Remaining life: lower bound 2 h, median 14 h");
                    d.recommendation.en =
                        "Plan the replacement of the bearing within 7 days".to_owned();
                }),
            ),
        ] {
            assert!(broken.contains(&rule), "{rule}: {broken:?}");
        }
    }
}
