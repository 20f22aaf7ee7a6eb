//! Small programs that a language model writes to call tools (R-CODE-1): a dialect of Python, run
//! in a child process that the operating system confines.
//!
//! ```text
//! program ─► token ─► parse ─► run (values, functions, methods) ─► print, final_answer
//!                                └─ a tool's function ─► wire ─► host, in the parent ─► the tool
//! ```
//!
//! The dialect: variables, `if`, `for`, `while`, functions, lambdas, comprehensions, `try`,
//! f-strings, lists, dictionaries, sets, tuples, texts and numbers of 64 bits; `import json` and no
//! other module. There are no files, no network, no clock and no classes, because nothing of the
//! kind was built. What is not in the dialect is refused by its name.
//!
//! Two walls hold a hostile program. The interpreter counts steps, bytes and depth and tells the
//! model which limit it met. The process ([`child`]) is confined by the system before it reads the
//! program, so that an error of the interpreter costs that process alone; [`host`] ends it when its
//! time is over.
//!
//! Why an interpreter of its own: `starlark` 0.14.2 adds 85 packages and 148 s of processor time to
//! the release build (user and system time of its compiler runs, shared dependencies left out), 92
//! s of them in one crate; and it has no `while`, no `try` and no expressions in f-strings, which
//! models write. It would need the child process as well: `[0] * 2000000000` ends the process that
//! runs it.
//!
//! `monty` 0.0.23 (MIT; the newest that Rust 1.95 builds), a sandboxed Python whose programs stop
//! at a call of the host's and go on with its answer, came nearest. Behind the same limits of the
//! process, on 2026-11-28: it adds 51 packages and 103 s of processor time, measured the same way
//! (`monty` alone 64 s, 61 s in a second run; Ruff's parser and its tree 15 s), where 40 s were
//! allowed. One of the four seeds of `agent/fuzz/seeds/script` fails, and two of the 37 expressions
//! of `run/tests.rs` differ: texts have no `%`, dictionaries no `|`. Of the 62 hostile programs 53
//! end with a value or a reason and nine by an aborted process, since its limit of memory counts by
//! an allocator of the whole program (`monty-alloc`). It limits time and depth but no steps, so
//! that a program ends earlier on a slower machine. Calls of tools with their names and
//! `final_answer` work.

#![allow(
    clippy::cast_possible_wrap,
    clippy::wildcard_enum_match_arm,
    clippy::match_same_arms,
    clippy::unused_self,
    clippy::too_many_lines,
    clippy::single_match_else,
    clippy::unnested_or_patterns,
    clippy::wrong_self_convention,
    reason = "an interpreter matches tables of cases; lengths lie far below 2^31 by the limits"
)]

pub mod child;
pub mod host;

mod error;
mod json;
mod limits;
mod parse;
mod run;
mod syntax;
mod token;
mod value;
mod wire;

pub use host::{ProgramHost, ProgramOutcome, Session, ToolReply, Tools};

/// The hidden command of a program that can run such programs: it runs the one on standard input.
pub const COMMAND: &str = "run-program";

/// Longest program, bytes: the answer of a model has some 2,000 tokens.
pub const MAX_PROGRAM_BYTES: usize = 16 << 10;

/// Most characters of printed text that a program's run returns.
pub const MAX_PRINTED: usize = 4000;
