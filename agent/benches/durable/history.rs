//! The store under test: filled with history by the database itself, and the bare client.

use pdm_agent::service::open_store;
use pdm_agent::settings::{StorePlace, StoreSettings};
use pdm_harness::Postgres;
use pdm_service::postgres::PostgresSettings;
use pdm_shared::event::Event;
use sqlx::{AssertSqlSafe, PgPool, QueryBuilder, Sqlite, SqlitePool};
use tempfile::TempDir;
use uuid::Uuid;

/// Rows of one transaction: the agent's own batch.
const BATCH: usize = 512;
/// Rows of one statement of the bare client on SQLite: the agent's own number.
const ROWS: usize = 64;
const BEARINGS: u64 = 40;
// what is measured is storing, not telling: nothing is wrong
const EXAMPLE: &str = include_str!("../../../config/examples/event-healthy.json");

/// Events of one gateway over some bearings, in their order; those of a later time are younger.
pub(crate) fn events(count: u64, gateway: &str, time: u32) -> Vec<Event> {
    let before = count * u64::from(time);
    let example: Event = serde_json::from_str(EXAMPLE).expect("event");
    (1..=count)
        .map(|sequence| {
            let mut event = example.clone();
            event.gateway_id = gateway.parse().expect("a name");
            event.bearing_id = format!("B{}", sequence % BEARINGS).parse().expect("a name");
            event.sequence = sequence;
            event.measured_at = event.measured_at.plus_seconds((before + sequence) as f64);
            event.event_id = pdm_shared::id::EventId::at(event.measured_at.unix_ms());
            event
        })
        .collect()
}

/// A database of its own.
pub(crate) enum BenchPlace {
    Sqlite { folder: TempDir, pool: SqlitePool },
    Postgres { server: Box<Postgres>, folder: TempDir, pool: PgPool },
}

impl BenchPlace {
    pub(crate) async fn new(store: &str) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        if store == "postgres" {
            let server = Box::new(Postgres::start("durable")?);
            let settings = PostgresSettings::at(server.url());
            install(&StoreSettings {
                place: StorePlace::Postgres(Box::new(settings)),
                ..sqlite(&folder)
            })
            .await;
            let pool = PgPool::connect(&server.url()).await.expect("connected");
            Some(Self::Postgres { server, folder, pool })
        } else {
            install(&sqlite(&folder)).await;
            let options = sqlx::sqlite::SqliteConnectOptions::new()
                .filename(folder.path().join("agent.db"))
                .synchronous(sqlx::sqlite::SqliteSynchronous::Full)
                .busy_timeout(std::time::Duration::from_secs(10));
            let pool = SqlitePool::connect_with(options).await.expect("opened");
            Some(Self::Sqlite { folder, pool })
        }
    }

    pub(crate) fn folder(&self) -> &std::path::Path {
        match self {
            Self::Sqlite { folder, .. } | Self::Postgres { folder, .. } => folder.path(),
        }
    }

    /// The section of the agent's configuration.
    pub(crate) fn section(&self) -> String {
        match self {
            Self::Sqlite { .. } => "[store]\nsqlite = \"agent.db\"\n".to_owned(),
            Self::Postgres { server, .. } => {
                format!("[store.postgres]\nurl = \"{}\"\n", server.url())
            }
        }
    }

    /// Makes `rows` events with their judgements, a second apart before the example's time.
    pub(crate) async fn load(&self, rows: u64) {
        if rows == 0 {
            return;
        }
        match self {
            Self::Sqlite { pool, .. } => {
                for statement in [sqlite_events(rows), sqlite_judgements(rows)] {
                    sqlx::raw_sql(AssertSqlSafe(statement)).execute(pool).await.expect("loaded");
                }
                let check = "PRAGMA wal_checkpoint(TRUNCATE)";
                sqlx::raw_sql(check).execute(pool).await.expect("written");
            }
            Self::Postgres { pool, .. } => {
                for statement in [postgres_events(rows), postgres_judgements(rows)] {
                    sqlx::raw_sql(AssertSqlSafe(statement)).execute(pool).await.expect("loaded");
                }
                // one by one: together they would be a transaction
                for statement in ["VACUUM ANALYZE", "CHECKPOINT"] {
                    sqlx::raw_sql(statement).execute(pool).await.expect("tidied");
                }
            }
        }
    }

    /// Frees the bearings of the gateway of an earlier round, which is not the gateway of the next
    /// one.
    pub(crate) async fn release_bearings(&self) {
        const RELEASE: &str = "DELETE FROM bearing_gateways";
        match self {
            Self::Sqlite { pool, .. } => sqlx::raw_sql(RELEASE).execute(pool).await.map(drop),
            Self::Postgres { pool, .. } => sqlx::raw_sql(RELEASE).execute(pool).await.map(drop),
        }
        .expect("released");
    }

    /// The bare client: the same rows, nothing else.
    pub(crate) async fn insert_bare(&self, events: &[Event]) {
        let payloads: Vec<String> =
            events.iter().map(|event| serde_json::to_string(event).expect("json")).collect();
        let rows: Vec<(&Event, &str)> = events
            .iter()
            .zip(&payloads)
            .map(|(event, payload)| (event, payload.as_str()))
            .collect();
        for batch in rows.chunks(BATCH) {
            match self {
                Self::Sqlite { pool, .. } => insert_sqlite(pool, batch).await,
                Self::Postgres { pool, .. } => insert_postgres(pool, batch).await,
            }
        }
    }

    /// Returns how many events of a gateway are stored, and whether no event at all waits for a
    /// judgement. It is called often while the agent works, so it counts nothing.
    pub(crate) async fn progress(&self, gateway: &str) -> (u64, bool) {
        let sql = |waiting: &str| {
            AssertSqlSafe(format!(
                "SELECT coalesce((SELECT highest_sequence FROM gateways WHERE gateway_id = $1), 0),
                        NOT EXISTS (SELECT 1 FROM {waiting})"
            ))
        };
        let (stored, is_judged): (i64, bool) = match self {
            Self::Sqlite { pool, .. } => {
                let sql = sql("events WHERE judged = 0");
                sqlx::query_as(sql).bind(gateway).fetch_one(pool).await.expect("read")
            }
            Self::Postgres { pool, .. } => {
                let sql = sql("events_unjudged");
                sqlx::query_as(sql).bind(gateway).fetch_one(pool).await.expect("read")
            }
        };
        (stored.unsigned_abs(), is_judged)
    }

    /// Whether nothing has still to leave.
    pub(crate) async fn is_sent(&self) -> bool {
        let sql = "SELECT NOT EXISTS (SELECT 1 FROM outbox WHERE state = 'waiting')";
        match self {
            Self::Sqlite { pool, .. } => sqlx::query_scalar(sql).fetch_one(pool).await,
            Self::Postgres { pool, .. } => sqlx::query_scalar(sql).fetch_one(pool).await,
        }
        .expect("read")
    }
}

