//! Executor `sql`: one read-only statement over a database that the operator's settings name.
//!
//! Three walls, each enough alone: a [`Statement`] is one SELECT without a word that writes (checked
//! when the tool is read); the file is opened read-only; the connection has `query_only` set. A
//! statement that runs too long is interrupted inside SQLite; rows and bytes are limited.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use futures_util::{Stream, TryStreamExt};
use serde_json::{Map, Value, json};
use sqlx::sqlite::{SqliteArguments, SqliteConnectOptions, SqlitePoolOptions, SqliteRow};
use sqlx::{Arguments, Column, Row, SqlitePool, TypeInfo, ValueRef};
use tokio::sync::Mutex;

use super::{Failure, Invocation};
use crate::tools::executor::SqlConfig;

/// Words that change something, wherever they stand outside quotes. `REPLACE` is one only as a
/// statement: as a function a bracket follows it.
const WRITING: [&str; 14] = [
    "INSERT",
    "UPDATE",
    "DELETE",
    "REPLACE",
    "CREATE",
    "DROP",
    "ALTER",
    "ATTACH",
    "DETACH",
    "PRAGMA",
    "VACUUM",
    "REINDEX",
    "SAVEPOINT",
    "BEGIN",
];
/// Most bytes of all cells of a result. Chosen: a hundred rows of a page each.
const MAX_RESULT_BYTES: usize = 1_000_000;
/// Virtual-machine steps between two looks at the clock: a fraction of a millisecond.
const STEPS_BETWEEN_LOOKS: i32 = 1_000;
/// Connections of one database.
const MAX_CONNECTIONS: u32 = 2;

/// A statement that is refused when its tool is read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StatementError {
    /// Not a question.
    #[error("starts with {0:?}, allowed is one SELECT (or WITH … SELECT)")]
    NotASelect(String),
    /// A word that changes something.
    #[error("contains {0}, which changes the database: only reading is allowed")]
    Writes(String),
    /// More than one statement.
    #[error("holds more than one statement")]
    Several,
    /// A parameter of another form.
    #[error("has a parameter {0:?}, write :name, the name of a property of input_schema")]
    Parameter(char),
    /// A quote or comment without its end.
    #[error("has {0} without its end")]
    Unclosed(&'static str),
}

/// One SELECT with named parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    text: String,
    parameters: Vec<String>,
}

impl Statement {
    /// Reads a statement; `:name` stands for an argument.
    ///
    /// # Errors
    /// [`StatementError`]: what is refused and what is allowed.
    pub fn read(text: &str) -> Result<Self, StatementError> {
        let mut scan =
            Scan { rest: text, out: String::new(), words: Vec::new(), names: Vec::new() };
        while !scan.rest.is_empty() {
            scan.step()?;
        }
        let first = scan.words.first().map(|(word, _)| word.as_str()).unwrap_or_default();
        if first != "SELECT" && first != "WITH" {
            return Err(StatementError::NotASelect(first.to_owned()));
        }
        for (word, called) in &scan.words {
            if WRITING.contains(&word.as_str()) && !(word == "REPLACE" && *called) {
                return Err(StatementError::Writes(word.clone()));
            }
        }
        Ok(Self { text: scan.out, parameters: scan.names })
    }

    /// The names of the parameters.
    pub fn parameters(&self) -> impl Iterator<Item = &str> {
        self.parameters.iter().map(String::as_str)
    }
}

/// Walks over a statement: quotes and comments are passed over, `:name` becomes `?N`.
struct Scan<'a> {
    rest: &'a str,
    out: String,
    /// Bare words in capitals, and whether a bracket follows.
    words: Vec<(String, bool)>,
    names: Vec<String>,
}

