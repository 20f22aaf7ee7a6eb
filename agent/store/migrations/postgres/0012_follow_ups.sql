-- The last judgements of a bearing that differ or lie a day apart, JSON; null where an earlier version
-- wrote the bearing: its last judgements are read then.
ALTER TABLE bearings ADD COLUMN recent TEXT;
-- The work that judgements ask for, and what became of it. state: 'open', 'done', 'dropped',
-- 'superseded'. verdict: 'right', 'wrong', 'other_cause'. Judgements of earlier versions have theirs in
-- pdm_agent_memory.follow_up_actions alone.
CREATE TABLE follow_ups (
    event_id      UUID    NOT NULL,
    number        BIGINT NOT NULL,
    site          TEXT    NOT NULL,
    equipment_id  TEXT    NOT NULL,
    bearing_id    TEXT    NOT NULL,
    asked_at_ms   BIGINT NOT NULL,
    action_ko     TEXT    NOT NULL,
    action_en     TEXT    NOT NULL,
    due_at_ms     BIGINT,
    work_order    TEXT,
    state         TEXT    NOT NULL DEFAULT 'open',
    by_whom       TEXT,
    at_ms         BIGINT,
    note          TEXT,
    repaired      BIGINT NOT NULL DEFAULT 0,
    verdict       TEXT,
    element       TEXT,
    cause         TEXT,
    PRIMARY KEY (event_id, number)
);
CREATE INDEX follow_ups_of_bearing
    ON follow_ups (site, equipment_id, bearing_id, asked_at_ms DESC, number);
