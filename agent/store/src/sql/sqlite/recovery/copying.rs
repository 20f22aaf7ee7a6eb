//! The copy of one table of a damaged store into a new one, around the pages that cannot be read.
//!
//! Invariant: the copy ends, whatever the damaged pages hold; row numbers that bound it were read
//! themselves.

use sqlx::{AssertSqlSafe, SqliteConnection};

/// Rows of the first part that is tried.
const RANGE: i64 = 4096;

/// Most damaged places that are passed in one table; chosen so that a recovery ends.
const TRIES: u32 = 100_000;

/// Longest gap of row numbers whose rows are counted one by one. Chosen: a page holds fewer rows.
const DENSE: u64 = 1000;

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
    /// Creates the copy of a table, with nothing copied yet.
    pub(super) fn new(
        connection: &'c mut SqliteConnection,
        name: String,
        columns: Vec<String>,
    ) -> Self {
        Self { connection, name, columns, rows: 0, unreadable: 0 }
    }

    /// Copies the rows that `rest` selects; returns their number, `None` if some of them cannot be
    /// read.
    async fn part(&mut self, rest: &str) -> Option<u64> {
        let Self { name, columns, .. } = &self;
        let columns = columns.join(", ");
        let sql = format!(
            "INSERT OR REPLACE INTO main.{name} ({columns}) SELECT {columns} FROM damaged.{name} \
             {rest}"
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

    /// Copies rows from one end on. Returns `None` if there is no damage on this way, else the
    /// number of the last row before the damage, which is `None` if the first row cannot be read.
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

    /// Copies what is between two rows that were read: behind each damaged place from the first row
    /// on that can be read. Numbers may lie far apart (the letters' are fingerprints), so places
    /// are sought and not counted.
    async fn between(&mut self, low: i64, high: i64) {
        let mut last = low;
        for _ in 0..TRIES {
            let Some(from) = self.readable_from(last, high).await else { return };
            self.unreadable += lost_between(last, from);
            if from >= high {
                return;
            }
            last = self.on_from(from, high).await;
        }
        self.unreadable += 1;
    }

    /// The first number behind `bad` from which on a row can be found, at most `high`, which was
    /// read.
    async fn readable_from(&mut self, bad: i64, high: i64) -> Option<i64> {
        let (mut bad, mut good, mut step) = (bad, bad.checked_add(1)?, 1_i64);
        while good < high && !self.is_readable(good).await {
            (bad, good, step) = (good, good.saturating_add(step).min(high), step.saturating_mul(2));
        }
        while good.abs_diff(bad) > 1 {
            let middle = bad.saturating_add_unsigned(good.abs_diff(bad) / 2);
            if self.is_readable(middle).await {
                good = middle;
            } else {
                bad = middle;
            }
        }
        Some(good)
    }

    /// Whether the first row from a number on can be found.
    async fn is_readable(&mut self, from: i64) -> bool {
        let name = &self.name;
        let sql = format!(
            "SELECT rowid FROM damaged.{name} WHERE rowid >= {from} ORDER BY rowid LIMIT 1"
        );
        self.number(sql).await.is_some()
    }

    /// Copies from a number on up to the next damage or `high`; the number behind which the damage
    /// is.
    async fn on_from(&mut self, from: i64, high: i64) -> i64 {
        let (mut last, mut next) = (from.saturating_sub(1), RANGE);
        while next > 0 {
            let rest =
                format!("WHERE rowid > {last} AND rowid < {high} ORDER BY rowid LIMIT {next}");
            let Some(rows) = self.part(&rest).await else {
                next /= 2;
                continue;
            };
            self.rows += rows;
            if rows < next.unsigned_abs() {
                return high.saturating_sub(1);
            }
            let sql = format!("SELECT rowid FROM damaged.{} {rest} OFFSET {}", self.name, next - 1);
            match self.number(sql).await {
                Some(number) => last = number,
                None => break,
            }
        }
        if last < from {
            // a row that is found and cannot be copied is passed over
            self.unreadable += 1;
            return from;
        }
        last
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

/// Rows between two row numbers where these are dense; where they lie far apart, one at least.
fn lost_between(last: i64, from: i64) -> u64 {
    match from.abs_diff(last).saturating_sub(1) {
        dense @ 0..=DENSE => dense,
        _ => 1,
    }
}
