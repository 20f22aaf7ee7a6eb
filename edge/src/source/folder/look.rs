//! A look at the folder: files that came, went, were renamed or are still being written.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Instant;

use super::identity::{FileRecord, Matched, SeenFile, match_files};
use super::listing::{by_numbers, list};
use super::{Folder, Ready, log, ready};

impl Folder {
    /// Looks at the folder: files that came, went, were renamed or are still being written.
    pub(super) fn look(&mut self) {
        self.last_look = Some(Instant::now());
        let Some(listed) = self.list() else { return };
        if self.records.is_empty() && self.settings.inherited > 0 {
            self.inherit(&listed);
        }
        self.tell_folders(&listed);
        let settled = self.settled(listed);
        let mut unsettled: HashSet<PathBuf> = self.looks.keys().cloned().collect();
        let matched = match_files(self.records.all(), settled, &unsettled);
        unsettled.extend(matched.changing.iter().cloned());
        self.is_unsettled = !unsettled.is_empty();
        self.tell_changes(&matched);
        self.follow(&matched, &unsettled);
        let mut came = self.take_new(&matched);
        came.sort_by(|a, b| a.dated.at.cmp(&b.dated.at).then_with(|| by_numbers(&a.path, &b.path)));
        self.learn_form(&came);
        self.ready.extend(came);
        self.tell();
    }

    /// Returns the files that are there; `None` while a folder is away, which is told once.
    fn list(&mut self) -> Option<Vec<SeenFile>> {
        match list(&self.settings.paths) {
            Ok(listed) => {
                if std::mem::take(&mut self.is_away) {
                    self.remarks.withdraw(&self.settings.name, "folder");
                }
                Some(listed)
            }
            Err(error) => {
                if !std::mem::replace(&mut self.is_away, true) {
                    log::folder_away(&self.settings.name, &error);
                }
                self.remarks.set(&self.settings.name, "folder", error.to_string());
                None
            }
        }
    }

    /// Logs files that were replaced, and once each those that cannot be read.
    fn tell_changes(&mut self, matched: &Matched) {
        for path in &matched.replaced {
            log::file_replaced(&self.settings.name, path);
        }
        for (path, error) in &matched.unreadable {
            if self.unreadable.insert(path.clone()) {
                log::unreadable(&self.settings.name, path, error);
            }
        }
        self.unreadable.retain(|known| matched.unreadable.iter().any(|(path, _)| path == known));
    }

    /// Brings the records up to date with what moved and what went, and tells what went unread.
    fn follow(&mut self, matched: &Matched, unsettled: &HashSet<PathBuf>) {
        let now_ms = self.clock.now().unix_ms();
        self.records.follow(&matched.moved, &matched.present, unsettled, self.next_index, now_ms);
        // one that has another name now is not lost
        let renamed: HashSet<(u64, i64)> =
            self.looks.values().map(|last| (last.size, last.changed_ns)).collect();
        let has_gone = |record: &&mut FileRecord| {
            let was_unread = record.blocks == 0 && !record.is_done && record.set_aside.is_none();
            let is_lost = !renamed.contains(&(record.size, record.changed_ns));
            was_unread && is_lost && record.gone_ms == Some(now_ms)
        };
        let gone: Vec<PathBuf> =
            self.records.all().values_mut().filter(has_gone).map(|one| one.path.clone()).collect();
        for path in &gone {
            self.lose(path);
        }
    }

    /// The files to measure: new ones, and those that an earlier run had begun or that could not be
    /// opened at the look before.
    fn take_new(&mut self, matched: &Matched) -> Vec<Ready> {
        let zone = self.settings.options.zone;
        let mut came: Vec<Ready> = Vec::new();
        for (file, ends) in &matched.new {
            let number = self.records.add(file, *ends);
            if matched.packed.contains(&file.path) {
                log::packed_copy(&self.settings.name, &file.path);
                self.records.ended(number, self.next_index);
                continue;
            }
            if let Some(samples) = matched.grown.get(&file.path) {
                log::file_grown(&self.settings.name, &file.path, *samples);
                self.records.set_grown(number, *samples);
            }
            came.push(ready(number, file.path.clone(), file.changed_ns, zone));
        }
        for (number, path, changed_ns) in self.records.begun(&matched.present) {
            came.push(ready(number, path, changed_ns, zone));
        }
        came
    }

    /// Takes the files that an earlier version counted as measured: the first ones by name.
    fn inherit(&mut self, listed: &[SeenFile]) {
        let mut by_name: Vec<&SeenFile> = listed.iter().collect();
        by_name.sort_by(|a, b| a.path.cmp(&b.path));
        for file in by_name.into_iter().take(self.settings.inherited as usize) {
            self.records.add_measured(file, self.next_index);
        }
        self.settings.inherited = 0;
    }
}
