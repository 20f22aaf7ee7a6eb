//! Files that are still written, and what of a folder is never measured: files that are written
//! anew faster than they are read, files that go at once, and folders inside of the folder.
//!
//! Invariant: what is not measured is counted and told.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::identity::SeenFile;
use super::{Folder, listing, log};

/// A file that has changed since the look before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unsettled {
    pub(super) size: u64,
    pub(super) changed_ns: i64,
    /// Looks in a row that found it changed.
    pub(super) looks: u32,
}

/// Looks in a row that find a file changed, after which it is told: it is written anew faster than
/// it can be measured, or for longer than a logger takes for a file.
pub(super) const CHANGING_LOOKS: u32 = 8;

impl Folder {
    /// The files that did not change since the look before.
    pub(super) fn settled(&mut self, listed: Vec<SeenFile>) -> Vec<SeenFile> {
        let before = std::mem::take(&mut self.looks);
        let paths: HashSet<&PathBuf> = listed.iter().map(|file| &file.path).collect();
        let stamps: HashSet<(u64, i64)> =
            listed.iter().map(|file| (file.size, file.changed_ns)).collect();
        let is_listed = |path: &PathBuf, last: &Unsettled| {
            // one that has another name now is not lost
            paths.contains(path) || stamps.contains(&(last.size, last.changed_ns))
        };
        let gone: Vec<PathBuf> = before
            .iter()
            .filter(|(path, last)| !is_listed(path, last))
            .map(|(path, _)| path.clone())
            .collect();
        for path in &gone {
            self.lose(path);
        }
        let mut settled = Vec::new();
        for file in listed {
            let last = before.get(&file.path);
            let is_same =
                |last: &Unsettled| (last.size, last.changed_ns) == (file.size, file.changed_ns);
            if self.records.knows(&file) || last.is_some_and(is_same) {
                settled.push(file);
            } else {
                let looks = last.map_or(0, |last| last.looks) + 1;
                let SeenFile { path, size, changed_ns } = file;
                self.looks.insert(path, Unsettled { size, changed_ns, looks });
            }
        }
        self.tell_changing();
        settled
    }

    /// A file has gone before it was measured.
    pub(super) fn lose(&mut self, path: &Path) {
        self.lost += 1;
        let name = &self.settings.name;
        log::file_lost(name, path, self.lost > 1);
        let text = format!(
            "{} file(s) went before they were measured, the last: {}; leave them for longer than \
             twice watch_s ({} s)",
            self.lost,
            path.display(),
            self.settings.every.as_secs_f64()
        );
        self.remarks.set(name, "files lost", text);
    }

    /// Tells a file that changes at every look.
    fn tell_changing(&self) {
        let name = &self.settings.name;
        let changing = self.looks.iter().filter(|(_, last)| last.looks >= CHANGING_LOOKS);
        match changing.max_by_key(|(_, last)| last.looks) {
            None => self.remarks.withdraw(name, "files changing"),
            Some((path, last)) => {
                if last.looks == CHANGING_LOOKS {
                    log::file_changing(name, path);
                }
                let text = format!(
                    "{} has changed at each of the last {} looks and is not measured: it is \
                     written anew faster than it can be read; a shorter watch_s, or a file for \
                     each recording, helps",
                    path.display(),
                    last.looks
                );
                self.remarks.set(name, "files changing", text);
            }
        }
    }

    /// Tells folders that stand where files are looked for and there is none.
    pub(super) fn tell_folders(&self, listed: &[SeenFile]) {
        let name = &self.settings.name;
        let inner = (listed.is_empty() && self.records.is_empty())
            .then(|| listing::inner_folder(&self.settings.paths))
            .flatten();
        match inner {
            Some(inner) => {
                let text = format!(
                    "no file is here, but folders such as {}: they are not looked into; name them \
                     in files, or let the logger write into one folder",
                    inner.display()
                );
                self.remarks.set(name, "inner folders", text);
            }
            None => self.remarks.withdraw(name, "inner folders"),
        }
    }
}
