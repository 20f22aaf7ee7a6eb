//! Waveforms that an analyzer prints as columns of pairs which follow one another, as a newspaper
//! does: the times of the second pair go on where those of the first one end (CSI, AMS).
//!
//! Such a text becomes a table of one pair of columns before the layout is looked for. Invariant:
//! pairs whose times do not follow one another stay columns of their own.

use super::layout::MAX_PREAMBLE_LINES;
use crate::source::interpretation::ChannelRole;
use crate::tabular::fields::{Separator, numbered_lines};

/// Fewest rows below the names by which pairs are known.
const LEAST_ROWS: usize = 8;

/// The rows below one line of names.
#[derive(Debug, Default)]
struct Page {
    /// Time and value of each pair, each with the text of the file.
    pairs: Vec<Vec<(f64, String)>>,
}

/// Returns the text as a table of one pair, and notes for the person; `None` if it is of another
/// form.
pub(super) fn as_table(text: &str) -> Option<(String, Vec<String>)> {
    let (separator, head_line, count) = head_of(text)?;
    let head = numbered_lines(text).nth(head_line)?.1;
    let (mut pages, mut words) = (vec![Page::default()], 0);
    for (_, line) in numbered_lines(text).skip(head_line + 1) {
        if line.trim().is_empty() {
            continue;
        }
        let fields = separator.fields(line);
        if line.trim() == head.trim() {
            pages.push(Page::default());
        } else if !pages.last_mut().is_some_and(|page| page.take(&fields, count)) {
            words += 1;
        }
    }
    let rows: Vec<(f64, String)> =
        pages.into_iter().flat_map(|page| page.pairs.into_iter().flatten()).collect();
    let follows = rows.windows(2).all(|two| two[1].0 > two[0].0);
    if !follows || rows.len() < count * LEAST_ROWS || words > rows.len() / LEAST_ROWS {
        return None;
    }
    let mut table = String::with_capacity(text.len());
    for (_, line) in numbered_lines(text).take(head_line) {
        table.push_str(line);
        table.push('\n');
    }
    let names = separator.fields(head);
    table.extend([names.first()?, "\t", names.get(1)?, "\n"]);
    for (_, row) in &rows {
        table.extend([row, "\n"]);
    }
    let mut notes =
        vec![format!("{count} pairs of columns follow one another and are one recording")];
    if words > 0 {
        notes.push(format!("lines of words among the rows were left out: {words}"));
    }
    Some((table, notes))
}

/// The separator, the place of the line of names, and how many pairs it names: a time and a value,
/// again and again.
fn head_of(text: &str) -> Option<(Separator, usize, usize)> {
    for (place, (_, line)) in numbered_lines(text).take(MAX_PREAMBLE_LINES).enumerate() {
        for separator in Separator::ALL {
            let names = separator.fields(line);
            let [time, value, ..] = names.as_slice() else { continue };
            let is_pairs = names.len() >= 4
                && names.len().is_multiple_of(2)
                && ChannelRole::by_name(time) == ChannelRole::Time
                && ChannelRole::by_name(value) != ChannelRole::Time
                && names.chunks(2).all(|pair| pair == [*time, *value]);
            if is_pairs {
                return Some((separator, place, names.len() / 2));
            }
        }
    }
    None
}

impl Page {
    /// Takes a row of pairs; the last row of a page may have fewer. False if the line is no row.
    fn take(&mut self, fields: &[&str], count: usize) -> bool {
        let number = |field: &&str| field.replacen(',', ".", 1).parse::<f64>().ok();
        let numbers: Option<Vec<f64>> = fields.iter().map(number).collect();
        let Some(numbers) =
            numbers.filter(|all| all.len().is_multiple_of(2) && all.len() <= 2 * count)
        else {
            return false;
        };
        self.pairs.resize(count, Vec::new());
        for (place, pair) in numbers.chunks(2).enumerate() {
            let text = format!("{}\t{}", fields[2 * place], fields[2 * place + 1]);
            if let Some(own) = self.pairs.get_mut(place) {
                own.push((pair[0], text));
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    /// 60 samples in three pairs; the last row has two.
    fn printed(next: f64) -> String {
        let mut text = "Motor 7   drive end\n TIME  AMPL  TIME  AMPL  TIME  AMPL\n".to_owned();
        for row in 0..20 {
            for pair in 0..3 {
                let time = f64::from(row) * 0.5 + f64::from(pair) * next;
                let _infallible = write!(text, "  {time:.3}  {}.25", row + 20 * pair);
            }
            text.push('\n');
        }
        text
    }

    /// R-EDGE-4: pairs that follow one another are one recording, not channels of a part of it.
    #[test]
    fn pairs_that_follow_one_another_are_one_recording() {
        let (table, notes) = as_table(&printed(10.0)).expect("pairs");
        let rows: Vec<&str> = table.lines().skip(2).collect();
        assert_eq!((rows.len(), rows[20], rows[59]), (60, "10.000\t20.25", "29.500\t59.25"));
        assert!(notes[0].contains("3 pairs"), "{notes:?}");
        assert!(as_table(&printed(0.0)).is_none(), "columns of the same times");
        assert!(as_table("TIME,A\n0,1\n1,2\n").is_none());
        let pages = format!("{}\n{}", printed(10.0), printed(10.0).replacen("Motor", "Page", 1));
        assert!(as_table(&pages).is_none(), "a second page with the times of the first");
    }
}
