//! A property graph from a folder of data files, as tool packs ship one: `graph.yaml` names the labels
//! and relationship types, CSV files (or rows in the YAML itself) hold the elements.
//!
//! ```yaml
//! nodes:
//!   - label: ETF
//!     key: code                        # unique among the nodes of this label
//!     file: etfs.csv                   # or rows: [{ code: "069500", name: KODEX 200 }]
//!     types: { expense_ratio: number } # columns of a CSV that are no texts
//! relationships:
//!   - type: HOLDS
//!     from: ETF                        # column `from` holds keys of this label
//!     to: Stock                        # column `to` holds keys of this one
//!     file: holdings.csv
//!     types: { weight: number, shares: integer }
//! ```
//!
//! A value of a CSV is a text unless `types` says `integer`, `number` or `boolean`; an empty cell is an
//! absent property. A file is read whole or not at all.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pdm_tools::yaml::{self, Document};
use serde_json::{Map, Value as Json};

use crate::memory::MemoryGraph;
use crate::value::{Properties, Value, properties_of};

pub mod table;

use table::{Record, Table};

/// Name of the file that describes a folder's graph.
pub const GRAPH_FILE: &str = "graph.yaml";

/// What is wrong with a data file, with its place. The caller shows it; nothing was taken over.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}:{line}: {message}", file.display())]
pub struct FileProblem {
    /// The file.
    pub file: PathBuf,
    /// Line, from 1.
    pub line: usize,
    /// What is wrong, with the value and what is allowed.
    pub message: String,
}

impl FileProblem {
    /// A problem at a place.
    pub fn new(file: &Path, line: usize, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, message: message.into() }
    }
}

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Text,
    Integer,
    Number,
    Boolean,
}

/// Reads the graph of a folder.
///
/// # Errors
/// Every [`FileProblem`] of the first file that has one.
pub fn read_folder(folder: &Path) -> Result<MemoryGraph, Vec<FileProblem>> {
    let file = folder.join(GRAPH_FILE);
    let text = std::fs::read_to_string(&file)
        .map_err(|error| vec![FileProblem::new(&file, 1, format!("cannot be read: {error}"))])?;
    let document = yaml::parse(&text)
        .map_err(|error| vec![FileProblem::new(&file, error.at.line, error.message)])?;
    let mut reader = Reader {
        folder,
        file: &file,
        document: &document,
        graph: MemoryGraph::default(),
        keys: HashMap::new(),
    };
    reader.read()?;
    Ok(reader.graph)
}

type Problems = Vec<FileProblem>;

struct Reader<'f> {
    folder: &'f Path,
    file: &'f Path,
    document: &'f Document,
    graph: MemoryGraph,
    /// Label and key → node.
    keys: HashMap<(Arc<str>, String), i64>,
}

