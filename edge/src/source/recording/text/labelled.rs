//! Lines of names and values, as sketches print them for a serial plotter: `ax:0.12,ay:-0.03`, `X:
//! 0.12 Y: -0.03`, with the time of the serial monitor before them (`14:14:15.657 -> ax:0.12`).
//!
//! Such a text becomes a table with a header before the layout is looked for. Invariant: every line
//! has the names of the first whole one in their order, but for the first and the last, which a
//! monitor cuts.

use crate::source::interpretation::StatedUnit;
use crate::tabular::Stamp;
use crate::tabular::fields::numbered_lines;

/// Lines that are looked at before the text is taken for one of names and values.
const SAMPLE_LINES: usize = 20;

/// Most names of a line.
const MOST_NAMES: usize = 64;

/// Longest name.
const MOST_NAME_BYTES: usize = 40;

/// The mark between the time of a serial monitor and the line.
const ARROW: &str = "->";

/// One line.
struct LabelledLine<'a> {
    time: Option<&'a str>,
    names: Vec<&'a str>,
    values: Vec<&'a str>,
    /// The unit behind each value; one at the end of the line is that of all.
    units: Vec<Option<&'a str>>,
}

/// Returns the text as a table with a header, and notes for the person; `None` if it is of another
/// form.
///
/// # Errors
/// A line of another form among those of names and values, in words.
pub(super) fn as_table(text: &str) -> Result<Option<(String, Vec<String>)>, String> {
    let head = head_lines(text);
    let is_below = move |(number, line): &(usize, &str)| !line.trim().is_empty() && *number > head;
    let lines = || numbered_lines(text).filter(is_below);
    // without the first line and the last one
    let whole = lines().take(SAMPLE_LINES + 2).count().saturating_sub(2);
    let sample: Vec<Option<LabelledLine<'_>>> =
        lines().skip(1).take(whole).map(|(_, line)| parsed(line)).collect();
    let Some(Some(first)) = sample.first() else { return Ok(None) };
    let (names, has_time) = (first.names.clone(), first.time.is_some());
    let units = first.units.clone();
    let fits = |line: &LabelledLine<'_>| {
        line.names == names && line.units == units && line.time.is_some() == has_time
    };
    if !sample.iter().all(|line| line.as_ref().is_some_and(fits)) {
        return Ok(None);
    }
    let time = has_time.then_some("time");
    let named = |(name, unit): (&&str, Option<&str>)| match unit {
        Some(unit) => format!("{name} ({unit})"),
        None => (*name).to_owned(),
    };
    let heads = names.iter().zip(units.iter().copied()).map(named);
    let above = numbered_lines(text).take_while(|(number, _)| *number <= head);
    let above = above.map(|(_, line)| line.trim()).filter(|line| !line.is_empty());
    let mut table = above.map(|line| format!("# {line}\n")).collect::<Vec<String>>().concat();
    let names_of_columns = time.iter().map(|time| (*time).to_owned()).chain(heads);
    table.push_str(&names_of_columns.collect::<Vec<_>>().join("\t"));
    table.push('\n');
    let (mut notes, mut cut) = (vec!["each value has its name beside it".to_owned()], None);
    for (place, (number, line)) in lines().enumerate() {
        let Some(own) = parsed(line).filter(fits) else {
            // only the first and the last line may be cut
            if place > 0
                && let Some(before) = cut.replace(number)
            {
                return Err(format!("line {before} is none of the names {}", names.join(", ")));
            }
            continue;
        };
        if let Some(before) = cut {
            return Err(format!("line {before} is none of the names {}", names.join(", ")));
        }
        let fields: Vec<&str> = own.time.iter().chain(&own.values).copied().collect();
        table.push_str(&fields.join("\t"));
        table.push('\n');
    }
    if let Some(line) = cut {
        notes.push(format!("line {line} is cut and was left out"));
    }
    Ok(Some((table, notes)))
}

/// Most lines that a sketch prints of itself before its values.
const MOST_HEAD_LINES: usize = 64;

/// Returns the number of the last line of a head above the lines of names and values: the lines
/// that a sketch prints about the sensor at its start. 0 where there is no head.
fn head_lines(text: &str) -> usize {
    fn names(line: &str) -> Option<Vec<&str>> {
        parsed(line).map(|own| own.names)
    }
    let sample: Vec<(usize, &str)> = numbered_lines(text)
        .filter(|(_, line)| !line.trim().is_empty())
        .take(MOST_HEAD_LINES + 2 * SAMPLE_LINES)
        .collect();
    // the names of a line below any head
    let below = sample.len().saturating_sub(SAMPLE_LINES).max(sample.len() / 2);
    let Some(usual) = sample.get(below).and_then(|(_, line)| names(line)) else { return 0 };
    let is_usual = |(_, line): &(usize, &str)| names(line).as_ref() == Some(&usual);
    let Some(first) = sample.iter().position(is_usual) else { return 0 };
    let goes_on =
        sample.get(first..first + SAMPLE_LINES).is_some_and(|own| own.iter().all(is_usual));
    // a first line that a monitor has cut is none of a head
    if !(2..=MOST_HEAD_LINES).contains(&first) || !goes_on {
        return 0;
    }
    sample.get(first - 1).map_or(0, |(number, _)| *number)
}

