//! Words that documents and terminals share: titles of thoughts, levels of uncertainty, names of
//! the event's features, and times for people.

use pdm_expert::wording::figure;
use pdm_shared::diagnosis::{Evidence, Reasoner, ThoughtTitle, UncertaintyLevel};
use pdm_shared::event::QualityFlag;
use pdm_shared::feature::Feature;
use pdm_shared::text::Text;

/// The title of a thought.
pub fn thought(title: ThoughtTitle) -> Text {
    match title {
        ThoughtTitle::InitialScreening => Text::new("초기 판별", "Initial screening"),
        ThoughtTitle::PfStage => Text::new("진행 단계", "P-F stage"),
        ThoughtTitle::Degradation => Text::new("열화 속도", "Degradation"),
        ThoughtTitle::Rul => Text::new("잔여수명", "Remaining life"),
        ThoughtTitle::OverallRisk => Text::new("종합 위험도", "Overall risk"),
    }
}

/// The level of uncertainty as a word.
pub fn uncertainty(level: UncertaintyLevel) -> Text {
    match level {
        UncertaintyLevel::Low => Text::new("낮음", "low"),
        UncertaintyLevel::Medium => Text::new("중간", "medium"),
        UncertaintyLevel::High => Text::new("높음", "high"),
    }
}

/// The reasoner's name.
pub(crate) fn reasoner(reasoner: Reasoner) -> Text {
    match reasoner {
        Reasoner::Expert => Text::new("전문가 규칙", "expert rules"),
        Reasoner::Llm => Text::new(
            "언어 모델(전문가 규칙의 하한 적용)",
            "language model, held to the expert's floor",
        ),
    }
}

/// The quality flag as a phrase.
pub(crate) fn quality(flag: QualityFlag) -> Text {
    match flag {
        QualityFlag::NotFinite => {
            Text::new("수치가 아닌 표본이 있음", "samples that are no numbers")
        }
        QualityFlag::Clipping => {
            Text::new("신호가 측정 범위에서 잘림(클리핑)", "clipped at the converter's limits")
        }
        QualityFlag::FlatLine => Text::new(
            "신호가 거의 움직이지 않음: 케이블·전원 확인",
            "hardly any movement: check cable and power",
        ),
        QualityFlag::DropOut => Text::new(
            "같은 값이 이어지는 구간이 있음: 신호 끊김 또는 분해능 부족",
            "stretches of identical samples: drop-out or too coarse a resolution",
        ),
        QualityFlag::DcDrift => Text::new("직류 성분이 흐름", "the mean drifts"),
        QualityFlag::SkiSlope => {
            Text::new("저주파 경사: 센서 취부 확인", "ski slope: check the sensor's mounting")
        }
        QualityFlag::WrongRate => {
            Text::new("표본 수가 표본화율과 맞지 않음", "sample count does not fit the rate")
        }
        QualityFlag::MachineOff => Text::new("설비 정지 상태", "the machine stands"),
        QualityFlag::TooShort => Text::new("측정 구간이 짧음", "the window is short"),
        QualityFlag::Implausible => Text::new(
            "비현실적 값: 단위·환산 계수 확인",
            "levels that no bearing reaches: check unit and scale",
        ),
    }
}

/// The name of the feature at this path or with this key; `None` if it has none.
pub fn feature(path: &str) -> Option<Text> {
    let (ko, en) = match path {
        "anomaly.score" => ("이상 점수", "Anomaly score"),
        "anomaly_detected" => ("이상 감지", "Anomaly flag"),
        "frequency_domain.confidence" => ("결함 판별 신뢰도", "Confidence of the name"),
        "frequency_domain.damaged.most_likely" => ("손상 부위 후보 1", "Candidate part 1"),
        "frequency_domain.damaged.or_else" => ("손상 부위 후보 2", "Candidate part 2"),
        "frequency_domain.dominant_fault" => ("지배적 결함", "Dominant fault"),
        "operating.shaft_speed_rpm" => ("회전수", "Shaft speed"),
        "trend.slope" => ("추세 기울기", "Slope of the trend"),
        "trend.trend_direction" => ("추세 방향", "Direction of the trend"),
        "trend.acceleration_detected" => ("열화 가속", "Acceleration"),
        "rul.hours" => ("잔여수명 중앙값", "Remaining life, median"),
        "rul.ci_low_hours" => ("잔여수명 하한", "Remaining life, lower bound"),
        "rul.ci_high_hours" => ("잔여수명 상한", "Remaining life, upper bound"),
        "rul.confidence" => ("잔여수명 구간의 신뢰수준", "Coverage of the interval"),
        "rul.unknown" => ("잔여수명 미추정 사유", "Why no remaining life"),
        "anomaly.contributors" => ("이상에 기여한 특징량", "What carries the anomaly"),
        "config.lead_time_h" => ("교체 리드타임", "Lead time of a replacement"),
        path if path.starts_with("config.risk") => ("위험도 행렬", "Risk matrix"),
        path if path.starts_with("memory.") => ("이전 판정", "Earlier judgement"),
        path if path.ends_with(".iso_zone") => ("ISO 20816-1 구역", "ISO 20816-1 zone"),
        path => return Feature::at_path(path).map(|feature| feature.name()),
    };
    Some(Text::new(ko, en))
}

