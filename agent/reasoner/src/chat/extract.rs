//! Answers without a model: what a question asks for, by its words, looked up and put into sentences.
//!
//! A question may ask for several things; each is a [`Lookup`] of its own.

use std::path::Path;
use std::sync::LazyLock;

use pdm_service::config;
use pdm_shared::follow_up::FollowUpState;
use pdm_shared::text::{Language, Text};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::StepCall;
use super::desk::{CoreFields, Focus, WorkLine, told_time};
use super::planning::Part;
use crate::toolbox::{self, Toolbox};

/// Bearings that a listing tells.
const MAX_LISTED: usize = 10;
/// Documents that are quoted.
const MAX_DOCUMENTS: usize = 2;
/// Longest quote of a document, characters.
const MAX_QUOTE: usize = 400;

/// One thing that a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lookup {
    /// The state of every bearing.
    Fleet,
    /// The state of the bearing.
    State,
    /// The grounds of its judgement.
    Why,
    /// Its remaining life.
    Life,
    /// The work that is asked for.
    Work,
    /// What staff was told.
    Told,
    /// Its earlier judgements.
    Past,
    /// Manuals and procedures.
    Manual,
    /// Past cases.
    Cases,
}

/// Words by which a question asks for something, in lower case (`config/words/questions.toml`).
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct QuestionWords {
    why: Vec<String>,
    life: Vec<String>,
    work: Vec<String>,
    told: Vec<String>,
    past: Vec<String>,
    manual: Vec<String>,
    cases: Vec<String>,
    fleet: Vec<String>,
    state: Vec<String>,
}

impl QuestionWords {
    /// What can be asked for beside the state, in the order of the sentences of an answer.
    fn lookups(&self) -> [(Lookup, &[String]); 8] {
        [
            (Lookup::Why, &self.why),
            (Lookup::Life, &self.life),
            (Lookup::Work, &self.work),
            (Lookup::Told, &self.told),
            (Lookup::Past, &self.past),
            (Lookup::Manual, &self.manual),
            (Lookup::Cases, &self.cases),
            (Lookup::Fleet, &self.fleet),
        ]
    }
}

static QUESTION_WORDS: LazyLock<QuestionWords> = LazyLock::new(|| {
    let text = include_str!("../../../../config/words/questions.toml");
    config::parse(Path::new("questions.toml"), text).expect("tests read the shipped file")
});

/// What a clause asks for, in the order of the sentences of the answer; nothing if no word of it says so.
pub(super) fn asked_for(clause: &str, has_bearing: bool) -> Vec<Lookup> {
    let text = clause.to_lowercase();
    let asks = |words: &[String]| words.iter().any(|word| text.contains(word.as_str()));
    let mut asked: Vec<Lookup> = QUESTION_WORDS
        .lookups()
        .iter()
        .filter(|(lookup, words)| asks(words) && (has_bearing || !lookup.is_of_bearing()))
        .map(|(lookup, _)| *lookup)
        .collect();
    if has_bearing && asks(&QUESTION_WORDS.state) {
        asked.insert(0, Lookup::State);
    }
    asked
}

/// What is looked up where no word says what is asked for.
pub(super) fn otherwise(question: &str, has_bearing: bool) -> Lookup {
    let text = question.to_lowercase();
    if has_bearing {
        Lookup::State
    } else if QUESTION_WORDS.state.iter().any(|word| text.contains(word.as_str())) {
        Lookup::Fleet
    } else {
        Lookup::Manual
    }
}

impl Lookup {
    /// Whether the look-up is about one bearing.
    pub(super) const fn is_of_bearing(self) -> bool {
        match self {
            Self::State | Self::Why | Self::Life | Self::Work | Self::Told | Self::Past => true,
            Self::Fleet | Self::Manual | Self::Cases => false,
        }
    }

    /// The look-up as a step tells it.
    pub(super) fn call(self, clause: &str, focus: Option<&Focus>) -> StepCall {
        let bearing = focus.map(|focus| focus.core.name()).unwrap_or_default();
        let (name, arguments) = match self {
            Self::Fleet => ("list_bearings", json!({})),
            Self::State => ("read_state", json!({ "bearing": bearing })),
            Self::Why => ("read_grounds", json!({ "bearing": bearing })),
            Self::Life => ("read_remaining_life", json!({ "bearing": bearing })),
            Self::Work => ("read_work", json!({ "bearing": bearing })),
            Self::Told => ("read_notifications", json!({ "bearing": bearing })),
            Self::Past => ("read_memory", json!({ "bearing": bearing })),
            Self::Manual => ("search_equipment_manual", json!({ "query": clause })),
            Self::Cases => ("search_maintenance_history", json!({ "query": clause })),
        };
        StepCall { name: name.to_owned(), arguments }
    }
}

