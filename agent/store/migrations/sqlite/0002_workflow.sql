-- Where a run stands that is not finished: written after every node that leaves the fast path,
-- dropped in the transaction that writes the judgement. node: the one that comes next.
CREATE TABLE checkpoints (
    event_id       BLOB    PRIMARY KEY,
    node           TEXT    NOT NULL,
    state          TEXT    NOT NULL,
    updated_at_ms  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Every step of every run.
CREATE TABLE trace_steps (
    event_id  BLOB    NOT NULL,
    number    INTEGER NOT NULL,
    node      TEXT    NOT NULL,
    at_ms     INTEGER NOT NULL,
    detail    TEXT    NOT NULL,
    PRIMARY KEY (event_id, number)
) STRICT, WITHOUT ROWID;
