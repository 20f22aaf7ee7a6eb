//! `graph.yaml` of a pack: the pack's tables as a property graph, for its `graph` tools
//! (`graph: pack`).
//!
//! ```yaml
//! nodes:
//!   - label: ETF
//!     table: etf
//!     key: code                          # a row without one is no node
//!     properties: [code, name]           # columns; a mapping gives them other names
//!   - label: Company
//!     table: etf
//!     key: company                       # rows with one key are one node
//!     properties: { name: company }
//! relationships:
//!   - type: HOLDS
//!     table: holds
//!     from: { ETF: etf_code }            # the label, and the column that holds its key
//!     to: { Stock: stock_code }          # a row without one of both is no relationship
//!     properties: [date, weight]
//! ```
//!
//! Invariant of a [`PackGraph`]: every end of a relationship is one of its nodes.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde_json::{Map, Value};

use super::table::{Cell, DataTable};
use crate::fields::{FieldReading, short_text};
use crate::problem::Problem;
use crate::yaml::{self, escaped};

/// The file that describes a pack's graph.
pub const GRAPH_FILE: &str = "graph.yaml";

/// Properties with their values; null is no value.
pub type PackProperties = BTreeMap<String, Cell>;

/// The graph of a pack.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PackGraph {
    /// The nodes.
    pub nodes: Vec<PackNode>,
    /// The relationships.
    pub relationships: Vec<PackRelationship>,
}

/// A node.
#[derive(Debug, Clone, PartialEq)]
pub struct PackNode {
    /// The label.
    pub label: String,
    /// The properties.
    pub properties: PackProperties,
}

/// A relationship.
#[derive(Debug, Clone, PartialEq)]
pub struct PackRelationship {
    /// The type.
    pub kind: String,
    /// Index of the node that it leaves.
    pub from: usize,
    /// Index of the node to which it goes.
    pub to: usize,
    /// The properties.
    pub properties: PackProperties,
}

type Tables = BTreeMap<String, DataTable>;

/// Reads `text` as the contents of `file`, a graph over `tables`.
pub(super) fn read_pack_graph(
    file: &Path,
    text: &str,
    tables: &Tables,
) -> Result<PackGraph, Vec<Problem>> {
    let document = yaml::parse(text).map_err(|error| {
        let (file, field) = (file.to_owned(), String::new());
        vec![Problem { file, at: error.at, field, message: error.message }]
    })?;
    let mut reader = Reader {
        reading: FieldReading::new(file, &document),
        tables,
        graph: PackGraph::default(),
        keys: HashMap::new(),
    };
    match document.value.as_object() {
        Some(root) => reader.all(root),
        None => reader.reading.problem("", "expected a mapping with nodes and relationships"),
    }
    let Reader { reading, graph, .. } = reader;
    if reading.problems.is_empty() { Ok(graph) } else { Err(reading.problems) }
}

struct Reader<'a> {
    reading: FieldReading<'a>,
    tables: &'a Tables,
    graph: PackGraph,
    /// Label and key → index of the node.
    keys: HashMap<String, HashMap<String, usize>>,
}

/// One end of a relationship: the label, and where the key stands in the table.
struct End {
    label: String,
    column: usize,
}

impl<'a> Reader<'a> {
    fn all(&mut self, root: &'a Map<String, Value>) {
        self.reading.only("", root, &["nodes", "relationships"]);
        for (at, entry) in self.entries(root, "nodes") {
            let _noted = self.nodes(&at, entry);
        }
        // an end that is missing because its nodes are wrong is not told as well
        if !self.reading.problems.is_empty() {
            return;
        }
        for (at, entry) in self.entries(root, "relationships") {
            let _noted = self.relationships(&at, entry);
        }
    }

    /// The mappings of a list with their pointers.
    fn entries(
        &mut self,
        root: &'a Map<String, Value>,
        key: &str,
    ) -> Vec<(String, &'a Map<String, Value>)> {
        let list = match root.get(key) {
            None => return Vec::new(),
            Some(Value::Array(list)) => list,
            Some(other) => {
                let message = format!("is {}, expected a list", short_text(other));
                self.reading.problem(&format!("/{key}"), message);
                return Vec::new();
            }
        };
        let mut entries = Vec::new();
        for (index, entry) in list.iter().enumerate() {
            let at = format!("/{key}/{index}");
            if let Some(entry) = entry.as_object() {
                entries.push((at, entry));
            } else {
                let message = format!("is {}, expected a mapping", short_text(entry));
                self.reading.problem(&at, message);
            }
        }
        entries
    }

    fn table(&mut self, at: &str, entry: &Map<String, Value>) -> Option<(&'a DataTable, String)> {
        let name = self.reading.text(at, entry, "table")?;
        let table = self.tables.get(&name);
        if table.is_none() {
            let known: Vec<&str> = self.tables.keys().map(String::as_str).collect();
            let message = format!("is {name:?}, the pack has the tables {}", known.join(", "));
            self.reading.problem(&format!("{at}/table"), message);
        }
        Some((table?, name))
    }

    fn column(
        &mut self,
        at: &str,
        (table, name): (&DataTable, &str),
        column: &str,
    ) -> Option<usize> {
        let found = table.column(column);
        if found.is_none() {
            let known: Vec<&str> = table.columns.iter().map(|(own, _)| own.as_str()).collect();
            let known = known.join(", ");
            self.reading
                .problem(at, format!("{column:?} is no column of {name}, which has {known}"));
        }
        found
    }

