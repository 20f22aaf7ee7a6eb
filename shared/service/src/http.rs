//! What every HTTP server of ours shares: the guard and the metrics' text.

pub mod guard;
pub mod recorder;
