//! A step in which the model has written a program: run in a confined child process, with the tools
//! of the chat as functions, and told like any other step (R-CODE-1).
//!
//! Invariants: a call of a program passes the same guard as any other call; what a program reads is
//! cleaned of secrets before it gets it, because a program could write them in another form; what
//! it prints is no source of figures, only what its tools have answered is.

use async_trait::async_trait;
use pdm_expert::grounding::Readings;
use pdm_script::{ToolReply, Tools};
use serde_json::{Map, Value};

use super::{Making, StepCall, add_answer, cut, refusal};
use crate::dialect::{ToolCall, ToolDefinition};
use crate::guard::{KnownIds, Redactor};
use crate::toolbox::{self, ToolAnswer, Toolbox};

/// The tools of one program, and the results of its calls.
pub(super) struct ProgramTools<'a> {
    pub(super) step: u32,
    pub(super) tools: &'a dyn Toolbox,
    pub(super) offered: &'a [ToolDefinition],
    pub(super) redactor: &'a Redactor,
    pub(super) known: KnownIds,
    pub(super) calls: Vec<StepCall>,
    /// Everything that was read: the sources of the figures.
    pub(super) read: Readings,
}

impl<'a> ProgramTools<'a> {
    pub(super) fn of(
        making: &Making<'_>,
        tools: &'a dyn Toolbox,
        offered: &'a [ToolDefinition],
        redactor: &'a Redactor,
    ) -> Self {
        let (step, known) = (making.steps + 1, making.known.clone());
        let read = making.read.clone();
        Self { step, tools, offered, redactor, known, calls: Vec::new(), read }
    }
}

#[async_trait]
impl Tools for ProgramTools<'_> {
    async fn call(&mut self, tool: &str, arguments: Map<String, Value>) -> ToolReply {
        // an argument that is None is left out, as in the list of functions
        let arguments: Map<String, Value> =
            arguments.into_iter().filter(|(_, value)| !value.is_null()).collect();
        self.calls
            .push(StepCall { name: tool.to_owned(), arguments: Value::Object(arguments.clone()) });
        let id = format!("program-{}-{}", self.step, self.calls.len());
        let call =
            ToolCall { id: id.clone(), name: tool.to_owned(), arguments: Ok(arguments.clone()) };
        if let Some(reason) = refusal(&call, self.offered, &self.known, 0) {
            return Err(reason);
        }
        let asked = Value::Object(arguments.clone());
        let answer = toolbox::traced(self.tools, &id, tool, arguments).await;
        if answer.is_error {
            return Err(cut(&self.redactor.clean(&answer.text)));
        }
        self.known.add_of(&answer.data);
        self.read.add_arguments(&asked);
        let text = cleaned(&answer, self.redactor);
        add_answer(&mut self.read, &answer, &text);
        Ok(text)
    }
}

/// The answer of a tool as JSON without what is not sent.
fn cleaned(answer: &ToolAnswer, redactor: &Redactor) -> String {
    if answer.data.is_null() {
        return Value::from(redactor.clean(&answer.text)).to_string();
    }
    let text = redactor.clean(&answer.data.to_string());
    // a mark may have taken a quote with it: then each text is cleaned by itself, with its name
    if serde_json::from_str::<Value>(&text).is_ok() {
        return text;
    }
    let mut data = answer.data.clone();
    clean_value("", &mut data, redactor);
    data.to_string()
}

fn clean_value(name: &str, value: &mut Value, redactor: &Redactor) {
    match value {
        Value::String(text) => {
            let label = format!("{name}: ");
            let cleaned = redactor.clean(&format!("{label}{text}"));
            *text = cleaned.strip_prefix(&label).map_or_else(|| cleaned.clone(), str::to_owned);
        }
        Value::Array(all) => all.iter_mut().for_each(|one| clean_value(name, one, redactor)),
        Value::Object(fields) => {
            fields.iter_mut().for_each(|(name, one)| clean_value(name, one, redactor));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_program_reads_json_without_secrets_and_names_of_people() {
        let redactor = Redactor::new(["hunter2-canary".to_owned()]);
        let data = json!({
            "documents": [{ "id": "MH-03", "text": "점검자: 홍길동, 암호 hunter2-canary \"x\"" }],
            "inspector": "J. Smith", "hours": 120.5,
        });
        let answer = ToolAnswer { text: String::new(), data, is_error: false };
        let text = cleaned(&answer, &redactor);
        let read: Value = serde_json::from_str(&text).expect("JSON stays JSON");
        assert_eq!(read["hours"], 120.5);
        assert_eq!(read["documents"][0]["id"], "MH-03");
        for secret in ["홍길동", "hunter2", "Smith"] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
    }
}
