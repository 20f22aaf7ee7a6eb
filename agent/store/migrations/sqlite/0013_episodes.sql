-- Episodes in place of alarms: one a bearing (or gateway) that is open, and those that are closed.
-- course: the condition with its past, JSON; null where an alarm was carried over. acknowledgement and
-- suppression: the two other axes, JSON. state: the three axes in one word. notification: what staff was
-- told last, null while nothing was; since_ms: when staff was told first of what stands.
CREATE TABLE episodes (
    episode_id           BLOB    NOT NULL PRIMARY KEY,
    site                 TEXT    NOT NULL,
    equipment_id         TEXT    NOT NULL,
    bearing_id           TEXT    NOT NULL,
    sequence             INTEGER NOT NULL,
    opened_at_ms         INTEGER NOT NULL,
    changed_at_ms        INTEGER NOT NULL,
    closed_at_ms         INTEGER,
    transition           TEXT    NOT NULL,
    course               TEXT,
    acknowledgement      TEXT    NOT NULL,
    suppression          TEXT    NOT NULL,
    state                TEXT    NOT NULL,
    suppressed_until_ms  INTEGER,
    notification_id      BLOB,
    risk_level           TEXT,
    repeats              INTEGER NOT NULL DEFAULT 0,
    repeat_at_ms         INTEGER,
    notification         TEXT,
    since_ms             INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX episodes_open ON episodes (site, equipment_id, bearing_id)
    WHERE closed_at_ms IS NULL;
CREATE INDEX episodes_of_bearing
    ON episodes (site, equipment_id, bearing_id, changed_at_ms DESC);
CREATE INDEX episodes_to_repeat ON episodes (repeat_at_ms)
    WHERE repeat_at_ms IS NOT NULL AND closed_at_ms IS NULL;
CREATE INDEX episodes_suppressed ON episodes (suppressed_until_ms)
    WHERE suppressed_until_ms IS NOT NULL AND closed_at_ms IS NULL;
CREATE INDEX episodes_changed ON episodes (changed_at_ms DESC);
CREATE INDEX episodes_told ON episodes (notification_id);
INSERT INTO episodes (episode_id, site, equipment_id, bearing_id, sequence, opened_at_ms,
                      changed_at_ms, transition, acknowledgement, suppression, state,
                      notification_id, risk_level, repeats, repeat_at_ms, notification, since_ms)
SELECT notification_id, site, equipment_id, bearing_id, 1, since_ms, since_ms, 'opened',
       CASE WHEN acknowledged_at_ms IS NULL THEN json_object('state', 'unacknowledged')
            ELSE json_object('state', 'acknowledged', 'level', risk_level,
                             'by', COALESCE(acknowledged_by, ''),
                             'at', strftime('%Y-%m-%dT%H:%M:%fZ', acknowledged_at_ms / 1000.0,
                                            'unixepoch')) END,
       '{"state":"none"}',
       CASE WHEN acknowledged_at_ms IS NULL THEN 'unacknowledged_active'
            ELSE 'acknowledged_active' END,
       notification_id, risk_level, repeats, repeat_at_ms, notification, since_ms
FROM alarms;
DROP TABLE alarms;
