-- The judgement of the newest window of each bearing, which every list of bearings shows: looked up in the
-- judgements, a list of a thousand bearings read a thousand scattered rows. last_event_id is null once that
-- judgement is no longer kept.
ALTER TABLE bearings ADD COLUMN last_event_id UUID;
ALTER TABLE bearings ADD COLUMN last_measured_at_ms BIGINT;
ALTER TABLE bearings ADD COLUMN last_rul_hours DOUBLE PRECISION;
UPDATE bearings SET (last_event_id, last_measured_at_ms, last_rul_hours) = (
    SELECT l.event_id, l.measured_at_ms, l.rul_hours FROM pdm_agent_memory l
    WHERE l.site = bearings.site AND l.equipment_id = bearings.equipment_id
      AND l.bearing_id = bearings.bearing_id
    ORDER BY l.measured_at_ms DESC, l.id DESC LIMIT 1);
