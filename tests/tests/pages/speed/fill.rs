//! A store with a million events: a thousand that the agent has judged, and copies of them before,
//! made by the database itself in its own schema.
//!
//! Chosen: one window in ten carries spectra of 2 × 400 lines; a window every 90 s, which is a day
//! of a thousand bearings.

use pdm_agent::settings::StorePlace;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, SqliteConnection};

/// Copies of each judged event.
pub(super) const COPIES: u32 = 999;
/// Copies of each event in one transaction.
const PORTION: u32 = 50;
/// Copies of each notification, episode and action: of a hundred bearings that alarm, 20,000 of
/// each.
const TOLD: u32 = 199;

/// The spellings of a database.
struct Spelling {
    /// A number as twelve hexadecimal digits.
    hex: fn(&str) -> String,
    /// 32 hexadecimal digits as an identity.
    identity: fn(&str) -> String,
    /// Milliseconds as the text of a time.
    time: fn(&str) -> String,
    /// A field of a JSON text.
    field: fn(&str, &str) -> String,
    /// The numbers from one to another.
    series: fn(u32, u32) -> String,
    /// The columns of `events` that this database alone has.
    judged: &'static str,
}

const SQLITE: Spelling = Spelling {
    hex: |number| format!("printf('%012x', {number})"),
    identity: |hex| format!("unhex({hex})"),
    time: |ms| {
        format!(
            "strftime('%Y-%m-%dT%H:%M:%S.', ({ms}) / 1000, 'unixepoch') || printf('%03dZ', ({ms}) \
             % 1000)"
        )
    },
    field: |text, name| format!("json_extract({text}, '$.{name}')"),
    series: |from, to| {
        format!(
            "(WITH RECURSIVE n(n) AS (SELECT {from} UNION ALL SELECT n + 1 FROM n WHERE n < {to}) \
             SELECT n FROM n)"
        )
    },
    judged: ", judged",
};

const POSTGRES: Spelling = Spelling {
    hex: |number| format!("lpad(to_hex({number}), 12, '0')"),
    identity: |hex| format!("({hex})::uuid"),
    time: |ms| {
        format!(
            "to_char(to_timestamp(({ms}) / 1000.0) AT TIME ZONE 'UTC', \
             'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"
        )
    },
    field: |text, name| format!("({text}::json ->> '{name}')"),
    series: |from, to| format!("(SELECT generate_series({from}, {to}) AS n)"),
    judged: "",
};

/// Copies what is judged until there are a million events.
pub(super) async fn fill(place: &StorePlace) {
    match place {
        StorePlace::Sqlite(file) => {
            let url = format!("sqlite://{}", file.display());
            let mut connection = SqliteConnection::connect(&url).await.expect("opened");
            let fast = "PRAGMA synchronous = OFF; PRAGMA cache_size = -262144; PRAGMA busy_timeout \
                = 10000";
            sqlx::raw_sql(fast).execute(&mut connection).await.expect("set");
            for statement in statements(&SQLITE) {
                sqlx::raw_sql(AssertSqlSafe(statement))
                    .execute(&mut connection)
                    .await
                    .expect("filled");
            }
            let tidy = "PRAGMA wal_checkpoint(TRUNCATE)";
            sqlx::raw_sql(tidy).execute(&mut connection).await.expect("written");
            connection.close().await.expect("closed");
        }
        StorePlace::Postgres(server) => {
            let mut connection = PgConnection::connect(&server.url).await.expect("connected");
            sqlx::raw_sql(PARTITIONS).execute(&mut connection).await.expect("partitions");
            for statement in statements(&POSTGRES) {
                sqlx::raw_sql(AssertSqlSafe(statement))
                    .execute(&mut connection)
                    .await
                    .expect("filled");
            }
            for tidy in ["VACUUM ANALYZE", "CHECKPOINT"] {
                sqlx::raw_sql(tidy).execute(&mut connection).await.expect("tidied");
            }
            connection.close().await.expect("closed");
        }
    }
}

