//! What the publisher asks of the spool: what to send next, and what the broker has taken.

use pdm_shared::id::EventId;
use pdm_shared::topic::{BearingTopic, Topic};
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use super::{BearingState, Lane, Row, Spool, SpoolError};

/// Most pages given back to the file system after a deletion; bounds the time it takes.
const VACUUM: &str = "PRAGMA incremental_vacuum(64)";

/// Waiting rows as ONE value: the driver hands every row over on its own, and the wake-ups cost
/// more than the reading. Each row is seven numbers and then what four of them are the lengths of.
const WAITING: &str = "SELECT CAST(group_concat(line, '') AS BLOB) FROM (
     SELECT concat_ws(' ', sequence, hex(event_id), event.spooled_ms, octet_length(site),
                      octet_length(equipment), octet_length(bearing), octet_length(payload), '')
            || site || equipment || bearing || CAST(payload AS TEXT) AS line
     FROM delivery CROSS JOIN event USING (sequence)
     WHERE state = 0 AND sequence >= ? AND sequence < ? ORDER BY sequence LIMIT ?)";

impl Spool {
    /// The next waiting rows of a lane, oldest first, at most `limit`.
    ///
    /// # Errors
    /// [`SpoolError`] if the file cannot be read.
    pub async fn waiting(&self, lane: Lane, limit: usize) -> Result<Vec<Row>, SpoolError> {
        let files = self.files();
        // read where the driver has it: it is copied into the rows, and that is enough
        let one = sqlx::query(WAITING)
            .bind(lane.first.min(i64::MAX as u64).cast_signed())
            .bind(lane.end.min(i64::MAX as u64).cast_signed())
            .bind(i64::try_from(limit).unwrap_or(i64::MAX))
            .fetch_one(&files.reader)
            .await
            .map_err(|source| files.failed(source))?;
        let text: Option<&[u8]> = one.try_get(0).map_err(|source| files.failed(source))?;
        let mut rest = text.unwrap_or_default();
        let mut rows = Vec::with_capacity(limit.min(256));
        while !rest.is_empty() {
            let Some((line, after)) = next_line(rest) else {
                return Err(files.damaged("waiting rows cannot be told apart"));
            };
            rest = after;
            if let Some(row) = read_line(&line) {
                rows.push(row);
            } else {
                // one bad row must not hold the others up
                crate::event_log::row_not_readable(line.sequence);
                self.park(line.sequence).await?;
            }
        }
        Ok(rows)
    }

    /// Marks rows as taken by the broker; those that a receipt covers already are deleted.
    ///
    /// # Errors
    /// [`SpoolError`]; the rows are then still waiting and are sent again, which changes nothing.
    pub async fn acknowledge(&self, sequences: &[u64]) -> Result<(), SpoolError> {
        if sequences.is_empty() {
            return Ok(());
        }
        let files = self.files();
        let failed = |source| files.failed(source);
        let list = json_list(sequences);
        let mut tx = files.writer.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
        let gone = if self.inner.settings.await_receipt {
            "DELETE FROM delivery WHERE sequence IN (SELECT value FROM json_each(?))
                 AND sequence <= (SELECT stored_through FROM gateway)"
        } else {
            "DELETE FROM delivery WHERE sequence IN (SELECT value FROM json_each(?))"
        };
        sqlx::query(gone).bind(&list).execute(&mut *tx).await.map_err(failed)?;
        sqlx::query(
            "UPDATE delivery SET state = 1 WHERE sequence IN (SELECT value FROM json_each(?))",
        )
        .bind(&list)
        .execute(&mut *tx)
        .await
        .map_err(failed)?;
        tx.commit().await.map_err(failed)?;
        self.refresh().await;
        Ok(())
    }

    /// Sets a row aside that no broker of this configuration can take.
    ///
    /// # Errors
    /// [`SpoolError`] if the file cannot be written.
    pub async fn park(&self, sequence: u64) -> Result<(), SpoolError> {
        let files = self.files();
        sqlx::query("UPDATE delivery SET state = 2 WHERE sequence = ?")
            .bind(sequence.cast_signed())
            .execute(&files.writer)
            .await
            .map_err(|source| files.failed(source))?;
        self.refresh().await;
        Ok(())
    }

