//! The zone of ISO 20816-3 of a velocity that a question states, for the class of machines that it
//! names: by the table of EM-01 §5, never by a machine of the plant.

use pdm_shared::event::IsoZone;
use pdm_shared::text::Language;

use super::intent::{PLAIN_WORDS, has, power_kw, velocity_mm_s};

/// A row of the table of EM-01 §5: limits between the zones, mm/s RMS.
struct Row {
    is_large: bool,
    is_flexible: bool,
    limits_mm_s: [f64; 3],
}

/// EM-01 §5, as its sources print ISO 20816-3; a test holds it to the document.
const TABLE: [Row; 4] = [
    Row { is_large: true, is_flexible: false, limits_mm_s: [2.3, 4.5, 7.1] },
    Row { is_large: true, is_flexible: true, limits_mm_s: [3.5, 7.1, 11.0] },
    Row { is_large: false, is_flexible: false, limits_mm_s: [1.4, 2.8, 4.5] },
    Row { is_large: false, is_flexible: true, limits_mm_s: [2.3, 4.5, 7.1] },
];
/// Powers of the class of medium machines, kW.
const MEDIUM_KW: [f64; 2] = [15.0, 300.0];

/// The rows that a clause asks for, each with the zone of the velocity that it states.
pub(super) fn zone_limits(clause: &str, language: Language) -> String {
    let text = clause.to_lowercase();
    let (power, value) = (power_kw(&text), velocity_mm_s(&text));
    if let Some(power) = power.filter(|power| *power <= MEDIUM_KW[0]) {
        return too_small(power, language);
    }
    let words = &*PLAIN_WORDS;
    let is_large = match power {
        Some(power) => Some(power > MEDIUM_KW[1]),
        None if has(&text, &words.large) => Some(true),
        None => has(&text, &words.medium).then_some(false),
    };
    let is_flexible = if has(&text, &words.flexible) {
        Some(true)
    } else {
        has(&text, &words.rigid).then_some(false)
    };
    let rows = TABLE.iter().filter(|row| {
        is_large.is_none_or(|large| large == row.is_large)
            && is_flexible.is_none_or(|flexible| flexible == row.is_flexible)
    });
    let lines: Vec<String> = rows.map(|row| row.in_words(value, language)).collect();
    let is_one = lines.len() == 1;
    let (head, end) = match (value, language) {
        (Some(value), Language::Ko) => {
            let unit = if text.contains("mm/s") { "" } else { " (단위를 mm/s RMS로 봄)" };
            (format!("진동속도 {value} mm/s RMS의 ISO 20816-3 구역{unit}:"), end(language))
        }
        (Some(value), Language::En) => {
            let unit = if text.contains("mm/s") { "" } else { " (taken as mm/s RMS)" };
            (format!("Zone of ISO 20816-3 of {value} mm/s RMS{unit}:"), end(language))
        }
        (None, Language::Ko) => ("ISO 20816-3의 구역 경계(mm/s RMS):".to_owned(), end(language)),
        (None, Language::En) => {
            ("Limits of the zones of ISO 20816-3 (mm/s RMS):".to_owned(), end(language))
        }
    };
    let open = (!is_one).then(|| match language {
        Language::Ko => "출력(kW)과 지지(강성/유연)를 모두 말씀하시면 한 줄로 답합니다.".to_owned(),
        Language::En => {
            "With the power (kW) and the support (rigid or flexible) it is one row.".to_owned()
        }
    });
    std::iter::once(head)
        .chain(lines)
        .chain(open)
        .chain([end.to_owned()])
        .collect::<Vec<_>>()
        .join("\n")
}

/// The zones of a velocity for the classes of machines; `known`: the zone and the velocity that
/// were measured of the machine, which leave the classes alone that agree with both.
pub(super) fn zones_of(value: f64, known: Option<(IsoZone, f64)>, language: Language) -> String {
    let agrees = |row: &&Row| {
        known.is_some_and(|(zone, measured)| {
            let name = serde_json::to_value(zone).ok();
            let name = name.as_ref().and_then(|name| name.as_str()).unwrap_or_default();
            name == row.zone(measured).to_string()
        })
    };
    let own: Vec<&Row> = TABLE.iter().filter(agrees).collect();
    let rows = if own.is_empty() { TABLE.iter().collect() } else { own };
    let figure = pdm_expert::wording::figure(value);
    let head = match language {
        Language::Ko => {
            format!("{figure} mm/s RMS의 ISO 20816-3 구역(이 설비의 출력과 지지는 제 기록에 없음):")
        }
        Language::En => format!(
            "Zone of ISO 20816-3 of {figure} mm/s RMS (power and support of this machine are not \
             in my records):"
        ),
    };
    let lines = rows.into_iter().map(|row| row.in_words(Some(value), language));
    let end = end(language).to_owned();
    std::iter::once(head).chain(lines).chain([end]).collect::<Vec<_>>().join("\n")
}

