-- Windows that came late, whose judgement is that of the bearing when they came and not of their own time.
CREATE INDEX memory_late
    ON pdm_agent_memory (site, equipment_id, bearing_id, measured_at_ms, judged_at_ms, event_id)
    WHERE late;
