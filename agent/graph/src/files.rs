//! Data files as plants write them, and what is wrong with one.

use std::path::{Path, PathBuf};

pub mod table;

/// A fault of a data file, with its place. The caller shows it; nothing was taken over.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}:{line}: {message}", file.display())]
pub struct FileProblem {
    /// The file.
    pub file: PathBuf,
    /// Line, from 1.
    pub line: usize,
    /// The fault, with the value and the allowed values.
    pub message: String,
}

impl FileProblem {
    /// A problem at a place.
    pub fn new(file: &Path, line: usize, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, message: message.into() }
    }
}

/// The text of a file of UTF-8 (with or without a byte-order mark) or CP949, the code page of
/// Korean Windows; `file` is for the message.
///
/// # Errors
/// The line that is neither.
pub fn decoded(file: &Path, bytes: &[u8]) -> Result<String, FileProblem> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Ok(text.to_owned());
    }
    // the web's name of the code page 949 (WHATWG Encoding, "euc-kr")
    let korean =
        |bytes| encoding_rs::EUC_KR.decode_without_bom_handling_and_without_replacement(bytes);
    if let Some(text) = korean(bytes) {
        return Ok(text.into_owned());
    }
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let line = lines.position(|line| korean(line).is_none()).map_or(1, |line| line + 1);
    Err(FileProblem::new(file, line, "is neither UTF-8 nor CP949; save the file as UTF-8"))
}

#[cfg(test)]
mod tests;
