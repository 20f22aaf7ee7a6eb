//! A tool in the form of its YAML file: read, checked field by field, typed.
//!
//! This module stands between [`crate::yaml`] and [`crate::registry`]: checks of one file alone are
//! here, checks that need the other tools (dependencies, cycles) are there. The shape is that of
//! the tool specification, section 2, with two more fields: `executor` (a builtin of the tool's own
//! name if absent) and `config` in the form of that executor.
//!
//! Invariant: a [`ToolSpec`] is valid as far as one file shows.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use semver::Version;
use serde_json::{Map, Value};

use crate::fields::{FieldReading, short_text};
use crate::layer::Layer;
use crate::names::{is_plain, is_snake_case};
use crate::problem::Problem;
use crate::schema::{self, Schema};
use crate::sources::{DOMAINS, Setting};
use crate::yaml::{self, Document};

pub mod articles;
pub mod executor;
mod graph;
pub mod pipeline;
pub mod statement;
pub mod table;
pub mod template;

use executor::Executor;

/// The fields of a tool's file.
const FIELDS: [&str; 12] = [
    "name",
    "version",
    "layer",
    "domain",
    "description",
    "input_schema",
    "output_schema",
    "dependencies",
    "produces",
    "tags",
    "config",
    "executor",
];
/// Longest name: the limit of models' function calling.
const MAX_NAME: usize = 64;

/// Limits of time, attempts and size: the same keys in every tool's `config`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Longest single attempt (`timeout_s`, 10 s by default).
    pub timeout: Duration,
    /// Attempts after the first (`retries`, 3 by default, at most 3).
    pub retries: u32,
    /// Most characters of an observation (`max_chars`, 8000 by default).
    pub max_chars: usize,
}

impl Limits {
    /// The keys of the limits in `config`, for every executor.
    pub(super) const KEYS: [&str; 3] = ["timeout_s", "retries", "max_chars"];
}

/// One tool.
#[derive(Debug, Clone)]
pub struct ToolSpec {
    /// Unique name, snake_case (or as the source of its pack gives it, if `pack.toml` lists it).
    pub name: String,
    /// Semantic version.
    pub version: Version,
    /// Layer in which the tool runs.
    pub layer: Layer,
    /// Subject of the tool.
    pub domain: String,
    /// Description for people and models.
    pub description: String,
    /// Schema of the arguments.
    pub input: Schema,
    /// Schema of the answer.
    pub output: Schema,
    /// Tools that this tool needs.
    pub dependencies: Vec<String>,
    /// Kinds of data that the tool produces.
    pub produces: Vec<String>,
    /// Words to find the tool by.
    pub tags: Vec<String>,
    /// The executor that runs the tool.
    pub executor: Executor,
    /// Limits of time, attempts and size.
    pub limits: Limits,
    /// The tool's file.
    pub file: PathBuf,
    /// The pack that the tool belongs to.
    pub pack: Option<String>,
    document: Arc<Document>,
}

impl ToolSpec {
    /// Reads `text` as the contents of `file`.
    ///
    /// # Errors
    /// Every [`Problem`] that one file can show, in the order of its lines.
    pub fn parse(file: &Path, text: &str) -> Result<Self, Vec<Problem>> {
        Self::parse_in(file, text, &Setting::default())
    }

    /// Reads `text` as the contents of `file`, a tool of the setting's pack if it has one.
    ///
    /// # Errors
    /// As [`ToolSpec::parse`].
    pub fn parse_in(file: &Path, text: &str, setting: &Setting) -> Result<Self, Vec<Problem>> {
        let document = yaml::parse(text).map_err(|error| {
            let (file, field) = (file.to_owned(), String::new());
            vec![Problem { file, at: error.at, field, message: error.message }]
        })?;
        let mut reading = FieldReading::new(file, &document);
        let parts = if let Some(map) = document.value.as_object() {
            read(&mut reading, map, setting)
        } else {
            let message = format!("is {}, expected a mapping", short_text(&document.value));
            reading.problem("", message);
            None
        };
        let mut problems = reading.problems;
        problems.sort();
        match parts {
            Some(spec) if problems.is_empty() => Ok(Self { document: Arc::new(document), ..spec }),
            _ => Err(problems),
        }
    }

    /// Gives way to the tools of packs: a tool whose name one of them takes has its new name from
    /// now on, and tools that need it find it there. Whether the tool is still offered.
    pub(super) fn make_room(&mut self, replaced: &BTreeMap<String, Option<String>>) -> bool {
        let renamed = |name: &mut String| {
            if let Some(Some(new)) = replaced.get(name.as_str()) {
                name.clone_from(new);
            }
        };
        if let Some(None) = replaced.get(&self.name) {
            return false;
        }
        renamed(&mut self.name);
        self.dependencies.iter_mut().for_each(renamed);
        if let Executor::Pipeline(pipeline) = &mut self.executor {
            pipeline.steps.iter_mut().for_each(|step| renamed(&mut step.tool));
        }
        true
    }

