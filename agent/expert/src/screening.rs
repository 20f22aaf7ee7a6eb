//! First thought: can the window be judged, is there anything, and which element?
//!
//! Rules: SCREEN-0 a bad signal or a standing machine is not judged; SCREEN-1 the anomaly flag;
//! SCREEN-2 the named line; SCREEN-3 its confidence; SCREEN-4 the cross-check of the features when
//! the flag is down; SCREEN-5 the baseline is still being learnt; SCREEN-6 a certain name without a
//! history counts at once, and any name where one recording is all there is: a technician may have
//! no other; SCREEN-7 the same of damage whose part is open; SCREEN-8 what the gateway cannot name
//! or exclude is told as that, and never as sound; SCREEN-9 one recording in zone D, or with
//! impacts that no sound machine has, counts at once too: it asks for a check of the machine;
//! SCREEN-10 a window at half of the level or less resets no count of signs; SCREEN-11 a record
//! without a signal, or with impacts that nothing names, is not sound; SCREEN-12 a certain name in
//! a window that stands far above every normal one counts at once: two signs that do not rest on
//! each other confirm one another.

use pdm_shared::diagnosis::{Evidence, Thought, ThoughtTitle, UncertaintyLevel};
use pdm_shared::event::{BaselineState, Method, OpenDamage, QualityFlag};
use pdm_shared::fault::Fault;
use pdm_shared::text::Text;

use crate::case::Case;
use crate::rules::Rules;
use crate::unsettled::{OpenReason, open_by_figures, open_reason};
use crate::wording::{Doubt, fact};

mod words;

pub use words::flags;
pub(crate) use words::likely_elements;
use words::{conclusion, flag_outlasts, leapt, of_machine, with_open, with_reason, with_second};

/// The kurtosis' place in the event.
const KURTOSIS: &str = "time_domain.kurtosis";

/// The result of the screening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// Bad signal or standing machine: the former judgement stands.
    CannotJudge,
    /// No flag, and the features agree.
    Normal,
    /// No flag and nothing suspicious, but bearing damage is neither found nor excluded.
    Open,
    /// No flag, but evidence of a defect that has not stood long enough yet.
    Suspected,
    /// Nothing is learnt yet, so no flag can rise, but the element is named with certainty, or in
    /// the only recording there is, or damage is seen whose element is open: treated as an anomaly
    /// that a second measurement has to confirm.
    Single,
    /// No flag, but the evidence has stood: treated as an anomaly.
    Confirmed,
    /// The anomaly flag is up.
    Anomalous,
}

/// The first thought and what the others take from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Screening {
    /// The result.
    pub finding: Finding,
    /// The element that is taken as the fault.
    pub fault: Option<Fault>,
    /// The element's name counts at once: certain while the baseline is being learnt, or of the
    /// only recording.
    pub is_named_at_once: bool,
    /// Damage is seen whose element is open: the two that it may be.
    pub open: Option<OpenDamage>,
    /// The element whose lines stand beside those of the named one.
    pub second: Option<Fault>,
    /// The window's spikes are too short or too rare for a bearing.
    pub has_spikes: bool,
    /// A certain name and a level far above every normal one came in the same window, before a
    /// flag could rise.
    pub has_leapt: bool,
    /// The reason why the window leaves the question open, where no element is named.
    pub(crate) reason: Option<OpenReason>,
    /// The velocity or the impacts of the only recording ask for a check of the machine.
    pub(crate) is_of_machine: bool,
    /// Judgements in a row, this one included, with unflagged evidence.
    pub unflagged: u32,
    /// The thought.
    pub thought: Thought,
    /// Why not surer.
    pub doubts: Vec<Doubt>,
}

impl Screening {
    /// Whether something is wrong with the bearing or the machine.
    pub const fn is_anomaly(&self) -> bool {
        matches!(self.finding, Finding::Anomalous | Finding::Confirmed | Finding::Single)
    }

    /// The named element, where it is the one that the baseline was learnt with: the bearing was
    /// damaged when its sensor was mounted, and no flag of that baseline can rise for it.
    pub fn damaged_from_the_start(&self, case: &Case<'_>) -> Option<Fault> {
        let start = case.before().and_then(|point| point.damaged_when_learnt);
        start.filter(|fault| self.is_anomaly() && self.fault == Some(*fault))
    }
}

