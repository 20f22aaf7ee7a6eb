//! A table of a pack: CSV with a header that gives each column's name and type.
//!
//! ```csv
//! code:text,name:text,expense_ratio:real
//! 069500,KODEX 200,0.15
//! ```
//!
//! Types are `text`, `integer`, `real` and `boolean` (`true`, `false`; 1 and 0 in SQL); a column
//! without a type is text, so that `069500` keeps its zero. An empty field is null.

/// Most columns of a table: SQLite binds at most 32,766 values a statement, a row takes one each.
const MAX_COLUMNS: usize = 64;
/// Most rows of a table. No data chose it: a sample that is read in a fraction of a second.
const MAX_ROWS: usize = 20_000;

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// A text, as it stands.
    Text,
    /// A whole number.
    Integer,
    /// A finite number.
    Real,
    /// True or false.
    Boolean,
}

impl ColumnType {
    /// The type's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "integer",
            Self::Real => "real",
            Self::Boolean => "boolean",
        }
    }

    /// SQLite's type.
    pub(crate) const fn in_sqlite(self) -> &'static str {
        match self {
            Self::Boolean => Self::Integer.name(),
            Self::Text | Self::Integer | Self::Real => self.name(),
        }
    }

    fn named(name: &str) -> Option<Self> {
        [Self::Text, Self::Integer, Self::Real, Self::Boolean]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// An empty field.
    Null,
    /// A text.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A finite number.
    Real(f64),
    /// True or false.
    Boolean(bool),
}

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct DataTable {
    /// Names and types of the columns.
    pub columns: Vec<(String, ColumnType)>,
    /// The rows, each with one cell a column.
    pub rows: Vec<Vec<Cell>>,
}

impl DataTable {
    /// Returns where a column stands.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|(own, _)| own == name)
    }
}

/// A line, from 1, and what is wrong with it.
type Wrong = (usize, String);

/// Reads `text` as the table `name`.
pub(super) fn read_pack_table(name: &str, text: &str) -> Result<DataTable, Wrong> {
    if !is_name(name) {
        return Err((1, format!("gives the table {name:?}, allowed is snake_case")));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    let mut columns = Vec::new();
    let mut rows = Vec::new();
    for (index, record) in reader.records().enumerate() {
        let record = record.map_err(|error| {
            let line = error.position().map_or(1, |at| at.line() as usize);
            (line, format!("is no CSV: {error}"))
        })?;
        let line = record.position().map_or(index + 1, |at| at.line() as usize);
        if index == 0 {
            columns = header(&record).map_err(|message| (line, message))?;
        } else if rows.len() == MAX_ROWS {
            return Err((line, format!("is row {} of at most {MAX_ROWS}", MAX_ROWS + 1)));
        } else {
            let cells = record.iter().zip(&columns).map(|(field, column)| cell(field, column));
            rows.push(cells.collect::<Result<_, _>>().map_err(|message| (line, message))?);
        }
    }
    if columns.is_empty() {
        return Err((1, "is empty, expected a header".to_owned()));
    }
    Ok(DataTable { columns, rows })
}

fn header(record: &csv::StringRecord) -> Result<Vec<(String, ColumnType)>, String> {
    if record.len() > MAX_COLUMNS {
        return Err(format!("has {} columns, at most {MAX_COLUMNS}", record.len()));
    }
    let mut columns: Vec<(String, ColumnType)> = Vec::new();
    for field in record {
        let (name, kind) = field.trim().split_once(':').unwrap_or((field.trim(), "text"));
        let Some(kind) = ColumnType::named(kind) else {
            return Err(format!(
                "column {name:?} has the type {kind:?}, allowed are text, integer, real, boolean"
            ));
        };
        if !is_name(name) {
            return Err(format!("column {name:?}: allowed is snake_case"));
        }
        if columns.iter().any(|(known, _)| known == name) {
            return Err(format!("column {name:?} is there twice"));
        }
        columns.push((name.to_owned(), kind));
    }
    Ok(columns)
}

/// Names of tables and columns stand in SQL, so they are plain words.
fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

fn cell(field: &str, (name, kind): &(String, ColumnType)) -> Result<Cell, String> {
    if field.is_empty() {
        return Ok(Cell::Null);
    }
    let wrong = |expected: &str| format!("column {name:?} is {field:?}, expected {expected}");
    match kind {
        ColumnType::Text => Ok(Cell::Text(field.to_owned())),
        ColumnType::Integer => {
            field.trim().parse().map(Cell::Integer).map_err(|_| wrong("a whole number"))
        }
        ColumnType::Real => match field.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Cell::Real(number)),
            _ => Err(wrong("a finite number")),
        },
        ColumnType::Boolean => {
            field.trim().parse().map(Cell::Boolean).map_err(|_| wrong("true or false"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_keeps_its_zero_and_an_empty_field_is_null() {
        let table = read_pack_table("etf", "code,ratio:real,n:integer\n069500,0.15,3\n\"a,b\",,\n");
        let table = table.expect("right");
        assert_eq!(
            table.rows,
            [
                vec![Cell::Text("069500".into()), Cell::Real(0.15), Cell::Integer(3)],
                vec![Cell::Text("a,b".into()), Cell::Null, Cell::Null],
            ]
        );
    }

    #[test]
    fn a_wrong_table_is_told_with_its_line() {
        for (text, line, told) in [
            ("", 1, "is empty"),
            ("a:number\n", 1, "has the type \"number\", allowed are text, integer, real, boolean"),
            ("a,a\n", 1, "is there twice"),
            ("a b\n", 1, "allowed is snake_case"),
            ("a:real\n1\nNaN\n", 3, "column \"a\" is \"NaN\", expected a finite number"),
            ("a:integer\n1.5\n", 2, "expected a whole number"),
            ("a:boolean\n1\n", 2, "expected true or false"),
            ("a,b\n1\n", 2, "is no CSV"),
        ] {
            let (at, message) = read_pack_table("t", text).expect_err(text);
            assert!(at == line && message.contains(told), "{text:?}: {at}: {message}");
        }
        assert!(read_pack_table("a;b", "a\n").is_err());
    }
}
