//! Recognises the files of a folder among those that were seen before.
//!
//! A file is the same as before if place, size and last change are the same; if only its last
//! change differs, its content decides; and a file at a new place is one that was renamed if the
//! size, the last change and the content of one that has gone from its place are the same. Every
//! other file is new. The content is compared by checksums of its first and last 64 KiB, since a
//! recording that differs from another differs in its first samples.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::continued;

/// Bytes at either end of a file that are compared.
pub(super) const END_BYTES: u64 = 64 * 1024;

/// The record of a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct FileRecord {
    pub(super) path: PathBuf,
    pub(super) size: u64,
    /// Last change, ns since 1970.
    pub(super) changed_ns: i64,
    /// Checksums of the first and the last bytes.
    pub(super) ends: (u32, u32),
    /// Snapshots that were measured.
    #[serde(default)]
    pub(super) blocks: u64,
    /// Nothing of the file is left to measure.
    #[serde(default)]
    pub(super) is_done: bool,
    /// Channels and rate of the file, Hz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) form: Option<(usize, f64)>,
    /// The names of its channels, of the file that says them for the folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) names: Vec<String>,
    /// Why it was set aside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) set_aside: Option<String>,
    /// Samples of each channel up to the end of its only snapshot, once it is measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) samples: Option<u64>,
    /// The first samples of a file that has grown, which were measured before it grew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) grown_from: Option<u64>,
    /// The time since which it is no longer in the folder, ms since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) gone_ms: Option<i64>,
}

/// A file as a look at its folder finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SeenFile {
    pub(super) path: PathBuf,
    pub(super) size: u64,
    pub(super) changed_ns: i64,
}

/// The outcome of a look.
#[derive(Debug, Default)]
pub(super) struct Matched {
    /// Files that were never seen, each with its checksums.
    pub(super) new: Vec<(SeenFile, (u32, u32))>,
    /// Records whose place or last change is another one now.
    pub(super) moved: Vec<u64>,
    /// Records of files at the place of which another content stands now.
    pub(super) replaced: Vec<PathBuf>,
    /// Files that were measured and have grown behind their old end, with the samples before it.
    pub(super) grown: HashMap<PathBuf, u64>,
    /// New files that hold a recording which was measured, packed.
    pub(super) packed: HashSet<PathBuf>,
    /// Files that cannot be read now.
    pub(super) unreadable: Vec<(PathBuf, io::Error)>,
    /// Places where another file stands than a moment ago: the next look finds it.
    pub(super) changing: HashSet<PathBuf>,
    /// Records whose file is in the folder.
    pub(super) present: HashSet<u64>,
}

/// Matches the files that do not change any more against the records. `unsettled` are places where
/// a file is still being written: the record of such a place is not taken as gone.
pub(super) fn match_files(
    records: &mut BTreeMap<u64, FileRecord>,
    files: Vec<SeenFile>,
    unsettled: &HashSet<PathBuf>,
) -> Matched {
    let mut matched = Matched::default();
    let at_path: HashMap<PathBuf, u64> = records
        .iter()
        .filter(|(_, record)| record.gone_ms.is_none())
        .map(|(&number, record)| (record.path.clone(), number))
        .collect();
    let mut left = Vec::new();
    for file in files {
        let own = at_path.get(&file.path).copied();
        match own.and_then(|number| records.get(&number).map(|record| (number, record))) {
            Some((number, record))
                if (record.size, record.changed_ns) == (file.size, file.changed_ns) =>
            {
                matched.present.insert(number);
            }
            _ => left.push((file, own)),
        }
    }
    let mut strange = Vec::new();
    for (file, own) in left {
        let ends = match checksums(&file) {
            Ok(Some(ends)) => ends,
            Ok(None) => {
                matched.changing.insert(file.path);
                continue;
            }
            // renamed or deleted since
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => {
                matched.unreadable.push((file.path, error));
                continue;
            }
        };
        match own.and_then(|number| records.get_mut(&number).map(|record| (number, record))) {
            Some((number, record)) if (record.size, record.ends) == (file.size, ends) => {
                record.changed_ns = file.changed_ns;
                matched.present.insert(number);
                matched.moved.push(number);
            }
            _ => strange.push((file, ends)),
        }
    }
    let unsettled: HashSet<PathBuf> = unsettled.union(&matched.changing).cloned().collect();
    rename(records, strange, &unsettled, &at_path, &mut matched);
    matched
}

/// Finds the files that were renamed among those at places that were not known.
fn rename(
    records: &mut BTreeMap<u64, FileRecord>,
    strange: Vec<(SeenFile, (u32, u32))>,
    unsettled: &HashSet<PathBuf>,
    at_path: &HashMap<PathBuf, u64>,
    matched: &mut Matched,
) {
    if strange.is_empty() {
        return;
    }
    let mut missing: HashMap<(u64, i64, (u32, u32)), Vec<u64>> = HashMap::new();
    for (&number, record) in records.iter() {
        if !matched.present.contains(&number) && !unsettled.contains(&record.path) {
            let key = (record.size, record.changed_ns, record.ends);
            missing.entry(key).or_default().push(number);
        }
    }
    for (file, ends) in strange {
        let key = (file.size, file.changed_ns, ends);
        if let Some(number) = missing.get_mut(&key).and_then(Vec::pop)
            && let Some(record) = records.get_mut(&number)
        {
            record.path = file.path;
            record.gone_ms = None;
            matched.present.insert(number);
            matched.moved.push(number);
            continue;
        }
        let own = at_path.get(&file.path).and_then(|number| records.get(number));
        if let Some(record) = own {
            match continued::samples_before(&file, record) {
                Some(samples) => {
                    matched.grown.insert(file.path.clone(), samples);
                }
                None => matched.replaced.push(file.path.clone()),
            }
        } else if continued::is_packed_copy(&file, records.values()) {
            matched.packed.insert(file.path.clone());
        }
        matched.new.push((file, ends));
    }
}