/// The names and values of a line: `name:value` or `name=value`, with any separators between them.
fn parsed(line: &str) -> Option<LabelledLine<'_>> {
    let line = line.trim();
    let (time, rest) = match line.split_once(ARROW) {
        Some((time, rest)) if Stamp::parse(time.trim()).is_some() => (Some(time.trim()), rest),
        _ => (None, line),
    };
    let is_between = |c: char| matches!(c, ',' | ';' | '\t' | ' ' | '|');
    let (mut names, mut values, mut units) = (Vec::new(), Vec::new(), Vec::new());
    let mut rest = rest.trim_matches(is_between);
    while !rest.is_empty() {
        let (name, behind) = rest.split_once([':', '='])?;
        let name = name.trim();
        let is_name = name.starts_with(char::is_alphabetic) && name.len() <= MOST_NAME_BYTES;
        if !is_name || names.len() == MOST_NAMES {
            return None;
        }
        let behind = behind.trim_start();
        let end = behind.find(is_between).unwrap_or(behind.len());
        let value = behind.get(..end)?;
        value.parse::<f64>().ok()?;
        names.push(name);
        values.push(value);
        rest = behind.get(end..)?.trim_start_matches(is_between);
        let unit = rest
            .split(is_between)
            .next()
            .filter(|word| !word.contains([':', '=']) && StatedUnit::parse(word).is_some());
        units.push(unit);
        rest = rest.get(unit.map_or(0, str::len)..)?.trim_start_matches(is_between);
    }
    if let Some((Some(last), others)) = units.split_last()
        && others.iter().all(Option::is_none)
    {
        units = vec![Some(*last); units.len()];
    }
    (!names.is_empty()).then_some(LabelledLine { time, names, values, units })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Option<String> {
        as_table(text).expect("of one form").map(|(table, _)| table)
    }

    #[test]
    fn names_beside_values_become_a_header() {
        for text in [
            "ax:0.5,ay:1\nax:0.25,ay:2\nax:-1e-3,ay:3\n",
            "ax: 0.5\tay: 1\nax: 0.25\tay: 2\nax: -1e-3\tay: 3\n",
            "ax=0.5 ay=1\r\nax=0.25 ay=2\r\nax=-1e-3 ay=3\r\n",
            ".5,ay:1\nax:0.25,ay:2\nax:-1e-3,ay:3\nax:-",
        ] {
            let read = table(text).expect("labelled");
            assert!(read.starts_with("ax\tay\n") && read.contains("0.25\t2\n-1e-3\t3\n"), "{read}");
        }
        for text in ["ax: 0.5 ay: 1 m/s^2\n", "ax: 0.5 m/s^2, ay: 1 m/s^2\n"] {
            let read = table(&text.repeat(4)).expect("labelled");
            assert!(read.starts_with("ax (m/s^2)\tay (m/s^2)\n0.5\t1\n"), "{read}");
        }
        let timed: Vec<String> = (0..4).map(|n| format!("14:14:15.65{n} -> ax:0.{n}\n")).collect();
        let read = table(&timed.concat()).expect("labelled");
        assert!(read.starts_with("time\tax\n14:14:15.650\t0.0\n14:14:15.651\t0.1\n"), "{read}");
    }

    /// R-EDGE-4: the head of a sketch made its lines no rows.
    #[test]
    fn what_a_sketch_prints_of_its_sensor_stands_above_the_table() {
        let head = "Vibration test\n-----\nSensor: XL9\nData Rate: 1600 Hz\nRange: 16 g\n\n";
        let rows = (0..60)
            .map(|n| format!("X: 0.{n:02} Y: 1 Z: -2  m/s^2\n"))
            .collect::<Vec<String>>()
            .concat();
        let read = table(&format!("{head}{rows}")).expect("labelled");
        assert!(read.starts_with("# Vibration test\n# -----\n"), "{read}");
        assert!(
            read.contains("# Range: 16 g\nX (m/s^2)\tY (m/s^2)\tZ (m/s^2)\n0.00\t1\t-2\n"),
            "{read}"
        );
    }

    #[test]
    fn other_texts_are_left_alone_and_another_line_among_them_is_told() {
        for text in
            ["", "1,2\n3,4\n", "rate: 2560 Hz\nx\n1\n2\n", "a:1\nb:2\na:3\nb:4\n", "t: x\nt: y\n"]
        {
            assert_eq!(table(text), None, "{text:?}");
        }
        let odd = format!("{}reset\n{}", "ax:1\n".repeat(30), "ax:1\n".repeat(30));
        assert!(as_table(&odd).expect_err("a line of words").contains("line 31"));
    }
}
