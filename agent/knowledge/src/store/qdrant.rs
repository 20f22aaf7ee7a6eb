//! A Qdrant server as the store, over gRPC. The server runs the hybrid query: both searches are
//! prefetches of one query, fused by reciprocal rank.
//!
//! One collection for each [`Collection`], named `{prefix}{collection}`, with the vectors `dense`
//! (cosine) and `words` (sparse, with the server's inverse document frequency). The payload holds
//! the filtered fields, indexed, and the chunk as JSON. Written for server 1.18 and the client's
//! minor version 1.19, which the server's compatibility rule (one minor apart) allows. The
//! conformance suite runs against a stand-in by Qdrant's own Python client, and against a server
//! where `PDM_QDRANT_URL` names one.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use pdm_service::secret::{LiveSecret, Secret, SecretSource};
use pdm_shared::bounds;
use pdm_shared::rank::RRF_K;
use qdrant_client::config::QdrantConfig;
use qdrant_client::qdrant::{
    self as proto, Condition, CountPointsBuilder, CreateCollectionBuilder,
    CreateFieldIndexCollectionBuilder, DeletePointsBuilder, Distance, FieldType, Modifier,
    NamedVectors, PointStruct, PrefetchQueryBuilder, QueryPointsBuilder, Rrf, ScrollPointsBuilder,
    SparseVectorParamsBuilder, SparseVectorsConfigBuilder, UpsertPointsBuilder, Vector,
    VectorInput, VectorParamsBuilder, VectorsConfigBuilder,
};
use qdrant_client::{Payload, Qdrant, QdrantError};
use serde_json::json;

use super::{Filter, Hit, Point, Query, StoreError, Stored, VectorStore};
use crate::about::Collection;
use crate::chunk::Chunk;

const DENSE: &str = "dense";
const WORDS: &str = "words";

/// Payload fields that filters use.
const INDEXED: [&str; 5] = ["document", "equipment", "bearing", "doc_type", "fault_type"];

/// Points of one request: about a megabyte, a quarter of gRPC's usual limit.
const BATCH: usize = 100;

/// Longest wait for an answer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A Qdrant server.
#[derive(Clone)]
pub struct QdrantStore {
    /// The key, if the server wants one, and the client that was made with what it held.
    key: Option<LiveSecret>,
    client: Arc<Mutex<(Option<Secret>, Qdrant)>>,
    url: String,
    prefix: String,
    dimensions: usize,
}

impl std::fmt::Debug for QdrantStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QdrantStore")
            .field("url", &self.url)
            .field("prefix", &self.prefix)
            .field("dimensions", &self.dimensions)
            .finish_non_exhaustive()
    }
}

impl QdrantStore {
    /// A client for the server at `url` (gRPC, usually port 6334); sends no request yet.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if `url` is not an address.
    pub fn new(
        url: &str,
        key: Option<&Secret>,
        prefix: &str,
        dimensions: usize,
    ) -> Result<Self, StoreError> {
        let client = made(url, key).map_err(|error| failed(url, &told(&error)))?;
        let client = Arc::new(Mutex::new((key.cloned(), client)));
        let key = key.cloned().map(LiveSecret::from);
        Ok(Self { key, client, url: url.to_owned(), prefix: prefix.to_owned(), dimensions })
    }

    /// Returns the same store, whose key is read from `source` again for each request, so that it
    /// can be rotated without a restart.
    #[must_use]
    pub fn renewing(self, source: Option<SecretSource>) -> Self {
        let key = self.key.map(|key| LiveSecret::with(source, key.current()));
        Self { key, ..self }
    }

    /// The client, made anew if the key has changed.
    fn client(&self) -> Qdrant {
        let now = self.key.as_ref().map(LiveSecret::current);
        let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        if client.0 != now
            && let Ok(made) = made(&self.url, now.as_ref())
        {
            *client = (now, made);
        }
        client.1.clone()
    }

