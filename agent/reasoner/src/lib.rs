//! A language model beside the expert: second opinions on events, and a conversation.
//!
//! The model adds reading and words; the program holds it. It never decides what staff is told less of:
//! the risk never falls below the expert's, its tools only read, and every figure in its words is put
//! there, or checked, by the program.
//!
//! ```text
//! opinion, chat ─► dialect ─► wire ─► client ─► an OpenAI-compatible server
//!      └─► guard, budget, prompt, toolbox
//! ```
//!
//! What decides is pure (`wire`, `retry`, `dialect`, `guard`, `budget`, `verdict`);
//! `client` is the only module that talks to the server, `toolbox` the only one that calls tools.

pub mod budget;
pub mod chat;
pub mod client;
pub mod dialect;
pub mod guard;
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
