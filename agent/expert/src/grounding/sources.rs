//! What words may quote, and whether a figure of a text is one of it.

use std::collections::BTreeSet;
use std::ops::Range;

use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use serde_json::Value;

use super::WITHHELD;
use super::figures::{Figure, Unit, figures};
use super::meaning::{self, Subject};

/// Names that stand in no event: lines, and standards that texts refer to.
const FIXED_NAMES: &[&str] = &[
    "2×BSF",
    "ISO 20816-1",
    "ISO 20816-3",
    "ISO 20816",
    "ISO 10816-3",
    "ISO 10816",
    "ISO 15243",
    "ISO 13373-3",
    "ISO 281",
];

/// One value with what it is.
#[derive(Debug, Clone, PartialEq)]
struct Source {
    value: f64,
    unit: Unit,
    /// What texts must call it where they call it anything.
    subjects: Vec<Subject>,
    /// The document that holds it: only a sentence that names the document may quote it.
    document: Option<String>,
}

/// Values, times and names that words may quote.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    values: Vec<(String, Source)>,
    times: Vec<Timestamp>,
    names: Vec<String>,
    documents: Vec<String>,
    slope_unit: String,
}

impl Sources {
    /// The unit of slopes, which texts write behind them.
    pub fn set_slope_unit(&mut self, unit: &str) {
        unit.clone_into(&mut self.slope_unit);
    }

    pub(super) fn slope_unit(&self) -> &str {
        &self.slope_unit
    }

