//! Stages that the named element's lines ask for.

use pdm_shared::diagnosis::Evidence;
use pdm_shared::event::OpenDamage;
use pdm_shared::fault::Fault;
use pdm_shared::text::Text;

use super::Ask;
use crate::case::Case;
use crate::rules::Rules;
use crate::screening::Screening;
use crate::velocity::zone_words;
use crate::wording::{element, fact, frequency};

/// The stages that the lines of the named element ask for; `multiples` is the number of judgements
/// in a row that had many.
pub(super) fn asks(case: &Case<'_>, fault: Fault, multiples: u32, rules: &Rules) -> Vec<Ask> {
    // sidebands that come and go in single windows are no progress while the level is quiet
    let stands = case.event.anomaly_detected || multiples >= rules.screening.confirm_after;
    let asked = [
        Some(by_clearness(case, fault, rules)),
        by_multiples(case, fault, rules).filter(|_| stands),
        by_velocity(case, rules),
        by_cage(case, fault),
    ];
    asked.into_iter().flatten().collect()
}

/// Stage 2 for a name that counts at once, where nothing is learnt that the line could be compared
/// with.
pub(super) fn by_name(case: &Case<'_>, fault: Fault) -> Ask {
    let confidence = case.event.frequency_domain.confidence;
    let name = frequency(fault);
    Ask {
        stage: 2,
        why: Text::new(
            format!("이력 없이도 {name} 결함선이 부위를 가리킴"),
            format!("{name} lines that name the element, without a history"),
        ),
        evidence: vec![
            fact("frequency_domain.confidence", confidence, "STAGE-2C"),
            snr_fact(case, fault, "STAGE-2C"),
        ],
    }
}

/// Stage 2 for damage whose element is open.
pub(super) fn by_open_damage(open: OpenDamage) -> Ask {
    Ask {
        stage: 2,
        why: Text::new(
            "부위는 미확정이나 정상 베어링보다 높은 결함선이 나타남",
            "lines higher than those of sound bearings, of a part that cannot be told yet",
        ),
        evidence: vec![
            fact("frequency_domain.damaged.most_likely", open.most_likely, "STAGE-2D"),
            fact("frequency_domain.damaged.or_else", open.or_else, "STAGE-2D"),
        ],
    }
}

/// Tells the velocity of one recording in a bad zone: whether the bearing or the machine makes it
/// (imbalance, misalignment, mains), the zone does not say, so it asks for no later stage.
pub(super) fn beside_velocity(case: &Case<'_>, rules: &Rules) -> Option<Ask> {
    case.zone().filter(|zone| *zone >= rules.stage.limited_zone)?;
    let words = zone_words(case);
    Some(Ask {
        stage: 2,
        why: Text::new(
            format!("{}(베어링 또는 설비의 영향인지는 미확정)", words.ko),
            format!("{} (whether the bearing or the machine makes it is open)", words.en),
        ),
        evidence: vec![case.zone_fact("STAGE-2E")],
    })
}

/// Tells the lines of a second element in one recording.
pub(super) fn beside_second(case: &Case<'_>, second: Fault) -> Ask {
    let name = element(second);
    let confidence = case.event.frequency_domain.second_fault.map(|one| one.confidence);
    Ask {
        stage: 2,
        why: Text::new(
            format!("{} 결함선도 나타나 두 부위의 손상이 의심됨", name.ko),
            format!("lines of the {} as well: both may be damaged", name.en),
        ),
        evidence: vec![fact("frequency_domain.second_fault.confidence", confidence, "STAGE-2F")],
    }
}

/// Whether the multiples and sidebands of a developed defect stand in this window.
pub(super) fn has_many(case: &Case<'_>, fault: Fault, rules: &Rules) -> bool {
    let line = case.event.frequency_domain.line(fault);
    line.harmonics.len() >= rules.stage.many_harmonics
        && line.sidebands.count >= rules.stage.many_sidebands
}

fn snr_fact(case: &Case<'_>, fault: Fault, rule: &str) -> Evidence {
    let snr_db = case.event.frequency_domain.line(fault).snr_db;
    fact(line_path(fault, "snr_db"), snr_db, rule)
}

/// Stage 2 for a clear line, stage 1 for a weak one.
fn by_clearness(case: &Case<'_>, fault: Fault, rules: &Rules) -> Ask {
    let line = case.event.frequency_domain.line(fault);
    let name = frequency(fault);
    let multiples = line.harmonics.iter().map(|harmonic| harmonic.snr_db);
    let snr = line.snr_db.into_iter().chain(multiples).reduce(f64::max);
    if !snr.is_some_and(|snr| snr >= rules.stage.clear_snr_db) {
        let why =
            Text::new(format!("{name} 결함선이 약하게 나타남"), format!("a weak {name} line"));
        return Ask { stage: 1, why, evidence: vec![snr_fact(case, fault, "STAGE-1A")] };
    }
    let mut evidence = vec![snr_fact(case, fault, "STAGE-2A")];
    if let Some(second) = line.harmonics.get(1) {
        let path = line_path(fault, "harmonics[1].snr_db");
        evidence.push(fact(path, second.snr_db, "STAGE-2A"));
    }
    let why = Text::new(
        format!("포락선에 {name} 결함선이 뚜렷함"),
        format!("a clear {name} line in the envelope"),
    );
    Ask { stage: 2, why, evidence }
}

/// Stage 3 for many harmonics with many sidebands.
fn by_multiples(case: &Case<'_>, fault: Fault, rules: &Rules) -> Option<Ask> {
    let line = case.event.frequency_domain.line(fault);
    let name = frequency(fault);
    let (harmonics, sidebands) = (line.harmonics.len(), line.sidebands.count);
    has_many(case, fault, rules).then(|| Ask {
        stage: 3,
        why: Text::new(
            format!("{name} 고조파 {harmonics}개와 측대파 {sidebands}개"),
            format!("{harmonics} multiples of {name} with {sidebands} sidebands"),
        ),
        evidence: vec![
            fact(line_path(fault, "harmonics.length"), harmonics, "STAGE-3A"),
            fact(line_path(fault, "sidebands.count"), sidebands, "STAGE-3A"),
        ],
    })
}

/// Stage 3 or 4 where the velocity, too, is in a bad zone of ISO 20816.
fn by_velocity(case: &Case<'_>, rules: &Rules) -> Option<Ask> {
    let zone = case.zone().filter(|zone| *zone >= rules.stage.limited_zone)?;
    let (stage, rule) =
        if zone >= rules.stage.damage_zone { (4, "STAGE-4A") } else { (3, "STAGE-3C") };
    Some(Ask {
        stage,
        why: {
            let words = zone_words(case);
            Text::new(
                format!("결함선과 함께 {}", words.ko),
                format!("defect lines, and {}", words.en),
            )
        },
        evidence: vec![case.zone_fact(rule)],
    })
}

/// Stage 3 for a cage, whose damage may progress without warning.
fn by_cage(case: &Case<'_>, fault: Fault) -> Option<Ask> {
    let why = Text::new(
        "보지기 결함은 예고 없이 진행될 수 있음",
        "cage damage may progress without warning",
    );
    let evidence = vec![snr_fact(case, fault, "STAGE-3D")];
    (fault == Fault::Cage).then_some(Ask { stage: 3, why, evidence })
}

/// Returns the stage and reason that another element asks for, whose line is as clear as the named
/// one's.
pub(super) fn second_family(case: &Case<'_>, screening: &Screening, rules: &Rules) -> Option<Ask> {
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

fn line_path(fault: Fault, rest: &str) -> String {
    format!("frequency_domain.{}.{rest}", fault.frequency_key())
}
