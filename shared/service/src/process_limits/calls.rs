//! The system calls that a confined process may not make, by seccomp.
//!
//! A list of what is refused, not of what is allowed: what the allocator, the standard library and
//! a parser call differs by machine and release, and a call that is missing from a list of allowed
//! ones would refuse every document. What is refused is what leads out of the process. Files that
//! are open already (the two pipes) stay usable. `RLIMIT_NPROC` is not set: it counts every thread
//! of the user, the parent's too.
//!
//! **Invariant.** No privilege can be gained any more (`no_new_privs`), and the filter cannot be
//! taken off.

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, apply_filter,
};

/// The filter was not made or not taken.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct CallError(#[from] seccompiler::Error);

impl From<BackendError> for CallError {
    fn from(error: BackendError) -> Self {
        Self(error.into())
    }
}

/// Network, programs, other processes, files by name, the kernel's larger surfaces.
const REFUSED: &[i64] = &[
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept4,
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_kill,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_openat,
    libc::SYS_openat2,
    libc::SYS_open_by_handle_at,
    libc::SYS_unlinkat,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_mkdirat,
    libc::SYS_mknodat,
    libc::SYS_renameat2,
    libc::SYS_fchmodat,
    libc::SYS_fchownat,
    libc::SYS_truncate,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_kexec_load,
];

/// Forms of some of them that only this processor has.
#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[i64] = &[
    libc::SYS_open,
    libc::SYS_creat,
    libc::SYS_fork,
    libc::SYS_vfork,
    libc::SYS_accept,
    libc::SYS_unlink,
    libc::SYS_rename,
    libc::SYS_link,
    libc::SYS_symlink,
    libc::SYS_mkdir,
    libc::SYS_rmdir,
    libc::SYS_mknod,
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_renameat,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[i64] = &[];

/// Refuses the calls for the rest of this process's life. On a processor that the crate has no
/// filter for (32 bits) nothing is refused, and the limits of resources hold alone.
pub(super) fn refuse() -> Result<(), CallError> {
    let Ok(arch) = TargetArch::try_from(std::env::consts::ARCH) else { return Ok(()) };
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        REFUSED.iter().chain(REFUSED_HERE).map(|&call| (call, Vec::new())).collect();
    rules.insert(libc::SYS_clone, vec![new_process()?]);
    install(arch, rules, libc::EPERM)?;
    // its flags lie in memory, where a filter cannot look: the library then makes its threads by
    // `clone`
    install(arch, BTreeMap::from([(libc::SYS_clone3, Vec::new())]), libc::ENOSYS)
}

/// A `clone` that makes no thread.
fn new_process() -> Result<SeccompRule, CallError> {
    let thread = u64::from(libc::CLONE_THREAD.unsigned_abs());
    let is_thread = SeccompCmpOp::MaskedEq(thread);
    let none = SeccompCondition::new(0, SeccompCmpArgLen::Qword, is_thread, 0)?;
    Ok(SeccompRule::new(vec![none])?)
}

fn install(
    arch: TargetArch,
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    error: i32,
) -> Result<(), CallError> {
    let refused = SeccompAction::Errno(error.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, arch)?;
    let program: BpfProgram = filter.try_into()?;
    Ok(apply_filter(&program)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a thread of its own: a filter holds for the thread that installs it and those it starts.
    #[test]
    fn a_confined_thread_reaches_no_network_no_file_and_no_program() {
        let refused = std::thread::spawn(|| {
            refuse().expect("the kernel takes the filter");
            let kind = |error: std::io::Error| error.raw_os_error();
            [
                std::net::TcpStream::connect("127.0.0.1:1").err().and_then(kind),
                std::os::unix::net::UnixStream::pair().err().and_then(kind),
                std::fs::File::open("/proc/self/status").err().and_then(kind),
                std::fs::remove_file("/nonexistent").err().and_then(kind),
                std::process::Command::new("/bin/true").spawn().err().and_then(kind),
            ]
        });
        let refused = refused.join().expect("the thread ends");
        assert_eq!(refused, [Some(libc::EPERM); 5]);
        assert!(std::fs::File::open("/proc/self/status").is_ok(), "other threads are free");
        let with_thread = std::thread::spawn(|| {
            refuse().expect("the kernel takes the filter");
            std::thread::spawn(|| 7).join().expect("threads still start")
        });
        assert_eq!(with_thread.join().expect("the thread ends"), 7);
    }
}
