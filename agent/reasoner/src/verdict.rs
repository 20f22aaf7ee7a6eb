//! The model's `diagnosis_result`: its schema, its check, and the opinion that the program makes of
//! it.
//!
//! The model names paths of evidence; the values are taken from the event. Figures in its words are
//! replaced: `{rul.hours}` by the value at that path, any other figure that stands in no named
//! evidence by the mark of grounding.

use pdm_expert::grounding::{Sources, WITHHELD};
use pdm_shared::diagnosis::{
    DegradationSpeed, Evidence, OpinionStance, ThoughtTitle, ThoughtWords, UncertaintyLevel,
};
use pdm_shared::fault::Fault;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::dialect::ToolDefinition;
use crate::guard::{TextLanguage, language_of, plain};

mod schema;

pub use schema::enforced;

/// Name of the function by which the model ends.
pub const CONCLUDE: &str = "conclude";
/// Longest reason or recommendation, characters.
const MAX_TEXT: usize = 600;
/// Longest words of one thought, characters.
const MAX_WORDS: usize = 300;
/// Longest path of evidence, characters.
const MAX_PATH: usize = 96;

/// The conclusion of the model.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Concluded {
    fault_type: Option<Fault>,
    fault_stage: u8,
    degradation_speed: DegradationSpeed,
    rul_basis: RulBasis,
    risk_level: RiskLevel,
    uncertainty_level: UncertaintyLevel,
    thoughts: Vec<ConcludedThought>,
    reason: Text,
    recommendation: Text,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct ConcludedThought {
    title: ThoughtTitle,
    evidence: Vec<String>,
    #[serde(default)]
    conclusion: Option<Text>,
}

/// The place of a conclusion in the judgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerdictPlace {
    /// The verdict stands beside the judgement: a reason and a recommendation.
    Beside,
    /// The verdict is part of the judgement: it has words for each of the five thoughts, too.
    InTheLoop,
}

/// The field of `rul` that the model plans with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RulBasis {
    CiLowHours,
    Hours,
    Unknown,
}

/// A valid conclusion, with the event's values in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// How it stands to the expert's judgement.
    pub stance: OpinionStance,
    /// The risk.
    pub risk_level: RiskLevel,
    /// The faulty element.
    pub fault_type: Option<Fault>,
    /// The stage.
    pub fault_stage: u8,
    /// The speed of the degradation.
    pub degradation: DegradationSpeed,
    /// The uncertainty.
    pub uncertainty: UncertaintyLevel,
    /// The reason.
    pub reason: Text,
    /// The recommendation.
    pub recommendation: Text,
    /// The named evidence with its values.
    pub evidence: Vec<Evidence>,
    /// Its words by thought.
    pub thoughts: Vec<ThoughtWords>,
}

/// The function by which the model ends, with the schema of `diagnosis_result`.
pub fn conclude(place: VerdictPlace) -> ToolDefinition {
    ToolDefinition {
        name: CONCLUDE.to_owned(),
        description: "Ends the analysis with diagnosis_result.".to_owned(),
        parameters: schema::schema(place),
    }
}

/// Most complaints about one conclusion, so that the text for the model stays short.
const MAX_COMPLAINTS: usize = 5;

/// Reads a conclusion over an event.
///
/// # Errors
/// Complaints in words for the model, which may repair its answer.
pub fn read_conclusion(
    arguments: &Map<String, Value>,
    event: &Value,
    judged: RiskLevel,
    names: &[String],
    place: VerdictPlace,
) -> Result<Verdict, Vec<String>> {
    let value = Value::Object(arguments.clone());
    let validator = match place {
        VerdictPlace::Beside => &schema::BESIDE,
        VerdictPlace::InTheLoop => &schema::IN_THE_LOOP,
    };
    if let Some(validator) = validator.as_ref() {
        let complaint = |error: jsonschema::ValidationError<'_>| {
            let at = error.instance_path().to_string();
            format!("{}: {}", if at.is_empty() { "/" } else { &at }, error.masked())
        };
        let complaints: Vec<String> =
            validator.iter_errors(&value).take(MAX_COMPLAINTS).map(complaint).collect();
        if !complaints.is_empty() {
            return Err(complaints);
        }
    }
    let concluded: Concluded =
        serde_json::from_value(value).map_err(|error| vec![error.to_string()])?;
    checked(concluded, event, judged, names)
}

