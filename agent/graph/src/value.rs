//! Values of a property graph, as properties hold them and as queries compute them.
//!
//! Invariant: cloning a [`Value`] is cheap, because everything that can be large is shared.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;

mod order;

pub(crate) use order::{Compared, Truth, compare};
pub use order::{equal, order};

/// Properties of a node or a relationship, or the entries of a map.
pub type Properties = BTreeMap<Arc<str>, Value>;

/// A value of openCypher. Temporal and spatial values are not among them.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`: missing or unknown.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number of 64 bits.
    Int(i64),
    /// A number of 64 bits with a fraction; infinities and NaN are possible results.
    Float(f64),
    /// A text.
    Text(Arc<str>),
    /// A list.
    List(Arc<Vec<Value>>),
    /// A map.
    Map(Arc<Properties>),
    /// A node of the graph.
    Node(Arc<Node>),
    /// A relationship of the graph.
    Relationship(Arc<Relationship>),
    /// A walk through the graph.
    Path(Arc<Path>),
}

/// A node: its identity, labels and properties.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Identity within its graph.
    pub id: i64,
    /// Labels, in the order of their names.
    pub labels: Vec<Arc<str>>,
    /// Properties; no value is null.
    pub properties: Arc<Properties>,
}

/// A relationship: a typed edge from one node to another.
#[derive(Debug, Clone, PartialEq)]
pub struct Relationship {
    /// Identity within its graph.
    pub id: i64,
    /// The type.
    pub kind: Arc<str>,
    /// The node from which the relationship goes out.
    pub start: i64,
    /// The node to which the relationship goes.
    pub end: i64,
    /// Properties; no value is null.
    pub properties: Arc<Properties>,
}

/// A walk: nodes and the relationships between them. There is one node more than relationships.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// The nodes in the order of the walk.
    pub nodes: Vec<Arc<Node>>,
    /// The relationships in the order of the walk, whatever their direction.
    pub relationships: Vec<Arc<Relationship>>,
}

impl Value {
    /// A text.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self::Text(text.into())
    }

    /// A list.
    pub fn list(items: Vec<Self>) -> Self {
        Self::List(Arc::new(items))
    }

    /// A map.
    pub fn map(entries: impl IntoIterator<Item = (Arc<str>, Self)>) -> Self {
        Self::Map(Arc::new(entries.into_iter().collect()))
    }

    /// Whether the value is null.
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The name of the value's type, as errors tell it.
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Int(_) => "an integer",
            Self::Float(_) => "a float",
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
            Self::Node(_) => "a node",
            Self::Relationship(_) => "a relationship",
            Self::Path(_) => "a path",
        }
    }

    /// About how many bytes the value holds, for the limit of memory. Shared parts of elements
    /// count once as a pointer, because the graph's cache holds them.
    pub fn weight(&self) -> usize {
        const CELL: usize = size_of::<Value>();
        match self {
            Self::Text(text) => CELL + text.len(),
            Self::List(items) => CELL + items.len() * CELL,
            Self::Map(entries) => CELL + entries.len() * 2 * CELL,
            Self::Path(path) => CELL + path.nodes.len() * 2 * size_of::<usize>(),
            Self::Null
            | Self::Bool(_)
            | Self::Int(_)
            | Self::Float(_)
            | Self::Node(_)
            | Self::Relationship(_) => CELL,
        }
    }

    /// The value as JSON: a node as its properties with `_id` and `_labels`, a relationship as its
    /// properties with `_id`, `_type`, `_start` and `_end`, a path as a list that alternates nodes
    /// and relationships. A number that is not finite becomes null, because JSON cannot hold it.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Null => serde_json::Value::Null,
            Self::Bool(flag) => (*flag).into(),
            Self::Int(whole) => (*whole).into(),
            Self::Float(number) => json!(number),
            Self::Text(text) => text.as_ref().into(),
            Self::List(items) => items.iter().map(Self::to_json).collect(),
            Self::Map(entries) => properties_json(entries),
            Self::Node(node) => node.to_json(),
            Self::Relationship(relationship) => relationship.to_json(),
            Self::Path(path) => path.to_json(),
        }
    }

    /// The value that a JSON document stands for.
    pub fn from_json(json: &serde_json::Value) -> Self {
        match json {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(flag) => Self::Bool(*flag),
            serde_json::Value::Number(number) => match number.as_i64() {
                Some(whole) => Self::Int(whole),
                None => number.as_f64().map_or(Self::Null, Self::Float),
            },
            serde_json::Value::String(text) => Self::text(text.as_str()),
            serde_json::Value::Array(items) => {
                Self::list(items.iter().map(Self::from_json).collect())
            }
            serde_json::Value::Object(entries) => Self::Map(Arc::new(properties_of(entries))),
        }
    }
}

/// The properties that a JSON object stands for; entries that are null are left out.
pub fn properties_of(entries: &serde_json::Map<String, serde_json::Value>) -> Properties {
    let known = entries.iter().filter(|(_, value)| !value.is_null());
    known.map(|(key, value)| (key.as_str().into(), Value::from_json(value))).collect()
}

/// Properties as a JSON object.
pub fn properties_json(properties: &Properties) -> serde_json::Value {
    let entries = properties.iter().map(|(key, value)| (key.to_string(), value.to_json()));
    serde_json::Value::Object(entries.collect())
}

impl Node {
    /// Whether the node has this label.
    pub fn has_label(&self, label: &str) -> bool {
        self.labels.iter().any(|own| own.as_ref() == label)
    }

    fn to_json(&self) -> serde_json::Value {
        let mut json = properties_json(&self.properties);
        json["_id"] = self.id.into();
        json["_labels"] = self.labels.iter().map(AsRef::<str>::as_ref).collect();
        json
    }
}

impl Relationship {
    /// The node at the other end than `node`.
    pub const fn other(&self, node: i64) -> i64 {
        if self.start == node { self.end } else { self.start }
    }

    fn to_json(&self) -> serde_json::Value {
        let mut json = properties_json(&self.properties);
        json["_id"] = self.id.into();
        json["_type"] = self.kind.as_ref().into();
        json["_start"] = self.start.into();
        json["_end"] = self.end.into();
        json
    }
}

impl Path {
    fn to_json(&self) -> serde_json::Value {
        let mut parts = Vec::with_capacity(self.nodes.len() * 2);
        let mut relationships = self.relationships.iter();
        for node in &self.nodes {
            parts.push(node.to_json());
            parts.extend(relationships.next().map(|relationship| relationship.to_json()));
        }
        parts.into()
    }

    /// Nodes and relationships in turn, as openCypher orders and compares paths.
    fn ids(&self) -> impl Iterator<Item = i64> + '_ {
        let nodes = self.nodes.iter().map(|node| node.id);
        nodes.chain(self.relationships.iter().map(|relationship| relationship.id))
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Bool(flag)
    }
}

impl From<i64> for Value {
    fn from(whole: i64) -> Self {
        Self::Int(whole)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Float(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}
