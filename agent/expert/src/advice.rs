//! The recommendation: one text in Korean and English, by risk, finding and fault.
//!
//! A recommendation states what to do and by when; it promises no date of failure.

use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::event::OpenDamage;
use pdm_shared::fault::Fault;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;

use crate::pf_stage::{MachinePart, Staging, UnnamedSign};
use crate::rul::Remaining;
use crate::rules::Rules;
use crate::screening::{Finding, Screening, likely_elements};
use crate::unsettled::OpenReason;
use crate::wording::{element, hours, joined};

/// The path of the lead time among the facts of a judgement.
pub(crate) const LEAD_TIME: &str = "config.lead_time_h";

/// The risk, stage and fault that a diagnosis shows: those of the bearing, not of one window.
#[derive(Debug, Clone, Copy)]
pub struct ShownState {
    /// The risk.
    pub risk: RiskLevel,
    /// The stage.
    pub stage: u8,
    /// The element at fault.
    pub fault: Option<Fault>,
    /// The window is about as usual, and a former judgement holds the risk.
    pub is_back: bool,
}

impl ShownState {
    /// The signs to find the cause of, where no element is named and none may be.
    fn unnamed(self, screening: &Screening, staging: &Staging) -> Option<UnnamedSign> {
        let is_asked = self.risk > RiskLevel::Watch
            || self.risk == RiskLevel::Watch && staging.unnamed.is_some();
        let is_unnamed = self.fault.is_none() && screening.open.is_none();
        let sign = staging.unnamed.unwrap_or(UnnamedSign::Impulsive);
        (is_asked && is_unnamed).then_some(sign)
    }

    /// The part of the machine to check, where nothing that stands speaks of the bearing.
    fn machine(self, staging: &Staging) -> Option<MachinePart> {
        staging.machine.filter(|_| self.fault.is_none())
    }
}

/// The recommendation for a bearing that is shown as `shown`.
///
/// Where nothing speaks of the bearing, the advice is a check of the machine and no order of a
/// bearing.
pub fn recommend(
    shown: ShownState,
    screening: &Screening,
    staging: &Staging,
    remaining: &Remaining,
    rules: &Rules,
) -> Text {
    if screening.finding == Finding::CannotJudge {
        return cannot_judge(shown.risk);
    }
    if shown.is_back {
        return back_to_usual(shown.risk);
    }
    if let Some(part) = shown.machine(staging) {
        return check_of_machine(shown.risk, part);
    }
    if let Some(sign) = shown.unnamed(screening, staging) {
        return inspect(shown.risk, sign, remaining, rules);
    }
    let part = shown.fault.map_or_else(
        || Text::new("베어링", "bearing"),
        |fault| {
            let name = element(fault);
            let second = screening.second.filter(|second| *second != fault).map(element);
            let (ko, en) = second.map_or_else(
                || (String::new(), String::new()),
                |second| {
                    (format!(", {}도 의심", second.ko), format!(", perhaps {} too", second.en))
                },
            );
            Text::new(
                format!("베어링({} 결함{ko})", name.ko),
                format!("bearing ({} fault{en})", name.en),
            )
        },
    );
    let is_single = screening.finding == Finding::Single;
    match shown.risk {
        RiskLevel::Normal if screening.finding == Finding::Suspected => suspected(screening),
        RiskLevel::Normal => screening.reason.map_or_else(keep_running, settle),
        RiskLevel::Watch if is_single => {
            screening.open.map_or_else(|| single(&part, staging), open_part)
        }
        RiskLevel::Watch => watch(&part),
        RiskLevel::Warning if is_single || screening.has_leapt => at_once(&part, staging),
        RiskLevel::Warning => warning(&part, remaining, rules),
        RiskLevel::Critical => critical(&part),
    }
}

/// Returns the advice on confirming one recording without a history.
fn second_measurement(part: &Text) -> Text {
    Text::new(
        format!(
            "{} 여부를 재측정으로 확인: 센서 취부를 점검한 뒤 같은 측정점에서 같은 회전수·부하로 측정. 예비품 재고를 점검",
            part.ko
        ),
        format!(
            "Confirm by a second measurement that the {} is damaged: check the sensor's mounting, \
             then measure at the same point, speed and load. Check that a spare is in stock",
            part.en
        ),
    )
}

/// The advice on one recording without a history whose velocity may be in a bad zone as well.
fn single(part: &Text, staging: &Staging) -> Text {
    let second = second_measurement(part);
    if staging.is_fast { joined(&[with_stop(second), cause_of_velocity()]) } else { second }
}

