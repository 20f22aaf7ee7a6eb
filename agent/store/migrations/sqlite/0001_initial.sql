-- Times are milliseconds since 1970-01-01T00:00:00Z (UTC). JSON is text.

CREATE TABLE events (
    arrival         INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id        BLOB    NOT NULL UNIQUE,
    gateway_id      TEXT    NOT NULL,
    sequence        INTEGER NOT NULL,
    site            TEXT    NOT NULL,
    equipment_id    TEXT    NOT NULL,
    bearing_id      TEXT    NOT NULL,
    measured_at_ms  INTEGER NOT NULL,
    received_at_ms  INTEGER NOT NULL,
    late            INTEGER NOT NULL DEFAULT 0,
    judged          INTEGER NOT NULL DEFAULT 0,
    payload         TEXT    NOT NULL
) STRICT;
CREATE INDEX events_unjudged ON events (arrival) WHERE judged = 0;
CREATE INDEX events_of_bearing ON events (site, equipment_id, bearing_id, measured_at_ms);

CREATE TABLE gateways (
    gateway_id        TEXT    PRIMARY KEY,
    site              TEXT    NOT NULL,
    highest_sequence  INTEGER NOT NULL DEFAULT 0,
    lost_events       INTEGER NOT NULL DEFAULT 0,
    last_event_at_ms  INTEGER,
    presence          TEXT,
    presence_at_ms    INTEGER
) STRICT;

-- What is missing below a gateway's highest sequence. A lost gap is no longer asked for.
CREATE TABLE sequence_gaps (
    gateway_id      TEXT    NOT NULL,
    first_sequence  INTEGER NOT NULL,
    last_sequence   INTEGER NOT NULL,
    noticed_at_ms   INTEGER NOT NULL,
    lost            INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (gateway_id, first_sequence)
) STRICT, WITHOUT ROWID;

-- Long-term memory: every judgement, normal ones too.
CREATE TABLE pdm_agent_memory (
    id                 INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id           BLOB    NOT NULL UNIQUE,
    site               TEXT    NOT NULL,
    equipment_id       TEXT    NOT NULL,
    bearing_id         TEXT    NOT NULL,
    measured_at_ms     INTEGER NOT NULL,
    judged_at_ms       INTEGER NOT NULL,
    late               INTEGER NOT NULL,
    fault_type         TEXT,
    fault_stage        INTEGER NOT NULL,
    risk_level         TEXT    NOT NULL,
    degradation_speed  TEXT    NOT NULL,
    rul_hours          REAL,
    rul_assessment     TEXT    NOT NULL,
    recommendation_ko  TEXT    NOT NULL,
    recommendation_en  TEXT    NOT NULL,
    uncertainty        TEXT    NOT NULL,
    tool_use           TEXT    NOT NULL,
    follow_up_actions  TEXT    NOT NULL DEFAULT '[]',
    diagnosis          TEXT    NOT NULL
) STRICT;
CREATE INDEX memory_of_bearing
    ON pdm_agent_memory (site, equipment_id, bearing_id, measured_at_ms DESC, id DESC);

-- Where each bearing stands after its last judgement.
CREATE TABLE bearings (
    site            TEXT    NOT NULL,
    equipment_id    TEXT    NOT NULL,
    bearing_id      TEXT    NOT NULL,
    risk_level      TEXT    NOT NULL,
    fault_stage     INTEGER NOT NULL,
    fault_type      TEXT,
    updated_at_ms   INTEGER NOT NULL,
    state           TEXT    NOT NULL,
    PRIMARY KEY (site, equipment_id, bearing_id)
) STRICT, WITHOUT ROWID;

-- What staff was told of a bearing (or of a gateway) and has not been cleared.
CREATE TABLE alarms (
    site                TEXT    NOT NULL,
    equipment_id        TEXT    NOT NULL,
    bearing_id          TEXT    NOT NULL,
    notification_id     BLOB    NOT NULL,
    risk_level          TEXT    NOT NULL,
    repeats             INTEGER NOT NULL,
    repeat_at_ms        INTEGER,
    acknowledged_at_ms  INTEGER,
    acknowledged_by     TEXT,
    notification        TEXT    NOT NULL,
    PRIMARY KEY (site, equipment_id, bearing_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX alarms_to_repeat ON alarms (repeat_at_ms) WHERE repeat_at_ms IS NOT NULL;

CREATE TABLE notifications (
    notification_id  BLOB    PRIMARY KEY,
    site             TEXT    NOT NULL,
    equipment_id     TEXT    NOT NULL,
    bearing_id       TEXT    NOT NULL,
    risk_level       TEXT    NOT NULL,
    reason           TEXT    NOT NULL,
    created_at_ms    INTEGER NOT NULL,
    notification     TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE acknowledgements (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    site             TEXT    NOT NULL,
    equipment_id     TEXT    NOT NULL,
    bearing_id       TEXT    NOT NULL,
    notification_id  BLOB,
    by_whom          TEXT    NOT NULL,
    at_ms            INTEGER NOT NULL,
    received_at_ms   INTEGER NOT NULL,
    note             TEXT
) STRICT;

-- What has to leave, written in the transaction that decided it.
-- lane: 'mqtt', 'email', 'webhook:<name>'. state: 'waiting', 'delivered', 'given_up'.
CREATE TABLE outbox (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    idempotency_key   BLOB    NOT NULL UNIQUE,
    lane              TEXT    NOT NULL,
    state             TEXT    NOT NULL DEFAULT 'waiting',
    topic             TEXT,
    retain            INTEGER NOT NULL DEFAULT 0,
    notification_id   BLOB,
    group_key         TEXT,
    payload           TEXT    NOT NULL,
    created_at_ms     INTEGER NOT NULL,
    due_at_ms         INTEGER NOT NULL,
    claimed_until_ms  INTEGER NOT NULL DEFAULT 0,
    attempts          INTEGER NOT NULL DEFAULT 0,
    settled_at_ms     INTEGER,
    last_error        TEXT
) STRICT;
CREATE INDEX outbox_waiting ON outbox (lane, id) WHERE state = 'waiting';

-- Refused messages. The same one again only counts.
CREATE TABLE dead_letters (
    fingerprint     INTEGER PRIMARY KEY,
    topic           TEXT    NOT NULL,
    reason          TEXT    NOT NULL,
    payload_head    TEXT    NOT NULL,
    payload_bytes   INTEGER NOT NULL,
    first_at_ms     INTEGER NOT NULL,
    last_at_ms      INTEGER NOT NULL,
    count           INTEGER NOT NULL
) STRICT;
