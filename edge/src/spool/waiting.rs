//! Reading waiting rows with few wake-ups and little memory.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use pdm_shared::id::BearingKey;
use pdm_shared::topic::{BearingTopic, Topic};
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use super::{Lane, Row, Spool, SpoolError, log};

/// Waiting rows, those of [`PIECE`] numbers in ONE value. The driver passes each value through a
/// channel, and a wake-up for each row would cost more than reading the row. Each row is written as
/// six numbers and then the four texts whose lengths are the last four numbers.
const WAITING: &str = "WITH RECURSIVE piece (first) AS (
         SELECT min(sequence) FROM delivery WHERE state = 0 AND sequence >= ?1 AND sequence < ?2
         UNION ALL
         SELECT (SELECT min(sequence) FROM delivery
                 WHERE state = 0 AND sequence >= piece.first + ?3 AND sequence < ?2)
         FROM piece WHERE piece.first IS NOT NULL
         LIMIT ?4)
     SELECT (SELECT CAST(group_concat(line, '') AS BLOB) FROM (
         SELECT concat_ws(' ', sequence, event.spooled_ms, octet_length(site), \
    octet_length(equipment),
                          octet_length(bearing), octet_length(payload), '')
                || site || equipment || bearing || CAST(payload AS TEXT) AS line
         FROM delivery CROSS JOIN event USING (sequence)
         WHERE state = 0 AND sequence >= piece.first AND sequence < min(piece.first + ?3, ?2)
         ORDER BY sequence))
     FROM piece WHERE piece.first IS NOT NULL";

/// Sequence numbers in one value. With 8 and 16 the benchmarks `memory` and `delivery` (`cargo
/// bench -p pdm-edge`) showed no less memory; a value of a whole flight is copied again whenever it
/// grows.
const PIECE: usize = 32;

impl Spool {
    /// The next waiting rows of a lane, oldest first, at most `limit`. There are fewer if some
    /// numbers between them do not wait any more.
    ///
    /// # Errors
    /// [`SpoolError`] if the file cannot be read.
    pub async fn waiting(&self, lane: Lane, limit: usize) -> Result<Vec<Row>, SpoolError> {
        loop {
            let (rows, unreadable) = self.read_waiting(lane, limit).await?;
            for &sequence in &unreadable {
                // an unreadable row is parked, so that the rows behind it can be sent
                log::row_not_readable(sequence);
                self.park(sequence).await?;
            }
            if !rows.is_empty() || unreadable.is_empty() {
                return Ok(rows);
            }
        }
    }

    /// Readable rows, and the numbers of the unreadable ones.
    async fn read_waiting(
        &self,
        lane: Lane,
        limit: usize,
    ) -> Result<(Vec<Row>, Vec<u64>), SpoolError> {
        let files = self.files();
        let failed = |source| files.failed(source);
        let integer = |number: u64| number.min(i64::MAX as u64).cast_signed();
        let piece = limit.clamp(1, PIECE);
        let mut values = sqlx::query(WAITING)
            .bind(integer(lane.first))
            .bind(integer(lane.end))
            .bind(integer(piece as u64))
            .bind(integer((limit / piece) as u64))
            .fetch(&files.reader);
        let (mut rows, mut unreadable) = (Vec::new(), Vec::new());
        while let Some(value) = values.try_next().await.map_err(failed)? {
            let piece = Bytes::from_owner(Piece(value));
            let mut topics = Topics::default();
            let mut rest: &[u8] = &piece;
            while !rest.is_empty() {
                let Some((row, after)) = next_row(rest) else {
                    return Err(files.damaged("waiting rows cannot be told apart"));
                };
                rest = after;
                match topics.of(row.names) {
                    Some(topic) => rows.push(Row {
                        sequence: row.sequence,
                        spooled_ms: row.spooled_ms,
                        topic,
                        payload: piece.slice_ref(row.payload),
                    }),
                    None => unreadable.push(row.sequence),
                }
            }
        }
        Ok((rows, unreadable))
    }
}

/// A value of [`WAITING`] in the driver's own buffer. Its rows share the buffer without copying.
struct Piece(SqliteRow);

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        // NULL if the numbers have no event any more; the piece then holds no rows
        self.0.try_get(0).unwrap_or_default()
    }
}

/// The fields of one row of [`WAITING`] as bytes.
struct RowBytes<'a> {
    sequence: u64,
    spooled_ms: i64,
    names: [&'a [u8]; 3],
    payload: &'a [u8],
}

/// Splits off the next row; `None` if its numbers or lengths do not fit.
fn next_row(rows: &[u8]) -> Option<(RowBytes<'_>, &[u8])> {
    let mut parts = rows.splitn(7, |&byte| byte == b' ');
    let mut number = || std::str::from_utf8(parts.next()?).ok();
    let (sequence, spooled_ms) = (number()?.parse().ok()?, number()?.parse().ok()?);
    let lengths = [number()?, number()?, number()?, number()?];
    let mut rest = parts.next()?;
    let mut piece = |length: &str| {
        let (piece, after) = rest.split_at_checked(length.parse().ok()?)?;
        rest = after;
        Some(piece)
    };
    let names = [piece(lengths[0])?, piece(lengths[1])?, piece(lengths[2])?];
    let payload = piece(lengths[3])?;
    Some((RowBytes { sequence, spooled_ms, names, payload }, rest))
}

/// The topics of a piece's rows, each built once: the rows come from few bearings.
#[derive(Default)]
struct Topics<'a> {
    known: Vec<([&'a [u8]; 3], Arc<Topic>)>,
}

impl<'a> Topics<'a> {
    /// The topic of events of this site, machine and bearing; `None` if one is not a valid name.
    fn of(&mut self, names: [&'a [u8]; 3]) -> Option<Arc<Topic>> {
        if let Some((_, topic)) = self.known.iter().find(|(known, _)| *known == names) {
            return Some(Arc::clone(topic));
        }
        let [site, equipment, bearing] = names;
        let text = |name| std::str::from_utf8(name).ok();
        let topic = Arc::new(Topic::Bearing {
            key: BearingKey::parse(text(site)?, text(equipment)?, text(bearing)?).ok()?,
            what: BearingTopic::Event,
        });
        self.known.push((names, Arc::clone(&topic)));
        Some(topic)
    }
}
