//! Second thought: how far along the P–F curve, stage 1 to 4 (0: no sign of damage to the bearing).
//!
//! The stage is the highest that any rule asks for, so more evidence never lowers it. Rules and
//! their grounds (four-stage pages and combined feature patterns): STAGE-1A a named but weak line;
//! STAGE-1B impulsive, level usual; STAGE-1C envelope or floor up without lines (lubrication?);
//! STAGE-2A a clear line; STAGE-2B level up with a sign of the bearing (impacts, envelope, a line);
//! a level without one is a matter of the machine and stage 0; STAGE-3A many harmonics with
//! sidebands; STAGE-3B level up and impulsive; STAGE-3C line and zone C; STAGE-3D cage; STAGE-3E
//! level up and kurtosis fallen back: damage spreads; STAGE-3F a second family of lines; STAGE-3G
//! signs of the bearing at a level that stops a machine; STAGE-4A line and zone D; STAGE-4B the
//! floor has drowned the lines. STAGE-2C one recording without a history names the element with
//! certainty: stage 2, until a second measurement confirms more. STAGE-2E the velocity of one
//! recording in a bad zone is told, and asks for no later stage: mains and imbalance make it, too.
//! STAGE-2F lines of a second element in one recording. STAGE-2D damage whose element is open, in
//! one recording without a history or beside a flag: stage 2.

use pdm_shared::diagnosis::{Evidence, Thought, ThoughtTitle};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;

mod lines;
mod memory;
mod symptoms;

use symptoms::Symptoms;

use crate::case::Case;
use crate::rules::Rules;
use crate::screening::{Finding, Screening, is_severe};
use crate::unsettled::OpenReason;
use crate::velocity::{velocity_without_zone, zone_words};
use crate::wording::{Doubt, fact, joined};

/// The second thought and what the others take from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Staging {
    /// 0–4, by this event and the memory of its measuring point, before the latch.
    pub stage: u8,
    /// Level and impulsiveness were up together without a name, judgements in a row.
    pub spreading: u32,
    /// The named element had many multiples with sidebands, judgements in a row.
    pub multiples: u32,
    /// One recording's velocity is in a bad zone beside the lines of a named element.
    pub is_fast: bool,
    /// The part that the anomaly speaks of, where it speaks of the machine rather than of the
    /// bearing.
    pub machine: Option<MachinePart>,
    /// The kind of the signs, where they are of the bearing and no element is named.
    pub unnamed: Option<UnnamedSign>,
    /// The thought.
    pub thought: Thought,
    /// Why not surer.
    pub doubts: Vec<Doubt>,
}

/// A part of the machine that an anomaly without any sign of the bearing speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MachinePart {
    /// The vibration at low frequencies is up: balance, alignment, looseness.
    Rotor,
    /// The overall vibration is up, or nothing says where: load, process, fastening, neighbours.
    Whole,
    /// The signal is that of a bad cable or contact.
    Sensor,
    /// Heavy impacts, of the bearing or of the machine.
    Striking,
    /// Nothing any more: the window is at its usual level again.
    None,
}

/// Signs of a bearing without a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnnamedSign {
    /// High frequencies are up without impacts: lack of lubricant, or noise of the process.
    Broadband,
    /// Impacts without lines: a bearing, looseness, rubbing or the sensor's mounting.
    Impulsive,
}

/// One rule that asks for a stage.
struct Ask {
    stage: u8,
    why: Text,
    evidence: Vec<Evidence>,
}

