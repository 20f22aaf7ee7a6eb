//! Scenarios: sequences of events with the judgement that a reliability engineer expects of each,
//! played through the real workflow with the real store, knowledge base and tools (R-AGENT-12).
//!
//! A scenario is a TOML file (`config/scenarios/*.toml`); its events are patches, each onto the
//! event before, the first onto `healthy.json` beside it. [`play`] plays one in a folder of its
//! own, [`kpi`] sums up. Time is the events' own, so that a month is played in a second.

use std::path::{Path, PathBuf};

use pdm_service::config::{self, ConfigError};
use pdm_shared::diagnosis::DegradationSpeed;
use pdm_shared::event::Event;
use pdm_shared::fault::Fault;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use serde::Deserialize;
use serde_json::Value;

mod expected;
pub mod kpi;
pub mod play;
mod recorded;

#[cfg(test)]
mod mutations;

pub use recorded::Recorded;

/// The version of a scenario's form.
const SCHEMA: &str = "pdm.scenario/1";
/// The event that every sequence starts from.
const BASE: &str = "healthy.json";
/// Most events of one phase: more than a year of hourly events, and a mistyped count ends within
/// minutes.
const MAX_REPEAT: u32 = 10_000;

/// A sequence of events.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    schema: String,
    /// The scenario's name.
    pub name: String,
    /// The subject of the scenario.
    pub about: Text,
    /// The phases; empty for a recorded sequence.
    #[serde(rename = "phase", default)]
    pub phases: Vec<Phase>,
    /// The sequence was made by the edge; its truth takes the place of phases.
    pub recorded: Option<Recorded>,
    #[serde(skip)]
    base: Value,
}

/// A series of equal events.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// How many events.
    #[serde(default = "once")]
    pub repeat: u32,
    /// Hours from one to the next.
    #[serde(default = "hourly")]
    pub step_h: f64,
    /// The fields that differ from the event before.
    #[serde(default)]
    pub event: Value,
    /// Paths of fields that are set to null.
    #[serde(default)]
    pub clear: Vec<String>,
    /// The expected judgement.
    pub expect: Expect,
}

const fn once() -> u32 {
    1
}

const fn hourly() -> f64 {
    1.0
}

/// The expected judgement of a phase. Risk, stage and fault are those after the phase's last event;
/// documents are written once in the phase or not at all; the rest holds for each event of the
/// phase.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// The risk.
    pub risk: RiskLevel,
    /// The P–F stage.
    pub stage: u8,
    /// The named element; `none` for none.
    pub fault: Option<Named>,
    /// The speed of degradation.
    pub speed: Option<DegradationSpeed>,
    /// The remaining life's lower bound is taken.
    pub conservative: Option<bool>,
    /// Deep research is due.
    #[serde(default)]
    pub research: bool,
    /// A report and a work order are due in this phase; without it none may be written.
    #[serde(default)]
    pub documents: bool,
}

/// An element, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Named {
    /// No element.
    None,
    /// This element.
    #[serde(untagged)]
    Element(Fault),
}

impl Named {
    /// The element as a diagnosis has it.
    pub const fn fault(self) -> Option<Fault> {
        match self {
            Self::None => None,
            Self::Element(fault) => Some(fault),
        }
    }
}

/// A folder of scenarios cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScenarioError {
    /// A folder or file cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The folder or file.
        path: PathBuf,
        /// Why not: the error of the file system or of the event.
        #[source]
        source: std::io::Error,
    },
    /// A file is no valid scenario.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The event that the sequence starts from, or one that it makes, is no event.
    #[error("{}: phase {phase}: no valid event: {reason}", path.display())]
    Event {
        /// The file.
        path: PathBuf,
        /// The phase, from 1; 0 for the event that all sequences start from.
        phase: usize,
        /// Why not: the error of the file system or of the event.
        reason: String,
    },
    /// The folder holds no scenario.
    #[error("{}: no scenario (*.toml) in it", path.display())]
    Empty {
        /// The folder.
        path: PathBuf,
    },
}

/// Reads every scenario of a folder, or the one of a file, in the order of their names.
///
/// # Errors
/// [`ScenarioError`] with file and phase.
pub fn read_scenarios(path: &Path) -> Result<Vec<Scenario>, ScenarioError> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |source| ScenarioError::Unreadable { path, source }
    };
    let mut files = Vec::new();
    let folder = if path.is_dir() {
        for entry in std::fs::read_dir(path).map_err(unreadable(path))? {
            let file = entry.map_err(unreadable(path))?.path();
            if file.extension().is_some_and(|end| end == "toml") {
                files.push(file);
            }
        }
        path
    } else {
        files.push(path.to_owned());
        path.parent().unwrap_or(Path::new(""))
    };
    if files.is_empty() {
        return Err(ScenarioError::Empty { path: path.to_owned() });
    }
    files.sort();
    files.iter().map(|file| read_one(file, folder)).collect()
}

/// The event that the hand-written sequences of a folder start from.
fn base(folder: &Path) -> Result<Value, ScenarioError> {
    let path = folder.join(BASE);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(source) => return Err(ScenarioError::Unreadable { path, source }),
    };
    serde_json::from_str(&text).map_err(|error| ScenarioError::Event {
        path,
        phase: 0,
        reason: error.to_string(),
    })
}