    /// The numbers of a JSON value at `path`, at any depth. The path says what they are: the last word
    /// gives the unit (`rul.ci_low_hours` hours, `bpfo.snr_db` dB), the words before it the subject.
    /// Texts are no numbers.
    pub fn add(&mut self, path: &str, value: &Value) {
        match value {
            Value::Number(number) => {
                let unit = meaning::unit(path, &self.slope_unit);
                let subjects = meaning::subjects(path).to_vec();
                let value = number.as_f64().unwrap_or(f64::NAN) * base(&unit);
                let source = Source { value, unit: in_base(unit), subjects, document: None };
                self.push(path, source);
            }
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.add(&format!("{path}[{at}]"), item);
                }
                if !meaning::subjects(path).is_empty() {
                    self.add_count(&format!("{path}.length"), items.len() as f64);
                }
            }
            Value::Object(fields) => {
                for (name, field) in fields {
                    let dot = if path.is_empty() { "" } else { "." };
                    self.add(&format!("{path}{dot}{name}"), field);
                }
            }
            Value::Null | Value::Bool(_) | Value::String(_) => {}
        }
    }

    /// How many there are of something.
    pub fn add_count(&mut self, path: &str, count: f64) {
        let subjects = meaning::subjects(path).to_vec();
        self.push(path, Source { value: count, unit: Unit::Count, subjects, document: None });
    }

    /// A stage of the P–F curve.
    pub fn add_stage(&mut self, stage: u8) {
        let value = f64::from(stage);
        let subjects = Vec::new();
        self.push("fault_stage", Source { value, unit: Unit::Stage, subjects, document: None });
    }

    /// How long ago a judgement of this risk was, s.
    pub fn add_age(&mut self, seconds: f64, risk: pdm_shared::risk::RiskLevel) {
        use pdm_shared::risk::RiskLevel as R;
        let subject = match risk {
            R::Normal => Subject::Normal,
            R::Watch => Subject::Watch,
            R::Warning => Subject::Warning,
            R::Critical => Subject::Critical,
        };
        let (value, unit) = (seconds / 3600.0, Unit::Ago(1.0));
        let path = format!("memory.ago {seconds} {risk:?}");
        self.push(&path, Source { value, unit, subjects: vec![subject], document: None });
    }

    /// The figures that a document says, for sentences that name it.
    pub fn add_quote(&mut self, document: &str, quote: &str) {
        for figure in figures(quote, &[]) {
            if matches!(figure.unit, Unit::Name | Unit::Instant(_)) || !figure.value.is_finite() {
                continue;
            }
            let value = figure.value * base(&figure.unit);
            let (unit, document) = (in_base(figure.unit), Some(document.to_owned()));
            let path = format!("{} {}", document.as_deref().unwrap_or_default(), value);
            self.push(&path, Source { value, unit, subjects: Vec::new(), document });
        }
    }

    /// A date and time, as texts tell it.
    pub fn add_time(&mut self, at: Timestamp) {
        self.times.push(at);
    }

    /// A name that may hold digits and is quoted as a name.
    pub fn add_name(&mut self, name: &str) {
        if name.bytes().any(|byte| byte.is_ascii_digit()) {
            self.names.push(name.to_owned());
        }
    }

    /// The name of a document that is quoted: a sentence may name it once, so that "MH-03, MH-03" does not
    /// stand on two documents of which one is MH-03.
    pub fn add_document(&mut self, name: &str) {
        if !self.documents.iter().any(|known| known == name) {
            self.documents.push(name.to_owned());
        }
    }

    fn push(&mut self, path: &str, source: Source) {
        let known = |(known, old): &(String, Source)| known == path && *old == source;
        if source.value.is_finite() && !self.values.iter().any(known) {
            self.values.push((path.to_owned(), source));
        }
    }

    /// The figures of `text` that stand in none of the sources.
    pub fn ungrounded(&self, text: &str) -> Vec<String> {
        self.withheld(text, "").1
    }

    /// `text` with `mark` in place of each figure that stands in none of the sources, and those
    /// figures.
    pub fn withheld(&self, text: &str, mark: &str) -> (String, Vec<String>) {
        let names = self.named(text);
        let mut cited: BTreeSet<(usize, String)> = BTreeSet::new();
        let (mut out, mut missing, mut rest) = (String::with_capacity(text.len()), Vec::new(), 0);
        let mut used: BTreeSet<(usize, usize, String)> = BTreeSet::new();
        for figure in figures(text, std::slice::from_ref(&self.slope_unit)) {
            let at = figure.at.clone();
            let name = names.iter().find(|name| name.start <= at.start && at.end <= name.end);
            let is_name = name.is_some_and(|name| {
                let told = &text[name.clone()];
                let is_free = !self.documents.iter().any(|document| document == told)
                    || self.names.iter().any(|name| name == told);
                let sentence = sentence(text, name.start).start;
                // `EM-07#4` has two figures and is one name
                is_free
                    || rest_of_name(text, name, &at)
                    || cited.insert((sentence, told.to_owned()))
            });
            if is_name || self.holds(text, &figure, &mut used) {
                continue;
            }
            out.push_str(&text[rest..at.start]);
            out.push_str(mark);
            missing.push(text[at.clone()].to_owned());
            rest = at.end;
        }
        out.push_str(&text[rest..]);
        (out, missing)
    }

    /// Withholds figures from both languages of a text; tells which.
    pub fn withhold(&self, text: &mut Text) -> Vec<String> {
        let (ko, mut missing) = self.withheld(&text.ko, WITHHELD.0);
        let (en, more) = self.withheld(&text.en, WITHHELD.1);
        missing.extend(more);
        if !missing.is_empty() {
            *text = Text { ko, en };
        }
        missing
    }

    /// Where known names stand, each as a whole word.
    fn named(&self, text: &str) -> Vec<Range<usize>> {
        let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let whole = |at: usize, name: &str| {
            let mut after = text[at + name.len()..].chars();
            let next = after.next();
            let goes_on = next.is_some_and(letter)
                || (matches!(next, Some('-' | '#' | '.'))
                    && after.next().is_some_and(|c| c.is_ascii_digit()));
            !goes_on && !text[..at].ends_with(letter)
        };
        let own = self.names.iter().chain(&self.documents).map(String::as_str);
        own.chain(FIXED_NAMES.iter().copied())
            .flat_map(|name| text.match_indices(name))
            .filter(|(at, name)| whole(*at, name))
            .map(|(at, name)| at..at + name.len())
            .collect()
    }

    /// Whether a source is this figure. A source gives one figure a sentence in one unit, so that
    /// "from 12 to 12" does not stand on a fall from 12 to 5.
    fn holds(
        &self,
        text: &str,
        figure: &Figure,
        used: &mut BTreeSet<(usize, usize, String)>,
    ) -> bool {
        if figure.unit == Unit::Name {
            return false;
        }
        if let Unit::Instant(form) = &figure.unit {
            let told = &text[figure.at.clone()];
            return self.times.iter().any(|at| at.date_time().format(form).to_string() == told);
        }
        let sentence = sentence(text, figure.at.start);
        let claim = Claim::of(&text[sentence.clone()], sentence.start, figure);
        let once = format!("{:?}", figure.unit);
        let found = self.values.iter().enumerate().find(|(at, (_, source))| {
            !used.contains(&(sentence.start, *at, once.clone())) && claim.is(source)
        });
        found.is_some_and(|(at, _)| used.insert((sentence.start, at, once)))
    }
}

