//! Figures that were read for an answer in free words: each has its value, its unit, the bearing that it is of
//! and the document that it stands in.
//!
//! An answer is worded freely, so it is held less strictly than a judgement, and no true figure is to be
//! lost: a figure is withheld if nothing that was read has its value, if what has it is of another unit
//! (33 dB are no 33 h), if it is of another bearing than those that its words speak of ([`bearings`]), or if
//! it stands in another document than those that its sentence names. A figure
//! without a unit, read or told, is compared by its value alone; hours may be told in days, shares in
//! percent.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use super::bearings::{Owner, Plant};
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
    from: Origin,
}

/// Where a figure was read.
#[derive(Debug, Clone, Default, PartialEq)]
struct Origin {
    /// The bearing that it is of, if that is known.
    owner: Option<Owner>,
    document: Option<String>,
}

/// What was read for an answer.
#[derive(Debug, Clone, Default)]
pub struct Readings {
    /// By the bits of the value as it is written: an answer of a tool may hold a hundred thousand figures.
    figures: HashMap<u64, Vec<Reading>>,
    documents: BTreeSet<String>,
    plant: Plant,
}

impl Readings {
    /// Nothing read yet, in a plant with these machines and bearings.
    pub fn in_plant(bearings: impl IntoIterator<Item = (String, String)>) -> Self {
        Self { plant: Plant::of(bearings), ..Self::default() }
    }

    /// The figures of a text that is no document's. Those beside a bearing's name are of that bearing.
    pub fn add_text(&mut self, text: &str) {
        self.read(text, &Origin::default());
    }

    /// The numbers and texts of a tool's answer. The last word of a path gives a number its unit
    /// (`rul_hours`); what stands beside an `id` and a `text` is of that document.
    pub fn add_data(&mut self, data: &Value) {
        self.walk("", data, &Origin::default());
    }

    fn walk(&mut self, path: &str, data: &Value, from: &Origin) {
        match data {
            Value::Number(number) => {
                let unit = meaning::unit(path, "");
                let raw = number.as_f64().unwrap_or(f64::NAN);
                // a share is read as a part and told in percent
                let raw_told = if unit == Unit::Percent { raw * 100.0 } else { raw };
                self.push(raw_told, unit, from);
                self.push(raw, Unit::None, from);
            }
            Value::String(text) => self.read(text, from),
            Value::Array(items) => {
                self.push(items.len() as f64, Unit::Count, from);
                for item in items {
                    self.walk(path, item, from);
                }
            }
            Value::Object(fields) => {
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
                    self.walk(name, field, &from);
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn read(&mut self, text: &str, from: &Origin) {
        let spoken = self.plant.spoken(text);
        for figure in figures(text, &[]) {
            let from = &origin(spoken.at(figure.at.start), from);
            if !matches!(figure.unit, Unit::Name | Unit::Instant(_)) {
                self.push(figure.value, figure.unit, from);
                continue;
            }
            for number in numbers(&text[figure.at]) {
                self.push(number, Unit::None, from);
            }
        }
    }

    fn push(&mut self, raw: f64, unit: Unit, from: &Origin) {
        let raw = raw.abs();
        let reading = Reading { raw, value: raw * size(&unit), unit, from: from.clone() };
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
        let sentence = &text[sentence(text, figure.at.start)];
        let cited: Vec<&String> =
            self.documents.iter().filter(|document| sentence.contains(document.as_str())).collect();
        let may_quote = |reading: &Reading| match &reading.from.document {
            Some(document) => cited.is_empty() || cited.contains(&document),
            None => Plant::fits(reading.from.owner.as_ref(), told),
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

/// Where a figure of a text is from that speaks of these bearings. A document may name any machine and still
/// speak of all.
fn origin(told: &[Owner], from: &Origin) -> Origin {
    match told {
        _ if from.document.is_some() => from.clone(),
        [one] => Origin { owner: Some(one.clone()), document: None },
        [] => from.clone(),
        // it may be of any of them
        _ => Origin::default(),
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

    /// R-CHAT-5: a true figure of one bearing is no figure of another.
    #[test]
    fn a_figure_of_another_bearing_is_withheld() {
        let names = [("P-101", "DE"), ("P-101", "NDE"), ("P-102", "DE")];
        let names = names.map(|(machine, bearing)| (machine.to_owned(), bearing.to_owned()));
        let mut readings = Readings::in_plant(names);
        readings.add_text("P-101 · DE: 경고, P-F 2단계, 잔여수명 120시간\n- BPFO 18.2 dB");
        readings.add_data(&json!({ "bearings": [
            { "equipment_id": "P-102", "bearing_id": "DE", "rul_hours": 96.0, "level": { "rms_g": 0.17 } },
            { "equipment_id": "P-101", "bearing_id": "NDE", "rul_hours": 400.0 },
        ], "documents": [{ "id": "EM-05", "text": "P-102는 42 Nm로 체결" }] }));
        for text in [
            "P-101 DE는 120시간, P-102는 96시간 남았습니다.",
            "P-101은 BPFO 18.2 dB입니다. 약 5일 남았습니다.",
            "P-102 DE: 4일, RMS 0.17 g",
            "가장 짧은 것은 96시간, 긴 것은 400시간입니다.",
            "P-101의 DE는 120시간 남았습니다. NDE는 400시간입니다.",
            "P-101도 42 Nm로 체결합니다(EM-05).",
            "P-101은 P-102(96시간)보다 여유가 있습니다.",
        ] {
            assert_eq!(readings.withheld(text, "[?]"), text);
        }
        for (text, left) in [
            ("P-102는 120시간 남았습니다.", "P-102는 [?]시간 남았습니다."),
            (
                "P-101 DE는 96시간, P-102는 120시간 남았습니다.",
                "P-101 DE는 [?]시간, P-102는 [?]시간 남았습니다.",
            ),
            ("P-102는 정상입니다. BPFO 18.2 dB입니다.", "P-102는 정상입니다. BPFO [?] dB입니다."),
            ("P-101 NDE는 120시간입니다.", "P-101 NDE는 [?]시간입니다."),
            ("RMS of P-101 is 0.17 g.", "RMS of P-101 is [?] g."),
        ] {
            assert_eq!(readings.withheld(text, "[?]"), left);
        }
    }

    #[test]
    fn a_long_answer_is_read_and_compared() {
        let mut readings = Readings::default();
        readings.add_data(&json!((0..100_000).map(|n| 0.5 + f64::from(n)).collect::<Vec<_>>()));
        let told = "77.5, 99999.5 and 77.7 ".repeat(20);
        let left = "77.5, 99999.5 and [?] ".repeat(20);
        assert_eq!(readings.withheld(&told, "[?]"), left);
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
