//! Figures that were read for an answer in free words: each has its value, its unit and the document that
//! it stands in.
//!
//! An answer is worded freely, so it is held less strictly than a judgement, and no true figure is to be
//! lost: a figure is withheld if nothing that was read has its value, if what has it is of another unit
//! (33 dB are no 33 h), or if it stands in another document than those that its sentence names. A figure
//! without a unit, read or told, is compared by its value alone; hours may be told in days, shares in
//! percent.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use super::claim::sentence;
use super::figures::{Figure, Unit, figures};
use super::meaning;

/// Highest number of an item of a list.
const LAST_ITEM: f64 = 20.0;

/// One figure that was read.
#[derive(Debug, Clone, PartialEq)]
struct Reading {
    /// As it is written.
    raw: f64,
    /// In base units.
    value: f64,
    unit: Unit,
    document: Option<String>,
}

/// What was read for an answer.
#[derive(Debug, Clone, Default)]
pub struct Readings {
    /// By the bits of the value as it is written: an answer of a tool may hold a hundred thousand figures.
    figures: HashMap<u64, Vec<Reading>>,
    documents: BTreeSet<String>,
}

impl Readings {
    /// The figures of a text that is no document's.
    pub fn add_text(&mut self, text: &str) {
        self.read(text, None);
    }

    /// The numbers and texts of a tool's answer. The last word of a path gives a number its unit
    /// (`rul_hours`); what stands beside an `id` and a `text` is of that document.
    pub fn add_data(&mut self, data: &Value) {
        self.walk("", data, None);
    }