/// The figure is not the first one of the name.
fn rest_of_name(text: &str, name: &Range<usize>, figure: &Range<usize>) -> bool {
    text[name.start..figure.start].bytes().any(|byte| byte.is_ascii_digit())
}

/// A figure with what its sentence says of it.
struct Claim<'a> {
    figure: &'a Figure,
    sentence: &'a str,
    /// The part of the sentence before the figure.
    before: &'a str,
    subject: Option<Subject>,
}

impl<'a> Claim<'a> {
    fn of(sentence: &'a str, from: usize, figure: &'a Figure) -> Self {
        let (start, end) = (figure.at.start - from, figure.end - from);
        let is_count = matches!(figure.unit, Unit::None | Unit::Count);
        let subject = if matches!(figure.unit, Unit::Ago(_)) {
            // judgements are told one a clause, with their risk before or behind their age
            let clause = clause(sentence, start);
            let at = start - clause.start..end.min(clause.end) - clause.start;
            meaning::named(&sentence[clause], at.start, at.end, false)
        } else {
            meaning::named(sentence, start, end, is_count)
        };
        Self { figure, sentence, before: &sentence[..start], subject }
    }

    fn is(&self, source: &Source) -> bool {
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
        // a unit that only one quantity has says enough by itself; hours, counts and bare numbers do not
        let says_enough = self.subject.is_none()
            && !matches!(self.figure.unit, Unit::None | Unit::Count | Unit::Ago(_))
            && !matches!(&self.figure.unit, Unit::Measure(base, _) if base == "h");
        (fits || says_enough) && self.equals(source, fits && self.subject.is_some())
    }

    /// The value, in the figure's unit and rounded to its decimals. `is_named`: the sentence says of
    /// what, so that a bare number may be a count.
    fn equals(&self, source: &Source, is_named: bool) -> bool {
        let value = source.value;
        match (&self.figure.unit, &source.unit) {
            (Unit::Measure(told, size), Unit::Measure(is, _)) if told == is => {
                let in_days = told == "h" && *size >= 24.0;
                self.reads(value / size, in_days)
            }
            (Unit::Ago(size), Unit::Ago(_)) => self.reads(value / size, true),
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

    /// Whether `value` is written as the figure: rounded to its decimals, or whole units rounded down.
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

/// How many base units one of a source's unit is.
fn base(unit: &Unit) -> f64 {
    match unit {
        Unit::Measure(_, size) | Unit::Ago(size) => *size,
        Unit::Percent | Unit::None | Unit::Times | Unit::Stage | Unit::Count => 1.0,
        Unit::Instant(_) | Unit::Name => f64::NAN,
    }
}

fn in_base(unit: Unit) -> Unit {
    if let Unit::Measure(name, _) = unit {
        Unit::Measure(name, 1.0)
    } else if let Unit::Ago(_) = unit {
        Unit::Ago(1.0)
    } else {
        unit
    }
}

/// The sentence around a place: to the line's end, a full stop or a semicolon before a space.
fn sentence(text: &str, at: usize) -> Range<usize> {
    const ENDS: [&str; 4] = ["\n", ". ", "; ", "。"];
    let start = ENDS.iter().filter_map(|end| text[..at].rfind(end).map(|from| from + end.len()));
    let start = start.max().unwrap_or(0);
    let end = ENDS.iter().filter_map(|end| text[at..].find(end)).min();
    start..end.map_or(text.len(), |end| at + end)
}

/// The part of a sentence between commas.
fn clause(sentence: &str, at: usize) -> Range<usize> {
    let start = sentence[..at].rfind(", ").map_or(0, |from| from + 2);
    start..sentence[at..].find(", ").map_or(sentence.len(), |end| at + end)
}