/// How many windows in a row have had signs without a flag. A much quieter one neither counts nor
/// ends the row.
fn unflagged_signs(case: &Case<'_>, rules: &Rules, has_signs: bool) -> u32 {
    let before = case.before().map_or(0, |state| state.unflagged);
    match has_signs && !case.event.anomaly_detected {
        true => before.saturating_add(1),
        false if is_much_quieter(case, rules) => before,
        false => 0,
    }
}

/// Screens one event.
pub fn screen(case: &Case<'_>, rules: &Rules) -> Screening {
    if !case.event.signal_quality.valid || !case.event.operating.running {
        return cannot_judge(case);
    }
    let fault = named_fault(case, rules);
    let open = open_damage(case, fault);
    let suspicious = suspicious(case, rules, fault, open);
    let unflagged = unflagged_signs(case, rules, is_carried(&suspicious, case));
    let is_certain = is_certain(case, rules, fault);
    let is_named_at_once = is_learning(case) && is_certain || is_alone(case) && fault.is_some();
    let has_leapt = !case.event.anomaly_detected && is_certain && leaps(case, rules);
    let is_of_machine =
        is_alone(case) && fault.is_none() && open.is_none() && speaks_by_itself(case, rules);
    let by_figures = || open_by_figures(case, rules).filter(|_| open.is_none());
    let reason = open_reason(case, rules).or_else(by_figures).filter(|_| fault.is_none());
    let has_stood = has_leapt || unflagged >= rules.screening.confirm_after;
    let counts_at_once = is_named_at_once || open.is_some() || is_of_machine;
    let finding = match suspicious.is_empty() {
        _ if case.event.anomaly_detected => Finding::Anomalous,
        true if reason.is_some() => Finding::Open,
        true => Finding::Normal,
        false if has_stood => Finding::Confirmed,
        false if counts_at_once => Finding::Single,
        false => Finding::Suspected,
    };
    let is_impacts = reason == Some(OpenReason::Impacts);
    let is_reason_first = finding == Finding::Open || finding == Finding::Suspected && is_impacts;
    let first = match reason.filter(|_| is_reason_first) {
        Some(reason) => reason.conclusion(case),
        _ if is_of_machine => of_machine(case, rules),
        _ if has_leapt => leapt(case, fault),
        _ if finding == Finding::Anomalous && case.is_usual_again(rules) => flag_outlasts(),
        _ => conclusion(case, finding, (fault, is_certain)),
    };
    let is_beside = finding == Finding::Suspected && !is_impacts;
    let first = with_reason(reason.filter(|_| is_beside), case, first);
    let mut evidence = evidence(case, fault, open, &suspicious);
    evidence.extend(if has_leapt { leap_facts(case) } else { Vec::new() });
    evidence.extend(reason.map(|reason| reason.evidence(case)));
    let thought = Thought {
        title: ThoughtTitle::InitialScreening,
        conclusion: with_open(open, with_second(case, fault, first)),
        evidence,
        model_words: None,
    };
    let fault = if matches!(finding, Finding::Normal | Finding::Open) { None } else { fault };
    let doubts = doubts(case, rules, finding, fault);
    Screening {
        finding,
        fault,
        is_named_at_once,
        open,
        second: case.event.frequency_domain.second_fault.map(|one| one.fault),
        has_spikes: case.has_spikes_of_cable(),
        has_leapt,
        reason,
        is_of_machine,
        unflagged,
        thought,
        doubts,
    }
}

/// Whether the level of this window stands at twice and more of the highest normal one, whatever
/// the load was then: 6 dB, the change that Randall (Vibration-based Condition Monitoring, 2011)
/// calls significant.
fn leaps(case: &Case<'_>, rules: &Rules) -> bool {
    let is_ready = case.event.anomaly.baseline.state == BaselineState::Ready;
    let normal = case.before().and_then(|before| before.most_normal_rms_g);
    let levels = normal.zip(case.event.time_domain.rms_g).filter(|_| is_ready);
    levels.is_some_and(|(normal, now)| now >= rules.risk.warning_level_ratio * normal)
}

