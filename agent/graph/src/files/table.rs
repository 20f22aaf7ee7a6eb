//! CSV as plants write it: UTF-8 with or without a byte-order mark, or CP949 (the code page of
//! Korean Windows); a comma or a semicolon between cells. Cells keep their line for messages.

use std::path::Path;

use super::{FileProblem, decoded};

/// Largest file, bytes: 64 MiB, some million rows of a graph.
const MAX_BYTES: u64 = 64 << 20;

/// A CSV file in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileTable {
    /// Names of the columns, trimmed.
    pub header: Vec<String>,
    /// The rows.
    pub records: Vec<Record>,
}

/// A row, with as many cells as the header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Line in the file, from 1.
    pub line: usize,
    /// The cells.
    pub cells: Vec<String>,
}

impl Record {
    /// The cell of a column, trimmed; `None` if there is no such column or nothing in it.
    pub fn cell<'r>(&'r self, table: &FileTable, column: &str) -> Option<&'r str> {
        let index = table.header.iter().position(|name| name == column)?;
        self.cells.get(index).map(|cell| cell.trim()).filter(|cell| !cell.is_empty())
    }
}

impl FileTable {
    /// Reads a file.
    ///
    /// # Errors
    /// The file's [`FileProblem`]s: it cannot be read, its encoding is neither UTF-8 nor CP949, a
    /// row has the wrong number of cells, a column is named twice.
    pub fn read(file: &Path) -> Result<Self, Vec<FileProblem>> {
        let problem = |message: String| vec![FileProblem::new(file, 1, message)];
        let size =
            std::fs::metadata(file).map_err(|e| problem(format!("cannot be read: {e}")))?.len();
        if size > MAX_BYTES {
            return Err(problem(format!("has {size} bytes, at most {MAX_BYTES} are read")));
        }
        let bytes = std::fs::read(file).map_err(|e| problem(format!("cannot be read: {e}")))?;
        Self::parse(file, &bytes)
    }

    /// Reads the bytes of a file; `file` is for messages.
    ///
    /// # Errors
    /// As [`FileTable::read`].
    pub fn parse(file: &Path, bytes: &[u8]) -> Result<Self, Vec<FileProblem>> {
        let text = decoded(file, bytes).map_err(|problem| vec![problem])?;
        let first = text.lines().next().unwrap_or_default();
        let semicolons = first.matches(';').count() > first.matches(',').count();
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(if semicolons { b';' } else { b',' })
            .flexible(true)
            .from_reader(text.as_bytes());
        let problem = |line: usize, message: String| FileProblem::new(file, line, message);
        let header = reader.headers().map_err(|e| vec![problem(1, format!("is no CSV: {e}"))])?;
        let header: Vec<String> = header.iter().map(|name| name.trim().to_owned()).collect();
        let mut problems = Vec::new();
        for (index, name) in header.iter().enumerate() {
            if name.is_empty() || header[..index].contains(name) {
                problems.push(problem(
                    1,
                    format!(
                        "column {} is {name:?}: every column needs a name of its own",
                        index + 1
                    ),
                ));
            }
        }
        let mut records = Vec::new();
        for record in reader.records() {
            let record = match record {
                Ok(record) => record,
                Err(error) => {
                    let line = error.position().map_or(1, |at| at.line() as usize);
                    problems.push(problem(line, format!("is no CSV: {error}")));
                    break;
                }
            };
            let line = record.position().map_or(1, |at| at.line() as usize);
            if record.iter().all(|cell| cell.trim().is_empty()) {
                continue;
            }
            if record.len() != header.len() {
                let message =
                    format!("has {} cells, the header has {}", record.len(), header.len());
                problems.push(problem(line, message));
                continue;
            }
            records.push(Record { line, cells: record.iter().map(str::to_owned).collect() });
        }
        if problems.is_empty() { Ok(Self { header, records }) } else { Err(problems) }
    }
}
