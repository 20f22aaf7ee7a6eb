-- Events that wait for a judgement, by the gateway that sent them: gateways are judged in turn.
CREATE INDEX events_waiting ON events (site || '/' || gateway_id, arrival) WHERE judged = 0;
-- What tells staff something is claimed before the publications, which may wait in tens of thousands.
CREATE INDEX outbox_telling ON outbox (lane, id)
    WHERE state = 'waiting' AND notification_id IS NOT NULL;
-- Refused messages leave by a lane of their own.
UPDATE outbox SET lane = 'dead_letters'
    WHERE lane = 'mqtt' AND state = 'waiting' AND notification_id IS NULL
      AND topic LIKE '%/dead-letter';
