//! Reads asset files: YAML with `nodes` and `relationships`, or CSV with a column `type`. A CSV
//! with the columns `from` and `to` holds relationships, another one nodes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pdm_tools::yaml;
use serde_json::{Map, Value as Json};

use super::{Assets, EdgeName, NODE_TYPES, NodeName, RELATIONSHIP_TYPES};
use crate::files::FileProblem;
use crate::files::table::FileTable;
use crate::value::{Properties, Value, properties_of};

/// Most bytes of a text property. A longer text belongs into the knowledge base.
const MAX_TEXT: usize = 2_000;

/// Where an element was read, for messages.
#[derive(Debug, Clone, Default)]
pub struct Origins {
    nodes: HashMap<NodeName, (PathBuf, usize)>,
    edges: HashMap<EdgeName, (PathBuf, usize)>,
}

impl Origins {
    /// A problem at the place of a relationship; at the store where it was not read from a file.
    pub(super) fn of_edge(&self, name: &EdgeName, message: String) -> FileProblem {
        placed(self.edges.get(name), message)
    }

    /// Whether a relationship was read from a file.
    pub(super) fn has_edge(&self, name: &EdgeName) -> bool {
        self.edges.contains_key(name)
    }
}

fn placed(at: Option<&(PathBuf, usize)>, message: String) -> FileProblem {
    match at {
        Some((file, line)) => FileProblem::new(file, *line, message),
        None => FileProblem::new(Path::new("(stored)"), 0, message),
    }
}

/// Reads files together.
///
/// # Errors
/// Every [`FileProblem`] of the files; nothing of them is usable then.
pub fn read_assets(files: &[PathBuf]) -> Result<(Assets, Origins), Vec<FileProblem>> {
    let mut reader = Reader::default();
    for file in files {
        if let Err(problems) = reader.file(file) {
            reader.problems.extend(problems);
        }
    }
    if reader.problems.is_empty() {
        return Ok((reader.assets, reader.origins));
    }
    Err(reader.problems)
}

#[derive(Default)]
struct Reader {
    assets: Assets,
    origins: Origins,
    problems: Vec<FileProblem>,
}

impl Reader {
    fn file(&mut self, file: &Path) -> Result<(), Vec<FileProblem>> {
        let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        match ending.to_ascii_lowercase().as_str() {
            "csv" => self.csv(file),
            "yaml" | "yml" => self.yaml(file),
            other => {
                let message = format!("the ending is {other:?}, allowed are yaml, yml, csv");
                Err(vec![FileProblem::new(file, 1, message)])
            }
        }
    }

    fn csv(&mut self, file: &Path) -> Result<(), Vec<FileProblem>> {
        let table = FileTable::read(file)?;
        let has = |name: &str| table.header.iter().any(|column| column == name);
        let own =
            if has("from") && has("to") { ["type", "from", "to"] } else { ["type", "id", "id"] };
        if let Some(missing) = own.iter().find(|name| !has(name)) {
            let message = format!(
                "column {missing} is missing: nodes need type, id; relationships type, from, to"
            );
            return Err(vec![FileProblem::new(file, 1, message)]);
        }
        for record in &table.records {
            let cell = |name: &str| record.cell(&table, name).unwrap_or_default();
            let rest = table.header.iter().zip(&record.cells);
            let rest = rest
                .filter(|(name, cell)| !own.contains(&name.as_str()) && !cell.trim().is_empty());
            let properties =
                rest.map(|(name, cell)| (name.as_str().into(), guessed(name, cell.trim())));
            let properties = properties.collect();
            let at = (file.to_owned(), record.line);
            if own[1] == "from" {
                self.edge(at, cell("type"), cell("from"), cell("to"), properties);
            } else {
                self.node(at, cell("type"), cell("id"), properties);
            }
        }
        Ok(())
    }

    fn yaml(&mut self, file: &Path) -> Result<(), Vec<FileProblem>> {
        let problem = |line, message: String| vec![FileProblem::new(file, line, message)];
        let text = std::fs::read_to_string(file)
            .map_err(|e| problem(1, format!("cannot be read: {e}")))?;
        let document = yaml::parse(&text).map_err(|e| problem(e.at.line, e.message))?;
        let line = |pointer: &str| document.position(pointer).line;
        let Some(root) = document.value.as_object() else {
            return Err(problem(1, "expected a mapping with nodes and relationships".into()));
        };
        for (key, list) in root {
            let (own, entries): (&[&str], _) = match (key.as_str(), list) {
                ("nodes", Json::Array(entries)) => (&["type", "id"], entries),
                ("relationships", Json::Array(entries)) => (&["type", "from", "to"], entries),
                ("nodes" | "relationships", _) => {
                    return Err(problem(
                        line(&format!("/{key}")),
                        format!("{key}: expected a list"),
                    ));
                }
                _ => {
                    let message = format!("{key}: unknown field, allowed are nodes, relationships");
                    return Err(problem(line(&format!("/{key}")), message));
                }
            };
            for (index, entry) in entries.iter().enumerate() {
                let at = (file.to_owned(), line(&format!("/{key}/{index}")));
                let Some(entry) = entry.as_object() else {
                    self.problems.push(FileProblem::new(file, at.1, "expected a mapping"));
                    continue;
                };
                let text = |name: &str| match entry.get(name) {
                    Some(Json::String(text)) => text.trim().to_owned(),
                    Some(Json::Number(number)) => number.to_string(),
                    _ => String::new(),
                };
                let rest: Map<String, Json> = entry
                    .iter()
                    .filter(|(name, _)| !own.contains(&name.as_str()))
                    .map(|(name, value)| (name.clone(), value.clone()))
                    .collect();
                let properties = properties_of(&rest);
                if own.len() == 2 {
                    self.node(at, &text("type"), &text("id"), properties);
                } else {
                    self.edge(at, &text("type"), &text("from"), &text("to"), properties);
                }
            }
        }
        Ok(())
    }

