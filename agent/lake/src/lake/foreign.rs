//! Commits that this program did not make.
//!
//! A reader may compact a table (Spark's OPTIMIZE): no row changes. A writer that adds or removes
//! rows is named, and `export` stops before it writes beside it.

use bytes::Bytes;
use object_store::ObjectStoreExt as _;
use object_store::path::Path;
use serde_json::Value as Json;

use super::{OWN_PART, Table};
use crate::error::LakeError;

/// A commit of another program.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Foreign {
    /// The version.
    pub version: u64,
    /// The program, as it names itself.
    pub engine: String,
    /// What it did, as it says.
    pub operation: String,
    /// Whether rows came or went.
    pub changes_rows: bool,
}

/// The commits of other programs that the log still holds, newest first; at most `limit` commits
/// are looked at.
///
/// # Errors
/// [`LakeError`] if a commit cannot be read.
pub async fn foreign_commits(table: &Table, limit: u64) -> Result<Vec<Foreign>, LakeError> {
    let mut found = Vec::new();
    for (version, bytes) in commits(table, limit).await? {
        found.extend(foreign(version, &bytes));
    }
    Ok(found)
}

/// The files that commits took out of a table, and when, ms; at most `limit` commits are looked at.
///
/// # Errors
/// [`LakeError`] if a commit cannot be read.
pub async fn removed_files(table: &Table, limit: u64) -> Result<Vec<(String, i64)>, LakeError> {
    let mut found = Vec::new();
    for (_, bytes) in commits(table, limit).await? {
        let text = String::from_utf8_lossy(&bytes);
        for line in text.lines() {
            let Ok(action) = serde_json::from_str::<Json>(line) else { continue };
            let Some(removed) = action.get("remove") else { continue };
            let path = removed.get("path").and_then(Json::as_str).unwrap_or_default();
            let at = removed.get("deletionTimestamp").and_then(Json::as_i64).unwrap_or(i64::MAX);
            found.push((path.replace("%3D", "="), at));
        }
    }
    Ok(found)
}

/// The commits that the log still holds, newest first.
async fn commits(table: &Table, limit: u64) -> Result<Vec<(u64, Bytes)>, LakeError> {
    let mut found = Vec::new();
    let newest = table.version();
    for version in (0..=newest).rev().take(usize::try_from(limit).unwrap_or(usize::MAX)) {
        let path = Path::from(format!("_delta_log/{version:020}.json"));
        let read = match table.store.get(&path).await {
            // the log of long ago is cleaned up behind a checkpoint
            Err(object_store::Error::NotFound { .. }) => break,
            read => read.map_err(|error| LakeError::of(&table.name, "reading the log", &error))?,
        };
        let bytes = read.bytes().await;
        let bytes = bytes.map_err(|error| LakeError::of(&table.name, "reading the log", &error))?;
        found.push((version, bytes));
    }
    Ok(found)
}

fn foreign(version: u64, bytes: &Bytes) -> Option<Foreign> {
    let text = String::from_utf8_lossy(bytes);
    let actions: Vec<Json> =
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let info = actions.iter().find_map(|action| action.get("commitInfo"));
    if info.is_some_and(|info| info.get(OWN_PART).is_some()) {
        return None;
    }
    let word = |key: &str| {
        let word = info.and_then(|info| info.get(key)).and_then(Json::as_str);
        word.unwrap_or("unnamed").to_owned()
    };
    let engine = match word("engineInfo") {
        named if named != "unnamed" => named,
        _ => word("clientVersion"),
    };
    let changes_rows = actions.iter().any(|action| {
        let file = action.get("add").or_else(|| action.get("remove"));
        file.is_some_and(|file| file.get("dataChange").and_then(Json::as_bool) != Some(false))
    });
    Some(Foreign { version, engine, operation: word("operation"), changes_rows })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_of_another_program_is_told_and_whether_rows_changed() {
        let own = r#"{"commitInfo":{"operation":"WRITE","pdm":{"turn":1}}}"#;
        assert_eq!(foreign(1, &Bytes::from(own)), None);
        let compacted = "{\"commitInfo\":{\"operation\":\"OPTIMIZE\",\"engineInfo\":\"Apache-Spark/4.0\"}}\n\
                         {\"add\":{\"path\":\"a\",\"dataChange\":false}}";
        let told = foreign(2, &Bytes::from(compacted)).expect("foreign");
        assert_eq!((told.engine.as_str(), told.changes_rows), ("Apache-Spark/4.0", false));
        let written = "{\"add\":{\"path\":\"b\",\"dataChange\":true}}";
        let told = foreign(3, &Bytes::from(written)).expect("foreign");
        assert_eq!((told.operation.as_str(), told.changes_rows), ("unnamed", true));
    }
}
