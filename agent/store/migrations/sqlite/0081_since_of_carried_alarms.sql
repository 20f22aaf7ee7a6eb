-- Alarms that were carried over from before there was `since_ms` have the time of the message that told them;
-- they were listed as of 1970.
UPDATE episodes
   SET since_ms = CAST(strftime('%s', json_extract(notification, '$.created_at')) AS INTEGER) * 1000
 WHERE since_ms = 0 AND json_valid(notification)
   AND strftime('%s', json_extract(notification, '$.created_at')) IS NOT NULL;
UPDATE episodes SET opened_at_ms = since_ms WHERE opened_at_ms = 0;
UPDATE episodes SET changed_at_ms = since_ms WHERE changed_at_ms = 0;
