//! Values that the table itself calls bad, in a column beside them.
//!
//! Historians and OPC servers write a value and its quality: `Bad`, `Invalid`, or a number of which
//! the two highest bits are 0, the status code of OPC UA, a share in percent, or a flag. Invariant:
//! such a value is no value, and the count is told; a column that does not speak of quality by its
//! name and in all of its words changes nothing.

use super::table::FieldRow;

/// Names of a column of quality, in lower case without signs; they may stand behind the name of a
/// value.
const NAMES: [&str; 34] = [
    "quality",
    "qualitycode",
    "opcquality",
    "opcqualitycode",
    "validity",
    "valid",
    "isvalid",
    "isgood",
    "good",
    "pctgood",
    "percentgood",
    "ok",
    "isok",
    "sensorok",
    "dataok",
    "statuscode",
    "confidence",
    "questionable",
    "isquestionable",
    "bad",
    "isbad",
    "invalid",
    "isinvalid",
    "품질",
    "qualität",
    "qualitaet",
    "datenqualität",
    "qualité",
    "calidad",
    "品质",
    "品質",
    "数据质量",
    "качество",
    "gültig",
];

/// Names of a flag that is set where a value is bad.
const FLAGS: [&str; 6] = ["questionable", "isquestionable", "bad", "isbad", "invalid", "isinvalid"];

/// Endings of names that may speak of the sensor or of the machine, so that their values are kept.
const OF_MACHINE: [&str; 8] =
    ["status", "error", "fault", "fehler", "störung", "오류", "故障", "错误"];

/// Words for a value that is none.
const BAD: [&str; 19] = [
    "bad",
    "invalid",
    "false",
    "notgood",
    "error",
    "commfail",
    "notconnected",
    "no",
    "faulty",
    "fault",
    "schlecht",
    "ungültig",
    "불량",
    "무효",
    "坏",
    "差",
    "无效",
    "不良",
    "плохое",
];

/// Words for a value.
const GOOD: [&str; 18] = [
    "good",
    "valid",
    "true",
    "ok",
    "yes",
    "uncertain",
    "questionable",
    "substituted",
    "gut",
    "gültig",
    "정상",
    "양호",
    "유효",
    "好",
    "良好",
    "良",
    "有效",
    "хорошее",
];

/// The quality of a good value in OPC: the two highest of its eight bits are set.
const OPC_GOOD: f64 = 192.0;

/// Qualities below are bad.
const OPC_BAD_BELOW: f64 = 64.0;

/// The status code of OPC UA: the highest bit of 32 is set where a value is bad, the next where it
/// is uncertain.
const UA_BAD: f64 = 2_147_483_648.0;
const UA_UNCERTAIN: f64 = 1_073_741_824.0;

/// A share of good readings in percent, below which a value is bad: it is 100 or 0 for most (PHD,
/// PI).
const GOOD_PERCENT: f64 = 50.0;

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
        "{} rows are events of the logger ({EVENT_TAG}…, first in line {}) and no readings: left \
         out",
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
        if let Some(bad) = rows_bad_by_machine(rows, place, &header[place]) {
            let count = bad.iter().filter(|is_bad| **is_bad).count();
            if count > 0 {
                notes.push(format!(
                    "{count} rows are bad by column {:?}, which may speak of the machine: their \
                     values are kept",
                    header[place]
                ));
            }
            continue;
        }
        let Some(of) = described_by(&header[place], header, columns) else { continue };
        let Some(bad) = bad_rows(rows, place, &header[place]) else {
            notes.extend(not_understood(rows, place, &header[place]));
            continue;
        };
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