/// The advice on a sign that cannot wait for further windows, and that nothing has confirmed.
fn at_once(part: &Text, staging: &Staging) -> Text {
    let first = Text::new("즉시 재측정할 것.", "Measure again at once.");
    let told = joined(&[first, with_stop(single(part, staging))]);
    let then = Text::new(
        "확인되면 부하를 낮추고 교체를 준비.",
        "If it is confirmed, reduce the load and prepare the replacement.",
    );
    joined(&[told, then, if_worse()])
}

/// A sentence that another one follows.
fn with_stop(text: Text) -> Text {
    let closed = |text: String| if text.ends_with('.') { text } else { text + "." };
    Text::new(closed(text.ko), closed(text.en))
}

/// What else makes a velocity that one recording shows beside the lines of a bearing.
fn cause_of_velocity() -> Text {
    Text::new(
        "진동속도의 원인(불평형·축정렬·이완, 전원 주파수의 배수 성분)도 함께 확인",
        "Find the cause of the velocity, too: balance, alignment, looseness, or a multiple of \
         the mains frequency",
    )
}

/// Returns the advice on damage whose element is open: the way to find it, and the work that fits
/// either element.
fn open_part(open: OpenDamage) -> Text {
    let likely = likely_elements(open);
    Text::new(
        format!(
            "정상 베어링보다 높은 결함선이 나타나며 부위 미확정({}). 센서 취부를 점검한 뒤 같은 측정점에서 같은 회전수·부하로 더 길게(이전의 두 배 이상) \
             재측정하고 실제 회전수를 함께 기록하여 확인. 인버터·기어 등 다른 원인도 점검하고, 부위와 무관하게 베어링 전체를 교체하므로 예비품 재고를 확인",
            likely.ko
        ),
        format!(
            "Defect lines stand above those of sound bearings, of a part that cannot be told yet \
             ({}). Confirm by a second measurement: check the sensor's mounting, then measure \
             longer (twice as long or more) at the same point, speed and load, and note the true \
             speed. Check other causes (drive, gears). Whichever part it is, the whole bearing is \
             replaced: check that a spare is in stock",
            likely.en
        ),
    )
}

fn keep_running() -> Text {
    Text::new("현 운전을 유지하고 정기 측정을 계속", "Keep running and keep measuring")
}

/// The advice on an anomaly that speaks of the machine and not of the bearing.
fn check_of_machine(risk: RiskLevel, part: MachinePart) -> Text {
    match (risk, part) {
        (RiskLevel::Normal, _) => keep_running(),
        (_, MachinePart::None) => back_to_usual(risk),
        (_, MachinePart::Striking) => find_impacts(risk),
        (_, MachinePart::Sensor) => check_of_sensor(risk),
        (RiskLevel::Watch, MachinePart::Rotor) => Text::new(
            "불평형·축정렬·체결 상태를 점검하고 측정 주기를 단축",
            "Check balance, alignment and tightness; measure more often",
        ),
        (RiskLevel::Watch, MachinePart::Whole) => Text::new(
            "부하·공정 변화와 체결 상태, 인접 설비의 영향을 점검하고 측정 주기를 단축",
            "Check load, process, fastening and neighbouring machines; measure more often",
        ),
        (RiskLevel::Warning, MachinePart::Rotor) => Text::new(
            "회전체(불평형·축정렬·이완) 정밀 점검을 계획하고 진동속도 구역을 재확인",
            "Plan a check of balance, alignment and looseness; confirm the velocity zone",
        ),
        (RiskLevel::Warning, MachinePart::Whole) => {
            let check = Text::new(
                "설비(부하·공정 변화, 이완, 인접 설비) 정밀 점검을 계획하고 베어링은 재측정으로 확인.",
                "Plan a check of the machine (load, process, looseness, neighbours); measure the \
                 bearing again.",
            );
            joined(&[check, if_worse()])
        }
        (RiskLevel::Critical, _) => Text::new(
            "안전하게 멈출 수 있는 가장 빠른 시점에 정지하고 설비(회전체·체결·베어링)를 점검. 그때까지 감속·부하 저감 운전하며 접근을 제한. 작업 전 LOTO \
             실시",
            "Stop as soon as it is safe and inspect the machine (rotor, fastening, bearing). Until \
             then reduce speed and load and keep people away. Lock out and tag out before work",
        ),
    }
}