/// Stages one event.
pub fn stage(case: &Case<'_>, screening: &Screening, rules: &Rules) -> Staging {
    if matches!(
        screening.finding,
        Finding::CannotJudge | Finding::Normal | Finding::Open | Finding::Suspected
    ) {
        return none(case, screening);
    }
    if screening.is_of_machine {
        return of_machine(case, screening, rules);
    }
    let symptoms = Symptoms::of(case, rules);
    let unnamed_spread = symptoms.level && symptoms.impulsive && screening.fault.is_none();
    let before = case.before().map_or(0, |state| state.spreading);
    let spreading = if unnamed_spread { before + 1 } else { 0 };
    let has_many = screening.fault.is_some_and(|fault| lines::has_many(case, fault, rules));
    let multiples = if has_many { case.before().map_or(0, |state| state.multiples) + 1 } else { 0 };
    let mut asks = by_lines(case, screening, multiples, rules);
    asks.extend(screening.open.map(lines::by_open_damage));
    asks.extend(symptoms.asks(case, screening, spreading, rules));
    asks.extend(memory::asks(case, screening, &symptoms, rules));
    let stage = asks.iter().map(|ask| ask.stage).max().unwrap_or(0);
    let second = lines::second_family(case, screening, rules)
        .filter(|_| screening.finding != Finding::Single);
    let stage = if second.is_some() && stage > 0 { (stage + 1).min(4) } else { stage };
    let part = if case.is_usual_again(rules) {
        MachinePart::None
    } else if case.has_spikes_of_cable() {
        MachinePart::Sensor
    } else if symptoms.low_frequency {
        MachinePart::Rotor
    } else {
        MachinePart::Whole
    };
    let machine = (stage == 0).then_some(part);
    let is_unnamed = stage > 0 && screening.fault.is_none() && screening.open.is_none();
    let sign = if symptoms.impulsive { UnnamedSign::Impulsive } else { UnnamedSign::Broadband };
    Staging {
        stage,
        spreading,
        multiples,
        is_fast: screening.finding == Finding::Single
            && screening.fault.is_some()
            && case.zone().is_some_and(|zone| zone >= rules.stage.limited_zone),
        machine,
        unnamed: is_unnamed.then_some(sign),
        thought: thought(case, stage, &asks, second, machine),
        doubts: doubts(case, screening, stage),
    }
}

/// The stages that the lines of the named element ask for; of one recording its name alone, with
/// what stands beside it.
fn by_lines(case: &Case<'_>, screening: &Screening, multiples: u32, rules: &Rules) -> Vec<Ask> {
    let Some(fault) = screening.fault else { return Vec::new() };
    let is_single = screening.finding == Finding::Single;
    let mut asks = if is_single { Vec::new() } else { lines::asks(case, fault, multiples, rules) };
    let is_clear = asks.iter().any(|ask| ask.stage >= 2);
    if screening.is_named_at_once && !is_clear {
        asks.push(lines::by_name(case, fault));
    }
    if is_single {
        asks.extend(lines::beside_velocity(case, rules));
        asks.extend(screening.second.map(|second| lines::beside_second(case, second)));
    }
    asks
}

fn none(case: &Case<'_>, screening: &Screening) -> Staging {
    let before = case.before();
    let conclusion = match screening.finding {
        Finding::CannotJudge if before.is_none() => Text::new(
            "판정할 수 없는 측정이므로 단계를 부여하지 않음",
            "The window cannot be judged: no stage is given",
        ),
        Finding::CannotJudge => {
            Text::new("진행 단계는 이전 판정을 유지", "The stage of the former judgement is kept")
        }
        Finding::Suspected => {
            Text::new("확인 전이므로 단계를 부여하지 않음", "Not confirmed yet: no stage is given")
        }
        Finding::Open if screening.reason == Some(OpenReason::LevelMoved) => Text::new(
            "결함선은 없음. 수준 변화의 원인을 확인하기 전까지 단계를 부여하지 않음",
            "No defect line; no stage is given until it is known what moved the level",
        ),
        Finding::Open if screening.reason == Some(OpenReason::Ungrouped) => {
            Text::new("P-F 곡선상 손상 징후 없음", "No sign of damage on the P-F curve")
        }
        Finding::Open if screening.reason == Some(OpenReason::NoSignal) => {
            Text::new("신호가 없어 단계를 부여하지 않음", "Without a signal no stage is given")
        }
        Finding::Open => Text::new(
            "결함선이 판정되지 않아 단계를 부여하지 않음",
            "The defect lines are not judged: no stage is given",
        ),
        Finding::Normal if case.memory.state.risk() > RiskLevel::Normal => {
            Text::new("이번 측정은 평소 수준", "This window is at the usual level")
        }
        Finding::Normal | Finding::Single | Finding::Confirmed | Finding::Anomalous => {
            Text::new("P-F 곡선상 손상 징후 없음", "No sign of damage on the P-F curve")
        }
    };
    let mut evidence = Vec::new();
    if let Some(kurtosis) = case.event.time_domain.kurtosis {
        evidence.push(fact("time_domain.kurtosis", kurtosis, "STAGE-0"));
    }
    if case.zone().is_some() {
        evidence.push(case.zone_fact("STAGE-0"));
    }
    Staging {
        stage: 0,
        spreading: before.map_or(0, |state| {
            if screening.finding == Finding::CannotJudge { state.spreading } else { 0 }
        }),
        multiples: before.map_or(0, |state| {
            if screening.finding == Finding::CannotJudge { state.multiples } else { 0 }
        }),
        is_fast: false,
        machine: None,
        unnamed: None,
        thought: Thought { title: ThoughtTitle::PfStage, conclusion, evidence, model_words: None },
        doubts: Vec::new(),
    }
}