fn sqlite(folder: &TempDir) -> StoreSettings {
    StoreSettings::sqlite(folder.path().join("agent.db"))
}

async fn install(settings: &StoreSettings) {
    open_store(settings).await.expect("opens").close().await;
}

async fn insert_sqlite(pool: &SqlitePool, batch: &[(&Event, &str)]) {
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await.expect("begun");
    for rows in batch.chunks(ROWS) {
        let mut statement = QueryBuilder::<Sqlite>::new(
            "INSERT INTO events (event_id, gateway_id, sequence, site, equipment_id, bearing_id,
                                 measured_at_ms, received_at_ms, payload, judged) ",
        );
        statement.push_values(rows, |mut row, (event, payload)| {
            row.push_bind(event.event_id.0)
                .push_bind(event.gateway_id.as_str())
                .push_bind(event.sequence.cast_signed())
                .push_bind(event.site.as_str())
                .push_bind(event.equipment_id.as_str())
                .push_bind(event.bearing_id.as_str())
                .push_bind(event.measured_at.unix_ms())
                .push_bind(event.measured_at.unix_ms())
                .push_bind(*payload)
                .push_bind(1_i64);
        });
        let statement = statement.build().persistent(rows.len() == ROWS);
        statement.execute(&mut *transaction).await.expect("inserted");
    }
    transaction.commit().await.expect("committed");
}

