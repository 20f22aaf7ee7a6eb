-- A gateway is named by site and gateway: two sites may use one gateway name.
--
-- epoch: the gateway's count of sequence numbers, as its status names it. epoch_before: the count
-- before that, whose events may still be on their way. told_through: the last number that its status
-- has named. proven: its events have come under a topic that names the gateway.

ALTER TABLE gateways RENAME TO gateways_before;
CREATE TABLE gateways (
    site              TEXT    NOT NULL,
    gateway_id        TEXT    NOT NULL,
    highest_sequence  BIGINT  NOT NULL DEFAULT 0,
    lost_events       BIGINT  NOT NULL DEFAULT 0,
    last_event_at_ms  BIGINT ,
    presence          TEXT,
    presence_at_ms    BIGINT ,
    epoch             UUID,
    epoch_before      UUID,
    told_through      BIGINT  NOT NULL DEFAULT 0,
    proven            BOOLEAN NOT NULL DEFAULT FALSE,
    PRIMARY KEY (site, gateway_id)
) WITH (fillfactor = 50);
INSERT INTO gateways (site, gateway_id, highest_sequence, lost_events, last_event_at_ms, presence,
                      presence_at_ms)
    SELECT site, gateway_id, highest_sequence, lost_events, last_event_at_ms, presence,
           presence_at_ms
    FROM gateways_before;

-- Sites that shared a row: each goes on at the highest number among its own events.
CREATE TEMPORARY TABLE told ON COMMIT DROP AS
    SELECT site, gateway_id, max(sequence) AS highest, max(received_at_ms) AS at_ms FROM events
    WHERE sequence <= 9007199254740991 GROUP BY site, gateway_id;
UPDATE gateways SET highest_sequence =
        coalesce((SELECT highest FROM told
                WHERE told.site = gateways.site AND told.gateway_id = gateways.gateway_id), 0)
    WHERE (SELECT count(*) FROM told WHERE told.gateway_id = gateways.gateway_id) > 1
       OR highest_sequence > 9007199254740991;
INSERT INTO gateways (site, gateway_id, highest_sequence, last_event_at_ms)
    SELECT site, gateway_id, highest, at_ms FROM told
    ON CONFLICT (site, gateway_id) DO NOTHING;

ALTER TABLE sequence_gaps RENAME TO sequence_gaps_before;
CREATE TABLE sequence_gaps (
    site            TEXT    NOT NULL,
    gateway_id      TEXT    NOT NULL,
    first_sequence  BIGINT  NOT NULL,
    last_sequence   BIGINT  NOT NULL,
    noticed_at_ms   BIGINT  NOT NULL,
    lost            BOOLEAN NOT NULL DEFAULT FALSE,
    PRIMARY KEY (site, gateway_id, first_sequence)
);
-- a gap above the highest number belonged to another site
INSERT INTO sequence_gaps
    SELECT gateways.site, gateways.gateway_id, first_sequence,
           least(last_sequence, gateways.highest_sequence - 1), noticed_at_ms, lost
    FROM sequence_gaps_before
    JOIN gateways_before USING (gateway_id)
    JOIN gateways ON gateways.site = gateways_before.site
                 AND gateways.gateway_id = gateways_before.gateway_id
    WHERE first_sequence < gateways.highest_sequence;
DROP TABLE sequence_gaps_before;
DROP TABLE gateways_before;

-- Which gateway measures a bearing: that of its first event, until an operator releases the bearing.
-- bearing: site/equipment/bearing, as in the topic.
CREATE TABLE bearing_gateways (
    bearing     TEXT    PRIMARY KEY,
    site        TEXT    NOT NULL,
    gateway_id  TEXT    NOT NULL,
    since_ms    BIGINT  NOT NULL
);
CREATE INDEX bearing_gateways_new ON bearing_gateways (site, gateway_id, since_ms);
-- Bearings that are known already belong to the gateway of their last event. Time 0: they do not
-- count as new.
INSERT INTO bearing_gateways
    SELECT site || '/' || equipment_id || '/' || bearing_id, site, gateway_id, 0 FROM (
        SELECT b.site, b.equipment_id, b.bearing_id,
               (SELECT e.gateway_id FROM events e
                WHERE e.site = b.site AND e.equipment_id = b.equipment_id
                  AND e.bearing_id = b.bearing_id
                ORDER BY e.measured_at_ms DESC LIMIT 1) AS gateway_id
        FROM bearings b) AS known
    WHERE gateway_id IS NOT NULL;
