-- Demands for waveforms that people made at a page or by the API: the newest of each bearing, beside those that a
-- renamed bearing brought. refusal: JSON, as the gateway's status tells it; capture_id: the capture that shows it.
CREATE TABLE capture_demands (
    demand_id       BLOB    NOT NULL PRIMARY KEY,
    site            TEXT    NOT NULL,
    equipment_id    TEXT    NOT NULL,
    bearing_id      TEXT    NOT NULL,
    by_name         TEXT    NOT NULL,
    asked_at_ms     INTEGER NOT NULL,
    answered_at_ms  INTEGER,
    refusal         TEXT,
    capture_id      BLOB
) STRICT, WITHOUT ROWID;
CREATE INDEX capture_demands_of_bearing ON capture_demands (site, equipment_id, bearing_id, asked_at_ms DESC);
