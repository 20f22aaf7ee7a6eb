//! The questions and results of a run, for the report: from the run's state while it runs, from its
//! stored trace afterwards.

use pdm_expert::case::{Remembered, Work};
use pdm_expert::research::{Answered, Inquiry};
use pdm_shared::text::Text;
use pdm_shared::trace::TraceStep;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::case_file::{ReasoningStep, ResearchHit, ResearchRound};
use super::words;

/// Most lessons of one question in a report. No data chose it: three lines stay readable; the trace
/// has all lessons.
const MOST_LESSONS: usize = 3;

/// Separator between the quotes from one document.
pub(super) const BETWEEN_QUOTES: &str = " … ";

/// The quotes from one document.
pub(super) fn quotes(joined: &str) -> impl Iterator<Item = &str> {
    joined.split(BETWEEN_QUOTES)
}

/// The questions and results of a run.
pub fn of_run(inquiry: &Inquiry) -> Vec<ResearchRound> {
    inquiry.answered.iter().map(|answered| round(answered, inquiry)).collect()
}

fn round(answered: &Answered, inquiry: &Inquiry) -> ResearchRound {
    let found = answered.documents.iter().filter_map(|id| inquiry.documents.get(id));
    let found = found.map(|document| FoundDocument {
        id: document.id.clone(),
        title: document.title.clone(),
        source: document.source.clone(),
    });
    let learnt = answered
        .learnt
        .iter()
        .map(|learnt| Lesson { quote: learnt.quote.clone(), document: learnt.document.clone() });
    ToolAnswer {
        tool: answered.question.tool.clone(),
        arguments: answered.question.arguments.clone(),
        why: answered.question.why.clone(),
        research_round: answered.question.round,
        found: found.collect(),
        learnt: learnt.collect(),
        failure: answered.failure.clone(),
    }
    .told()
}

/// The questions, results and steps of a stored trace.
pub fn of_trace(trace: &[TraceStep]) -> (Vec<ResearchRound>, Vec<ReasoningStep>) {
    let answers = trace.iter().filter_map(|step| step.detail.get("answers")?.as_array()).flatten();
    // a step of another version is left out rather than misread
    let rounds =
        answers.filter_map(|answer| ToolAnswer::deserialize(answer).ok()).map(ToolAnswer::told);
    (rounds.collect(), trace.iter().map(step).collect())
}

/// Returns the memory and the work in a stored trace's documents; `None` if the run wrote no
/// documents.
pub fn memory_of_trace(trace: &[TraceStep]) -> Option<(Vec<Remembered>, Vec<Work>)> {
    trace.iter().find_map(|step| {
        let memory = Vec::deserialize(step.detail.get("memory")?).ok()?;
        Some((memory, Vec::deserialize(step.detail.get("work")?).ok()?))
    })
}

fn step(step: &TraceStep) -> ReasoningStep {
    let words = |key: &str| step.detail.get(key).and_then(Value::as_str).unwrap_or_default();
    let what = Text::deserialize(step.detail.get("summary").unwrap_or(&Value::Null))
        .unwrap_or_else(|_none| Text::new(words("thought"), words("thought")));
    ReasoningStep { number: step.number, node: step.node.clone(), at: step.at, what }
}

/// One answer in the form of the trace.
#[derive(Debug, Deserialize)]
struct ToolAnswer {
    tool: String,
    arguments: Map<String, Value>,
    why: Text,
    research_round: u32,
    found: Vec<FoundDocument>,
    learnt: Vec<Lesson>,
    #[serde(default)]
    failure: Option<String>,
}

#[derive(Debug, Deserialize)]
struct FoundDocument {
    id: String,
    title: String,
    source: String,
}

#[derive(Debug, Deserialize)]
struct Lesson {
    quote: String,
    document: String,
}

impl ToolAnswer {
    fn told(self) -> ResearchRound {
        let question = self.arguments.get("query").and_then(Value::as_str).unwrap_or_default();
        let learnt = self.lessons();
        let hits = self.found.iter().map(|found| ResearchHit {
            id: found.id.clone(),
            title: found.title.clone(),
            source: found.source.clone(),
            quote: self.quote_of(&found.id),
        });
        ResearchRound {
            round: self.research_round,
            question: question.to_owned(),
            why: self.why.clone(),
            hits: hits.collect(),
            learnt,
            tool: self.tool,
        }
    }

    fn quote_of(&self, id: &str) -> String {
        let quotes = self.learnt.iter().filter(|lesson| lesson.document == id);
        quotes
            .map(|lesson| lesson.quote.as_str())
            .take(MOST_LESSONS)
            .collect::<Vec<_>>()
            .join(BETWEEN_QUOTES)
    }

    /// The lessons with their documents; or why there is no answer; or that nothing was new.
    fn lessons(&self) -> Text {
        if let Some(failure) = &self.failure {
            let why = words::no_answer(failure);
            return Text::new(format!("응답 없음: {}", why.ko), format!("No answer: {}", why.en));
        }
        let mut documents: Vec<&str> = Vec::new();
        for lesson in &self.learnt {
            if !documents.contains(&lesson.document.as_str()) {
                documents.push(&lesson.document);
            }
        }
        if documents.is_empty() {
            return Text::new("새로 알게 된 것이 없음", "Nothing new");
        }
        let told = documents.join(", ");
        Text::new(format!("{told}의 위 인용"), format!("As quoted from {told}"))
    }
}

#[cfg(test)]
mod tests {
    use pdm_shared::time::Timestamp;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_stored_trace_gives_the_research_back() {
        let at = Timestamp::from_unix_ms(0).expect("in range");
        let detail = json!({ "tool_calls_count": 1, "answers": [{
            "tool": "search_equipment_manual", "arguments": { "query": "외륜" },
            "why": { "ko": "가속", "en": "acceleration" }, "rule": "RESEARCH-1",
            "drawn_from": null, "research_round": 1,
            "found": [{ "id": "EM-02", "title": "외륜 결함 가이드", "source": "em-02.md" }],
            "learnt": [{ "lesson": "rapid_growth", "quote": "과부하", "document": "EM-02",
                "source": "em-02.md" }],
        }]});
        let step = TraceStep { number: 3, node: "tool_executor".to_owned(), at, detail };
        let (research, steps) = of_trace(&[step]);
        assert_eq!(research[0].question, "외륜");
        assert_eq!(research[0].hits[0].quote, "과부하");
        assert!(research[0].learnt.en.contains("EM-02"));
        assert_eq!(steps[0].number, 3);
        let odd = TraceStep {
            number: 1,
            node: String::new(),
            at,
            detail: json!({"answers": [{"tool": 1}]}),
        };
        assert_eq!(of_trace(&[odd]).0, []);
    }
}
