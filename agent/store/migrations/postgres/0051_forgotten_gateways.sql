-- Gateways that were taken out: a status that the broker retains and that says offline does not bring
-- them back.
CREATE TABLE forgotten_gateways (
    site        TEXT NOT NULL,
    gateway_id  TEXT NOT NULL,
    PRIMARY KEY (site, gateway_id)
);
