//! The files of a folder: which are there, in which order, and when each was recorded.

use std::path::{Path, PathBuf};

use pdm_shared::time::Timestamp;

use super::file_time::{self, FileTime};
use super::identity::{SeenFile, changed_ns};
use super::log;
use crate::source::SourceError;
use crate::tabular::LocalZone;

/// Endings of files that are still being written or are a program's own.
const UNFINISHED: [&str; 6] = [".tmp", ".part", ".partial", ".filepart", ".crdownload", "~"];

/// Times of files before this, ms since 1970 (2000-01-01), are those of a clock that was never set.
const FIRST_RIGHT_MS: i64 = 946_684_800_000;

/// The time of a file's first sample, where its content does not state one.
pub(super) fn dated(path: &Path, changed_ns: i64, zone: LocalZone) -> FileTime {
    let changed_at =
        Timestamp::from_unix_ms(changed_ns.div_euclid(1_000_000)).unwrap_or(Timestamp::EPOCH);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    file_time::time_of_name(&name, changed_at, zone).unwrap_or_else(|| {
        let mut note = "dated by the file's last change".to_owned();
        if changed_at.unix_ms() < FIRST_RIGHT_MS {
            note.push_str(", which is that of a clock that was never set");
        }
        FileTime { at: changed_at, is_of_name: false, note }
    })
}

/// The order of two paths in which numbers sort as numbers.
pub(super) fn by_numbers(a: &Path, b: &Path) -> std::cmp::Ordering {
    let key = |path: &Path| {
        let mut parts: Vec<(String, u64)> = vec![(String::new(), 0)];
        let mut in_number = false;
        for character in path.to_string_lossy().chars() {
            let digit = character.to_digit(10);
            if digit.is_none() && std::mem::take(&mut in_number) {
                parts.push((String::new(), 0));
            }
            let Some((text, number)) = parts.last_mut() else { continue };
            if let Some(digit) = digit {
                in_number = true;
                *number = number.saturating_mul(10).saturating_add(u64::from(digit));
            } else {
                text.push(character);
            }
        }
        parts
    };
    key(a).cmp(&key(b)).then_with(|| a.cmp(b))
}

/// The files of folders, and files named themselves, without hidden and unfinished ones.
pub(super) fn list(paths: &[PathBuf]) -> Result<Vec<SeenFile>, SourceError> {
    let mut files = Vec::new();
    for path in paths {
        let metadata = std::fs::metadata(path).map_err(|e| SourceError::from_io(path, e))?;
        if !metadata.is_dir() {
            files.extend(seen_file(path.clone()));
            continue;
        }
        for entry in std::fs::read_dir(path).map_err(|e| SourceError::from_io(path, e))? {
            let entry = entry.map_err(|e| SourceError::from_io(path, e))?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let is_unfinished = UNFINISHED.iter().any(|end| name.ends_with(end));
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            if name.starts_with('.') || is_unfinished {
                continue;
            }
            if is_link && !leads_within(&entry.path(), path) {
                log::link_outside(&entry.path());
                continue;
            }
            files.extend(seen_file(entry.path()));
        }
    }
    Ok(files)
}

/// Whether a link leads to a file inside of its folder, wherever the folder itself lies. Whoever
/// may put files there may not have every file of this machine read.
fn leads_within(link: &Path, folder: &Path) -> bool {
    let within = |link: PathBuf, folder: PathBuf| link.starts_with(folder);
    link.canonicalize().and_then(|link| Ok(within(link, folder.canonicalize()?))).unwrap_or(false)
}

/// A folder inside of the folders, which is not looked into.
pub(super) fn inner_folder(paths: &[PathBuf]) -> Option<PathBuf> {
    let entries = paths.iter().filter_map(|path| std::fs::read_dir(path).ok()).flatten();
    let is_hidden =
        |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    let inner = entries.flatten().map(|entry| entry.path());
    inner.filter(|path| path.is_dir() && !is_hidden(path)).max()
}

/// A regular file with its size and last change; `None` for anything else, and for a file that has
/// gone meanwhile.
pub(super) fn seen_file(path: PathBuf) -> Option<SeenFile> {
    let metadata = std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file)?;
    let changed_ns = changed_ns(&metadata)?;
    Some(SeenFile { path, size: metadata.len(), changed_ns })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// R-EDGE-10: a link in a watched folder led to a file of the machine, whose text was quoted.
    #[test]
    fn a_link_is_followed_within_its_folder_alone() {
        let (folder, outside) =
            (tempfile::tempdir().expect("folder"), tempfile::tempdir().expect("folder"));
        let at = |name: &str| folder.path().join(name);
        let secret = outside.path().join("secret.csv");
        for file in [&at("a.csv"), &secret] {
            std::fs::write(file, "x\n1\n").expect("written");
        }
        for (to, name) in
            [(at("a.csv"), "b.csv"), (secret, "c.csv"), ("../../etc/passwd".into(), "d.csv")]
        {
            std::os::unix::fs::symlink(to, at(name)).expect("linked");
        }
        // the folder itself may be named by a link
        let named = outside.path().join("in");
        std::os::unix::fs::symlink(folder.path(), &named).expect("linked");
        for paths in [folder.path().to_path_buf(), named] {
            let found = list(&[paths]).expect("listed");
            let mut names: Vec<String> = found
                .iter()
                .map(|file| file.path.file_name().unwrap_or_default().to_string_lossy().into())
                .collect();
            names.sort();
            assert_eq!(names, ["a.csv", "b.csv"]);
        }
    }
}
