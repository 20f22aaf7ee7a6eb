-- One row for each agent, written every few seconds: the store is watched by a write, since a store that can be read
-- and not written answers every question.
CREATE TABLE heartbeats (
    replica  TEXT   NOT NULL PRIMARY KEY,
    at_ms    BIGINT NOT NULL
);