fn read_one(path: &Path, folder: &Path) -> Result<Scenario, ScenarioError> {
    let mut scenario: Scenario = config::read_config(path)?;
    if scenario.schema != SCHEMA {
        return Err(ConfigError::value(path, "schema", scenario.schema, SCHEMA).into());
    }
    if let Some(recorded) = &mut scenario.recorded {
        if !scenario.phases.is_empty() {
            let allowed = "no phases beside [recorded]";
            return Err(ConfigError::value(path, "phase", scenario.phases.len(), allowed).into());
        }
        recorded.read(folder)?;
        return Ok(scenario);
    }
    for (at, phase) in scenario.phases.iter().enumerate() {
        let key = |name: &str| format!("phase[{at}].{name}");
        if !(1..=MAX_REPEAT).contains(&phase.repeat) {
            let allowed = format!("1 to {MAX_REPEAT}");
            return Err(ConfigError::value(path, key("repeat"), phase.repeat, allowed).into());
        }
        if !(phase.step_h > 0.0 && phase.step_h <= 10_000.0) {
            let allowed = "more than 0 and at most 10000";
            return Err(ConfigError::value(path, key("step_h"), phase.step_h, allowed).into());
        }
    }
    scenario.base = base(folder)?;
    // every event is made once here, so that a mistake is reported before anything is played
    for (phase, event) in scenario.events() {
        event.map_err(|reason| ScenarioError::Event { path: path.to_owned(), phase, reason })?;
    }
    Ok(scenario)
}

impl Scenario {
    /// The events of the scenario in their order, each with its phase (from 1).
    pub fn events(&self) -> impl Iterator<Item = (usize, Result<Event, String>)> + '_ {
        let recorded = self.recorded.iter().flat_map(Recorded::events);
        recorded.map(|(phase, event)| (phase, Ok(event))).chain(self.written())
    }

    /// Whether documents may be written in this phase (from 1).
    pub fn documents_due(&self, phase: usize) -> bool {
        let written = phase.checked_sub(1).and_then(|at| self.phases.get(at));
        let recorded = self.recorded.as_ref().is_some_and(|recorded| recorded.is_damaged(phase));
        recorded || written.is_some_and(|phase| phase.expect.documents)
    }

    /// The events of the phases that were written by hand.
    fn written(&self) -> impl Iterator<Item = (usize, Result<Event, String>)> + '_ {
        let mut value = self.base.clone();
        let mut elapsed_h = 0.0;
        let mut sequence = 0_u64;
        self.phases.iter().enumerate().flat_map(move |(at, phase)| {
            merge(&mut value, &phase.event);
            for path in &phase.clear {
                clear(&mut value, path);
            }
            let events: Vec<_> = (0..phase.repeat)
                .map(|_| {
                    sequence += 1;
                    elapsed_h += phase.step_h;
                    (at + 1, event(&value, sequence, elapsed_h))
                })
                .collect();
            events
        })
    }
}

/// The event of a patched value, with its own time and identity.
fn event(value: &Value, sequence: u64, elapsed_h: f64) -> Result<Event, String> {
    let mut event: Event =
        serde_json::from_value(value.clone()).map_err(|error| error.to_string())?;
    event.sequence = sequence;
    event.measured_at = event.measured_at.plus_seconds(elapsed_h * 3600.0);
    event.event_id = pdm_shared::id::EventId::at(event.measured_at.unix_ms());
    event.check().map_err(|error| error.to_string())?;
    Ok(event)
}

/// Applies a patch to a value: objects are merged, everything else is replaced.
fn merge(value: &mut Value, patch: &Value) {
    match (value, patch) {
        (Value::Object(fields), Value::Object(patches)) => {
            for (key, patch) in patches {
                merge(fields.entry(key.clone()).or_insert(Value::Null), patch);
            }
        }
        (_, Value::Null) => {}
        (value, patch) => *value = patch.clone(),
    }
}

fn clear(value: &mut Value, path: &str) {
    let pointer = format!("/{}", path.replace('.', "/"));
    if let Some(field) = value.pointer_mut(&pointer) {
        *field = Value::Null;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_patch_changes_what_it_names_and_nothing_else() {
        let mut value = json!({ "a": { "b": 1, "c": [1, 2] }, "d": "x" });
        merge(&mut value, &json!({ "a": { "c": [3] } }));
        clear(&mut value, "d");
        assert_eq!(value, json!({ "a": { "b": 1, "c": [3] }, "d": null }));
    }

    #[test]
    fn a_mistyped_expectation_is_told_with_its_line() {
        let folder = tempfile::tempdir().expect("folder");
        std::fs::write(folder.path().join(BASE), "{}").expect("base");
        let file = folder.path().join("a.toml");
        let text = "schema = \"pdm.scenario/1\"\nname = \"a\"\nabout = { ko = \"\", en = \"\" }\n\
                    [[phase]]\n[phase.expect]\nrisk = \"Panic\"\nstage = 0\n";
        std::fs::write(&file, text).expect("scenario");
        let error = read_scenarios(folder.path()).expect_err("no such risk").to_string();
        assert!(error.contains("a.toml:6") && error.contains("Panic"), "{error}");
        std::fs::write(&file, text.replace("Panic", "Watch")).expect("scenario");
        let error = read_scenarios(folder.path()).expect_err("no event").to_string();
        assert!(error.contains("phase 1"), "{error}");
    }
}
