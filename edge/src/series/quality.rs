//! Values that the table itself calls bad, in a column beside them.
//!
//! Historians and OPC servers write a value and its quality: `Bad`, `Invalid`, or a number of which the two
//! highest bits are 0. Invariant: such a value is no value, and the count is told; a column that does not
//! speak of quality by its name and in all of its words changes nothing.

use super::table::FieldRow;

/// Names of a column of quality, in lower case without signs; they may stand behind the name of a value.
const NAMES: [&str; 7] =
    ["quality", "qualitycode", "opcquality", "opcqualitycode", "validity", "valid", "isgood"];

/// Words for a value that must not be used.
const BAD: [&str; 9] =
    ["bad", "invalid", "false", "notgood", "error", "commfail", "notconnected", "no", "faulty"];

/// Words for a value.
const GOOD: [&str; 8] =
    ["good", "valid", "true", "ok", "yes", "uncertain", "questionable", "substituted"];

/// The quality of a good value in OPC: the two highest of its eight bits are set.
const OPC_GOOD: f64 = 192.0;

/// Qualities below are bad.
const OPC_BAD_BELOW: f64 = 64.0;

/// Begins the name of a tag by which WinCC marks its own start and stop among the rows of a log.
const EVENT_TAG: &str = "$RT_";

/// Takes the values out of rows that are events of the logger and no readings.
fn leave_events_out(
    rows: &[FieldRow<'_>],
    values: &mut [Vec<Option<f64>>],
    notes: &mut Vec<String>,
) {
    let is_event = |row: &FieldRow<'_>| {
        row.fields.iter().any(|field| field.trim_matches(['"', ' ']).starts_with(EVENT_TAG))
    };
    let events: Vec<usize> = (0..rows.len()).filter(|at| is_event(&rows[*at])).collect();
    let Some(first) = events.first().and_then(|at| rows.get(*at)) else { return };
    for column in values.iter_mut() {
        for at in &events {
            if let Some(value) = column.get_mut(*at) {
                *value = None;
            }
        }
    }
    notes.push(format!(
        "{} rows are events of the logger ({EVENT_TAG}…, first in line {}) and no readings: left out",
        events.len(),
        first.line
    ));
}

