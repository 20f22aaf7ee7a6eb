//! Past cases out of documents of the maintenance history: element, course with signs and times,
//! cause, action, how it ended.
//!
//! A document is data of others: it is read within bounds, quoted word for word, and never
//! followed. Invariant: every figure of a [`CaseRecord`] stands in its document.

use pdm_shared::fault::Fault;
use pdm_shared::text::Text;

use super::Document;
use super::signs::{Measured, SignKind, before_unit, of_clause};

/// The term for a case that is invented for teaching, in Korean and in English.
pub const TEACHING_CASE: (&str, &str) = ("교육용 사례", "teaching case");

/// Whether a document's source says that its case is invented (`synthetic = true` in its head).
pub fn is_teaching_case(source: &str) -> bool {
    source.ends_with(", synthetic)")
}

/// Most lines of a document that are read. Chosen: three times the longest shipped case.
const MAX_LINES: usize = 400;
/// Most steps of a course.
const MAX_STEPS: usize = 16;
/// Longest quote, characters.
const QUOTE_CHARS: usize = 200;

/// A past case.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CaseRecord {
    /// The document.
    pub document: String,
    /// Its source.
    pub source: String,
    /// The damaged element, if the case names one.
    pub element: Option<Fault>,
    /// It is invented for teaching, and no record of a plant.
    pub is_teaching: bool,
    /// The course, in the order of the document.
    pub steps: Vec<CaseStep>,
    /// The cause, in the document's own words.
    pub cause: Option<String>,
    /// The work that was done, in the document's own words.
    pub action: Option<String>,
    /// How it ended, in the document's own words.
    pub outcome: Option<String>,
    /// The bearing was not damaged: a false alarm or a wrong diagnosis.
    pub is_benign: bool,
    /// Whether it is a run to failure on a test rig, whose times do not carry over to a machine in
    /// a plant.
    pub is_rig: bool,
    /// Whether the degradation accelerated, where the case says so or says that it did not.
    pub accelerated: Option<bool>,
}

/// One step of a course.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CaseStep {
    /// Hours before the end of the case; `None` if the step names no time.
    pub before_h: Option<f64>,
    /// The line, in the document's own words.
    pub quote: String,
    /// The signs with their figures.
    pub signs: Vec<Measured>,
}

/// The subject of a case's section.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Part {
    Other,
    Overview,
    Course,
    Cause,
    Action,
}

const BENIGN: [&str; 10] = [
    "오경보",
    "오진",
    "헛교체",
    "교체 불필요",
    "손상은 없었",
    "손상이 없었",
    "멀쩡",
    "false alarm",
    "misdiagnos",
    "needless",
];
const RIG: [&str; 4] = ["가속 시험", "시험기", "accelerated test", "test rig"];

impl CaseRecord {
    /// The document as a sentence names it; an invented case is never taken for the plant's own
    /// record.
    pub(super) fn name(&self) -> Text {
        self.name_with("", "")
    }

    /// The document with a remark in brackets.
    pub(super) fn name_with(&self, ko: &str, en: &str) -> Text {
        let named = |mark: &str, remark: &str, gap: &str| {
            let words: Vec<&str> =
                [mark, remark].into_iter().filter(|one| !one.is_empty()).collect();
            match words.as_slice() {
                [] => self.document.clone(),
                words => format!("{}{gap}({})", self.document, words.join(", ")),
            }
        };
        let (mark_ko, mark_en) = if self.is_teaching { TEACHING_CASE } else { ("", "") };
        Text::new(named(mark_ko, ko, ""), named(mark_en, en, " "))
    }

    /// Reads the case in a document of the history; `None` if it tells no course.
    pub(super) fn read(document: &Document) -> Option<Self> {
        let mut record = Self {
            document: document.id.clone(),
            source: document.source.clone(),
            is_teaching: is_teaching_case(&document.source),
            element: None,
            steps: Vec::new(),
            cause: None,
            action: None,
            outcome: None,
            is_benign: false,
            is_rig: RIG.iter().any(|word| document.text.contains(word)),
            accelerated: None,
        };
        let mut overview = String::new();
        let mut part = Part::Other;
        for line in document.text.lines().take(MAX_LINES).map(str::trim) {
            if line.is_empty() {
                continue;
            }
            if super::read::is_heading(line) {
                part = of_heading(line, part);
                continue;
            }
            let line = line.trim_start_matches(['-', '*', ' ']);
            match part {
                Part::Course => record.steps(line),
                Part::Cause => first(&mut record.cause, line),
                Part::Action => first(&mut record.action, line),
                Part::Overview => {
                    first(&mut record.outcome, line);
                    overview.push_str(line);
                }
                Part::Other => {}
            }
        }
        if record.steps.is_empty() {
            return None;
        }
        let told = format!("{} {overview}", document.title);
        record.is_benign = BENIGN.iter().any(|word| told.contains(word));
        record.element = only_element(&document.title).or_else(|| only_element(&overview));
        let is_titled = ["급속", "accelerat"].iter().any(|word| document.title.contains(word));
        let said: Vec<f64> = record.signs(SignKind::Acceleration).collect();
        let says = |wanted: bool| said.iter().any(|value| (*value > 0.5) == wanted);
        record.accelerated = if is_titled || says(true) {
            Some(true)
        } else {
            // a case that says nothing did not say that it went steadily
            says(false).then_some(false)
        };
        Some(record)
    }

