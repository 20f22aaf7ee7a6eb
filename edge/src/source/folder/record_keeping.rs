//! The records of a folder's files: one row of the spool's memory a file, under a number that never
//! changes.
//!
//! Invariant: a change of a record is noted in the ledger with the block after which it holds.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use pdm_shared::units::SampleRate;

use super::Form;
use super::identity::{FileRecord, SeenFile};
use super::ledger::FolderLedger;
use super::listing::seen_file;

/// Time after which the record of a file that has gone is deleted, ms. No data chose it: a backup
/// that puts files back is played within days, 30 days leave room.
const GONE_MS: i64 = 30 * 24 * 3_600_000;

/// Most records of files that have gone: a file a minute for a month, 10 MB.
const MOST_GONE: usize = 50_000;

/// The records of a folder.
#[derive(Debug)]
pub(super) struct Records {
    prefix: String,
    all: BTreeMap<u64, FileRecord>,
    by_path: HashMap<PathBuf, u64>,
    next: u64,
    /// Snapshots measured since the folder is watched.
    count: u64,
    ledger: FolderLedger,
    has_notes: bool,
}

impl Records {
    /// The records that earlier runs committed.
    pub(super) fn restored(
        name: &str,
        memory: &BTreeMap<String, Vec<u8>>,
        ledger: FolderLedger,
    ) -> Self {
        let prefix = format!("folder/{name}/");
        let mut all = BTreeMap::new();
        for (key, value) in memory.range(prefix.clone()..) {
            let Some(number) = key.strip_prefix(&prefix) else { break };
            if let (Ok(number), Ok(record)) = (number.parse(), serde_json::from_slice(value)) {
                all.insert(number, record);
            }
        }
        let count = memory.get(&format!("folder-count/{name}"));
        let count = count.and_then(|value| serde_json::from_slice(value).ok()).unwrap_or(0);
        let next = all.last_key_value().map_or(0, |(number, _)| number + 1);
        let mut records =
            Self { prefix, all, by_path: HashMap::new(), next, count, ledger, has_notes: false };
        records.index();
        records
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// All records, to be matched against a look.
    pub(super) fn all(&mut self) -> &mut BTreeMap<u64, FileRecord> {
        &mut self.all
    }

    /// Whether a file is where it was, unchanged.
    pub(super) fn knows(&self, file: &SeenFile) -> bool {
        let record = self.by_path.get(&file.path).and_then(|number| self.all.get(number));
        record
            .is_some_and(|record| (record.size, record.changed_ns) == (file.size, file.changed_ns))
    }

    /// Whether the file of a record is where it was, unchanged, at this moment.
    pub(super) fn is_in_place(&self, number: u64) -> bool {
        let Some(record) = self.all.get(&number) else { return false };
        seen_file(record.path.clone())
            .is_some_and(|file| (record.size, record.changed_ns) == (file.size, file.changed_ns))
    }

    /// Snapshots measured since the folder is watched.
    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    /// Snapshots of a file that are measured.
    pub(super) fn blocks(&self, number: u64) -> u64 {
        self.all.get(&number).map_or(0, |record| record.blocks)
    }

    /// A new file, of which nothing is measured.
    pub(super) fn add(&mut self, file: &SeenFile, ends: (u32, u32)) -> u64 {
        let number = self.next;
        self.next += 1;
        let record = FileRecord {
            path: file.path.clone(),
            size: file.size,
            changed_ns: file.changed_ns,
            ends,
            blocks: 0,
            is_done: false,
            form: None,
            names: Vec::new(),
            set_aside: None,
            samples: None,
            grown_from: None,
            gone_ms: None,
        };
        self.all.insert(number, record);
        self.by_path.insert(file.path.clone(), number);
        number
    }

    /// Notes that this many samples of a file were measured before it grew.
    pub(super) fn set_grown(&mut self, number: u64, samples: u64) {
        if let Some(record) = self.all.get_mut(&number) {
            record.grown_from = Some(samples);
        }
    }

    /// The samples of a file that were measured before it grew.
    pub(super) fn grown_from(&self, number: u64) -> Option<u64> {
        self.all.get(&number).and_then(|record| record.grown_from)
    }

    /// The samples of each channel that a file has up to the end of its only snapshot.
    pub(super) fn set_samples(&mut self, number: u64, samples: u64) {
        if let Some(record) = self.all.get_mut(&number) {
            record.samples = Some(samples);
        }
    }

    /// A file that an earlier version measured.
    pub(super) fn add_measured(&mut self, file: &SeenFile, after: u64) {
        let number = self.add(file, (0, 0));
        self.ended(number, after);
    }

    /// Notes that a snapshot of a file was handed out as the block before `after`.
    pub(super) fn measured(&mut self, number: u64, after: u64, is_last: bool) {
        self.count += 1;
        let name = self.prefix.trim_start_matches("folder/").trim_end_matches('/');
        self.ledger.note(after, format!("folder-count/{name}"), self.count.to_string().into());
        self.change(number, after, |record| {
            record.blocks += 1;
            record.set_aside = None;
            record.is_done |= is_last;
        });
    }

    /// Notes that a file is at its end.
    pub(super) fn ended(&mut self, number: u64, after: u64) {
        self.change(number, after, |record| record.is_done = true);
    }

    /// Notes that a file is not measured, or not further; `for_form`: it may be once more files
    /// have its form; not `is_done`: it is tried again. False if the same is known already.
    pub(super) fn set_aside(
        &mut self,
        number: u64,
        after: u64,
        why: String,
        (for_form, is_done): (bool, bool),
    ) -> bool {
        let before = self.all.get(&number).and_then(|record| record.set_aside.as_deref());
        if before == Some(why.as_str()) && !is_done {
            return false;
        }
        self.change(number, after, |record| {
            record.is_done = is_done;
            record.set_aside = Some(why);
            if !for_form {
                record.form = None;
            }
        });
        true
    }

    /// A file that was set aside for its form is to be read after all.
    pub(super) fn reconsider(&mut self, number: u64) {
        if let Some(record) = self.all.get_mut(&number) {
            record.is_done = false;
            record.set_aside = None;
        }
    }

    /// The form of a file.
    pub(super) fn set_form(&mut self, number: u64, form: Form) {
        if let Some(record) = self.all.get_mut(&number) {
            record.form = Some((form.0, form.1.get()));
        }
    }

    /// The names of the channels, by the first file that has some.
    pub(super) fn names(&self) -> &[String] {
        let mut named = self.all.values().filter(|record| record.set_aside.is_none());
        named.find(|record| !record.names.is_empty()).map_or(&[], |record| &record.names)
    }

    /// Notes the names of a file's channels, if no file has said them.
    pub(super) fn set_names(&mut self, number: u64, names: Vec<String>) {
        if !self.names().is_empty() {
            return;
        }
        if let Some(record) = self.all.get_mut(&number) {
            record.names = names;
        }
    }

    /// Returns the form of most files, among those with at least `least_channels` channels; of
    /// equally many files, the form of the one that came first.
    pub(super) fn form_of_most(&self, least_channels: usize) -> Option<Form> {
        let mut counts: Vec<((usize, f64), usize)> = Vec::new();
        for form in self.all.values().filter_map(|record| record.form) {
            if form.0 < least_channels {
                continue;
            }
            match counts.iter_mut().find(|(known, _)| is_same(*known, form)) {
                Some((_, count)) => *count += 1,
                None => counts.push((form, 1)),
            }
        }
        let most = counts.iter().map(|(_, count)| *count).max()?;
        let ((channels, rate), _) = counts.into_iter().find(|(_, count)| *count == most)?;
        Some((channels, SampleRate::new(rate).ok()?))
    }

    /// Files that were set aside and have this form.
    pub(super) fn set_aside_with(&self, form: Form) -> Vec<(u64, PathBuf, i64)> {
        let wanted = (form.0, form.1.get());
        self.all
            .iter()
            .filter(|(_, record)| record.set_aside.is_some() && record.gone_ms.is_none())
            .filter(|(_, record)| record.form.is_some_and(|form| is_same(form, wanted)))
            .map(|(&number, record)| (number, record.path.clone(), record.changed_ns))
            .collect()
    }

    /// Number of files in the folder that are set aside, and why the last one is.
    pub(super) fn aside(&self) -> (usize, Option<&str>) {
        let aside = self.all.values().filter(|record| record.gone_ms.is_none());
        let mut reasons = aside.filter_map(|record| record.set_aside.as_deref());
        let last = reasons.clone().next_back();
        (reasons.by_ref().count(), last)
    }

    /// Files in the folder of which something is left to measure although no look took them as new:
    /// those that an earlier run had begun.
    pub(super) fn begun(&self, present: &HashSet<u64>) -> Vec<(u64, PathBuf, i64)> {
        self.all
            .iter()
            .filter(|(number, record)| present.contains(number) && !record.is_done)
            .map(|(&number, record)| (number, record.path.clone(), record.changed_ns))
            .collect()
    }

    /// Follows a look: notes what moved, what has gone and what has come back, and deletes the
    /// records of files that have gone long ago.
    pub(super) fn follow(
        &mut self,
        moved: &[u64],
        present: &HashSet<u64>,
        unsettled: &HashSet<PathBuf>,
        after: u64,
        now_ms: i64,
    ) {
        for &number in moved {
            self.change(number, after, |record| record.gone_ms = None);
        }
        let changed: Vec<u64> = self
            .all
            .iter()
            .filter(|(number, record)| {
                let is_there = present.contains(number) || unsettled.contains(&record.path);
                is_there == record.gone_ms.is_some()
            })
            .map(|(&number, _)| number)
            .collect();
        let has_changed = !changed.is_empty();
        for number in changed {
            self.change(number, after, |record| {
                record.gone_ms = if record.gone_ms.is_none() { Some(now_ms) } else { None };
            });
        }
        self.delete_old(after, now_ms);
        if has_changed || !moved.is_empty() {
            self.index();
        }
    }

    /// Deletes the records of files that have gone long ago, and the oldest above [`MOST_GONE`].
    fn delete_old(&mut self, after: u64, now_ms: i64) {
        let gone = self.all.iter().filter_map(|(&number, record)| Some((record.gone_ms?, number)));
        let mut gone: Vec<(i64, u64)> = gone.collect();
        gone.sort_unstable();
        let too_many = gone.len().saturating_sub(MOST_GONE);
        let is_old = |since: i64| now_ms.saturating_sub(since) > GONE_MS;
        for (at, (since, number)) in gone.into_iter().enumerate() {
            if at < too_many || is_old(since) {
                self.all.remove(&number);
                self.note(number, after);
            }
        }
    }

    /// Whether there are notes that no block has taken along.
    pub(super) const fn has_notes(&self) -> bool {
        self.has_notes
    }

    /// A block was handed out that takes the notes along.
    pub(super) const fn handed_over(&mut self) {
        self.has_notes = false;
    }

    fn change(&mut self, number: u64, after: u64, change: impl FnOnce(&mut FileRecord)) {
        if let Some(record) = self.all.get_mut(&number) {
            change(record);
            self.note(number, after);
        }
    }

    /// Notes the record as it is now; a record that was deleted is an empty value.
    fn note(&mut self, number: u64, after: u64) {
        let value = self
            .all
            .get(&number)
            .map_or_else(Vec::new, |record| serde_json::to_vec(record).unwrap_or_default());
        self.ledger.note(after, format!("{}{number}", self.prefix), value);
        self.has_notes = true;
    }

    fn index(&mut self) {
        let there = self.all.iter().filter(|(_, record)| record.gone_ms.is_none());
        self.by_path = there.map(|(&number, record)| (record.path.clone(), number)).collect();
    }
}

/// Whether two files have one form.
pub(super) fn is_same_form(a: Form, b: Form) -> bool {
    is_same((a.0, a.1.get()), (b.0, b.1.get()))
}

/// Rates within 1 % are one rate, since a rate that comes from a column of times varies from file
/// to file. Every file is measured with its own.
fn is_same(a: (usize, f64), b: (usize, f64)) -> bool {
    a.0 == b.0 && (a.1 - b.1).abs() <= 0.01 * b.1.abs()
}
