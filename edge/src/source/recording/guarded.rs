//! Calls into readers of other authors, whose panic on a damaged file is an error of that file.
//!
//! This is a last resort: the readers check what they read, and their limits are set below the
//! memory of the service. Where one still panics, the person hears of the file, and the program
//! goes on to the next one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use super::SourceError;

/// The result of a reader, or the error that it panicked. What it borrowed is not used again.
pub(super) fn guarded<T>(
    path: &Path,
    format: &str,
    read: impl FnOnce() -> Result<T, SourceError>,
) -> Result<T, SourceError> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| {
        let what = format!("the reader of {format} failed on this file: it is damaged");
        Err(SourceError::malformed(path, what))
    })
}
