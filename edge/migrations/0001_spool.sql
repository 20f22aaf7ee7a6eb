-- The spool, format 1. What the rows mean stands in src/spool/mod.rs.

-- Whose spool this is, and the numbers that must never go backwards. One row.
CREATE TABLE gateway (
    id             INTEGER PRIMARY KEY CHECK (id = 1),
    gateway_id     TEXT    NOT NULL,
    next_sequence  INTEGER NOT NULL CHECK (next_sequence >= 1),
    stored_through INTEGER NOT NULL DEFAULT 0,
    dropped        INTEGER NOT NULL DEFAULT 0,
    unconfirmed    INTEGER NOT NULL DEFAULT 0
);

-- state: 0 waiting, 1 acknowledged, 2 parked.
CREATE TABLE event (
    sequence    INTEGER PRIMARY KEY,
    event_id    BLOB    NOT NULL,
    spooled_ms  INTEGER NOT NULL,
    state       INTEGER NOT NULL DEFAULT 0 CHECK (state IN (0, 1, 2)),
    site        TEXT    NOT NULL,
    equipment   TEXT    NOT NULL,
    bearing     TEXT    NOT NULL,
    payload     BLOB    NOT NULL
);
CREATE INDEX event_waiting ON event (sequence) WHERE state = 0;
CREATE INDEX event_acknowledged ON event (sequence) WHERE state = 1;

-- What the pipeline must remember together with its events: monitors, positions in recordings.
CREATE TABLE memory (
    key   TEXT PRIMARY KEY,
    value BLOB NOT NULL
) WITHOUT ROWID;

-- The last event of each bearing in short, to be published as its retained state.
CREATE TABLE bearing_state (
    site      TEXT    NOT NULL,
    equipment TEXT    NOT NULL,
    bearing   TEXT    NOT NULL,
    sequence  INTEGER NOT NULL,
    payload   BLOB    NOT NULL,
    PRIMARY KEY (site, equipment, bearing)
) WITHOUT ROWID;

-- Rows and payload bytes by state, kept by triggers so that no count needs a scan.
CREATE TABLE tally (
    state INTEGER PRIMARY KEY,
    rows  INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0
);
INSERT INTO tally (state) VALUES (0), (1), (2);

CREATE TRIGGER event_arrives AFTER INSERT ON event BEGIN
    UPDATE tally SET rows = rows + 1, bytes = bytes + length(NEW.payload) WHERE state = NEW.state;
END;
CREATE TRIGGER event_leaves AFTER DELETE ON event BEGIN
    UPDATE tally SET rows = rows - 1, bytes = bytes - length(OLD.payload) WHERE state = OLD.state;
END;
CREATE TRIGGER event_moves AFTER UPDATE OF state ON event WHEN OLD.state <> NEW.state BEGIN
    UPDATE tally SET rows = rows - 1, bytes = bytes - length(OLD.payload) WHERE state = OLD.state;
    UPDATE tally SET rows = rows + 1, bytes = bytes + length(NEW.payload) WHERE state = NEW.state;
END;
