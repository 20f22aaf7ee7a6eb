//! Third thought: how fast the damage grows, from the edge's trend.
//!
//! Rules: DEGR-1 direction and slope; DEGR-2 rising with time to plan is slow; DEGR-3 acceleration
//! is rapid; DEGR-4 a falling level after stage 3 is no recovery (rise then fall); DEGR-5 no trend
//! yet; DEGR-6 after a step the height of the level is told; DEGR-7 a window at its usual level
//! grows no more; without an anomaly nothing degrades, whatever the slope.

use pdm_shared::bounds::{MAX_WORD, in_one_line};
use pdm_shared::diagnosis::{Degradation, DegradationSpeed, Evidence, Thought, ThoughtTitle};
use pdm_shared::event::TrendDirection;
use pdm_shared::feature::Feature;
use pdm_shared::text::Text;

use crate::case::Case;
use crate::rules::Rules;
use crate::screening::{Finding, Screening};
use crate::wording::{Doubt, fact, figure, joined};

/// The class of a trend in the risk matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrendClass {
    /// Stable, falling or unknown.
    Stable,
    /// Rising.
    Rising,
    /// Rising and accelerating.
    Accelerating,
}

/// The third thought and what the others take from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Degrading {
    /// The class in the risk matrix.
    pub class: TrendClass,
    /// The word for the diagnosis.
    pub degradation: Degradation,
    /// The thought.
    pub thought: Thought,
    /// Why not surer.
    pub doubts: Vec<Doubt>,
}

/// Judges the speed.
pub fn degrade(case: &Case<'_>, screening: &Screening, stage: u8, rules: &Rules) -> Degrading {
    let trend = &case.event.trend;
    let rising = trend.trend_direction == TrendDirection::Rising;
    let grows = trend.slope.is_none_or(|slope| slope >= 0.0);
    let accelerates = trend.acceleration_detected && grows;
    // a growth that is not significant cannot speed up, and a level that has come back grows no
    // more
    let is_usual_again = case.is_usual_again(rules);
    let class = if is_usual_again {
        TrendClass::Stable
    } else if accelerates && rising {
        TrendClass::Accelerating
    } else if rising {
        TrendClass::Rising
    } else {
        TrendClass::Stable
    };
    let plan_h = rules.degradation.slow_from_lead_times * rules.lead_time.total_h();
    let own_life = !case.is_life_of_population();
    let time_to_plan = own_life && case.event.rul.ci_low_hours.is_some_and(|low| low >= plan_h);
    let is_anomaly = screening.is_anomaly();
    let (speed, path) = match class {
        _ if !is_anomaly => (DegradationSpeed::None, "anomaly_detected"),
        TrendClass::Stable => (DegradationSpeed::None, "trend.trend_direction"),
        TrendClass::Accelerating => (DegradationSpeed::Rapid, "trend.acceleration_detected"),
        TrendClass::Rising if time_to_plan => (DegradationSpeed::Slow, "trend.slope"),
        TrendClass::Rising => (DegradationSpeed::Moderate, "trend.slope"),
    };
    let falling_late = trend.trend_direction == TrendDirection::Falling && stage >= 3;
    Degrading {
        class,
        degradation: Degradation { speed, evidence: path.to_owned() },
        thought: Thought {
            title: ThoughtTitle::Degradation,
            conclusion: conclusion(case, rules, (class, speed, is_anomaly), falling_late),
            evidence: evidence(case, falling_late, speed, plan_h),
            model_words: None,
        },
        doubts: doubts(case, screening),
    }
}

