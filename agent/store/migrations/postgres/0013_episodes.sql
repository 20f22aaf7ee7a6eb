-- Episodes in place of alarms: one a bearing (or gateway) that is open, and those that are closed.
-- course: the condition with its past, JSON; null where an alarm was carried over. acknowledgement and
-- suppression: the two other axes, JSON. state: the three axes in one word. notification: what staff was
-- told last, null while nothing was; since_ms: when staff was told first of what stands.
CREATE TABLE episodes (
    episode_id           UUID    NOT NULL PRIMARY KEY,
    site                 TEXT    NOT NULL,
    equipment_id         TEXT    NOT NULL,
    bearing_id           TEXT    NOT NULL,
    sequence             BIGINT NOT NULL,
    opened_at_ms         BIGINT NOT NULL,
    changed_at_ms        BIGINT NOT NULL,
    closed_at_ms         BIGINT,
    transition           TEXT    NOT NULL,
    course               TEXT,
    acknowledgement      TEXT    NOT NULL,
    suppression          TEXT    NOT NULL,
    state                TEXT    NOT NULL,
    suppressed_until_ms  BIGINT,
    notification_id      UUID,
    risk_level           TEXT,
    repeats              BIGINT NOT NULL DEFAULT 0,
    repeat_at_ms         BIGINT,
    notification         TEXT,
    since_ms             BIGINT NOT NULL DEFAULT 0
);
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
       CASE WHEN acknowledged_at_ms IS NULL THEN json_build_object('state', 'unacknowledged')::TEXT
            ELSE json_build_object('state', 'acknowledged', 'level', risk_level,
                                   'by', COALESCE(acknowledged_by, ''),
                                   'at', to_char(to_timestamp(acknowledged_at_ms / 1000.0)
                                                     AT TIME ZONE 'UTC',
                                                 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::TEXT END,
       '{"state":"none"}',
       CASE WHEN acknowledged_at_ms IS NULL THEN 'unacknowledged_active'
            ELSE 'acknowledged_active' END,
       notification_id, risk_level, repeats, repeat_at_ms, notification, since_ms
FROM alarms;
DROP TABLE alarms;
