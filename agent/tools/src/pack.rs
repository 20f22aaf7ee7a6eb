//! A pack: a folder of tools with the small data that they read, turned on by name in
//! `[tools] packs`.
//!
//! ```text
//! config/packs/NAME/pack.toml     what the pack is and where its tools and data come from
//!                  /graph.yaml    its tables as a graph, for `graph` tools (`graph: pack`)
//!                  /tools/*.yaml  its tools, in the form of every tool
//!                  /data/*.csv    a table each, for `sql` tools (`database: pack`)
//!                  /data/*.md     a document of articles each, for `search` tools (`document: NAME`)
//! ```
//!
//! The module stands before [`crate::spec`]: a tool of a pack is read with its pack at hand.
//! Invariant: a [`Pack`] is whole; one wrong line in its data refuses the pack with file and line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pdm_service::files::read_regular_in;
use semver::Version;

use super::layer::Layer;
use super::problem::Problem;
use super::yaml::Position;

mod article;
mod graph;
mod manifest;
mod shipped;
mod table;

pub use article::{Article, Articles};
pub use graph::{GRAPH_FILE, PackGraph, PackNode, PackProperties, PackRelationship};
pub use table::{Cell, ColumnType, DataTable};

/// Most bytes of one file of data. No data chose it: a pack carries samples, not a warehouse.
const MAX_FILE_BYTES: usize = 1_000_000;
/// Most files of a pack.
const MAX_FILES: usize = 200;
/// The file that makes a folder a pack.
pub const MANIFEST: &str = "pack.toml";

/// A pack of tools.
#[derive(Debug, Clone)]
pub struct Pack {
    /// The pack's name: that of its folder.
    pub name: String,
    /// The version of the pack.
    pub version: Version,
    /// The purpose of the pack.
    pub description: String,
    /// The document that its tools come from.
    pub source: String,
    /// Where its data comes from; samples that are made up say so.
    pub data_source: String,
    /// Names of tools that the source gives in another form than snake_case.
    pub names: Vec<String>,
    /// Tools outside packs whose name a tool of this pack takes while the pack is turned on, each
    /// with the name that it has meanwhile; without one it is not offered.
    pub replaces: BTreeMap<String, Option<String>>,
    /// The executor of a layer's tools that name none.
    pub executors: BTreeMap<Layer, String>,
    /// The data.
    pub data: Arc<PackData>,
    /// The files of its tools.
    pub(crate) tools: FileTexts,
}

/// The data of a pack.
#[derive(Debug, Default)]
pub struct PackData {
    /// The pack's name, for messages.
    pub pack: String,
    /// The tables by name.
    pub tables: BTreeMap<String, DataTable>,
    /// The documents by name.
    pub documents: BTreeMap<String, Articles>,
    /// The tables as a graph, if the pack declares one.
    pub graph: Option<PackGraph>,
    /// The tables as a database in memory, filled when a tool first needs it.
    pub(crate) database: tokio::sync::OnceCell<sqlx::SqlitePool>,
}

/// Data is compared by what it holds.
impl PartialEq for PackData {
    fn eq(&self, other: &Self) -> bool {
        (&self.pack, &self.tables, &self.documents, &self.graph)
            == (&other.pack, &other.tables, &other.documents, &other.graph)
    }
}

/// Files with their texts, or the reason why they cannot be read.
pub(crate) type FileTexts = Vec<(PathBuf, Result<String, Problem>)>;

/// Where a pack's files stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PackPlace {
    /// Comes with the program.
    Shipped(String),
    /// A folder with a `pack.toml`.
    Folder(PathBuf),
}

impl PackPlace {
    /// The place of the pack `name`: below `folder` if it is there, else with the program.
    ///
    /// # Errors
    /// The names that there are.
    pub fn find(name: &str, folder: Option<&Path>) -> Result<Self, String> {
        if let Some(own) = folder.map(|folder| folder.join(name)).filter(|own| is_pack(own)) {
            return Ok(Self::Folder(own));
        }
        if shipped::names().any(|known| known == name) {
            return Ok(Self::Shipped(name.to_owned()));
        }
        let mut names: Vec<String> = shipped::names().map(str::to_owned).collect();
        for entry in
            folder.and_then(|folder| folder.read_dir().ok()).into_iter().flatten().flatten()
        {
            let own = entry.file_name().to_string_lossy().into_owned();
            if is_pack(&entry.path()) && !names.contains(&own) {
                names.push(own);
            }
        }
        Err(names.join(", "))
    }

    /// The folder that can change while the program runs.
    pub(crate) fn folder(&self) -> Option<&Path> {
        match self {
            Self::Shipped(_) => None,
            Self::Folder(folder) => Some(folder),
        }
    }
}

/// Whether a folder is a pack.
pub fn is_pack(folder: &Path) -> bool {
    folder.join(MANIFEST).is_file()
}

/// The names of the packs that come with the program.
pub fn shipped_names() -> impl Iterator<Item = &'static str> {
    shipped::names()
}

