//! Rows of several sensors, machines or units in one column of values.
//!
//! Between the rows of a table and its values. Invariant: a column that names sensors, machines or
//! units holds one value in the rows that are judged; several are refused with the column, its
//! values and the option that chooses one.

use super::table::{FieldRow, SeriesError};
use crate::source::interpretation::{ChannelRole, StatedUnit};
use crate::source::recording::{names_points, names_units};

/// Most different values of a column that names points; one with more counts or measures.
const MOST_POINTS: usize = 64;

/// Values that a refusal names.
const MOST_TOLD: usize = 6;

/// Words of a name by which a column of words, beside those of recordings, tells series apart.
const WORDS: [&str; 22] = [
    "unit",
    "location",
    "site",
    "plant",
    "area",
    "line",
    "entity",
    "topic",
    "signal",
    "variable",
    "metric",
    "measurement",
    "parameter",
    "property",
    "component",
    "pump",
    "motor",
    "fan",
    "compressor",
    "gearbox",
    "serial",
    "alias",
];

/// Words of a name by which a column says how a machine or a sensor is, and not which.
const STATES: [&str; 20] = [
    "state",
    "status",
    "mode",
    "alarm",
    "health",
    "quality",
    "flag",
    "condition",
    "comment",
    "note",
    "remark",
    "event",
    "message",
    "fault",
    "result",
    "level",
    "running",
    "error",
    "class",
    "label",
];

/// Keeps the rows that a person asks for: `--only COLUMN=VALUE`.
///
/// # Errors
/// A column that is not there, or a value that no row has.
pub(super) fn keep_asked(
    rows: &mut Vec<FieldRow<'_>>,
    header: &[String],
    only: &[(String, String)],
    notes: &mut Vec<String>,
) -> Result<(), SeriesError> {
    for (column, value) in only {
        let Some(place) = header.iter().position(|name| name == column) else {
            return Err(SeriesError::NoColumn { wanted: column.clone(), there: header.to_vec() });
        };
        let is_asked = |row: &FieldRow<'_>| field(row, place) == value;
        if !rows.iter().any(is_asked) {
            let (line, told) =
                (rows.first().map_or(1, |row| row.line), told(&values_of(rows, place)));
            let reason =
                format!("no row has {value:?} in column {column:?} (--only); there are {told}");
            return Err(SeriesError::Ambiguous { line, reason });
        }
        let before = rows.len();
        rows.retain(is_asked);
        notes.push(format!(
            "of {before} rows the {} with {value:?} in {column:?} are judged",
            rows.len()
        ));
    }
    Ok(())
}

/// Refuses rows of several points, or of several units.
///
/// # Errors
/// The column, its values, and the line from which on there are two.
pub(super) fn check(
    rows: &[FieldRow<'_>],
    header: &[String],
    (time, columns): (usize, &[usize]),
) -> Result<(), SeriesError> {
    for (place, name) in header.iter().enumerate() {
        if place == time || columns.contains(&place) {
            continue;
        }
        let holds_units = || {
            let values = values_of(rows, place);
            values.iter().any(|(value, ..)| StatedUnit::parse(value).is_some())
        };
        // `unit` may be a machine
        if names_units(name) && holds_units() {
            check_units(rows, place, name)?;
        } else if may_name_points(rows, place, name) {
            check_points(rows, place, name)?;
        }
    }
    Ok(())
}

fn field<'a>(row: &FieldRow<'a>, place: usize) -> &'a str {
    row.fields.get(place).copied().unwrap_or_default()
}