async fn insert_postgres(pool: &PgPool, batch: &[(&Event, &str)]) {
    let text = |value: fn(&Event) -> &str| -> Vec<&str> {
        batch.iter().map(|(event, _)| value(event)).collect()
    };
    let times: Vec<i64> = batch.iter().map(|(event, _)| event.measured_at.unix_ms()).collect();
    sqlx::query(
        "INSERT INTO events (event_id, gateway_id, sequence, site, equipment_id, bearing_id,
                             measured_at_ms, received_at_ms, payload)
         SELECT * FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::text[], $5::text[],
                              $6::text[], $7::bigint[], $7::bigint[], $8::text[])",
    )
    .bind(batch.iter().map(|(event, _)| event.event_id.0).collect::<Vec<Uuid>>())
    .bind(text(|event| event.gateway_id.as_str()))
    .bind(batch.iter().map(|(event, _)| event.sequence.cast_signed()).collect::<Vec<i64>>())
    .bind(text(|event| event.site.as_str()))
    .bind(text(|event| event.equipment_id.as_str()))
    .bind(text(|event| event.bearing_id.as_str()))
    .bind(times)
    .bind(batch.iter().map(|(_, payload)| *payload).collect::<Vec<&str>>())
    .execute(pool)
    .await
    .expect("inserted");
}

/// Time of the first row: a second apart, up to the example's.
fn first_ms(rows: u64) -> i64 {
    let example: Event = serde_json::from_str(EXAMPLE).expect("event");
    example.measured_at.unix_ms() - rows.cast_signed() * 1000
}

/// The text in place of a payload and of a diagnosis in rows of history: a tenth of a real one, as
/// the indexes are what grows.
const FILLER: &str = "'{\"filler\":\"' || \
    '0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef' || '\"}'";

fn sqlite_events(rows: u64) -> String {
    let first = first_ms(rows);
    format!(
        "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {rows})
         INSERT INTO events (event_id, gateway_id, sequence, site, equipment_id, bearing_id,
                             measured_at_ms, received_at_ms, judged, payload)
         SELECT unhex(printf('%012x', {first} + n * 1000) || '70008000' || printf('%012x', n)),
                'history', n, 'ulsan-1', 'P-101', 'B' || (n % {BEARINGS}),
                {first} + n * 1000, {first} + n * 1000, 1, {FILLER}
         FROM n"
    )
}

fn sqlite_judgements(rows: u64) -> String {
    format!(
        "INSERT INTO pdm_agent_memory
             (event_id, site, equipment_id, bearing_id, measured_at_ms, judged_at_ms, late,
              fault_stage, risk_level, degradation_speed, rul_assessment, recommendation_ko,
              recommendation_en, uncertainty, tool_use, diagnosis)
         SELECT event_id, site, equipment_id, bearing_id, measured_at_ms, measured_at_ms, 0, 0,
                'Normal', 'none', '{{}}', '', '', '{{}}', '[]', {FILLER}
         FROM events ORDER BY arrival LIMIT {rows}"
    )
}

fn postgres_events(rows: u64) -> String {
    let first = first_ms(rows);
    // by the agent's own rule a week's partition is made first
    format!(
        "DO $$ DECLARE week bigint; start text; stop text; BEGIN
             FOR week IN SELECT generate_series({first} / 604800000, ({first} + {rows} * \
         1000::bigint) / 604800000) LOOP
                 start := rpad(lpad(to_hex(week * 604800000), 12, '0'), 32, '0');
                 stop := rpad(lpad(to_hex((week + 1) * 604800000), 12, '0'), 32, '0');
                 EXECUTE format('CREATE TABLE IF NOT EXISTS events_%s PARTITION OF events FOR \
         VALUES FROM (%L) TO (%L)',
                     to_char(to_timestamp(week * 604800) AT TIME ZONE 'UTC', 'YYYY_MM_DD'), start, \
         stop);
             END LOOP;
         END $$;
         INSERT INTO events (event_id, gateway_id, sequence, site, equipment_id, bearing_id,
                             measured_at_ms, received_at_ms, payload)
         SELECT (lpad(to_hex({first} + n * 1000), 12, '0') || '70008000' || lpad(to_hex(n), 12, \
         '0'))::uuid,
                'history', n, 'ulsan-1', 'P-101', 'B' || (n % {BEARINGS}),
                {first} + n * 1000, {first} + n * 1000, {FILLER}
         FROM generate_series(1::bigint, {rows}) AS n"
    )
}

fn postgres_judgements(rows: u64) -> String {
    format!(
        "INSERT INTO pdm_agent_memory
             (event_id, site, equipment_id, bearing_id, measured_at_ms, judged_at_ms, late,
              fault_stage, risk_level, degradation_speed, rul_assessment, recommendation_ko,
              recommendation_en, uncertainty, tool_use, diagnosis)
         SELECT event_id, site, equipment_id, bearing_id, measured_at_ms, measured_at_ms, FALSE, 0,
                'Normal', 'none', '{{}}', '', '', '{{}}', '[]', {FILLER}
         FROM events LIMIT {rows}"
    )
}
