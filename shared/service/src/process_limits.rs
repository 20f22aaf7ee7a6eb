//! Limits that the operating system holds a process to.
//!
//! A program that parses a foreign file does so in a child process. [`confine`] is the first thing
//! that the child does, so that a hostile file can cost it no more than these limits: an overflow
//! of the stack, a huge allocation or an endless loop ends the child alone. A hostile file that
//! takes the child over finds no network, no file, no new process and no other process to talk to:
//! those system calls are refused ([`calls`]).

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

mod calls;

pub use calls::CallError;

/// The limits of a confined process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Confinement {
    /// Most bytes of writable private memory.
    pub memory_bytes: u64,
    /// Most seconds of processor time; after them the kernel kills the process.
    pub cpu_s: u64,
}

/// A limit that the operating system did not accept. The caller does not parse anything.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LimitError {
    /// A resource.
    #[error("cannot limit {what} of this process: {source}")]
    Resource {
        /// The name of the limit.
        what: &'static str,
        /// The error of the system.
        source: rustix::io::Errno,
    },
    /// The system calls.
    #[error("cannot limit the system calls of this process: {0}")]
    Calls(#[from] CallError),
}

/// Open files of a confined process: standard input, output and error.
const STANDARD_STREAMS: u64 = 3;

/// Address space above the memory limit: the program's own text, its libraries and what the
/// allocator reserves without using it (a debug build maps about 300 MB of text).
const ADDRESS_SPACE_ABOVE: u64 = 512 << 20;

/// Confines this process for the rest of its life: memory, processor time, no new file, nothing
/// written to a file, no core dump, no process of its own, no network.
///
/// # Errors
/// [`LimitError`] with the name of the limit.
pub fn confine(limits: Confinement) -> Result<(), LimitError> {
    let address_space = limits.memory_bytes.saturating_add(ADDRESS_SPACE_ABOVE);
    for (what, resource, most) in [
        ("the core dump", Resource::Core, 0),
        ("the memory", Resource::Data, limits.memory_bytes),
        ("the address space", Resource::As, address_space),
        ("the processor time", Resource::Cpu, limits.cpu_s),
        ("the written bytes", Resource::Fsize, 0),
        ("the open files", Resource::Nofile, STANDARD_STREAMS),
    ] {
        let limit = Rlimit { current: Some(most), maximum: Some(most) };
        setrlimit(resource, limit).map_err(|source| LimitError::Resource { what, source })?;
    }
    calls::refuse()?;
    Ok(())
}

/// Raises the number of files and connections that this process may open to `wanted`, or to what
/// the system allows if that is less; returns the number. A shell's usual 1,024 is less than the
/// connections of a broker and two HTTP servers together.
pub fn raise_open_files(wanted: u64) -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let allowed = limit.maximum.unwrap_or(u64::MAX);
    let current = limit.current.unwrap_or(u64::MAX);
    let target = wanted.min(allowed);
    if current >= target {
        return current;
    }
    let raised = Rlimit { current: Some(target), maximum: limit.maximum };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => target,
        Err(error) => {
            tracing::warn!(%error, current, target, "the number of open files cannot be raised");
            current
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_open_files_is_raised_and_never_lowered() {
        let before = raise_open_files(1);
        let after = raise_open_files(before + 1);
        assert!(after >= before, "{before} {after}");
        assert_eq!(raise_open_files(1), after);
    }
}
