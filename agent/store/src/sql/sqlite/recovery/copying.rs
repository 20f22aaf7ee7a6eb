//! The copy of one table of a damaged store into a new one, around the pages that cannot be read.
//!
//! Invariant: the copy ends, whatever the damaged pages hold; row numbers that bound it were read themselves.

use sqlx::{AssertSqlSafe, SqliteConnection};

/// Rows of the first part that is tried.
const RANGE: i64 = 4096;

/// Most ranges of row numbers that are tried in one table; chosen so that a recovery ends.
const TRIES: u32 = 1_000_000;

/// The copy of one table. Names come from this program's own schema.
pub(super) struct Copy<'c> {
    connection: &'c mut SqliteConnection,
    pub(super) name: String,
    columns: Vec<String>,
    /// Rows that were copied.
    pub(super) rows: u64,
    /// Rows that cannot be read, at least.
    pub(super) unreadable: u64,
}

impl<'c> Copy<'c> {
    /// Nothing copied yet.
    pub(super) fn new(
        connection: &'c mut SqliteConnection,
        name: String,
        columns: Vec<String>,
    ) -> Self {
        Self { connection, name, columns, rows: 0, unreadable: 0 }
    }

    /// Copies what `rest` selects; none if some of it cannot be read.
    async fn part(&mut self, rest: &str) -> Option<u64> {
        let Self { name, columns, .. } = &self;
        let columns = columns.join(", ");
        let sql = format!(
            "INSERT OR REPLACE INTO main.{name} ({columns}) SELECT {columns} FROM damaged.{name} {rest}"
        );
        let done = sqlx::query(AssertSqlSafe(sql)).persistent(false);
        done.execute(&mut *self.connection).await.ok().map(|done| done.rows_affected())
    }

    async fn number(&mut self, sql: String) -> Option<i64> {
        let asked = sqlx::query_scalar::<_, i64>(AssertSqlSafe(sql)).persistent(false);
        asked.fetch_optional(&mut *self.connection).await.ok().flatten()
    }

    /// A table with row numbers: from both ends to where it is damaged, then what is between.
    pub(super) async fn by_numbers(&mut self) {
        if let Some(rows) = self.part("").await {
            self.rows = rows;
            return;
        }
        let Some(first_bad) = self.run("ASC", ">").await else { return };
        let Some(last_bad) = self.run("DESC", "<").await else { return };
        match (first_bad, last_bad) {
            (Some(low), Some(high)) => self.between(low, high).await,
            // where the table ends is not known, so its damaged rows cannot be counted
            _ => self.unreadable += 1,
        }
    }

    /// Copies rows from one end on. The number of the last one before the damage, none if the first cannot be
    /// read; nothing if there is no damage on this way.
    async fn run(&mut self, direction: &str, beyond: &str) -> Option<Option<i64>> {
        let mut last = None;
        let mut next = RANGE;
        while next > 0 {
            let rest = last.map_or(String::new(), |last| format!("WHERE rowid {beyond} {last} "));
            let rest = format!("{rest}ORDER BY rowid {direction} LIMIT {next}");
            let Some(rows) = self.part(&rest).await else {
                next /= 2;
                continue;
            };
            self.rows += rows;
            if rows < next.unsigned_abs() {
                return None;
            }
            let sql = format!("SELECT rowid FROM damaged.{} {rest} OFFSET {}", self.name, next - 1);
            // rows whose place cannot be told any more: the way ends here, as at damage
            let Some(number) = self.number(sql).await else { return Some(last) };
            last = Some(number);
        }
        Some(last)
    }

    /// Halves what is between two rows that were read, down to the rows that cannot be.
    async fn between(&mut self, low: i64, high: i64) {
        let mut ranges = vec![(low.saturating_add(1), high.saturating_sub(1))];
        let mut tries = 0;
        while let Some((from, to)) = ranges.pop() {
            tries += 1;
            if from > to {
                continue;
            }
            if tries <= TRIES
                && let Some(rows) = self.part(&format!("WHERE rowid BETWEEN {from} AND {to}")).await
            {
                self.rows += rows;
            } else if from == to || tries > TRIES {
                self.unreadable += 1;
            } else {
                let middle = from.saturating_add_unsigned(to.abs_diff(from) / 2);
                ranges.push((middle + 1, to));
                ranges.push((from, middle));
            }
        }
    }

    /// A table without row numbers, whose key is its order.
    pub(super) async fn both_ends(&mut self) -> Result<(), sqlx::Error> {
        if let Some(rows) = self.part("").await {
            self.rows = rows;
            return Ok(());
        }
        let keys = "SELECT name FROM pragma_table_info(?, 'main') WHERE pk > 0 ORDER BY pk";
        let keys: Vec<String> =
            sqlx::query_scalar(keys).bind(&self.name).fetch_all(&mut *self.connection).await?;
        for direction in ["ASC", "DESC"] {
            let order: Vec<String> = keys.iter().map(|key| format!("{key} {direction}")).collect();
            let order = format!("ORDER BY {} LIMIT", order.join(", "));
            let (mut good, mut next) = (0_i64, RANGE);
            // doubled while it goes well, then halved down to one row
            while next > 0 {
                match self.part(&format!("{order} {}", good + next)).await {
                    Some(rows) if rows < (good + next).unsigned_abs() => break,
                    Some(_) => good += next,
                    None => next /= 2,
                }
            }
            self.unreadable += 1;
        }
        let count = format!("SELECT count(*) FROM main.{}", self.name);
        let count: i64 =
            sqlx::query_scalar(AssertSqlSafe(count)).fetch_one(&mut *self.connection).await?;
        self.rows = count.unsigned_abs();
        Ok(())
    }
}
