//! Stages that what was measured before asks for.

use pdm_shared::particle::{Particle, with_particle};
use pdm_shared::text::Text;

use super::{Ask, Symptoms};
use crate::case::{Case, PointState};
use crate::rules::Rules;
use crate::screening::Screening;
use crate::wording::{fact, figure};

/// Whether the window's own level is up, independently of a flag that the windows before it raised.
fn is_level_up(case: &Case<'_>, before: &PointState, rules: &Rules) -> bool {
    match (case.event.time_domain.rms_g, before.normal_rms_g) {
        (Some(rms), Some(normal)) => rms >= rules.risk.warning_level_ratio * normal,
        _ => true,
    }
}

pub(super) fn asks(
    case: &Case<'_>,
    screening: &Screening,
    symptoms: &Symptoms,
    rules: &Rules,
) -> Vec<Ask> {
    let Some(before) = case.before() else { return Vec::new() };
    let path = |field: &str| format!("memory.points.{}.{field}", case.point());
    let mut asks = Vec::new();
    if let (Some(highest), Some(kurtosis)) =
        (before.highest_kurtosis, case.event.time_domain.kurtosis)
        && symptoms.level
        && !symptoms.impulsive
        && is_level_up(case, before, rules)
        && highest >= rules.stage.fallen_kurtosis_from
        && kurtosis < rules.stage.fallen_kurtosis_ratio * highest
    {
        asks.push(Ask {
            stage: 3,
            why: Text::new(
                format!(
                    "첨도가 {}에서 {} 내려왔으나 수준은 높아, 회복이 아니라 손상 확산",
                    figure(highest),
                    with_particle(&figure(kurtosis), Particle::Towards)
                ),
                format!(
                    "kurtosis fell from {} to {} while the level is up: spreading, not recovery",
                    figure(highest),
                    figure(kurtosis)
                ),
            ),
            evidence: vec![
                fact(path("highest_kurtosis"), highest, "STAGE-3E"),
                fact("time_domain.kurtosis", kurtosis, "STAGE-3E"),
            ],
        });
    }
    if let (Some(normal), Some(floor)) =
        (before.normal_floor_g, case.event.frequency_domain.noise_floor_g)
        && screening.fault.is_none()
        && before.fault.is_some()
        && before.stage >= 2
        && floor >= rules.stage.drowning_floor_ratio * normal
    {
        asks.push(Ask {
            stage: 4,
            why: Text::new(
                "이전의 결함선이 높아진 노이즈 플로어에 묻힘: 말기 양상",
                "the earlier lines have drowned in a raised floor: end of life",
            ),
            evidence: vec![
                fact(path("normal_floor_g"), normal, "STAGE-4B"),
                fact("frequency_domain.noise_floor_g", floor, "STAGE-4B"),
            ],
        });
    }
    asks
}