/// The rows that a column calls bad which may speak of the machine; `None` for another column.
fn rows_bad_by_machine(rows: &[FieldRow<'_>], place: usize, name: &str) -> Option<Vec<bool>> {
    let plain = plain(name);
    if !OF_MACHINE.iter().any(|end| plain.ends_with(end)) {
        return None;
    }
    let is_flag = !plain.ends_with("status");
    let field = |row: &FieldRow<'_>| row.fields.get(place).copied().unwrap_or_default().to_owned();
    let set: Option<Vec<bool>> = rows.iter().map(|row| flag_of(&field(row))).collect();
    match set.filter(|_| is_flag) {
        Some(set) => Some(set),
        None => Some(bad_rows(rows, place, "").unwrap_or_default()),
    }
}

/// Whether a flag is set.
fn flag_of(field: &str) -> Option<bool> {
    match plain(field).as_str() {
        "1" | "true" | "yes" => Some(true),
        "0" | "false" | "no" => Some(false),
        _ => None,
    }
}

/// A note on a column that speaks of quality by its name, in words or numbers that are not known.
fn not_understood(rows: &[FieldRow<'_>], place: usize, name: &str) -> Option<String> {
    let mut all: Vec<&str> = Vec::new();
    for row in rows {
        let field = row.fields.get(place).copied().unwrap_or_default();
        if !all.contains(&field) {
            all.push(field);
        }
        if all.len() > 3 {
            break;
        }
    }
    (all.len() > 1).then(|| {
        format!(
            "column {name:?} may say which values are bad, and what it says is not understood \
             ({}): all values are taken",
            all.join(", ")
        )
    })
}

fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns which rows are bad; `None` where a field is neither one of the words nor a quality of
/// OPC, or a validity.
fn bad_rows(rows: &[FieldRow<'_>], place: usize, name: &str) -> Option<Vec<bool>> {
    let fields = || rows.iter().map(|row| row.fields.get(place).copied().unwrap_or_default());
    if FLAGS.iter().any(|flag| plain(name).ends_with(flag)) {
        return fields().map(flag_of).collect();
    }
    let numbers: Option<Vec<f64>> = fields().map(|field| field.parse().ok()).collect();
    if let Some(numbers) = numbers {
        if let Some(bad) = bad_by_code_or_share(&numbers, &plain(name)) {
            return Some(bad);
        }
        let is_opc = numbers.contains(&OPC_GOOD)
            && numbers.iter().all(|n| n.fract() == 0.0 && (0.0..=255.0).contains(n));
        if is_opc {
            return Some(numbers.iter().map(|number| *number < OPC_BAD_BELOW).collect());
        }
        // 1 and above is valid, 0 and below is not (air quality data of the EEA: -1, -99)
        let is_validity =
            ["validity", "valid", "good", "ok"].iter().any(|end| plain(name).ends_with(end))
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

/// Which rows are bad by the status code of OPC UA, or by a share in percent.
fn bad_by_code_or_share(numbers: &[f64], name: &str) -> Option<Vec<bool>> {
    let is_whole = numbers.iter().all(|number| number.fract() == 0.0);
    let is_code = |n: &f64| *n == 0.0 || *n < -1e9 || (UA_UNCERTAIN..2.0 * UA_BAD).contains(n);
    if name.ends_with("statuscode") && is_whole && numbers.iter().all(is_code) {
        // as a signed number the highest bit makes it negative
        return Some(numbers.iter().map(|n| *n < 0.0 || *n >= UA_BAD).collect());
    }
    let is_share = ["confidence", "good"].iter().any(|end| name.ends_with(end))
        && numbers.contains(&100.0)
        && numbers.iter().all(|n| (0.0..=100.0).contains(n));
    is_share.then(|| numbers.iter().map(|n| *n < GOOD_PERCENT).collect())
}

#[cfg(test)]
mod tests {
    use super::super::table::{Request, SeriesTable, read_table};

    fn read(text: &str) -> SeriesTable {
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

    fn missing(table: &SeriesTable) -> Vec<(usize, usize)> {
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
        let table = read("t,a,b,status\n0,1,2,Run\n600,1,2,Good\n");
        assert!(missing(&table).is_empty() && table.notes.is_empty(), "{:?}", table.notes);
        let table = read("t,a,b,Quality\n0,1,2,3\n600,1,2,1\n");
        assert!(missing(&table).is_empty(), "{:?}", table.notes);
        assert!(table.notes.join("; ").contains("is not understood (3, 1)"), "{:?}", table.notes);
    }

    /// Columns of quality of historians, of OPC UA and in other languages; 80 is the bad value.
    #[test]
    fn quality_is_read_as_codes_shares_flags_and_words_of_other_languages() {
        for (name, good, bad) in [
            ("Confidence", "100", "0"),
            ("StatusCode", "0", "2150825984"),
            ("a StatusCode", "0", "-2144075776"),
            ("% Good", "100", "20"),
            ("Questionable", "False", "True"),
            ("isBad", "0", "1"),
            ("sensor_ok", "1", "0"),
            ("품질", "정상", "불량"),
            ("Qualität", "gut", "schlecht"),
            ("品质", "好", "坏"),
        ] {
            let rows: Vec<String> = (0..9)
                .map(|n| {
                    let quality = if n == 4 { bad } else { good };
                    format!("{},{},2,{quality}\n", 600 * n, if n == 4 { 80 } else { n })
                })
                .collect();
            let table = read(&format!("t,a,b,{name}\n{}", rows.concat()));
            assert!(missing(&table).contains(&(4, 0)), "{name}: {:?}", table.notes);
            assert!(missing(&table).iter().all(|(row, _)| *row == 4), "{name}");
        }
        // what may speak of the machine is told, and its values are kept
        for (name, good, bad) in [("Status", "OK", "FAULT"), ("error", "0", "1")] {
            let rows = format!("0,1,2,{good}\n600,1,2,{bad}\n1200,1,2,{good}\n");
            let table = read(&format!("t,a,b,{name}\n{rows}"));
            assert!(missing(&table).is_empty(), "{name}");
            assert!(table.notes.join("; ").contains("1 rows are bad by column"), "{name}");
        }
    }
}