/// Takes the values out whose quality is bad.
pub(super) fn leave_out(
    rows: &[FieldRow<'_>],
    header: &[String],
    (time, columns): (usize, &[usize]),
    values: &mut [Vec<Option<f64>>],
    notes: &mut Vec<String>,
) {
    leave_events_out(rows, values, notes);
    for place in (0..header.len()).filter(|place| *place != time && !columns.contains(place)) {
        if plain(&header[place]).ends_with("status") {
            let bad = bad_rows(rows, place, "").unwrap_or_default();
            let count = bad.iter().filter(|is_bad| **is_bad).count();
            if count > 0 {
                notes.push(format!(
                    "{count} rows are bad by column {:?}, which may speak of the machine: their values are kept",
                    header[place]
                ));
            }
            continue;
        }
        let Some(of) = described_by(&header[place], header, columns) else { continue };
        let Some(bad) = bad_rows(rows, place, &header[place]) else { continue };
        let mut count = 0;
        for (row, _) in bad.iter().enumerate().filter(|(_, is_bad)| **is_bad) {
            for own in &of {
                let field = values.get_mut(*own).and_then(|column| column.get_mut(row));
                count += usize::from(field.and_then(Option::take).is_some());
            }
        }
        if count > 0 {
            notes.push(format!(
                "{count} values were left out, since column {:?} calls them bad",
                header[place]
            ));
        }
    }
}

/// The asked columns whose quality a column states: the one whose name it bears, else all.
fn described_by(name: &str, header: &[String], columns: &[usize]) -> Option<Vec<usize>> {
    let plain = plain(name);
    if NAMES.contains(&plain.as_str()) {
        return Some((0..columns.len()).collect());
    }
    let is_own = |own: &&usize| {
        let value = header.get(columns[**own]).map_or(String::new(), |name| self::plain(name));
        !value.is_empty() && plain.strip_prefix(&value).is_some_and(|rest| NAMES.contains(&rest))
    };
    let all: Vec<usize> = (0..columns.len()).collect();
    let own: Vec<usize> = all.iter().filter(is_own).copied().collect();
    (!own.is_empty()).then_some(own)
}

fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns which rows are bad; `None` where a field is neither one of the words nor a quality of
/// OPC, or a validity.
fn bad_rows(rows: &[FieldRow<'_>], place: usize, name: &str) -> Option<Vec<bool>> {
    let fields = || rows.iter().map(|row| row.fields.get(place).copied().unwrap_or_default());
    let numbers: Option<Vec<f64>> = fields().map(|field| field.parse().ok()).collect();
    if let Some(numbers) = numbers {
        let is_opc = numbers.contains(&OPC_GOOD)
            && numbers.iter().all(|n| n.fract() == 0.0 && (0.0..=255.0).contains(n));
        if is_opc {
            return Some(numbers.iter().map(|number| *number < OPC_BAD_BELOW).collect());
        }
        // 1 and above is valid, 0 and below is not (air quality data of the EEA: -1, -99)
        let is_validity =
            ["validity", "valid", "isgood"].iter().any(|end| plain(name).ends_with(end))
                && numbers.contains(&1.0)
                && numbers.iter().all(|n| n.fract() == 0.0 && (-99.0..=4.0).contains(n));
        return is_validity.then(|| numbers.iter().map(|number| *number <= 0.0).collect());
    }
    fields()
        .map(|field| {
            let word = plain(field);
            // a word such as `Bad [sensor failure]` begins with what it means
            let first = plain(field.split([' ', ',', '[', '(', ':']).next().unwrap_or_default());
            let is_in =
                |words: &[&str]| words.contains(&word.as_str()) || words.contains(&first.as_str());
            match (is_in(&BAD), is_in(&GOOD)) {
                (true, _) => Some(true),
                (false, true) => Some(false),
                (false, false) => None,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::table::{Request, Table, read_table};

    fn read(text: &str) -> Table {
        let values = vec!["a".to_owned(), "b".to_owned()];
        let request =
            Request { time: "t".to_owned(), values, period_s: 600.0, ..Request::default() };
        read_table(text.as_bytes(), &request).expect("reads")
    }

    /// WinCC writes the stop of its runtime as a row of another tag.
    #[test]
    fn a_row_that_is_an_event_of_the_logger_is_no_reading() {
        let rows: Vec<String> = (0..9).map(|n| format!("{};P1;{n}.5;1\n", 600 * n)).collect();
        let rows = rows.concat();
        let text = format!("t;VarName;a;b\n{rows}5400;$RT_OFF$;0;0\n");
        let table = read(&text);
        assert_eq!(table.rows.last().expect("rows").values, [None, None]);
        let notes = table.notes.join("; ");
        assert!(
            notes.contains("1 rows are events of the logger") && notes.contains("line 11"),
            "{notes}"
        );
    }

    fn missing(table: &Table) -> Vec<(usize, usize)> {
        let rows = table.rows.iter().enumerate();
        rows.flat_map(|(row, all)| {
            let values = all.values.iter().enumerate();
            values.filter(|(_, value)| value.is_none()).map(move |(column, _)| (row, column))
        })
        .collect()
    }

    #[test]
    fn values_that_the_table_calls_bad_are_left_out_with_their_count() {
        let words =
            read("t,a,b,Quality\n0,1,2,Good\n600,0,0,Bad [sensor failure]\n1200,1,2,Good\n");
        assert_eq!(missing(&words), [(1, 0), (1, 1)]);
        assert!(words.notes.join("; ").contains("2 values were left out"), "{:?}", words.notes);
        let opc = read("t,a,a_quality,b\n0,1,192,2\n600,0,24,0\n1200,1,216,2\n");
        assert_eq!(missing(&opc), [(1, 0)], "the quality of one column is that of no other");
    }

    /// The status may be that of the machine: leaving its values out would hide an alarm.
    #[test]
    fn a_status_that_is_bad_is_told_and_its_values_are_kept() {
        let table = read("t,a,b,Status\n0,1,2,Good\n600,3,4,Bad\n");
        assert!(missing(&table).is_empty());
        assert!(table.notes.join("; ").contains("1 rows are bad by column"), "{:?}", table.notes);
        let valid = read("t,a,b,Validity\n0,1,2,1\n600,0,0,-1\n1200,1,2,2\n");
        assert_eq!(missing(&valid), [(1, 0), (1, 1)]);
    }

    #[test]
    fn a_column_that_speaks_of_something_else_changes_nothing() {
        for column in ["Quality\n0,1,2,3\n600,1,2,1\n", "status\n0,1,2,Run\n600,1,2,Good\n"] {
            let table = read(&format!("t,a,b,{column}"));
            assert!(missing(&table).is_empty() && table.notes.is_empty(), "{column}");
        }
    }
}
