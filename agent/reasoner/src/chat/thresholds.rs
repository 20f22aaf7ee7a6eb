//! Tells the conditions of each level of risk, by the rules that judge (`config/diagnosis.toml`, or
//! the file of `[rules]`).

use pdm_expert::rules::{Risk, Rules};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Language;

/// Tells the conditions for Watch, Warning and Critical.
pub(super) fn thresholds(rules: &Rules, language: Language) -> String {
    let (mut lines, raised) = match language {
        Language::Ko => (
            korean(rules),
            "이 설비들은 중요 설비로 설정되어 있어 정상이 아닌 결과는 한 등급씩 올라갑니다.",
        ),
        Language::En => (
            english(rules),
            "The machines are set to be critical assets, so every result above Normal is one level \
             higher.",
        ),
    };
    if rules.risk.critical_asset {
        lines.insert(lines.len() - 1, raised.to_owned());
    }
    lines.join("\n")
}

/// Returns the stage of a trend from which a level begins, such as `3`; `None` where the trend
/// never reaches it.
fn from_stage(levels: [RiskLevel; 5], level: RiskLevel) -> Option<usize> {
    levels.iter().position(|one| *one >= level)
}

/// `안정 3단계부터, 상승 3단계부터, 가속 2단계부터`
fn stages(risk: &Risk, level: RiskLevel, language: Language) -> String {
    let trends = [
        ("안정", "stable", risk.stable),
        ("상승", "rising", risk.rising),
        ("가속", "accelerating", risk.accelerating),
    ];
    let told = trends.into_iter().filter_map(|(ko, en, levels)| {
        let stage = from_stage(levels, level)?;
        Some(match language {
            Language::Ko => format!("{ko} 추세면 {stage}단계부터"),
            Language::En => format!("from stage {stage} where the trend is {en}"),
        })
    });
    told.collect::<Vec<_>>().join(", ")
}

fn korean(rules: &Rules) -> Vec<String> {
    let (risk, lead_h) = (&rules.risk, rules.lead_time.total_h());
    let figure = pdm_expert::wording::figure;
    let at = |level| stages(risk, level, Language::Ko);
    let life_days = figure(rules.rul.warning_lead_times * lead_h / 24.0);
    vec![
        "경보 등급은 하나의 고정 수치가 아니라 P-F 단계, 추세, 자기 기준선에 대한 비, 잔여수명으로 정합니다:".to_owned(),
        format!("- 위험(Critical): {}; 또는 수준이 기준선의 {}배 \
                 이상", at(RiskLevel::Critical), figure(risk.critical_level_ratio)),
        format!(
            "- 경고(Warning): {}; 또는 수준이 기준선의 {}배 이상; 또는 잔여수명 하한이 {life_days}일 미만",
            at(RiskLevel::Warning),
            figure(risk.warning_level_ratio)
        ),
        format!("- 주의(Watch): {}; 또는 확인되지 않은 초기 징후", at(RiskLevel::Watch)),
        format!(
            "정지를 요구하는 위험은 가속도 실효값이 평소의 {}배 이상이거나, 진동속도가 D구역(부위가 특정되면 C구역)이거나, \
             결함선이 바닥 잡음에 묻혔거나, 잔여수명이 구간의 양 끝 모두 짧을 때만이고, 그 밖에는 경고입니다.",
            figure(risk.critical_level_ratio)
        ),
        "게이트웨이가 이상을 감지하지 않으면 주의를 넘지 않습니다. 기준선은 베어링마다 학습한 값이며 베어링 페이지에 있습니다.".to_owned(),
        "[출처: 판정 규칙 config/diagnosis.toml ([risk], [rul], [lead_time]) 또는 [rules]의 파일, \
         docs/operations.md]".to_owned(),
    ]
}

fn english(rules: &Rules) -> Vec<String> {
    let (risk, lead_h) = (&rules.risk, rules.lead_time.total_h());
    let figure = pdm_expert::wording::figure;
    let at = |level| stages(risk, level, Language::En);
    let life_days = figure(rules.rul.warning_lead_times * lead_h / 24.0);
    vec![
        "A level is no fixed figure: it follows from the P-F stage, the trend, the ratio to the \
         bearing's own baseline, and the remaining life:"
            .to_owned(),
        format!(
            "- Critical: {}; or a level of {} times the baseline",
            at(RiskLevel::Critical),
            figure(risk.critical_level_ratio)
        ),
        format!(
            "- Warning: {}; or a level of {} times the baseline; or a lower bound of the remaining \
             life below {life_days} days",
            at(RiskLevel::Warning),
            figure(risk.warning_level_ratio)
        ),
        format!("- Watch: {}; or an early sign that is not confirmed", at(RiskLevel::Watch)),
        format!(
            "A machine is stopped where the RMS itself stands at {} times the usual one, the \
             velocity is in zone D (C beside a named element), the defect lines drown, or the life \
             is short by both ends of its interval; else it is Warning.",
            figure(risk.critical_level_ratio)
        ),
        "Without an anomaly at the gateway it is Watch at most. The baseline is learnt for each \
         bearing and stands on its page."
            .to_owned(),
        "[Source: rules config/diagnosis.toml ([risk], [rul], [lead_time]) or the file of [rules], \
         docs/operations.md]"
            .to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_levels_are_told_with_the_figures_of_the_rules() {
        let mut rules = Rules::default();
        (rules.risk.warning_level_ratio, rules.risk.critical_level_ratio) = (2.5, 6.0);
        let told = thresholds(&rules, Language::En);
        for part in ["2.5 times the baseline", "6 times", "below 14 days", "from stage 2 where"] {
            assert!(told.contains(part), "{part}: {told}");
        }
        assert!(thresholds(&rules, Language::Ko).contains("기준선의 2.5배"), "{told}");
    }
}
