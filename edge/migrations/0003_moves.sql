-- Format 3: what moves rows from one state to another counts them all at once, where a
-- trigger counted each row.
--
-- tally.bytes therefore stays with the state a row arrived in: only its sum means something.

DROP TRIGGER delivery_moves;

-- What waits is found by walking the numbers: the publisher goes on from where it was, so it passes rows
-- that wait no more once. An index of them was written twice for every event.

DROP INDEX delivery_waiting;