/// The different values of a column with their counts and first lines; no more of them than are
/// looked at.
fn values_of(rows: &[FieldRow<'_>], place: usize) -> Vec<(String, usize, u64)> {
    let mut values: Vec<(String, usize, u64)> = Vec::new();
    for row in rows {
        let own = field(row, place);
        if own.is_empty() {
            continue;
        }
        let place = values.iter().position(|(value, ..)| value == own);
        match place {
            Some(place) => values[place].1 += 1,
            None if values.len() > MOST_POINTS => break,
            None => values.push((own.to_owned(), 1, row.line)),
        }
    }
    values
}

fn told(values: &[(String, usize, u64)]) -> String {
    let more = if values.len() > MOST_TOLD { ", …" } else { "" };
    let all: Vec<String> = values
        .iter()
        .take(MOST_TOLD)
        .map(|(value, count, _)| format!("{value:?} {count} rows"))
        .collect();
    format!("{}{more}", all.join(", "))
}

/// Whether a column may tell series apart: by its name, and by what it holds. Numbers do where the
/// name says nothing else, since a sensor's temperature is no sensor.
fn may_name_points(rows: &[FieldRow<'_>], place: usize, name: &str) -> bool {
    let lower = name.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    let is_id = |word: &str| ["id", "no", "nr", "number", "name"].contains(&word);
    let is_number = |row: &FieldRow<'_>| {
        let own = field(row, place);
        own.is_empty() || own.parse::<f64>().is_ok()
    };
    if rows.iter().all(is_number) {
        let is_whole = rows.iter().all(|row| !field(row, place).contains(['.', ',', 'e', 'E']));
        let plain = words.last().is_some_and(|last| {
            is_id(last) || names_points(last) || last.ends_with("id") || last.ends_with("no")
        });
        return is_whole && names_points(name) && plain;
    }
    if words.iter().any(|word| STATES.contains(word)) {
        return false;
    }
    let is_said = |word: &&str| {
        WORDS.contains(word) || word.strip_suffix("id").is_some_and(|w| WORDS.contains(&w))
    };
    let is_time = ChannelRole::by_name(name) == ChannelRole::Time;
    !is_time
        && (names_points(name)
            || words.iter().any(is_said)
            || ["id", "name"].contains(&lower.as_str()))
}

fn check_points(rows: &[FieldRow<'_>], place: usize, name: &str) -> Result<(), SeriesError> {
    let values = values_of(rows, place);
    // a value that stands once is a remark
    let several: Vec<&(String, usize, u64)> =
        values.iter().filter(|(_, count, _)| *count > 1).collect();
    let [_, second, ..] = several.as_slice() else { return Ok(()) };
    if values.len() > MOST_POINTS {
        return Ok(());
    }
    let reason = format!(
        "column {name:?} tells several series apart ({}), and the values of all of them stand in \
         one column; judge one of them (--only {name}={}), or give each a column of its own",
        told(&values),
        values[0].0
    );
    Err(SeriesError::Ambiguous { line: second.2, reason })
}

fn check_units(rows: &[FieldRow<'_>], place: usize, name: &str) -> Result<(), SeriesError> {
    let values = values_of(rows, place);
    let known = |value: &str| StatedUnit::parse(value);
    let Some((first, ..)) = values.first() else { return Ok(()) };
    let is_other = |(value, ..): &&(String, usize, u64)| match (known(first), known(value)) {
        (Some(own), Some(other)) => {
            own.kind != other.kind || own.spelling.to_lowercase() != other.spelling.to_lowercase()
        }
        _ => value != first,
    };
    let Some((other, _, line)) = values.iter().find(is_other) else { return Ok(()) };
    let reason = format!(
        "column {name:?} states the unit {first:?} in the rows above and {other:?} here ({}): a \
         series has one unit; bring all values into one, or judge the rows of one (--only \
         {name}={first})",
        told(&values)
    );
    Err(SeriesError::Ambiguous { line: *line, reason })
}

/// Rows of equal values from which on they are told, and their least part of the rows. Chosen: ten
/// equal readings of three digits are no chance at live sources; a table of some hundred rows has
/// more of them by its digits.
const FROZEN_ROWS: usize = 20;
const FROZEN_PART: f64 = 0.05;

/// A note on values that stand still to the last digit among others that change from row to row. A
/// machine that stands writes 0.
pub(super) fn frozen_note(
    name: &str,
    rows: &[FieldRow<'_>],
    values: &[Option<f64>],
) -> Option<String> {
    let (mut longest, mut run) = ((0, 0), 0);
    let mut changes = 0;
    for at in 1..values.len() {
        let is_same = match (values[at - 1], values[at]) {
            (Some(before), Some(own)) => before.total_cmp(&own).is_eq() && own != 0.0,
            _ => false,
        };
        run = if is_same { run + 1 } else { 0 };
        changes += usize::from(!is_same);
        if run > longest.0 {
            longest = (run, at);
        }
    }
    let (count, last) = (longest.0 + 1, longest.1);
    let is_long = count >= FROZEN_ROWS && count as f64 >= FROZEN_PART * values.len() as f64;
    // values of few digits stand by their digits: elsewhere most rows must change
    let elsewhere = values.len().saturating_sub(count);
    if !is_long || 3 * changes < 2 * elsewhere {
        return None;
    }
    let line = |at: usize| rows.get(at).map_or(0, |row| row.line);
    Some(format!(
        "{name}: {count} values in a row are equal to the last digit ({}, lines {} to {}): the \
         sensor may have stopped, or the last value was repeated",
        values[last].unwrap_or_default(),
        line(last + 1 - count),
        line(last)
    ))
}

#[cfg(test)]
mod tests {
    use super::super::table::{Request, SeriesTable, read_table};

    fn read(text: &str, only: &[(&str, &str)]) -> Result<SeriesTable, String> {
        let only = only.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        let request = Request {
            time: "t".to_owned(),
            values: vec!["v".to_owned()],
            period_s: 600.0,
            only,
            ..Request::default()
        };
        read_table(text.as_bytes(), &request).map_err(|error| error.to_string())
    }

    fn table(head: &str, row: impl Fn(usize) -> String) -> String {
        format!(
            "{head}\n{}",
            (0..60)
                .map(|n| format!("{},{}\n", 1_780_000_000 + 600 * n, row(n)))
                .collect::<Vec<String>>()
                .concat()
        )
    }

    /// R-EDGE-2: two sensors in turn were one series, and the alarm of one of them was lost.
    #[test]
    fn several_sensors_in_one_column_are_refused_and_one_can_be_chosen() {
        let turn = |n: usize, a: &str, b: &str| {
            format!("{}.5,{}", n % 7, if n.is_multiple_of(2) { a } else { b })
        };
        for (head, a, b) in [
            ("t,v,sensorId", "DE", "NDE"),
            ("t,v,machine", "P-7", "P-8"),
            ("t,v,tag", "A.RMS", "A.PEAK"),
            ("t,v,sensor_id", "11", "12"),
            ("t,v,location", "hall 1", "hall 2"),
            ("t,v,측정점", "구동", "반대"),
            ("t,v,unit", "U1", "U2"),
        ] {
            let text = table(head, |n| turn(n, a, b));
            let error = read(&text, &[]).expect_err(head);
            let column = head.rsplit(',').next().expect("a name");
            assert!(error.starts_with("line 3") && error.contains("30 rows"), "{error}");
            assert!(error.contains(&format!("--only {column}={a}")), "{error}");
            let one = read(&text, &[(column, b)]).expect("one sensor");
            assert_eq!(one.rows.len(), 30, "{head}");
        }
        let blocks =
            table("t,v,machine", |n| format!("{}.5,{}", n % 7, if n < 30 { "P-7" } else { "P-8" }));
        assert!(read(&blocks, &[]).expect_err("blocks").starts_with("line 32"));
        let missing = read(&blocks, &[("machine", "P-9")]).expect_err("no such machine");
        assert!(missing.contains("\"P-9\"") && missing.contains("\"P-7\" 30 rows"), "{missing}");
    }

    #[test]
    fn columns_that_tell_no_series_apart_change_nothing() {
        for (head, cells) in [
            ("t,v,sensor_temp", ["31", "32"]),
            ("t,v,state", ["RUN", "STOP"]),
            ("t,v,machine_state", ["RUN", "STOP"]),
            ("t,v,sensor status", ["ok", "low battery"]),
            ("t,v,machine", ["P-7", "P-7"]),
            ("t,v,tag", ["A", ""]),
            ("t,v,unit", ["mm/s", "mm/s"]),
            ("t,v,health", ["good", "bad"]),
        ] {
            let text = table(head, |n| format!("{}.5,{}", n % 7, cells[n % 2]));
            assert!(read(&text, &[]).is_ok(), "{head}");
        }
    }

    /// R-EDGE-2: the unit changed amid the rows, and the trend was judged over both.
    #[test]
    fn a_column_of_units_that_changes_is_refused_with_its_line() {
        let text =
            table("t,v,unit", |n| format!("{}.5,{}", n % 7, if n < 40 { "mm/s" } else { "in/s" }));
        let error = read(&text, &[]).expect_err("two units");
        assert!(
            error.starts_with("line 42") && error.contains("mm/s") && error.contains("in/s"),
            "{error}"
        );
        assert_eq!(read(&text, &[("unit", "in/s")]).expect("one unit").rows.len(), 20);
    }

    #[test]
    fn values_that_stand_still_are_told_and_a_machine_that_stands_is_not() {
        let frozen = table("t,v", |n| {
            if (20..50).contains(&n) { "2.345".to_owned() } else { format!("2.{:03}", n * 7) }
        });
        let notes = read(&frozen, &[]).expect("reads").notes.join("; ");
        assert!(
            notes.contains("30 values in a row are equal") && notes.contains("lines 22 to 51"),
            "{notes}"
        );
        let standing = table("t,v", |n| {
            if (20..50).contains(&n) { "0".to_owned() } else { format!("2.{:03}", n * 7) }
        });
        assert!(read(&standing, &[]).expect("reads").notes.is_empty());
        let coarse = table("t,v", |n| format!("{}", 2 + n / 25));
        assert!(read(&coarse, &[]).expect("reads").notes.is_empty(), "few digits");
    }

    /// R-EDGE-2: the first half was dated 1970, and the alarm was lost.
    #[test]
    fn times_that_change_from_seconds_to_milliseconds_are_refused_with_the_line() {
        for (first, second) in [(1, 1000), (1000, 1), (1, 1_000_000)] {
            let at = |n: usize| (1_780_000_000 + 600 * n) * if n < 30 { first } else { second };
            let rows = (0..60).map(|n| format!("{},{}.5\n", at(n), n % 7));
            let rows = rows.collect::<Vec<String>>().concat();
            let error = read(&format!("t,v\n{rows}"), &[]).expect_err("two units of time");
            assert!(error.starts_with("line 32") && error.contains("since 1970"), "{error}");
        }
        let unset = (0..60).map(|n| format!("1970-01-01 00:{n:02}:00,{}.5\n", n % 7));
        let notes = read(&format!("t,v\n{}", unset.collect::<String>()), &[]).expect("reads").notes;
        assert!(notes.join("; ").contains("never set"), "{notes:?}");
        let error =
            read("t,v\n0001-01-01 00:00:00,1\n0001-01-01 00:10:00,2\n", &[]).expect_err("no time");
        assert!(error.contains("is not a time"), "{error}");
        let korean = (0..60).map(|n| format!("2026-05-04 09:{n:02}:00,{}.5\n", n % 7));
        let text = format!("t (KST),v\n{}", korean.collect::<String>()).replace("t (KST)", "t_kst");
        let request = Request {
            time: "t_kst".to_owned(),
            values: vec!["v".to_owned()],
            period_s: 60.0,
            ..Request::default()
        };
        let table = read_table(text.as_bytes(), &request).expect("reads");
        assert!(
            table.rows[0].at.to_string().starts_with("2026-05-04T00:00:00"),
            "{}",
            table.rows[0].at
        );
    }
}
