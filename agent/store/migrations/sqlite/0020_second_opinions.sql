-- Judgements that a language model is asked for a second opinion on. state: 'waiting', 'given',
-- 'failed'. memory: what the bearing's memory held when the expert judged, JSON. checkpoint: the state of
-- the unfinished run, JSON; null before its first step and after its end.
CREATE TABLE second_opinions (
    event_id          BLOB NOT NULL PRIMARY KEY,
    site              TEXT NOT NULL,
    equipment_id      TEXT NOT NULL,
    bearing_id        TEXT NOT NULL,
    risk_level        TEXT NOT NULL,
    state             TEXT NOT NULL DEFAULT 'waiting',
    asked_at_ms       INTEGER NOT NULL,
    memory            TEXT NOT NULL,
    checkpoint        TEXT,
    attempts          INTEGER NOT NULL DEFAULT 0,
    claimed_until_ms  INTEGER NOT NULL DEFAULT 0,
    claimed_by        TEXT,
    stance            TEXT,
    ended_at_ms       INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX second_opinions_waiting ON second_opinions (asked_at_ms) WHERE state = 'waiting';

-- What the language model has cost on a day (days since 1970-01-01, UTC), by who asked. At most a few
-- rows a day.
CREATE TABLE model_usage (
    day                INTEGER NOT NULL,
    purpose            TEXT NOT NULL,
    calls              INTEGER NOT NULL,
    prompt_tokens      INTEGER NOT NULL,
    completion_tokens  INTEGER NOT NULL,
    seconds            REAL NOT NULL,
    usd                REAL NOT NULL,
    PRIMARY KEY (day, purpose)
) STRICT, WITHOUT ROWID;