/// What a look-up finds, in sentences; nothing if there is nothing.
pub(super) async fn look_up(
    part: &Part,
    language: Language,
    fleet: &[CoreFields],
    focus: Option<&Focus>,
    tools: &dyn Toolbox,
) -> Option<String> {
    let (lookup, clause) = (part.lookup, part.clause.as_str());
    match lookup {
        Lookup::Fleet => {
            let lines: Vec<String> =
                fleet.iter().take(MAX_LISTED).map(|core| core.line(language)).collect();
            (!lines.is_empty()).then(|| lines.join("\n"))
        }
        Lookup::Manual => search(tools, "search_equipment_manual", clause).await,
        Lookup::Cases => search(tools, "search_maintenance_history", clause).await,
        Lookup::State | Lookup::Why | Lookup::Life | Lookup::Work | Lookup::Told | Lookup::Past => {
            of_bearing(lookup, focus?, language)
        }
    }
}

fn of_bearing(lookup: Lookup, focus: &Focus, language: Language) -> Option<String> {
    let is_korean = language == Language::Ko;
    let list = |head: Text, lines: Vec<String>| {
        let head = head.in_language(language);
        (!lines.is_empty()).then(|| format!("{head}\n{}", lines.join("\n")))
    };
    let bullets = |texts: &[Text]| {
        texts.iter().map(|text| format!("- {}", text.in_language(language))).collect::<Vec<_>>()
    };
    match lookup {
        Lookup::State => {
            let line = focus.core.line(language);
            let doubts = list(Text::new("불확실성:", "Uncertainty:"), bullets(&focus.doubts));
            let advice = focus.advice.in_language(language);
            let parts = [Some(format!("{line}\n→ {advice}")), doubts];
            Some(parts.into_iter().flatten().collect::<Vec<_>>().join("\n"))
        }
        Lookup::Why => {
            let mut lines = bullets(&focus.grounds);
            lines.extend(
                focus.disagreement.iter().map(|text| text.in_language(language).to_owned()),
            );
            list(Text::new("판정 근거:", "Grounds of the judgement:"), lines)
        }
        Lookup::Life => {
            let ground = focus.grounds.get(3).map(|text| text.in_language(language));
            let hours = focus.core.rul_hours.map(|hours| {
                if is_korean {
                    format!("계획에 쓰는 잔여수명 {hours:.0}시간")
                } else {
                    format!("Remaining life to plan with: {hours:.0} h")
                }
            });
            let parts: Vec<String> = hours.into_iter().chain(ground.map(str::to_owned)).collect();
            (!parts.is_empty()).then(|| parts.join(". "))
        }
        Lookup::Work => {
            let head = Text::new("요청된 조치:", "Work that is asked for:");
            let mut lines: Vec<String> =
                focus.work.iter().map(|work| worked(work, language)).collect();
            if lines.is_empty() {
                lines.push(format!("→ {}", focus.advice.in_language(language)));
            }
            list(head, lines)
        }
        Lookup::Told => {
            let line = |(at, title): &(_, Text)| {
                format!("- {} {}", told_time(*at), title.in_language(language))
            };
            let lines: Vec<String> = focus.told.iter().take(MAX_LISTED).map(line).collect();
            let none =
                Text::new("이 베어링에 대한 알림이 없습니다.", "Nothing was told of this bearing.");
            list(Text::new("보낸 알림:", "What staff was told:"), lines)
                .or_else(|| Some(none.in_language(language).to_owned()))
        }
        Lookup::Past => Some(focus.memory.in_language(language).to_owned()),
        Lookup::Fleet | Lookup::Manual | Lookup::Cases => None,
    }
}

fn worked(work: &WorkLine, language: Language) -> String {
    let state = match work.state {
        FollowUpState::Open => Text::new("남음", "open"),
        FollowUpState::Done => Text::new("완료", "done"),
        FollowUpState::Dropped => Text::new("하지 않음", "dropped"),
        FollowUpState::Superseded => Text::new("대체됨", "superseded"),
    };
    let until = work.due_at.map(|at| format!(", ~{}", told_time(at))).unwrap_or_default();
    let order = work.work_order.as_ref().map(|order| format!(", {order}")).unwrap_or_default();
    let (action, state) = (work.action.in_language(language), state.in_language(language));
    format!("- {action} ({state}{until}{order})")
}

/// The first documents of a search, quoted with their names; nothing if the search finds none.
async fn search(tools: &dyn Toolbox, tool: &str, clause: &str) -> Option<String> {
    let query: String = clause.chars().take(900).collect();
    let arguments = Map::from_iter([("query".to_owned(), Value::from(query))]);
    let answer = toolbox::traced(tools, "extraction", tool, arguments).await;
    if answer.is_error {
        return None;
    }
    let documents = answer.data.get("documents")?.as_array()?;
    let quotes = documents.iter().take(MAX_DOCUMENTS).filter_map(|document| {
        let text = |field: &str| document.get(field).and_then(Value::as_str);
        let (id, title, body) = (text("id")?, text("title")?, text("text")?);
        let body: String = body.split_whitespace().collect::<Vec<_>>().join(" ");
        let quote: String = body.chars().take(MAX_QUOTE).collect();
        Some(format!("[{id}] {title}: {quote}"))
    });
    let quotes: Vec<String> = quotes.collect();
    (!quotes.is_empty()).then(|| quotes.join("\n"))
}
