//! `pack.toml`.
//!
//! ```toml
//! name = "contracts"                   # that of the folder
//! version = "1.0.0"
//! description = "questions about a contract"
//! source = "chatbot tools of a contract assistant"     # the document that its tools come from
//! data = "written for this pack; no real contract"     # where its data comes from
//! names = ["ArticleIndexTool"]         # names of the source that are not snake_case
//! # tools outside packs whose name a tool of this pack takes, with the name that each has meanwhile
//! replaces = { list_tags = "list_asset_tags" }     # ["list_tags"]: it is not offered meanwhile
//! [executors]                          # of a layer's tools that name no executor
//! content = "prompt"
//! ```

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use pdm_service::config::{self, ConfigError};
use semver::Version;
use serde::Deserialize;

use super::{FileTexts, Pack, PackData, at_line};
use crate::layer::Layer;
use crate::names::is_snake_case;
use crate::problem::Problem;

/// Executors that a layer may have: those that run on a tool's own fields alone.
const LAYER_EXECUTORS: [&str; 2] = ["builtin", "prompt"];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    version: String,
    description: String,
    source: String,
    data: String,
    #[serde(default)]
    names: Vec<String>,
    #[serde(default)]
    replaces: Replaces,
    #[serde(default)]
    executors: BTreeMap<String, String>,
}

/// `replaces`: names alone (`["list_tags"]`), or names with those that the tools outside packs have
/// meanwhile (`{ list_tags = "list_asset_tags" }`).
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "a list of names of tools, or a table of names with new ones")]
enum Replaces {
    Withdrawn(Vec<String>),
    Renamed(BTreeMap<String, String>),
}

impl Default for Replaces {
    fn default() -> Self {
        Self::Withdrawn(Vec::new())
    }
}

impl Replaces {
    fn names(&self) -> BTreeMap<String, Option<String>> {
        match self {
            Self::Withdrawn(names) => names.iter().map(|name| (name.clone(), None)).collect(),
            Self::Renamed(names) => {
                names.iter().map(|(name, new)| (name.clone(), Some(new.clone()))).collect()
            }
        }
    }
}

/// A manifest that was read and checked.
pub(super) struct Manifest {
    pub(super) name: String,
    version: Version,
    file: File,
    executors: BTreeMap<Layer, String>,
}

impl Manifest {
    pub(super) fn with(self, data: PackData, tools: FileTexts) -> Pack {
        let Self { name, version, file, executors } = self;
        Pack {
            name,
            version,
            description: file.description,
            source: file.source,
            data_source: file.data,
            names: file.names,
            replaces: file.replaces.names(),
            executors,
            data: Arc::new(data),
            tools,
        }
    }
}

/// Reads and checks `text` as the contents of `path`.
pub(super) fn read_manifest(path: &Path, text: &str) -> Result<Manifest, Vec<Problem>> {
    let file: File = config::parse(path, text).map_err(|error| vec![told(path, &error)])?;
    let mut problems = Vec::new();
    // the line of a key, for what the parser does not check
    let mut wrong = |key: &str, message: String| {
        let line = text.lines().position(|line| line.trim_start().starts_with(key));
        let problem = at_line(path, line.map_or(1, |line| line + 1), message);
        problems.push(Problem { field: key.to_owned(), ..problem });
    };
    let folder = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy());
    if folder.as_deref() != Some(file.name.as_str()) {
        let folder = folder.unwrap_or_default();
        wrong("name", format!("is {:?}, expected that of the folder, {folder:?}", file.name));
    }
    for (key, text) in
        [("description", &file.description), ("source", &file.source), ("data", &file.data)]
    {
        if text.trim().is_empty() {
            wrong(key, "is empty, expected a text".to_owned());
        }
    }
    let version = Version::parse(&file.version);
    if let Err(error) = &version {
        let given = &file.version;
        wrong("version", format!("is {given:?}, expected a semantic version x.y.z: {error}"));
    }
    for (name, new) in file.replaces.names() {
        if let Some(new) = new.filter(|new| !is_snake_case(new)) {
            wrong("replaces", format!("gives {name} the name {new:?}, allowed is snake_case"));
        }
    }
    let mut executors = BTreeMap::new();
    for (layer, executor) in &file.executors {
        match Layer::named(layer) {
            Some(named) if LAYER_EXECUTORS.contains(&executor.as_str()) => {
                executors.insert(named, executor.clone());
            }
            Some(_) => {
                let allowed = LAYER_EXECUTORS.join(", ");
                wrong(layer, format!("is {executor:?}, allowed are {allowed}"));
            }
            None => {
                let names = Layer::ALL.map(Layer::name).join(", ");
                wrong(layer, format!("is no layer, allowed are {names}"));
            }
        }
    }
    match version {
        Ok(version) if problems.is_empty() => {
            Ok(Manifest { name: file.name.clone(), version, file, executors })
        }
        _ => Err(problems),
    }
}

fn told(path: &Path, error: &ConfigError) -> Problem {
    if let ConfigError::Syntax { line, message, .. } = error {
        return at_line(path, *line, message.clone());
    }
    at_line(path, 1, error.to_string())
}
