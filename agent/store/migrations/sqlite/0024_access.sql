-- Users of the pages and the API. password: a PHC string (argon2id), null for a program that has tokens
-- alone.
CREATE TABLE users (
    name           TEXT    NOT NULL PRIMARY KEY,
    role           TEXT    NOT NULL,
    password       TEXT,
    disabled       INTEGER NOT NULL DEFAULT 0,
    created_at_ms  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- Bearer tokens of users. hash: SHA-256 of 256 random bits.
CREATE TABLE user_tokens (
    hash           BLOB    NOT NULL PRIMARY KEY,
    user_name      TEXT    NOT NULL,
    label          TEXT    NOT NULL,
    created_at_ms  INTEGER NOT NULL,
    expires_at_ms  INTEGER,
    UNIQUE (user_name, label)
) STRICT, WITHOUT ROWID;
-- Open sessions of browsers. user_name: null for the holder of the configured token. credential: the
-- digest of what the owner logged in with.
CREATE TABLE sessions (
    hash          BLOB    NOT NULL PRIMARY KEY,
    user_name     TEXT,
    credential    BLOB    NOT NULL,
    opened_at_ms  INTEGER NOT NULL,
    seen_at_ms    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- Who did what.
CREATE TABLE acts (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms   INTEGER NOT NULL,
    who     TEXT    NOT NULL,
    via     TEXT    NOT NULL,
    peer    TEXT,
    action  TEXT    NOT NULL,
    what    TEXT    NOT NULL
) STRICT;
-- Keys that the agent makes for itself.
CREATE TABLE own_keys (
    name           TEXT    NOT NULL PRIMARY KEY,
    key            BLOB    NOT NULL,
    created_at_ms  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX follow_ups_by_time ON follow_ups (asked_at_ms DESC, event_id DESC, number);
