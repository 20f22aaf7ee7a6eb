-- How far an alarm has been told along its route, JSON, and when the next step or the end of the quiet
-- hours is due; null where everybody was told at once.
ALTER TABLE episodes ADD COLUMN telling TEXT;
ALTER TABLE episodes ADD COLUMN telling_at_ms INTEGER;
CREATE INDEX episodes_to_tell ON episodes (telling_at_ms)
    WHERE telling_at_ms IS NOT NULL AND closed_at_ms IS NULL;