    /// Deletes the collections under this prefix with their contents.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn drop_collections(&self) -> Result<(), StoreError> {
        for collection in Collection::ALL {
            self.ask(self.client().delete_collection(self.name(collection))).await?;
        }
        Ok(())
    }

    fn name(&self, collection: Collection) -> String {
        format!("{}{collection}", self.prefix)
    }

    fn failed(&self, error: impl std::fmt::Display) -> StoreError {
        failed(&self.url, &error)
    }

    /// Waits for an answer at most [`TIMEOUT`]. The client's own time-out is longer and is never
    /// reached: it would ask a second time.
    async fn ask<T>(
        &self,
        request: impl Future<Output = Result<T, QdrantError>>,
    ) -> Result<T, StoreError> {
        match tokio::time::timeout(TIMEOUT, request).await {
            Ok(answer) => answer.map_err(|error| self.failed(told(&error))),
            Err(_elapsed) => Err(self.failed(format!("no answer within {} s", TIMEOUT.as_secs()))),
        }
    }

    async fn create(&self, name: &str) -> Result<(), StoreError> {
        let mut vectors = VectorsConfigBuilder::default();
        vectors.add_named_vector_params(
            DENSE,
            VectorParamsBuilder::new(self.dimensions as u64, Distance::Cosine),
        );
        let mut sparse = SparseVectorsConfigBuilder::default();
        sparse.add_named_vector_params(
            WORDS,
            SparseVectorParamsBuilder::default().modifier(Modifier::Idf),
        );
        let collection = CreateCollectionBuilder::new(name)
            .vectors_config(vectors)
            .sparse_vectors_config(sparse);
        self.ask(Box::pin(self.client().create_collection(collection))).await?;
        Ok(())
    }

    async fn index(&self, name: &str, field: &str) -> Result<(), StoreError> {
        let index = CreateFieldIndexCollectionBuilder::new(name, field, FieldType::Keyword);
        self.ask(self.client().create_field_index(index.wait(true))).await?;
        Ok(())
    }

    /// Refuses a collection that holds vectors of another length, and makes the payload indexes
    /// that it has not: a process that was stopped while it made a collection leaves it without
    /// some.
    async fn check(&self, name: &str) -> Result<(), StoreError> {
        let info = self.ask(self.client().collection_info(name)).await?;
        let indexed: Vec<String> =
            info.result.iter().flat_map(|info| info.payload_schema.keys().cloned()).collect();
        let stored = info
            .result
            .and_then(|info| info.config)
            .and_then(|config| config.params)
            .and_then(|params| params.vectors_config)
            .and_then(|vectors| vectors.config)
            .and_then(|config| match config {
                proto::vectors_config::Config::ParamsMap(map) => map.map.get(DENSE).map(|p| p.size),
                proto::vectors_config::Config::Params(_) => None,
            })
            .unwrap_or(0);
        if stored == self.dimensions as u64 {
            for field in INDEXED.iter().filter(|field| !indexed.iter().any(|is| is == *field)) {
                self.index(name, field).await?;
            }
            return Ok(());
        }
        Err(StoreError::Dimensions {
            place: self.url.clone(),
            collection: name.to_owned(),
            stored,
            asked: self.dimensions as u64,
        })
    }

    fn chunk(
        &self,
        payload: &std::collections::HashMap<String, proto::Value>,
    ) -> Result<Chunk, StoreError> {
        let content = payload.get("content").and_then(|value| value.as_str());
        let content = content.ok_or_else(|| self.failed("a point without content"))?;
        serde_json::from_str(content).map_err(|e| self.failed(e))
    }
}

/// A client for the server at `url`; sends no request yet.
fn made(url: &str, key: Option<&Secret>) -> Result<Qdrant, QdrantError> {
    let config = QdrantConfig::from_url(url).timeout(2 * TIMEOUT).skip_compatibility_check();
    Qdrant::new(match key {
        Some(key) => config.api_key(key.expose()),
        None => config,
    })
}

fn failed(url: &str, error: &impl std::fmt::Display) -> StoreError {
    StoreError::Unavailable { place: url.to_owned(), reason: error.to_string() }
}

/// Numbers of gRPC's status codes (grpc.io, "Status codes and their use in gRPC").
mod code {
    pub(super) const CANCELLED: i32 = 1;
    pub(super) const DEADLINE_EXCEEDED: i32 = 4;
    pub(super) const NOT_FOUND: i32 = 5;
    pub(super) const PERMISSION_DENIED: i32 = 7;
    pub(super) const RESOURCE_EXHAUSTED: i32 = 8;
    pub(super) const UNAVAILABLE: i32 = 14;
    pub(super) const UNAUTHENTICATED: i32 = 16;
}

/// Code and message of an error, if the server or the connection gave them.
fn status_of(error: &QdrantError) -> Option<(i32, &str)> {
    if let QdrantError::ResponseError { status }
    | QdrantError::ResourceExhaustedError { status, .. } = error
    {
        return Some((i32::from(status.code()), status.message()));
    }
    None
}

