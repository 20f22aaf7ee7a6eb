//! The sources of tools: a folder or the program itself, and the packs that are turned on.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pdm_service::files::read_regular_in;

use super::pack::{FileTexts, Pack, PackPlace};
use super::problem::Problem;
use super::yaml::Position;

/// The subjects that a tool may have (tool specification, section 4).
pub const DOMAINS: [&str; 5] = ["data", "analysis", "insight", "content", "business"];

/// Where tools come from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sources {
    /// A folder of tools; absent: those that come with the program.
    pub folder: Option<PathBuf>,
    /// The packs that are turned on.
    pub packs: Vec<PackPlace>,
    /// Domains beside [`DOMAINS`].
    pub domains: Vec<String>,
}

/// The setting in which a tool's file is read.
#[derive(Debug, Clone, Default)]
pub struct Setting {
    /// Domains beside [`DOMAINS`].
    pub domains: Vec<String>,
    /// The pack of the tool.
    pub pack: Option<Arc<Pack>>,
}

/// The files of one setting.
pub(crate) struct Read {
    pub(crate) setting: Setting,
    pub(crate) files: FileTexts,
}

impl Sources {
    /// The tools of one folder.
    pub fn folder(folder: &Path) -> Self {
        Self { folder: Some(folder.to_owned()), ..Self::default() }
    }

    /// Reads every file. A pack that is broken keeps its version of `before`.
    ///
    /// # Errors
    /// The folder of tools cannot be read.
    pub(crate) fn read(
        &self,
        before: &[Arc<Pack>],
        problems: &mut Vec<Problem>,
    ) -> Result<Vec<Read>, Problem> {
        let setting = Setting { domains: self.domains.clone(), pack: None };
        let files = match &self.folder {
            Some(folder) => texts(folder, problems)?,
            None => super::shipped::texts().map(|(file, text)| (file, Ok(text.into()))).collect(),
        };
        let mut all = vec![Read { setting, files }];
        for place in &self.packs {
            let pack = match Pack::read(place) {
                Ok(fresh) => Some(kept(fresh, before)),
                Err(mut found) => {
                    problems.append(&mut found);
                    before.iter().find(|old| is_of(old, place)).cloned()
                }
            };
            let Some(pack) = pack else { continue };
            let files = pack.tools.clone();
            let setting = Setting { domains: self.domains.clone(), pack: Some(pack) };
            all.push(Read { setting, files });
        }
        Ok(all)
    }

    /// The folders that can change while the program runs.
    pub(crate) fn watched(&self) -> impl Iterator<Item = &Path> {
        let packs = self.packs.iter().filter_map(PackPlace::folder);
        self.folder.as_deref().into_iter().chain(packs)
    }
}

/// The pack with the data that is already open where nothing of it has changed.
fn kept(mut fresh: Pack, before: &[Arc<Pack>]) -> Arc<Pack> {
    if let Some(old) = before.iter().find(|old| old.data == fresh.data) {
        fresh.data = Arc::clone(&old.data);
    }
    Arc::new(fresh)
}

fn is_of(pack: &Pack, place: &PackPlace) -> bool {
    match place {
        PackPlace::Shipped(name) => *name == pack.name,
        PackPlace::Folder(folder) => folder.ends_with(&pack.name),
    }
}

fn unreadable(file: &Path, error: &std::io::Error) -> Problem {
    let (file, field) = (file.to_owned(), String::new());
    Problem { file, at: Position::START, field, message: format!("cannot be read: {error}") }
}

/// Longest file of a tool: the shipped ones have at most 6 KiB.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The text of a regular file of a folder: a pipe would hold up the reading for ever, a device has
/// no end, and a link could lead to what no message may quote.
fn text_of(folder: &Path, file: &Path) -> std::io::Result<String> {
    use std::io::{Error, ErrorKind};
    let bytes = read_regular_in(folder, file, MAX_FILE_BYTES)?.ok_or_else(|| {
        let told = format!("has more than {MAX_FILE_BYTES} bytes");
        Error::new(ErrorKind::InvalidData, told)
    })?;
    String::from_utf8(bytes).map_err(|error| Error::new(ErrorKind::InvalidData, error))
}

/// The tool files of a folder with their texts, by file name.
fn texts(folder: &Path, problems: &mut Vec<Problem>) -> Result<FileTexts, Problem> {
    let entries = std::fs::read_dir(folder).map_err(|error| unreadable(folder, &error))?;
    let mut files = BTreeSet::new();
    for entry in entries {
        match entry {
            Ok(entry) => {
                let path = entry.path();
                let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
                let is_yaml = path.extension().is_some_and(|end| end == "yaml" || end == "yml");
                if is_yaml && !is_hidden {
                    files.insert(path);
                }
            }
            Err(error) => problems.push(unreadable(folder, &error)),
        }
    }
    let texts = files.into_iter().map(|file| {
        let text = text_of(folder, &file).map_err(|error| unreadable(&file, &error));
        (file, text)
    });
    Ok(texts.collect())
}
