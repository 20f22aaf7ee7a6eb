//! Figures in a text: where they stand, which belong to names, and taking one out.

use std::ops::Range;

/// Where the figures of a text stand: digits that do not belong to a name (`P-101`, `2×BSF`,
/// `20816-1`, `EM-07#2`).
pub(super) fn figures(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut rest = 0;
    while let Some(start) = text[rest..].find(|c: char| c.is_ascii_digit()).map(|at| rest + at) {
        let end = text[start..]
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .map_or(text.len(), |at| start + at);
        let figure = text[start..end].trim_end_matches('.');
        let before = text[..start].chars().next_back();
        let after = text[end..].chars().next();
        let in_name = before
            .is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '#'))
            || after.is_some_and(|c| matches!(c, '×' | '-' | '_' | 'X'));
        if !in_name {
            found.push(start..start + figure.len());
        }
        rest = end;
    }
    found
}

/// Every number in a text that is a source, those in names and ranges included: a source gives
/// freely what a claim has to prove.
pub(super) fn numbers(text: &str) -> Vec<f64> {
    let parts = text.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == ','));
    parts
        .map(|part| part.trim_matches(['.', ',']).replace(',', ""))
        .filter_map(|part| part.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<&str> {
        figures(text).into_iter().map(|at| &text[at]).collect()
    }

    #[test]
    fn figures_are_told_from_names() {
        assert_eq!(told("P-101 2×BSF 18.2 dB, ISO 20816-1, 7일. 3.5"), ["18.2", "7", "3.5"]);
        assert_eq!(told("MH-05, EM-07#2 참조"), Vec::<&str>::new());
    }

    #[test]
    fn a_source_gives_all_its_numbers() {
        assert_eq!(numbers("1.5–3 kHz, 20,480점. 0.18 mm"), [1.5, 3.0, 20_480.0, 0.18]);
    }
}
