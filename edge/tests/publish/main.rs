//! The publisher against a real Mosquitto: nothing is lost, whatever the broker does. R-EDGE-10.
//!
//! The oracle holds every committed event as an obligation; a small agent stores what arrives and
//! writes receipts, as the contract asks of it.

mod agent;
mod commands;
mod delivery;
mod disk;
mod kills;
mod live;
mod refusals;
mod secrets;
mod service;
mod stage;
mod tls;