/// That the table has no limits for a machine of so little power.
fn too_small(power: f64, language: Language) -> String {
    let least = MEDIUM_KW[0];
    match language {
        Language::Ko => format!(
            "{power} kW: 제 문서의 표(EM-01 §5)는 {least} kW를 넘는 기계만 다룹니다. 제조사 값이나 해당 기계의 \
             규격을 따르십시오."
        ),
        Language::En => format!(
            "{power} kW: the table of my documents (EM-01 §5) is for machines above {least} kW. \
             Follow the maker or the standard of that machine."
        ),
    }
}

/// The text after the rows.
const fn end(language: Language) -> &'static str {
    match language {
        Language::Ko => {
            "A 신품 수준, B 장기 운전 가능, C 제한된 기간만, D 손상 위험. 초기 베어링 결함은 A구역에서도 자랍니다. [EM-01 §5]"
        }
        Language::En => {
            "A: as new. B: fit for long running. C: for a limited time only. D: danger of damage. \
             An early bearing fault grows within zone A, too. [EM-01 §5]"
        }
    }
}

impl Row {
    /// The zone of a velocity. A velocity on a limit belongs to the zone above it: the careful
    /// reading.
    fn zone(&self, value: f64) -> char {
        let above = self.limits_mm_s.iter().filter(|limit| value >= **limit).count();
        ['A', 'B', 'C', 'D'][above.min(3)]
    }

    fn in_words(&self, value: Option<f64>, language: Language) -> String {
        let class = match (self.is_large, self.is_flexible, language) {
            (true, false, Language::Ko) => "대형(300 kW 초과), 강성 지지",
            (true, true, Language::Ko) => "대형(300 kW 초과), 유연 지지",
            (false, false, Language::Ko) => "중형(15–300 kW), 강성 지지",
            (false, true, Language::Ko) => "중형(15–300 kW), 유연 지지",
            (true, false, Language::En) => "large (above 300 kW), rigid",
            (true, true, Language::En) => "large (above 300 kW), flexible",
            (false, false, Language::En) => "medium (15–300 kW), rigid",
            (false, true, Language::En) => "medium (15–300 kW), flexible",
        };
        let [ab, bc, cd] = self.limits_mm_s;
        let limits = format!("A/B {ab}, B/C {bc}, C/D {cd} mm/s");
        let zone = value.map(|value| self.zone(value));
        match (zone, language) {
            (Some(zone), Language::Ko) => format!("- {class}: {zone} 구역 ({limits})"),
            (Some(zone), Language::En) => format!("- {class}: zone {zone} ({limits})"),
            (None, _) => format!("- {class}: {limits}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table is that of the shipped document.
    #[test]
    fn the_limits_are_those_of_the_document() {
        let document = include_str!("../../../../config/knowledge/equipment_manual/em-01.md");
        let names = [
            "| Large, above 300 kW | rigid |",
            "| Large, above 300 kW | flexible |",
            "| Medium, 15–300 kW | rigid |",
            "| Medium, 15–300 kW | flexible |",
        ];
        for (row, name) in TABLE.iter().zip(names) {
            let [ab, bc, cd] = row.limits_mm_s.map(|limit| format!("{limit:.1}"));
            let line = format!("{name} {ab} | {bc} | {cd} |");
            assert!(document.contains(&line), "{line}");
        }
    }

    #[test]
    fn a_value_is_judged_for_the_class_that_is_named() {
        for (clause, language, holds) in [
            ("is 6.3 mm/s bad for a 45 kW fan on springs", Language::En, "flexible: zone C"),
            ("3.0 mm/s on a 45 kW motor, rigid base, ok?", Language::En, "rigid: zone C"),
            ("1.0 mm/s 90kW 콘크리트 괜찮아?", Language::Ko, "강성 지지: A 구역"),
            ("대형 송풍기 방진 지지 12 mm/s 위험해?", Language::Ko, "유연 지지: D 구역"),
            ("4 kW pump at 2 mm/s, rigid, ok?", Language::En, "above 15 kW"),
        ] {
            let told = zone_limits(clause, language);
            assert!(told.contains(holds), "{clause}: {told}");
        }
        let open = zone_limits("is 5 mm/s too high?", Language::En);
        assert_eq!(open.matches("zone ").count(), 5, "{open}");
    }
}
