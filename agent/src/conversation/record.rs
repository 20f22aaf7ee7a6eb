//! What the store records of a bearing beside its judgement, as the chat tells it.

use pdm_reasoner::chat::{MeasuredLevel, Onset, Operation};
use pdm_shared::episode::AcknowledgementState;
use pdm_shared::event::Event;
use pdm_shared::text::Text;
use pdm_store::EpisodeRecord;

/// When the abnormality of an episode began; nothing of one that never reached a level.
pub(super) fn onset_of(record: EpisodeRecord) -> Option<Onset> {
    let episode = record.episode;
    let course = &episode.course;
    if course.levels.is_empty() {
        return None;
    }
    let levels = course.levels.iter();
    let is_over = course.over_at.or(course.ended.is_some().then_some(episode.changed_at));
    Some(Onset {
        opened_at: episode.opened_at,
        levels: levels.map(|(level, of)| (*level, of.tellings.first().copied())).collect(),
        closed_at: episode.closed_at.or(is_over),
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
