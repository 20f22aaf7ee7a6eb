-- Gateways whose events are refused, by bearing and cause, until staff has put it right: the first event's
-- reason, how often, and when staff was told of it. At most 40 rows a gateway.
CREATE TABLE refusals (
    site         TEXT    NOT NULL,
    gateway_id   TEXT    NOT NULL,
    bearing      TEXT    NOT NULL,
    cause        TEXT    NOT NULL,
    reason       TEXT    NOT NULL,
    count        INTEGER NOT NULL,
    first_at_ms  INTEGER NOT NULL,
    last_at_ms   INTEGER NOT NULL,
    told_at_ms   INTEGER,
    PRIMARY KEY (site, gateway_id, bearing, cause)
) STRICT, WITHOUT ROWID;