/// The facts behind [`Screening::has_leapt`].
fn leap_facts(case: &Case<'_>) -> Vec<Evidence> {
    let path = format!("memory.points.{}.most_normal_rms_g", case.point());
    let normal = case.before().and_then(|before| before.most_normal_rms_g);
    vec![
        fact("time_domain.rms_g", case.event.time_domain.rms_g, "SCREEN-12"),
        fact(path, normal, "SCREEN-12"),
    ]
}

/// Damage whose element is open, where it says something: while nothing is learnt, and beside a
/// flag.
///
/// Against a ready baseline without a flag it moves nothing: what is new of it raises the flag.
fn open_damage(case: &Case<'_>, fault: Option<Fault>) -> Option<OpenDamage> {
    let counts = fault.is_none() && (is_learning(case) || case.event.anomaly_detected);
    case.event.frequency_domain.damaged.filter(|_| counts)
}

fn is_learning(case: &Case<'_>) -> bool {
    case.event.anomaly.baseline.state == BaselineState::Learning
}

/// Whether the event is all that is known of the bearing: one recording, nothing learnt before it.
///
/// A part that is named is then no less than damage whose part is open ([`open_damage`]):
/// leave-one-rig-out none of 228 sound recordings is named, and the names below `sure_confidence`
/// are right (docs/benchmark.md).
fn is_alone(case: &Case<'_>) -> bool {
    is_learning(case) && case.event.anomaly.baseline.windows == 0
}

/// Peak of the acceleration, g, from which impacts of one recording ask for a check of the machine.
/// Chosen: twice the highest of the sound recordings at hand with a kurtosis above 6 (5 g,
/// Paderborn K001).
const HEAVY_PEAK_G: f64 = 10.0;

/// The velocity is in a zone of limited operation or of damage, or the impacts are heavy.
fn speaks_by_itself(case: &Case<'_>, rules: &Rules) -> bool {
    in_limited_zone(case, rules) || case.is_impulsive(rules) && is_heavy(case)
}

fn in_limited_zone(case: &Case<'_>, rules: &Rules) -> bool {
    case.zone().is_some_and(|zone| zone >= rules.stage.limited_zone)
}

/// Whether one recording shows heavy impacts and a velocity in a bad zone together.
pub(crate) fn is_severe(case: &Case<'_>, rules: &Rules) -> bool {
    in_limited_zone(case, rules) && case.is_impulsive(rules) && is_heavy(case)
}

fn is_heavy(case: &Case<'_>) -> bool {
    case.event.time_domain.peak_g.is_some_and(|peak| peak >= HEAVY_PEAK_G)
        && !case.has_spikes_of_cable()
}

/// Whether the element is named with certainty.
fn is_certain(case: &Case<'_>, rules: &Rules, fault: Option<Fault>) -> bool {
    let confidence = case.event.frequency_domain.confidence;
    fault.is_some() && confidence >= rules.screening.sure_confidence
}

/// Whether the window is so much quieter than the last one with a sign that it is no
/// counter-evidence: a machine that idles or stands shows no line of a damage that is plain under
/// load.
fn is_much_quieter(case: &Case<'_>, rules: &Rules) -> bool {
    let with_sign = case.before().and_then(|before| before.unflagged_rms_g);
    let levels = with_sign.zip(case.event.time_domain.rms_g);
    levels.is_some_and(|(with_sign, now)| now * rules.risk.warning_level_ratio <= with_sign)
}

/// Whether the evidence may move the risk once it has stood. Kurtosis by itself does not where the
/// edge knows what is usual and raises no flag: impacts alone want a fault line with them.
fn is_carried(suspicious: &[Evidence], case: &Case<'_>) -> bool {
    let learning = is_learning(case);
    suspicious.iter().any(|fact| learning || fact.path != KURTOSIS)
}

fn named_fault(case: &Case<'_>, rules: &Rules) -> Option<Fault> {
    let frequency = &case.event.frequency_domain;
    frequency.dominant_fault.filter(|_| frequency.confidence >= rules.screening.name_confidence)
}

