//! Files of others, and files that only this program may read.
//!
//! A foreign path may be a named pipe without a writer, a device without an end or a link to one of
//! these. [`open_regular`] opens a path without waiting and refuses everything but a regular file;
//! the check is made on the opened file, so the path cannot be exchanged in between.
//!
//! Databases, spools and what else holds a plant's data are made by [`make_private`] and
//! [`make_private_folder`]: mode 0600 and 0700, whatever the umask is.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{
    DirBuilderExt as _, FileTypeExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// Mode of a file that only its owner reads and writes.
const PRIVATE_FILE: u32 = 0o600;
/// Mode of a folder that only its owner opens.
const PRIVATE_FOLDER: u32 = 0o700;

/// Opens `path` for reading if it is a regular file, without waiting for a writer or a device.
///
/// # Errors
/// The operating system's error, or `InvalidInput` that says what the path is instead of a file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let flags = i32::try_from((OFlags::NONBLOCK | OFlags::NOCTTY).bits()).unwrap_or(0);
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_file() {
        return Ok(file);
    }
    let what = if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_char_device() || kind.is_block_device() {
        "a device"
    } else {
        "a socket or another special file"
    };
    let told = format!("this is {what}; only a regular file is read");
    Err(io::Error::new(io::ErrorKind::InvalidInput, told))
}

/// The content of the regular file at `path`; `None` if it is longer than `limit` bytes, however
/// long the file system says it is.
///
/// # Errors
/// The errors of [`open_regular`], and of the read.
pub fn read_regular(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

/// [`read_regular`] for a file of `folder`, whose content may be quoted in messages: a link that
/// leads out of the folder is not followed.
///
/// # Errors
/// The errors of [`read_regular`], or `InvalidInput` for such a link.
pub fn read_regular_in(folder: &Path, path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    if !path.canonicalize()?.starts_with(folder.canonicalize()?) {
        let told = "this is a link that leads out of its folder; put the file itself there";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, told));
    }
    read_regular(path, limit)
}

/// Makes `path` an empty file that only its owner may read, or takes the rights of others away from
/// the file that is there. A database that is opened afterwards keeps the mode, and SQLite gives
/// its journal files the same.
///
/// # Errors
/// The operating system's error.
pub fn make_private(path: &Path) -> io::Result<()> {
    let made = OpenOptions::new().append(true).create(true).mode(PRIVATE_FILE).open(path)?;
    let mode = made.metadata()?.permissions().mode();
    if mode & 0o077 != 0 {
        made.set_permissions(Permissions::from_mode(PRIVATE_FILE))?;
    }
    Ok(())
}

/// [`make_private`] for a database of SQLite, with its missing folders and the files that SQLite
/// keeps beside it. A file of another owner keeps its mode, and a warning is logged.
///
/// # Errors
/// The operating system's error.
pub fn make_private_database(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        make_private_folder(folder)?;
    }
    let beside = ["-wal", "-shm", "-journal"].map(|suffix| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        std::path::PathBuf::from(name)
    });
    let there = beside.into_iter().filter(|path| path.exists());
    for path in std::iter::once(path.to_owned()).chain(there) {
        match make_private(&path) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && path.exists() => {
                let path = path.display();
                tracing::warn!(%path, %error, "others may be able to read this file");
            }
            made => made?,
        }
    }
    Ok(())
}

/// Lets this process make files and folders for its owner alone from now on (umask 0077): reports,
/// the broker's sessions, everything that no other function here makes.
pub fn keep_private() {
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
}

/// Makes the folder and its missing parents, each for its owner alone. A folder that is there keeps
/// its mode: others may have a reason to look into it.
///
/// # Errors
/// The operating system's error.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(PRIVATE_FOLDER).create(path)
}

/// The nearest folder above `path` that is there, where `program` can write a file; its probe is
/// removed again.
///
/// # Errors
/// That folder, and the operating system's error.
pub fn writable_folder(path: &Path, program: &str) -> Result<PathBuf, (PathBuf, io::Error)> {
    let mut folder = path.to_owned();
    folder.pop();
    while !folder.as_os_str().is_empty() && !folder.exists() {
        folder.pop();
    }
    if folder.as_os_str().is_empty() {
        folder = PathBuf::from(".");
    }
    let probe = folder.join(format!(".{program}-check-{}", std::process::id()));
    let tried = std::fs::write(&probe, b"check").and_then(|()| std::fs::remove_file(&probe));
    match tried {
        Ok(()) => Ok(folder),
        Err(error) => Err((folder, error)),
    }
}

/// Where the name of an opened file leads now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameLeads {
    /// The name leads to the file.
    ToIt,
    /// Nowhere: the file was moved or removed, and what is written to it goes when it is closed.
    Nowhere,
    /// The name leads to another file: a backup was put in its place.
    ToAnother,
}

