//! The asset graph of a plant: which kinds of nodes and relationships it has, and how they are
//! read, checked, compared and written. Pure: the agent's store keeps the result.
//!
//! A node is known by its type and its id; a bearing's id is its full name
//! `site/equipment/bearing`, a machine's `equipment`, or `site/equipment` where two sites have one
//! of this name. Invariant of a checked [`Assets`]: the ends of every relationship exist and fit
//! its type, `HAS_PART` has no cycle, no place holds two bearings at one time, no bearing is in two
//! places at one time.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::value::{Properties, Value};

mod check;
mod difference;
mod read;
mod sites;
mod write;

pub use check::check;
pub use difference::{AssetChange, difference};
pub use read::{Origins, read_assets};
pub use sites::{
    FROM_EVENTS, MachineNode, MachineSite, MachineSites, MeasuredMachine, is_from_events,
    machine_id_of, machine_id_parts,
};
pub use write::to_yaml;

/// Types of nodes that files bring.
pub const NODE_TYPES: [&str; 8] =
    ["Site", "Line", "Equipment", "Bearing", "Part", "Document", "Technician", "Tag"];

/// Types of nodes that the agent brings: what events, judgements and work orders said, in short.
pub const DIGEST_TYPES: [&str; 3] = ["Event", "Judgement", "WorkOrder"];

/// Types of relationships, with the types of their two ends.
pub const RELATIONSHIP_TYPES: &[(&str, &[&str], &[&str])] = &[
    ("HAS_PART", &["Site", "Line", "Equipment", "Bearing", "Part"], &["Line", "Equipment", "Part"]),
    ("INSTALLED_IN", &["Bearing"], &["Equipment"]),
    ("FED_BY", &["Equipment"], &["Equipment"]),
    ("SAME_MODEL", &["Equipment", "Bearing"], &["Equipment", "Bearing"]),
    ("MAINTAINED_BY", &["Site", "Line", "Equipment", "Bearing"], &["Technician"]),
    ("DOCUMENTED_IN", &["Line", "Equipment", "Bearing", "Part"], &["Document"]),
    ("TAGGED", &["Site", "Line", "Equipment", "Bearing", "Part"], &["Tag"]),
    ("OBSERVED_ON", &["Event"], &["Bearing"]),
    ("ABOUT", &["Judgement"], &["Bearing"]),
    ("ASKED_BY", &["WorkOrder"], &["Judgement"]),
];

/// The name of a node: its type and its id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeName {
    /// The type.
    pub kind: Arc<str>,
    /// The id, unique among the nodes of the type.
    pub id: Arc<str>,
}

impl NodeName {
    /// A name.
    pub fn new(kind: impl Into<Arc<str>>, id: impl Into<Arc<str>>) -> Self {
        Self { kind: kind.into(), id: id.into() }
    }
}

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind, self.id)
    }
}

/// The name of a relationship. `since` tells apart the times at which a bearing came to one
/// machine; it is empty for every other type.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EdgeName {
    /// The type.
    pub kind: Arc<str>,
    /// The node from which it goes out.
    pub from: NodeName,
    /// The node to which it goes.
    pub to: NodeName,
    /// The begin of an `INSTALLED_IN`.
    pub since: Arc<str>,
}

impl EdgeName {
    /// A name; `since` is taken from the properties of an `INSTALLED_IN`.
    pub fn new(kind: &str, from: NodeName, to: NodeName, properties: &Properties) -> Self {
        let since = match properties.get("since") {
            Some(Value::Text(since)) if kind == "INSTALLED_IN" => Arc::clone(since),
            _ => "".into(),
        };
        Self { kind: kind.into(), from, to, since }
    }
}

impl fmt::Display for EdgeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -{}-> {}", self.from, self.kind, self.to)?;
        if self.since.is_empty() { Ok(()) } else { write!(f, " since {}", self.since) }
    }
}

/// Nodes and relationships of a plant.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Assets {
    /// The nodes with their properties.
    pub nodes: BTreeMap<NodeName, Properties>,
    /// The relationships with their properties.
    pub edges: BTreeMap<EdgeName, Properties>,
}

impl Assets {
    /// These assets with `other` put over them: what `other` names is as `other` says, the rest
    /// stays.
    #[must_use]
    pub fn with(mut self, other: &Self) -> Self {
        self.nodes.extend(other.nodes.clone());
        self.edges.extend(other.edges.clone());
        self
    }
}

/// Returns the text in which a search for a node looks: its id and its texts, in lower case.
pub fn searchable(name: &NodeName, properties: &Properties) -> String {
    let mut text = name.id.to_lowercase();
    for key in ["name", "model", "maker", "part_no", "title"] {
        if let Some(Value::Text(own)) = properties.get(key) {
            text.push('\n');
            text.push_str(&own.to_lowercase());
        }
    }
    text
}

#[cfg(test)]
mod tests;
