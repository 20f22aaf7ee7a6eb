-- Who claimed a row of the outbox: a restarted agent frees its own claims and no others.
ALTER TABLE outbox ADD COLUMN claimed_by TEXT;
UPDATE outbox SET claimed_by = 'agent' WHERE state = 'waiting';
