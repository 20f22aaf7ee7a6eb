//! Dates that were read, by their parts: a date that is told passes if every part of it stands in
//! one of them.

use std::collections::BTreeSet;

use super::super::figures::{Figure, Unit};

/// Parts of a date in the order of their size: year, month, day, hour, minute, second.
const PARTS: [char; 6] = ['Y', 'm', 'd', 'H', 'M', 'S'];
/// Years that are told as such. Chosen: of machines that still run.
const YEARS: (f64, f64) = (1900.0, 2200.0);

type Parts = [Option<u32>; 6];

/// The dates that were read.
#[derive(Debug, Clone, Default)]
pub(super) struct Dates(BTreeSet<Parts>);

impl Dates {
    /// Takes a date as it is written; returns its numbers.
    pub(super) fn add(&mut self, text: &str, form: &str) -> Vec<f64> {
        let parts = parts(text, form);
        self.0.insert(parts);
        parts.iter().flatten().map(|part| f64::from(*part)).collect()
    }

    /// Whether a date that is told is one that was read, or a part of it.
    pub(super) fn holds(&self, text: &str, form: &str) -> bool {
        let told = parts(text, form);
        self.0.iter().any(|read| fits(&told, read))
    }

    /// Whether a figure is the day or the year of a date that was read: `21일`, `2026년`.
    pub(super) fn holds_part(&self, text: &str, figure: &Figure) -> bool {
        const DURATIONS: [&str; 8] = ["전", "간", "이내", "남", "동안", "뒤", "후", "마다"];
        let Unit::Measure(base, size) = &figure.unit else { return false };
        let place = match () {
            () if base != "h" => return false,
            () if *size > 8000.0 => 0,
            () if (*size - 24.0).abs() < 0.1 => 2,
            () => return false,
        };
        let after = text[figure.end..].trim_start();
        if DURATIONS.iter().any(|word| after.starts_with(word)) || figure.decimals > 0 {
            return false;
        }
        let told = figure.value;
        let is_year = place != 0 || (YEARS.0..=YEARS.1).contains(&told);
        is_year
            && self
                .0
                .iter()
                .any(|read| read[place].is_some_and(|part| (f64::from(part) - told).abs() < 0.5))
    }
}

fn fits(told: &Parts, read: &Parts) -> bool {
    told.iter().zip(read).all(|(told, read)| told.is_none() || told == read)
}

fn parts(text: &str, form: &str) -> Parts {
    let mut found: Parts = [None; 6];
    let names =
        form.split('%').skip(1).filter_map(|rest| rest.trim_start_matches('-').chars().next());
    let numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|run| !run.is_empty());
    for (name, number) in names.zip(numbers) {
        if let Some(place) = PARTS.iter().position(|part| *part == name) {
            found[place] = number.parse().ok();
        }
    }
    found
}
