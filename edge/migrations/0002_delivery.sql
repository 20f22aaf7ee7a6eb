-- Format 2: where a row stands is kept beside the row, not in it. SQLite writes a whole row when
-- one of its columns changes, so a PUBACK used to write the payload a second time.

DROP TRIGGER event_arrives;
DROP TRIGGER event_leaves;
DROP TRIGGER event_moves;
DROP INDEX event_waiting;
DROP INDEX event_acknowledged;

-- One narrow row for each event. state: 0 waiting, 1 acknowledged, 2 parked.
CREATE TABLE delivery (
    sequence   INTEGER PRIMARY KEY,
    state      INTEGER NOT NULL CHECK (state IN (0, 1, 2)),
    spooled_ms INTEGER NOT NULL,
    bytes      INTEGER NOT NULL
);
INSERT INTO delivery (sequence, state, spooled_ms, bytes)
    SELECT sequence, state, spooled_ms, length(payload) FROM event;
CREATE INDEX delivery_waiting ON delivery (sequence) WHERE state = 0;
CREATE INDEX delivery_acknowledged ON delivery (sequence) WHERE state = 1;

ALTER TABLE event DROP COLUMN state;

-- An event comes with its delivery and goes with it.
CREATE TRIGGER event_arrives AFTER INSERT ON event BEGIN
    INSERT INTO delivery (sequence, state, spooled_ms, bytes)
        VALUES (NEW.sequence, 0, NEW.spooled_ms, length(NEW.payload));
    UPDATE tally SET rows = rows + 1, bytes = bytes + length(NEW.payload) WHERE state = 0;
END;
CREATE TRIGGER delivery_leaves AFTER DELETE ON delivery BEGIN
    DELETE FROM event WHERE sequence = OLD.sequence;
    UPDATE tally SET rows = rows - 1, bytes = bytes - OLD.bytes WHERE state = OLD.state;
END;
CREATE TRIGGER delivery_moves AFTER UPDATE OF state ON delivery WHEN OLD.state <> NEW.state BEGIN
    UPDATE tally SET rows = rows - 1, bytes = bytes - OLD.bytes WHERE state = OLD.state;
    UPDATE tally SET rows = rows + 1, bytes = bytes + OLD.bytes WHERE state = NEW.state;
END;