/// Returns why a look-up has no answer, in words for people. The text of another program stays as
/// it is.
pub fn no_answer(failure: &str) -> Text {
    let known = [
        (
            "not asked: the look-ups of this judgement have taken all their time",
            "조회 시간을 모두 써서 묻지 않음",
        ),
        ("not asked: the tool was away a moment ago", "조금 전 도구가 응답하지 않아 묻지 않음"),
        (
            "refused: no more calls are left in this run",
            "이 판정의 조회 횟수를 모두 써서 묻지 않음",
        ),
    ];
    let told = known.into_iter().find(|(en, _)| *en == failure).map(|(_, ko)| ko.to_owned());
    let late =
        failure.strip_prefix("no answer within ").map(|time| format!("{time} 안에 응답이 없음"));
    let ko = told.or(late).unwrap_or_else(|| format!("도구의 오류 ({failure})"));
    Text::new(ko, failure)
}

/// Returns the word of a value of the gateway that is no number; `None` for a text of another kind.
pub fn word_of_value(value: &str) -> Option<Text> {
    let (ko, en) = match value {
        "rising" => ("상승", "rising"),
        "falling" => ("하강", "falling"),
        "stable" => ("안정", "stable"),
        "unknown" => ("알 수 없음", "unknown"),
        _ => return None,
    };
    Some(Text::new(ko, en))
}

/// The names of features in evidence that lists their keys.
pub fn names_of_features(fact: &Evidence) -> Option<Text> {
    let keys = fact.value.as_array().filter(|_| fact.path == "anomaly.contributors")?;
    let names: Vec<Text> =
        keys.iter().filter_map(|key| Some(Feature::of_key(key.as_str()?).name())).collect();
    let list = |pick: fn(&Text) -> &str| names.iter().map(pick).collect::<Vec<_>>().join(", ");
    Some(Text::new(list(|name| &name.ko), list(|name| &name.en)))
}

/// The unit of the value at a path or with a key; empty for a ratio.
pub fn unit(path: &str) -> &'static str {
    let by_ending = [("_hz", "Hz"), ("_rpm", "rpm"), ("hours", "h"), ("_h", "h"), ("_g", "g")];
    let of_path = || by_ending.into_iter().find(|(ending, _)| path.ends_with(ending));
    Feature::at_path(path)
        .map_or_else(|| of_path().map_or("", |(_, unit)| unit), |feature| feature.unit())
}

/// A value with its unit: three digits, a frequency to a tenth of a hertz.
pub fn quantity(value: f64, unit: &str) -> String {
    let number = match unit {
        "Hz" => format!("{value:.1}"),
        _ if value < 0.0 => format!("-{}", figure(-value)),
        _ => figure(value),
    };
    format!("{number} {unit}").trim_end().to_owned()
}

/// Whether a text has Hangul, which readers of English cannot read.
pub(crate) fn is_korean(text: &str) -> bool {
    text.chars().any(|letter| ('가'..='힣').contains(&letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_named_by_their_path_with_their_line_and_unit() {
        let told = feature("frequency_domain.bpfo.snr_db").expect("known");
        assert_eq!(told.en, "BPFO: Line above the floor");
        assert_eq!(feature("time_domain.kurtosis").expect("known").ko, "첨도");
        assert_eq!(feature("nothing.known"), None);
        assert_eq!(
            (unit("velocity_rms_mm_s"), unit("bpfo.snr_db"), unit("kurtosis")),
            ("mm/s", "dB", "")
        );
    }
}
