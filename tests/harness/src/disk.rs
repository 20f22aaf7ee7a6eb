//! A separate disk that can become full: a tmpfs, which only root may mount.

use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::needs::{is_root, not_run};

/// A mounted tmpfs, unmounted when dropped.
#[derive(Debug)]
pub struct SmallDisk {
    folder: TempDir,
    size_kib: u64,
}

impl SmallDisk {
    /// Mounts an empty disk of `size_mib`, or notes that this machine does not allow it.
    ///
    /// # Panics
    /// If there is no temporary folder.
    pub fn mount(test: &str, size_mib: u64) -> Option<Self> {
        if !is_root() {
            not_run(test, "only root may mount a small disk");
            return None;
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        let size_kib = size_mib * 1024;
        let mounted = mount(&["-t", "tmpfs", "-o", &format!("size={size_kib}k"), "tmpfs"], &folder);
        if !mounted {
            not_run(test, "this machine lets nobody mount a tmpfs");
            return None;
        }
        Some(Self { folder, size_kib })
    }

    /// The folder of the disk.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Leaves no room: the next page is refused.
    ///
    /// # Panics
    /// If the disk cannot be shrunk to its contents.
    pub fn fill(&self) {
        // the size must not go below the contents, which may grow meanwhile
        let filled = (0..100).any(|_| self.used_kib().is_some_and(|used| self.resize(used.max(4))));
        assert!(filled, "{} cannot be filled", self.path().display());
    }

    /// Makes the disk large again.
    ///
    /// # Panics
    /// If the disk cannot be enlarged.
    pub fn make_room(&self) {
        assert!(self.resize(self.size_kib), "{} cannot grow", self.path().display());
    }

    fn resize(&self, kib: u64) -> bool {
        mount(&["-o", &format!("remount,size={kib}k")], &self.folder)
    }

    fn used_kib(&self) -> Option<u64> {
        let told =
            Command::new("df").args(["-k", "--output=used"]).arg(self.path()).output().ok()?;
        String::from_utf8_lossy(&told.stdout).lines().nth(1)?.trim().parse().ok()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // lazily: a program that is ending may still have files open
        let _unmounted = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}

fn mount(arguments: &[&str], folder: &TempDir) -> bool {
    let done =
        Command::new("mount").args(arguments).arg(folder.path()).stderr(Stdio::null()).status();
    done.is_ok_and(|status| status.success())
}
