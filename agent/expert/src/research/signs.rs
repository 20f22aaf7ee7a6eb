//! Signs with figures: those of the case, from its event, and those that a line of a past case
//! states.
//!
//! Invariant: a figure is read from a text only where its unit or the word beside it says what it
//! is.

use pdm_shared::diagnosis::{DegradationSpeed, Diagnosis};
use pdm_shared::event::Event;
use pdm_shared::text::Text;

/// A sign that two cases can be compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SignKind {
    /// Level of the defect line above the floor, dB.
    LineSnr,
    /// Multiples of the defect frequency.
    Harmonics,
    /// Sidebands.
    Sidebands,
    /// Level over its baseline.
    LevelRatio,
    /// Raw kurtosis.
    Kurtosis,
    /// Velocity RMS, mm/s.
    Velocity,
    /// P–F stage.
    Stage,
    /// Acceleration of the degradation: 1 or 0.
    Acceleration,
}

impl SignKind {
    /// The name in a diagnosis.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::LineSnr => "line_snr_db",
            Self::Harmonics => "harmonics",
            Self::Sidebands => "sidebands",
            Self::LevelRatio => "level_ratio",
            Self::Kurtosis => "kurtosis",
            Self::Velocity => "velocity_mm_s",
            Self::Stage => "stage",
            Self::Acceleration => "acceleration",
        }
    }

    /// The sign for people.
    pub(super) fn word(self) -> Text {
        match self {
            Self::LineSnr => Text::new("결함선", "defect line"),
            Self::Harmonics => Text::new("고조파", "harmonics"),
            Self::Sidebands => Text::new("측대파", "sidebands"),
            Self::LevelRatio => Text::new("수준", "level"),
            Self::Kurtosis => Text::new("첨도", "kurtosis"),
            Self::Velocity => Text::new("진동속도", "velocity"),
            Self::Stage => Text::new("단계", "stage"),
            Self::Acceleration => Text::new("가속", "acceleration"),
        }
    }

    /// Whether it is measured, and no conclusion from measurements.
    pub(super) const fn is_measured(self) -> bool {
        !matches!(self, Self::Stage | Self::Acceleration)
    }

    /// Whether two values are alike. The lines of the shipped cases at stage 2 lie within 5 dB (9,
    /// 10 and 14 dB), their kurtosis at stage 2 and 3 within a third (4.2 and 4.8); counts may
    /// differ by one, pairs of sidebands too, where there are any.
    pub(super) fn is_alike(self, here: f64, there: f64) -> bool {
        let apart = (here - there).abs();
        match self {
            Self::LineSnr => apart <= 5.0,
            Self::Harmonics => apart <= 1.0,
            Self::Sidebands => apart <= 2.0 && (here > 0.0) == (there > 0.0),
            Self::LevelRatio | Self::Kurtosis | Self::Velocity => {
                apart <= here.abs().max(there.abs()) / 3.0
            }
            Self::Stage | Self::Acceleration => apart < 0.5,
        }
    }
}

/// A sign with its figure.
pub(super) type Measured = (SignKind, f64);

/// The signs of a case.
pub(super) fn of_case(event: &Event, diagnosis: &Diagnosis) -> Vec<Measured> {
    let mut signs = Vec::new();
    let mut add = |kind: SignKind, value: Option<f64>| {
        signs.extend(value.filter(|value| value.is_finite()).map(|value| (kind, value)));
    };
    if let Some(fault) = diagnosis.fault_type {
        let line = event.frequency_domain.line(fault);
        add(SignKind::LineSnr, line.snr_db);
        add(SignKind::Harmonics, Some(line.harmonics.len() as f64));
        add(SignKind::Sidebands, Some(f64::from(line.sidebands.count)));
    }
    add(SignKind::LevelRatio, event.anomaly.level_ratio);
    add(SignKind::Kurtosis, event.time_domain.kurtosis);
    add(SignKind::Velocity, event.time_domain.velocity_rms_mm_s);
    add(SignKind::Stage, Some(f64::from(diagnosis.fault_stage)));
    let rapid = diagnosis.degradation.speed == DegradationSpeed::Rapid;
    add(SignKind::Acceleration, Some(f64::from(u8::from(rapid))));
    signs
}

