//! One figure of a text as a claim: the words of its sentence about it, and whether a source
//! matches.

use std::ops::Range;

use super::figures::{Figure, Unit};
use super::meaning::{self, Subject};
use super::sources::Source;

/// A figure with the words of its sentence about it.
pub(super) struct Claim<'a> {
    figure: &'a Figure,
    sentence: &'a str,
    /// The part of the sentence before the figure.
    pub(super) before: &'a str,
    subject: Option<Subject>,
}

impl<'a> Claim<'a> {
    pub(super) fn of(sentence: &'a str, from: usize, figure: &'a Figure) -> Self {
        let (start, end) = (figure.at.start - from, figure.end - from);
        let is_count = matches!(figure.unit, Unit::None | Unit::Count);
        let subject = if matches!(figure.unit, Unit::Ago(_)) {
            // judgements are told one a clause, with their risk before or behind their age
            let clause = clause(sentence, start);
            let at = start - clause.start..end.min(clause.end) - clause.start;
            meaning::named(&sentence[clause], at.start, at.end, false)
        } else if figure.unit == Unit::Stage {
            Some(meaning::of_stage(sentence, start))
        } else {
            meaning::named(sentence, start, end, is_count)
        };
        Self { figure, sentence, before: &sentence[..start], subject }
    }

    /// Whether the source is what the figure says.
    pub(super) fn is(&self, source: &Source) -> bool {
        if let Some(document) = &source.document {
            // behind the document's name, and never a bare number: that could be anything
            let is_quoted = self.before.contains(document.as_str());
            return is_quoted && self.figure.unit != Unit::None && self.equals(source, false);
        }
        // a count of what has no name is no count of what has one
        let is_open =
            source.subjects.is_empty() && (source.unit != Unit::Count || self.subject.is_none());
        let fits =
            is_open || self.subject.is_some_and(|subject| source.subjects.contains(&subject));
        // a unit that only one quantity has says enough by itself; hours, counts and bare numbers
        // do not
        let says_enough = self.subject.is_none()
            && !matches!(self.figure.unit, Unit::None | Unit::Count | Unit::Ago(_))
            && !matches!(&self.figure.unit, Unit::Measure(base, _) if base == "h");
        (fits || says_enough) && self.equals(source, fits && self.subject.is_some())
    }

    /// The value, in the figure's unit and rounded to its decimals. `is_named`: the sentence says
    /// of what, so that a bare number may be a count.
    fn equals(&self, source: &Source, is_named: bool) -> bool {
        let value = source.value;
        match (&self.figure.unit, &source.unit) {
            (Unit::Measure(told, size), Unit::Measure(is, _)) if told == is => {
                let in_days = told == "h" && *size >= 24.0;
                // "less than 1 h": what is shorter is told in no figure
                let is_below = told == "h" && self.is_less_than_an_hour();
                // remaining lives are told in rounded days, other stretches in days that have
                // passed
                let is_down = in_days && !source.is_life();
                if is_below { value < 1.0 } else { self.reads(value / size, is_down) }
            }
            // minutes and hours are told to the nearest, days that have passed (`wording::ago`)
            (Unit::Ago(size), Unit::Ago(_)) => {
                let nearest = if *size < 24.0 { value / size + 0.5 } else { (value + 0.5) / size };
                self.reads(value / size, true) || self.reads(nearest, true)
            }
            // "order the lead time of 7 days before"
            (Unit::Ago(size), Unit::Measure(is, _)) if is == "h" && is_named => {
                self.reads(value / size, *size >= 24.0)
            }
            (Unit::Percent, Unit::Percent) => self.reads(value * 100.0, false),
            (Unit::None, Unit::Percent | Unit::None | Unit::Times)
            | (Unit::Times, Unit::Times)
            | (Unit::Stage, Unit::Stage)
            | (Unit::Count, Unit::Count) => self.reads(value, false),
            (Unit::None, Unit::Count) => is_named && self.reads(value, false),
            _ => false,
        }
    }

    fn is_less_than_an_hour(&self) -> bool {
        let (start, end) =
            (self.before.len(), self.before.len() + (self.figure.end - self.figure.at.start));
        let after = self.sentence.get(end..).unwrap_or_default();
        let told = self.sentence.get(start..end).unwrap_or_default();
        (self.before.trim_end().ends_with("less than") || after.trim_start().starts_with("미만"))
            && matches!(told, "1시간" | "1 h")
    }

    /// Whether `value` is written as the figure: rounded to its decimals, or whole units rounded
    /// down.
    fn reads(&self, value: f64, down: bool) -> bool {
        let figure = self.figure;
        let value = if down && figure.decimals == 0 { (value + 1e-9).floor() } else { value };
        let decimals = figure.decimals;
        let is_zero = figure.value == 0.0;
        let falls = ["하강", "감소", "fall", "fell", "drop", "decreas"];
        let told =
            if value < 0.0 && figure.value > 0.0 && falls.iter().any(|w| self.sentence.contains(w))
            {
                -value
            } else {
                value
            };
        let same = format!("{told:.decimals$}") == format!("{:.decimals$}", figure.value);
        same && (!is_zero || value.abs() < 1e-12)
    }
}

/// The sentence around a place: to the line's end, a full stop or a semicolon before a space, or
/// the dot that joins the notes of a thought.
pub(super) fn sentence(text: &str, at: usize) -> Range<usize> {
    const ENDS: [&str; 5] = ["\n", ". ", "; ", " · ", "。"];
    let start = ENDS.iter().filter_map(|end| text[..at].rfind(end).map(|from| from + end.len()));
    let start = start.max().unwrap_or(0);
    let end = ENDS.iter().filter_map(|end| text[at..].find(end)).min();
    start..end.map_or(text.len(), |end| at + end)
}

/// The part of a sentence between commas.
pub(super) fn clause(sentence: &str, at: usize) -> Range<usize> {
    let start = sentence[..at].rfind(", ").map_or(0, |from| from + 2);
    start..sentence[at..].find(", ").map_or(sentence.len(), |end| at + end)
}
