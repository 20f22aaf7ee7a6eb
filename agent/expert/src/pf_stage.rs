//! Second thought: how far along the P–F curve, stage 1 to 4 (0: no sign of damage to the bearing).
//!
//! The stage is the highest that any rule asks for, so more evidence never lowers it. Rules and
//! their grounds (four-stage pages and combined feature patterns):
//! STAGE-1A a named but weak line; STAGE-1B impulsive, level usual; STAGE-1C envelope or floor up
//! without lines (lubrication?); STAGE-2A a clear line; STAGE-2B level up with a bearing symptom;
//! STAGE-3A many harmonics with sidebands; STAGE-3B level up and impulsive; STAGE-3C line and zone
//! C; STAGE-3D cage; STAGE-3E level up and kurtosis fallen back: damage spreads; STAGE-3F a second
//! family of lines; STAGE-4A line and zone D; STAGE-4B the floor has drowned the lines.

use pdm_shared::diagnosis::{Evidence, Thought, ThoughtTitle};
use pdm_shared::fault::Fault;
use pdm_shared::text::Text;

use crate::case::Case;
use crate::rules::Rules;
use crate::screening::{Finding, Screening};
use crate::wording::{Doubt, element, fact, figure, frequency, joined};

/// The second thought and what the others take from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Staging {
    /// 0–4, by this event and the memory of its measuring point, before the latch.
    pub stage: u8,
    /// Level and impulsiveness were up together without a name, judgements in a row.
    pub spreading: u32,
    /// The anomaly speaks of the machine rather than of the bearing.
    pub rotor: bool,
    /// Only lubrication-like symptoms.
    pub lubrication: bool,
    /// The thought.
    pub thought: Thought,
    /// Why not surer.
    pub doubts: Vec<Doubt>,
}

/// One rule that asks for a stage.
struct Ask {
    stage: u8,
    why: Text,
    evidence: Vec<Evidence>,
}

/// What the anomaly's contributors and the kurtosis say.
struct Symptoms {
    level: bool,
    velocity_only: bool,
    impulsive: bool,
    envelope: bool,
}

/// Stages one event.
pub fn stage(case: &Case<'_>, screening: &Screening, rules: &Rules) -> Staging {
    if matches!(screening.finding, Finding::CannotJudge | Finding::Normal | Finding::Suspected) {
        return none(case, screening);
    }
    let symptoms = symptoms(case, rules);
    let unnamed_spread = symptoms.level && symptoms.impulsive && screening.fault.is_none();
    let before = case.before().map_or(0, |state| state.spreading);
    let spreading = if unnamed_spread { before + 1 } else { 0 };
    let mut asks = Vec::new();
    if let Some(fault) = screening.fault {
        asks.extend(by_lines(case, fault, rules));
    }
    asks.extend(by_symptoms(case, screening, &symptoms, spreading, rules));
    asks.extend(by_memory(case, screening, &symptoms, rules));
    let stage = asks.iter().map(|ask| ask.stage).max().unwrap_or(0);
    let second = second_family(case, screening, rules);
    let stage = if second.is_some() && stage > 0 { (stage + 1).min(4) } else { stage };
    let rotor = stage == 0 && symptoms.velocity_only;
    Staging {
        stage,
        spreading,
        rotor,
        lubrication: stage == 1 && screening.fault.is_none() && symptoms.envelope,
        thought: thought(stage, &asks, second, rotor),
        doubts: doubts(case, screening, stage),
    }
}

fn none(case: &Case<'_>, screening: &Screening) -> Staging {
    let before = case.before();
    let conclusion = match screening.finding {
        Finding::CannotJudge => {
            Text::new("진행 단계는 이전 판정을 유지", "The stage of the former judgement is kept")
        }
        Finding::Suspected => {
            Text::new("확인 전이므로 단계를 올리지 않음", "Not confirmed yet: no stage is given")
        }
        Finding::Normal | Finding::Confirmed | Finding::Anomalous => {
            Text::new("P-F 곡선상 손상 징후 없음", "No sign of damage on the P-F curve")
        }
    };
    let mut evidence = Vec::new();
    if let Some(kurtosis) = case.event.time_domain.kurtosis {
        evidence.push(fact("time_domain.kurtosis", kurtosis, "STAGE-0"));
    }
    if let Some(zone) = case.event.time_domain.iso_zone {
        evidence.push(fact("time_domain.iso_zone", zone, "STAGE-0"));
    }
    Staging {
        stage: 0,
        spreading: before.map_or(0, |state| {
            if screening.finding == Finding::CannotJudge { state.spreading } else { 0 }
        }),
        rotor: false,
        lubrication: false,
        thought: Thought { title: ThoughtTitle::PfStage, conclusion, evidence },
        doubts: Vec::new(),
    }
}

