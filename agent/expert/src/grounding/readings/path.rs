//! Reads the path of a number: how the number may be told, and of which quantity it is.

use super::super::figures::{Figure, Unit, measure};
use super::super::meaning::{self, Subject};
use super::Telling;

/// The kind of a number that has no unit by its nature: kurtosis, crest factor.
pub(super) const PURE: &str = "1";

/// Endings of a path that give a unit and that judgements do not know.
const ENDINGS: [(&str, &str); 5] =
    [("_nm", "nm"), ("_kn", "kn"), ("_kw", "kw"), ("_bar", "bar"), ("_cst", "cst")];
/// Last words of a path whose number has no unit.
const WITHOUT_UNIT: [&str; 4] = ["kurtosis", "crest_factor", "skewness", "similarity"];
/// Last words of a path whose number is a name.
const NAMES: [&str; 7] = ["id", "code", "number", "no", "year", "version", "page"];

/// The ways in which a number at a path may be told: value, unit, and whether a unit may stand
/// beside it.
pub(super) fn tellings(path: &str, raw: f64) -> Vec<(f64, Unit, Telling)> {
    let last = path.rsplit('.').next().unwrap_or(path);
    let is_name = |name: &str| last == name || last.ends_with(&format!("_{name}"));
    match meaning::unit(path, "") {
        // a share is read as a part and told in percent
        Unit::Percent => {
            vec![
                (raw * 100.0, Unit::Percent, Telling::Measured),
                (raw, measure(PURE), Telling::Measured),
            ]
        }
        // a ratio may be a part, hundredths (`expense_ratio: 0.15`) or a multiple
        Unit::Times => vec![
            (raw, Unit::Times, Telling::Measured),
            (raw, Unit::Percent, Telling::Measured),
            (raw * 100.0, Unit::Percent, Telling::Measured),
        ],
        Unit::None if NAMES.iter().any(|name| is_name(name)) => {
            vec![(raw, Unit::None, Telling::Bare)]
        }
        Unit::None => {
            let ending = ENDINGS.iter().find(|(ending, _)| last.ends_with(ending));
            let is_pure = WITHOUT_UNIT.iter().any(|name| is_name(name));
            let unit = match ending {
                Some((_, unit)) => measure(unit),
                None if is_pure => measure(PURE),
                None => Unit::None,
            };
            vec![(raw, unit, Telling::Measured)]
        }
        unit @ (Unit::Measure(..)
        | Unit::Ago(_)
        | Unit::Stage
        | Unit::Count
        | Unit::Instant(_)
        | Unit::Name) => vec![(raw, unit, Telling::Measured)],
    }
}

/// Returns the subjects of a number by its path.
pub(super) fn subjects(path: &str) -> &'static [Subject] {
    meaning::subjects(path)
}

/// Quantities of which a sentence that names one does not speak of another.
const APART: [&[Subject]; 3] = [
    &[Subject::OuterLine, Subject::InnerLine, Subject::ElementLine, Subject::CageLine],
    &[Subject::Lower, Subject::Upper, Subject::Life],
    &[Subject::Kurtosis, Subject::CrestFactor],
];

/// Whether a sentence names quantities of the same group as a reading, and not that of the reading.
pub(super) fn speaks_of_another(sentence: &str, subjects: &[Subject]) -> bool {
    APART.iter().any(|group| {
        let own: Vec<Subject> =
            subjects.iter().filter(|one| group.contains(one)).copied().collect();
        let named = |subject: &Subject| meaning::is_named(sentence, *subject);
        !own.is_empty() && group.iter().any(named) && !own.iter().any(named)
    })
}

/// Whether the unit of a figure stands elsewhere: in brackets before it, or in the head of a table.
pub(super) fn has_unit_beside(text: &str, figure: &Figure) -> bool {
    let line = text[..figure.at.start].rsplit('\n').next().unwrap_or_default();
    line.contains('|') || line.rfind('(').is_some_and(|open| line[open..].contains(')'))
}

/// Returns the factor by which a word behind a figure multiplies it.
pub(super) fn scale(text: &str, figure: &Figure) -> f64 {
    const SCALES: [(&str, f64); 6] = [
        ("만", 1e4),
        ("억", 1e8),
        ("조", 1e12),
        ("million", 1e6),
        ("billion", 1e9),
        ("trillion", 1e12),
    ];
    let after = text[figure.at.end..].trim_start();
    let scale = SCALES.iter().find(|(word, _)| after.starts_with(word));
    // 제5조 is an article
    let is_article = text[..figure.at.start].ends_with('제');
    scale.filter(|_| !is_article).map_or(1.0, |(_, scale)| *scale)
}
