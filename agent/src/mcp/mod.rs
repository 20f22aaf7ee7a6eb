//! The tools over the Model Context Protocol: [`server`] offers every tool of the catalogue,
//! [`http`] and [`stdio`] carry it, [`client`] is how the workflow calls them (and how a tool of
//! another server is called).
//!
//! The protocol is spoken up to revision 2025-11-25: sessions, structured answers,
//! `tools/list_changed`.

pub mod client;
pub mod http;
pub mod server;
pub mod stdio;

/// Key in a call's `_meta` that names the call, so that a repeated one acts once.
const CALL_ID: &str = "io.pdm/call-id";
/// Key in an answer's `_meta`: what is known of the answer beside its content.
const ANSWER: &str = "io.pdm/answer";