/// A contributor's own name: `bpfo.envelope_amplitude` is an envelope amplitude.
fn own_name(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn is_level(name: &str) -> bool {
    own_name(name).starts_with("rms") || is_velocity(name)
}

fn is_velocity(name: &str) -> bool {
    own_name(name).starts_with("velocity")
}

fn is_impulsive(name: &str) -> bool {
    ["kurtosis", "crest", "peak", "impulse", "clearance", "shape"]
        .iter()
        .any(|word| own_name(name).starts_with(word))
}

fn is_envelope(name: &str) -> bool {
    ["envelope", "noise_floor", "snr"].iter().any(|word| own_name(name).starts_with(word))
}

fn is_bearing(name: &str) -> bool {
    !is_velocity(name)
}

fn symptoms(case: &Case<'_>, rules: &Rules) -> Symptoms {
    let kurtosis_high =
        case.event.time_domain.kurtosis.is_some_and(|k| k >= rules.stage.high_kurtosis);
    Symptoms {
        level: case.contributes(is_level),
        velocity_only: case.contributes(is_velocity) && !case.contributes(is_bearing),
        impulsive: kurtosis_high || case.contributes(is_impulsive),
        envelope: case.contributes(is_envelope),
    }
}

fn line_path(fault: Fault, rest: &str) -> String {
    format!("frequency_domain.{}.{rest}", fault.frequency_key())
}

fn by_lines(case: &Case<'_>, fault: Fault, rules: &Rules) -> Vec<Ask> {
    let line = case.event.frequency_domain.line(fault);
    let name = frequency(fault);
    let zone = case.event.time_domain.iso_zone;
    let multiples = line.harmonics.iter().map(|harmonic| harmonic.snr_db);
    let snr = line.snr_db.into_iter().chain(multiples).reduce(f64::max);
    let clear = snr.is_some_and(|snr| snr >= rules.stage.clear_snr_db);
    let snr_fact = |rule: &str| fact(line_path(fault, "snr_db"), line.snr_db, rule);
    let mut asks = Vec::new();
    if clear {
        let mut evidence = vec![snr_fact("STAGE-2A")];
        if let Some(harmonic) = line.harmonics.get(1) {
            evidence.push(fact(
                line_path(fault, "harmonics[1].snr_db"),
                harmonic.snr_db,
                "STAGE-2A",
            ));
        }
        let why = Text::new(
            format!("포락선에 {name} 결함선이 뚜렷함"),
            format!("a clear {name} line in the envelope"),
        );
        asks.push(Ask { stage: 2, why, evidence });
    } else {
        let why =
            Text::new(format!("{name} 결함선이 약하게 나타남"), format!("a weak {name} line"));
        asks.push(Ask { stage: 1, why, evidence: vec![snr_fact("STAGE-1A")] });
    }
    let (harmonics, sidebands) = (line.harmonics.len(), line.sidebands.count);
    if harmonics >= rules.stage.many_harmonics && sidebands >= rules.stage.many_sidebands {
        asks.push(Ask {
            stage: 3,
            why: Text::new(
                format!("{name} 고조파 {harmonics}개와 측대파 {sidebands}개"),
                format!("{harmonics} multiples of {name} with {sidebands} sidebands"),
            ),
            evidence: vec![
                fact(line_path(fault, "harmonics.length"), harmonics, "STAGE-3A"),
                fact(line_path(fault, "sidebands.count"), sidebands, "STAGE-3A"),
            ],
        });
    }
    if let Some(zone) = zone.filter(|zone| *zone >= rules.stage.limited_zone) {
        let (stage, rule) =
            if zone >= rules.stage.damage_zone { (4, "STAGE-4A") } else { (3, "STAGE-3C") };
        asks.push(Ask {
            stage,
            why: Text::new(
                format!("결함선과 함께 진동속도가 {zone:?}구역"),
                format!("lines and velocity in zone {zone:?}"),
            ),
            evidence: vec![fact("time_domain.iso_zone", zone, rule)],
        });
    }
    if fault == Fault::Cage {
        let why = Text::new(
            "보지기 결함은 예고 없이 진행될 수 있음",
            "cage damage may progress without warning",
        );
        asks.push(Ask { stage: 3, why, evidence: vec![snr_fact("STAGE-3D")] });
    }
    asks
}

fn by_symptoms(
    case: &Case<'_>,
    screening: &Screening,
    symptoms: &Symptoms,
    spreading: u32,
    rules: &Rules,
) -> Vec<Ask> {
    let time = &case.event.time_domain;
    let contributors =
        |rule: &str| fact("anomaly.contributors", &case.event.anomaly.contributors, rule);
    let kurtosis = |rule: &str| fact("time_domain.kurtosis", time.kurtosis, rule);
    let mut asks = Vec::new();
    if symptoms.impulsive {
        let why = Text::new("충격성 신호(첨도·파고율) 증가", "impulsive (kurtosis, crest factor)");
        asks.push(Ask { stage: 1, why, evidence: vec![kurtosis("STAGE-1B")] });
    }
    if symptoms.envelope {
        let why = Text::new("고주파 포락선 수준 상승", "the high-frequency envelope is up");
        asks.push(Ask { stage: 1, why, evidence: vec![contributors("STAGE-1C")] });
    }
    if symptoms.level && (symptoms.impulsive || symptoms.envelope || !symptoms.velocity_only) {
        let why = Text::new("가속도 수준 자체가 상승", "the level itself is up");
        let evidence =
            vec![contributors("STAGE-2B"), fact("time_domain.rms_g", time.rms_g, "STAGE-2B")];
        asks.push(Ask { stage: 2, why, evidence });
    }
    let stood = screening.fault.is_some() || spreading >= rules.screening.confirm_after;
    if symptoms.level && symptoms.impulsive && stood {
        let why = Text::new(
            "수준과 충격성이 함께 상승하여 박리가 커지는 양상",
            "level and impulsiveness up together: a spall that grows",
        );
        let evidence = vec![contributors("STAGE-3B"), kurtosis("STAGE-3B")];
        asks.push(Ask { stage: 3, why, evidence });
    }
    asks
}

fn by_memory(
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
        && highest >= rules.stage.fallen_kurtosis_from
        && kurtosis < rules.stage.fallen_kurtosis_ratio * highest
    {
        asks.push(Ask {
            stage: 3,
            why: Text::new(
                format!(
                    "첨도가 {}에서 {}로 내려왔으나 수준은 높아, 회복이 아니라 손상 확산",
                    figure(highest),
                    figure(kurtosis)
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

/// Another element whose line is as clear as the named one's.
fn second_family(case: &Case<'_>, screening: &Screening, rules: &Rules) -> Option<Ask> {
    let named = screening.fault?;
    let frequency_domain = &case.event.frequency_domain;
    let (fault, line) = Fault::ALL
        .into_iter()
        .filter(|fault| *fault != named)
        .map(|fault| (fault, frequency_domain.line(fault)))
        .find(|(_, line)| {
            line.score.is_some_and(|score| score >= rules.screening.sure_confidence)
                && line.snr_db.is_some_and(|snr| snr >= rules.stage.clear_snr_db)
        })?;
    let name = element(fault);
    Some(Ask {
        stage: 0,
        why: Text::new(
            format!("{} 결함선도 함께 나타나 연쇄 손상 의심", name.ko),
            format!("{} lines as well: secondary damage", name.en),
        ),
        evidence: vec![fact(line_path(fault, "score"), line.score, "STAGE-3F")],
    })
}

fn thought(stage: u8, asks: &[Ask], second: Option<Ask>, rotor: bool) -> Thought {
    let mut reasons: Vec<&Ask> = asks.iter().filter(|ask| ask.stage == stage).collect();
    if reasons.is_empty() {
        let highest = asks.iter().map(|ask| ask.stage).max();
        reasons = asks.iter().filter(|ask| Some(ask.stage) == highest).collect();
    }
    let mut whys: Vec<Text> = reasons.iter().map(|ask| ask.why.clone()).collect();
    whys.extend(second.iter().map(|ask| ask.why.clone()));
    let list = |pick: fn(&Text) -> &str| whys.iter().map(pick).collect::<Vec<_>>().join("; ");
    let conclusion = if rotor {
        Text::new(
            "베어링 손상 징후 없이 진동속도만 상승: 불평형·축정렬·이완 등 회전체 문제 의심",
            "Velocity is up without a sign of bearing damage: unbalance, misalignment or looseness",
        )
    } else if stage == 0 {
        Text::new(
            "이상은 있으나 베어링 손상으로 볼 근거가 부족함",
            "An anomaly, but nothing that speaks of bearing damage",
        )
    } else {
        Text::new(list(|why| &why.ko), list(|why| &why.en))
    };
    let mut evidence: Vec<Evidence> = Vec::new();
    for fact in asks.iter().chain(second.as_ref()).flat_map(|ask| &ask.evidence) {
        if !evidence.contains(fact) {
            evidence.push(fact.clone());
        }
    }
    Thought { title: ThoughtTitle::PfStage, conclusion, evidence }
}

fn doubts(case: &Case<'_>, screening: &Screening, stage: u8) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    if case.event.time_domain.iso_zone.is_none() {
        doubts.push(Doubt {
            level: pdm_shared::diagnosis::UncertaintyLevel::Low,
            cause: Text::new("진동속도 구역 정보가 없음", "No velocity zone is known"),
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

/// Tells the stage that the bearing stands at, and that a former judgement holds it there.
pub fn tell_standing(thought: &mut Thought, shown: u8, own: u8, path: &str) {
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
                format!("P-F {shown}단계: {}", why.ko),
                format!("P-F stage {shown}: {}", why.en),
            );
            let note = Text::new(
                "(이번 측정만으로는 더 낮으나 이전 단계를 유지)",
                "(lower by this window alone; the former stage is kept)",
            );
            if shown > own { joined(&[told, note]) } else { told }
        }
    };
    if shown > own {
        thought.evidence.push(fact(path, shown, "STAGE-L"));
    }
}