/// The cross-check: what contradicts "no anomaly".
fn suspicious(
    case: &Case<'_>,
    rules: &Rules,
    fault: Option<Fault>,
    open: Option<OpenDamage>,
) -> Vec<Evidence> {
    let event = case.event;
    let mut found = Vec::new();
    if event.anomaly_detected {
        return found;
    }
    if let Some(fault) = fault {
        let line = event.frequency_domain.line(fault);
        let path = format!("frequency_domain.{}.snr_db", fault.frequency_key());
        if event.frequency_domain.confidence >= rules.screening.sure_confidence
            || is_alone(case)
            || line.snr_db.is_some_and(|snr| snr >= rules.screening.suspicious_snr_db)
        {
            found.push(fact(path, line.snr_db, "SCREEN-4"));
        }
    }
    if let Some(open) = open {
        found.push(fact("frequency_domain.damaged.most_likely", open.most_likely, "SCREEN-7"));
    }
    if let Some(kurtosis) = event.time_domain.kurtosis
        && kurtosis >= rules.screening.suspicious_kurtosis
    {
        found.push(fact(KURTOSIS, kurtosis, "SCREEN-4"));
    }
    // the zone of limited operation is told where nothing else is known
    let limit = if is_alone(case) { rules.stage.limited_zone } else { rules.stage.damage_zone };
    if case.zone().is_some_and(|zone| zone >= limit) {
        found.push(case.zone_fact("SCREEN-4"));
    }
    found
}

fn evidence(
    case: &Case<'_>,
    fault: Option<Fault>,
    open: Option<OpenDamage>,
    suspicious: &[Evidence],
) -> Vec<Evidence> {
    let event = case.event;
    let mut evidence = vec![fact("anomaly_detected", event.anomaly_detected, "SCREEN-1")];
    if let Some(score) = event.anomaly.score {
        evidence.push(fact("anomaly.score", score, "SCREEN-1"));
    }
    if let Some(fault) = fault {
        let path = format!("frequency_domain.{}.snr_db", fault.frequency_key());
        evidence.push(fact(path, event.frequency_domain.line(fault).snr_db, "SCREEN-2"));
        evidence.push(fact(
            "frequency_domain.confidence",
            event.frequency_domain.confidence,
            "SCREEN-3",
        ));
    } else {
        evidence.push(fact(
            "frequency_domain.dominant_fault",
            event.frequency_domain.dominant_fault,
            "SCREEN-2",
        ));
    }
    if let Some(open) = open {
        let path = "frequency_domain.damaged.most_likely";
        evidence.push(fact(path, open.most_likely, "SCREEN-7"));
        evidence.push(fact("frequency_domain.damaged.or_else", open.or_else, "SCREEN-7"));
    }
    if event.anomaly.baseline.state == BaselineState::Learning {
        evidence.push(fact("anomaly.baseline.state", "learning", "SCREEN-5"));
        evidence.push(fact("anomaly.baseline.windows", event.anomaly.baseline.windows, "SCREEN-5"));
    }
    for fact in suspicious {
        if !evidence.contains(fact) {
            evidence.push(fact.clone());
        }
    }
    evidence
}

