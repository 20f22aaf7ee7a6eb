//! Fourth thought: what the edge's remaining life means for planning.
//!
//! Rules: RUL-1 no figure is said so; RUL-2 under acceleration the lower bound is taken; RUL-3 from
//! stage 2 on too, as a late answer costs more than an early one (PHM 2008 score: exp(d/10) late
//! against exp(-d/13) early); RUL-4 compared with the lead time; RUL-5 weak or wide intervals;
//! RUL-6 a median below the lead time stops a machine only where growth is significant and the
//! interval is narrow enough: a lower bound by itself asks for a plan; RUL-7 a
//! level that is not of the bearing, or that is about the usual one without a name, has no
//! remaining life; RUL-8 an interval that no plan fits is not told as a life; RUL-9 a window at its
//! usual level has none.

use pdm_shared::bounds::{MAX_LINE, in_one_line};
use pdm_shared::diagnosis::{Evidence, RulAssessment, Thought, ThoughtTitle};
use pdm_shared::event::{Rul, TrendDirection};
use pdm_shared::particle::{Particle, with_particle};
use pdm_shared::text::Text;

use crate::case::Case;
use crate::degradation::TrendClass;
use crate::pf_stage::{Staging, UnnamedSign};
use crate::rules::Rules;
use crate::screening::{Finding, Screening};
use crate::wording::{Doubt, fact, hours, joined, life};

/// The risk that the remaining life asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// The remaining life asks for nothing, or is unknown.
    None,
    /// The lower bound is within the configured number of lead times.
    Plan,
    /// The median ends before a replacement can be arranged in the ordinary way, and can be trusted
    /// to.
    Act,
}

/// The fourth thought and what the fifth takes from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Remaining {
    /// The diagnosis' field.
    pub assessment: RulAssessment,
    /// The median of the life that is told, h.
    pub median_h: Option<f64>,
    /// The risk that it asks for.
    pub urgency: Urgency,
    /// Judgements in a row in which [`Urgency::Act`] stood without a named fault.
    pub short_life: u32,
    /// The thought.
    pub thought: Thought,
    /// Why not surer.
    pub doubts: Vec<Doubt>,
}

/// The median of the edge's estimate, h; or why there is none to plan with, and on what that rests.
fn median_of(case: &Case<'_>, rules: &Rules) -> Result<f64, Box<(String, Evidence)>> {
    let rul = &case.event.rul;
    if case.is_life_of_population() {
        let reason = "this bearing's own growth says nothing yet".to_owned();
        return Err(Box::new((reason, fact("rul.model", &rul.model, "RUL-1"))));
    }
    let Some(median) = rul.hours else {
        let reason =
            rul.unknown.as_deref().map_or("not given".into(), |why| in_one_line(why, MAX_LINE));
        let reason = reason.into_owned();
        let evidence = fact("rul.unknown", &reason, "RUL-1");
        return Err(Box::new((reason, evidence)));
    };
    if case.is_usual_again(rules) {
        let reason = "the level is back at its usual one".to_owned();
        let evidence = fact("time_domain.rms_g", case.event.time_domain.rms_g, "RUL-9");
        return Err(Box::new((reason, evidence)));
    }
    Ok(median)
}

/// Assesses the remaining life.
pub fn assess(
    case: &Case<'_>,
    screening: &Screening,
    staging: &Staging,
    class: TrendClass,
    rules: &Rules,
) -> Remaining {
    let (rul, stage) = (&case.event.rul, staging.stage);
    let median = match median_of(case, rules) {
        Ok(median) => median,
        Err(why) => {
            let (reason, evidence) = *why;
            return unknown(reason, evidence, screening, stage);
        }
    };
    let accelerating = class == TrendClass::Accelerating;
    let cautious = accelerating || stage >= 2;
    let (taken, basis, conservative) = match rul.ci_low_hours {
        Some(low) if cautious => (low, "ci_low_hours", true),
        Some(_) | None => (median, "hours", false),
    };
    let low = rul.ci_low_hours.unwrap_or(median);
    let lead_h = rules.lead_time.total_h();
    let is_short = median <= lead_h;
    let urgency = if !screening.is_anomaly() {
        Urgency::None
    } else if is_short && is_trusted(case, lead_h, rules) {
        Urgency::Act
    } else if is_short || low <= rules.rul.warning_lead_times * lead_h {
        Urgency::Plan
    } else {
        Urgency::None
    };
    if let Some(reason) = no_life(case, screening, staging, rules) {
        let evidence = fact("anomaly.contributors", &case.event.anomaly.contributors, "RUL-7");
        let unknown = unknown(reason.to_owned(), evidence, screening, stage);
        // the level of the machine, extrapolated, still asks for a plan
        return Remaining { urgency: urgency.min(Urgency::Plan), ..unknown };
    }
    if is_useless(rul, rules) {
        let told = open_yet(rul, urgency.min(Urgency::Plan), rules);
        return Remaining { urgency: urgency.min(Urgency::Plan), ..told };
    }
    let before = case.before().map_or(0, |state| state.short_life);
    let short_life =
        if urgency == Urgency::Act && screening.fault.is_none() { before + 1 } else { 0 };
    let rule = if accelerating { "RUL-2" } else { "RUL-3" };
    Remaining {
        assessment: RulAssessment {
            hours: Some(taken),
            basis: Some(basis.to_owned()),
            conservative,
            unknown: None,
        },
        median_h: rul.hours,
        urgency,
        short_life,
        thought: Thought {
            title: ThoughtTitle::Rul,
            conclusion: conclusion(rul, taken, conservative, lead_h, for_information(screening)),
            evidence: evidence(case, basis, rule, lead_h),
            model_words: None,
        },
        doubts: doubts(case, rules),
    }
}