    fn walk(&mut self, path: &str, data: &Value, document: Option<&str>) {
        match data {
            Value::Number(number) => {
                let unit = meaning::unit(path, "");
                let raw = number.as_f64().unwrap_or(f64::NAN);
                // a share is read as a part and told in percent
                let raw_told = if unit == Unit::Percent { raw * 100.0 } else { raw };
                self.push(raw_told, unit, document);
                self.push(raw, Unit::None, document);
            }
            Value::String(text) => self.read(text, document),
            Value::Array(items) => {
                self.push(items.len() as f64, Unit::Count, document);
                for item in items {
                    self.walk(path, item, document);
                }
            }
            Value::Object(fields) => {
                let is_document = fields.contains_key("text");
                let id = fields.get("id").and_then(Value::as_str).filter(|_| is_document);
                let id = id.map(|id| id.split_once('#').map_or(id, |(whole, _piece)| whole));
                self.documents.extend(id.map(str::to_owned));
                for (name, field) in fields {
                    self.walk(name, field, id.or(document));
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn read(&mut self, text: &str, document: Option<&str>) {
        for figure in figures(text, &[]) {
            if !matches!(figure.unit, Unit::Name | Unit::Instant(_)) {
                self.push(figure.value, figure.unit, document);
                continue;
            }
            for number in numbers(&text[figure.at]) {
                self.push(number, Unit::None, document);
            }
        }
    }

    fn push(&mut self, raw: f64, unit: Unit, document: Option<&str>) {
        let (raw, document) = (raw.abs(), document.map(str::to_owned));
        let reading = Reading { raw, value: raw * size(&unit), unit, document };
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
        for figure in figures(text, &[]) {
            if is_item(text, &figure) || self.holds(text, &figure) {
                continue;
            }
            out.push_str(&text[rest..figure.at.start]);
            out.push_str(mark);
            rest = figure.at.end;
        }
        out.push_str(&text[rest..]);
        out
    }

    fn holds(&self, text: &str, figure: &Figure) -> bool {
        let sentence = &text[sentence(text, figure.at.start)];
        let cited: Vec<&String> =
            self.documents.iter().filter(|document| sentence.contains(document.as_str())).collect();
        let may_quote = |reading: &Reading| match &reading.document {
            Some(document) => cited.is_empty() || cited.contains(&document),
            None => true,
        };
        let mut readings = self.figures.values().flatten().filter(|reading| may_quote(reading));
        if matches!(figure.unit, Unit::Name | Unit::Instant(_)) || !figure.value.is_finite() {
            // names and dates: each of their numbers, whatever it belonged to
            let all = || self.figures.values().flatten();
            return numbers(&text[figure.at.clone()])
                .iter()
                .all(|number| all().any(|reading| same(reading.raw, *number, 0)));
        }
        readings.any(|reading| is(figure, reading))
    }
}

/// Whether a figure tells what was read.
fn is(figure: &Figure, reading: &Reading) -> bool {
    let (told, decimals) = (figure.value.abs(), figure.decimals);
    let (Some(of), Some(read)) = (kind(&figure.unit), kind(&reading.unit)) else {
        return same(reading.raw, told, decimals);
    };
    let value = reading.value / size(&figure.unit);
    // whole days are told rounded down as well as rounded
    of == read && (same(value, told, decimals) || decimals == 0 && same(value.floor(), told, 0))
}

fn same(read: f64, told: f64, decimals: usize) -> bool {
    // rounding moves a value by a half at most
    (read - told).abs() <= 1.0 && format!("{read:.decimals$}") == format!("{told:.decimals$}")
}

/// What a unit measures; nothing for a bare number.
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

/// How many base units one of a unit is.
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

/// The numbers in a name or a date.
fn numbers(text: &str) -> Vec<f64> {
    let runs = text.split(|c: char| !c.is_ascii_digit()).filter(|run| !run.is_empty());
    runs.filter_map(|run| run.parse().ok()).collect()
}

/// Whether a figure numbers the items of a list: at the beginning of a line, with a dot or a bracket.
fn is_item(text: &str, figure: &Figure) -> bool {
    let before = text[..figure.at.start].rsplit('\n').next().unwrap_or_default();
    let ends = text[figure.at.end..].starts_with([')', '.']);
    before.trim().is_empty() && ends && figure.decimals == 0 && figure.value <= LAST_ITEM
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn readings() -> Readings {
        let mut readings = Readings::default();
        readings.add_text("P-101 · DE: 경고, P-F 2단계, 잔여수명 120시간, 외륜 결함선 18.23 dB");
        readings.add_data(&json!({
            "bearing": { "rul_hours": 96.0, "stage": 3, "confidence": 0.82, "rms_g": 0.169,
                "measured_at": "2026-11-21T05:10:21.412Z" },
            "documents": [
                { "id": "EM-05#1", "text": "토크 42 Nm로 체결한다. 30분 동안 가열한다." },
                { "id": "EM-07#2", "text": "간극은 0.05 mm 이하, 온도는 110 °C." },
            ],
        }));
        readings
    }

    /// R-CHAT-5: whatever can be told truly of what was read stays.
    #[test]
    fn true_figures_stay_in_whatever_unit_they_are_told() {
        let readings = readings();
        for text in [
            "P-101 DE는 P-F 2단계이고 120시간(약 5일) 남았습니다.",
            "결함선은 18.2 dB, RMS 0.17 g, 신뢰도 82 %입니다.",
            "About 4 days are left; 0.82 is the confidence; stage 3.",
            "토크 42 Nm [EM-05#1], 42Nm로 체결하십시오.",
            "간극 0.05 mm(EM-07). 가열은 30분.",
            "2026-11-21 05:10 측정, 21일 기준. 문서 2건.",
            "1. 전원 차단\n2) 잠금\n3. 교체 토크 42 Nm",
        ] {
            assert_eq!(readings.withheld(text, "[?]"), text);
        }
    }

    #[test]
    fn a_figure_of_another_value_unit_or_document_is_withheld() {
        let readings = readings();
        for (text, left) in [
            ("남은 시간은 777시간입니다.", "남은 시간은 [?]시간입니다."),
            ("18.23시간 남았습니다.", "[?]시간 남았습니다."),
            ("결함선은 120 dB입니다.", "결함선은 [?] dB입니다."),
            ("120일 남았습니다.", "[?]일 남았습니다."),
            ("P-999를 보십시오.", "P-[?]를 보십시오."),
            ("EM-07에 따라 42 Nm로 체결합니다.", "EM-07에 따라 [?] Nm로 체결합니다."),
            ("온도는 110 °C [EM-05]", "온도는 [?] °C [EM-05]"),
        ] {
            assert_eq!(readings.withheld(text, "[?]"), left);
        }
    }

    #[test]
    fn a_long_answer_is_read_and_compared_in_a_moment() {
        let mut readings = Readings::default();
        let begun = std::time::Instant::now();
        readings.add_data(&json!((0..100_000).map(|n| 0.5 + f64::from(n)).collect::<Vec<_>>()));
        let told = "77.5, 99999.5 and 77.7 ".repeat(20);
        let left = "77.5, 99999.5 and [?] ".repeat(20);
        assert_eq!(readings.withheld(&told, "[?]"), left);
        // a minute and more where each figure is compared with all before it
        assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{:?}", begun.elapsed());
    }

    proptest::proptest! {
        #[test]
        fn no_text_ends_the_program(read in "\\PC{0,60}", text in "[0-9.,가a %-]{0,60}") {
            let mut readings = Readings::default();
            readings.add_text(&read);
            let _text = readings.withheld(&text, "[?]");
        }
    }
}
