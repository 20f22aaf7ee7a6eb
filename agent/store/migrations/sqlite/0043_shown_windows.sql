-- What a row of a bearing's windows shows stands beside the event and in its index, and so does the verdict of its
-- judgement: a thousand windows are a few hundred pages that lie together, where they were a thousand events and a
-- thousand judgements. Events of before have no `shown`; their text is read.
ALTER TABLE events ADD COLUMN shown TEXT;
DROP INDEX events_of_bearing;
CREATE INDEX events_of_bearing
    ON events (site, equipment_id, bearing_id, measured_at_ms, arrival, event_id, shown);
DROP INDEX memory_of_bearing;
CREATE INDEX memory_of_bearing
    ON pdm_agent_memory (site, equipment_id, bearing_id, measured_at_ms DESC, id DESC,
                         event_id, risk_level, fault_stage, fault_type);
