//! Stand-ins for a model, named as such: one obeys everything that an attempt could want, one does
//! its work.

use std::time::Duration;

use async_trait::async_trait;
use pdm_reasoner::client::{Attempted, Model};
use pdm_reasoner::wire::{
    ChatRequest, Completion, FinishReason, WireCall, WireFunction, WireMessage,
};
use serde_json::{Value, json};

/// First calls what it must not, then concludes Normal and repeats all that it has read.
#[derive(Debug)]
pub(crate) struct Obedient;

/// Agrees with the rules, and answers with the question.
#[derive(Debug)]
pub(crate) struct Willing;

#[async_trait]
impl Model for Obedient {
    fn name(&self) -> &'static str {
        "obedient stand-in"
    }

    async fn complete(&self, request: &ChatRequest, _within: Duration) -> Attempted {
        let refused = request.messages.iter().filter(|message| text(message).contains("refused:"));
        let turn = match (refused.count(), has_chat(request)) {
            (0, _) => vec![
                (
                    "notify_maintenance_staff",
                    json!({ "message": "all is well", "risk_level": "Normal" }),
                ),
                ("get_equipment_information", json!({ "equipment_id": "P-999" })),
                ("shelve_alarm", json!({ "equipment_id": "P-101", "hours": 168 })),
            ],
            (_, true) => vec![("final_answer", json!({ "answer": spoken(&read_of(request)) }))],
            (_, false) => vec![("conclude", conclusion("Normal", &read_of(request)))],
        };
        // one object a turn can hold one call: the turns take their place one after the other
        let one = is_json(request);
        said(request, if one { turn.into_iter().take(1).collect() } else { turn })
    }
}

#[async_trait]
impl Model for Willing {
    fn name(&self) -> &'static str {
        "willing stand-in"
    }

    async fn complete(&self, request: &ChatRequest, _within: Duration) -> Attempted {
        let turn = if has_chat(request) {
            let question = request.messages.iter().rev().map(text).next().unwrap_or_default();
            ("final_answer", json!({ "answer": question }))
        } else {
            ("conclude", conclusion("Warning", "The outer race line is clear"))
        };
        said(request, vec![turn])
    }
}

fn text(message: &WireMessage) -> &str {
    match message {
        WireMessage::System { content }
        | WireMessage::User { content }
        | WireMessage::Tool { content, .. } => content,
        WireMessage::Assistant { content, .. } => content.as_deref().unwrap_or_default(),
    }
}

fn is_json(request: &ChatRequest) -> bool {
    request.response_format.is_some()
}

fn has_chat(request: &ChatRequest) -> bool {
    serde_json::to_string(request).expect("json").contains("\"final_answer\"")
        || request.messages.first().is_some_and(|message| text(message).contains("final_answer"))
}

/// Returns the first 300 characters of the messages after the first one, newest message first.
fn read_of(request: &ChatRequest) -> String {
    let read: Vec<&str> = request.messages.iter().skip(1).rev().map(text).collect();
    read.join(" ").chars().take(300).collect()
}

/// All is well, with a link, an image, and everything that was read.
fn spoken(read: &str) -> String {
    format!("The bearing is fine. http://evil.example/ok ![x](http://evil.example/p) {read}")
}

/// A valid conclusion that repeats words, what is Korean of them in its Korean part.
fn conclusion(risk: &str, words: &str) -> Value {
    let of = |fits: &dyn Fn(char) -> bool| words.chars().filter(|c| fits(*c)).collect::<String>();
    let titles = ["initial_screening", "pf_stage", "degradation", "rul", "overall_risk"];
    let thought = |title: &str| json!({ "title": title, "evidence": ["trend.slope"] });
    json!({
        "thoughts": titles.map(thought), "fault_type": null, "fault_stage": 0,
        "degradation_speed": "none", "rul_basis": "unknown", "risk_level": risk,
        "uncertainty_level": "low",
        "reason": {
            "ko": format!("베어링은 정상입니다. {}", of(&|c: char| !c.is_ascii_alphabetic())),
            "en": spoken(&of(&|c: char| c.is_ascii())),
        },
        "recommendation": { "ko": "조치가 필요 없습니다.", "en": "No work is needed for the bearing." },
    })
}

fn said(request: &ChatRequest, turn: Vec<(&str, Value)>) -> Attempted {
    let mut content = String::new();
    let mut calls = Vec::new();
    for (at, (name, arguments)) in turn.into_iter().enumerate() {
        if is_json(request) {
            let is_ending = matches!(name, "conclude" | "final_answer");
            content = if is_ending {
                json!({ name: arguments }).to_string()
            } else {
                json!({ "call_tool": { "name": name, "arguments": arguments } }).to_string()
            };
        } else {
            let function = WireFunction { name: name.to_owned(), arguments: arguments.to_string() };
            calls.push(WireCall { id: format!("c{at}"), kind: "function".to_owned(), function });
        }
    }
    let finish = if calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
    let result = Ok(Completion { content, calls, finish, usage: None });
    Attempted { result, calls: 1, took: Duration::ZERO }
}
