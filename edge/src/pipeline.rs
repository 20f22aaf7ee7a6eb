//! The edge as a service inside a process: starting, watching and stopping it.
//!
//! `pdm-edge run`, `pdm demo`, `pdm up` and the tests start the same service.
//!
//! ```text
//! per source   reader (thread) ─► queue ─► measurer (thread) ─┐
//!                                 blocks   windows → events   │ batches (4, block)
//!                                                             ▼
//! all                                   committer (task) ─► spool ─► publisher (task)
//!              measurer ─ blocks, events ─► capture (thread, where configured) ─► files
//! ```
//! Queues are bounded. The queue of a recording blocks its reader; the queue of a live source drops
//! its oldest blocks and counts them. Parts stop in the direction of the data: the queues close,
//! the measurers finish the blocks inside, the committer commits their events, the publisher sends
//! them within the grace period ([`service`]).
//!
//! Invariants: an event, the condition of its point and the position in its source are committed
//! together, so a run that was killed continues with the next window; a part that fails ends the
//! service with an error and leaves the spool consistent.

mod build;
mod committer;
mod failure;
mod fft_plans;
mod handle;
mod left_out;
mod log;
mod looks;
mod machines;
mod measurer;
mod next_window;
mod offline;
mod pacing;
pub mod point;
mod position;
mod queue;
mod reader;
mod repeats;
pub mod service;
mod start_error;
mod task;
mod timing;

pub use failure::{EdgePart, ServiceError};
pub use fft_plans::FftPlans;
pub use handle::Handle;
pub use machines::tell_once;
pub use offline::{OfflineError, measure_all};
pub use service::Edge;
pub use start_error::StartError;
