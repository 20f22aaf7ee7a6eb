//! Words that both programs use: units, identities, the contracts on the wire, risk, and the few
//! services every program needs (configuration, time, logging, shutdown).
//!
//! Nothing here does I/O but reading configuration and secrets. Without the feature `contracts`
//! only [`units`] and [`fault`] are left: what the pure signal crate needs.

pub mod fault;
pub mod units;

#[cfg(feature = "contracts")]
pub mod broker;
#[cfg(feature = "contracts")]
pub mod clock;
#[cfg(feature = "contracts")]
pub mod command_line;
#[cfg(feature = "contracts")]
pub mod config;
#[cfg(feature = "contracts")]
pub mod delivery;
#[cfg(feature = "contracts")]
pub mod diagnosis;
#[cfg(feature = "contracts")]
pub mod event;
#[cfg(feature = "contracts")]
pub mod exit;
#[cfg(feature = "contracts")]
pub mod id;
#[cfg(feature = "contracts")]
pub mod risk;
#[cfg(feature = "contracts")]
pub mod secret;
#[cfg(feature = "contracts")]
pub mod shutdown;
#[cfg(feature = "contracts")]
pub mod telemetry;
#[cfg(feature = "contracts")]
pub mod text;
#[cfg(feature = "contracts")]
pub mod topic;
