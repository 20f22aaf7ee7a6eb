//! Lines that a serial monitor has stamped: `10:00:00.001 -> 0.12,-0.03,0.98` (Arduino),
//! `[10:00:00.001] …` (Tera Term, CuteCom), `2026-03-01 10:00:00.001 …` (CoolTerm).
//!
//! The stamp and the first value would be one word of the table, and the first channel gone. Such a
//! text becomes a table whose first column is the time, before the layout is looked for. Invariant:
//! each line of the text is one line of the table, so that an error names the line of the file.

use crate::tabular::Stamp;
use crate::tabular::fields::numbered_lines;

/// Lines that are looked at before the text is taken for one of stamped lines.
const SAMPLE_LINES: usize = 40;

/// Fewest stamped lines of values by which such a text is known.
const LEAST_LINES: usize = 3;

/// The marks that monitors write between the stamp and the line; the longer one comes first.
const ARROWS: [&str; 3] = ["->", "=>", " >"];

/// How a monitor marks its stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StampMark {
    Arrow,
    Brackets,
    /// Blanks alone: only in front of values with another separator.
    Blank,
}

/// A stamped line.
#[derive(Debug, Clone, Copy)]
struct StampedLine<'a> {
    mark: StampMark,
    stamp: &'a str,
    rest: &'a str,
}

/// How the values behind the stamps are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ValueForm {
    mark: StampMark,
    /// A blank stands for any run of blanks.
    separator: char,
    width: usize,
}

impl ValueForm {
    fn fields(self, rest: &str) -> Vec<&str> {
        let rest = rest.trim().trim_end_matches(self.separator);
        match self.separator {
            ' ' => rest.split_whitespace().collect(),
            separator => rest.split(separator).map(str::trim).collect(),
        }
    }

    fn is_values(self, rest: &str) -> bool {
        let fields = self.fields(rest);
        !fields.is_empty() && fields.iter().all(|field| is_number(field))
    }

    /// The line with the stamp as its first field.
    fn written(self, stamp: &str, rest: &str) -> String {
        let separator = if self.separator == ' ' { '\t' } else { self.separator };
        let mut all = vec![stamp];
        all.extend(self.fields(rest));
        all.join(&separator.to_string())
    }
}

/// Returns the text as a table with a column of times, and notes for the person; `None` if it is of
/// another form.
pub(super) fn as_table(text: &str) -> Option<(String, Vec<String>)> {
    let form = form_of(text)?;
    let last = numbered_lines(text).filter(|(_, line)| !line.trim().is_empty()).last()?.0;
    let mut notes = vec!["each line begins with the time of a serial monitor".to_owned()];
    let mut table = String::with_capacity(text.len());
    let (mut is_first, mut has_values) = (true, false);
    for (number, line) in numbered_lines(text) {
        let is_blank = line.trim().is_empty();
        let stamped = parsed(line).filter(|line| line.mark == form.mark);
        let fits = stamped.is_some_and(|line| form.fields(line.rest).len() == form.width);
        match stamped {
            Some(StampedLine { stamp, rest, .. }) if fits => {
                let is_values = form.is_values(rest);
                has_values |= is_values;
                table.push_str(&form.written(if is_values { stamp } else { "time" }, rest));
            }
            // a monitor cuts the first line and the last one
            _ if !is_blank && ((is_first && stamped.is_none()) || number == last) => {
                notes.push(format!("line {number} is cut and was left out"));
            }
            // what the sketch prints at its start
            Some(StampedLine { rest, .. }) if !has_values => table.push_str(rest),
            _ => table.push_str(line),
        }
        table.push('\n');
        is_first &= is_blank;
    }
    Some((table, notes))
}

/// The form of the lines, if all that are looked at but the first and the last are stamped in one
/// way.
fn form_of(text: &str) -> Option<ValueForm> {
    let lines = numbered_lines(text).map(|(_, line)| line).filter(|line| !line.trim().is_empty());
    let mut sample: Vec<Option<StampedLine<'_>>> =
        lines.skip(1).take(SAMPLE_LINES + 1).map(parsed).collect();
    sample.pop();
    let whole: Vec<StampedLine<'_>> = sample.into_iter().collect::<Option<_>>()?;
    let mark = whole.first()?.mark;
    if whole.iter().any(|line| line.mark != mark) {
        return None;
    }
    let rests: Vec<&str> = whole.iter().map(|line| line.rest).collect();
    let is_letter = |c: char| c.is_alphabetic() && !matches!(c, 'e' | 'E');
    let digits: Vec<&str> =
        rests.iter().copied().filter(|rest| !rest.contains(is_letter)).collect();
    let separator = separator_of(&digits)?;
    let open = ValueForm { mark, separator, width: 1 };
    let values: Vec<&str> = rests.into_iter().filter(|rest| open.is_values(rest)).collect();
    let width = open.fields(values.last()?).len();
    let is_blank_form = mark == StampMark::Blank;
    // the usual reader tells a column of times from columns that blanks separate
    let fits = values.len() >= LEAST_LINES
        && !(is_blank_form && (separator == ' ' || values.len() < whole.len()));
    fits.then_some(ValueForm { width, ..open })
}