/// Whether the server refuses the key, or refuses to write with it.
fn is_of_key(error: &QdrantError) -> bool {
    let code = status_of(error).map(|(code, _)| code);
    matches!(code, Some(code::UNAUTHENTICATED | code::PERMISSION_DENIED))
}

/// A client's error in words for a person: what to do about it, and no types of the client.
fn told(error: &QdrantError) -> String {
    let Some((code, words)) = status_of(error) else {
        return bounds::in_one_line(&error.to_string(), bounds::MAX_LINE).into_owned();
    };
    let what = match code {
        code::UNAUTHENTICATED => "wrong key: the server refuses it",
        code::PERMISSION_DENIED => "read-only key: the server refuses to write with it",
        code::UNAVAILABLE => "the server cannot be reached",
        code::CANCELLED | code::DEADLINE_EXCEEDED => "the server did not answer in time",
        code::NOT_FOUND => "the server has no such collection",
        code::RESOURCE_EXHAUSTED => "the server takes no more",
        _ => "the server failed",
    };
    if words.is_empty() || words.contains("tonic") || words.contains("transport") {
        return what.to_owned();
    }
    format!("{what}: {}", bounds::in_one_line(words, bounds::MAX_LINE))
}

/// The filter in Qdrant's form; `None` if the filter allows all chunks.
fn conditions(filter: &Filter) -> Option<proto::Filter> {
    let doc_type = filter.doc_type.map(|kind| kind.as_str().to_owned());
    let fault_type = filter.fault_type.map(|fault| fault.as_str().to_owned());
    let asked = [
        ("document", &filter.document),
        ("equipment", &filter.equipment),
        ("bearing", &filter.bearing),
        ("doc_type", &doc_type),
        ("fault_type", &fault_type),
    ];
    let must: Vec<Condition> = asked
        .into_iter()
        .filter_map(|(field, value)| Some(Condition::matches(field, value.clone()?)))
        .collect();
    let must_not: Vec<Condition> = if filter.without.is_empty() {
        Vec::new()
    } else {
        vec![Condition::matches("document", filter.without.clone())]
    };
    (!must.is_empty() || !must_not.is_empty()).then(|| proto::Filter {
        must,
        must_not,
        ..proto::Filter::default()
    })
}

