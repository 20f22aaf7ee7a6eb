-- What people report of work, each report in a row of its own that no later report or judgement overwrites.
-- event_id: the judgement that was inspected, null if none was; its verdict counts once, that of the last
-- report which was not taken back. actions: how many actions of the work the report set. before: these
-- actions as they stood before it, JSON, by which the report is taken back.
CREATE TABLE work_reports (
    report_id        BLOB    NOT NULL PRIMARY KEY,
    site             TEXT    NOT NULL,
    equipment_id     TEXT    NOT NULL,
    bearing_id       TEXT    NOT NULL,
    event_id         BLOB,
    state            TEXT    NOT NULL,
    by_whom          TEXT    NOT NULL,
    at_ms            INTEGER NOT NULL,
    received_at_ms   INTEGER NOT NULL,
    note             TEXT,
    repaired         INTEGER NOT NULL DEFAULT 0,
    verdict          TEXT,
    element          TEXT,
    cause            TEXT,
    actions          INTEGER NOT NULL DEFAULT 0,
    before           TEXT    NOT NULL DEFAULT '[]',
    withdrawn_at_ms  INTEGER,
    withdrawn_by     TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX work_reports_of_bearing
    ON work_reports (site, equipment_id, bearing_id, received_at_ms DESC);
CREATE INDEX work_reports_of_event ON work_reports (event_id) WHERE event_id IS NOT NULL;
INSERT INTO work_reports (report_id, site, equipment_id, bearing_id, event_id, state, by_whom, at_ms,
                          received_at_ms, note, repaired, verdict, element, cause, actions)
SELECT randomblob(16), site, equipment_id, bearing_id, event_id,
       CASE WHEN state = 'dropped' THEN 'dropped' ELSE 'done' END, COALESCE(by_whom, '-'),
       COALESCE(at_ms, asked_at_ms), COALESCE(at_ms, asked_at_ms),
       CASE WHEN state = 'superseded' THEN NULL ELSE note END, repaired, verdict, element, cause, 1
FROM follow_ups
WHERE verdict IS NOT NULL OR (by_whom IS NOT NULL AND state IN ('done', 'dropped'));
