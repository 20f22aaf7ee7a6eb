//! A table of the archive on Delta Lake: opening, making, comparing its schema, committing.
//!
//! Invariants:
//! - a commit is made against the snapshot whose content was looked at; a commit of anyone in
//!   between ends in [`LakeError::Conflict`], never in a rebase. So rows come in once, whoever
//!   writes beside.
//! - the application transaction is read from that snapshot before each commit and goes up by one
//! - nothing is removed from a table here

use std::collections::HashMap;
use std::sync::Arc;

use deltalake::DeltaTable;
use deltalake::kernel::transaction::{CommitBuilder, CommitProperties, TransactionError};
use deltalake::kernel::{
    Action, Add, ArrayType, DataType, PrimitiveType, StructField, Transaction,
};
use deltalake::logstore::{StorageConfig, default_logstore};
use deltalake::protocol::{DeltaOperation, SaveMode};
use deltalake::{DeltaTableError, errors::DeltaResult};
use object_store::ObjectStore;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use serde_json::{Value as Json, json};

use crate::day::Day;
use crate::error::LakeError;
use crate::place::Place;
use crate::table::{DAY, TableSpec};
use crate::value::ColumnKind;

mod files;
mod foreign;
mod refusal;

pub use files::{DayFile, Listing};
pub use foreign::{Foreign, foreign_commits, removed_files};

/// The name under which this program signs its commits.
pub const ENGINE: &str = concat!("pdm-lake/", env!("CARGO_PKG_VERSION"));
/// The key of this program's part of a commit.
pub const OWN_PART: &str = "pdm";

/// A table at one of its versions.
#[derive(Debug)]
pub struct Table {
    /// Its columns.
    pub spec: &'static TableSpec,
    /// `LAKE/NAME`, for messages.
    pub name: String,
    /// Objects of the table.
    pub store: Arc<dyn ObjectStore>,
    delta: DeltaTable,
}

/// Who commits what.
#[derive(Debug)]
pub struct Commit<'a> {
    /// The agent's store, or the import.
    pub app_id: &'a str,
    /// Number of the archiver's turn.
    pub turn: u64,
    /// The day.
    pub day: Day,
    /// What is said of the file beside the log's own words.
    pub about: Json,
}

impl Table {
    /// Opens the newest version; `None` if there is no such table.
    ///
    /// # Errors
    /// [`LakeError`]: a table of a newer protocol, a log that cannot be read, a denied access.
    pub async fn open(place: &Place, spec: &'static TableSpec) -> Result<Option<Self>, LakeError> {
        let mut table = Self::at(place, spec)?;
        let exists = table.delta.verify_deltatable_existence().await;
        if !exists.map_err(|error| place.failed("reading the log", &error))? {
            return Ok(None);
        }
        table.load().await?;
        Ok(Some(table))
    }

    /// Opens the newest version of a table that must be there.
    ///
    /// # Errors
    /// As [`Self::open`], and [`LakeError::NoArchive`].
    pub async fn existing(place: &Place, spec: &'static TableSpec) -> Result<Self, LakeError> {
        let missing = || LakeError::NoArchive { place: format!("{}/{}", place.name, spec.name) };
        Self::open(place, spec).await?.ok_or_else(missing)
    }