impl Reader<'_> {
    fn problem(&self, pointer: &str, message: impl Into<String>) -> Problems {
        vec![FileProblem::new(self.file, self.document.position(pointer).line, message)]
    }

    fn read(&mut self) -> Result<(), Problems> {
        let document = self.document;
        let Some(root) = document.value.as_object() else {
            return Err(self.problem("", "expected a mapping with nodes and relationships"));
        };
        self.only("", root, &["nodes", "relationships"])?;
        for (index, entry) in self.list(root, "nodes")?.iter().enumerate() {
            let pointer = format!("/nodes/{index}");
            self.nodes(&pointer, self.map(&pointer, entry)?)?;
        }
        for (index, entry) in self.list(root, "relationships")?.iter().enumerate() {
            let pointer = format!("/relationships/{index}");
            self.relationships(&pointer, self.map(&pointer, entry)?)?;
        }
        Ok(())
    }

    fn only(
        &self,
        pointer: &str,
        map: &Map<String, Json>,
        allowed: &[&str],
    ) -> Result<(), Problems> {
        match map.keys().find(|key| !allowed.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => {
                let message = format!("{key}: unknown field, allowed are {}", allowed.join(", "));
                Err(self.problem(&format!("{pointer}/{key}"), message))
            }
        }
    }

    fn list<'j>(&self, root: &'j Map<String, Json>, key: &str) -> Result<&'j [Json], Problems> {
        match root.get(key) {
            None => Ok(&[]),
            Some(Json::Array(items)) => Ok(items),
            Some(_) => Err(self.problem(&format!("/{key}"), format!("{key}: expected a list"))),
        }
    }

    fn map<'j>(&self, pointer: &str, entry: &'j Json) -> Result<&'j Map<String, Json>, Problems> {
        entry.as_object().ok_or_else(|| self.problem(pointer, "expected a mapping"))
    }

    fn text(
        &self,
        pointer: &str,
        map: &Map<String, Json>,
        key: &str,
    ) -> Result<Arc<str>, Problems> {
        match map.get(key).and_then(Json::as_str).filter(|text| !text.trim().is_empty()) {
            Some(text) => Ok(text.into()),
            None => {
                Err(self
                    .problem(&format!("{pointer}/{key}"), format!("{key}: is required, a text")))
            }
        }
    }

    fn nodes(&mut self, pointer: &str, entry: &Map<String, Json>) -> Result<(), Problems> {
        self.only(pointer, entry, &["label", "key", "file", "rows", "types"])?;
        let label = self.text(pointer, entry, "label")?;
        let key = self.text(pointer, entry, "key")?;
        let mut problems = Problems::new();
        for (file, line, properties) in self.rows(pointer, entry)? {
            let Some(name) = properties.get(&key).and_then(shown) else {
                problems.push(FileProblem::new(
                    &file,
                    line,
                    format!("{key}: is required, the key of a {label}"),
                ));
                continue;
            };
            if self.keys.contains_key(&(Arc::clone(&label), name.clone())) {
                problems.push(FileProblem::new(
                    &file,
                    line,
                    format!("{key}: {name} is a {label} already"),
                ));
                continue;
            }
            let id = self.graph.add_node(vec![Arc::clone(&label)], properties);
            self.keys.insert((Arc::clone(&label), name), id);
        }
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    fn relationships(&mut self, pointer: &str, entry: &Map<String, Json>) -> Result<(), Problems> {
        self.only(pointer, entry, &["type", "from", "to", "file", "rows", "types"])?;
        let kind = self.text(pointer, entry, "type")?;
        let ends = [self.text(pointer, entry, "from")?, self.text(pointer, entry, "to")?];
        let mut problems = Problems::new();
        for (file, line, mut properties) in self.rows(pointer, entry)? {
            let mut found = [None, None];
            for ((column, label), place) in ["from", "to"].iter().zip(&ends).zip(&mut found) {
                let name = properties.remove(*column).as_ref().and_then(shown);
                *place = name
                    .as_ref()
                    .and_then(|name| self.keys.get(&(Arc::clone(label), name.clone())))
                    .copied();
                if place.is_none() {
                    let told = name.unwrap_or_else(|| "(nothing)".into());
                    problems.push(FileProblem::new(
                        &file,
                        line,
                        format!("{column}: {told} is no {label}"),
                    ));
                }
            }
            if let [Some(start), Some(end)] = found {
                self.graph.add_relationship(start, Arc::clone(&kind), end, properties);
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    /// The rows of an entry with their places: those of its file, or its own.
    fn rows(
        &self,
        pointer: &str,
        entry: &Map<String, Json>,
    ) -> Result<Vec<(PathBuf, usize, Properties)>, Problems> {
        match (entry.get("file"), entry.get("rows")) {
            (Some(Json::String(name)), None) => {
                let types = self.types(pointer, entry)?;
                let plain = Path::new(name)
                    .components()
                    .all(|part| matches!(part, std::path::Component::Normal(_)));
                if !plain {
                    let message = format!("file: {name} is outside the folder");
                    return Err(self.problem(&format!("{pointer}/file"), message));
                }
                let file = self.folder.join(name);
                let table = Table::read(&file)?;
                table
                    .records
                    .iter()
                    .map(|record| {
                        typed(&file, &table, record, &types)
                            .map(|own| (file.clone(), record.line, own))
                            .map_err(|p| vec![p])
                    })
                    .collect()
            }
            (None, Some(Json::Array(rows))) => rows
                .iter()
                .enumerate()
                .map(|(index, row)| {
                    let pointer = format!("{pointer}/rows/{index}");
                    let row = self.map(&pointer, row)?;
                    Ok((
                        self.file.to_owned(),
                        self.document.position(&pointer).line,
                        properties_of(row),
                    ))
                })
                .collect(),
            _ => {
                Err(self
                    .problem(pointer, "needs either file (a CSV of this folder) or rows (a list)"))
            }
        }
    }

    fn types(
        &self,
        pointer: &str,
        entry: &Map<String, Json>,
    ) -> Result<HashMap<String, Column>, Problems> {
        let mut types = HashMap::new();
        for (name, kind) in entry.get("types").and_then(Json::as_object).into_iter().flatten() {
            let column = match kind.as_str() {
                Some("text") => Column::Text,
                Some("integer") => Column::Integer,
                Some("number") => Column::Number,
                Some("boolean") => Column::Boolean,
                _ => {
                    let message =
                        format!("{name}: is {kind}, allowed are text, integer, number, boolean");
                    return Err(self.problem(&format!("{pointer}/types/{name}"), message));
                }
            };
            types.insert(name.clone(), column);
        }
        Ok(types)
    }
}

/// A key as text.
fn shown(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Int(whole) => Some(whole.to_string()),
        _ => None,
    }
}

fn typed(
    file: &Path,
    table: &Table,
    record: &Record,
    types: &HashMap<String, Column>,
) -> Result<Properties, FileProblem> {
    let mut properties = Properties::new();
    for (name, cell) in table.header.iter().zip(&record.cells) {
        let cell = cell.trim();
        if cell.is_empty() {
            continue;
        }
        let kind = types.get(name).copied().unwrap_or(Column::Text);
        let value = match kind {
            Column::Text => Some(Value::from(cell)),
            Column::Integer => cell.parse().ok().map(Value::Int),
            Column::Number => cell.parse::<f64>().ok().filter(|n| n.is_finite()).map(Value::Float),
            Column::Boolean => cell.to_ascii_lowercase().parse().ok().map(Value::Bool),
        };
        let value = value.ok_or_else(|| {
            FileProblem::new(
                file,
                record.line,
                format!("{name}: is {cell:?}, expected {kind:?}").to_lowercase(),
            )
        })?;
        properties.insert(name.as_str().into(), value);
    }
    Ok(properties)
}

#[cfg(test)]
mod tests;