/// The advice on heavy impacts that nothing names.
fn find_impacts(risk: RiskLevel) -> Text {
    let find = Text::new(
        "충격의 원인을 찾을 것: 회전속도와 베어링 형번 입력을 확인하고 이완·러빙·인접 설비를 점검한 뒤 같은 측정점에서 재측정.",
        "Find what strikes: check the speed and the bearing's designation, look for looseness, \
         rubbing or a neighbour that strikes, and measure again at the same point.",
    );
    let then = if risk >= RiskLevel::Warning {
        Text::new(
            "원인이 밝혀지지 않으면 가까운 시일에 정지하여 베어링을 점검. 이상음이나 급격한 온도 상승 시 즉시 정지",
            "Unless the cause is found, stop soon and inspect the bearing. Stop at once on unusual \
             noise or a quick rise of temperature",
        )
    } else {
        Text::new(
            "원인이 설비에 없으면 베어링을 점검",
            "If nothing of the machine explains it, inspect the bearing",
        )
    };
    joined(&[find, then])
}

/// Returns the advice on settling a sign that is not confirmed.
fn suspected(screening: &Screening) -> Text {
    if let Some(reason) = screening.reason {
        return reason.step();
    }
    if screening.has_spikes {
        return spikes();
    }
    if screening.fault.is_some() {
        return Text::new(
            "같은 측정점에서 재측정하여 확인",
            "Measure again at the same point to confirm",
        );
    }
    Text::new(
        "불평형·축정렬·이완·러빙 등 설비 상태와 센서 취부를 점검하고 같은 측정점에서 재측정하여 확인",
        "Check the machine (balance, alignment, looseness, rubbing) and the sensor's mounting, and \
         measure again at the same point to confirm",
    )
}

/// Returns the advice on spikes that no bearing makes.
fn spikes() -> Text {
    Text::new(
        "센서 취부·케이블·커넥터를 점검하고 공정의 단발 충격 시점을 피해 같은 측정점에서 재측정",
        "Check the sensor's mounting, cable and connector, and measure again at the same point \
         between the strokes of the process, if it has any",
    )
}

/// The advice where no fault can be named or excluded.
fn settle(reason: OpenReason) -> Text {
    if reason == OpenReason::NoWaveform { keep_running() } else { reason.step() }
}

/// The advice where the vibration is as usual again and a former judgement still stands.
fn back_to_usual(risk: RiskLevel) -> Text {
    let label = risk.label();
    Text::new(
        format!(
            "진동이 평소 수준으로 돌아옴. 교체·급유 등 정비를 했다면 기록하고 기준선을 다시 학습. 정비하지 않았다면 이전 위험도({})에 따른 조치는 계속 \
             유효하며, 센서 취부를 점검하고 재측정",
            label.ko
        ),
        format!(
            "The vibration is back at its usual level. If the bearing was replaced or greased, \
             record the work and have the baseline learnt anew. If nothing was done, what was \
             asked for at {} still stands: check the sensor's mounting and measure again",
            label.en
        ),
    )
}

/// The advice on signs of a bearing without a name: what else makes them is checked first, and a
/// bearing is replaced if the inspection finds damage.
fn inspect(risk: RiskLevel, sign: UnnamedSign, remaining: &Remaining, rules: &Rules) -> Text {
    let first = match sign {
        UnnamedSign::Broadband => Text::new(
            "윤활 상태(급유 직후와 수 시간 후 재측정)와 공정 소음(캐비테이션·유동)을 먼저 점검",
            "Check lubrication first (measure right after greasing and hours later) and noise of \
             the process (cavitation, flow)",
        ),
        UnnamedSign::Impulsive => Text::new(
            "센서 취부, 이완·러빙, 베어링 순으로 충격의 원인을 점검",
            "Find the cause of the impacts: the sensor's mounting, looseness or rubbing, the \
             bearing",
        ),
    };
    // a time to inspect in that is longer than the life would contradict it
    let lead_h = rules.lead_time.total_h();
    let is_short = remaining.assessment.hours.is_some_and(|taken| taken <= lead_h)
        || remaining.median_h.is_some_and(|median| median <= lead_h);
    let within = if is_short {
        Text::new("가능한 한 빨리", "as soon as possible")
    } else {
        let lead = hours(lead_h);
        Text::new(format!("{} 이내", lead.ko), format!("within {}", lead.en))
    };
    match risk {
        RiskLevel::Normal | RiskLevel::Watch => Text::new(
            format!("{}하고 측정 주기를 단축. 베어링 교체 여부는 점검 결과로 판단", first.ko),
            format!(
                "{}; measure more often. Whether a bearing is replaced depends on what is found",
                first.en
            ),
        ),
        RiskLevel::Warning => {
            let plan = Text::new(
                format!(
                    "{}. 진동이 낮아지지 않으면 {} 베어링을 점검하고 손상이 확인되면 교체하도록 예비품을 준비.",
                    first.ko, within.ko
                ),
                format!(
                    "{}. If the vibration does not fall, inspect the bearing {}, with a spare at \
                     hand in case damage is found.",
                    first.en, within.en
                ),
            );
            joined(&[plan, if_worse()])
        }
        RiskLevel::Critical => Text::new(
            format!(
                "안전하게 멈출 수 있는 가장 빠른 시점에 정지하고 점검: {}. 베어링은 손상이 확인되면 교체. 그때까지 감속·부하 저감 운전하며 접근을 제한. \
                 작업 전 LOTO 실시",
                first.ko
            ),
            format!(
                "Stop as soon as it is safe and inspect. {}. Replace the bearing if damage is \
                 found. Until then reduce speed and load and keep people away. Lock out and tag \
                 out before work",
                first.en
            ),
        ),
    }
}

