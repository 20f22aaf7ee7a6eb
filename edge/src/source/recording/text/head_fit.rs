//! A header that has more or fewer names than the rows have fields.
//!
//! Part of the layout. R and data frames write the index of rows without a name, loggers end their
//! rows or their header with separators. Invariant: names are moved only where the rows leave one
//! reading; else they are open, and the reader refuses the table unless a person names its columns
//! by number.

use super::layout::{Line, loose_value};
use crate::source::interpretation::{ChannelRole, StatedUnit};
use crate::tabular::fields::{Separator, index_of_rows};

/// Names of a column of remarks, which has no fields in the rows.
pub(super) const REMARKS: [&str; 9] =
    ["comment", "comments", "remark", "remarks", "note", "notes", "kommentar", "bemerkung", "비고"];

/// Rows by which a header with another number of names is fitted.
const FITTED_ROWS: usize = 50;

/// How names that are more or fewer than the fields of the rows belong to them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HeadFit {
    /// They are as many, or no names.
    None,
    /// The first field of the rows is their index, without a name.
    Index,
    /// The last fields of the rows are empty in all of them.
    EmptyAtEnd,
    /// It is open.
    Open(Vec<String>),
}

impl HeadFit {
    /// Brings names to the width of the rows; true if they have it now.
    pub(super) fn apply(&self, names: &mut Vec<String>, width: usize) -> bool {
        match self {
            Self::None | Self::Open(_) => false,
            Self::Index => {
                names.insert(0, String::new());
                names.len() == width
            }
            Self::EmptyAtEnd => {
                names.resize(width, String::new());
                true
            }
        }
    }

    pub(super) fn note(&self) -> Option<String> {
        (*self == Self::Index).then(|| {
            "the rows have one field more than the header: the first is the index of the row, \
             without a name"
                .to_owned()
        })
    }
}

/// The fields of the first rows that are as wide as the table.
pub(super) fn fields_of_rows<'a>(
    rows: &[Line<'a>],
    separator: Separator,
    width: usize,
) -> Vec<Vec<&'a str>> {
    let of_width = rows.iter().take(FITTED_ROWS).map(|(_, line)| {
        let mut fields = separator.fields(line);
        if fields.len() + 1 == width && separator.closes(line) {
            fields.push("");
        }
        fields
    });
    of_width.filter(|fields| fields.len() == width).collect()
}

/// Returns how a line above the rows belongs to their columns, if it names columns.
pub(super) fn fit_of(
    names: &[String],
    rows: &[Vec<&str>],
    separator: Separator,
    width: usize,
) -> HeadFit {
    if width < 2 || names.len() == width || !names_columns(names, separator) || rows.len() < 2 {
        return HeadFit::None;
    }
    let are_empty = || rows.iter().all(|row| row.iter().skip(names.len()).all(|f| f.is_empty()));
    if names.len() < width && are_empty() {
        return HeadFit::EmptyAtEnd;
    }
    let is_index_named =
        names.first().is_some_and(|name| ChannelRole::by_name(name) == ChannelRole::Count);
    let begins_with_time =
        names.first().is_some_and(|name| ChannelRole::by_name(name) == ChannelRole::Time);
    let is_index = || {
        let of_rows = index_of_rows(rows);
        // without a time the count can be nothing but the index
        let alone = || !begins_with_time && counts_alone(rows);
        of_rows || alone()
    };
    if names.len() + 1 == width && !is_index_named && is_index() {
        return HeadFit::Index;
    }
    HeadFit::Open(names.to_vec())
}

/// Whether the first field counts the rows and the second does not.
fn counts_alone(rows: &[Vec<&str>]) -> bool {
    let counts = |at: usize| {
        let numbers: Option<Vec<f64>> =
            rows.iter().map(|row| row.get(at).and_then(|field| field.parse().ok())).collect();
        numbers.is_some_and(|all| all.windows(2).all(|p| (p[1] - p[0] - 1.0).abs() < 1e-9))
    };
    counts(0) && !counts(1)
}

/// Whether a line names columns: words alone, no statement, and what they say of the columns is
/// known. Of words between spaces each must say so, since a sentence has as many.
fn names_columns(names: &[String], separator: Separator) -> bool {
    let says = |name: &String| {
        ChannelRole::by_name(name) != ChannelRole::Unknown || StatedUnit::in_header(name).is_some()
    };
    let is_word = |name: &String| {
        loose_value(name) != Some(true) && !name.ends_with(':') && !name.contains('=')
    };
    let begins = names.first().is_some_and(|name| {
        matches!(ChannelRole::by_name(name), ChannelRole::Time | ChannelRole::Count)
    });
    let all_say = names.iter().all(says);
    let known = if separator == Separator::Spaces { all_say } else { all_say || begins };
    names.len() > 1 && known && names.iter().all(is_word)
}
