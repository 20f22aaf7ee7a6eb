-- Times are milliseconds since 1970-01-01T00:00:00Z (UTC). JSON is text, byte by byte as it came.

-- The order of arrival over all partitions.
CREATE SEQUENCE arrivals CACHE 1;

-- One partition a week. The key alone says in which: an event_id is a UUIDv7, its first 48 bits are
-- the time at which the window was closed, and UUIDs compare by their bytes. So the primary key holds
-- over all partitions without a table of its own, new rows go to its right end, and old weeks are
-- dropped whole. Rows are only ever added: what waits for a judgement is told by events_unjudged.
CREATE TABLE events (
    arrival         BIGINT NOT NULL DEFAULT nextval('arrivals'),
    event_id        UUID   NOT NULL PRIMARY KEY,
    gateway_id      TEXT   NOT NULL,
    sequence        BIGINT NOT NULL,
    site            TEXT   NOT NULL,
    equipment_id    TEXT   NOT NULL,
    bearing_id      TEXT   NOT NULL,
    measured_at_ms  BIGINT NOT NULL,
    received_at_ms  BIGINT NOT NULL,
    payload         TEXT   NOT NULL
) PARTITION BY RANGE (event_id);
CREATE INDEX events_of_bearing ON events (site, equipment_id, bearing_id, measured_at_ms);
CREATE INDEX events_by_time ON events USING brin (measured_at_ms);
-- Events whose identity tells no time that can be true.
CREATE TABLE events_default PARTITION OF events DEFAULT;

-- Events that wait for a judgement; turn is the key of the bearing's advisory lock.
CREATE TABLE events_unjudged (
    arrival   BIGINT  NOT NULL PRIMARY KEY,
    event_id  UUID    NOT NULL,
    turn      INTEGER NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 2000);
CREATE INDEX events_unjudged_turn ON events_unjudged (turn, arrival);
CREATE INDEX events_unjudged_event ON events_unjudged (event_id);

CREATE TABLE gateways (
    gateway_id        TEXT   NOT NULL PRIMARY KEY,
    site              TEXT   NOT NULL,
    highest_sequence  BIGINT NOT NULL DEFAULT 0,
    lost_events       BIGINT NOT NULL DEFAULT 0,
    last_event_at_ms  BIGINT,
    presence          TEXT,
    presence_at_ms    BIGINT
) WITH (fillfactor = 50);

-- What is missing below a gateway's highest sequence. A lost gap is no longer asked for.
CREATE TABLE sequence_gaps (
    gateway_id      TEXT    NOT NULL,
    first_sequence  BIGINT  NOT NULL,
    last_sequence   BIGINT  NOT NULL,
    noticed_at_ms   BIGINT  NOT NULL,
    lost            BOOLEAN NOT NULL DEFAULT FALSE,
    PRIMARY KEY (gateway_id, first_sequence)
);

-- Long-term memory: every judgement, normal ones too. One table, as the last five of a bearing are
-- recalled before each judgement: over partitions that would be a look into every week.
CREATE TABLE pdm_agent_memory (
    id                 BIGINT  NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id           UUID    NOT NULL UNIQUE,
    site               TEXT    NOT NULL,
    equipment_id       TEXT    NOT NULL,
    bearing_id         TEXT    NOT NULL,
    measured_at_ms     BIGINT  NOT NULL,
    judged_at_ms       BIGINT  NOT NULL,
    late               BOOLEAN NOT NULL,
    fault_type         TEXT,
    fault_stage        BIGINT  NOT NULL,
    risk_level         TEXT    NOT NULL,
    degradation_speed  TEXT    NOT NULL,
    rul_hours          DOUBLE PRECISION,
    rul_assessment     TEXT    NOT NULL,
    recommendation_ko  TEXT    NOT NULL,
    recommendation_en  TEXT    NOT NULL,
    uncertainty        TEXT    NOT NULL,
    tool_use           TEXT    NOT NULL,
    follow_up_actions  TEXT    NOT NULL DEFAULT '[]',
    diagnosis          TEXT    NOT NULL
);
CREATE INDEX memory_of_bearing
    ON pdm_agent_memory (site, equipment_id, bearing_id, measured_at_ms DESC, id DESC);