impl Scan<'_> {
    fn step(&mut self) -> Result<(), StatementError> {
        let Some(next) = self.rest.chars().next() else { return Ok(()) };
        match next {
            '\'' | '"' | '`' => self.quoted(next),
            '[' => self.until("]", "a [name"),
            '-' if self.rest.starts_with("--") => {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                self.rest = &self.rest[end..];
                Ok(())
            }
            '/' if self.rest.starts_with("/*") => {
                let end = self.rest.find("*/").ok_or(StatementError::Unclosed("a /* comment"))?;
                self.out.push(' ');
                self.rest = &self.rest[end + 2..];
                Ok(())
            }
            ';' => {
                let after = &self.rest[1..];
                self.rest = "";
                if after.trim().is_empty() { Ok(()) } else { Err(StatementError::Several) }
            }
            ':' => self.parameter(),
            '?' | '$' | '@' => Err(StatementError::Parameter(next)),
            _ if is_word(next) => {
                self.word();
                Ok(())
            }
            other => {
                self.out.push(other);
                self.rest = &self.rest[other.len_utf8()..];
                Ok(())
            }
        }
    }

    fn quoted(&mut self, quote: char) -> Result<(), StatementError> {
        let inside = &self.rest[1..];
        let mut end = None;
        let mut chars = inside.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            if c == quote {
                // a quote twice stands for itself
                if chars.next_if(|(_, next)| *next == quote).is_none() {
                    end = Some(at + 2);
                    break;
                }
            }
        }
        let end = end.ok_or(StatementError::Unclosed("a quote"))?;
        self.out.push_str(&self.rest[..end]);
        self.rest = &self.rest[end..];
        Ok(())
    }

    fn until(&mut self, end: &str, what: &'static str) -> Result<(), StatementError> {
        let at = self.rest.find(end).ok_or(StatementError::Unclosed(what))? + end.len();
        self.out.push_str(&self.rest[..at]);
        self.rest = &self.rest[at..];
        Ok(())
    }

    fn parameter(&mut self) -> Result<(), StatementError> {
        let name = self.rest[1..].chars().take_while(|c| is_word(*c)).collect::<String>();
        if name.is_empty() {
            return Err(StatementError::Parameter(':'));
        }
        self.rest = &self.rest[1 + name.len()..];
        let index = self.names.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        });
        self.out.push('?');
        self.out.push_str(&(index + 1).to_string());
        Ok(())
    }

    fn word(&mut self) {
        let end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.words.push((word.to_ascii_uppercase(), rest.trim_start().starts_with('(')));
        self.out.push_str(word);
        self.rest = rest;
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The databases that tools may read, by name.
#[derive(Debug, Default)]
pub struct Databases {
    files: BTreeMap<String, PathBuf>,
    open: Mutex<BTreeMap<String, SqlitePool>>,
}

impl Databases {
    /// Name → SQLite file. A file is opened when a tool first asks.
    pub fn new(files: BTreeMap<String, PathBuf>) -> Self {
        Self { files, open: Mutex::default() }
    }

    async fn pool(&self, name: &str) -> Result<SqlitePool, Failure> {
        let Some(file) = self.files.get(name) else {
            let names = self.files.keys().cloned().collect::<Vec<_>>().join(", ");
            let message = format!("no database {name} in the settings; there are: {names}");
            return Err(Failure::Permanent(message));
        };
        let mut open = self.open.lock().await;
        if let Some(pool) = open.get(name) {
            return Ok(pool.clone());
        }
        let pool = connect(file).await?;
        open.insert(name.to_owned(), pool.clone());
        Ok(pool)
    }

    pub(in crate::tools) async fn run(
        &self,
        config: &SqlConfig,
        timeout: Duration,
        invocation: Invocation<'_>,
    ) -> Result<Value, Failure> {
        let pool = self.pool(&config.database).await?;
        let mut connection = pool.acquire().await.map_err(|error| failure(&error))?;
        let deadline = Instant::now() + timeout;
        connection
            .lock_handle()
            .await
            .map_err(|error| failure(&error))?
            .set_progress_handler(STEPS_BETWEEN_LOOKS, move || Instant::now() < deadline);
        let arguments = bind(&config.statement, invocation)?;
        // the statement was read by `Statement::read`: one SELECT, arguments bound, never pasted
        let text = sqlx::AssertSqlSafe(config.statement.text.clone());
        let mut rows = sqlx::query_with(text, arguments).fetch(&mut *connection);
        collect(&mut rows, config.row_limit).await
    }
}

async fn collect(
    rows: &mut (impl Stream<Item = Result<SqliteRow, sqlx::Error>> + Unpin),
    row_limit: usize,
) -> Result<Value, Failure> {
    let mut found = Vec::new();
    let mut bytes = 0;
    let mut truncated = false;
    while let Some(row) = rows.try_next().await.map_err(|error| failure(&error))? {
        if found.len() == row_limit || bytes > MAX_RESULT_BYTES {
            truncated = true;
            break;
        }
        let row = as_object(&row, &mut bytes)?;
        found.push(Value::Object(row));
    }
    Ok(json!({ "row_count": found.len(), "rows": found, "truncated": truncated }))
}

async fn connect(file: &Path) -> Result<SqlitePool, Failure> {
    let options = SqliteConnectOptions::new()
        .filename(file)
        .read_only(true)
        .create_if_missing(false)
        .pragma("query_only", "ON")
        .pragma("trusted_schema", "OFF");
    SqlitePoolOptions::new()
        .max_connections(MAX_CONNECTIONS)
        .acquire_timeout(Duration::from_secs(5))
        .connect_with(options)
        .await
        .map_err(|error| Failure::Transient(format!("cannot open {}: {error}", file.display())))
}

fn bind(statement: &Statement, invocation: Invocation<'_>) -> Result<SqliteArguments, Failure> {
    let mut arguments = SqliteArguments::default();
    for name in statement.parameters() {
        let added = match invocation.arguments.get(name) {
            None | Some(Value::Null) => arguments.add(None::<String>),
            Some(Value::Bool(flag)) => arguments.add(*flag),
            Some(Value::String(text)) => arguments.add(text.clone()),
            Some(Value::Number(number)) => match number.as_i64() {
                Some(whole) => arguments.add(whole),
                None => arguments.add(number.as_f64()),
            },
            Some(list @ (Value::Array(_) | Value::Object(_))) => arguments.add(list.to_string()),
        };
        added.map_err(|error| Failure::Permanent(format!("{name}: {error}")))?;
    }
    Ok(arguments)
}

fn as_object(row: &SqliteRow, bytes: &mut usize) -> Result<Map<String, Value>, Failure> {
    let mut object = Map::new();
    for (index, column) in row.columns().iter().enumerate() {
        let kind = {
            let raw = row.try_get_raw(index).map_err(|error| failure(&error))?;
            if raw.is_null() { "NULL".to_owned() } else { raw.type_info().name().to_owned() }
        };
        let value = match kind.as_str() {
            "NULL" => Value::Null,
            "INTEGER" | "BOOLEAN" => {
                row.try_get_unchecked::<i64, _>(index).map_err(|error| failure(&error))?.into()
            }
            "REAL" => {
                row.try_get_unchecked::<f64, _>(index).map_err(|error| failure(&error))?.into()
            }
            "BLOB" => {
                let blob: Vec<u8> =
                    row.try_get_unchecked(index).map_err(|error| failure(&error))?;
                format!("(binary, {} bytes)", blob.len()).into()
            }
            _ => row.try_get_unchecked::<String, _>(index).map_err(|error| failure(&error))?.into(),
        };
        *bytes += value.as_str().map_or(8, str::len);
        object.insert(column.name().to_owned(), value);
    }
    Ok(object)
}

/// A locked database and an interrupted statement may do better the next time; wrong SQL and a
/// refused write never will.
fn failure(error: &sqlx::Error) -> Failure {
    let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
    let primary = code.as_deref().and_then(|code| code.parse::<u32>().ok()).map(|code| code & 0xff);
    // SQLite result codes: 5 BUSY, 6 LOCKED, 8 READONLY, 9 INTERRUPT
    match primary {
        Some(9) => Failure::Permanent("the statement ran longer than allowed".to_owned()),
        Some(8) => Failure::Permanent("refused: the database is open for reading only".to_owned()),
        Some(5 | 6) | None => Failure::Transient(error.to_string()),
        Some(_) => Failure::Permanent(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn refusal(text: &str) -> StatementError {
        Statement::read(text).expect_err("refused")
    }

    /// R-TOOL-6
    #[test]
    fn a_statement_that_writes_is_refused_when_it_is_read() {
        for text in [
            "DELETE FROM t",
            "with x as (select 1) INSERT INTO t SELECT * FROM x",
            "SELECT 1; DROP TABLE t",
            "WITH x AS (SELECT 1) DELETE FROM t WHERE 1",
            "ATTACH DATABASE 'x' AS y",
            "PRAGMA query_only = OFF",
            "select 1 /* */ ; /* */ update t set a = 1",
            "",
        ] {
            assert!(Statement::read(text).is_err(), "{text}");
        }
        assert_eq!(
            refusal("WITH a AS (SELECT 1) UPDATE t SET b=1"),
            StatementError::Writes("UPDATE".into())
        );
    }

    #[test]
    fn words_in_quotes_comments_and_functions_do_not_write() {
        let text =
            "SELECT replace(a, 'DELETE', \"update\"), [drop] -- insert\n FROM t /* alter */;";
        assert!(Statement::read(text).is_ok(), "{:?}", Statement::read(text));
    }

    #[test]
    fn named_parameters_become_numbered_ones() {
        let statement = Statement::read("SELECT ':x', a FROM t WHERE b = :b AND c = :c OR d = :b");
        let statement = statement.expect("statement");
        assert_eq!(statement.text, "SELECT ':x', a FROM t WHERE b = ?1 AND c = ?2 OR d = ?1");
        assert_eq!(statement.parameters().collect::<Vec<_>>(), ["b", "c"]);
        assert_eq!(refusal("SELECT ?"), StatementError::Parameter('?'));
        assert_eq!(refusal("SELECT 'a"), StatementError::Unclosed("a quote"));
    }

    proptest! {
        #[test]
        fn arbitrary_statements_never_panic(text in "\\PC{0,120}|(SELECT|WITH|'|\"|;|:a|--|/\\*|\\*/|\\[|\\]| ){0,30}") {
            let _read = Statement::read(&text);
        }
    }
}