/// Checksums (CRC-32) of the first and the last bytes of a file; `None` if another file than the
/// one that was listed stands at its place, or it is written again.
fn checksums(listed: &SeenFile) -> io::Result<Option<(u32, u32)>> {
    let mut file = File::open(&listed.path)?;
    let head = checksum(&mut file)?;
    let mut ends = (head, head);
    if listed.size > END_BYTES {
        file.seek(SeekFrom::Start(listed.size - END_BYTES))?;
        ends.1 = checksum(&mut file)?;
    }
    // after it was read, so that a writer in between is seen
    let metadata = file.metadata()?;
    let is_listed =
        (metadata.len(), changed_ns(&metadata)) == (listed.size, Some(listed.changed_ns));
    Ok(is_listed.then_some(ends))
}

/// The last change of a file, ns since 1970.
pub(super) fn changed_ns(metadata: &Metadata) -> Option<i64> {
    let since = metadata.modified().ok()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    Some(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}

fn checksum(file: &mut File) -> io::Result<u32> {
    let mut bytes = Vec::new();
    file.by_ref().take(END_BYTES).read_to_end(&mut bytes)?;
    let mut crc = flate2::Crc::new();
    crc.update(&bytes);
    Ok(crc.sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder {
        folder: tempfile::TempDir,
        records: BTreeMap<u64, FileRecord>,
    }

    impl Folder {
        fn new() -> Self {
            Self { folder: tempfile::tempdir().expect("folder"), records: BTreeMap::new() }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        /// The names that a look takes as new, which are remembered.
        fn new_ones(&mut self) -> Vec<String> {
            let entries = std::fs::read_dir(self.folder.path()).expect("folder");
            let mut files: Vec<SeenFile> = entries
                .map(|entry| {
                    super::super::listing::seen_file(entry.expect("entry").path()).expect("a file")
                })
                .collect();
            files.sort_by(|a, b| a.path.cmp(&b.path));
            let matched = match_files(&mut self.records, files, &HashSet::new());
            let mut names = Vec::new();
            for (file, ends) in matched.new {
                let name = file.path.file_name().expect("a name").to_string_lossy().into_owned();
                let SeenFile { path, size, changed_ns } = file;
                let number = self.records.len() as u64;
                let record = FileRecord {
                    path,
                    size,
                    changed_ns,
                    ends,
                    blocks: 1,
                    is_done: true,
                    form: None,
                    names: Vec::new(),
                    set_aside: None,
                    samples: Some(10),
                    grown_from: None,
                    gone_ms: None,
                };
                self.records.insert(number, record);
                names.push(name);
            }
            names
        }
    }

    #[test]
    fn a_file_is_new_once_however_it_is_renamed_touched_or_put_back() {
        let mut folder = Folder::new();
        std::fs::write(folder.path("b"), "one").expect("writes");
        assert_eq!(folder.new_ones(), ["b"]);
        assert!(folder.new_ones().is_empty(), "a second look");
        std::fs::rename(folder.path("b"), folder.path("a")).expect("renames");
        assert!(folder.new_ones().is_empty(), "renamed");
        let touched = File::options().write(true).open(folder.path("a")).expect("opens");
        let later = touched.metadata().expect("data").modified().expect("time")
            + std::time::Duration::from_secs(5);
        touched.set_modified(later).expect("touches");
        assert!(folder.new_ones().is_empty(), "touched");
        std::fs::write(folder.path("c"), "two").expect("writes");
        assert_eq!(folder.new_ones(), ["c"]);
        // the two change places
        for (from, to) in [("a", "t"), ("c", "a"), ("t", "c")] {
            std::fs::rename(folder.path(from), folder.path(to)).expect("renames");
        }
        assert!(folder.new_ones().is_empty(), "changed places");
        let bytes = std::fs::read(folder.path("c")).expect("reads");
        std::fs::remove_file(folder.path("c")).expect("removes");
        assert!(folder.new_ones().is_empty());
        std::fs::write(folder.path("d"), bytes).expect("writes");
        let put_back = File::options().write(true).open(folder.path("d")).expect("opens");
        put_back.set_modified(later).expect("touches");
        assert!(folder.new_ones().is_empty(), "put back");
    }

    /// Between the listing and the look at its content another file may have taken its place.
    #[test]
    fn a_file_that_is_not_the_listed_one_any_more_waits_for_the_next_look() {
        let mut folder = Folder::new();
        std::fs::write(folder.path("a"), "one").expect("writes");
        let listed = super::super::listing::seen_file(folder.path("a")).expect("a file");
        std::fs::write(folder.path("a"), "another").expect("writes");
        let matched = match_files(&mut folder.records, vec![listed], &HashSet::new());
        assert!(matched.new.is_empty() && matched.unreadable.is_empty(), "{matched:?}");
        assert!(matched.changing.contains(&folder.path("a")), "{matched:?}");
        assert_eq!(folder.new_ones(), ["a"]);
    }

    #[test]
    fn another_content_at_a_known_place_and_a_copy_are_new() {
        let mut folder = Folder::new();
        std::fs::write(folder.path("latest"), "one").expect("writes");
        assert_eq!(folder.new_ones(), ["latest"]);
        std::fs::write(folder.path("latest"), "three").expect("writes");
        assert_eq!(folder.new_ones(), ["latest"]);
        std::fs::copy(folder.path("latest"), folder.path("copy")).expect("copies");
        assert_eq!(folder.new_ones(), ["copy"]);
    }
}