    /// Names of properties with their columns.
    fn properties(
        &mut self,
        at: &str,
        entry: &Map<String, Value>,
        table: (&DataTable, &str),
    ) -> Vec<(String, usize)> {
        let at = format!("{at}/properties");
        let named: Vec<(String, String, &Value)> = match entry.get("properties") {
            None => Vec::new(),
            Some(Value::Array(list)) => list
                .iter()
                .enumerate()
                .map(|(index, column)| {
                    (
                        format!("{at}/{index}"),
                        column.as_str().unwrap_or_default().to_owned(),
                        column,
                    )
                })
                .collect(),
            Some(Value::Object(map)) => map
                .iter()
                .map(|(name, column)| (format!("{at}/{}", escaped(name)), name.clone(), column))
                .collect(),
            Some(other) => {
                let message =
                    format!("is {}, expected columns, or names with columns", short_text(other));
                self.reading.problem(&at, message);
                Vec::new()
            }
        };
        let mut found = Vec::new();
        for (at, name, column) in named {
            let column = column.as_str().unwrap_or_default();
            found.extend(self.column(&at, table, column).map(|index| (name, index)));
        }
        found
    }

    /// The nodes of an entry; `None` if a problem was noted that keeps the table from being read.
    fn nodes(&mut self, at: &str, entry: &Map<String, Value>) -> Option<()> {
        self.reading.only(at, entry, &["label", "table", "key", "properties"]);
        let label = self.reading.text(at, entry, "label");
        let key = self.reading.text(at, entry, "key");
        let (table, name) = self.table(at, entry)?;
        let key = self.column(&format!("{at}/key"), (table, &name), &key?)?;
        let properties = self.properties(at, entry, (table, &name));
        let label = label?;
        let known = self.keys.entry(label.clone()).or_default();
        for (number, row) in table.rows.iter().enumerate() {
            let Some(key) = text_of(&row[key]) else { continue };
            let own = values(row, &properties);
            let same = known.get(&key).and_then(|index| self.graph.nodes.get(*index));
            match same {
                None => {
                    known.insert(key, self.graph.nodes.len());
                    self.graph.nodes.push(PackNode { label: label.clone(), properties: own });
                }
                Some(node) if node.properties == own => {}
                Some(_) => {
                    let message = format!(
                        "row {} of {name}: {key} is a {label} with other properties already",
                        number + 1
                    );
                    self.reading.problem(&format!("{at}/key"), message);
                }
            }
        }
        Some(())
    }

    fn end(
        &mut self,
        at: &str,
        entry: &Map<String, Value>,
        which: &str,
        table: (&DataTable, &str),
    ) -> Option<End> {
        let at = format!("{at}/{which}");
        let given = entry.get(which).and_then(Value::as_object);
        let single = given.filter(|map| map.len() == 1).and_then(|map| map.iter().next());
        let Some((label, Value::String(column))) = single else {
            self.reading.problem(&at, "is required: a label with the column of its key");
            return None;
        };
        if !self.keys.contains_key(label) {
            let mut known: Vec<&str> = self.keys.keys().map(String::as_str).collect();
            known.sort_unstable();
            let message = format!("{label:?} is no label of nodes, which are {}", known.join(", "));
            self.reading.problem(&at, message);
            return None;
        }
        let column = self.column(&format!("{at}/{}", escaped(label)), table, column)?;
        Some(End { label: label.clone(), column })
    }

    /// The relationships of an entry; `None` as for nodes.
    fn relationships(&mut self, at: &str, entry: &Map<String, Value>) -> Option<()> {
        self.reading.only(at, entry, &["type", "table", "from", "to", "properties"]);
        let kind = self.reading.text(at, entry, "type");
        let (table, name) = self.table(at, entry)?;
        let from = self.end(at, entry, "from", (table, &name));
        let to = self.end(at, entry, "to", (table, &name));
        let properties = self.properties(at, entry, (table, &name));
        let (kind, ends) = (kind?, [from?, to?]);
        for (number, row) in table.rows.iter().enumerate() {
            let mut found = [None, None];
            for (end, place) in ends.iter().zip(&mut found) {
                let Some(key) = text_of(&row[end.column]) else { continue };
                *place = self.keys.get(&end.label).and_then(|keys| keys.get(&key)).copied();
                if place.is_none() {
                    let message =
                        format!("row {} of {name}: {key} is no {}", number + 1, end.label);
                    self.reading.problem(at, message);
                }
            }
            if let [Some(from), Some(to)] = found {
                let (kind, properties) = (kind.clone(), values(row, &properties));
                self.graph.relationships.push(PackRelationship { kind, from, to, properties });
            }
        }
        Some(())
    }
}

/// The values of a row that are not null.
fn values(row: &[Cell], properties: &[(String, usize)]) -> PackProperties {
    let cells = properties.iter().map(|(name, index)| (name, &row[*index]));
    let known = cells.filter(|(_, cell)| !matches!(cell, Cell::Null));
    known.map(|(name, cell)| (name.clone(), cell.clone())).collect()
}

/// A key as text.
fn text_of(cell: &Cell) -> Option<String> {
    match cell {
        Cell::Null => None,
        Cell::Text(text) => Some(text.clone()),
        Cell::Integer(number) => Some(number.to_string()),
        Cell::Real(number) => Some(number.to_string()),
        Cell::Boolean(is) => Some(is.to_string()),
    }
}

#[cfg(test)]
mod tests;