    /// The short form of the last event of each bearing whose number is at least `first`.
    ///
    /// # Errors
    /// [`SpoolError`] if the file cannot be read.
    pub async fn states_from(&self, first: u64) -> Result<Vec<BearingState>, SpoolError> {
        let files = self.files();
        let rows = sqlx::query(
            "SELECT site, equipment, bearing, sequence, payload FROM bearing_state
             WHERE sequence >= ? ORDER BY sequence",
        )
        .bind(first.cast_signed())
        .fetch_all(&files.reader)
        .await
        .map_err(|source| files.failed(source))?;
        rows.iter().map(read_state).collect::<Result<_, _>>().map_err(|source| files.failed(source))
    }

    /// Gives some of the room that deleted rows left back to the file system.
    ///
    /// # Errors
    /// [`SpoolError`] if the file cannot be written.
    pub async fn give_room_back(&self) -> Result<(), SpoolError> {
        let files = self.files();
        sqlx::query(VACUUM)
            .execute(&files.writer)
            .await
            .map(|_done| ())
            .map_err(|source| files.failed(source))
    }
}

pub(super) fn json_list(sequences: &[u64]) -> String {
    let numbers: Vec<String> = sequences.iter().map(u64::to_string).collect();
    format!("[{}]", numbers.join(","))
}

fn name<T: std::str::FromStr>(row: &SqliteRow, column: &'static str) -> Result<T, sqlx::Error>
where
    T::Err: std::error::Error + Send + Sync + 'static,
{
    row.try_get::<&str, _>(column)?
        .parse()
        .map_err(|error: T::Err| sqlx::Error::Decode(Box::new(error)))
}

/// One row of [`WAITING`], not understood yet.
struct Line<'a> {
    sequence: u64,
    event_id: &'a str,
    spooled_ms: i64,
    names: [&'a [u8]; 3],
    payload: &'a [u8],
}

/// Splits the next row off.
fn next_line(lines: &[u8]) -> Option<(Line<'_>, &[u8])> {
    let mut parts = lines.splitn(8, |&byte| byte == b' ');
    let mut number = || std::str::from_utf8(parts.next()?).ok();
    let (sequence, event_id) = (number()?.parse().ok()?, number()?);
    let spooled_ms = number()?.parse().ok()?;
    let lengths = [number()?, number()?, number()?, number()?];
    let mut rest = parts.next()?;
    let mut piece = |length: &str| {
        let (piece, after) = rest.split_at_checked(length.parse().ok()?)?;
        rest = after;
        Some(piece)
    };
    let names = [piece(lengths[0])?, piece(lengths[1])?, piece(lengths[2])?];
    let payload = piece(lengths[3])?;
    Some((Line { sequence, event_id, spooled_ms, names, payload }, rest))
}

fn read_line(line: &Line<'_>) -> Option<Row> {
    let [site, equipment, bearing] = line.names;
    let text = |name| std::str::from_utf8(name).ok();
    Some(Row {
        sequence: line.sequence,
        event_id: EventId(uuid::Uuid::try_parse(line.event_id).ok()?),
        spooled_ms: line.spooled_ms,
        site: text(site)?.parse().ok()?,
        equipment: text(equipment)?.parse().ok()?,
        bearing: text(bearing)?.parse().ok()?,
        payload: line.payload.to_vec(),
    })
}

pub(super) fn read_row(row: &SqliteRow) -> Result<Row, sqlx::Error> {
    let id: &[u8] = row.try_get("event_id")?;
    let id = uuid::Uuid::from_slice(id).map_err(|error| sqlx::Error::Decode(Box::new(error)))?;
    Ok(Row {
        sequence: row.try_get::<i64, _>("sequence")?.unsigned_abs(),
        event_id: EventId(id),
        spooled_ms: row.try_get("spooled_ms")?,
        site: name(row, "site")?,
        equipment: name(row, "equipment")?,
        bearing: name(row, "bearing")?,
        payload: row.try_get("payload")?,
    })
}

fn read_state(row: &SqliteRow) -> Result<BearingState, sqlx::Error> {
    Ok(BearingState {
        sequence: row.try_get::<i64, _>("sequence")?.unsigned_abs(),
        topic: Topic::Bearing {
            site: name(row, "site")?,
            equipment: name(row, "equipment")?,
            bearing: name(row, "bearing")?,
            what: BearingTopic::State,
        },
        payload: row.try_get("payload")?,
    })
}
