//! The subject of a series: a measuring station, or a bearing. The domain gives the words, the
//! units and the advice.

use pdm_shared::feature::{Feature, FeatureKind};
use pdm_shared::text::{Language, Text};

use super::analysis::{Analysis, Finding};

/// Strength at which the edge calls a deviation a spike and a change of level a drift (`pdm-edge`,
/// series/shape): strengths of the two are compared in multiples of these.
const SPIKE: f64 = 8.0;
const DRIFT: f64 = 3.2;

/// The subject of a series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SeriesDomain {
    /// A measuring station.
    Station,
    /// A bearing, by its full name `site/equipment/bearing`.
    Bearing(String),
}

/// A kind of finding, told with its direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FindingKind {
    Spike,
    Drop,
    Drift,
    Dropout,
}

/// The kind of a finding: a deviation downwards is no spike.
pub(super) fn kind_of(finding: &Finding) -> FindingKind {
    match finding.kind.as_str() {
        "spike" if finding.amount.is_some_and(|amount| amount < 0.0) => FindingKind::Drop,
        "spike" => FindingKind::Spike,
        "drift" => FindingKind::Drift,
        _ => FindingKind::Dropout,
    }
}

/// The finding that the verdict is named after: a drop-out where the edge says so, else the
/// strongest one in multiples of what makes one of its kind.
pub(super) fn leading(analysis: &Analysis) -> Option<FindingKind> {
    let times = |finding: &Finding| match kind_of(finding) {
        FindingKind::Spike | FindingKind::Drop => finding.strength / SPIKE,
        FindingKind::Drift => finding.strength / DRIFT,
        FindingKind::Dropout => 0.0,
    };
    let strongest = analysis.findings.iter().max_by(|a, b| times(a).total_cmp(&times(b)));
    match analysis.verdict.as_str() {
        "dropout" => Some(FindingKind::Dropout),
        "spike" | "drift" => strongest.map(kind_of),
        _ => None,
    }
}

impl SeriesDomain {
    /// Returns the subject of the series in words.
    pub(super) fn subject(&self, station_id: i64, language: Language) -> String {
        match (self, language) {
            (Self::Station, Language::Ko) => format!("측정소 {station_id}"),
            (Self::Station, Language::En) => format!("station {station_id}"),
            (Self::Bearing(name), Language::Ko) => format!("베어링 {name}"),
            (Self::Bearing(name), Language::En) => format!("bearing {name}"),
        }
    }

    /// The element with its name for people: `가속도 실효값 (rms_g)`.
    pub(super) fn element(&self, element: &str, language: Language) -> String {
        match self {
            Self::Station => element.to_owned(),
            Self::Bearing(_) => {
                let feature = Feature::of_key(element);
                if matches!(feature, Feature::Other(_)) {
                    return element.to_owned();
                }
                format!("{} ({element})", feature.name().in_language(language))
            }
        }
    }

    /// The unit of an element, where the domain gives it.
    pub fn unit(&self, element: &str) -> Option<&'static str> {
        match self {
            Self::Station => None,
            Self::Bearing(_) => {
                Some(Feature::of_key(element).unit()).filter(|unit| !unit.is_empty())
            }
        }
    }

    /// Returns the expert's advice for a kind of finding.
    pub(super) fn advice(&self, kind: FindingKind, element: &str) -> Text {
        match self {
            Self::Station => of_station(kind),
            Self::Bearing(_) => of_bearing(kind, Feature::of_key(element).kind()),
        }
    }
}

fn of_station(kind: FindingKind) -> Text {
    match kind {
        FindingKind::Spike => Text::new(
            "같은 시각 이웃 측정소와 점검 기록을 본다. 이웃도 올랐으면 실제 사건이고, 아니면 교정·전원·시료관을 점검한다.",
            "Look at neighbouring stations and at the log of that time. If they rose too, the \
             event is real; otherwise check calibration, power and the sample line.",
        ),
        FindingKind::Drop => Text::new(
            "같은 시각 이웃 측정소와 점검 기록을 본다. 이웃은 그대로이면 시료관 누설, 전원, 교정 중이었는지를 점검한다.",
            "Look at neighbouring stations and at the log of that time. If they did not fall, \
             check the sample line for a leak, the power, and whether it was being calibrated.",
        ),
        FindingKind::Drift => Text::new(
            "영점·스팬 교정을 확인하고, 필터와 센서의 수명을 본다. 교정하기 전의 값에는 표시를 한다.",
            "Check zero and span, then the age of filter and sensor. Mark the values since the \
             drift began.",
        ),
        FindingKind::Dropout => Text::new(
            "통신과 전원, 자료 수집기를 점검한다. 끊긴 동안의 값은 쓰지 않는다.",
            "Check communication, power and the logger. Do not use the values of that time.",
        ),
    }
}

