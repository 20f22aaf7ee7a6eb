//! `pack.toml`.
//!
//! ```toml
//! name = "contracts"                   # that of the folder
//! version = "1.0.0"
//! description = "questions about a contract"
//! source = "chatbot tools of a contract assistant"     # the document that its tools come from
//! data = "written for this pack; no real contract"     # where its data comes from
//! names = ["ArticleIndexTool"]         # names of the source that are not snake_case
//! replaces = ["list_tags"]             # tools outside packs whose name a tool of this pack takes
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
    replaces: Vec<String>,
    #[serde(default)]
    executors: BTreeMap<String, String>,
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
            replaces: file.replaces,
            executors,
            data: Arc::new(data),
            tools,
        }
    }
}

/// Reads and checks `text` as the contents of `path`.
pub(super) fn read(path: &Path, text: &str) -> Result<Manifest, Vec<Problem>> {
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
