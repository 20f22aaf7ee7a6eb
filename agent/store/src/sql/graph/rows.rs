//! Nodes and relationships out of rows.

use std::sync::{Arc, LazyLock};

use pdm_graph::{Node, Properties, Relationship, properties_of};

use crate::StoreError;
use crate::database::Row;
use crate::encoding::json_of;

pub(super) fn properties(text: &str) -> Result<Properties, StoreError> {
    static NONE: LazyLock<serde_json::Map<String, serde_json::Value>> =
        LazyLock::new(serde_json::Map::new);
    if text == "{}" {
        return Ok(properties_of(&NONE));
    }
    json_of("properties of the graph", text).map(|map| properties_of(&map))
}

pub(super) fn node_of(row: &Row) -> Result<Arc<Node>, StoreError> {
    node_at(row, 0)
}

/// The node whose id, type and properties stand from this column on.
pub(super) fn node_at(row: &Row, column: usize) -> Result<Arc<Node>, StoreError> {
    Ok(Arc::new(Node {
        id: row.get(column)?,
        labels: vec![row.get::<&str>(column + 1)?.into()],
        properties: Arc::new(properties(row.get(column + 2)?)?),
    }))
}

pub(super) fn relationship_of(row: &Row) -> Result<Arc<Relationship>, StoreError> {
    Ok(Arc::new(Relationship {
        id: row.get(0)?,
        kind: row.get::<&str>(1)?.into(),
        start: row.get(2)?,
        end: row.get(3)?,
        properties: Arc::new(properties(row.get(4)?)?),
    }))
}
