//! The asset graph in the store, for its queries, its tools, its pages and its import.

use std::sync::Arc;

use async_trait::async_trait;
use pdm_graph::assets::{AssetChange, Assets};
use pdm_graph::{Direction, Fans, Hops, Node, Scan};
use pdm_shared::event::Event;
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;

use super::StoreError;

/// What changes of the asset graph as it stands; `None`: nothing.
pub type ReviseAssets<'r> = &'r mut (dyn FnMut(&Assets) -> Option<AssetChange> + Send);

/// The asset graph; used by its queries, its tools, its pages and its import.
#[async_trait]
pub trait GraphStore: Send + Sync + std::fmt::Debug {
    /// At most `limit` nodes that may fit `scan`, after an identity, in the order of their identities.
    async fn graph_scan(
        &self,
        scan: &Scan,
        after: Option<i64>,
        limit: usize,
    ) -> Result<Vec<Arc<Node>>, StoreError>;

    /// The nodes with these identities.
    async fn graph_nodes(&self, ids: &[i64]) -> Result<Vec<Arc<Node>>, StoreError>;

    /// At most `limit` relationships of these nodes in each direction that is asked for, of these types
    /// (of every type if there are none).
    async fn graph_relationships(
        &self,
        of: &[i64],
        direction: Direction,
        kinds: &[Arc<str>],
        limit: usize,
    ) -> Result<Fans, StoreError>;

    /// The relationships as of [`GraphStore::graph_relationships`], with the nodes at their other ends.
    async fn graph_hops(
        &self,
        of: &[i64],
        direction: Direction,
        kinds: &[Arc<str>],
        limit: usize,
    ) -> Result<Hops, StoreError>;

    /// The whole graph, as it stands at one moment.
    async fn assets(&self) -> Result<Assets, StoreError>;

    /// Reads the whole graph, asks `revise` what changes, and writes that whole or not at all. Nothing
    /// else is written to the graph meanwhile: of two changes at once the second waits and sees what the
    /// first has written. `revise` must not block.
    async fn change_assets(&self, revise: ReviseAssets<'_>) -> Result<(), StoreError>;

    /// Nodes of a type whose id, name, model or title holds `text`, in the order of their names.
    async fn search_assets(
        &self,
        kind: &str,
        text: &str,
        limit: u32,
    ) -> Result<Vec<Arc<Node>>, StoreError>;

    /// Every tag with the number of what it is on, most first.
    async fn asset_tags(&self) -> Result<Vec<(String, u64)>, StoreError>;

    /// Of each day that begins at one of `days` (milliseconds) and has a window: the day, the number of
    /// its windows, and the last of them without its spectra.
    async fn last_of_days(
        &self,
        key: &BearingKey,
        days: &[i64],
    ) -> Result<Vec<(i64, u64, Event)>, StoreError>;

    /// The risk of the last judgement up to a moment; `None` before the first one.
    async fn risk_at(
        &self,
        key: &BearingKey,
        until_ms: i64,
    ) -> Result<Option<RiskLevel>, StoreError>;
}
