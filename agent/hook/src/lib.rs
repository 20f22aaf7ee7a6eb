//! Templated web hooks: one request, described by a file, for every receiver that takes one. SMS,
//! messengers and push services are files of [`config/hooks`](../../../config/hooks), not code.
//!
//! The way of a message: `template` (the file, compiled) → `message` (what a template may name) →
//! `body` (the request's text) → `sign` and `token` (who sends it) → `hook` (the request) →
//! `answer` (what became of it: `said` is its text, `failure` whether it says no). Invariants: a
//! text of a notification is data in a tree and never part of its syntax; a secret stands in no
//! error and no log; nothing is followed elsewhere.

mod answer;
mod asked;
mod body;
mod failure;
mod filled;
mod hook;
mod limit;
mod message;
mod presets;
mod proxy;
mod rate;
mod said;
mod sign;
mod template;
mod token;

pub use answer::{Verdict, is_page};
pub use asked::{asked_wait, redirect_in_words};
pub use failure::says_failure;
pub use hook::{Address, Hook, HookError, Sent};
pub use message::Message;
pub use presets::{PRESETS, preset};
pub use proxy::{beside_proxy, by_proxy};
pub use said::{SaidBody, asking_for_plain_answers, said_body};
pub use template::{HookTemplate, TemplateError};
