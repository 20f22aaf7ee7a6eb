//! The agent: events in, judgement, memory and notification out. It interprets, it never computes;
//! the pictures of a captured waveform (`captures`), which people look at, are the exception.
//!
//! The flow: `mqtt` → `intake` → [`pdm_store`] → [`judging`] ([`workflow`]) → the outbox in
//! [`pdm_store`] → `notify`. [`service`] starts and stops it all; [`settings`] is what `agent.toml`
//! says; [`progress`] is what the program that started it may watch.

pub mod cli;
pub mod configuration;
pub mod documents;
pub mod home_assistant;
pub mod judging;
pub mod preview;
pub mod progress;
pub mod scenario;
pub mod service;
pub mod settings;
pub mod traces;
pub mod workflow;

mod admission;
mod assets;
mod backtest;
mod captures;
mod conversation;
mod http;
mod intake;
mod model;
mod mqtt;
mod notify;
mod opinions;
mod photos;
mod removal;
mod retention;
mod vitals;
