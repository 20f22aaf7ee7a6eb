-- What a gateway says of itself, until it says otherwise: why it cannot measure or keep its events, and when the
-- broker last threw it out. Of the lost events, how many staff has been told of.
ALTER TABLE gateways ADD COLUMN trouble TEXT;
ALTER TABLE gateways ADD COLUMN trouble_at_ms BIGINT;
ALTER TABLE gateways ADD COLUMN twin_at_ms BIGINT;
ALTER TABLE gateways ADD COLUMN lost_told BIGINT NOT NULL DEFAULT 0;
UPDATE gateways SET lost_told = lost_events;
