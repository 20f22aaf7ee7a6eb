//! Claims about whole judgements, and properties that hold for all of them.

use pdm_shared::event::Event;
use pdm_shared::time::Timestamp;

use crate::case::{Case, Memory};
use crate::rules::Rules;
use crate::{Judgement, judge};

mod claims;
mod features;
mod grounds;
mod open_questions;
mod properties;
mod reader;
mod researched;

/// The contract's example: an outer race at stage 2, rising.
fn example() -> Event {
    serde_json::from_str(include_str!("../../../config/examples/event.json")).expect("event")
}

/// A healthy window of the same bearing.
fn healthy() -> Event {
    serde_json::from_str(include_str!("../../../config/examples/event-healthy.json"))
        .expect("event")
}

/// A document of the shipped history, as the search returns it: without front matter and English.
pub(crate) fn shipped(number: &str) -> crate::research::Document {
    let path = format!(
        "{}/../../config/knowledge/maintenance_history/mh-{number}.md",
        env!("CARGO_MANIFEST_DIR")
    );
    let file = std::fs::read_to_string(path).expect("there");
    let body = file.splitn(3, "+++\n").nth(2).expect("a body");
    let title = body.lines().next().expect("a title").trim_start_matches("# ").to_owned();
    let mut text = String::new();
    let mut is_english = false;
    for line in body.lines().skip(1) {
        is_english = (is_english || line.starts_with("<!-- en")) && !line.starts_with('#');
        if !is_english {
            text.push_str(line.trim_start_matches('#').trim_start());
            text.push('\n');
        }
    }
    crate::research::Document {
        id: format!("MH-{number}"),
        title,
        text,
        source: format!("mh-{number}.md"),
    }
}

fn judge_one(event: &Event) -> Judgement {
    judge_with(event, &Memory::default(), &Rules::default())
}

fn judge_with(event: &Event, memory: &Memory, rules: &Rules) -> Judgement {
    judge(&Case { event, memory, now: event.measured_at.plus_seconds(2.0) }, rules)
}

/// The figures of a judgement that have no source.
fn withheld(judgement: &Judgement, event: &Event, memory: &Memory) -> Vec<String> {
    let inquiry = crate::research::Inquiry::default();
    let grounds = crate::grounding::Grounds { event, memory, inquiry: &inquiry };
    let mut diagnosis = judgement.diagnosis.clone();
    let withheld = crate::grounding::withhold(&mut diagnosis, &grounds, &Rules::default());
    if !withheld.is_empty() {
        println!("withheld {withheld:?}");
        for thought in &diagnosis.thoughts {
            println!("{} | {}", thought.conclusion.ko, thought.conclusion.en);
        }
        println!("{:?} {:?}", diagnosis.recommendation, diagnosis.memory.summary);
    }
    withheld
}

/// A bearing that is judged event after event, each `step_s` later.
struct Life {
    memory: Memory,
    rules: Rules,
    at: Timestamp,
    step_s: f64,
}

impl Life {
    fn new() -> Self {
        Self {
            memory: Memory::default(),
            rules: Rules::default(),
            at: example().measured_at,
            step_s: 3600.0,
        }
    }

    fn next(&mut self, event: &Event) -> Judgement {
        let mut event = event.clone();
        event.measured_at = self.at;
        self.at = self.at.plus_seconds(self.step_s);
        let judgement = judge_with(&event, &self.memory, &self.rules);
        assert_eq!(withheld(&judgement, &event, &self.memory), Vec::<String>::new());
        self.memory.recall(&event, &judgement);
        judgement
    }

    fn repeat(&mut self, event: &Event, times: usize) -> Judgement {
        let mut last = self.next(event);
        for _ in 1..times {
            last = self.next(event);
        }
        last
    }
}
