//! The first thought in words: what was found, what it was compared with, and what is wrong with a
//! signal.

use pdm_shared::event::{IsoZone, OpenDamage, QualityFlag};
use pdm_shared::fault::Fault;
use pdm_shared::text::Text;

use super::{Finding, in_limited_zone, is_learning, is_severe};
use crate::case::Case;
use crate::rules::Rules;
use crate::unsettled::OpenReason;
use crate::velocity::zone_words;
use crate::wording::{element, figure, frequency};

pub(super) fn conclusion(
    case: &Case<'_>,
    finding: Finding,
    (fault, is_certain): (Option<Fault>, bool),
) -> Text {
    match (finding, fault) {
        (Finding::CannotJudge, _) => Text::new("판정 불가", "Cannot be judged"),
        (Finding::Normal | Finding::Open, _) => nothing_found(case),
        (Finding::Anomalous, Some(fault)) => named(case, fault, "이상 감지.", "Anomaly."),
        (Finding::Anomalous, None) => Text::new(
            "이상 감지. 결함 주파수로 부위를 특정할 수 없음",
            "Anomaly; no defect frequency names the element",
        ),
        (Finding::Single, Some(fault)) if is_certain => named(
            case,
            fault,
            "비교할 이력은 없으나 결함선이 뚜렷함.",
            "No history to compare with, but the defect line is plain.",
        ),
        (Finding::Single, Some(fault)) => named(
            case,
            fault,
            "비교할 이력이 없는 한 번의 측정이며 결함이 의심됨.",
            "One measurement without a history shows signs of a defect.",
        ),
        (Finding::Suspected | Finding::Confirmed, Some(fault)) => {
            let (ko, en) = if finding == Finding::Confirmed {
                (
                    "자동 이상 감지는 없으나 특징량의 결함 징후가 지속됨.",
                    "No anomaly flag, but the features keep showing a defect.",
                )
            } else {
                (
                    "자동 이상 감지는 없으나 특징량에 결함 징후가 있어 재확인 필요.",
                    "No anomaly flag, but the features hint at a defect: to be confirmed.",
                )
            };
            named(case, fault, ko, en)
        }
        (Finding::Single, None) => {
            Text::new("비교할 이력이 없는 측정", "No history to compare with")
        }
        (Finding::Suspected, None) => Text::new(
            format!("이상 미감지이나 {}. 반복 측정으로 확인 필요", sign(case).ko),
            format!("No anomaly flag, but {}: to be confirmed by further windows", sign(case).en),
        ),
        (Finding::Confirmed, None) => Text::new(
            "자동 이상 감지는 없으나 특징량의 이상이 지속됨",
            "No anomaly flag, but the features stay out of the ordinary",
        ),
    }
}

/// A certain name and a level far above every normal one in one window.
pub(super) fn leapt(case: &Case<'_>, fault: Option<Fault>) -> Text {
    let now = figure(case.event.time_domain.rms_g.unwrap_or_default());
    let normal = case.before().and_then(|before| before.most_normal_rms_g);
    let normal = figure(normal.unwrap_or_default());
    let level = Text::new(
        format!("가속도 실효값 {now} g는 정상 판정 시의 최고값 {normal} g를 크게 넘음."),
        format!("The level of {now} g is far above the highest normal one of {normal} g."),
    );
    fault.map_or_else(|| level.clone(), |fault| named(case, fault, &level.ko, &level.en))
}

/// Says that nothing was found, by what it was compared with.
fn nothing_found(case: &Case<'_>) -> Text {
    if is_learning(case) {
        Text::new(
            "뚜렷한 결함선 없음. 기준선이 없어 수준은 비교하지 않음",
            "No defect line stands out; there is no baseline to compare the level with",
        )
    } else if is_found_state(case) {
        Text::new(
            "이상 미감지. 수준이 한 번에 변한 뒤의 운전 상태 기준과 일치: 부하·회전속도·공정이나 센서의 변경인지 확인",
            "No anomaly; the features agree with the level to which they changed at once: check \
             that load, speed, process or the sensor explains it",
        )
    } else {
        Text::new(
            "이상 미감지. 특징량 교차 확인 결과도 정상",
            "No anomaly; the features agree with their baseline",
        )
    }
}

