-- Alarms that were carried over from before there was `since_ms` have the time of the message that told them;
-- they were listed as of 1970.
UPDATE episodes
   SET since_ms = (extract(epoch FROM (notification::json ->> 'created_at')::timestamptz) * 1000)::bigint
 WHERE since_ms = 0 AND notification::json ->> 'created_at' ~ '^\d{4}-\d\d-\d\dT';
UPDATE episodes SET opened_at_ms = since_ms WHERE opened_at_ms = 0;
UPDATE episodes SET changed_at_ms = since_ms WHERE changed_at_ms = 0;
