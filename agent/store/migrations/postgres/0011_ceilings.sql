-- Since when an alarm has stood at its level: an acknowledgement of before does not mean it. For an
-- alarm that stands already this is not known, so every acknowledgement may mean it.
ALTER TABLE alarms ADD COLUMN since_ms BIGINT NOT NULL DEFAULT 0;
-- What each lane has delivered in an hour, counted in messages, and whether its summary has left.
CREATE TABLE told_hours (
    lane       TEXT    NOT NULL,
    hour_ms    BIGINT  NOT NULL,
    messages   BIGINT  NOT NULL DEFAULT 0,
    summaries  BIGINT  NOT NULL DEFAULT 0,
    PRIMARY KEY (lane, hour_ms)
);
-- Rows above the ceiling (state 'held') wait for the next summary.
CREATE INDEX outbox_held ON outbox (lane, id) WHERE state = 'held';
