-- Since when a bearing is heard, and its pauses: the longer ones of the times in which nothing of it came while its
-- gateway went on. A pause that was longer than its past let expect is_exceptional.
ALTER TABLE bearings ADD COLUMN heard_since_ms INTEGER;
UPDATE bearings SET heard_since_ms = updated_at_ms;
CREATE TABLE bearing_pauses (
    site            TEXT    NOT NULL,
    equipment_id    TEXT    NOT NULL,
    bearing_id      TEXT    NOT NULL,
    from_ms         INTEGER NOT NULL,
    to_ms           INTEGER NOT NULL,
    is_exceptional  INTEGER NOT NULL,
    PRIMARY KEY (site, equipment_id, bearing_id, from_ms)
) STRICT, WITHOUT ROWID;
