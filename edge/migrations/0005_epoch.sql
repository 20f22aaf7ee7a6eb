-- Format 5: the count of sequence numbers has an identity, and the first number of that count which the
-- file can send. The program writes both when it opens the file; NULL: not written yet.

ALTER TABLE gateway ADD COLUMN epoch BLOB;
ALTER TABLE gateway ADD COLUMN epoch_first INTEGER;