fn checked(
    concluded: Concluded,
    event: &Value,
    judged: RiskLevel,
    names: &[String],
) -> Result<Verdict, Vec<String>> {
    use ThoughtTitle::{Degradation, InitialScreening, OverallRisk, PfStage, Rul};
    let mut complaints = Vec::new();
    let titles = concluded.thoughts.iter().map(|thought| thought.title);
    if !titles.eq([InitialScreening, PfStage, Degradation, Rul, OverallRisk]) {
        complaints.push("thoughts: the five titles in their order are needed".to_owned());
    }
    let evidence = evidence(&concluded, event);
    if evidence.is_empty() && concluded.risk_level > RiskLevel::Normal {
        let told = "thoughts.evidence: no path that the event holds is named, such as trend.slope";
        complaints.push(told.to_owned());
    }
    for (name, text) in
        [("reason", &concluded.reason), ("recommendation", &concluded.recommendation)]
    {
        if language_of(&text.ko) != TextLanguage::Korean {
            complaints.push(format!("{name}.ko: has to be Korean"));
        }
        if language_of(&text.en) != TextLanguage::English {
            complaints.push(format!("{name}.en: has to be English"));
        }
    }
    if concluded.rul_basis == RulBasis::CiLowHours && value_at(event, "rul.ci_low_hours").is_none()
    {
        complaints.push("rul_basis: the event has no rul.ci_low_hours".to_owned());
    }
    if !complaints.is_empty() {
        return Err(complaints);
    }
    let render = Renderer::of(event, &evidence, concluded.fault_stage, names);
    Ok(Verdict {
        stance: OpinionStance::of(judged, concluded.risk_level),
        risk_level: concluded.risk_level,
        fault_type: concluded.fault_type,
        fault_stage: concluded.fault_stage,
        degradation: concluded.degradation_speed,
        uncertainty: concluded.uncertainty_level,
        reason: render.text(&concluded.reason),
        recommendation: render.text(&concluded.recommendation),
        thoughts: words(&concluded, &render),
        evidence,
    })
}

/// The words of the thoughts that have some, in both languages. Others are left out: the expert's
/// conclusion stands in every thought, so no answer has to be repaired for them.
fn words(concluded: &Concluded, render: &Renderer<'_>) -> Vec<ThoughtWords> {
    let of = |thought: &ConcludedThought| {
        let is_in_both = |text: &&Text| {
            language_of(&text.ko) == TextLanguage::Korean
                && language_of(&text.en) == TextLanguage::English
        };
        let said = thought.conclusion.as_ref().filter(is_in_both)?;
        let words = Text::new(
            render.one(&said.ko, WITHHELD.0, MAX_WORDS),
            render.one(&said.en, WITHHELD.1, MAX_WORDS),
        );
        Some(ThoughtWords { title: thought.title, words })
    };
    concluded.thoughts.iter().filter_map(of).collect()
}

/// The named evidence that the event holds, each path once.
fn evidence(concluded: &Concluded, event: &Value) -> Vec<Evidence> {
    let mut evidence: Vec<Evidence> = Vec::new();
    for path in concluded.thoughts.iter().flat_map(|thought| &thought.evidence) {
        let path = path.trim().trim_start_matches("event.");
        if evidence.iter().any(|known| known.path == path) {
            continue;
        }
        if let Some(value) = value_at(event, path) {
            let (path, value) = (path.to_owned(), value.clone());
            evidence.push(Evidence { path, value, rule: None, source: None });
        }
    }
    evidence
}

/// The value at a path of the event; nothing for null, lists and mappings.
pub(crate) fn value_at<'a>(event: &'a Value, path: &str) -> Option<&'a Value> {
    if path.is_empty() || path.len() > MAX_PATH {
        return None;
    }
    let pointer = format!("/{}", path.replace(['.', '['], "/").replace(']', ""));
    let value = event.pointer(&pointer)?;
    let is_fact = value.is_number() || value.is_string() || value.is_boolean();
    is_fact.then_some(value)
}

/// Puts the event's values into the words of the model.
struct Renderer<'a> {
    event: &'a Value,
    sources: Sources,
}

impl<'a> Renderer<'a> {
    fn of(event: &'a Value, evidence: &[Evidence], stage: u8, names: &[String]) -> Self {
        let mut sources = Sources::default();
        let slope_unit = event.pointer("/trend/slope_unit").and_then(Value::as_str);
        sources.set_slope_unit(slope_unit.unwrap_or_default());
        for fact in evidence {
            sources.add(&fact.path, &fact.value);
        }
        sources.add_stage(stage);
        for name in names {
            sources.add_name(name);
        }
        Self { event, sources }
    }

