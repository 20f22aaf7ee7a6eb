-- The alarm of one cause with which an episode is told: its bearing (site/machine/bearing) and its level
-- then. Before, both stood within the reason of the suppression alone.
ALTER TABLE episodes ADD COLUMN beside TEXT;
ALTER TABLE episodes ADD COLUMN beside_level TEXT;
CREATE INDEX episodes_beside ON episodes (changed_at_ms)
    WHERE beside IS NOT NULL AND closed_at_ms IS NULL;
UPDATE episodes
SET beside = substr(json_extract(suppression, '$.reason'), 16, length(json_extract(suppression, '$.reason')) - 19 - length(l.level)), beside_level = l.level
FROM (SELECT 'Watch' AS level UNION ALL SELECT 'Warning' UNION ALL SELECT 'Critical') AS l
WHERE closed_at_ms IS NULL AND state = 'suppressed_by_design'
  AND json_extract(suppression, '$.reason') LIKE 'one cause with % at ' || l.level;
