//! Figures that were read for an answer in free words: each has its value, its unit, its path, the
//! bearing that it is of and the document that it stands in.
//!
//! An answer is worded freely, so it is held less strictly than a judgement, and no true figure is
//! to be lost: a figure is withheld if nothing that was read has its value, if what has it is of
//! another unit (33 dB are no 33 h), of another quantity than its sentence names ([`path`]), of
//! another bearing than those that its words speak of ([`super::bearings`]), or if it stands in
//! another document than those that its sentence names. Hours may be told in days, shares in
//! percent. A figure without a unit is compared by its value alone, unless it answers a question
//! for a quantity: then what was read has to have no unit either.
//!
//! Codes, designations, standards, dates and labels are no measured figures ([`names`], [`dates`],
//! [`labels`]): they pass as they are written in what was read, or in what the program knows.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use super::bearings::{Owner, Plant};
use super::claim::sentence;
use super::figures::{Figure, Unit, figures};
use super::meaning::Subject;
use dates::Dates;
use labels::Labels;
use names::Names;

mod dates;
mod labels;
mod names;
mod path;

/// Highest number of an item of a list, and of a rank.
const LAST_ITEM: f64 = 20.0;
/// Longest text whose bare numbers are parts of a name, characters. Chosen: the longest name of a
/// fund in the shipped packs has 38, the shortest section of a shipped document 71.
const LONGEST_NAME: usize = 60;

/// How a figure that was read may be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Telling {
    /// Told with its unit, or with any unit where none is known.
    Measured,
    /// Told without a unit: the number of a name, of a station, of an article.
    Bare,
}

/// One figure that was read.
#[derive(Debug, Clone, PartialEq)]
struct DocumentReading {
    /// The number as it is written.
    raw: f64,
    /// The value in base units.
    value: f64,
    unit: Unit,
    telling: Telling,
    /// The subjects by its path.
    subjects: &'static [Subject],
    from: Origin,
}

/// Where a figure was read.
#[derive(Debug, Clone, Default, PartialEq)]
struct Origin {
    /// The bearing that it is of, if that is known.
    owner: Option<Owner>,
    document: Option<String>,
}

/// The figures and names that were read for an answer.
#[derive(Debug, Clone, Default)]
pub struct Readings {
    /// The readings by the bits of the value as it is written: an answer of a tool may hold a
    /// hundred thousand figures.
    figures: HashMap<u64, Vec<DocumentReading>>,
    documents: BTreeSet<String>,
    names: Names,
    dates: Dates,
    labels: Labels,
    plant: Plant,
    /// Whether the question asks for a quantity.
    asks_quantity: bool,
}

impl Readings {
    /// Creates readings without a figure, in a plant with these machines and bearings.
    pub fn in_plant(bearings: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut readings = Self::default();
        let bearings: Vec<(String, String)> = bearings.into_iter().collect();
        for (machine, bearing) in &bearings {
            readings.names.add_text(machine);
            readings.names.add_text(bearing);
        }
        Self { plant: Plant::of(bearings), ..readings }
    }

    /// Returns the same readings for a question that asks for a quantity: a figure without a unit
    /// is then held to readings without one.
    #[must_use]
    pub fn for_quantity(self, asks_quantity: bool) -> Self {
        Self { asks_quantity, ..self }
    }

    /// The figures of a text that is no document's. Those beside a bearing's name are of that
    /// bearing.
    pub fn add_text(&mut self, text: &str) {
        self.read(text, &Origin::default(), Telling::Measured);
    }

    /// The words of the conversation: their figures have the units that they are told with, and no
    /// other.
    pub fn add_said(&mut self, text: &str) {
        self.read(text, &Origin::default(), Telling::Bare);
    }