/// Watches the name of a file that stays open: a program that writes to a file whose name was moved
/// or removed gets no error, and nobody finds what it wrote.
#[derive(Debug)]
pub struct WatchedName {
    path: PathBuf,
    opened: OwnedFd,
}

impl WatchedName {
    /// Watches the name of the file that `path` leads to now. The handle neither reads nor writes,
    /// so closing it releases no lock that SQLite holds on the file, as closing another handle
    /// would (<https://www.sqlite.org/howtocorrupt.html>, "Posix advisory locks").
    ///
    /// # Errors
    /// The operating system's error.
    pub fn new(path: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let opened = rustix::fs::open(path, flags, rustix::fs::Mode::empty())?;
        Ok(Self { path: path.to_owned(), opened })
    }

    /// Returns where the name leads now. A question that fails for another reason than a missing
    /// name is no evidence against the file.
    pub fn leads(&self) -> NameLeads {
        let Ok(opened) = rustix::fs::fstat(&self.opened) else { return NameLeads::ToIt };
        match rustix::fs::stat(&self.path) {
            Ok(found) if found.st_dev == opened.st_dev && found.st_ino == opened.st_ino => {
                NameLeads::ToIt
            }
            Ok(_) => NameLeads::ToAnother,
            Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => NameLeads::Nowhere,
            Err(_) => NameLeads::ToIt,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).expect("there").permissions().mode() & 0o777
    }

    #[test]
    fn a_link_is_followed_within_its_folder_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let (tools, data) = (folder.path().join("tools"), folder.path().join("tools/..data"));
        std::fs::create_dir_all(&data).expect("made");
        std::fs::write(data.join("a.yaml"), "a: 1").expect("written");
        std::fs::write(folder.path().join("secret"), "s3cret").expect("written");
        // as Kubernetes mounts a ConfigMap
        std::os::unix::fs::symlink("..data/a.yaml", tools.join("a.yaml")).expect("a link");
        std::os::unix::fs::symlink("../secret", tools.join("b.yaml")).expect("a link");
        let read = |name: &str| read_regular_in(&tools, &tools.join(name), 100);
        assert_eq!(read("a.yaml").expect("read"), Some(b"a: 1".to_vec()));
        let refused = read("b.yaml").expect_err("refused").to_string();
        assert!(refused.contains("leads out of its folder"), "{refused}");
    }

    #[test]
    fn only_a_regular_file_is_opened_and_nothing_is_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe.npy");
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("runs").success());
        let endless = folder.path().join("zero.npy");
        std::os::unix::fs::symlink("/dev/zero", &endless).expect("a link");
        for (path, expected) in
            [(pipe, "a named pipe"), (endless, "a device"), (folder.path().into(), "a folder")]
        {
            let error = open_regular(&path).expect_err("refused").to_string();
            assert!(error.contains(expected), "{}: {error}", path.display());
        }
        let file = folder.path().join("a");
        std::fs::write(&file, b"12345").expect("written");
        assert_eq!(read_regular(&file, 5).expect("read").as_deref(), Some(&b"12345"[..]));
        assert_eq!(read_regular(&file, 4).expect("read"), None);
    }

    #[test]
    fn a_private_file_and_folder_are_for_their_owner_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let inside = folder.path().join("a/b");
        make_private_folder(&inside).expect("made");
        assert_eq!(mode(&inside), 0o700);
        let file = inside.join("x.db");
        std::fs::write(&file, b"kept").expect("written");
        std::fs::set_permissions(&file, Permissions::from_mode(0o644)).expect("opened");
        make_private(&file).expect("closed");
        make_private(&inside.join("new.db")).expect("made");
        assert_eq!((mode(&file), mode(&inside.join("new.db"))), (0o600, 0o600));
        assert_eq!(std::fs::read(&file).expect("read"), b"kept");
    }
    #[test]
    fn a_file_whose_name_was_moved_removed_or_given_to_another_is_noticed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("agent.db");
        std::fs::write(&path, b"1").expect("written");
        let watched = WatchedName::new(&path).expect("there");
        std::fs::write(&path, b"2").expect("written");
        assert_eq!(watched.leads(), NameLeads::ToIt);
        let aside = folder.path().join("old.db");
        std::fs::rename(&path, &aside).expect("moved");
        assert_eq!(watched.leads(), NameLeads::Nowhere);
        std::fs::write(&path, b"3").expect("written");
        assert_eq!(watched.leads(), NameLeads::ToAnother);
        std::fs::rename(&aside, &path).expect("moved back");
        assert_eq!(watched.leads(), NameLeads::ToIt);
        std::fs::remove_dir_all(folder.path()).expect("removed");
        assert_eq!(watched.leads(), NameLeads::Nowhere);
    }
}
