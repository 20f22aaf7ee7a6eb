-- What pages read: notifications by time, of all and of a bearing; remarks of a bearing; work that waits;
-- the last spectra of a bearing. Without the last one a bearing whose windows carry no spectra has all of
-- its payloads read.
CREATE INDEX notifications_by_time ON notifications (created_at_ms DESC);
CREATE INDEX notifications_of_bearing
    ON notifications (site, equipment_id, bearing_id, created_at_ms DESC);
CREATE INDEX acknowledgements_of_bearing
    ON acknowledgements (site, equipment_id, bearing_id, received_at_ms);
CREATE INDEX follow_ups_open ON follow_ups (asked_at_ms DESC, event_id DESC, number)
    WHERE state = 'open';
CREATE INDEX events_with_spectra
    ON events (site, equipment_id, bearing_id, measured_at_ms DESC)
    WHERE instr(payload, '"spectra":{') > 0;
CREATE INDEX outbox_given_up ON outbox (lane, settled_at_ms) WHERE state = 'given_up';
CREATE INDEX episodes_open_by_change ON episodes (changed_at_ms DESC, episode_id DESC)
    WHERE closed_at_ms IS NULL;