    /// Opens the newest version and makes the table if there is none.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub async fn open_or_make(place: &Place, spec: &'static TableSpec) -> Result<Self, LakeError> {
        if let Some(table) = Self::open(place, spec).await? {
            return Ok(table);
        }
        let table = Self::at(place, spec)?;
        let made = table
            .delta
            .create()
            .with_save_mode(SaveMode::Ignore)
            .with_table_name(format!("pdm_{}", spec.name))
            .with_comment(spec.about)
            .with_columns(fields(spec))
            .with_partition_columns([DAY])
            .with_commit_properties(properties(json!({ "made": true })))
            .await;
        if let Err(error) = made {
            // another archiver made it at the same time
            if Self::open(place, spec).await?.is_none() {
                return Err(place.failed("making a table", &error));
            }
        }
        Self::existing(place, spec).await
    }

    fn at(place: &Place, spec: &'static TableSpec) -> Result<Self, LakeError> {
        let name = format!("{}/{}", place.name, spec.name);
        let url = place
            .url
            .join(&format!("{}/", spec.name))
            .map_err(|error| LakeError::of(&name, "addressing the table", &error))?;
        let prefix = Path::from(format!("{}/{}", place.prefix, spec.name));
        let store: Arc<dyn ObjectStore> =
            Arc::new(PrefixStore::new(Arc::clone(&place.root), prefix));
        let (own, root) = (Arc::clone(&store), Arc::clone(&place.root));
        let log = default_logstore(own, root, &url, &StorageConfig::default());
        Ok(Self { spec, name, store, delta: DeltaTable::new(log) })
    }

    async fn load(&mut self) -> Result<(), LakeError> {
        match self.delta.load().await {
            Ok(()) => Ok(()),
            Err(error) => Err(refusal::of(&self.name, self.store.as_ref(), &error).await),
        }
    }

    /// The version.
    pub fn version(&self) -> u64 {
        self.delta.version().unwrap_or(0)
    }

    pub(crate) const fn delta(&self) -> &DeltaTable {
        &self.delta
    }

    /// Compares the table's columns with the ones that are written: adds what is missing, in a
    /// commit of its own. The names of the added ones.
    ///
    /// # Errors
    /// [`LakeError::Content`] with table, column and both types if a type differs.
    pub async fn fit_schema(&mut self, columns: &[StructField]) -> Result<Vec<String>, LakeError> {
        let schema = self.snapshot()?.schema();
        let mut missing = Vec::new();
        for wanted in columns {
            match schema.fields().find(|field| field.name() == wanted.name()) {
                None => missing.push(wanted.clone()),
                Some(found) if found.data_type() == wanted.data_type() => {}
                Some(found) => {
                    let told = format!(
                        "column {} is {} in the table, and {} is written; nothing was changed. \
                         Move the table away or archive into another folder",
                        wanted.name(),
                        found.data_type(),
                        wanted.data_type()
                    );
                    return Err(LakeError::Content { place: self.name.clone(), told });
                }
            }
        }
        let names: Vec<String> = missing.iter().map(|field| field.name().clone()).collect();
        if !missing.is_empty() {
            let added = self.delta.clone().add_columns().with_fields(missing);
            let about = properties(json!({ "added_columns": names }));
            self.delta = added
                .with_commit_properties(about)
                .await
                .map_err(|error| self.commit_failed("adding columns", &error))?;
        }
        Ok(names)
    }

    /// Compares the table with its own columns ([`Self::fit_schema`]).
    ///
    /// # Errors
    /// As there.
    pub async fn fit(&mut self) -> Result<Vec<String>, LakeError> {
        self.fit_schema(&fields(self.spec)).await
    }

    fn snapshot(&self) -> Result<&deltalake::table::state::DeltaTableState, LakeError> {
        self.delta.snapshot().map_err(|error| LakeError::of(&self.name, "reading the log", &error))
    }

    /// Commits a file against this version. The new version.
    ///
    /// # Errors
    /// [`LakeError::Conflict`] if anyone committed since the table was opened.
    pub async fn commit(&mut self, file: Add, commit: &Commit<'_>) -> Result<u64, LakeError> {
        let log = self.delta.log_store();
        let before = self.snapshot()?.transaction_version(log.as_ref(), commit.app_id).await;
        let before =
            before.map_err(|error| LakeError::of(&self.name, "reading the log", &error))?;
        let next = before.unwrap_or(0) + 1;
        let about = json!({
            "turn": commit.turn, "day": commit.day.to_string(), "file": commit.about,
        });
        let properties =
            properties(about).with_application_transaction(Transaction::new(commit.app_id, next));
        let write = DeltaOperation::Write {
            mode: SaveMode::Append,
            partition_by: Some(vec![DAY.to_owned()]),
            predicate: None,
        };
        let committed = CommitBuilder::from(properties)
            .with_actions(vec![Action::Add(file)])
            .build(Some(self.snapshot()?), log, write)
            .await
            .map_err(|error| self.commit_failed("committing", &error))?;
        let version = committed.version();
        self.delta.load().await.map_err(|error| self.commit_failed("reading the log", &error))?;
        Ok(version)
    }

    fn commit_failed(&self, doing: &'static str, error: &DeltaTableError) -> LakeError {
        use TransactionError as Why;
        if let DeltaTableError::Transaction { source } = error {
            let is_conflict = matches!(
                source,
                Why::MaxCommitAttempts(_) | Why::VersionAlreadyExists(_) | Why::CommitConflict(_)
            );
            if is_conflict {
                return LakeError::Conflict { place: self.name.clone() };
            }
            if matches!(source, Why::UnsupportedTableFeatures(_) | Why::TableFeaturesRequired(_)) {
                let told = format!("{source}; this program writes no such table");
                return LakeError::Version { place: self.name.clone(), told };
            }
        }
        LakeError::of(&self.name, doing, error)
    }
}

/// Properties of every commit of this program: no rebase, signed, and no commit of before is
/// removed.
fn properties(about: Json) -> CommitProperties {
    let own = [(OWN_PART.to_owned(), about), ("engineInfo".to_owned(), json!(ENGINE))];
    CommitProperties::default()
        .with_max_retries(0)
        .with_cleanup_expired_logs(Some(false))
        .with_metadata(own)
}

/// The columns of a table as Delta knows them.
pub fn fields(spec: &TableSpec) -> Vec<StructField> {
    let mut fields = vec![StructField::new(DAY, DataType::Primitive(PrimitiveType::Date), true)];
    fields.extend(
        spec.columns
            .iter()
            .map(|column| StructField::new(column.name, delta_type(column.kind), true)),
    );
    fields
}

fn delta_type(kind: ColumnKind) -> DataType {
    let list = |item| DataType::Array(Box::new(ArrayType::new(DataType::Primitive(item), true)));
    match kind {
        ColumnKind::Text => DataType::Primitive(PrimitiveType::String),
        ColumnKind::Int => DataType::Primitive(PrimitiveType::Long),
        ColumnKind::Float => DataType::Primitive(PrimitiveType::Double),
        ColumnKind::Bool => DataType::Primitive(PrimitiveType::Boolean),
        ColumnKind::Time => DataType::Primitive(PrimitiveType::Timestamp),
        ColumnKind::Floats => list(PrimitiveType::Double),
        ColumnKind::Ints => list(PrimitiveType::Long),
        ColumnKind::Texts => list(PrimitiveType::String),
    }
}

/// The partition of a day.
pub fn partition(day: Day) -> HashMap<String, Option<String>> {
    HashMap::from([(DAY.to_owned(), Some(day.to_string()))])
}

fn read<T>(name: &str, got: DeltaResult<T>) -> Result<T, LakeError> {
    got.map_err(|error| LakeError::of(name, "reading the log", &error))
}
