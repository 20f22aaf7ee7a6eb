//! The leaves of a file that is a tree: numbers, texts, and arrays of other kinds, by their paths.
//!
//! MAT-files, HDF5 and JSON documents keep a vector's name, unit and rate in fields beside it, in
//! the spellings of the programs that write them: `fs`, `x_values.increment`, `quantity.label`,
//! `Name`. A field belongs to the vectors of its own struct; a rate belongs to the structs inside,
//! too.
//!
//! Invariant: a statement is taken as the file spells it; nothing is derived from a value.

use super::NumberEncoding;
use super::variables::{MAX_CHANNELS, Variable};
use beside::{BesideStatement, Tree};

pub(super) use beside::{UNIT_KEYS, plain, rate_of_property};
pub(super) use factor::may_be_factor;
pub(super) use labels::may_be_unit;
pub(super) use speed::stated_speed;
pub(super) use start::{in_zone, stated_start};

mod aside;
mod beside;
mod elsewhere;
mod factor;
mod labels;
mod speed;
mod start;

/// One leaf of a tree.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Leaf {
    /// Its place, such as `bearing.gs`, `runs{2}.data`, `/run/acc`.
    pub(super) path: String,
    pub(super) content: LeafContent,
}

/// The content of a leaf.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum LeafContent {
    /// Real numbers, column by column.
    Numbers { rows: usize, columns: usize, numbers: Vec<f64>, encoding: NumberEncoding },
    /// Lines of text.
    Text(Vec<String>),
    /// An array that is no vector or matrix of real numbers, with what it is.
    Other(String),
}

/// Returns the vectors among the leaves, with the file's statements on them, and the arrays that
/// are no vectors.
pub(super) fn variables_of(leaves: Vec<Leaf>) -> (Vec<Variable>, Vec<String>) {
    let statements: Vec<Option<BesideStatement>> = {
        let tree = Tree::new(&leaves);
        let mut left = MAX_CHANNELS;
        leaves
            .iter()
            .map(|leaf| {
                let LeafContent::Numbers { rows, columns, encoding, .. } = &leaf.content else {
                    return None;
                };
                if (*rows).max(*columns) < 2 {
                    return None;
                }
                // more channels than that are no recording, whatever stands beside them
                left = left.saturating_sub(1);
                let count = (*rows).min(*columns).min(MAX_CHANNELS + 1);
                Some(tree.stated_beside(&leaf.path, if left > 0 { count } else { 0 }, *encoding))
            })
            .collect()
    };
    let unit = elsewhere::unit_of(&leaves);
    let (mut variables, mut others) = (Vec::new(), Vec::new());
    for (leaf, stated) in leaves.into_iter().zip(statements) {
        match (leaf.content, stated) {
            (LeafContent::Numbers { .. }, Some(stated)) if stated.is_over_frequency => {
                others.push(format!("{} (a spectrum: its abscissa is in Hz)", leaf.path));
            }
            (LeafContent::Numbers { rows, columns, .. }, _) if rows.min(columns) > MAX_CHANNELS => {
                others.push(format!("{} ({rows} × {columns})", leaf.path));
            }
            (LeafContent::Numbers { rows, columns, numbers, .. }, Some(stated)) => {
                add_columns(&leaf.path, (rows, columns), &numbers, &stated, &mut variables);
            }
            (LeafContent::Other(kind), _) => others.push(format!("{} ({kind})", leaf.path)),
            _ => {}
        }
    }
    elsewhere::give(unit, &mut variables);
    (variables, others)
}

/// One variable for each channel: a column, or a row of a matrix that is wider than high.
fn add_columns(
    path: &str,
    (rows, columns): (usize, usize),
    numbers: &[f64],
    stated: &BesideStatement,
    variables: &mut Vec<Variable>,
) {
    let count = rows.min(columns);
    for index in 0..count {
        let own = if rows >= columns {
            numbers.iter().skip(index * rows).take(rows).copied().collect()
        } else {
            numbers.iter().skip(index).step_by(rows.max(1)).copied().collect()
        };
        variables.push(Variable {
            path: if count == 1 { path.to_owned() } else { format!("{path}[{index}]") },
            stated: stated.columns.get(index).cloned().unwrap_or_default(),
            rate_hz: stated.rate_hz,
            started_at: None,
            time_note: None,
            numbers: own,
        });
    }
}