    fn node(&mut self, at: (PathBuf, usize), kind: &str, id: &str, mut properties: Properties) {
        if !NODE_TYPES.contains(&kind) {
            let message = format!("type: is {kind:?}, allowed are {}", NODE_TYPES.join(", "));
            self.problems.push(FileProblem::new(&at.0, at.1, message));
            return;
        }
        if id.is_empty() || id.len() > 256 {
            self.problems.push(FileProblem::new(&at.0, at.1, "id: is required, at most 256 bytes"));
            return;
        }
        if kind == "Bearing" && id.split('/').filter(|part| !part.is_empty()).count() != 3 {
            let message = format!("id: is {id:?}, a bearing's id is site/equipment/bearing");
            self.problems.push(FileProblem::new(&at.0, at.1, message));
            return;
        }
        self.simple(&at, &properties);
        properties.insert("id".into(), id.into());
        let name = NodeName::new(kind, id);
        if let Some((file, line)) = self.origins.nodes.get(&name) {
            let message = format!("{name} stands already in {}:{line}", file.display());
            self.problems.push(FileProblem::new(&at.0, at.1, message));
            return;
        }
        // `tags: [pump, hot]` of a node are tags of the graph
        if let Some(Value::List(tags)) = properties.remove("tags") {
            for tag in tags.iter() {
                if let Value::Text(tag) = tag {
                    self.tag(&at, &name, tag);
                }
            }
        }
        self.origins.nodes.insert(name.clone(), at);
        self.assets.nodes.insert(name, properties);
    }

    fn tag(&mut self, at: &(PathBuf, usize), of: &NodeName, tag: &Arc<str>) {
        let name = NodeName::new("Tag", Arc::clone(tag));
        let own = Properties::from([
            ("id".into(), Value::Text(Arc::clone(tag))),
            ("name".into(), Value::Text(Arc::clone(tag))),
        ]);
        self.assets.nodes.entry(name.clone()).or_insert(own);
        let edge = EdgeName::new("TAGGED", of.clone(), name, &Properties::new());
        self.origins.edges.insert(edge.clone(), at.clone());
        self.assets.edges.insert(edge, Properties::new());
    }

    fn edge(
        &mut self,
        at: (PathBuf, usize),
        kind: &str,
        from: &str,
        to: &str,
        properties: Properties,
    ) {
        let importable = |name: &&str| RELATIONSHIP_TYPES.iter().any(|(known, ..)| known == name);
        if !importable(&kind) {
            let names: Vec<_> = RELATIONSHIP_TYPES.iter().map(|(name, ..)| *name).collect();
            let message = format!("type: is {kind:?}, allowed are {}", names.join(", "));
            self.problems.push(FileProblem::new(&at.0, at.1, message));
            return;
        }
        self.simple(&at, &properties);
        let mut ends = Vec::new();
        for (column, text) in [("from", from), ("to", to)] {
            match text.split_once('/') {
                Some((kind, id)) if !id.is_empty() => ends.push(NodeName::new(kind, id)),
                _ => {
                    let message =
                        format!("{column}: is {text:?}, expected TYPE/ID, such as Equipment/P-101");
                    self.problems.push(FileProblem::new(&at.0, at.1, message));
                }
            }
        }
        if let [from, to] = ends.as_slice() {
            let name = EdgeName::new(kind, from.clone(), to.clone(), &properties);
            if let Some((file, line)) = self.origins.edges.get(&name) {
                let message = format!("{name} stands already in {}:{line}", file.display());
                self.problems.push(FileProblem::new(&at.0, at.1, message));
                return;
            }
            self.origins.edges.insert(name.clone(), at);
            self.assets.edges.insert(name, properties);
        }
    }

    /// Properties are texts, numbers, truth values, or lists of texts.
    fn simple(&mut self, at: &(PathBuf, usize), properties: &Properties) {
        for (key, value) in properties {
            let is_text =
                |value: &Value| matches!(value, Value::Text(text) if text.len() <= MAX_TEXT);
            let simple = match value {
                Value::Text(_) => is_text(value),
                Value::Int(_) | Value::Float(_) | Value::Bool(_) => true,
                Value::List(items) => items.len() <= 100 && items.iter().all(is_text),
                _ => false,
            };
            if !simple || key.len() > 64 {
                let message = format!(
                    "{key}: expected a text (at most {MAX_TEXT} bytes), a number, true or false, \
                     or a list of texts"
                );
                self.problems.push(FileProblem::new(&at.0, at.1, message));
            }
        }
    }
}

/// A cell of a CSV: numbers are numbers where the column's name has a unit or counts, texts
/// elsewhere, so that a part number keeps its leading zeros.
fn guessed(column: &str, cell: &str) -> Value {
    const UNITS: [&str; 12] =
        ["_kw", "_rpm", "_mm", "_kg", "_h", "_g", "_hz", "_n", "_percent", "_days", "_c", "_count"];
    let counts = ["quantity", "stock", "reorder_at", "weight"].contains(&column);
    if column == "tags" {
        let tags = cell.split([';', '|']).map(str::trim).filter(|tag| !tag.is_empty());
        return Value::list(tags.map(Value::from).collect());
    }
    if counts || UNITS.iter().any(|unit| column.ends_with(unit)) {
        if let Ok(whole) = cell.parse::<i64>() {
            return Value::Int(whole);
        }
        if let Some(number) = cell.parse::<f64>().ok().filter(|number| number.is_finite()) {
            return Value::Float(number);
        }
    }
    Value::from(cell)
}
