-- A row of the outbox may name the event whose judgement it carries, in place of a copy of it. The
-- judgement stays for as long as such a row waits.
ALTER TABLE outbox ADD COLUMN judgement_of BLOB;
