-- A count of sequence numbers that a status has named while events of the gateway's own count still came: it is
-- kept beside it, and followed when they come no more.
ALTER TABLE gateways ADD COLUMN rival_epoch UUID;
