-- Days on which this store was looked through, in their order, and how far each table had come at the
-- first look of that day. What is kept for N days goes by these rows, not by the clock's: so a clock
-- that was set wrong, or right again, makes nothing old. At most one row a day, some 60 bytes.
CREATE TABLE days (
    id               BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    day              BIGINT NOT NULL UNIQUE, -- since 1970-01-01, as the clock told it
    at_ms            BIGINT NOT NULL,
    arrival          BIGINT NOT NULL,
    judgement        BIGINT NOT NULL,
    outbox           BIGINT NOT NULL,
    acknowledgement  BIGINT NOT NULL
);
