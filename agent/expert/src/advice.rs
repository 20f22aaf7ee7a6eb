//! The recommendation: one text in Korean and English, by risk, finding and fault.
//!
//! A recommendation states what to do and by when; it promises no date of failure.

use pdm_shared::fault::Fault;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;

use crate::pf_stage::Staging;
use crate::rul::Remaining;
use crate::rules::Rules;
use crate::screening::{Finding, Screening};
use crate::wording::{element, hours, joined};

/// The recommendation for a bearing that stands at `risk`.
pub fn recommend(
    risk: RiskLevel,
    screening: &Screening,
    staging: &Staging,
    fault: Option<Fault>,
    remaining: &Remaining,
    rules: &Rules,
) -> Text {
    if screening.finding == Finding::CannotJudge {
        return cannot_judge(risk);
    }
    let part = fault.map_or_else(
        || Text::new("베어링", "bearing"),
        |fault| {
            let name = element(fault);
            Text::new(format!("베어링({} 결함)", name.ko), format!("bearing ({} fault)", name.en))
        },
    );
    match risk {
        RiskLevel::Normal if screening.finding == Finding::Suspected => Text::new(
            "다음 측정에서 재확인. 추가 조치 불필요",
            "Confirm by the next windows; no action yet",
        ),
        RiskLevel::Normal => {
            Text::new("현 운전을 유지하고 정기 측정을 계속", "Keep running and keep measuring")
        }
        RiskLevel::Watch => watch(staging, &part),
        RiskLevel::Warning => warning(staging, &part, remaining, rules),
        RiskLevel::Critical => critical(&part),
    }
}

fn cannot_judge(risk: RiskLevel) -> Text {
    let check = Text::new(
        "센서·케이블·취부 상태와 설비 가동 여부를 확인",
        "Check sensor, cable, mounting and whether the machine runs",
    );
    if risk == RiskLevel::Normal {
        return check;
    }
    let label = risk.label();
    let keep = Text::new(
        format!("이전 위험도({})에 따른 조치는 계속 유효.", label.ko),
        format!("What was asked for at {} still stands.", label.en),
    );
    joined(&[keep, check])
}

fn watch(staging: &Staging, part: &Text) -> Text {
    if staging.rotor {
        return Text::new(
            "불평형·축정렬·체결 상태를 점검하고 측정 주기를 단축",
            "Check balance, alignment and tightness; measure more often",
        );
    }
    if staging.lubrication {
        return Text::new(
            "윤활 상태를 점검(급유 직후와 수 시간 후 재측정)하고 측정 주기를 단축",
            "Check lubrication (measure right after greasing and hours later); measure more often",
        );
    }
    Text::new(
        format!("{} 측정 주기를 단축해 추세를 확인하고 예비품 재고를 점검", part.ko),
        format!(
            "Measure the {} more often, follow its trend, check that a spare is in stock",
            part.en
        ),
    )
}

fn warning(staging: &Staging, part: &Text, remaining: &Remaining, rules: &Rules) -> Text {
    if staging.rotor {
        return Text::new(
            "회전체(불평형·축정렬·이완) 정밀 점검을 계획하고 진동속도 구역을 재확인",
            "Plan a check of balance, alignment and looseness; confirm the velocity zone",
        );
    }
    let lead = rules.lead_time.total_h();
    let within = hours(lead);
    let plan = Text::new(
        format!("{} 이내 {} 교체 계획을 수립하고 부품을 발주.", within.ko, part.ko),
        format!(
            "Plan the replacement of the {} within {} and order the parts.",
            part.en, within.en
        ),
    );
    let short = remaining.assessment.hours.is_some_and(|taken| taken <= lead);
    if short {
        let hurry = Text::new(
            "RUL 하한이 리드타임보다 짧으므로 긴급 조달과 부하 저감을 검토.",
            "The lower bound is shorter than the lead time: expedite, consider de-rating.",
        );
        joined(&[plan, hurry, if_worse()])
    } else {
        joined(&[plan, if_worse()])
    }
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
            "Stop as soon as it is safe and replace the {}. Until then reduce speed and load and keep people away. Lock out and tag out before work",
            part.en
        ),
    )
}
