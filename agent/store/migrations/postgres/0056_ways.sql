-- The rows of one notification, whatever lane they leave by: asked for when a lane does not take it.
CREATE INDEX outbox_ways ON outbox (notification_id) WHERE notification_id IS NOT NULL;
