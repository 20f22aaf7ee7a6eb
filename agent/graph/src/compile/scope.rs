//! The names that a place of a query can see, and where their values stand in a row.

use std::sync::Arc;

use super::Kind;

#[derive(Debug, Clone)]
struct Entry {
    name: Option<Arc<str>>,
    kind: Kind,
}

/// The places of a row in order: named ones, and hidden ones that patterns and aggregates need.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope {
    entries: Vec<Entry>,
}

impl Scope {
    /// Number of places.
    pub(super) fn width(&self) -> usize {
        self.entries.len()
    }

    /// Returns where `name` stands. A later name hides an earlier one.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.entries.iter().rposition(|entry| entry.name.as_deref() == Some(name))
    }

    /// Adds a place.
    pub(super) fn push(&mut self, name: Option<Arc<str>>, kind: Kind) -> usize {
        self.entries.push(Entry { name, kind });
        self.entries.len() - 1
    }

    /// Removes the places from `width` on.
    pub(super) fn cut(&mut self, width: usize) {
        self.entries.truncate(width);
    }

    pub(super) fn kind(&self, slot: usize) -> Kind {
        self.entries.get(slot).map_or(Kind::Any, |entry| entry.kind)
    }

    /// The names, each once, in their alphabetical order.
    pub(super) fn names(&self) -> Vec<Arc<str>> {
        let mut names: Vec<Arc<str>> =
            self.entries.iter().filter_map(|entry| entry.name.clone()).collect();
        names.sort();
        names.dedup();
        names
    }
}
