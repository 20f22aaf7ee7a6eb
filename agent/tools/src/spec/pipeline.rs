//! Executor `pipeline`: other tools, ordered by their dependencies and results.
//!
//! ```yaml
//! executor: pipeline
//! dependencies: [search_maintenance_history, search_equipment_manual]
//! config:
//!   steps:
//!     - tool: search_maintenance_history
//!       input: { query: $input.query }
//!     - tool: search_equipment_manual
//!       input: { query: $maintenance_cases.documents.0.title }
//!   output: { cases: $maintenance_cases.documents, manual: $search_equipment_manual.documents }
//! ```
//!
//! A text `$a.b.0` refers to `input` (the arguments), to a step by its `id` (the tool's name by
//! default), or to a kind of data that a step's tool `produces`. A step runs after the steps it
//! refers to, after the steps whose tools its tool depends on, and after the steps of earlier
//! layers; steps that are ready at the same time run side by side. Invariant of a [`Plan`]: every
//! step occurs once, after all steps that it waits for.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::ToolSpec;
use crate::fields::FieldReading;
use crate::names::is_snake_case;
use crate::schema::Schema;

/// Most steps. No data chose it: each step is a call, and a person must be able to follow the
/// order.
const MAX_STEPS: usize = 32;

/// Steps and output of a pipeline.
#[derive(Debug, Clone, PartialEq)]
pub struct Pipeline {
    /// The steps in the order of the file.
    pub steps: Vec<PipelineStep>,
    /// The output, with references; if absent, the results of all steps by their ids.
    pub output: Option<Value>,
}

/// One step of a pipeline.
#[derive(Debug, Clone, PartialEq)]
pub struct PipelineStep {
    /// The step's name within the pipeline.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// Arguments, with references; if absent, those of the pipeline that the tool accepts.
    pub input: Option<Map<String, Value>>,
}

/// The order of the steps: those of one stage run side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Indices of steps, stage by stage.
    pub stages: Vec<Vec<usize>>,
    /// The names that references use, each with the index of its step.
    pub names: BTreeMap<String, usize>,
}

/// The reason why there is no plan, with the JSON pointer of its field.
pub(crate) type NoPlan = (String, String);

impl Pipeline {
    pub(crate) fn read(
        reading: &mut FieldReading<'_>,
        config: &Map<String, Value>,
        input: Option<&Schema>,
        dependencies: &[String],
    ) -> Option<Self> {
        let Some(Value::Array(list)) = config.get("steps") else {
            reading.problem("/config/steps", "is required: a list of steps, each with its tool");
            return None;
        };
        if list.is_empty() || list.len() > MAX_STEPS {
            let message = format!("has {} steps, allowed are 1 to {MAX_STEPS}", list.len());
            reading.problem("/config/steps", message);
            return None;
        }
        let before = reading.problems.len();
        let mut steps: Vec<PipelineStep> = Vec::new();
        for (index, item) in list.iter().enumerate() {
            let at = format!("/config/steps/{index}");
            let Some(step) = read_step(reading, item, &at, dependencies) else { continue };
            if steps.iter().any(|known| known.id == step.id) {
                let message = format!("{} is there twice: give one an id of its own", step.id);
                reading.problem(&at, message);
            }
            check_arguments(reading, step.input.as_ref(), input, &at);
            steps.push(step);
        }
        (reading.problems.len() == before)
            .then(|| Self { steps, output: config.get("output").cloned() })
    }

    /// Orders the steps; `tool` gives the tools by name.
    ///
    /// # Errors
    /// A reference to nothing, a missing tool, or steps that wait for each other.
    pub(crate) fn plan<'t>(
        &self,
        tool: impl Fn(&str) -> Option<&'t ToolSpec>,
    ) -> Result<Plan, NoPlan> {
        let mut tools = Vec::with_capacity(self.steps.len());
        for (index, step) in self.steps.iter().enumerate() {
            let at = format!("/config/steps/{index}/tool");
            tools.push(tool(&step.tool).ok_or((at, format!("there is no tool {}", step.tool)))?);
        }
        let names = self.names(&tools);
        let mut waits = Vec::with_capacity(self.steps.len());
        for (index, step) in self.steps.iter().enumerate() {
            let at = format!("/config/steps/{index}/input");
            let mut before = match &step.input {
                Some(input) => referred(&Value::Object(input.clone()), &names, &at)?,
                None => Vec::new(),
            };
            let needs = &tools[index].dependencies;
            before.extend((0..tools.len()).filter(|other| {
                *other != index
                    && (needs.contains(&self.steps[*other].tool)
                        || tools[*other].layer < tools[index].layer)
            }));
            waits.push(before);
        }
        if let Some(output) = &self.output {
            referred(output, &names, "/config/output")?;
        }
        Ok(Plan { stages: stages(&waits, &self.steps)?, names })
    }

    /// The names that references may use. A kind of data that two steps produce refers to neither.
    fn names(&self, tools: &[&ToolSpec]) -> BTreeMap<String, usize> {
        let mut given: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, tool) in tools.iter().enumerate() {
            for kind in &tool.produces {
                given.entry(kind.clone()).or_default().push(index);
            }
        }
        let mut names: BTreeMap<String, usize> = given
            .into_iter()
            .filter_map(|(kind, steps)| <[usize; 1]>::try_from(steps).ok().map(|[one]| (kind, one)))
            .collect();
        names.extend(self.steps.iter().enumerate().map(|(index, step)| (step.id.clone(), index)));
        names
    }
}