fn conclusion(
    case: &Case<'_>,
    rules: &Rules,
    (class, speed, is_anomaly): (TrendClass, DegradationSpeed, bool),
    falling_late: bool,
) -> Text {
    let trend = &case.event.trend;
    let slope = trend.slope.map(|slope| {
        let slope = figure(slope);
        // an event that an earlier version stored may hold any text
        let unit = in_one_line(&trend.slope_unit, MAX_WORD);
        let feature = Feature::of_key(&trend.feature).name();
        Text::new(
            format!("({} 기울기 {slope} {unit})", feature.ko),
            format!("({} slope {slope} {unit})", feature.en),
        )
    });
    if is_anomaly && case.is_usual_again(rules) {
        return Text::new(
            "이번 측정의 수준은 평소와 같아 이전의 상승을 현재의 열화로 보지 않음",
            "This window is at its usual level: the rise before it is no growth now",
        );
    }
    let head = match (class, speed) {
        (TrendClass::Accelerating | TrendClass::Rising, _) if !is_anomaly => Text::new(
            "이상 없이 수준만 상승: 부하·회전수·계절의 영향일 수 있음",
            "The level rises without an anomaly: load, speed or season may be the cause",
        ),
        (TrendClass::Accelerating, _) => {
            Text::new("열화가 가속되고 있음: 급속", "Degradation is accelerating: rapid")
        }
        (TrendClass::Rising, DegradationSpeed::Slow) => {
            Text::new("상승 추세이나 완만하며 가속 없음", "Rising slowly, not accelerating")
        }
        (TrendClass::Rising, _) => Text::new("상승 추세, 가속 없음", "Rising, not accelerating"),
        (TrendClass::Stable, _) if falling_late => Text::new(
            "수준이 내려왔으나 진행된 손상에서의 하강은 회복으로 보지 않음",
            "The level fell back, which is no recovery at an advanced stage",
        ),
        (TrendClass::Stable, _) => match trend.trend_direction {
            TrendDirection::Falling => Text::new("하강 추세", "The level is falling"),
            TrendDirection::Unknown => {
                Text::new("추세를 판단할 자료가 부족함", "Too little data for a trend")
            }
            TrendDirection::Stable | TrendDirection::Rising => no_trend(case, rules, is_anomaly),
        },
    };
    // a slope that is not significant is no figure to tell
    let is_told = class != TrendClass::Stable || trend.trend_direction == TrendDirection::Falling;
    match slope {
        Some(slope) if is_told => joined(&[head, slope]),
        Some(_) | None => head,
    }
}

/// Says that no slope is significant: after a step, the height at which the level stands says more.
fn no_trend(case: &Case<'_>, rules: &Rules, is_anomaly: bool) -> Text {
    let ratio = case.event.anomaly.level_ratio.filter(|_| is_anomaly);
    match ratio.filter(|ratio| *ratio >= rules.risk.warning_level_ratio) {
        Some(ratio) => {
            let ratio = figure(ratio);
            Text::new(
                format!("유의한 기울기는 없으나 수준이 기준 대비 {ratio}배로 올라 있음"),
                format!("No significant slope, but the level stands at {ratio} times its baseline"),
            )
        }
        None => Text::new("유의한 추세 없음", "No significant trend"),
    }
}

fn evidence(
    case: &Case<'_>,
    falling_late: bool,
    speed: DegradationSpeed,
    plan_h: f64,
) -> Vec<Evidence> {
    let trend = &case.event.trend;
    let mut evidence = vec![fact("trend.trend_direction", trend.trend_direction, "DEGR-1")];
    evidence.extend(
        case.event.anomaly.level_ratio.map(|ratio| fact("anomaly.level_ratio", ratio, "DEGR-6")),
    );
    if let Some(slope) = trend.slope {
        evidence.push(fact("trend.slope", slope, "DEGR-1"));
    }
    if let (DegradationSpeed::Slow, Some(low)) = (speed, case.event.rul.ci_low_hours) {
        evidence.push(fact("rul.ci_low_hours", low, "DEGR-2"));
        evidence.push(fact("config.slow_from_h", plan_h, "DEGR-2"));
    }
    evidence.push(fact("trend.acceleration_detected", trend.acceleration_detected, "DEGR-3"));
    if falling_late {
        evidence.push(fact("trend.trend_direction", trend.trend_direction, "DEGR-4"));
    }
    evidence
}

fn doubts(case: &Case<'_>, screening: &Screening) -> Vec<Doubt> {
    if screening.finding != Finding::CannotJudge
        && screening.finding != Finding::Normal
        && case.event.trend.trend_direction == TrendDirection::Unknown
    {
        vec![Doubt::medium("추세 자료가 부족함", "Too little data for a trend")]
    } else {
        Vec::new()
    }
}
