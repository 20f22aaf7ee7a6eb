//! The publisher against a real Mosquitto: no event is lost in any failure of the broker.
//! R-EDGE-10.
//!
//! The oracle keeps every committed event as an obligation. A small agent stores the events that
//! arrive and writes receipts as the contract requires.

mod agent;
#[cfg(feature = "alsa")]
mod audio;
mod bit_equal;
mod captures;
mod checks;
mod commands;
mod delivery;
mod demands;
mod disk;
mod folder;
mod kills;
mod live;
mod refusals;
mod relearning;
mod secrets;
mod service;
mod stage;
mod tls;