/// The chunk's point on the server: one id is one point.
fn point_id(chunk: &str) -> String {
    use sha2::Digest;
    let digest = sha2::Sha256::digest(chunk.as_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid().to_string()
}

fn point(point: &Point) -> Result<PointStruct, serde_json::Error> {
    let chunk = &point.chunk;
    let payload = json!({
        "id": chunk.id,
        "document": chunk.document,
        "equipment": chunk.about.equipment,
        "bearing": chunk.about.bearing,
        "doc_type": chunk.about.doc_type.as_str(),
        "fault_type": chunk.about.fault_type.map(pdm_shared::fault::Fault::as_str),
        "embedder": point.embedder,
        "content": serde_json::to_string(chunk)?,
    });
    let payload = Payload::from(payload.as_object().cloned().unwrap_or_default());
    let words = Vector::new_sparse(point.sparse.indices.clone(), point.sparse.values.clone());
    let vectors = NamedVectors::default()
        .add_vector(DENSE, Vector::new_dense(point.dense.clone()))
        .add_vector(WORDS, words);
    Ok(PointStruct::new(point_id(&chunk.id), vectors, payload))
}

/// The whole search in one request.
fn request(name: String, query: &Query) -> Option<QueryPointsBuilder> {
    let filter = conditions(&query.filter);
    let dense = query.dense.as_ref().map(|v| (DENSE, VectorInput::new_dense(v.clone())));
    let sparse = query
        .sparse
        .as_ref()
        .map(|v| (WORDS, VectorInput::new_sparse(v.indices.clone(), v.values.clone())));
    let mut request = QueryPointsBuilder::new(name).limit(query.top_k as u64).with_payload(true);
    if let Some(filter) = &filter {
        request = request.filter(filter.clone());
    }
    match (dense, sparse) {
        (Some(dense), Some(sparse)) => {
            for (using, input) in [dense, sparse] {
                let mut prefetch = PrefetchQueryBuilder::default()
                    .query(proto::Query::new_nearest(input))
                    .using(using)
                    .limit(query.candidates() as u64);
                if let Some(filter) = &filter {
                    prefetch = prefetch.filter(filter.clone());
                }
                request = request.add_prefetch(prefetch);
            }
            let rrf = Rrf { k: Some(RRF_K), weights: Vec::new() };
            Some(request.query(proto::Query::new_rrf(rrf)))
        }
        (Some((using, input)), None) | (None, Some((using, input))) => {
            Some(request.query(proto::Query::new_nearest(input)).using(using))
        }
        (None, None) => None,
    }
}

#[async_trait]
impl VectorStore for QdrantStore {
    async fn prepare(&self) -> Result<(), StoreError> {
        for collection in Collection::ALL {
            let name = self.name(collection);
            let exists = self.ask(self.client().collection_exists(&name)).await?;
            if !exists && let Err(error) = Box::pin(self.create(&name)).await {
                // another agent may have created the collection meanwhile
                let made = self.ask(self.client().collection_exists(&name)).await?;
                if !made {
                    return Err(error);
                }
            }
            self.check(&name).await?;
        }
        Ok(())
    }

    async fn probe(&self) -> Result<(), StoreError> {
        self.ask(self.client().list_collections()).await?;
        // a collection that cannot exist: a key that may write is told so, one that may not is
        // refused
        let none = format!("{}check-of-the-key-only", self.prefix);
        let delete = DeletePointsBuilder::new(&none).points(proto::Filter::default()).wait(true);
        match tokio::time::timeout(TIMEOUT, self.client().delete_points(delete)).await {
            Ok(Err(error)) if is_of_key(&error) => Err(self.failed(told(&error))),
            Ok(_) => Ok(()),
            Err(_elapsed) => Err(self.failed(format!("no answer within {} s", TIMEOUT.as_secs()))),
        }
    }

    async fn replace(
        &self,
        collection: Collection,
        documents: &[String],
        points: Vec<Point>,
    ) -> Result<(), StoreError> {
        let name = self.name(collection);
        if !documents.is_empty() {
            let old = proto::Filter::must([Condition::matches("document", documents.to_vec())]);
            let delete = DeletePointsBuilder::new(&name).points(old).wait(true);
            self.ask(self.client().delete_points(delete)).await?;
        }
        for batch in points.chunks(BATCH) {
            let batch: Result<Vec<PointStruct>, _> = batch.iter().map(point).collect();
            let batch = batch.map_err(|e| self.failed(e))?;
            let upsert = UpsertPointsBuilder::new(&name, batch).wait(true);
            self.ask(self.client().upsert_points(upsert)).await?;
        }
        Ok(())
    }

    async fn search(&self, collection: Collection, query: &Query) -> Result<Vec<Hit>, StoreError> {
        let Some(request) = request(self.name(collection), query) else { return Ok(Vec::new()) };
        let found = self.ask(Box::pin(self.client().query(request))).await?;
        let hits: Result<Vec<Hit>, StoreError> = found
            .result
            .iter()
            .map(|point| Ok(Hit { chunk: self.chunk(&point.payload)?, score: point.score }))
            .collect();
        let mut hits = hits?;
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.chunk.id.cmp(&b.chunk.id)));
        Ok(hits)
    }

    async fn list(
        &self,
        collection: Collection,
        filter: &Filter,
    ) -> Result<Vec<Stored>, StoreError> {
        let mut all = Vec::new();
        let mut offset = None;
        loop {
            let mut scroll = ScrollPointsBuilder::new(self.name(collection))
                .limit(BATCH as u32)
                .with_payload(true);
            if let Some(filter) = conditions(filter) {
                scroll = scroll.filter(filter);
            }
            if let Some(next) = offset {
                scroll = scroll.offset::<proto::PointId>(next);
            }
            let page = self.ask(self.client().scroll(scroll)).await?;
            for point in &page.result {
                let embedder = point.payload.get("embedder").and_then(|value| value.as_str());
                let embedder = embedder.map_or_else(String::new, ToString::to_string);
                all.push(Stored { chunk: self.chunk(&point.payload)?, embedder });
            }
            offset = page.next_page_offset;
            if offset.is_none() {
                break;
            }
        }
        all.sort_by(|a, b| a.chunk.id.cmp(&b.chunk.id));
        Ok(all)
    }

    async fn count(&self, collection: Collection) -> Result<u64, StoreError> {
        let count = CountPointsBuilder::new(self.name(collection)).exact(true);
        let answer = self.ask(self.client().count(count)).await?;
        Ok(answer.result.map_or(0, |result| result.count))
    }
}
