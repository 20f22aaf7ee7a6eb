-- The oldest judgements of healthy windows, which make room first where [store] max_bytes is reached.
CREATE INDEX memory_normal ON pdm_agent_memory (id) WHERE risk_level = 'Normal';
