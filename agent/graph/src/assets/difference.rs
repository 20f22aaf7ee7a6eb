//! Computes the changes that an import would make.

use std::fmt;

use super::{Assets, EdgeName, NodeName};
use crate::value::{Properties, Value};

/// The steps from one state of a plant to another.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AssetChange {
    /// Nodes that are new (`None` before) or different.
    pub nodes: Vec<(NodeName, Option<Properties>, Properties)>,
    /// Relationships that are new or different.
    pub edges: Vec<(EdgeName, Option<Properties>, Properties)>,
    /// Relationships that go.
    pub removed_edges: Vec<EdgeName>,
    /// Nodes that go.
    pub removed_nodes: Vec<NodeName>,
}

impl AssetChange {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
            && self.edges.is_empty()
            && self.removed_edges.is_empty()
            && self.removed_nodes.is_empty()
    }
}

/// Returns the change that leads from `before` to `after`.
pub fn difference(before: &Assets, after: &Assets) -> AssetChange {
    let mut change = AssetChange::default();
    for (name, own) in &after.nodes {
        let old = before.nodes.get(name);
        if old != Some(own) {
            change.nodes.push((name.clone(), old.cloned(), own.clone()));
        }
    }
    for (name, own) in &after.edges {
        let old = before.edges.get(name);
        if old != Some(own) {
            change.edges.push((name.clone(), old.cloned(), own.clone()));
        }
    }
    let gone = before.edges.keys().filter(|name| !after.edges.contains_key(*name));
    change.removed_edges = gone.cloned().collect();
    let gone = before.nodes.keys().filter(|name| !after.nodes.contains_key(*name));
    change.removed_nodes = gone.cloned().collect();
    change
}

/// One line an element: `+` new, `~` different (with what differs), `-` gone.
impl fmt::Display for AssetChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, before, after) in &self.nodes {
            line(f, name, before.as_ref(), after)?;
        }
        for (name, before, after) in &self.edges {
            line(f, name, before.as_ref(), after)?;
        }
        self.removed_edges.iter().try_for_each(|name| writeln!(f, "- {name}"))?;
        self.removed_nodes.iter().try_for_each(|name| writeln!(f, "- {name}"))
    }
}

fn line(
    f: &mut fmt::Formatter<'_>,
    name: &dyn fmt::Display,
    before: Option<&Properties>,
    after: &Properties,
) -> fmt::Result {
    let Some(before) = before else { return writeln!(f, "+ {name}") };
    write!(f, "~ {name}:")?;
    for key in before.keys().chain(after.keys().filter(|key| !before.contains_key(*key))) {
        let (old, new) =
            (before.get(key).unwrap_or(&Value::Null), after.get(key).unwrap_or(&Value::Null));
        if old != new {
            write!(f, " {key} {} -> {}", old.to_json(), new.to_json())?;
        }
    }
    writeln!(f)
}