    /// Whether two versions of a file have the same meaning.
    pub(super) fn says_the_same_as(&self, other: &Self) -> bool {
        self.document.value == other.document.value
    }

    /// A problem of this tool's file, at the field of the JSON pointer.
    pub(super) fn problem(&self, pointer: &str, message: impl Into<String>) -> Problem {
        let mut reading = FieldReading::new(&self.file, &self.document);
        reading.problem(pointer, message);
        reading.problems.remove(0)
    }
}

fn read(
    reading: &mut FieldReading<'_>,
    map: &Map<String, Value>,
    setting: &Setting,
) -> Option<ToolSpec> {
    reading.only("", map, &FIELDS);
    let name = reading.text("", map, "name");
    if let Some(name) = &name {
        check_name(reading, name, setting);
    }
    let version = version(reading, map);
    let layer = layer(reading, map);
    let domain = domain(reading, map, setting);
    let description = reading.text("", map, "description");
    let input = schema::read_schema(reading, map, "input_schema", true);
    let output = schema::read_schema(reading, map, "output_schema", false);
    let dependencies = reading.words("", map, "dependencies");
    let produces = reading.words("", map, "produces");
    let tags = reading.words("", map, "tags");
    let nothing = Map::new();
    let config = reading.map("", map, "config").unwrap_or(&nothing);
    let limits = limits(reading, config);
    let pack = setting.pack.as_deref();
    let kind = reading.maybe_text("", map, "executor").unwrap_or_else(|| {
        let of_layer = pack.zip(layer).and_then(|(pack, layer)| pack.executors.get(&layer));
        of_layer.map_or("builtin", String::as_str).to_owned()
    });
    let about = executor::About {
        name: name.as_deref().unwrap_or_default(),
        input: input.as_ref(),
        dependencies: &dependencies,
        pack,
    };
    let executor = Executor::read(reading, &kind, config, about);
    Some(ToolSpec {
        name: name?,
        version: version?,
        layer: layer?,
        domain: domain?,
        description: description?,
        input: input?,
        output: output?,
        dependencies,
        produces,
        tags,
        executor: executor?,
        limits,
        file: reading.file.to_owned(),
        pack: pack.map(|pack| pack.name.clone()),
        document: Arc::new(reading.document.clone()),
    })
}

fn check_name(reading: &mut FieldReading<'_>, name: &str, setting: &Setting) {
    let is_given = |pack: &crate::pack::Pack| pack.names.iter().any(|given| given == name);
    let is_excepted = is_plain(name) && setting.pack.as_deref().is_some_and(is_given);
    if !is_snake_case(name) && !is_excepted {
        let message = format!("is {name:?}, allowed is snake_case: a-z, 0-9 and single _");
        reading.problem("/name", message);
    } else if name.len() > MAX_NAME {
        reading.problem("/name", format!("has {} characters, at most {MAX_NAME}", name.len()));
    }
}

fn domain(
    reading: &mut FieldReading<'_>,
    map: &Map<String, Value>,
    setting: &Setting,
) -> Option<String> {
    let domain = reading.text("", map, "domain")?;
    let own = setting.domains.iter().map(String::as_str);
    let allowed: Vec<&str> = DOMAINS.into_iter().chain(own).collect();
    if !allowed.contains(&domain.as_str()) {
        let allowed = allowed.join(", ");
        let message = format!("is {domain:?}, allowed are {allowed} ([tools] domains adds more)");
        reading.problem("/domain", message);
    }
    Some(domain)
}

fn version(reading: &mut FieldReading<'_>, map: &Map<String, Value>) -> Option<Version> {
    let text = reading.text("", map, "version")?;
    match Version::parse(&text) {
        Ok(version) => Some(version),
        Err(error) => {
            let message = format!("is {text:?}, expected a semantic version x.y.z: {error}");
            reading.problem("/version", message);
            None
        }
    }
}

fn layer(reading: &mut FieldReading<'_>, map: &Map<String, Value>) -> Option<Layer> {
    let text = reading.text("", map, "layer")?;
    let layer = Layer::named(&text);
    if layer.is_none() {
        let names = Layer::ALL.map(Layer::name).join(", ");
        reading.problem("/layer", format!("is {text:?}, allowed are {names}"));
    }
    layer
}

fn limits(reading: &mut FieldReading<'_>, config: &Map<String, Value>) -> Limits {
    let timeout_s = reading.number("/config", config, "timeout_s", 10.0, 0.01..=600.0);
    let retries = reading.whole("/config", config, "retries", 3, 0..=3);
    let max_chars = reading.whole("/config", config, "max_chars", 8000, 100..=100_000);
    Limits {
        timeout: Duration::from_secs_f64(timeout_s),
        retries: u32::try_from(retries).unwrap_or(3),
        max_chars: usize::try_from(max_chars).unwrap_or(8000),
    }
}
