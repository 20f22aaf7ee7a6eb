//! The values that words may quote, and whether a figure of a text is one of them.

use std::collections::BTreeSet;
use std::ops::Range;

use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use serde_json::Value;

use super::WITHHELD;
use super::citation::Citation;
use super::claim::{Claim, sentence};
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
pub(super) struct Source {
    /// The value in base units.
    pub(super) value: f64,
    pub(super) unit: Unit,
    /// The subjects that texts must name, if they name any.
    pub(super) subjects: Vec<Subject>,
    /// The document that holds it: only a sentence that names the document may quote it.
    pub(super) document: Option<String>,
    /// The value stands in a quote. A sentence that compares this case with the document tells the
    /// compared values alone.
    pub(super) quoted: bool,
}

impl Source {
    /// Whether it is a remaining life, or a bound of one.
    pub(super) fn is_life(&self) -> bool {
        let is = |one: &Subject| {
            matches!(one, Subject::Lower | Subject::Upper | Subject::Life | Subject::LifeCourse)
        };
        // between two lives stand the days that have passed
        self.subjects.iter().any(is) && !self.subjects.contains(&Subject::Passed)
    }
}

/// Values, times and names that words may quote.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    values: Vec<(String, Source)>,
    times: Vec<Timestamp>,
    names: Vec<String>,
    documents: Vec<(String, Citation)>,
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

    /// The numbers of a JSON value at `path`, at any depth. The path says what they are: the last
    /// word gives the unit (`rul.ci_low_hours` hours, `bpfo.snr_db` dB), the words before it the
    /// subject. Texts are no numbers.
    pub fn add(&mut self, path: &str, value: &Value) {
        match value {
            Value::Number(number) => {
                let unit = meaning::unit(path, &self.slope_unit);
                let subjects = meaning::subjects(path).to_vec();
                let value = number.as_f64().unwrap_or(f64::NAN) * base(&unit);
                let source =
                    Source { value, unit: in_base(unit), subjects, document: None, quoted: false };
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

    /// Adds the count of something.
    pub fn add_count(&mut self, path: &str, count: f64) {
        let subjects = meaning::subjects(path).to_vec();
        self.push(
            path,
            Source { value: count, unit: Unit::Count, subjects, document: None, quoted: false },
        );
    }

    /// A stage of the P–F curve.
    pub fn add_stage(&mut self, stage: u8) {
        let value = f64::from(stage);
        let subjects = vec![Subject::PfStage, Subject::Course];
        self.push(
            "fault_stage",
            Source { value, unit: Unit::Stage, subjects, document: None, quoted: false },
        );
    }

    /// Adds how long ago a judgement of this risk was, s.
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
        self.push(
            &path,
            Source { value, unit, subjects: vec![subject], document: None, quoted: false },
        );
    }

    /// Adds how long ago a repair was reported, s.
    pub fn add_repair_age(&mut self, seconds: f64) {
        let (value, unit) = (seconds / 3600.0, Unit::Ago(1.0));
        let subjects = vec![Subject::Repair];
        let path = format!("memory.repaired {seconds}");
        self.push(&path, Source { value, unit, subjects, document: None, quoted: false });
    }

    /// A value that was read from a document, for sentences that name it.
    pub(super) fn add_of_document(&mut self, document: &str, path: &str, value: &Value) {
        let Some(value) = value.as_f64() else { return };
        let unit = meaning::unit(path, &self.slope_unit);
        let (value, document) = (value * base(&unit), Some(document.to_owned()));
        let (unit, subjects) = (in_base(unit), Vec::new());
        self.push(path, Source { value, unit, subjects, document, quoted: false });
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
            let subjects = Vec::new();
            self.push(&path, Source { value, unit, subjects, document, quoted: true });
        }
    }

    /// A date and time, as texts tell it.
    pub fn add_time(&mut self, at: Timestamp) {
        self.times.push(at);
    }

    /// Every time added so far, as the plant's own clock shows it too: messages tell times by that
    /// clock.
    pub fn add_local_times(&mut self, local: impl Fn(Timestamp) -> Timestamp) {
        let shown: Vec<Timestamp> = self.times.iter().map(|at| local(*at)).collect();
        self.times.extend(shown);
    }

    /// A name that may hold digits and is quoted as a name.
    pub fn add_name(&mut self, name: &str) {
        if name.bytes().any(|byte| byte.is_ascii_digit()) {
            self.names.push(name.to_owned());
        }
    }

    /// The name of a document that is quoted, and for what: a sentence may name it once, so that
    /// "MH-03, MH-03" does not stand on two documents of which one is MH-03.
    pub fn add_document(&mut self, name: &str, citation: Citation) {
        let one = (name.to_owned(), citation);
        if !self.documents.contains(&one) {
            self.documents.push(one);
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
        let mut used: BTreeSet<(usize, usize)> = BTreeSet::new();
        let units = std::slice::from_ref(&self.slope_unit);
        for figure in figures(text, units) {
            let at = figure.at.clone();
            let name = names.iter().find(|name| name.start <= at.start && at.end <= name.end);
            let is_name = name.is_some_and(|name| {
                let told = &text[name.clone()];
                let is_free = !self.documents.iter().any(|(document, _)| document == told)
                    || self.names.iter().any(|name| name == told);
                let around = sentence(text, name.start);
                let fits = || {
                    let mut cited = self.documents.iter().filter(|(document, _)| document == told);
                    cited.any(|(_, citation)| citation.fits(&text[around.clone()], units))
                };
                // `EM-07#4` has two figures and is one name
                is_free
                    || rest_of_name(text, name, &at)
                    || (fits() && cited.insert((around.start, told.to_owned())))
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

    /// Returns where known names stand, each as a whole word.
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
        let own = self
            .names
            .iter()
            .chain(self.documents.iter().map(|(name, _)| name))
            .map(String::as_str);
        own.chain(FIXED_NAMES.iter().copied())
            .flat_map(|name| text.match_indices(name))
            .filter(|(at, name)| whole(*at, name))
            .map(|(at, name)| at..at + name.len())
            .collect()
    }

    /// Whether a source is this figure. A source gives one figure a sentence, so that "from 12 to
    /// 12" does not stand on a fall from 12 to 5.
    fn holds(&self, text: &str, figure: &Figure, used: &mut BTreeSet<(usize, usize)>) -> bool {
        if figure.unit == Unit::Name {
            return false;
        }
        if let Unit::Instant(form) = &figure.unit {
            let told = &text[figure.at.clone()];
            return self.times.iter().any(|at| at.date_time().format(form).to_string() == told);
        }
        let sentence = sentence(text, figure.at.start);
        let claim = Claim::of(&text[sentence.clone()], sentence.start, figure);
        let compares = self.compares(&text[sentence.clone()]);
        // "72 h (about 3 days)" tells one value twice
        let before = claim.before.trim_end();
        let again = ["약", "about"].iter().any(|word| before.ends_with(word));
        let found = self.values.iter().enumerate().find(|(at, (_, source))| {
            (again || !used.contains(&(sentence.start, *at)))
                && !(compares && source.quoted)
                && claim.is(source)
        });
        found.is_some_and(|(at, _)| used.insert((sentence.start, at)) || again)
    }
}

impl Sources {
    /// Whether a sentence compares this case with a document.
    fn compares(&self, sentence: &str) -> bool {
        let compared = self.documents.iter().any(|(name, citation)| {
            matches!(citation, Citation::Compared(_)) && sentence.contains(name.as_str())
        });
        compared && !Citation::is_list(sentence)
    }
}

/// The figure is not the first one of the name.
fn rest_of_name(text: &str, name: &Range<usize>, figure: &Range<usize>) -> bool {
    text[name.start..figure.start].bytes().any(|byte| byte.is_ascii_digit())
}

/// Returns how many base units one of a source's unit is.
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
