//! Tests situations that brokers, databases, mail servers, gateways and machines meet in the field:
//! each is played against the real programs, and each test is named by the claim that holds in it.
//! R-AGENT-10.

#[path = "../hostile/open_plant.rs"]
#[allow(dead_code, reason = "the suites share this plant, and each uses a part of it")]
mod open_plant;

mod beside;
mod blind;
mod broker;
mod channels;
mod clocks;
mod fail_over;
mod files;
mod gateway_files;
mod gateways;
mod metrics;
mod no_data;
mod old_image;
mod other_program;
mod packed;
mod poolers;
mod put_back;
mod reload;
mod removal;
mod rotation;
mod secrets;
mod slowed;
mod sole;
mod suppression;
mod unsent;
mod unset_clock;
mod watched;