fn of_bearing(kind: FindingKind, feature: FeatureKind) -> Text {
    match (kind, feature) {
        (FindingKind::Spike, FeatureKind::LowFrequency | FeatureKind::Level) => Text::new(
            "그 시각의 운전 기록(기동, 부하, 회전수)을 본다. 운전 변화가 없었으면 불평형·정렬·풀림과 배관 하중을 점검하고 다시 측정한다.",
            "Look at the operating log of that time (start, load, speed). Without a change of \
             operation check unbalance, alignment, looseness and pipe strain, and measure again.",
        ),
        (FindingKind::Spike, _) => Text::new(
            "그 시각의 운전 기록과 센서 고정을 확인하고 다시 측정한다. 거듭되면 포락선 스펙트럼에서 결함 주파수를 보고 윤활을 점검한다.",
            "Check the operating log of that time and the sensor's mount, and measure again. If it \
             comes back, look for defect frequencies in the envelope spectrum and check the \
             lubrication.",
        ),
        (FindingKind::Drop, _) => Text::new(
            "정지나 부하 감소가 있었는지 운전 기록을 보고, 센서 고정과 케이블을 점검한다. 값이 떨어진 것은 손상이 나았다는 뜻이 아니다.",
            "See in the operating log whether the machine stopped or ran at less load, and check \
             the sensor's mount and cable. A fall does not mean that damage has healed.",
        ),
        (FindingKind::Drift, FeatureKind::Verdict | FeatureKind::LinePlace) => Text::new(
            "판정 자체의 변화이다. 같은 기간의 진동속도와 결함선 크기를 함께 본다.",
            "The judgement itself has changed: look at the vibration velocity and the size of the \
             defect lines of the same time.",
        ),
        (FindingKind::Drift, _) => Text::new(
            "베어링의 수준이 계속 변하고 있다. 이 베어링의 판정과 잔여수명을 확인하고, 결함선·진동속도·온도·윤활을 점검해 교체 시기를 정한다.",
            "The bearing's level keeps changing. Look at its judgement and remaining life, check \
             defect lines, vibration velocity, temperature and lubrication, and plan its \
             replacement.",
        ),
        (FindingKind::Dropout, _) => Text::new(
            "게이트웨이의 통신, 센서와 케이블을 점검한다. 끊긴 동안 이 베어링은 감시되지 않았다.",
            "Check the gateway's communication, the sensor and its cable. The bearing was not \
             watched in that time.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Figures;

    fn finding(kind: &str, amount: f64, strength: f64) -> Finding {
        let at = "2026-11-05T13:00:00.000Z".to_owned();
        Finding { kind: kind.to_owned(), from: at.clone(), to: at, amount: Some(amount), strength }
    }

    fn analysis(verdict: &str, findings: Vec<Finding>) -> Analysis {
        Analysis {
            verdict: verdict.to_owned(),
            findings,
            figures: Figures {
                count: 300,
                missing: 0,
                median: Some(0.1),
                min: Some(0.07),
                max: Some(0.765),
            },
            trend: None,
            nearest: Vec::new(),
            figure_png_base64: String::new(),
        }
    }

    /// A bearing that dies was called a spike because one value stood out on its way.
    #[test]
    fn the_strongest_finding_gives_the_verdict() {
        let spikes_and_drift = vec![finding("spike", 0.05, 9.0), finding("drift", 0.7, 59.56)];
        assert_eq!(leading(&analysis("spike", spikes_and_drift)), Some(FindingKind::Drift));
        let weak_drift = vec![finding("spike", 0.05, 90.0), finding("drift", 0.7, 3.4)];
        assert_eq!(leading(&analysis("spike", weak_drift)), Some(FindingKind::Spike));
        assert_eq!(
            leading(&analysis("spike", vec![finding("spike", -0.0077, 12.0)])),
            Some(FindingKind::Drop)
        );
        assert_eq!(leading(&analysis("sound", Vec::new())), None);
    }

    #[test]
    fn a_bearing_gets_the_words_and_units_of_bearings() {
        let bearing = SeriesDomain::Bearing("ulsan-1/P-101/DE".to_owned());
        assert_eq!(bearing.unit("rms_g"), Some("g"));
        assert_eq!(bearing.unit("velocity_rms_mm_s"), Some("mm/s"));
        assert_eq!(bearing.unit("frequency_domain.bpfo.amplitude_g"), Some("g"));
        assert_eq!(bearing.unit("kurtosis"), None);
        for kind in
            [FindingKind::Spike, FindingKind::Drop, FindingKind::Drift, FindingKind::Dropout]
        {
            for element in ["rms_g", "kurtosis", "bpfo.snr_db", "confidence", "other"] {
                let advice = bearing.advice(kind, element);
                for foreign in
                    ["측정소", "시료", "교정", "station", "sample line", "span", "filter"]
                {
                    assert!(
                        !advice.ko.contains(foreign) && !advice.en.contains(foreign),
                        "{advice:?}"
                    );
                }
            }
        }
    }
}
