//! Figures of an answer: each has to stand in what was read for it.
//!
//! An answer may quote any record or document that its steps have read, so a figure is held to the
//! numbers of all of them by its value, rounded to its decimals. What a judgement says of a unit or a
//! subject is held more strictly where judgements are made (`pdm_expert::grounding`).

use std::ops::Range;

/// A figure in a text.
struct Figure {
    at: Range<usize>,
    value: f64,
    decimals: usize,
}

/// Numbers that an answer may quote.
#[derive(Debug, Clone, Default)]
pub(super) struct Numbers(Vec<f64>);

impl Numbers {
    /// Adds the numbers of a text that was read, those in names and dates included.
    pub(super) fn read(&mut self, text: &str) {
        self.0.extend(figures(text).into_iter().map(|figure| figure.value));
    }

    /// The text with `mark` in place of each figure that was not read.
    pub(super) fn withheld(&self, text: &str, mark: &str) -> String {
        let (mut out, mut rest) = (String::with_capacity(text.len()), 0);
        for figure in figures(text) {
            if is_item(text, &figure) || self.holds(&figure) {
                continue;
            }
            out.push_str(&text[rest..figure.at.start]);
            out.push_str(mark);
            rest = figure.at.end;
        }
        out.push_str(&text[rest..]);
        out
    }

    fn holds(&self, figure: &Figure) -> bool {
        let decimals = figure.decimals;
        let told = format!("{:.decimals$}", figure.value);
        self.0.iter().any(|number| format!("{number:.decimals$}") == told)
    }
}

/// Whether a figure numbers the items of a list: at the beginning of a line, with a dot or a bracket.
fn is_item(text: &str, figure: &Figure) -> bool {
    let begins =
        text[..figure.at.start].rsplit('\n').next().is_some_and(|line| line.trim().is_empty());
    let ends = text[figure.at.end..].starts_with([')', '.']);
    begins && ends && figure.decimals == 0 && figure.value <= 20.0
}

/// The figures of a text: digits, with a decimal point and thousands separators between them.
fn figures(text: &str) -> Vec<Figure> {
    let mut found = Vec::new();
    let mut rest = 0;
    while let Some(start) = text[rest..].find(|c: char| c.is_ascii_digit()).map(|at| rest + at) {
        let run = text[start..]
            .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',')))
            .map_or(text.len(), |end| start + end);
        let told = text[start..run].trim_end_matches(['.', ',']);
        let plain = told.replace(',', "");
        match plain.parse::<f64>() {
            Ok(value) => {
                let decimals =
                    plain.split_once('.').map_or(0, |(_, decimals)| decimals.len().min(12));
                found.push(Figure { at: start..start + told.len(), value, decimals });
            }
            // a version or an address with several dots: each of its numbers by itself
            Err(_several) => {
                let mut from = start;
                for part in told.split(['.', ',']) {
                    if let Ok(value) = part.parse() {
                        found.push(Figure { at: from..from + part.len(), value, decimals: 0 });
                    }
                    from += part.len() + 1;
                }
            }
        }
        rest = run.max(start + 1);
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbers(read: &str) -> Numbers {
        let mut numbers = Numbers::default();
        numbers.read(read);
        numbers
    }

    #[test]
    fn a_figure_that_was_not_read_is_withheld_and_others_stay() {
        let numbers = numbers("P-101 18.23 dB, {\"hours\":120.0} 20,480점, EM-05#1, 2026-11-21");
        let text = "1. P-101: 18.2 dB, 120시간, 20480점 [EM-05#1], 2026-11-21\n2. 777시간, 18.4 dB";
        let left = numbers.withheld(text, "[?]");
        assert_eq!(left, text.replace("777", "[?]").replace("18.4", "[?]"));
    }

    proptest! {
        #[test]
        fn no_text_ends_the_program(read in "\\PC{0,60}", text in "[0-9.,가a ]{0,60}") {
            let _text = numbers(&read).withheld(&text, "[?]");
        }
    }
}
