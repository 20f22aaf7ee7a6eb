//! The agent: events in, judgement, memory and notification out. It interprets, it never computes.
//!
//! [`service`] starts and stops it; [`settings`] is what `agent.toml` says; [`progress`] is what the
//! program that started it may watch.

pub mod progress;
pub mod service;
pub mod settings;