/// The advice on a signal that a bad cable or contact makes.
fn check_of_sensor(risk: RiskLevel) -> Text {
    let check = Text::new(
        "센서 취부·케이블·커넥터를 점검한 뒤 재측정. 베어링에 대한 판단은 그 이후",
        "Check the sensor's mounting, cable and connector, then measure again before anything is \
         decided about the bearing",
    );
    if risk > RiskLevel::Watch { joined(&[still_stands(risk), check]) } else { check }
}

/// Says that a former judgement's advice is not withdrawn.
fn still_stands(risk: RiskLevel) -> Text {
    let label = risk.label();
    Text::new(
        format!("이전 위험도({})에 따른 조치는 계속 유효.", label.ko),
        format!("What was asked for at {} still stands.", label.en),
    )
}

fn cannot_judge(risk: RiskLevel) -> Text {
    let check = Text::new(
        "센서·케이블·취부 상태와 설비 가동 여부를 확인",
        "Check sensor, cable, mounting and whether the machine runs",
    );
    if risk == RiskLevel::Normal {
        return check;
    }
    joined(&[still_stands(risk), check])
}

fn watch(part: &Text) -> Text {
    Text::new(
        format!("{} 측정 주기를 단축해 추세를 확인하고 예비품 재고를 점검", part.ko),
        format!(
            "Measure more often at the {}, follow the trend, check that a spare is in stock",
            part.en
        ),
    )
}

/// Whether a judgement asks to hurry the parts of a replacement, since the remaining life may be
/// shorter than the time that it takes to arrange one.
pub fn hurries_parts(diagnosis: &Diagnosis) -> bool {
    let overall = diagnosis.thoughts.iter().flat_map(|thought| &thought.evidence);
    let lead_h = overall.filter(|fact| fact.path == LEAD_TIME).find_map(|fact| fact.value.as_f64());
    let taken_h = diagnosis.rul_assessment.hours;
    diagnosis.risk_level == RiskLevel::Warning
        && !diagnosis.is_of_machine()
        && taken_h.zip(lead_h).is_some_and(|(taken_h, lead_h)| taken_h <= lead_h)
}

fn warning(part: &Text, remaining: &Remaining, rules: &Rules) -> Text {
    let lead = rules.lead_time.total_h();
    let is_short = remaining.assessment.hours.is_some_and(|taken| taken <= lead)
        || remaining.median_h.is_some_and(|median| median <= lead);
    if is_short {
        // a time to plan in that is longer than the life would contradict it
        let hurry = Text::new(
            format!(
                "{} 교체 계획을 지금 수립하고 부품을 긴급 발주: 잔여수명이 교체 리드타임보다 짧을 수 있음. 부하 저감을 검토.",
                part.ko
            ),
            format!(
                "Plan the replacement of the {} now and expedite the parts: the remaining life may \
                 be shorter than the lead time. Consider de-rating.",
                part.en
            ),
        );
        return joined(&[hurry, if_worse()]);
    }
    let within = hours(lead);
    let plan = Text::new(
        format!("{} 이내에 {} 교체 일정을 확정하고 부품을 발주.", within.ko, part.ko),
        format!(
            "Plan the replacement of the {}: set its date within {} and order the parts.",
            part.en, within.en
        ),
    );
    joined(&[plan, if_worse()])
}

fn if_worse() -> Text {
    Text::new(
        "이상음이나 급격한 온도 상승 시 즉시 정지",
        "Stop at once on unusual noise or a quick rise of temperature",
    )
}

fn critical(part: &Text) -> Text {
    Text::new(
        format!(
            "안전하게 멈출 수 있는 가장 빠른 시점에 정지하고 {} 교체. 그때까지 감속·부하 저감 운전하며 접근을 제한. 작업 전 LOTO 실시",
            part.ko
        ),
        format!(
            "Stop as soon as it is safe and replace the {}. Until then reduce speed and load and \
             keep people away. Lock out and tag out before work",
            part.en
        ),
    )
}
