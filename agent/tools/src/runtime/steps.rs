//! The steps of a pipeline: the steps of a stage run side by side, and their results go to later
//! stages.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Call, Runtime, given, side_by_side};
use crate::exec::{Failure, Invocation};
use crate::registry::Registry;
use crate::spec::ToolSpec;
use crate::spec::pipeline::{Pipeline, filled};

impl Runtime {
    pub(super) async fn pipeline(
        &self,
        registry: &Registry,
        pipeline: &Pipeline,
        invocation: Invocation<'_>,
    ) -> Result<Value, Failure> {
        let plan = pipeline.plan(|name| registry.get(name).map(AsRef::as_ref));
        let plan = plan.map_err(|(at, message)| Failure::Permanent(format!("{at}: {message}")))?;
        let mut results: Vec<Option<Value>> = vec![None; pipeline.steps.len()];
        let own = Value::Object(invocation.arguments.clone());
        for stage in &plan.stages {
            let look = |name: &str| match name {
                "input" => Some(own.clone()),
                _ => results.get(*plan.names.get(name)?)?.clone(),
            };
            let calls: Vec<Call> = stage
                .iter()
                .map(|index| {
                    let step = &pipeline.steps[*index];
                    let arguments = match &step.input {
                        Some(input) => given(&filled(&Value::Object(input.clone()), &look)),
                        None => shared(invocation.arguments, registry.get(&step.tool)),
                    };
                    let id = format!("{}/{}", invocation.call_id, step.id);
                    Call { id, tool: step.tool.clone(), arguments }
                })
                .collect();
            let answers =
                side_by_side(calls.iter().map(|call| self.call_within(registry, call))).await;
            for (index, answer) in stage.iter().zip(answers) {
                let step = &pipeline.steps[*index].id;
                // the step's tool has already retried, so the pipeline as a whole does not
                let answer = answer
                    .map_err(|error| Failure::Permanent(format!("step {step} failed: {error}")))?;
                results[*index] = Some(answer.value);
            }
        }
        let look = |name: &str| match name {
            "input" => Some(own.clone()),
            _ => results.get(*plan.names.get(name)?)?.clone(),
        };
        Ok(match &pipeline.output {
            Some(output) => filled(output, &look),
            None => pipeline
                .steps
                .iter()
                .zip(&results)
                .map(|(step, result)| (step.id.clone(), result.clone().unwrap_or_default()))
                .collect(),
        })
    }
}

/// The pipeline's arguments that the tool of a step accepts.
fn shared(own: &Map<String, Value>, tool: Option<&Arc<ToolSpec>>) -> Value {
    let knows = |name: &str| tool.is_some_and(|spec| spec.input.has_property(name));
    own.iter().filter(|(name, _)| knows(name)).map(|(k, v)| (k.clone(), v.clone())).collect()
}