fn stages(waits: &[Vec<usize>], steps: &[PipelineStep]) -> Result<Vec<Vec<usize>>, NoPlan> {
    let mut done = vec![false; waits.len()];
    let mut stages = Vec::new();
    while done.iter().any(|done| !done) {
        let ready: Vec<usize> = (0..waits.len())
            .filter(|step| !done[*step] && waits[*step].iter().all(|before| done[*before]))
            .collect();
        if ready.is_empty() {
            let stuck: Vec<&str> =
                (0..done.len()).filter(|i| !done[*i]).map(|i| steps[i].id.as_str()).collect();
            let message = format!("these steps wait for each other: {}", stuck.join(", "));
            return Err(("/config/steps".to_owned(), message));
        }
        for step in &ready {
            done[*step] = true;
        }
        stages.push(ready);
    }
    Ok(stages)
}

fn read_step(
    reading: &mut FieldReading<'_>,
    item: &Value,
    at: &str,
    dependencies: &[String],
) -> Option<PipelineStep> {
    let Some(map) = item.as_object() else {
        reading.problem(at, "expected a mapping with tool, and perhaps id and input");
        return None;
    };
    reading.only(at, map, &["tool", "id", "input"]);
    let tool = reading.text(at, map, "tool")?;
    if !dependencies.contains(&tool) {
        let message = format!("{tool} does not stand under dependencies");
        reading.problem(&format!("{at}/tool"), message);
    }
    let id = reading.maybe_text(at, map, "id").unwrap_or_else(|| tool.clone());
    if !is_snake_case(&id) || id == "input" {
        let message = format!("is {id:?}, allowed is snake_case other than input");
        reading.problem(&format!("{at}/id"), message);
    }
    let input = reading.map(at, map, "input").cloned();
    Some(PipelineStep { id, tool, input })
}

/// References to the pipeline's own arguments must name one of them.
fn check_arguments(
    reading: &mut FieldReading<'_>,
    input: Option<&Map<String, Value>>,
    schema: Option<&Schema>,
    at: &str,
) {
    let (Some(input), Some(schema)) = (input, schema) else { return };
    let mut references = Vec::new();
    input.values().for_each(|value| gather(value, &mut references));
    for reference in references {
        let mut path = reference.split('.');
        if path.next() == Some("input")
            && let Some(name) = path.next()
            && !schema.has_property(name)
        {
            let message = format!("${reference}: {name} is none of the properties of input_schema");
            reading.problem(&format!("{at}/input"), message);
        }
    }
}

/// The references in a value, without their `$`.
fn gather<'v>(value: &'v Value, into: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => into.extend(text.strip_prefix('$')),
        Value::Array(list) => list.iter().for_each(|item| gather(item, into)),
        Value::Object(map) => map.values().for_each(|item| gather(item, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The steps that a value refers to.
fn referred(
    value: &Value,
    names: &BTreeMap<String, usize>,
    at: &str,
) -> Result<Vec<usize>, NoPlan> {
    let mut references = Vec::new();
    gather(value, &mut references);
    let mut steps = Vec::new();
    for reference in references {
        let head = reference.split('.').next().unwrap_or_default();
        match names.get(head) {
            Some(step) => steps.push(*step),
            None if head == "input" => {}
            None => {
                let known = names.keys().cloned().collect::<Vec<_>>().join(", ");
                let message = format!("${reference} refers to nothing; there are: input, {known}");
                return Err((at.to_owned(), message));
            }
        }
    }
    Ok(steps)
}

/// A value with its references replaced by their values; a reference to nothing becomes null.
pub(crate) fn filled(value: &Value, look: &impl Fn(&str) -> Option<Value>) -> Value {
    match value {
        Value::String(text) => match text.strip_prefix('$') {
            Some(reference) => look_up(reference, look).unwrap_or_default(),
            None => value.clone(),
        },
        Value::Array(list) => list.iter().map(|item| filled(item, look)).collect(),
        Value::Object(map) => {
            map.iter().map(|(key, item)| (key.clone(), filled(item, look))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn look_up(reference: &str, look: &impl Fn(&str) -> Option<Value>) -> Option<Value> {
    let mut path = reference.split('.');
    let mut value = look(path.next()?)?;
    for step in path {
        value = match value {
            Value::Array(mut list) => {
                let index = step.parse::<usize>().ok().filter(|index| *index < list.len())?;
                list.swap_remove(index)
            }
            Value::Object(mut map) => map.remove(step)?,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
        };
    }
    Some(value)
}