/// The weeks of the copies, by the agent's own rule.
const PARTITIONS: &str = "DO $$ DECLARE week bigint; start text; stop text; BEGIN
    FOR week IN SELECT generate_series((SELECT min(measured_at_ms) - 100000000 FROM events) / \
    604800000,
                                       (SELECT max(measured_at_ms) FROM events) / 604800000) LOOP
        start := rpad(lpad(to_hex(week * 604800000), 12, '0'), 32, '0');
        stop := rpad(lpad(to_hex((week + 1) * 604800000), 12, '0'), 32, '0');
        EXECUTE format('CREATE TABLE IF NOT EXISTS events_%s PARTITION OF events FOR VALUES FROM \
    (%L) TO (%L)',
            to_char(to_timestamp(week * 604800) AT TIME ZONE 'UTC', 'YYYY_MM_DD'), start, stop);
    END LOOP;
END $$";

fn statements(of: &Spelling) -> Vec<String> {
    let mut all = vec![
        "CREATE TABLE speed_seed AS SELECT * FROM events".to_owned(),
        "CREATE TABLE speed_judged AS SELECT * FROM pdm_agent_memory".to_owned(),
    ];
    // in portions, so that no log of a transaction grows as large as the store
    for from in (1..=COPIES).step_by(PORTION as usize) {
        let series = (of.series)(from, COPIES.min(from + PORTION - 1));
        all.extend([events(of, &series), judgements(of, &series)]);
    }
    all.extend(["DROP TABLE speed_seed".to_owned(), "DROP TABLE speed_judged".to_owned()]);
    all.extend(told(of));
    all
}

/// 32 hexadecimal digits of the copy `n` of a row: its time, and the bearing's number.
fn digits(of: &Spelling, ms: &str, number: &str) -> String {
    format!("{} || '70008000' || {}", (of.hex)(ms), (of.hex)(number))
}

/// Returns the same with hyphens, as JSON has an identity.
fn hyphened(hex: &str) -> String {
    let part = |from: u32, length: u32| format!("substr({hex}, {from}, {length})");
    let parts = [part(1, 8), part(9, 4), part(13, 4), part(17, 4), part(21, 12)];
    parts.join(" || '-' || ")
}

fn events(of: &Spelling, series: &str) -> String {
    let ms = "(s.measured_at_ms - (1000 - n.n) * 90000)";
    let hex = digits(of, ms, "s.sequence");
    let line = (0..400).map(|bin| format!("{:.5}", f64::from(bin % 90) * 1e-4)).collect::<Vec<_>>();
    let line = line.join(",");
    let spectra = format!(
        "{{\"envelope\":{{\"df_hz\":1.0,\"unit\":\"g²\",\"amplitude\":[{line}]}},\
         \"acceleration\":{{\"df_hz\":1.0,\"unit\":\"g\",\"amplitude\":[{line}]}}}}"
    );
    let with = "CASE WHEN n.n % 10 = 0 THEN replace(s.payload, '\"spectra\":null', '\"spectra\":' \
        || spectra) ELSE s.payload END";
    let renamed = format!(
        "replace(replace({with}, {}, {}), '\"measured_at\":\"' || {} || '\"', '\"measured_at\":\"' \
         || {} || '\"')",
        (of.field)("s.payload", "event_id"),
        hyphened(&format!("({hex})")),
        (of.field)("s.payload", "measured_at"),
        (of.time)(ms),
    );
    let (judged, value) = if of.judged.is_empty() { ("", "") } else { (of.judged, ", 1") };
    format!(
        "INSERT INTO events (event_id, gateway_id, sequence, site, equipment_id, bearing_id,
                             measured_at_ms, received_at_ms, payload, shown{judged})
         SELECT {}, s.gateway_id, n.n * 1000 + s.sequence, s.site, s.equipment_id, s.bearing_id,
                {ms}, {ms}, {renamed}, s.shown{value}
         FROM {series} n CROSS JOIN speed_seed s CROSS JOIN (SELECT '{spectra}' AS spectra) x
         ORDER BY n.n",
        (of.identity)(&hex),
    )
}

