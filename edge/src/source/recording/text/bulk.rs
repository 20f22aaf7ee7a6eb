//! Lines that another program made for itself: rows of a bulk import to AWS IoT SiteWise, and log
//! lines of ESP-IDF.
//!
//! They become a table before the layout is looked for. Invariant: every line has the form of the
//! first one.

use crate::tabular::fields::numbered_lines;

/// Lines by which a text is known; all of them have the form.
const SAMPLE_LINES: usize = 20;

/// Fewest lines.
const LEAST_LINES: usize = 8;

/// Returns the text as a table with a header, and notes for the person; `None` if it is of another
/// form.
pub(super) fn as_table(text: &str) -> Option<(String, Vec<String>)> {
    sitewise(text).or_else(|| esp_log(text))
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    numbered_lines(text).map(|(_, line)| line.trim()).filter(|line| !line.is_empty())
}

/// All lines in another form; `None` if the first lines are not all of this form, or fewer than
/// needed.
fn rewritten(text: &str, head: &str, row: impl Fn(&str) -> Option<String>) -> Option<String> {
    let sample: Option<Vec<String>> = lines(text).take(SAMPLE_LINES).map(&row).collect();
    if sample?.len() < LEAST_LINES {
        return None;
    }
    let mut table = format!("{head}\n");
    for line in lines(text) {
        // a line of another form is refused by the reader of tables, with what it says
        table.push_str(&row(line).unwrap_or_else(|| line.to_owned()));
        table.push('\n');
    }
    Some(table)
}

/// `ASSET,PROPERTY,DOUBLE,1772352000,0,GOOD,0.46717`, or one alias in place of the first two.
fn sitewise(text: &str) -> Option<(String, Vec<String>)> {
    const TYPES: [&str; 3] = ["DOUBLE", "INTEGER", "BOOLEAN"];
    const QUALITIES: [&str; 3] = ["GOOD", "BAD", "UNCERTAIN"];
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let (names, rest) = match fields.as_slice() {
            [_, kind, ..] if fields.len() == 6 && TYPES.contains(kind) => fields.split_at(1),
            [_, _, kind, ..] if fields.len() == 7 && TYPES.contains(kind) => fields.split_at(2),
            _ => return None,
        };
        let [_, seconds, nanos, quality, value] = rest else { return None };
        let is_whole = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let fits = is_whole(seconds) && is_whole(nanos) && QUALITIES.contains(quality);
        // a value of a quality other than good is none
        let value = if *quality == "BAD" { "" } else { value };
        fits.then(|| format!("{},{seconds},{nanos},{value}", names.join("/")))
    };
    let table = rewritten(text, "tag,timeInSeconds,offsetInNanos,value", row)?;
    Some((table, vec!["rows of a bulk import to SiteWise".to_owned()]))
}

/// `I (1234) ACC: 0.46,0.26,1.31`, with the codes of its colours.
fn esp_log(text: &str) -> Option<(String, Vec<String>)> {
    let row = |line: &str| {
        let plain = without_colours(line);
        let rest = plain.strip_prefix(['I', 'W', 'E', 'D', 'V'])?.strip_prefix(" (")?;
        let (ms, rest) = rest.split_once(") ")?;
        let (_, values) = rest.split_once(": ")?;
        let is_whole = !ms.is_empty() && ms.bytes().all(|b| b.is_ascii_digit());
        let is_number = |field: &str| field.trim().parse::<f64>().is_ok();
        let fields: Vec<&str> =
            values.split([',', ';', '\t', ' ']).filter(|f| !f.is_empty()).collect();
        let fits = is_whole && !fields.is_empty() && fields.iter().all(|field| is_number(field));
        fits.then(|| format!("{ms},{}", fields.join(",")))
    };
    let first = row(lines(text).next()?)?;
    let width = first.split(',').count();
    let names: Vec<String> = (1..width).map(|column| format!("column {column}")).collect();
    let table = rewritten(text, &format!("time (ms),{}", names.join(",")), row)?;
    Some((table, vec!["lines of a log of ESP-IDF, whose times are in milliseconds".to_owned()]))
}

/// A line without the codes by which a terminal colours it.
fn without_colours(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, code)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        let end = code.find(|c: char| c.is_ascii_alphabetic()).map_or(code.len(), |at| at + 1);
        rest = code.get(end..).unwrap_or("");
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_bulk_import_and_of_a_log_become_a_table() {
        let rows = (0..20)
            .map(|n| format!("p1,a9,DOUBLE,1780000000,{n}000000,GOOD,0.{n}\n"))
            .collect::<Vec<String>>()
            .concat();
        let (table, _) = as_table(&rows).expect("SiteWise");
        assert!(
            table.starts_with(
                "tag,timeInSeconds,offsetInNanos,value\np1/a9,1780000000,0000000,0.0\n"
            ),
            "{table}"
        );
        let bad = rows.replace("GOOD,0.3", "BAD,0.3");
        assert!(as_table(&bad).expect("SiteWise").0.contains("3000000,\n"));
        let log = (0..20)
            .map(|n| format!("\u{1b}[0;32mI ({n}) VIB: 0.{n},1.5\u{1b}[0m\n"))
            .collect::<Vec<String>>()
            .concat();
        let (table, _) = as_table(&log).expect("ESP-IDF");
        assert!(
            table.starts_with("time (ms),column 1,column 2\n0,0.0,1.5\n1,0.1,1.5\n"),
            "{table}"
        );
        for text in ["1,2\n3,4\n", "I (see) note: x\n"] {
            assert!(as_table(&text.repeat(20)).is_none(), "{text}");
        }
    }
}
