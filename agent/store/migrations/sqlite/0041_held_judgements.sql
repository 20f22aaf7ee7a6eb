-- A judgement that waits for a language model: its run is a checkpoint of an unjudged event, and the model is
-- asked through the queue of second opinions. held_until_ms: until when it waits; 0 while the wait is over and
-- the judgement is not stored yet; null for opinions that come beside or after a stored judgement. While it is
-- above 0 no event of the bearing is judged. opinion: what the judgement shall take in, JSON.
ALTER TABLE second_opinions ADD COLUMN held_until_ms INTEGER;
ALTER TABLE second_opinions ADD COLUMN opinion TEXT;
CREATE INDEX second_opinions_held ON second_opinions (site, equipment_id, bearing_id)
    WHERE held_until_ms > 0;