/// Whether the interval is so wide that no plan fits both of its ends.
fn is_useless(rul: &Rul, rules: &Rules) -> bool {
    let bounds = rul.ci_low_hours.zip(rul.ci_high_hours);
    bounds.is_some_and(|(low, high)| high > rules.rul.useless_ratio * low)
}

/// The thought that the end cannot be told yet, with the interval that the growth leaves open.
fn open_yet(rul: &Rul, urgency: Urgency, rules: &Rules) -> Remaining {
    let (low, high) = (rul.ci_low_hours.unwrap_or(0.0), rul.ci_high_hours.unwrap_or(0.0));
    let (low_told, high_told) = (life(low), life(high));
    let head = Text::new(
        format!(
            "잔여수명은 아직 말할 수 없음: 하한 {}, 상한 {} 폭이 너무 넓음",
            low_told.ko,
            with_particle(&high_told.ko, Particle::Towards)
        ),
        format!(
            "The remaining life cannot be told yet: lower bound {}, upper bound {}, too wide to \
             plan by",
            low_told.en, high_told.en
        ),
    );
    let lead = hours(rules.lead_time.total_h());
    let note = (urgency == Urgency::Plan).then(|| {
        Text::new(
            format!("· 하한이 조달·계획 리드타임 {}에 비해 여유가 적어 교체 준비를 시작", lead.ko),
            format!(
                "· the lower bound leaves little beside the lead time of {}: prepare a replacement",
                lead.en
            ),
        )
    });
    let conclusion = note.map_or_else(|| head.clone(), |note| joined(&[head.clone(), note]));
    Remaining {
        assessment: RulAssessment {
            hours: None,
            basis: None,
            conservative: false,
            unknown: Some("the interval is too wide to plan by".to_owned()),
        },
        median_h: None,
        urgency,
        short_life: 0,
        thought: Thought {
            title: ThoughtTitle::Rul,
            conclusion,
            evidence: vec![
                fact("rul.ci_low_hours", low, "RUL-8"),
                fact("rul.ci_high_hours", high, "RUL-8"),
                fact("config.lead_time_h", rules.lead_time.total_h(), "RUL-4"),
            ],
            model_words: None,
        },
        doubts: Vec::new(),
    }
}

/// Returns why an extrapolation says nothing about the life of a bearing: no standing sign is of
/// the bearing, or a level below the ratio that asks for Warning is extrapolated without a name.
fn no_life(
    case: &Case<'_>,
    screening: &Screening,
    staging: &Staging,
    rules: &Rules,
) -> Option<&'static str> {
    if !screening.is_anomaly() || screening.fault.is_some() {
        return None;
    }
    if staging.unnamed == Some(UnnamedSign::Broadband) {
        return Some(
            "noise without lines or impacts is no growth of a damage: lubrication comes first",
        );
    }
    if staging.machine.is_some() && case.before().is_none_or(|before| before.fault.is_none()) {
        return Some("the anomaly is of the machine, not of the bearing");
    }
    let ratio = case.event.anomaly.level_ratio?;
    let is_low = ratio < rules.risk.warning_level_ratio && staging.stage < 4;
    let is_damaging = case.zone().is_some_and(|zone| zone >= rules.stage.damage_zone);
    (is_low && !is_damaging).then_some("the level is about the usual one and no element is named")
}

/// Whether a forecast may stop a machine by itself: its growth is significant, and its interval is
/// so narrow that its upper end, too, lies within the lead times that ask for a plan.
///
/// Chosen on the eight simulated runs to failure of `config/scenarios/edge`: there the upper end
/// lies at 5 to 7 lead times while the median is a third of the true life (57 h, seven days before
/// the end of `outer_race_days`), so such an interval is no reason to stop.
fn is_trusted(case: &Case<'_>, lead_h: f64, rules: &Rules) -> bool {
    let (trend, rul) = (&case.event.trend, &case.event.rul);
    let is_significant = trend.trend_direction == TrendDirection::Rising
        && trend.slope_ci.is_none_or(|[low, _]| low > 0.0);
    let is_narrow =
        rul.ci_high_hours.is_some_and(|high| high <= rules.rul.warning_lead_times * lead_h);
    is_significant && is_narrow
}