impl Pack {
    /// Reads a pack.
    ///
    /// # Errors
    /// Every [`Problem`] of its manifest and data. Problems of its tools belong to the tools.
    pub fn read(place: &PackPlace) -> Result<Self, Vec<Problem>> {
        let files = match place {
            PackPlace::Shipped(name) => Files::shipped(name),
            PackPlace::Folder(folder) => Files::of(folder)?,
        };
        let text = match files.manifest {
            Ok(text) => text,
            Err(problem) => return Err(vec![problem]),
        };
        let manifest = manifest::read_manifest(&files.root.join(MANIFEST), &text)?;
        let mut problems = Vec::new();
        let mut data = data(&manifest.name, files.data, &mut problems);
        match files.graph {
            // a table that cannot be read is told once, not by every line of the graph that names
            // it
            Some(Ok(text)) if problems.is_empty() => {
                match graph::read_pack_graph(&files.root.join(GRAPH_FILE), &text, &data.tables) {
                    Ok(graph) => data.graph = Some(graph),
                    Err(mut found) => problems.append(&mut found),
                }
            }
            Some(Err(problem)) => problems.push(problem),
            _ => {}
        }
        if problems.is_empty() { Ok(manifest.with(data, files.tools)) } else { Err(problems) }
    }
}

fn data(pack: &str, files: FileTexts, problems: &mut Vec<Problem>) -> PackData {
    let mut data = PackData { pack: pack.to_owned(), ..PackData::default() };
    for (file, text) in files {
        let text = match text {
            Ok(text) => text,
            Err(problem) => {
                problems.push(problem);
                continue;
            }
        };
        let part = |name: Option<&std::ffi::OsStr>| {
            name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
        };
        let (stem, ending) = (part(file.file_stem()), part(file.extension()));
        let read = match ending.as_str() {
            "csv" => table::read_pack_table(&stem, &text)
                .map(|table| drop(data.tables.insert(stem, table))),
            "md" => Articles::read(&text).map(|one| drop(data.documents.insert(stem, one))),
            _ => Err((1, "is neither .csv (a table) nor .md (articles)".to_owned())),
        };
        if let Err((line, message)) = read {
            problems.push(at_line(&file, line, message));
        }
    }
    data
}

/// The files of a pack, read.
struct Files {
    root: PathBuf,
    manifest: Result<String, Problem>,
    graph: Option<Result<String, Problem>>,
    tools: FileTexts,
    data: FileTexts,
}

impl Files {
    fn shipped(name: &str) -> Self {
        let root = Path::new("(shipped)").join(name);
        let pick = |folder: &str| {
            let inside = shipped::files(name).filter(|(path, _)| path.starts_with(folder));
            inside.map(|(path, text)| (root.join(path), Ok(text.to_owned()))).collect()
        };
        let file = |wanted: &str| {
            let found = shipped::files(name).find(|(path, _)| *path == wanted);
            found.map(|(_, text)| text.to_owned())
        };
        let manifest = file(MANIFEST).ok_or_else(|| at_line(&root, 1, "no such pack"));
        let graph = file(GRAPH_FILE).map(Ok);
        Self { manifest, graph, tools: pick("tools/"), data: pick("data/"), root }
    }

    fn of(root: &Path) -> Result<Self, Vec<Problem>> {
        let manifest = text_of(root, &root.join(MANIFEST));
        let mut problems = Vec::new();
        let mut inside = |folder: &str, endings: Option<&[&str]>| {
            let files = files_in(&root.join(folder), endings, &mut problems);
            files
                .into_iter()
                .map(|file| (file.clone(), text_of(root, &file)))
                .collect::<FileTexts>()
        };
        let tools = inside("tools", Some(&["yaml", "yml"]));
        let data = inside("data", None);
        let graph = root.join(GRAPH_FILE);
        let graph = graph.exists().then(|| text_of(root, &graph));
        if problems.is_empty() {
            Ok(Self { root: root.to_owned(), manifest, graph, tools, data })
        } else {
            Err(problems)
        }
    }
}

/// The files of a folder in the order of their names; a folder that is not there has none.
fn files_in(folder: &Path, endings: Option<&[&str]>, problems: &mut Vec<Problem>) -> Vec<PathBuf> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => {
            problems.push(at_line(folder, 1, format!("cannot be read: {error}")));
            return Vec::new();
        }
    };
    let wanted = |path: &Path| {
        let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        let hidden = path.file_name().is_none_or(|name| name.to_string_lossy().starts_with('.'));
        !hidden && endings.is_none_or(|endings| endings.contains(&ending.as_str()))
    };
    let mut files: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| wanted(path)).collect();
    files.sort();
    if files.len() > MAX_FILES {
        let message = format!("has {} files, at most {MAX_FILES}", files.len());
        problems.push(at_line(folder, 1, message));
        files.clear();
    }
    files
}

fn text_of(root: &Path, file: &Path) -> Result<String, Problem> {
    let bytes = read_regular_in(root, file, MAX_FILE_BYTES as u64)
        .map_err(|error| at_line(file, 1, format!("cannot be read: {error}")))?
        .ok_or_else(|| {
            let size = std::fs::metadata(file).map_or(0, |about| about.len());
            at_line(file, 1, format!("has {size} bytes, at most {MAX_FILE_BYTES}"))
        })?;
    String::from_utf8(bytes).map_err(|error| at_line(file, 1, format!("cannot be read: {error}")))
}

/// A problem of a line, from 1.
fn at_line(file: &Path, line: usize, message: impl Into<String>) -> Problem {
    let at = Position { line, column: 1 };
    Problem { file: file.to_owned(), at, field: String::new(), message: message.into() }
}