/// One recording that asks for a check of the machine and shows no bearing.
fn of_machine(case: &Case<'_>, screening: &Screening, rules: &Rules) -> Staging {
    let part = if is_severe(case, rules) || case.is_impulsive(rules) {
        MachinePart::Striking
    } else {
        MachinePart::Rotor
    };
    let machine = Some(part);
    let mut thought = thought(case, 0, &[], None, machine);
    thought.conclusion = if case.is_impulsive(rules) {
        Text::new(
            "충격의 부위가 특정되지 않아 단계를 부여하지 않음: 베어링 손상을 배제할 수 없음",
            "No stage is given, as no line names what strikes; damage of the bearing is not ruled \
             out",
        )
    } else {
        Text::new(
            "베어링 손상 징후는 확인되지 않음: 불평형·축정렬·이완·러빙 등 설비 문제부터 확인",
            "No bearing damage is seen: check the machine first for unbalance, misalignment, \
             looseness or rubbing",
        )
    };
    thought.evidence.push(case.zone_fact("STAGE-0"));
    let peak = fact("time_domain.peak_g", case.event.time_domain.peak_g, "STAGE-0");
    thought.evidence.push(peak);
    let doubts = doubts(case, screening, 0);
    Staging {
        stage: 0,
        spreading: 0,
        multiples: 0,
        is_fast: false,
        machine,
        unnamed: None,
        thought,
        doubts,
    }
}

fn thought(
    case: &Case<'_>,
    stage: u8,
    asks: &[Ask],
    second: Option<Ask>,
    machine: Option<MachinePart>,
) -> Thought {
    let mut reasons: Vec<&Ask> = asks.iter().filter(|ask| ask.stage == stage).collect();
    if reasons.is_empty() {
        let highest = asks.iter().map(|ask| ask.stage).max();
        reasons = asks.iter().filter(|ask| Some(ask.stage) == highest).collect();
    }
    let mut whys: Vec<Text> = reasons.iter().map(|ask| ask.why.clone()).collect();
    whys.extend(second.iter().map(|ask| ask.why.clone()));
    let list = |pick: fn(&Text) -> &str| whys.iter().map(pick).collect::<Vec<_>>().join("; ");
    let conclusion = machine.map_or_else(
        || Text::new(list(|why| &why.ko), list(|why| &why.en)),
        |part| without_sign_of_bearing(case, part),
    );
    let mut evidence: Vec<Evidence> = Vec::new();
    if case.event.time_domain.iso_zone.is_none() {
        let velocity = case.event.time_domain.velocity_rms_mm_s;
        evidence.extend(velocity.map(|_| case.zone_fact("STAGE-0")));
    }
    for fact in asks.iter().chain(second.as_ref()).flat_map(|ask| &ask.evidence) {
        if !evidence.contains(fact) {
            evidence.push(fact.clone());
        }
    }
    Thought { title: ThoughtTitle::PfStage, conclusion, evidence, model_words: None }
}

