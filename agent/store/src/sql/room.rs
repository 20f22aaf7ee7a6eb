//! Measures the room that the store takes, and makes room from a gateway's windows: the least
//! missed rows go first.
//!
//! SQLite counts its pages: those of deleted rows are on its free list and are used again, so what
//! is in use falls with each amount, and the file stays as large as it has been. PostgreSQL keeps
//! the room of deleted rows inside its tables and does not tell how much that is without an
//! extension. What is in use there is estimated: rows alive by its statistics times the size of the
//! newest ones.

use std::sync::LazyLock;

use pdm_shared::id::{EventId, GatewayId, GatewayKey, SiteId};
use uuid::Uuid;

use super::retention::drop_what_hangs_on;
use crate::database::{Connection, Dialect, Identities, Row, Session, Spelt};
use crate::outbox::OutboxState;
use crate::{GatewayPart, RoomMade, StoreError, StoreSize, log};

/// Bytes in use, bytes held, bytes of a window where those in use are estimated. Estimated are the
/// tables whose rows are deleted here; of the others everything that they hold is in use.
static SIZE: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|dialect| match dialect {
        Dialect::Sqlite => "SELECT (page_count - freelist_count) * page_size, page_count * \
            page_size, 0
             FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()"
            .to_owned(),
        Dialect::Postgres => "WITH own AS (
                 SELECT class.oid, class.relname::text AS name,
                        pg_total_relation_size(class.oid) AS held,
                        CASE WHEN class.relname = 'pdm_agent_memory' THEN 'judgement'
                             WHEN class.relname = 'trace_steps' THEN 'step'
                             WHEN class.relispartition THEN 'event' END AS rows_of,
                        greatest(pg_stat_get_live_tuples(class.oid), 0) AS alive
                 FROM pg_class AS class
                 WHERE class.relkind = 'r' AND class.relnamespace = \
            to_regnamespace(current_schema()::text)),
             bytes (rows_of, each) AS (
                 SELECT 'event', (SELECT avg(pg_column_size(payload)) + 700 FROM (
                     SELECT payload FROM events ORDER BY event_id DESC LIMIT 100) AS newest)
                 UNION ALL
                 SELECT 'judgement', (SELECT avg(pg_column_size(newest.*)) + 300 FROM (
                     SELECT diagnosis, rul_assessment, recommendation_ko, recommendation_en,
                            uncertainty, tool_use, follow_up_actions
                     FROM pdm_agent_memory ORDER BY id DESC LIMIT 100) AS newest)
                 UNION ALL
                 SELECT 'step', (SELECT avg(pg_column_size(detail)) + 150 FROM (
                     SELECT detail FROM trace_steps LIMIT 100) AS sampled))
             SELECT coalesce(sum(CASE WHEN own.rows_of IS NULL THEN held
                                      ELSE least(held, alive * coalesce(each, 0)) END), 0)::bigint,
                    coalesce(sum(held), 0)::bigint,
                    (SELECT coalesce(sum(each), 0)::bigint FROM bytes WHERE rows_of <> 'step')
             FROM own LEFT JOIN bytes ON bytes.rows_of = own.rows_of"
            .to_owned(),
    })
});

/// Windows and bytes by gateway. The length of a text in bytes is read without the text.
const PARTS: &str = "SELECT site, gateway_id, count(*), CAST(sum(octet_length(payload)) AS BIGINT)
     FROM events GROUP BY site, gateway_id ORDER BY 4 DESC, 1, 2";

/// Parameters: after, limit, site, gateway.
static SPECTRA: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|dialect| {
        let judged = match dialect {
            Dialect::Sqlite => "judged = 1",
            Dialect::Postgres => {
                "NOT EXISTS (SELECT 1 FROM events_unjudged AS waiting
                             WHERE waiting.event_id = old.event_id)"
            }
        };
        format!(
            "SELECT event_id, payload FROM events AS old
             WHERE event_id > $1 AND site = $3 AND gateway_id = $4 AND {judged}
             ORDER BY event_id LIMIT $2"
        )
    })
});

/// Parameters: payload, event.
const WITHOUT_SPECTRA: &str = "UPDATE events SET payload = $1 WHERE event_id = $2";

