//! Columns that hold the unit of the values beside them, row by row: `time,tag,value,unit`.
//!
//! Behind the rows. Invariant: such a column is the unit of the columns that state none; one that
//! changes is refused with its units.

use super::column_name;
use super::layout::Layout;
use super::rows::TextColumns;
use crate::source::interpretation::{ChannelRole, StatedUnit, UnitKind, role};
use crate::source::recording::StatedChannel;
use crate::source::recording::leaves::{UNIT_KEYS, plain};

/// Whether the name of a column says that it holds units.
pub(crate) fn names_units(name: &str) -> bool {
    let plain = plain(name.rsplit(['.', '/']).next().unwrap_or(name));
    UNIT_KEYS.contains(&plain.as_str())
        || ["unit", "units", "einheit", "단위"].iter().any(|end| plain.ends_with(end))
}

/// The one unit of such a column; `None` if it holds none that is known.
///
/// # Errors
/// It holds several; in words.
pub(in crate::source::recording) fn one_unit(
    name: &str,
    words: &[String],
) -> Result<Option<String>, String> {
    let stated: Vec<&String> = words.iter().filter(|word| !word.trim().is_empty()).collect();
    let known = |word: &&String| StatedUnit::parse(word);
    let Some(first) = stated.first().and_then(known) else { return Ok(None) };
    let other = stated.iter().find(|word| known(word).is_none_or(|own| own.kind != first.kind));
    match other {
        None => Ok(Some(first.spelling)),
        Some(other) => Err(format!(
            "column {name:?} states {:?} in some rows and {:?} in others: a channel has one unit; \
             bring all values into one, or save the rows of each unit in a file of its own",
            stated[0], other
        )),
    }
}

/// Gives the channels without a unit that of a column of units. `is_decided`: a person has stated
/// the unit.
///
/// # Errors
/// The column holds several units; in words.
pub(super) fn take(
    channels: &mut [&mut StatedChannel],
    layout: &Layout,
    columns: &TextColumns,
    is_decided: bool,
) -> Result<(), String> {
    for (column, own) in columns.words() {
        let name = column_name(layout, *column);
        if !names_units(&name) {
            continue;
        }
        let unit = match one_unit(&name, &own.words) {
            Ok(unit) => unit,
            Err(_) if is_decided => continue,
            Err(what) => return Err(what),
        };
        let Some(unit) = unit else { continue };
        let is_time = StatedUnit::parse(&unit).is_some_and(|u| matches!(u.kind, UnitKind::Time(_)));
        for channel in channels.iter_mut().filter(|_| !is_time) {
            let in_name = channel.name.as_deref().and_then(StatedUnit::of_name);
            let is_sample =
                matches!(role(channel), ChannelRole::Acceleration | ChannelRole::Unknown);
            if channel.unit.is_none() && in_name.is_none() && is_sample {
                channel.unit = Some(unit.clone());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::source::recording::{RecordingOptions, open_content};

    fn said(rows: impl Fn(usize) -> String) -> Result<String, String> {
        let rows: String = (0..300).map(|n| rows(n) + "\n").collect();
        let text = format!("time,value,unit\n{rows}");
        let options = RecordingOptions::default();
        let source = open_content(Path::new("t.csv"), text.into_bytes(), &options);
        source
            .map(|source| source.interpretation().expect("a file").to_string())
            .map_err(|error| error.to_string())
    }

    /// R-EDGE-4: the unit stood in each row, and g was assumed or asked for.
    #[test]
    fn a_column_of_units_is_the_unit_of_the_values_and_one_that_changes_is_refused() {
        let row = |n: usize, unit: &str| {
            format!("{:.4},{:.4},{unit}", n as f64 / 2000.0, 3.0 * (n as f64 * 0.9).sin())
        };
        let told = said(|n| row(n, "mm/s2")).expect("one unit");
        assert!(told.contains("mm/s2 (from the file)"), "{told}");
        let error = said(|n| row(n, if n < 150 { "g" } else { "m/s2" })).expect_err("two units");
        assert!(error.contains("\"g\"") && error.contains("\"m/s2\""), "{error}");
        assert!(said(|n| row(n, "")).is_ok(), "an empty column says nothing");
    }
}
