//! The edge as a service inside a process: start it, watch it, stop it.
//!
//! `pdm-edge run`, `pdm demo`, `pdm up` and the tests start the same service.
//!
//! ```text
//! per source   reader (thread) ─► queue ─► measurer (thread) ─┐
//!                                 blocks   windows → events   │ batches (4, block)
//!                                                             ▼
//! all                                   committer (task) ─► spool ─► publisher (task)
//! ```
//! Queues are bounded. That of a recording blocks its reader; that of a live source drops its
//! oldest blocks and counts them. Stopping goes the way of the data: queues close, measurers finish
//! what they hold, the committer commits it, the publisher drains within the grace period.
//!
//! Invariants: an event, the condition of its point and the position in its source are committed
//! together, so a run that was killed goes on with the next window; a part that fails ends the
//! service with an error, the spool intact.

mod build;
mod committer;
mod failure;
mod handle;
mod looks;
mod measurer;
mod offline;
mod place;
pub mod point;
mod position;
pub mod progress;
mod queue;
mod reader;
pub mod relearn;
pub mod service;
mod tools;

pub(crate) use build::bearings;
pub use failure::ServiceError;
pub use handle::Handle;
pub use offline::{OfflineError, measure_all};
pub use progress::Progress;
pub use relearn::Relearning;
pub use service::{Edge, StartError};
pub use tools::Tools;