/// Parameters: limit, site, gateway. Judgements of its windows that may go, the oldest first.
fn windows(of_level: &str) -> Spelt {
    let waiting = OutboxState::Waiting;
    Spelt::each(|_| {
        format!(
            "DELETE FROM pdm_agent_memory WHERE id IN (
                 SELECT id FROM pdm_agent_memory
                 WHERE {of_level}
                   event_id NOT IN (SELECT judgement_of FROM outbox
                                    WHERE state = '{waiting}' AND judgement_of IS NOT NULL)
                   AND event_id NOT IN (SELECT last_event_id FROM bearings
                                        WHERE last_event_id IS NOT NULL)
                   AND event_id NOT IN (SELECT event_id FROM checkpoints)
                   AND EXISTS (SELECT 1 FROM events AS one
                               WHERE one.event_id = pdm_agent_memory.event_id
                                 AND one.site = $2 AND one.gateway_id = $3)
                 ORDER BY id LIMIT $1)
             RETURNING event_id"
        )
    })
}

static NORMAL_WINDOWS: LazyLock<Spelt> = LazyLock::new(|| windows("risk_level = 'Normal' AND"));
static OTHER_WINDOWS: LazyLock<Spelt> = LazyLock::new(|| windows("risk_level <> 'Normal' AND"));

/// Parameter: events.
static DROP_EVENTS: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|dialect| {
        format!("DELETE FROM events WHERE event_id {}", dialect.in_identities("$1"))
    })
});

pub(super) async fn size(reader: &mut Session) -> Result<StoreSize, StoreError> {
    let row = reader.query(&SIZE).fetch_one().await?;
    let bytes = |column: usize| row.get::<i64>(column).map(i64::unsigned_abs);
    Ok(StoreSize { used_bytes: bytes(0)?, held_bytes: bytes(1)?, window_bytes: bytes(2)? })
}

/// Returns how much the windows of each gateway take, the one with the most bytes first.
pub(super) async fn parts(reader: &mut Session) -> Result<Vec<GatewayPart>, StoreError> {
    let rows = reader.query(PARTS).fetch_all().await?;
    let part = |row: &Row| {
        let gateway =
            GatewayKey::new(SiteId::from_any(row.get(0)?), GatewayId::from_any(row.get(1)?));
        let (windows, bytes): (i64, i64) = (row.get(2)?, row.get(3)?);
        Ok(GatewayPart { gateway, windows: windows.unsigned_abs(), bytes: bytes.unsigned_abs() })
    };
    rows.iter().map(part).collect()
}

/// Takes the spectra out of the gateway's next judged windows behind `after`.
pub(super) async fn drop_spectra(
    connection: &mut Connection<'_>,
    gateway: &GatewayKey,
    after: Option<EventId>,
    limit: u32,
) -> Result<RoomMade, StoreError> {
    let after = after.map_or(Uuid::nil(), |event| event.0);
    let query = connection.query(&SPECTRA).bind(after).bind(i64::from(limit));
    let query = query.bind_gateway(gateway);
    let rows = query.fetch_all().await?;
    let mut made = RoomMade { looked_at: rows.len() as u64, ..RoomMade::default() };
    for row in &rows {
        let event: Uuid = row.get("event_id")?;
        made.through = Some(EventId(event));
        let Some(payload) = without_spectra(row)? else { continue };
        connection.query(WITHOUT_SPECTRA).bind(payload).bind(event).execute().await?;
        made.windows += 1;
    }
    Ok(made)
}

/// Returns the text of an event without its spectra; `None` if it has no spectra, or cannot be
/// read.
fn without_spectra(row: &Row) -> Result<Option<String>, StoreError> {
    let text: &str = row.get("payload")?;
    if !text.contains("\"spectra\"") {
        return Ok(None);
    }
    let mut event: serde_json::Value = match serde_json::from_str(text) {
        Ok(event) => event,
        Err(error) => {
            let reason = error.to_string();
            log::row_left_out(&StoreError::Content { what: "an event", reason });
            return Ok(None);
        }
    };
    let spectra = event.as_object_mut().and_then(|event| event.remove("spectra"));
    Ok(spectra.filter(|spectra| !spectra.is_null()).map(|_| event.to_string()))
}

/// Deletes the gateway's oldest judged windows of a kind, with their judgements and what hangs on
/// them.
pub(super) async fn drop_windows(
    connection: &mut Connection<'_>,
    is_normal: bool,
    gateway: &GatewayKey,
    limit: u32,
) -> Result<RoomMade, StoreError> {
    let statement = if is_normal { &NORMAL_WINDOWS } else { &OTHER_WINDOWS };
    let query = connection.query(statement).bind(i64::from(limit)).bind_gateway(gateway);
    let rows = query.fetch_all().await?;
    let events = rows.iter().map(|row| row.get(0).map(EventId));
    let events = events.collect::<Result<Vec<EventId>, StoreError>>()?;
    drop_what_hangs_on(connection, &events).await?;
    let of_events: Identities = events.iter().collect();
    connection.query(&DROP_EVENTS).bind(of_events).execute().await?;
    let windows = events.len() as u64;
    Ok(RoomMade { windows, looked_at: windows, through: None })
}
