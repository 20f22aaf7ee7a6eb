//! Why a table's log cannot be read, looked up in the log itself.

use deltalake::DeltaTableError;
use futures_util::TryStreamExt as _;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _};
use serde_json::Value as Json;

use crate::error::LakeError;

/// Highest versions of the protocol that the library reads and writes.
const READER: i64 = 3;
const WRITER: i64 = 7;
/// Reader features that the library knows by 1.1.
const FEATURES: &[&str] = &[
    "columnMapping",
    "deletionVectors",
    "timestampNtz",
    "typeWidening",
    "v2Checkpoint",
    "vacuumProtocolCheck",
];
/// Commits that are looked at, newest first.
const COMMITS: usize = 200;

/// The error for a log that the library refuses: the commit that is broken, or the protocol that is
/// newer.
pub(super) async fn of(name: &str, store: &dyn ObjectStore, error: &DeltaTableError) -> LakeError {
    let told = LakeError::of(name, "reading the log", error);
    if !matches!(told, LakeError::Failed { .. }) {
        return told;
    }
    looked_up(name, store).await.unwrap_or(told)
}

async fn looked_up(name: &str, store: &dyn ObjectStore) -> Option<LakeError> {
    let log = Path::from("_delta_log");
    let mut commits: Vec<Path> = store
        .list(Some(&log))
        .map_ok(|object| object.location)
        .try_filter(|path| {
            std::future::ready(path.extension().is_some_and(|end| end.eq_ignore_ascii_case("json")))
        })
        .try_collect()
        .await
        .ok()?;
    commits.sort();
    for path in commits.iter().rev().take(COMMITS) {
        let bytes = store.get(path).await.ok()?.bytes().await.ok()?;
        let text = String::from_utf8_lossy(&bytes);
        for (number, line) in text.lines().enumerate() {
            let Ok(action) = serde_json::from_str::<Json>(line) else {
                let told = format!(
                    "line {} of {path} is no JSON: a commit that was cut or changed. Nothing was \
                     changed; restore the file from a backup, or remove it if it is the last one \
                     and no reader has seen it",
                    number + 1
                );
                return Some(LakeError::Content { place: name.to_owned(), told });
            };
            if let Some(told) = action.get("protocol").and_then(newer) {
                return Some(LakeError::Version { place: name.to_owned(), told });
            }
        }
    }
    None
}

/// What is newer in a protocol than this program knows.
fn newer(protocol: &Json) -> Option<String> {
    let version = |key: &str| protocol.get(key).and_then(Json::as_i64).unwrap_or(0);
    let (reader, writer) = (version("minReaderVersion"), version("minWriterVersion"));
    let features = protocol.get("readerFeatures").and_then(Json::as_array);
    let unknown: Vec<&str> = features
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .filter(|feature| !FEATURES.contains(feature))
        .collect();
    (reader > READER || writer > WRITER || !unknown.is_empty()).then(|| {
        let unknown = if unknown.is_empty() {
            String::new()
        } else {
            format!(", features {}", unknown.join(", "))
        };
        format!(
            "the table is of a newer protocol of Delta Lake (reader {reader}, writer \
             {writer}{unknown}) than this program knows (reader {READER}, writer {WRITER}); \
             nothing was changed"
        )
    })
}
