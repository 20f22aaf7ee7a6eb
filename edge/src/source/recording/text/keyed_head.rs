//! Tables whose head gives each channel its statements in rows with a key in front:
//! `"TraceName","CH1","CH2"`, `"VUnit","V","V"`, `"SampleRate",1.28E+04,1.28E+04` (Yokogawa's
//! oscilloscopes and recorders).
//!
//! The rows of samples have no field for the key, and the rows of the head look like rows of
//! values. Such a text becomes a table with names and units before the layout is looked for; each
//! line stays in its place. Invariant: a file of several blocks, or of channels with different
//! rates, is refused.

use crate::tabular::fields::{Separator, numbered_lines};

/// Lines that are looked at for the head.
const HEAD_LINES: usize = 60;

/// Keys of names, units and rates, in lower case without blanks.
const NAMES: [&str; 3] = ["tracename", "channelname", "signalname"];
const UNITS: [&str; 3] = ["vunit", "yunit", "channelunit"];
const RATES: [&str; 3] = ["samplerate", "samplingrate", "samplingfrequency"];

/// A row of the head.
struct KeyedRow<'a> {
    line: usize,
    key: String,
    values: Vec<&'a str>,
}

/// The text with names and units as rows and the rest of the head as comments; `None` if it is of
/// another form.
///
/// # Errors
/// Several blocks, or channels of different rates; in words.
pub(super) fn as_table(text: &str) -> Result<Option<(String, Vec<String>)>, String> {
    let separator = Separator::Char(',');
    let rows: Vec<KeyedRow<'_>> = numbered_lines(text)
        .take(HEAD_LINES)
        .filter(|(_, line)| line.trim_start().starts_with('"'))
        .filter_map(|(line, own)| {
            let fields = separator.fields(own);
            let (key, values) = fields.split_first()?;
            let key = key.to_lowercase().replace([' ', '_', '.'], "");
            Some(KeyedRow { line, key, values: values.to_vec() })
        })
        .collect();
    let of =
        |keys: &'static [&'static str]| rows.iter().filter(|row| keys.contains(&row.key.as_str()));
    let (Some(names), Some(rate)) = (of(&NAMES).next(), of(&RATES).next()) else {
        return Ok(None);
    };
    if names.values.is_empty() || rate.values.len() != names.values.len() {
        return Ok(None);
    }
    let blocks = of(&["blocknumber"]).find_map(|row| row.values.first()?.parse::<u32>().ok());
    if of(&NAMES).count() > 1 || blocks.is_some_and(|count| count > 1) {
        return Err(
            "the head names several blocks of channels, which stand one below the other; save each \
             block in a file of its own"
                .to_owned(),
        );
    }
    if rate.values.iter().any(|own| own != &rate.values[0]) {
        return Err(format!(
            "the channels have several rates ({}); save those of one rate in a file of their own",
            rate.values.join(", ")
        ));
    }
    let last = rows.iter().map(|row| row.line).max().unwrap_or(0);
    let units = of(&UNITS).next().map(|row| row.values.as_slice());
    Ok(Some((written(text, &rows, names, units, last), Vec::new())))
}

/// The text with the head in the form of other tables.
fn written(
    text: &str,
    rows: &[KeyedRow<'_>],
    names: &KeyedRow<'_>,
    units: Option<&[&str]>,
    last: usize,
) -> String {
    let mut table = String::with_capacity(text.len());
    for (number, line) in numbered_lines(text) {
        match rows.iter().find(|row| row.line == number) {
            // the names in the line before the last one, so that the units stand between them and
            // the rows
            _ if number + 1 == last && units.is_some() => table.push_str(&quoted(&names.values)),
            _ if number == last => table.push_str(&quoted(units.unwrap_or(&names.values))),
            Some(row) => {
                let value = row.values.first().copied().unwrap_or_default();
                table.extend(["# ", &row.key, ": ", value]);
            }
            None if number < last => table.extend(["# ", line]),
            None => table.push_str(line.trim_end().trim_end_matches(',')),
        }
        table.push('\n');
    }
    table
}

fn quoted(fields: &[&str]) -> String {
    let all: Vec<String> = fields.iter().map(|field| format!("\"{field}\"")).collect();
    all.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(rates: &str, blocks: u32) -> String {
        let head = format!(
            "\"Header \
             Size\",16\n\"BlockNumber\",{blocks}\n\"TraceName\",\"Acc1\",\"Acc2\"\n\"VUnit\",\"m/s2\",\"m/s2\"\n\
             \"SampleRate\",{rates}\n\"Date\",\"2026/05/04\",\"2026/05/04\"\n\"Time\",\"07:06:05.00\",\"07:06:05.00\"\n\n"
        );
        (0..40).fold(head, |text, n| format!("{text}{n}.5E-01,-{n}.25E-01,\n"))
    }

    /// R-EDGE-4: the rows of a head are no rows of samples, and their units and rate are those of
    /// the channels.
    #[test]
    fn a_head_with_keys_in_front_gives_names_units_and_rate() {
        let (table, _) =
            as_table(&file("2.56E+03,2.56E+03", 1)).expect("one block").expect("keyed");
        let lines: Vec<&str> = table.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(lines[..2], ["\"Acc1\",\"Acc2\"", "\"m/s2\",\"m/s2\""]);
        assert!(table.contains("# samplerate: 2.56E+03"), "{table}");
        assert_eq!(table.lines().nth(9), Some("1.5E-01,-1.25E-01"));
        assert!(
            as_table(&file("2.56E+03,1.28E+03", 1)).expect_err("rates").contains("several rates")
        );
        assert!(as_table(&file("2.56E+03,2.56E+03", 2)).expect_err("blocks").contains("blocks"));
        assert!(as_table("\"a\",\"b\"\n1,2\n").expect("another form").is_none());
    }
}