/// The signs that a clause states with a figure.
pub(super) fn of_clause(clause: &str) -> Vec<Measured> {
    let has = |words: &[&str]| words.iter().any(|word| clause.contains(word));
    let mut signs = Vec::new();
    let is_floor = has(&["바닥", "전체 수준", "floor"]);
    if !is_floor && has(&["결함선", "BPFO", "BPFI", "BSF", "FTF", "결함 주파수", "line"]) {
        signs.extend(before_unit(clause, &["dB"]).map(|value| (SignKind::LineSnr, value)));
    }
    if has(&["고조파", "harmonic"]) {
        let count = after_word(clause, &["고조파"]).or_else(|| before_unit(clause, &[" harmonic"]));
        signs.extend(
            count.filter(|_| !clause.contains("배 고조파")).map(|n| (SignKind::Harmonics, n)),
        );
    }
    if has(&["측대파", "sideband"]) {
        signs.extend(pairs(clause).map(|pairs| (SignKind::Sidebands, 2.0 * pairs)));
    }
    if has(&["실효값", "RMS", "수준이"]) {
        signs.extend(before_unit(clause, &["배", " times"]).map(|n| (SignKind::LevelRatio, n)));
    }
    if has(&["첨도", "urtosis"]) && !has(&["–", "~", "사이"]) {
        let fallen = clause.rfind("에서").and_then(|at| numbers(&clause[at..]).next());
        let value = fallen.or_else(|| after_word(clause, &["첨도", "urtosis"]));
        signs.extend(value.map(|value| (SignKind::Kurtosis, value)));
    }
    signs.extend(before_unit(clause, &["mm/s"]).map(|value| (SignKind::Velocity, value)));
    signs.extend(before_unit(clause, &["단계"]).map(|value| (SignKind::Stage, value)));
    signs.extend(after_word(clause, &["stage "]).map(|value| (SignKind::Stage, value)));
    if has(&["가속 열화", "가속으로", "급속", "accelerat"]) {
        signs.push((SignKind::Acceleration, 1.0));
    } else if has(&["추세는 안정", "거의 일정", "stable trend", "hardly changed"]) {
        signs.push((SignKind::Acceleration, 0.0));
    }
    signs
}

/// The numbers of a text, in their order.
pub(super) fn numbers(text: &str) -> impl Iterator<Item = f64> + '_ {
    text.split(|c: char| !(c.is_ascii_digit() || c == '.'))
        .map(|part| part.trim_matches('.'))
        .filter_map(|part| part.parse::<f64>().ok())
        .filter(|number| number.is_finite())
}

/// The number right before the first of these units that has one.
pub(super) fn before_unit(text: &str, units: &[&str]) -> Option<f64> {
    units.iter().find_map(|unit| {
        text.match_indices(unit).find_map(|(at, _)| {
            let head = text[..at].trim_end();
            let from = head
                .rfind(|c: char| !(c.is_ascii_digit() || c == '.'))
                .map_or(0, |at| at + head[at..].chars().next().map_or(1, char::len_utf8));
            head[from..].trim_matches('.').parse().ok()
        })
    })
}

/// The first number after one of these words, with at most a few letters between.
fn after_word(text: &str, words: &[&str]) -> Option<f64> {
    words.iter().find_map(|word| {
        let at = text.find(word)? + word.len();
        let tail: String = text[at..].chars().take(10).collect();
        let begin = tail.find(|c: char| c.is_ascii_digit())?;
        numbers(&tail[begin..]).next()
    })
}

/// A number of pairs, in digits or words.
fn pairs(clause: &str) -> Option<f64> {
    let words = [
        ("한 쌍", 1.0),
        ("두 쌍", 2.0),
        ("세 쌍", 3.0),
        ("네 쌍", 4.0),
        ("다섯 쌍", 5.0),
        ("one pair", 1.0),
        ("two pairs", 2.0),
        ("three pairs", 3.0),
        ("four pairs", 4.0),
    ];
    let said = words.into_iter().find(|(word, _)| clause.contains(word)).map(|(_, pairs)| pairs);
    said.or_else(|| before_unit(clause, &["쌍", " pair"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_with_what_they_are() {
        use SignKind::{Harmonics, Kurtosis, LevelRatio, LineSnr, Sidebands, Stage, Velocity};
        let read = |text: &str| of_clause(text);
        assert_eq!(read("BPFI 결함선 10 dB"), [(LineSnr, 10.0)]);
        assert_eq!(read("좌우 측대파 한 쌍"), [(Sidebands, 2.0)]);
        assert_eq!(read("측대파가 네 쌍으로 늘고 BPFI보다 커졌다"), [(Sidebands, 8.0)]);
        assert_eq!(read("고조파 3개"), [(Harmonics, 3.0)]);
        assert_eq!(read("첨도는 7.9에서 4.2로 하락"), [(Kurtosis, 4.2)]);
        assert_eq!(read("첨도 3.4–6.1로 불규칙"), []);
        assert_eq!(read("실효값 1.7배"), [(LevelRatio, 1.7)]);
        assert_eq!(read("진동속도 2.7 mm/s(B구역 상단)"), [(Velocity, 2.7)]);
        assert_eq!(read("포락선 바닥 +9 dB"), []);
        assert_eq!(read("2단계"), [(Stage, 2.0)]);
    }
}