    fn text(&self, text: &Text) -> Text {
        let one = |text, mark| self.one(text, mark, MAX_TEXT);
        Text::new(one(&text.ko, WITHHELD.0), one(&text.en, WITHHELD.1))
    }

    /// Figures of the model's own are withheld first; then the values come into their places.
    fn one(&self, text: &str, mark: &str, longest: usize) -> String {
        let text = plain(text, longest);
        let mut out = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            let Some((path, behind)) = after.split_once('}') else { break };
            out.push_str(&self.sources.withheld(before, mark).0);
            match value_at(self.event, path.trim()) {
                Some(value) => out.push_str(&shown(value)),
                None => out.push_str(mark),
            }
            rest = behind;
        }
        out.push_str(&self.sources.withheld(rest, mark).0);
        out
    }
}

/// A value as words quote it: at most four digits after the point, text as it is.
fn shown(value: &Value) -> String {
    match value {
        Value::Number(number) => number.as_f64().map_or_else(String::new, |number| {
            let text = format!("{number:.4}");
            if text.contains('.') {
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            } else {
                text
            }
        }),
        Value::String(text) => plain(text, 64),
        Value::Bool(value) => value.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::schema::paths;
    use super::*;

    fn event() -> Value {
        serde_json::from_str(include_str!("../../../config/examples/event.json")).expect("event")
    }

    fn conclusion() -> Value {
        let thought = |title: &str, path: &str| json!({ "title": title, "evidence": [path] });
        json!({
            "thoughts": [
                thought("initial_screening", "frequency_domain.bpfo.snr_db"),
                thought("pf_stage", "time_domain.kurtosis"),
                thought("degradation", "trend.slope"),
                thought("rul", "rul.ci_low_hours"),
                thought("overall_risk", "anomaly.score"),
            ],
            "fault_type": "outer_race", "fault_stage": 2, "degradation_speed": "moderate",
            "rul_basis": "ci_low_hours", "risk_level": "Warning", "uncertainty_level": "low",
            "reason": { "ko": "외륜 결함선이 {frequency_domain.bpfo.snr_db} dB로 뚜렷함. 고장까지 33시간.",
                        "en": "The outer race line is clear at {frequency_domain.bpfo.snr_db} dB; \
                            33 h left." },
            "recommendation": { "ko": "교체 계획 수립", "en": "Plan the replacement" },
        })
    }

    fn read_at(value: &Value, place: VerdictPlace) -> Result<Verdict, Vec<String>> {
        read_conclusion(
            value.as_object().expect("a mapping"),
            &event(),
            RiskLevel::Warning,
            &[],
            place,
        )
    }

    fn read_value(value: &Value) -> Result<Verdict, Vec<String>> {
        read_at(value, VerdictPlace::Beside)
    }

    #[test]
    fn figures_come_from_the_event_and_others_are_withheld() {
        let verdict = read_value(&conclusion()).expect("valid");
        assert_eq!(verdict.stance, OpinionStance::Agrees);
        let text = &verdict.reason;
        assert!(
            text.ko.contains("18.2 dB") && text.ko.contains("[근거 미확인]시간"),
            "{}",
            text.ko
        );
        assert!(text.en.contains("18.2 dB") && !text.en.contains("33"), "{}", text.en);
        assert_eq!(verdict.evidence.len(), 5);
        assert_eq!(verdict.evidence[3].value, 120.0);
    }

    #[test]
    fn in_the_loop_a_thought_has_words_with_the_events_figures_alone() {
        let mut conclusion = conclusion();
        conclusion["thoughts"][1]["conclusion"] = json!({
            "ko": "첨도 {time_domain.kurtosis}, 고장까지 33시간", "en": "The kurtosis of this window is \
                {time_domain.kurtosis} and 33 h are left",
        });
        let verdict = read_at(&conclusion, VerdictPlace::InTheLoop).expect("valid");
        let kurtosis = event()["time_domain"]["kurtosis"].as_f64().expect("a number");
        assert_eq!(verdict.thoughts.len(), 1);
        let said = &verdict.thoughts[0];
        assert_eq!(said.title, ThoughtTitle::PfStage);
        assert!(said.words.ko.contains(&format!("첨도 {kurtosis}")), "{}", said.words.ko);
        assert!(
            !said.words.ko.contains("33") && !said.words.en.contains("33"),
            "{}",
            said.words.en
        );
        conclusion["thoughts"][1]["conclusion"]["ko"] = json!("Kurtosis is up");
        let verdict = read_at(&conclusion, VerdictPlace::InTheLoop).expect("valid");
        assert_eq!(verdict.thoughts, Vec::new(), "words that are not Korean are left out");
        // beside the judgement nobody asked for them
        assert!(read_value(&conclusion).is_err());
    }

    #[test]
    fn what_is_wrong_is_told_in_words_for_the_model() {
        let change = |key: &str, value: Value| {
            let mut conclusion = conclusion();
            conclusion[key] = value;
            read_value(&conclusion).expect_err(key).join("; ")
        };
        assert!(change("risk_level", json!("Fine")).contains("risk_level"));
        assert!(change("fault_stage", json!(9)).contains("fault_stage"));
        assert!(change("thoughts", json!([])).contains("thoughts"));
        let chinese = json!({ "ko": "外圈缺陷明显", "en": "外圈缺陷明显" });
        let told = change("reason", chinese);
        assert!(
            told.contains("reason.ko: has to be Korean") && told.contains("reason.en"),
            "{told}"
        );
        let mut blind = conclusion();
        for thought in blind["thoughts"].as_array_mut().expect("a list") {
            thought["evidence"] = json!(["spectra", "nothing.here"]);
        }
        let told = read_value(&blind).expect_err("blind").join("; ");
        assert!(told.contains("no path that the event holds"), "{told}");
    }

    /// R-AGENT-5
    #[test]
    fn what_a_server_enforces_holds_evidence_titles_and_languages() {
        let event = event();
        for place in [VerdictPlace::Beside, VerdictPlace::InTheLoop] {
            let narrow = jsonschema::validator_for(&enforced(place, &event)).expect("a schema");
            assert!(narrow.is_valid(&conclusion()), "{place:?}");
            let is_refused = |change: &dyn Fn(&mut Value)| {
                let mut conclusion = conclusion();
                change(&mut conclusion);
                !narrow.is_valid(&conclusion)
            };
            assert!(is_refused(&|it| it["thoughts"][0]["evidence"] = json!(["overall_risk"])));
            assert!(is_refused(&|it| it["thoughts"][0]["evidence"] = json!(["event_id"])));
            assert!(is_refused(&|it| it["thoughts"][1]["title"] = json!("rul")));
            assert!(is_refused(&|it| it["reason"]["ko"] = json!("外圈缺陷明显")));
            assert!(is_refused(&|it| it["reason"]["ko"] = json!("The line is clear")));
            assert!(is_refused(&|it| it["reason"]["en"] = json!("외륜 결함선")));
        }
        let mut blind = event;
        blind["rul"]["ci_low_hours"] = Value::Null;
        let narrow =
            jsonschema::validator_for(&enforced(VerdictPlace::Beside, &blind)).expect("a schema");
        assert!(!narrow.is_valid(&conclusion()), "no lower bound to plan with");
    }

    #[test]
    fn every_path_that_is_offered_leads_to_a_fact() {
        let event = event();
        let paths = paths(&event);
        assert!(paths.iter().all(|path| value_at(&event, path).is_some()), "{paths:?}");
        for path in ["trend.slope", "frequency_domain.bpfo.snr_db", "anomaly_detected"] {
            assert!(paths.iter().any(|one| one == path), "{path}: {paths:?}");
        }
    }

    #[test]
    fn a_path_leads_to_a_fact_or_nowhere() {
        let event = event();
        assert_eq!(
            value_at(&event, "frequency_domain.bpfo.harmonics[1].snr_db"),
            Some(&json!(14.0))
        );
        for nowhere in ["", "frequency_domain", "spectra", "a~1b", "..", "harmonics[", "window.x"] {
            assert_eq!(value_at(&event, nowhere), None, "{nowhere}");
        }
    }

    proptest! {
        /// Whatever the model writes, no figure without a source reaches people.
        #[test]
        fn no_figure_of_the_models_own_is_told(figure in 1000_u32..9999, words in "[a-z \
            {}.]{0,40}") {
            let mut conclusion = conclusion();
            conclusion["reason"]["en"] = json!(format!("The {words} is {figure} now"));
            if let Ok(verdict) = read_value(&conclusion) {
                prop_assert!(!verdict.reason.en.contains(&figure.to_string()), "{}",
                    verdict.reason.en);
            }
        }
    }
}
