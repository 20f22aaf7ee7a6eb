//! Reads the store's records of a bearing besides its judgement, for the chat.

use super::watch::began_at;
use pdm_reasoner::chat::{DefectLine, MeasuredLevel, NoteLine, Onset, Operation};
use pdm_shared::episode::{AcknowledgementState, Condition};
use pdm_shared::event::Event;
use pdm_shared::follow_up::{FollowUpState, Verdict};
use pdm_shared::text::{Language, Text};
use pdm_web::plant::{Remark, ReportRow};

use pdm_store::{DEAD_LETTER_LANE, Delivery, EpisodeRecord, MQTT_LANE, VECTORS_LANE};

/// Returns when the abnormality of an episode began; `None` for one that never reached a level.
pub(super) fn onset_of(record: EpisodeRecord) -> Option<Onset> {
    let began_at = began_at(&record);
    let episode = record.episode;
    let course = &episode.course;
    if course.levels.is_empty() {
        return None;
    }
    let levels = course.levels.iter();
    let normal_since = match course.condition {
        Condition::Normal { since } => Some(since),
        Condition::Active { .. } | Condition::Frozen { .. } => None,
    };
    // the agent closes it behind the measurements
    let over_at = course.over_at.or(course.ended.is_some().then_some(episode.changed_at));
    let closed_at = episode.closed_at.or(over_at);
    Some(Onset {
        opened_at: began_at,
        levels: levels.map(|(level, of)| (*level, of.tellings.first().copied())).collect(),
        closed_at: closed_at.map(|at| normal_since.map_or(at, |since| at.min(since))),
        acknowledged: match &episode.acknowledgement {
            AcknowledgementState::Unacknowledged => None,
            AcknowledgementState::Acknowledged { by, at, .. } => Some((by.clone(), *at)),
        },
    })
}

pub(super) fn levels_of(event: &Event) -> Vec<MeasuredLevel> {
    let domain = &event.time_domain;
    let level = |ko: &str, en: &str, value: Option<f64>, unit: &'static str| {
        value.map(|value| MeasuredLevel { name: Text::new(ko, en), value, unit })
    };
    let all = [
        level("진동속도 RMS", "vibration velocity RMS", domain.velocity_rms_mm_s, "mm/s"),
        level("가속도 RMS", "acceleration RMS", domain.rms_g, "g"),
        level("첨도", "kurtosis", domain.kurtosis, ""),
        level("파고율", "crest factor", domain.crest_factor, ""),
    ];
    all.into_iter().flatten().collect()
}

pub(super) fn operation_of(event: &Event) -> Operation {
    Operation {
        is_running: event.operating.running,
        speed_rpm: event.operating.shaft_speed_rpm,
        zone: event.time_domain.iso_zone,
    }
}

/// The lines of the bearing's elements in the spectrum of a window.
pub(super) fn lines_of(event: &Event) -> Vec<DefectLine> {
    let domain = &event.frequency_domain;
    let all = [
        ("BPFO", &domain.bpfo),
        ("BPFI", &domain.bpfi),
        ("BSF", &domain.bsf),
        ("FTF", &domain.ftf),
    ];
    let line = |(name, line): (&'static str, &pdm_shared::event::DefectLine)| {
        let frequency_hz = line.frequency_hz?;
        Some(DefectLine { name, frequency_hz, snr_db: line.snr_db })
    };
    all.into_iter().filter_map(line).collect()
}

/// Returns the notes on a bearing, newest first; reports that were taken back are left out.
pub(super) fn notes_of(remarks: Vec<Remark>, reports: Vec<ReportRow>) -> Vec<NoteLine> {
    let remarks = remarks.into_iter().filter(|remark| remark.note.is_some());
    let remarks = remarks.map(|remark| NoteLine {
        at: remark.at,
        by: remark.by,
        found: None,
        note: remark.note,
    });
    let reports = reports.into_iter().filter(|report| report.withdrawn_at.is_none());
    let reports = reports.map(|report| NoteLine {
        at: report.at,
        found: reported(&report),
        by: report.by,
        note: report.note,
    });
    let mut all: Vec<NoteLine> = remarks.chain(reports).collect();
    all.sort_by_key(|note| std::cmp::Reverse(note.at));
    all.dedup();
    all
}

/// Returns the text of a report besides its note: the state of the work, and the finding with its
/// element and cause.
fn reported(report: &ReportRow) -> Option<Text> {
    let mut told: Vec<Text> = Vec::new();
    match report.state {
        FollowUpState::Dropped => {
            told.push(Text::new("조치를 하지 않기로 함", "the work was dropped"));
        }
        FollowUpState::Done if report.repaired => {
            told.push(Text::new("교체·수리함", "repaired or replaced"));
        }
        FollowUpState::Done | FollowUpState::Open | FollowUpState::Superseded => {}
    }
    if let Some(found) = &report.found {
        told.push(match found.verdict {
            Verdict::Right => Text::new("판정이 맞았음", "the judgement was right"),
            Verdict::Wrong => {
                Text::new("이상이 없었음(오경보)", "nothing was wrong (a false alarm)")
            }
            Verdict::OtherCause => Text::new("다른 원인이었음", "it was another cause"),
        });
        told.extend(found.element.map(|element| {
            let name = pdm_expert::wording::element(element);
            Text::new(format!("손상 부위 {}", name.ko), format!("damaged: {}", name.en))
        }));
        told.extend(
            found
                .cause
                .as_ref()
                .map(|cause| Text::new(format!("원인 {cause}"), format!("cause: {cause}"))),
        );
    }
    let joined =
        |language| told.iter().map(|one| one.in_language(language)).collect::<Vec<_>>().join(", ");
    (!told.is_empty()).then(|| Text::new(joined(Language::Ko), joined(Language::En)))
}

/// Returns the person or channel of a delivery; `None` for a lane that only programs read.
pub(super) fn told_to_of(delivery: &Delivery) -> Option<Text> {
    let lane = delivery.lane.as_str();
    if [MQTT_LANE, VECTORS_LANE, DEAD_LETTER_LANE].contains(&lane) {
        return None;
    }
    let person = lane.strip_prefix("to:").and_then(|rest| rest.split(':').next());
    let name = person.or_else(|| lane.strip_prefix("webhook:")).unwrap_or(lane);
    Some(match delivery.state.as_str() {
        "delivered" => Text::new(name, name),
        "given_up" => Text::new(format!("{name}(전달 실패)"), format!("{name} (not delivered)")),
        "held" => Text::new(format!("{name}(보류됨)"), format!("{name} (held back)")),
        _ => Text::new(format!("{name}(아직 전달 안 됨)"), format!("{name} (not yet delivered)")),
    })
}