/// Whether the baseline that applies is that of an operating state which no key announced: the edge
/// marks those that it found by a step of the levels with a number behind `~`.
fn is_found_state(case: &Case<'_>) -> bool {
    let number = case.event.operating.state.rsplit_once('~').map(|(_, number)| number);
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// Returns the sign that is out of the ordinary in a window without a name.
fn sign(case: &Case<'_>) -> Text {
    if case.zone().is_some_and(|zone| zone >= IsoZone::C) {
        return zone_words(case);
    }
    if case.has_spikes_of_cable() {
        return Text::new(
            "베어링 충격으로 보기에는 너무 짧거나 드문 스파이크가 있어 센서·케이블 접촉 또는 공정의 단발 충격이 의심됨",
            "there are spikes too short or too rare for a bearing: a contact of sensor or cable, \
             or single strokes of the process",
        );
    }
    Text::new("충격성 신호가 나타남", "the signal is impulsive")
}

/// The only recording, whose velocity or impacts ask for a check of the machine.
pub(super) fn of_machine(case: &Case<'_>, rules: &Rules) -> Text {
    if is_severe(case, rules) {
        let zone = zone_words(case);
        return Text::new(
            format!("비교할 이력은 없으나 큰 충격이 나타나고 {}", zone.ko),
            format!("No history to compare with, but impacts are heavy, and {}", zone.en),
        );
    }
    if in_limited_zone(case, rules) {
        let zone = zone_words(case);
        return Text::new(
            format!("비교할 이력은 없으나 {}", zone.ko),
            format!("No history to compare with, but {}", zone.en),
        );
    }
    Text::new(
        "비교할 이력은 없으나 정상 설비에서 볼 수 없는 큰 충격이 나타남. 부위는 미확정",
        "No history to compare with, but the impacts are heavier than any sound machine shows; the \
         element is not named",
    )
}

/// The anomaly flag of the windows before, beside a window that is as usual.
pub(super) fn flag_outlasts() -> Text {
    Text::new(
        "이전 측정의 이상 감지가 아직 해제되지 않았으나 이번 측정은 평소 수준이며 결함선도 없음",
        "The anomaly flag of the windows before still stands; this window is at its usual level \
         and shows no defect line",
    )
}

/// The conclusion with what the gateway leaves open.
pub(super) fn with_reason(reason: Option<OpenReason>, case: &Case<'_>, first: Text) -> Text {
    let Some(reason) = reason else { return first };
    let why = reason.why(case);
    Text::new(format!("{}. {}", first.ko, why.ko), format!("{}; {}", first.en, why.en))
}

/// The conclusion with the two elements that damage without a name may be of.
pub(super) fn with_open(open: Option<OpenDamage>, first: Text) -> Text {
    let Some(open) = open else { return first };
    let likely = likely_elements(open);
    Text::new(
        format!("{}. 정상 베어링보다 높은 결함선, 부위 미확정({})", first.ko, likely.ko),
        format!(
            "{}. Defect lines above those of sound bearings, of a part that cannot be told yet \
             ({})",
            first.en, likely.en
        ),
    )
}

/// The two elements, the likelier one first.
pub(crate) fn likely_elements(open: OpenDamage) -> Text {
    let (first, second) = (element(open.most_likely), element(open.or_else));
    Text::new(
        format!("후보: {}, {}", first.ko, second.ko),
        format!("candidates: {}, {}", first.en, second.en),
    )
}

/// The conclusion with a second element whose lines stand beside those of the first.
pub(super) fn with_second(case: &Case<'_>, fault: Option<Fault>, first: Text) -> Text {
    let second = case.event.frequency_domain.second_fault.filter(|_| fault.is_some());
    let Some(second) = second else { return first };
    let name = element(second.fault);
    Text::new(
        format!("{}. {} 결함선도 함께 나타남", first.ko, name.ko),
        format!("{}. Lines of the {} stand beside it", first.en, name.en),
    )
}

fn named(case: &Case<'_>, fault: Fault, ko: &str, en: &str) -> Text {
    let name = element(fault);
    let line = frequency(fault);
    match case.event.frequency_domain.line(fault).snr_db {
        Some(snr) => {
            let snr = figure(snr);
            Text::new(
                format!(
                    "{ko} {} 결함 주파수({line})가 지배적이며 노이즈 플로어보다 {snr} dB 높음",
                    name.ko
                ),
                format!(
                    "{en} The {} frequency ({line}) dominates, {snr} dB above the floor",
                    name.en
                ),
            )
        }
        None => Text::new(
            format!("{ko} {} 결함 주파수({line})가 지배적임", name.ko),
            format!("{en} The {} frequency ({line}) dominates", name.en),
        ),
    }
}

/// The faults of a signal, in words.
pub fn flags(flags: &[QualityFlag]) -> Text {
    if flags.is_empty() {
        return Text::new("원인 미상", "cause unknown");
    }
    let words: Vec<Text> = flags.iter().map(|flag| flag_word(*flag)).collect();
    let list = |pick: fn(&Text) -> &str| words.iter().map(pick).collect::<Vec<_>>().join(", ");
    Text::new(list(|word| &word.ko), list(|word| &word.en))
}

fn flag_word(flag: QualityFlag) -> Text {
    let (ko, en) = match flag {
        QualityFlag::NotFinite => ("유효하지 않은 값", "values that are no numbers"),
        QualityFlag::Clipping => ("신호 포화", "clipping"),
        QualityFlag::FlatLine => ("신호 변화 없음(고정값)", "flat line"),
        QualityFlag::DropOut => (
            "신호 누락 또는 분해능 부족(같은 값이 이어짐)",
            "stretches of identical samples: drop-out or too coarse a resolution",
        ),
        QualityFlag::DcDrift => ("영점 이동", "DC drift"),
        QualityFlag::SkiSlope => ("스키 슬로프, 센서 취부 불량 의심", "ski slope, loose mount"),
        QualityFlag::WrongRate => ("샘플링 속도 불일치", "wrong sampling rate"),
        QualityFlag::MachineOff => ("설비 정지", "machine off"),
        QualityFlag::TooShort => ("측정 길이 부족", "record too short"),
        QualityFlag::Implausible => {
            ("비현실적 값(단위·배율 확인)", "implausible levels: unit or scale")
        }
    };
    Text::new(ko, en)
}