    /// The values of one sign over the course.
    fn signs(&self, kind: SignKind) -> impl Iterator<Item = f64> + '_ {
        let all = self.steps.iter().flat_map(|step| &step.signs);
        all.filter(move |(sign, _)| *sign == kind).map(|(_, value)| *value)
    }

    /// Returns how long the case took from one stage to the next, or to its end, h.
    pub(super) fn stage_took_h(&self, stage: u8) -> Option<f64> {
        let at = |wanted: &dyn Fn(f64) -> bool| {
            let step = self.steps.iter().find(|step| {
                step.signs.iter().any(|(kind, value)| *kind == SignKind::Stage && wanted(*value))
            });
            step.and_then(|step| step.before_h)
        };
        let own = f64::from(stage);
        let from = at(&|value| (value - own).abs() < 0.5)?;
        let to = at(&|value| value > own + 0.5).unwrap_or(0.0);
        (from > to).then_some(from - to)
    }

    /// Reads the steps of a line: a clause with a time begins a step.
    fn steps(&mut self, line: &str) {
        let mut step = CaseStep { before_h: None, quote: cut(line), signs: Vec::new() };
        let mut is_level = false;
        for clause in clauses(line) {
            if let Some(time) = before_end_h(clause) {
                if !step.signs.is_empty() {
                    self.add(CaseStep { signs: std::mem::take(&mut step.signs), ..step.clone() });
                }
                step.before_h = Some(time);
            }
            let mut signs = of_clause(clause);
            if signs.is_empty() && is_level {
                // "… 1.3배, 47시간 전에 2배": the level is named once
                signs.extend(
                    before_unit(clause, &["배", " times"]).map(|n| (SignKind::LevelRatio, n)),
                );
            }
            is_level = signs.iter().any(|(kind, _)| *kind == SignKind::LevelRatio);
            step.signs.extend(signs);
        }
        if !step.signs.is_empty() || step.before_h.is_some() {
            self.add(step);
        }
    }

    fn add(&mut self, step: CaseStep) {
        if self.steps.len() < MAX_STEPS {
            self.steps.push(step);
        }
    }
}

fn of_heading(line: &str, before: Part) -> Part {
    let has = |words: &[&str]| words.iter().any(|word| line.contains(word));
    if has(&["진행 경과", "Course", "경보에서 고장까지"]) {
        Part::Course
    } else if has(&["근본 원인", "Root cause"]) {
        Part::Cause
    } else if has(&["조치", "Action"]) {
        Part::Action
    } else if has(&["고장 개요", "Failure"]) {
        Part::Overview
    } else if before == Part::Course && line.trim_start_matches('#').trim_start().starts_with("3.")
    {
        Part::Course
    } else {
        Part::Other
    }
}

fn first(slot: &mut Option<String>, line: &str) {
    if slot.is_none() {
        *slot = Some(cut(line));
    }
}

fn cut(line: &str) -> String {
    line.chars().take(QUOTE_CHARS).collect()
}

/// The clauses of a line. A full stop or comma between digits ends none.
fn clauses(line: &str) -> impl Iterator<Item = &str> {
    line.split_inclusive([',', '.', ';', ':'])
        .scan(0_usize, move |at, piece| {
            let from = *at;
            *at += piece.len();
            Some((from, from + piece.len()))
        })
        .collect::<Vec<_>>()
        .into_iter()
        .fold(Vec::<(usize, usize)>::new(), |mut out, (from, to)| {
            let is_inside_number = line[..from].ends_with(['.', ','])
                && line[..from].chars().rev().nth(1).is_some_and(|c| c.is_ascii_digit())
                && line[from..to].starts_with(|c: char| c.is_ascii_digit());
            match out.last_mut() {
                Some(last) if is_inside_number => last.1 = to,
                _ => out.push((from, to)),
            }
            out
        })
        .into_iter()
        .map(|(from, to)| line[from..to].trim())
}

