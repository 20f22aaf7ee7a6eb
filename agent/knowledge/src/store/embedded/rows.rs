//! The embedded store's table: reads rows into memory and writes many rows with one statement.
//!
//! A vector is little-endian `f32`, a list of terms little-endian `u32`.

use std::collections::HashMap;

use sqlx::{QueryBuilder, Sqlite, SqliteConnection};

use super::{EmbeddedStore, Indexes, UNREADABLE};
use crate::about::Collection;
use crate::chunk::Chunk;
use crate::store::index::Index;
use crate::store::{Point, StoreError};
use crate::words::Sparse;

/// Rows of one read.
const PAGE: i64 = 1000;
/// Rows of one statement: each statement costs a message to the connection's thread and back, which
/// 32 rows share.
const ROWS: usize = 32;

/// A row: key, collection, content, dense vector, terms, weights.
type Loaded = (i64, String, String, Vec<u8>, Vec<u8>, Vec<u8>);

impl EmbeddedStore {
    pub(super) async fn load(
        &self,
        connection: &mut SqliteConnection,
    ) -> Result<Indexes, StoreError> {
        let mut indexes: Indexes = Collection::ALL
            .into_iter()
            .map(|collection| (collection, Index::new(self.dimensions)))
            .collect();
        let sql = "select key, collection, content, dense, terms, weights from chunk \
                   where key > ? order by key limit ?";
        let mut last = i64::MIN;
        loop {
            let rows = sqlx::query_as::<_, Loaded>(sql)
                .bind(last)
                .bind(PAGE)
                .fetch_all(&mut *connection)
                .await
                .map_err(|e| self.failed(e))?;
            let Some(end) = rows.last() else { return Ok(indexes) };
            last = end.0;
            for row in rows {
                self.push(&mut indexes, row)?;
            }
        }
    }

    fn push(&self, indexes: &mut Indexes, row: Loaded) -> Result<(), StoreError> {
        let (key, collection, content, dense, terms, weights) = row;
        let collection: Collection =
            collection.parse().map_err(|e: String| self.failed(format!("{UNREADABLE}: {e}")))?;
        let (chunk, dense) = (self.chunk(&content)?, self.floats(&dense)?);
        self.check_dimensions(collection, dense.len())?;
        let sparse = Sparse { indices: self.words(&terms)?, values: self.floats(&weights)? };
        if let Some(index) = indexes.get_mut(&collection) {
            index.push(key, &chunk, &dense, &sparse);
        }
        Ok(())
    }

    pub(super) fn check_dimensions(
        &self,
        collection: Collection,
        stored: usize,
    ) -> Result<(), StoreError> {
        if stored == self.dimensions {
            return Ok(());
        }
        Err(StoreError::Dimensions {
            place: self.path.display().to_string(),
            collection: collection.to_string(),
            stored: stored as u64,
            asked: self.dimensions as u64,
        })
    }

    pub(super) fn chunk(&self, content: &str) -> Result<Chunk, StoreError> {
        serde_json::from_str(content).map_err(|e| self.failed(format!("{UNREADABLE}: {e}")))
    }

    fn floats(&self, bytes: &[u8]) -> Result<Vec<f32>, StoreError> {
        Ok(self.words(bytes)?.into_iter().map(f32::from_bits).collect())
    }

    fn words(&self, bytes: &[u8]) -> Result<Vec<u32>, StoreError> {
        let (words, rest) = bytes.as_chunks::<4>();
        if rest.is_empty() {
            Ok(words.iter().map(|word| u32::from_le_bytes(*word)).collect())
        } else {
            Err(self.failed(format!("{UNREADABLE}: a vector of broken length")))
        }
    }

    /// Deletes the chunks of documents.
    pub(super) async fn delete(
        &self,
        connection: &mut SqliteConnection,
        collection: Collection,
        documents: &[String],
    ) -> Result<(), StoreError> {
        let sql = "delete from chunk where collection = ? \
                   and document in (select value from json_each(?))";
        sqlx::query(sql)
            .bind(collection.as_str())
            .bind(serde_json::to_string(documents).map_err(|e| self.failed(e))?)
            .execute(connection)
            .await
            .map_err(|e| self.failed(e))?;
        Ok(())
    }

    /// Writes points and gives each its key.
    pub(super) async fn insert(
        &self,
        connection: &mut SqliteConnection,
        collection: Collection,
        points: Vec<Point>,
    ) -> Result<Vec<(i64, Point)>, StoreError> {
        let mut keys: HashMap<String, i64> = HashMap::with_capacity(points.len());
        for points in points.chunks(ROWS) {
            let contents = points
                .iter()
                .map(|point| serde_json::to_string(&point.chunk).map_err(|e| self.failed(e)))
                .collect::<Result<Vec<String>, StoreError>>()?;
            let mut statement = QueryBuilder::<Sqlite>::new(
                "insert into chunk (collection, id, document, embedder, content, dense, terms, \
                 weights) ",
            );
            statement.push_values(points.iter().zip(contents), |mut row, (point, content)| {
                row.push_bind(collection.as_str())
                    .push_bind(point.chunk.id.as_str())
                    .push_bind(point.chunk.document.as_str())
                    .push_bind(point.embedder.as_str())
                    .push_bind(content)
                    .push_bind(bytes(point.dense.iter().map(|value| value.to_bits())))
                    .push_bind(bytes(point.sparse.indices.iter().copied()))
                    .push_bind(bytes(point.sparse.values.iter().map(|value| value.to_bits())));
            });
            statement.push(" returning id, key");
            let returned: Vec<(String, i64)> = statement
                .build_query_as()
                .persistent(points.len() == ROWS)
                .fetch_all(&mut *connection)
                .await
                .map_err(|e| self.failed(e))?;
            keys.extend(returned);
        }
        let stored = points.into_iter().map(|point| {
            let key = keys.get(&point.chunk.id).copied();
            Ok((key.ok_or_else(|| self.failed("a chunk without a key"))?, point))
        });
        stored.collect()
    }
}

fn bytes(words: impl Iterator<Item = u32>) -> Vec<u8> {
    words.flat_map(u32::to_le_bytes).collect()
}