-- Where each bearing stands after its last judgement.
CREATE TABLE bearings (
    site            TEXT   NOT NULL,
    equipment_id    TEXT   NOT NULL,
    bearing_id      TEXT   NOT NULL,
    risk_level      TEXT   NOT NULL,
    fault_stage     BIGINT NOT NULL,
    fault_type      TEXT,
    updated_at_ms   BIGINT NOT NULL,
    state           TEXT   NOT NULL,
    PRIMARY KEY (site, equipment_id, bearing_id)
) WITH (fillfactor = 50);

-- What staff was told of a bearing (or of a gateway) and has not been cleared.
CREATE TABLE alarms (
    site                TEXT   NOT NULL,
    equipment_id        TEXT   NOT NULL,
    bearing_id          TEXT   NOT NULL,
    notification_id     UUID   NOT NULL,
    risk_level          TEXT   NOT NULL,
    repeats             BIGINT NOT NULL,
    repeat_at_ms        BIGINT,
    acknowledged_at_ms  BIGINT,
    acknowledged_by     TEXT,
    notification        TEXT   NOT NULL,
    PRIMARY KEY (site, equipment_id, bearing_id)
);
CREATE INDEX alarms_to_repeat ON alarms (repeat_at_ms) WHERE repeat_at_ms IS NOT NULL;

CREATE TABLE notifications (
    notification_id  UUID   NOT NULL PRIMARY KEY,
    site             TEXT   NOT NULL,
    equipment_id     TEXT   NOT NULL,
    bearing_id       TEXT   NOT NULL,
    risk_level       TEXT   NOT NULL,
    reason           TEXT   NOT NULL,
    created_at_ms    BIGINT NOT NULL,
    notification     TEXT   NOT NULL
);

CREATE TABLE acknowledgements (
    id               BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    site             TEXT   NOT NULL,
    equipment_id     TEXT   NOT NULL,
    bearing_id       TEXT   NOT NULL,
    notification_id  UUID,
    by_whom          TEXT   NOT NULL,
    at_ms            BIGINT NOT NULL,
    received_at_ms   BIGINT NOT NULL,
    note             TEXT
);

-- What has to leave, written in the transaction that decided it.
-- lane: 'mqtt', 'email', 'webhook:<name>'. state: 'waiting', 'delivered', 'given_up'.
CREATE TABLE outbox (
    id                BIGINT  NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    idempotency_key   UUID    NOT NULL UNIQUE,
    lane              TEXT    NOT NULL,
    state             TEXT    NOT NULL DEFAULT 'waiting',
    topic             TEXT,
    retain            BOOLEAN NOT NULL DEFAULT FALSE,
    notification_id   UUID,
    group_key         TEXT,
    payload           TEXT    NOT NULL,
    created_at_ms     BIGINT  NOT NULL,
    due_at_ms         BIGINT  NOT NULL,
    claimed_until_ms  BIGINT  NOT NULL DEFAULT 0,
    claimed_by        TEXT,
    attempts          BIGINT  NOT NULL DEFAULT 0,
    settled_at_ms     BIGINT,
    last_error        TEXT
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 2000);
CREATE INDEX outbox_waiting ON outbox (lane, id) WHERE state = 'waiting';
CREATE INDEX outbox_claimed ON outbox (lane, claimed_until_ms)
    WHERE state = 'waiting' AND claimed_until_ms > 0;

-- Refused messages. The same one again only counts.
CREATE TABLE dead_letters (
    fingerprint     BIGINT NOT NULL PRIMARY KEY,
    topic           TEXT   NOT NULL,
    reason          TEXT   NOT NULL,
    payload_head    TEXT   NOT NULL,
    payload_bytes   BIGINT NOT NULL,
    first_at_ms     BIGINT NOT NULL,
    last_at_ms      BIGINT NOT NULL,
    count           BIGINT NOT NULL
);

-- Where a run stands that is not finished: written after every node that leaves the fast path,
-- dropped in the transaction that writes the judgement. node: the one that comes next.
CREATE TABLE checkpoints (
    event_id       UUID   NOT NULL PRIMARY KEY,
    node           TEXT   NOT NULL,
    state          TEXT   NOT NULL,
    updated_at_ms  BIGINT NOT NULL
);

-- Every step of every run.
CREATE TABLE trace_steps (
    event_id  UUID   NOT NULL,
    number    BIGINT NOT NULL,
    node      TEXT   NOT NULL,
    at_ms     BIGINT NOT NULL,
    detail    TEXT   NOT NULL,
    PRIMARY KEY (event_id, number)
);
