//! A language model beside the expert: second opinions on events, and a conversation.
//!
//! The model adds reading and words within limits that the program sets: the risk never falls below
//! the expert's, the tools only read, and the program inserts or checks every figure in the model's
//! words. The model never decides that staff is told less.
//!
//! ```text
//! opinion, chat ─► dialect ─► wire ─► client ─► an OpenAI-compatible server
//!      └─► guard, budget, prompt, toolbox
//! ```
//!
//! The modules that decide do no I/O (`wire`, `retry`, `dialect`, `guard`, `budget`, `verdict`);
//! `client` is the only module that talks to the server, `toolbox` the only one that calls tools.

pub mod budget;
pub mod chat;
pub mod client;
pub mod dialect;
pub mod guard;
pub mod links;
pub mod meter;
pub mod opinion;
pub mod probe;
pub mod prompt;
pub mod retry;
pub mod settings;
pub mod spans;
pub mod toolbox;
pub mod trouble;
pub mod verdict;
pub mod wire;