fn judgements(of: &Spelling, series: &str) -> String {
    let ms = "(s.measured_at_ms - (1000 - n.n) * 90000)";
    let hex = digits(of, ms, "s.sequence");
    format!(
        "INSERT INTO pdm_agent_memory
             (event_id, site, equipment_id, bearing_id, measured_at_ms, judged_at_ms, late, \
         fault_type,
              fault_stage, risk_level, degradation_speed, rul_hours, rul_assessment, \
         recommendation_ko,
              recommendation_en, uncertainty, tool_use, follow_up_actions, diagnosis)
         SELECT {}, m.site, m.equipment_id, m.bearing_id, {ms}, {ms}, m.late, m.fault_type,
                m.fault_stage, m.risk_level, m.degradation_speed, m.rul_hours, m.rul_assessment,
                m.recommendation_ko, m.recommendation_en, m.uncertainty, m.tool_use,
                m.follow_up_actions, replace(m.diagnosis, {}, {})
         FROM {series} n CROSS JOIN speed_judged m JOIN speed_seed s ON s.event_id = m.event_id
         ORDER BY n.n",
        (of.identity)(&hex),
        (of.field)("m.diagnosis", "event_id"),
        hyphened(&format!("({hex})")),
    )
}

/// Returns the statements for the past messages and work: closed episodes, notifications, work that
/// is done.
fn told(of: &Spelling) -> [String; 4] {
    let id = |ms: &str, number: &str| {
        // the rows of one copy are told apart by what the source's identity begins with
        (of.identity)(&format!("{} || '70008000' || {}", (of.hex)(ms), (of.hex)(number)))
    };
    let past = "- n.n * 600000";
    let number = "(row_number() OVER ())";
    let series = (of.series)(1, TOLD);
    let episode = id(&format!("(e.changed_at_ms {past})"), number);
    let notification = id(&format!("(t.created_at_ms {past})"), number);
    let work = id(&format!("(f.asked_at_ms {past})"), number);
    [
        format!(
            "INSERT INTO episodes (episode_id, site, equipment_id, bearing_id, sequence, \
             opened_at_ms,
                                   changed_at_ms, closed_at_ms, transition, course, acknowledgement,
                                   suppression, state, notification_id, risk_level, notification, \
             since_ms)
             SELECT {episode}, e.site, e.equipment_id, e.bearing_id, e.sequence,
                    e.opened_at_ms {past}, e.changed_at_ms {past}, e.changed_at_ms {past}, 'closed',
                    e.course, e.acknowledgement, e.suppression, 'closed', e.notification_id,
                    e.risk_level, e.notification, e.since_ms
             FROM {series} n CROSS JOIN (SELECT * FROM episodes WHERE closed_at_ms IS NULL) e"
        ),
        format!(
            "INSERT INTO notifications (notification_id, site, equipment_id, bearing_id, risk_level,
                                        reason, created_at_ms, notification)
             SELECT {notification}, t.site, t.equipment_id, t.bearing_id, t.risk_level, t.reason,
                    t.created_at_ms {past}, t.notification
             FROM {series} n CROSS JOIN (SELECT * FROM notifications) t"
        ),
        format!(
            "INSERT INTO follow_ups (event_id, number, site, equipment_id, bearing_id, asked_at_ms,
                                     action_ko, action_en, state)
             SELECT {work}, f.number, f.site, f.equipment_id, f.bearing_id, f.asked_at_ms {past},
                    f.action_ko, f.action_en, 'done'
             FROM {series} n CROSS JOIN (SELECT * FROM follow_ups) f"
        ),
        format!(
            "INSERT INTO acts (at_ms, who, via, action, what)
             SELECT n.n, 'kim', 'page', 'login', 'a browser' FROM {} n",
            (of.series)(1, 20_000)
        ),
    ]
}
