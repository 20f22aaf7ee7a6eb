-- Series of measuring stations: any element, one value an instant (seconds since 1970, the station's
-- clock taken as UTC); a value that the station could not give is null.
CREATE TABLE series_values (
    station_id  BIGINT  NOT NULL,
    element     TEXT    NOT NULL,
    at_s        BIGINT  NOT NULL,
    value       DOUBLE PRECISION,
    PRIMARY KEY (station_id, element, at_s)
);
-- Past cases: a stretch of a series, what it was, what became of it.
CREATE TABLE series_cases (
    id          TEXT    NOT NULL PRIMARY KEY,
    station_id  BIGINT  NOT NULL,
    element     TEXT    NOT NULL,
    from_s      BIGINT  NOT NULL,
    to_s        BIGINT  NOT NULL,
    what_ko     TEXT    NOT NULL,
    what_en     TEXT    NOT NULL,
    outcome_ko  TEXT    NOT NULL,
    outcome_en  TEXT    NOT NULL
);
CREATE INDEX series_cases_by_end ON series_cases (to_s DESC);
-- Numbers under which bearings are stations; their elements are the features of their events.
CREATE TABLE series_stations (
    station_id    BIGINT  NOT NULL PRIMARY KEY,
    site          TEXT    NOT NULL,
    equipment_id  TEXT    NOT NULL,
    bearing_id    TEXT    NOT NULL,
    UNIQUE (site, equipment_id, bearing_id)
);