/// Returns why the figure is not compared with the lead time, if it is not.
fn for_information(screening: &Screening) -> Option<Text> {
    (!screening.is_anomaly())
        .then(|| Text::new("(이상이 확인되지 않아 참고값)", "(for information: no anomaly)"))
}

/// The interval with its median, which of them is planned with, and how it stands to the lead time:
/// all in the units and roundings of people.
fn conclusion(rul: &Rul, taken: f64, conservative: bool, lead_h: f64, note: Option<Text>) -> Text {
    let median = life(rul.hours.unwrap_or(taken));
    let (low, high) = (rul.ci_low_hours.map(life), rul.ci_high_hours.map(life));
    let head = match (low, high) {
        (Some(low), Some(high)) => Text::new(
            format!("잔여수명 하한 {}, 중앙값 {}, 상한 {}", low.ko, median.ko, high.ko),
            format!(
                "Remaining life: lower bound {}, median {}, upper bound {}",
                low.en, median.en, high.en
            ),
        ),
        (Some(low), None) => Text::new(
            format!("잔여수명 하한 {}, 중앙값 {}", low.ko, median.ko),
            format!("Remaining life: lower bound {}, median {}", low.en, median.en),
        ),
        (None, _) => Text::new(
            format!("잔여수명 중앙값 {}", median.ko),
            format!("Remaining life: median {}", median.en),
        ),
    };
    let basis = if conservative {
        Text::new("· 보수적으로 하한을 기준으로 계획", "· plan by the lower bound")
    } else {
        Text::new("· 중앙값을 기준으로 계획", "· plan by the median")
    };
    if let Some(note) = note {
        return joined(&[head, note]);
    }
    let lead = hours(lead_h);
    let side = if life(taken) == life(lead_h) {
        Text::new(
            format!("· 조달·계획 리드타임 {}과 비슷함", lead.ko),
            format!("· about the lead time of {}", lead.en),
        )
    } else if taken <= lead_h {
        Text::new(
            format!("· 조달·계획 리드타임 {}보다 짧음", lead.ko),
            format!("· shorter than the lead time of {}", lead.en),
        )
    } else {
        Text::new(
            format!("· 조달·계획 리드타임 {}보다 긺", lead.ko),
            format!("· longer than the lead time of {}", lead.en),
        )
    };
    joined(&[head, basis, side])
}

fn evidence(case: &Case<'_>, basis: &str, rule: &str, lead_h: f64) -> Vec<Evidence> {
    let rul = &case.event.rul;
    let mut evidence = vec![match basis {
        "ci_low_hours" => fact("rul.ci_low_hours", rul.ci_low_hours, rule),
        _ => fact("rul.hours", rul.hours, "RUL-0"),
    }];
    if basis == "ci_low_hours" {
        evidence.push(fact("rul.hours", rul.hours, "RUL-0"));
    } else if let Some(low) = rul.ci_low_hours {
        evidence.push(fact("rul.ci_low_hours", low, "RUL-5"));
    }
    if let Some(high) = rul.ci_high_hours {
        evidence.push(fact("rul.ci_high_hours", high, "RUL-5"));
    }
    if let Some(confidence) = rul.confidence {
        evidence.push(fact("rul.confidence", confidence, "RUL-5"));
    }
    evidence.push(fact("config.lead_time_h", lead_h, "RUL-4"));
    evidence
}

fn unknown(reason: String, evidence: Evidence, screening: &Screening, stage: u8) -> Remaining {
    let doubts = if stage > 0 && screening.finding != Finding::CannotJudge {
        vec![Doubt::medium(
            "열화 속도를 모르므로 남은 기간을 가늠할 수 없음",
            "How long it will last is open, as its growth is not known",
        )]
    } else {
        Vec::new()
    };
    Remaining {
        assessment: RulAssessment {
            hours: None,
            basis: None,
            conservative: false,
            unknown: Some(reason),
        },
        median_h: None,
        urgency: Urgency::None,
        short_life: 0,
        thought: Thought {
            title: ThoughtTitle::Rul,
            conclusion: Text::new("잔여수명 산정 불가", "The remaining life cannot be estimated"),
            evidence: vec![evidence],
            model_words: None,
        },
        doubts,
    }
}

fn doubts(case: &Case<'_>, rules: &Rules) -> Vec<Doubt> {
    let rul = &case.event.rul;
    let mut doubts = Vec::new();
    if let (Some(low), Some(high)) = (rul.ci_low_hours, rul.ci_high_hours)
        && high > rules.rul.wide_ratio * low
    {
        doubts.push(Doubt::medium(
            "잔여수명 신뢰구간이 매우 넓음",
            "The interval of the remaining life is very wide",
        ));
    }
    if rul.confidence.is_some_and(|confidence| confidence < rules.rul.weak_confidence) {
        doubts.push(Doubt::medium(
            "잔여수명 예측의 신뢰수준이 낮음",
            "The remaining life has a low confidence level",
        ));
    }
    doubts
}
