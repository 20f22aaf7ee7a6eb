//! The source from which a query reads its graph: memory ([`crate::memory::MemoryGraph`]) or tables
//! of a database.
//!
//! A source is asked for many elements at once, so that a database answers a step of a query with
//! one statement. The engine blocks while a source answers; a source on an asynchronous driver is
//! called on a thread of its own.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::value::{Node, Relationship, Value};

/// Which relationships of a node are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Those that go out from the node.
    Out,
    /// Those that come in to the node.
    In,
    /// Both.
    Either,
}

impl Direction {
    /// Returns the same relationships seen from their other end.
    #[must_use]
    pub const fn reverse(self) -> Self {
        match self {
            Self::Out => Self::In,
            Self::In => Self::Out,
            Self::Either => Self::Either,
        }
    }
}

/// Which nodes are looked for. A source may return more than these, never fewer: the engine checks
/// every node again.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scan {
    /// Labels that a node has to have, all of them.
    pub labels: Vec<Arc<str>>,
    /// Properties that a node has to have, with these values; no value is null.
    pub equal: Vec<(Arc<str>, Value)>,
}

/// A source could not answer.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct SourceError {
    /// The failure, for the log and the caller.
    pub message: String,
}

impl SourceError {
    /// An error with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

/// Relationships of many nodes: node → its relationships.
pub type Fans = HashMap<i64, Vec<Arc<Relationship>>>;

/// Relationships of many nodes with the nodes at their other ends.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Hops {
    /// The relationships.
    pub fans: Fans,
    /// The nodes at the other ends, each once.
    pub nodes: Vec<Arc<Node>>,
}

/// A property graph that can be read.
pub trait GraphSource: Send + Sync {
    /// At most `limit` nodes that fit `scan`, with an identity greater than `after`, in the order
    /// of their identities.
    ///
    /// # Errors
    /// [`SourceError`] if the source cannot be read.
    fn scan(
        &self,
        scan: &Scan,
        after: Option<i64>,
        limit: usize,
    ) -> Result<Vec<Arc<Node>>, SourceError>;

    /// The nodes with these identities; those that do not exist are left out.
    ///
    /// # Errors
    /// [`SourceError`] if the source cannot be read.
    fn nodes(&self, ids: &[i64]) -> Result<Vec<Arc<Node>>, SourceError>;

    /// The relationships of these nodes in one direction, of one of `kinds` (of every type if that
    /// is empty); a loop is listed once. The source stops after `limit` relationships.
    ///
    /// # Errors
    /// [`SourceError`] if the source cannot be read.
    fn relationships(
        &self,
        of: &[i64],
        direction: Direction,
        kinds: &[Arc<str>],
        limit: usize,
    ) -> Result<Fans, SourceError>;

    /// The relationships as of [`GraphSource::relationships`], and the nodes at their other ends. A
    /// source that finds both in one look does so here.
    ///
    /// # Errors
    /// [`SourceError`] if the source cannot be read.
    fn hops(
        &self,
        of: &[i64],
        direction: Direction,
        kinds: &[Arc<str>],
        limit: usize,
    ) -> Result<Hops, SourceError> {
        let fans = self.relationships(of, direction, kinds, limit)?;
        let ends = fans.iter().flat_map(|(node, fan)| fan.iter().map(|edge| edge.other(*node)));
        let ends: BTreeSet<i64> = ends.collect();
        let nodes = self.nodes(&ends.into_iter().collect::<Vec<_>>())?;
        Ok(Hops { fans, nodes })
    }
}