    /// The arguments of a call: names and periods that the answer is about.
    pub fn add_arguments(&mut self, arguments: &Value) {
        match arguments {
            Value::String(text) => {
                self.labels.add(text);
                self.add_said(text);
            }
            Value::Array(all) => all.iter().for_each(|one| self.add_arguments(one)),
            Value::Object(fields) => fields.values().for_each(|one| self.add_arguments(one)),
            Value::Number(number) => {
                let raw = number.as_f64().unwrap_or(f64::NAN);
                self.push(raw, Unit::None, Telling::Bare, &[], &Origin::default());
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// The numbers and texts of a tool's answer. The last word of a path gives a number its unit
    /// (`rul_hours`), the words before it its quantity; what stands beside an `id` and a `text` is
    /// of that document.
    pub fn add_data(&mut self, data: &Value) {
        self.walk("", data, &Origin::default());
    }

    fn walk(&mut self, path: &str, data: &Value, from: &Origin) {
        match data {
            Value::Number(number) => {
                let raw = number.as_f64().unwrap_or(f64::NAN);
                let subjects = path::subjects(path);
                for (raw, unit, telling) in path::tellings(path, raw) {
                    self.push(raw, unit, telling, subjects, from);
                }
                self.names.add_number(number);
            }
            // an embedded image
            Value::String(text) if text.starts_with("data:") => {}
            Value::String(text) => {
                let is_name = text.chars().count() <= LONGEST_NAME
                    && from.document.is_none()
                    && !text.contains('\n');
                let telling = if is_name { Telling::Bare } else { Telling::Measured };
                self.labels.add(text);
                self.read(text, from, telling);
            }
            Value::Array(items) => {
                self.push(items.len() as f64, Unit::Count, Telling::Measured, &[], from);
                for item in items {
                    self.walk(path, item, from);
                }
            }
            Value::Object(fields) => self.walk_fields(path, fields, from),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn walk_fields(&mut self, path: &str, fields: &serde_json::Map<String, Value>, from: &Origin) {
        let is_document = fields.contains_key("text");
        let id = fields.get("id").and_then(Value::as_str).filter(|_| is_document);
        let id = id.map(|id| id.split_once('#').map_or(id, |(whole, _piece)| whole));
        self.documents.extend(id.map(str::to_owned));
        let text_of = |name: &str| Some(fields.get(name)?.as_str()?.to_owned());
        let from = Origin {
            owner: self.plant.of_fields(text_of).or_else(|| from.owner.clone()),
            document: id.map(str::to_owned).or_else(|| from.document.clone()),
        };
        for (name, field) in fields {
            self.labels.add(name);
            self.names.add_text(name);
            self.walk(&format!("{path}.{name}"), field, &from);
        }
    }

    /// `bare` says how a figure without a unit may be told.
    fn read(&mut self, text: &str, from: &Origin, bare: Telling) {
        let spoken = self.plant.spoken(text);
        self.names.add_text(text);
        for figure in figures(text, &[]) {
            let from = &origin(spoken.at(figure.at.start), from);
            match &figure.unit {
                Unit::Name => {}
                Unit::Instant(form) => {
                    for part in self.dates.add(&text[figure.at.clone()], form) {
                        self.push(part, Unit::None, Telling::Bare, &[], from);
                    }
                }
                Unit::None => {
                    if bare == Telling::Bare {
                        self.names.add_phrase(text, &figure);
                    }
                    self.push(figure.value, Unit::None, bare, &[], from);
                }
                unit @ (Unit::Measure(..)
                | Unit::Ago(_)
                | Unit::Percent
                | Unit::Times
                | Unit::Stage
                | Unit::Count) => {
                    self.push(figure.value, unit.clone(), Telling::Measured, &[], from);
                }
            }
        }
    }

    fn push(
        &mut self,
        raw: f64,
        unit: Unit,
        telling: Telling,
        subjects: &'static [Subject],
        from: &Origin,
    ) {
        let raw = raw.abs();
        let (value, from) = (raw * size(&unit), from.clone());
        let reading = DocumentReading { raw, value, unit, telling, subjects, from };
        if raw.is_finite() {
            let alike = self.figures.entry(raw.to_bits()).or_default();
            if !alike.contains(&reading) {
                alike.push(reading);
            }
        }
    }

    /// The text with `mark` in place of each figure that was not read.
    pub fn withheld(&self, text: &str, mark: &str) -> String {
        let (mut out, mut rest) = (String::with_capacity(text.len()), 0);
        let spoken = self.plant.spoken(text);
        for figure in figures(text, &[]) {
            let told = spoken.at(figure.at.start);
            if is_item(text, &figure) || self.holds(text, &figure, told) {
                continue;
            }
            out.push_str(&text[rest..figure.at.start]);
            out.push_str(mark);
            rest = figure.at.end;
        }
        out.push_str(&text[rest..]);
        out
    }

    fn holds(&self, text: &str, figure: &Figure, told: &[Owner]) -> bool {
        if let Unit::Instant(form) = &figure.unit {
            return self.dates.holds(&text[figure.at.clone()], form);
        }
        if self.names.holds(text, figure) || self.labels.holds(text, figure) {
            return true;
        }
        if figure.unit == Unit::Name || !figure.value.is_finite() {
            return false;
        }
        if self.dates.holds_part(text, figure) {
            return true;
        }
        let sentence = &text[sentence(text, figure.at.start)];
        let cited: Vec<&String> =
            self.documents.iter().filter(|document| sentence.contains(document.as_str())).collect();
        let may_quote = |reading: &DocumentReading| match &reading.from.document {
            Some(document) => cited.is_empty() || cited.contains(&document),
            None => Plant::fits(reading.from.owner.as_ref(), told),
        };
        let needs_unit = self.asks_quantity && !path::has_unit_beside(text, figure);
        let scale = path::scale(text, figure);
        self.figures.values().flatten().any(|reading| {
            is(figure, scale, reading, needs_unit)
                && may_quote(reading)
                && !path::speaks_of_another(sentence, reading.subjects)
        })
    }
}

/// Returns the origin of a figure in a text that speaks of these bearings. A document may name any
/// machine and still speak of all.
fn origin(told: &[Owner], from: &Origin) -> Origin {
    match told {
        _ if from.document.is_some() => from.clone(),
        [one] => Origin { owner: Some(one.clone()), document: None },
        [] => from.clone(),
        // it may be of any of them
        _ => Origin::default(),
    }
}

/// Whether a figure tells what was read. `scale` is what a word behind it multiplies it by (`억`,
/// `million`); `needs_unit`: the figure answers a question for a quantity.
fn is(figure: &Figure, scale: f64, reading: &DocumentReading, needs_unit: bool) -> bool {
    let (told, decimals) = (figure.value.abs(), figure.decimals);
    let as_written = || same(reading.raw / scale, told, decimals);
    match (kind(&figure.unit), kind(&reading.unit)) {
        (Some(of), Some(read)) => {
            let value = reading.value / size(&figure.unit);
            // whole days are told rounded down as well as rounded
            of == read
                && (same(value, told, decimals) || decimals == 0 && same(value.floor(), told, 0))
        }
        // 2.84 of an unknown unit are no 3 months
        (Some(_), None) => {
            let is_rounded_up = decimals == 0 && reading.raw < 10.0 && reading.raw.fract() > 0.0;
            reading.telling == Telling::Measured && !is_rounded_up && as_written()
        }
        (None, Some(read)) if needs_unit => is_pure(read) && as_written(),
        (None, None) if needs_unit => reading.telling == Telling::Measured && as_written(),
        (None, _) => as_written(),
    }
}

fn same(read: f64, told: f64, decimals: usize) -> bool {
    // rounding moves a value by a half at most
    (read - told).abs() <= 1.0 && format!("{read:.decimals$}") == format!("{told:.decimals$}")
}

/// Kinds that are told without a unit.
fn is_pure(kind: &str) -> bool {
    matches!(kind, path::PURE | "stage" | "count" | "times")
}

/// Returns the quantity that a unit measures; `None` for a bare number.
fn kind(unit: &Unit) -> Option<&str> {
    match unit {
        Unit::Measure(base, _) => Some(base),
        Unit::Ago(_) => Some("h"),
        Unit::Percent => Some("%"),
        Unit::Times => Some("times"),
        Unit::Stage => Some("stage"),
        Unit::Count => Some("count"),
        Unit::None | Unit::Name | Unit::Instant(_) => None,
    }
}

/// Returns how many base units one of a unit is.
fn size(unit: &Unit) -> f64 {
    match unit {
        Unit::Measure(_, size) | Unit::Ago(size) => *size,
        Unit::Percent
        | Unit::Times
        | Unit::Stage
        | Unit::Count
        | Unit::None
        | Unit::Name
        | Unit::Instant(_) => 1.0,
    }
}

/// Whether a figure numbers the items of a list (at the beginning of a line, with a dot or a
/// bracket) or tells a rank.
fn is_item(text: &str, figure: &Figure) -> bool {
    const RANKS: [&str; 8] = ["위 ", "위는", "위:", "순위", "번째", "st ", "nd ", "th "];
    if figure.decimals > 0 || figure.value > LAST_ITEM {
        return false;
    }
    let before = text[..figure.at.start].rsplit('\n').next().unwrap_or_default();
    let after = &text[figure.at.end..];
    let is_first = before.trim_matches(|c: char| c.is_whitespace() || c == '*').is_empty();
    (is_first && after.starts_with([')', '.'])) || RANKS.iter().any(|rank| after.starts_with(rank))
}

#[cfg(test)]
mod tests;
