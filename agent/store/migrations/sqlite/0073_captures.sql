-- Captured waveforms that gateways have sent. The WAV files stand in the folder of [captures], named by
-- capture_id; a row here is what makes a file one of the plant. document: pdm.capture/1 as it was sent.
-- of_alarm: captured for an alarm or in one. received_at_ms: by the agent's clock; the oldest leave first.
CREATE TABLE captures (
    capture_id      BLOB    NOT NULL PRIMARY KEY,
    site            TEXT    NOT NULL,
    equipment_id    TEXT    NOT NULL,
    bearing_id      TEXT    NOT NULL,
    gateway_id      TEXT    NOT NULL,
    started_at_ms   INTEGER NOT NULL,
    received_at_ms  INTEGER NOT NULL,
    bytes           INTEGER NOT NULL,
    of_alarm        INTEGER NOT NULL,
    is_reference    INTEGER NOT NULL,
    document        TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX captures_of_bearing ON captures (site, equipment_id, bearing_id, started_at_ms DESC);
CREATE INDEX captures_received ON captures (received_at_ms);
