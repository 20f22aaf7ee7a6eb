-- Format 4: the hours in which something was committed, in their order, and the last number given out
-- before each. The age of a row goes by these, not by the clock's time that stands in it: so a clock
-- that was set wrong, or right again, makes no event too old.

CREATE TABLE hours (
    id      INTEGER PRIMARY KEY,
    hour    INTEGER NOT NULL UNIQUE, -- since 1970-01-01T00:00:00Z, as the clock told it
    through INTEGER NOT NULL
);