/// The conclusion on an anomaly without any sign of the bearing.
fn without_sign_of_bearing(case: &Case<'_>, part: MachinePart) -> Text {
    if !case.has_waveform() {
        return Text::new(
            "진동 상승: 파형 없는 측정값이라 베어링 손상도 회전체 문제도 배제할 수 없음",
            "The vibration is up: these are values without a waveform, so neither bearing damage \
             nor a matter of the machine is ruled out",
        );
    }
    let is_level = case.event.contributing().any(|feature| feature.kind().is_level());
    match part {
        MachinePart::Sensor => Text::new(
            "베어링 충격으로 보기에는 너무 짧거나 드문 스파이크: 센서·케이블 접촉 불량 또는 공정의 단발 충격 의심",
            "Spikes too short or too rare for a bearing: a contact of sensor or cable, or single \
             strokes of the process",
        ),
        MachinePart::None => Text::new(
            "이번 측정은 평소 수준이며 베어링 손상 징후 없음",
            "This window is at its usual level and shows no sign of damage",
        ),
        MachinePart::Striking => {
            Text::new("충격의 부위가 특정되지 않음", "No line names what strikes")
        }
        MachinePart::Rotor => Text::new(
            "베어링 손상 징후 없이 저주파 진동만 상승: 불평형·축정렬·이완 등 회전체 문제 의심",
            "Low-frequency vibration is up without a sign of bearing damage: unbalance, \
             misalignment or looseness",
        ),
        MachinePart::Whole if is_level => Text::new(
            "베어링 손상 징후 없이 전체 진동만 상승: 부하·공정 변화, 이완, 인접 설비의 영향 의심",
            "Overall vibration is up without a sign of bearing damage: load, process, looseness or \
             a neighbour",
        ),
        MachinePart::Whole => Text::new(
            "이상은 있으나 베어링 손상으로 볼 근거가 부족함",
            "An anomaly, but nothing that speaks of bearing damage",
        ),
    }
}

fn doubts(case: &Case<'_>, screening: &Screening, stage: u8) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    if case.event.time_domain.iso_zone.is_none() {
        doubts.push(Doubt {
            level: pdm_shared::diagnosis::UncertaintyLevel::Low,
            cause: zone_doubt(case),
        });
    }
    if stage >= 3 && screening.fault.is_none() {
        doubts.push(Doubt::medium(
            "결함선 없이 수준 변화만으로 단계를 판정함",
            "The stage rests on levels alone, without defect lines",
        ));
    }
    doubts
}

/// The doubt about a velocity whose machine has no stated group.
fn zone_doubt(case: &Case<'_>) -> Text {
    if case.zone().is_none() {
        return velocity_without_zone(case);
    }
    let words = zone_words(case);
    Text::new(
        format!("기계 그룹이 입력되지 않음: {}", words.ko),
        format!("The machine's group is not stated: {}", words.en),
    )
}

/// The stage that a judgement tells.
#[derive(Debug, Clone, Copy)]
pub struct ToldStage {
    /// The stage that the bearing stands at.
    pub shown: u8,
    /// The stage by this window alone.
    pub own: u8,
    /// No line names the bearing, so the stage holds if the bearing is the cause at all.
    pub is_if: bool,
}

/// The condition of a stage that no line carries: the P-F curve is that of the bearing.
pub(crate) const fn if_the_bearing(is_if: bool) -> (&'static str, &'static str) {
    if is_if {
        ("(베어링이 원인일 경우)", " if the bearing is the cause")
    } else {
        ("", "")
    }
}

/// Tells the stage that the bearing stands at, and that a former judgement holds it there.
pub fn tell_standing(thought: &mut Thought, told: ToldStage, path: Option<&str>) {
    let ToldStage { shown, own, is_if } = told;
    let (if_ko, if_en) = if_the_bearing(is_if);
    let why = thought.conclusion.clone();
    thought.conclusion = match (shown, own) {
        (0, _) => return,
        (shown, 0) => {
            let note = Text::new(
                format!("(이전에 판정된 P-F {shown}단계를 유지)"),
                format!("(P-F stage {shown} of the former judgements is kept)"),
            );
            joined(&[why, note])
        }
        (shown, own) => {
            let told = Text::new(
                format!("P-F {shown}단계{if_ko}: {}", why.ko),
                format!("P-F stage {shown}{if_en}: {}", why.en),
            );
            let note = Text::new(
                "(이번 측정만으로는 더 낮으나 이전 단계를 유지)",
                "(lower by this window alone; the former stage is kept)",
            );
            if shown > own { joined(&[told, note]) } else { told }
        }
    };
    if let Some(path) = path.filter(|_| shown > own) {
        thought.evidence.push(fact(path, shown, "STAGE-L"));
    }
}
