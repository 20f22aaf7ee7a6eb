-- Events that wait for a judgement, by the gateway that sent them: gateways are judged in turn. gateway is
-- the hash of site/gateway.
ALTER TABLE events_unjudged ADD COLUMN gateway INTEGER NOT NULL DEFAULT 0;
UPDATE events_unjudged SET gateway = hashtext(events.site || '/' || events.gateway_id)
    FROM events WHERE events.event_id = events_unjudged.event_id;
CREATE INDEX events_unjudged_gateway ON events_unjudged (gateway, arrival);
-- What tells staff something is claimed before the publications, which may wait in tens of thousands.
CREATE INDEX outbox_telling ON outbox (lane, id)
    WHERE state = 'waiting' AND notification_id IS NOT NULL;
-- Refused messages leave by a lane of their own.
UPDATE outbox SET lane = 'dead_letters'
    WHERE lane = 'mqtt' AND state = 'waiting' AND notification_id IS NULL
      AND topic LIKE '%/dead-letter';
