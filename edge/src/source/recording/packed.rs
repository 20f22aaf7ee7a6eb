//! Compressed files: gzip of any format, zip archives of one file, NumPy's archives of arrays
//! (`.npz`), and workbooks (`excel`).
//!
//! The content is recognised as any file is, by its first bytes and the name without the ending of
//! the compression. Invariants: a file is unpacked once, not again inside; the expansion is bounded
//! as it is read; the sizes that an archive announces are not believed.

use std::io::{BufReader, Cursor, Read};
use std::path::Path;

use zip::ZipArchive;

use super::bounds::{Gunzip, whole};
use super::{
    RawRecording, RecordingOptions, START_BYTES, SourceError, excel, extension, not_read, npy,
    raw_inside,
};
use crate::source::interpretation::ChannelRole;
use arrays::open_npz;

mod arrays;

/// First bytes of a gzip member (RFC 1952, 2.3.1).
pub(super) const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];

/// First bytes of a zip archive.
pub(super) const ZIP_MAGIC: &[u8] = b"PK\x03\x04";

/// Most entries of an archive.
const MAX_ENTRIES: usize = 20_000;

/// Reads what a gzip file holds.
pub(super) fn open_gzip(
    path: &Path,
    file: Box<dyn Read + Send>,
    options: &RecordingOptions,
) -> Result<RawRecording, SourceError> {
    let mut content = BufReader::new(Gunzip::new(file));
    let mut start = Vec::new();
    let read = content.by_ref().take(START_BYTES as u64).read_to_end(&mut start);
    read.map_err(|e| SourceError::from_io(path, e))?;
    if start.starts_with(npy::MAGIC) {
        return npy::open(path, Box::new(Cursor::new(start).chain(content)), true);
    }
    let stem = path.with_extension("");
    let name = if extension(path) == "gz" { stem.as_path() } else { path };
    raw_inside(
        path,
        &extension(name),
        &start.clone(),
        Box::new(Cursor::new(start).chain(content)),
        options,
    )
}

/// Reads what a zip archive holds.
pub(super) fn open_zip(
    path: &Path,
    file: impl Read,
    options: &RecordingOptions,
) -> Result<RawRecording, SourceError> {
    let content = whole(path, file)?;
    let malformed = |what: String| SourceError::malformed(path, what);
    let damaged = |e: zip::result::ZipError| malformed(format!("the zip archive is damaged: {e}"));
    let mut archive = ZipArchive::new(Cursor::new(content.as_slice())).map_err(damaged)?;
    if archive.is_empty() {
        return Err(malformed("an empty zip archive".to_owned()));
    }
    if archive.len() > MAX_ENTRIES {
        return Err(malformed(format!("{} files in the archive", archive.len())));
    }
    let mut names: Vec<(usize, String)> = Vec::new();
    for index in 0..archive.len() {
        let file = archive.by_index_raw(index).map_err(damaged)?;
        // some programs of Windows write its separator
        let name = file.name().map_err(damaged)?.replace('\\', "/");
        let last = name.rsplit('/').next().unwrap_or("");
        if !last.is_empty() && !last.starts_with('.') && !name.starts_with("__MACOSX/") {
            names.push((index, name));
        }
    }
    let is_npy = |name: &str| Path::new(name).extension().is_some_and(|e| e == "npy");
    if names.iter().any(|(_, name)| name == excel::WORKBOOK) {
        drop(archive);
        return excel::open(path, content, options);
    }
    if let Some(what) = not_read::refusal_of_archive(|name| names.iter().any(|(_, n)| n == name)) {
        return Err(malformed(what.to_owned()));
    }
    let has_arrays = names.iter().any(|(_, name)| is_npy(name));
    let (names, left_out) = if has_arrays { (names, Vec::new()) } else { recordings_of(names) };
    match names.as_slice() {
        [] => Err(malformed("the zip archive holds no file".to_owned())),
        [(index, name)] if !is_npy(name) => {
            let name = name.clone();
            let content = entry(path, &mut archive, *index)?;
            let start = content[..content.len().min(START_BYTES)].to_vec();
            let content = Box::new(Cursor::new(content));
            let mut recording =
                raw_inside(path, &extension(Path::new(&name)), &start, content, options)?;
            if !left_out.is_empty() {
                recording.notes.push(format!("{name:?} of the archive"));
                recording.left_out.extend(left_out);
            }
            Ok(recording)
        }
        all if all.iter().all(|(_, name)| is_npy(name)) => {
            let names = names.clone();
            open_npz(path, &mut archive, &names, options.variable.as_deref())
        }
        all => {
            let listed: Vec<&str> = all.iter().take(10).map(|(_, name)| name.as_str()).collect();
            let what = format!(
                "{} files in the archive ({}); an archive of one file is read, or one of arrays \
                 (.npz)",
                all.len(),
                listed.join(", ")
            );
            Err(malformed(what))
        }
    }
}

/// The files of an archive that can be recordings, and the others. Apps of phones put one file a
/// sensor and `meta/` into an archive: the one whose name says acceleration is meant.
fn recordings_of(names: Vec<(usize, String)>) -> (Vec<(usize, String)>, Vec<String>) {
    let is_meta = |name: &str| name.split('/').rev().skip(1).any(|folder| folder == "meta");
    let says = |name: &str| {
        let stem = Path::new(name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        stem.is_some_and(|stem| ChannelRole::by_name(&stem) == ChannelRole::Acceleration)
    };
    let data: Vec<usize> = (0..names.len()).filter(|at| !is_meta(&names[*at].1)).collect();
    let speaking: Vec<usize> = data.iter().copied().filter(|at| says(&names[*at].1)).collect();
    let meant = match (data.as_slice(), speaking.as_slice()) {
        ([one], _) | (_, [one]) => *one,
        _ => return (names, Vec::new()),
    };
    let others = names.iter().enumerate().filter(|(at, _)| *at != meant);
    let left_out = others.map(|(_, (_, name))| name.clone()).collect();
    (names.into_iter().skip(meant).take(1).collect(), left_out)
}

type Archive<'a> = ZipArchive<Cursor<&'a [u8]>>;

/// The content of one file of an archive.
fn entry(path: &Path, archive: &mut Archive<'_>, index: usize) -> Result<Vec<u8>, SourceError> {
    let file = archive.by_index(index).map_err(|e| {
        SourceError::malformed(path, format!("a file of the archive cannot be read: {e}"))
    })?;
    whole(path, file)
}

#[cfg(test)]
mod tests;