/// The hours before the end that a clause names.
fn before_end_h(clause: &str) -> Option<f64> {
    let spelt = [("마지막 하루", 24.0), ("마지막 이틀", 48.0), ("마지막 사흘", 72.0)];
    if let Some((_, hours)) = spelt.iter().find(|(word, _)| clause.contains(word)) {
        return Some(*hours);
    }
    let days = before_unit(clause, &["일 전", " days before", " day before"]);
    let weeks = before_unit(clause, &["주 전", " weeks before"]);
    let hours = before_unit(clause, &["시간 전", " hours before", " h before"]);
    let end = clause.starts_with("0일").then_some(0.0);
    let time = days
        .map(|days| days * 24.0)
        .or_else(|| weeks.map(|weeks| weeks * 168.0))
        .or(hours)
        .or(end)?;
    (0.0..=100_000.0).contains(&time).then_some(time)
}

/// Returns the one element that a text names; `None` if it names none or several.
fn only_element(text: &str) -> Option<Fault> {
    let words: [(Fault, &[&str]); 4] = [
        (Fault::OuterRace, &["외륜", "outer race"]),
        (Fault::InnerRace, &["내륜", "inner race"]),
        (Fault::Ball, &["전동체", "롤러 결함", "rolling element"]),
        (Fault::Cage, &["보지기", "케이지", "cage"]),
    ];
    let mut named = words.iter().filter(|(_, words)| words.iter().any(|word| text.contains(word)));
    let (fault, _) = named.next()?;
    named.next().is_none().then_some(*fault)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tests::shipped;

    /// R-AGENT-6: every shipped case is read with its element and how it ended.
    #[test]
    fn the_shipped_cases_are_read() {
        use Fault::{Ball, Cage, InnerRace, OuterRace};
        let elements = [
            ("01", Some(InnerRace)),
            ("02", Some(Ball)),
            ("03", Some(OuterRace)),
            ("04", Some(OuterRace)),
            ("05", Some(OuterRace)),
            ("06", Some(InnerRace)),
            ("07", Some(Ball)),
            ("08", Some(Cage)),
            ("09", None),
            ("10", Some(OuterRace)),
            ("11", None),
            ("12", None),
        ];
        for (number, element) in elements {
            let record = CaseRecord::read(&shipped(number));
            if ["02", "11"].contains(&number) {
                assert_eq!(
                    record, None,
                    "MH-{number} tells no sign with a figure and no time before"
                );
                continue;
            }
            let record = record.unwrap_or_else(|| panic!("MH-{number} has a course"));
            assert_eq!(record.element, element, "MH-{number}");
            assert_eq!(record.is_benign, number == "12", "MH-{number}");
            assert_eq!(record.is_rig, ["01", "03", "04"].contains(&number), "MH-{number}");
            assert!(record.cause.is_some() && record.action.is_some(), "MH-{number}");
        }
    }

    #[test]
    fn a_course_is_read_with_times_and_figures() {
        let record = CaseRecord::read(&shipped("06")).expect("a case");
        let first = &record.steps[0];
        assert_eq!(first.before_h, Some(16.0 * 24.0));
        let signs = [(SignKind::LineSnr, 10.0), (SignKind::Sidebands, 2.0), (SignKind::Stage, 2.0)];
        assert_eq!(first.signs, signs);
        assert_eq!(record.accelerated, Some(true));
        let record = CaseRecord::read(&shipped("05")).expect("a case");
        assert_eq!(record.stage_took_h(2), Some((41.0 - 9.0) * 24.0));
        assert_eq!(record.stage_took_h(3), Some(9.0 * 24.0));
        let record = CaseRecord::read(&shipped("03")).expect("a case");
        assert!(
            record
                .steps
                .iter()
                .any(|step| step.before_h == Some(47.0)
                    && step.signs == [(SignKind::LevelRatio, 2.0)])
        );
        let record = CaseRecord::read(&shipped("04")).expect("a case");
        assert_eq!(record.steps[0].before_h, Some(24.0));
    }

    proptest! {
        /// Whatever a document holds, reading it ends, within bounds, with its own words.
        #[test]
        fn any_document_is_read_within_bounds(
            text in "(\\PC|\n|3 진행 경과\n|- [0-9]{1,9}일 전: BPFO 결함선 [0-9.]{1,30} dB, ){0,60}",
        ) {
            let document = Document {
                id: "X".to_owned(), title: "외륜".to_owned(), text, source: String::new(),
            };
            if let Some(record) = CaseRecord::read(&document) {
                prop_assert!(record.steps.len() <= MAX_STEPS);
                for step in &record.steps {
                    prop_assert!(document.text.contains(&step.quote));
                    prop_assert!(step.signs.iter().all(|(_, value)| value.is_finite()));
                }
            }
        }
    }
}