fn doubts(case: &Case<'_>, rules: &Rules, finding: Finding, fault: Option<Fault>) -> Vec<Doubt> {
    let event = case.event;
    let mut doubts = Vec::new();
    if event.anomaly.baseline.state == BaselineState::Learning {
        doubts.push(Doubt::medium(
            "기준선 학습 중이어서 평소 수준과 비교할 수 없음",
            "The baseline is still being learnt: no comparison with the usual level",
        ));
    }
    if event.operating.shaft_speed_rpm.is_none() {
        doubts.push(Doubt::medium(
            "회전속도를 알 수 없어 결함 주파수를 확정할 수 없음",
            "Shaft speed unknown: defect frequencies cannot be placed",
        ));
    }
    doubts.extend(doubt_of_values(case));
    if fault == Some(Fault::Cage) {
        doubts.push(Doubt::medium(
            "케이지 판정은 모의 신호로만 검증되었으며 실제 손상 기록이 없음",
            "Names of the cage were tried on simulated damage alone: no recording is at hand",
        ));
    }
    if finding == Finding::Anomalous && fault.is_none() && !case.is_usual_again(rules) {
        doubts.push(Doubt::medium(
            "이상 징후는 뚜렷하나 결함 부위가 특정되지 않음",
            "The anomaly is clear, the element at fault is not",
        ));
    }
    if fault.is_some() && event.frequency_domain.confidence < rules.screening.sure_confidence {
        doubts.push(Doubt::medium(
            "결함 부위 판별의 신뢰도가 높지 않음",
            "The element is named with moderate confidence only",
        ));
    }
    if finding == Finding::Single {
        doubts.push(Doubt::medium(
            "한 번의 측정에만 근거하므로 재측정으로 확인 필요",
            "It rests on one measurement, which a second one has to confirm",
        ));
    }
    // while the baseline is learnt no flag can rise, so nothing disagrees with it
    if matches!(finding, Finding::Suspected | Finding::Confirmed) && !is_learning(case) {
        doubts.push(Doubt::medium(
            "자동 이상 감지 없이 특징량에만 징후가 있음",
            "The features show a sign that the anomaly detection does not",
        ));
    }
    if fault.is_some() && event.frequency_domain.method == Method::Fast {
        doubts.push(Doubt {
            level: pdm_shared::diagnosis::UncertaintyLevel::Low,
            cause: Text::new("간이 분석 결과에 근거함", "Rests on the fast analysis path"),
        });
    }
    if !event.signal_quality.flags.is_empty() {
        let list = flags(&event.signal_quality.flags);
        doubts.push(Doubt::medium(
            format!("신호 품질 주의: {}", list.ko),
            format!("Signal quality: {}", list.en),
        ));
    }
    doubts
}

/// The doubt of an event without a waveform.
fn doubt_of_values(case: &Case<'_>) -> Option<Doubt> {
    let anomalous = Doubt::medium(
        "파형 없는 측정값이라 결함 주파수를 볼 수 없음: 베어링 손상을 찾을 수도 배제할 수도 없음",
        "Values without a waveform: defect lines cannot be looked for, bearing damage is neither \
         found nor ruled out",
    );
    let level = if case.event.anomaly_detected { anomalous.level } else { UncertaintyLevel::Low };
    (!case.has_waveform()).then_some(Doubt { level, ..anomalous })
}

fn cannot_judge(case: &Case<'_>) -> Screening {
    let event = case.event;
    let stopped =
        !event.operating.running || event.signal_quality.flags.contains(&QualityFlag::MachineOff);
    let (why, doubt) = if stopped {
        (
            Text::new(
                "설비 정지 상태로 보여(진동 수준 또는 가동 신호) 판정 불가",
                "The machine seems to stand, by its level or a signal of the plant: nothing to \
                 judge",
            ),
            Doubt::high(
                "운전 중이었다면 센서·케이블을 점검하고, 저속 설비라면 저속용 센서와 더 긴 측정이 필요",
                "If the machine ran, check sensor and cable; a slow one needs a sensor for low \
                 speeds and a longer record",
            ),
        )
    } else {
        let list = flags(&event.signal_quality.flags);
        (
            Text::new(
                format!("신호 불량({})으로 판정 불가", list.ko),
                format!("Bad signal ({}): cannot be judged", list.en),
            ),
            Doubt::high(
                "센서 신호를 신뢰할 수 없어 판정하지 않음",
                "The signal cannot be trusted and is not judged",
            ),
        )
    };
    Screening {
        finding: Finding::CannotJudge,
        fault: None,
        is_named_at_once: false,
        open: None,
        second: None,
        has_spikes: false,
        has_leapt: false,
        reason: None,
        is_of_machine: false,
        unflagged: case.before().map_or(0, |state| state.unflagged),
        thought: Thought {
            title: ThoughtTitle::InitialScreening,
            conclusion: why,
            evidence: vec![
                fact("signal_quality.valid", event.signal_quality.valid, "SCREEN-0"),
                fact("signal_quality.flags", &event.signal_quality.flags, "SCREEN-0"),
                fact("operating.running", event.operating.running, "SCREEN-0"),
            ],
            model_words: None,
        },
        doubts: vec![doubt],
    }
}