/// The separator of these values; a comma in a single number is its decimal sign.
fn separator_of(values: &[&str]) -> Option<char> {
    let any = |sign: char| values.iter().any(|rest| rest.trim_end_matches(sign).contains(sign));
    if values.is_empty() {
        return None;
    }
    let is_decimal = |rest: &&str| {
        let halves = rest.trim().split_once(',');
        halves.is_some_and(|(whole, part)| !whole.contains('.') && !part.contains(['.', ',']))
    };
    let is_fraction = |rest: &&str| {
        let (whole, part) = rest.trim().split_once(',').unwrap_or(("", ""));
        ["0", "-0"].contains(&whole) && part.len() > 1
    };
    Some(if any(';') {
        ';'
    } else if any('\t') {
        '\t'
    } else if any(',') && !(values.iter().all(is_decimal) && values.iter().any(is_fraction)) {
        ','
    } else {
        ' '
    })
}

fn is_number(field: &str) -> bool {
    let plain = field.replacen(',', ".", 1);
    plain.parse::<f64>().is_ok()
}

/// Returns the stamp of a line and the rest behind it.
fn parsed(line: &str) -> Option<StampedLine<'_>> {
    let line = line.trim_matches([' ', '\u{feff}', '\r']);
    let clock = |text: &str| Stamp::parse(text).is_some_and(|stamp| stamp.has_clock());
    let found = |mark, stamp: &'_ str| clock(stamp).then_some(mark);
    if let Some((stamp, rest)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        let mark = found(StampMark::Brackets, stamp.trim())?;
        return Some(StampedLine { mark, stamp: stamp.trim(), rest: rest.trim_start() });
    }
    for arrow in ARROWS {
        if let Some((stamp, rest)) = line.split_once(arrow)
            && let Some(mark) = found(StampMark::Arrow, stamp.trim())
        {
            return Some(StampedLine { mark, stamp: stamp.trim(), rest: rest.trim_start() });
        }
    }
    let blanks = line.match_indices(' ').map(|(at, _)| at).take(3);
    blanks.into_iter().find_map(|at| {
        let (stamp, rest) = line.split_at_checked(at)?;
        let mark = found(StampMark::Blank, stamp.trim())?;
        let is_digit = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.');
        let rest = rest.trim_start();
        // `2026-03-01 10:00:00`: the stamp goes on
        let goes_on = rest.split(' ').next().is_some_and(clock);
        (rest.starts_with(is_digit) && !goes_on).then_some(StampedLine { mark, stamp, rest })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(stamp: impl Fn(u32) -> String, values: impl Fn(u32) -> String) -> String {
        (0..8).map(|n| format!("{}{}\n", stamp(n), values(n))).collect::<Vec<_>>().concat()
    }

    /// R-EDGE-4: the first value behind a stamp is the first channel.
    #[test]
    fn a_stamp_and_the_first_value_are_two_columns() {
        let three = |n: u32| format!("0.{n}1,0.{n}2,-0.{n}3");
        for text in [
            lines(|n| format!("09:15:20.00{n} -> "), three),
            lines(|n| format!("[09:15:20.00{n}] "), three),
            lines(|n| format!("2026-02-03 09:15:20.00{n} "), three),
            lines(|n| format!("09:15:20.00{n} > "), three),
            lines(|n| format!("09:15:20.00{n} -> "), |n| three(n).replace(',', "\t")),
            lines(|n| format!("[2026-02-03 09:15:20.00{n}] "), |n| three(n).replace(',', " ")),
        ] {
            let (table, _) = as_table(&text).expect(&text);
            let row = table.lines().nth(3).expect("a row");
            let fields: Vec<&str> = row.split([',', '\t']).collect();
            assert_eq!(fields[1..], ["0.31", "0.32", "-0.33"], "{row}");
            assert!(fields[0].ends_with("09:15:20.003"), "{row}");
        }
    }

    #[test]
    fn names_words_at_the_start_and_cut_lines_keep_their_places() {
        let text = "20.4,0.1\n09:15:20.000 -> sensor ready\n09:15:20.000 -> ax,ay\n".to_owned()
            + &lines(|n| format!("09:15:21.00{n} -> "), |n| format!("0.{n},1.{n}"))
            + "09:15:21.009 -> 0.5";
        let (table, notes) = as_table(&text).expect("stamped");
        let rows: Vec<&str> = table.lines().collect();
        assert_eq!(rows[..4], ["", "sensor ready", "time,ax,ay", "09:15:21.000,0.0,1.0"]);
        assert_eq!(rows.len(), text.lines().count());
        let cut = notes.iter().filter(|note| note.contains("is cut")).count();
        assert_eq!(cut, 2, "{notes:?}");
    }

    #[test]
    fn tables_whose_times_are_a_column_are_left_alone() {
        for text in [
            lines(|n| format!("09:15:20.00{n},"), |n| format!("0.{n},1")),
            lines(|n| format!("2026-02-03 09:15:20.00{n} "), |n| format!("0.{n} 1.5 2")),
            lines(|n| format!("2026-02-03 09:15:20.00{n} "), |n| format!("0,{n} 1,5 2,5")),
            lines(|n| format!("2026-02-03 09:15:20.00{n};"), |n| format!("0,{n};1,5")),
            lines(|n| format!("{n} "), |n| format!("0.{n},1.5")),
            "a,b\n1,2\n3,4\n".to_owned(),
            String::new(),
        ] {
            assert!(as_table(&text).is_none(), "{text}");
        }
        let one = lines(|n| format!("09:15:20.00{n} -> "), |n| format!("0,{n}1"));
        let (table, _) = as_table(&one).expect("stamped");
        assert_eq!(table.lines().nth(1), Some("09:15:20.001\t0,11"));
    }
}
