-- Requests of people that a gateway learns a bearing anew: the newest of each bearing, beside those that a renamed
-- bearing brought. prefix: the first levels of its topic; step, refusal: the gateway's answer (refusal as JSON).
CREATE TABLE relearn_requests (
    request_id      BLOB    NOT NULL PRIMARY KEY,
    site            TEXT    NOT NULL,
    equipment_id    TEXT    NOT NULL,
    bearing_id      TEXT    NOT NULL,
    by_name         TEXT    NOT NULL,
    asked_at_ms     INTEGER NOT NULL,
    prefix          TEXT    NOT NULL,
    step            TEXT,
    answered_at_ms  INTEGER,
    refusal         TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX relearn_requests_of_bearing ON relearn_requests (site, equipment_id, bearing_id, asked_at_ms DESC);
