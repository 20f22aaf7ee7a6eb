//! The asset graph of the agent: its tables as the source of queries, and the functions of its
//! tools.

use std::sync::Arc;

use pdm_graph::{Direction, Fans, GraphSource, Hops, Node, Scan, SourceError};
use pdm_store::{Store, StoreError};
use tokio::runtime::Handle;

pub(crate) mod digests;
pub(crate) mod machines;
mod tools;

pub(crate) use tools::AssetTools;

/// The graph in the store. Its methods block, and may be called on threads only that may block.
#[derive(Debug, Clone)]
pub(crate) struct StoredGraph {
    store: Store,
    runtime: Handle,
}

impl StoredGraph {
    /// The graph of `store`, read by the runtime on which this is called.
    pub(crate) fn new(store: Store) -> Self {
        Self { store, runtime: Handle::current() }
    }

    fn wait<T>(&self, read: impl Future<Output = Result<T, StoreError>>) -> Result<T, SourceError> {
        let read = self.runtime.block_on(read);
        read.map_err(|error| SourceError::new(pdm_service::error_chain::error_chain(&error)))
    }
}

impl GraphSource for StoredGraph {
    fn scan(
        &self,
        scan: &Scan,
        after: Option<i64>,
        limit: usize,
    ) -> Result<Vec<Arc<Node>>, SourceError> {
        self.wait(self.store.graph().graph_scan(scan, after, limit))
    }

    fn nodes(&self, ids: &[i64]) -> Result<Vec<Arc<Node>>, SourceError> {
        self.wait(self.store.graph().graph_nodes(ids))
    }

    fn relationships(
        &self,
        of: &[i64],
        direction: Direction,
        kinds: &[Arc<str>],
        limit: usize,
    ) -> Result<Fans, SourceError> {
        self.wait(self.store.graph().graph_relationships(of, direction, kinds, limit))
    }

    fn hops(
        &self,
        of: &[i64],
        direction: Direction,
        kinds: &[Arc<str>],
        limit: usize,
    ) -> Result<Hops, SourceError> {
        self.wait(self.store.graph().graph_hops(of, direction, kinds, limit))
    }
}

#[cfg(test)]
mod tests;
