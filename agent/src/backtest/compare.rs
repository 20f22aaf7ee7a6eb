//! The episodes in which two configurations differ.
//!
//! Two episodes of a bearing are one if their times touch; of several the earliest ones belong
//! together.

use pdm_shared::fault::Fault;
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use serde::Serialize;
use uuid::Uuid;

use super::played::{BearingPlayed, EpisodePlayed, MachinePlayed, SidePlayed};

/// An episode that one configuration tells otherwise than the other, or not at all.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Difference {
    /// The bearing.
    pub(crate) bearing: BearingKey,
    /// The address of its page, where pages are configured.
    pub(crate) page: Option<String>,
    /// The kind of the difference.
    pub(crate) kind: DifferenceKind,
    /// The episode under the first configuration.
    pub(crate) a: Option<ToldEpisode>,
    /// The episode under the second one.
    pub(crate) b: Option<ToldEpisode>,
}

/// The kinds of differences between two configurations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DifferenceKind {
    /// Only the first configuration tells it.
    OnlyA,
    /// Only the second one tells it.
    OnlyB,
    /// The highest level told.
    Level,
    /// When staff is told first.
    ToldAt,
    /// How often staff is told, or when it is over.
    Messages,
}

/// An episode that staff was told of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ToldEpisode {
    /// The identity, the same as in service.
    pub(crate) id: Uuid,
    /// When it began.
    pub(crate) opened_at: Timestamp,
    /// When it was closed; `None` if it stands at the last event.
    pub(crate) closed_at: Option<Timestamp>,
    /// The first alarm.
    pub(crate) told_at: Timestamp,
    /// The highest level told.
    pub(crate) told: RiskLevel,
    /// The element.
    pub(crate) fault: Option<Fault>,
    /// Messages of it.
    pub(crate) messages: u64,
}

/// The differing episodes of all machines, by bearing and time. `page` makes the address of a
/// bearing.
pub(super) fn differences(
    machines: &[MachinePlayed],
    page: impl Fn(&BearingKey) -> Option<String>,
) -> Vec<Difference> {
    let bearings = machines.iter().flat_map(|machine| &machine.bearings);
    bearings.flat_map(|bearing| of_bearing(bearing, page(&bearing.bearing))).collect()
}

fn of_bearing(bearing: &BearingPlayed, page: Option<String>) -> Vec<Difference> {
    let [a, b] = bearing.sides.as_slice() else { return Vec::new() };
    let told = told(a);
    let mut of_b = self::told(b);
    let touches = |one: &ToldEpisode, other: &ToldEpisode| {
        let end = |of: &ToldEpisode| of.closed_at.unwrap_or(bearing.last);
        one.opened_at <= end(other) && other.opened_at <= end(one)
    };
    let mut pairs: Vec<(Option<ToldEpisode>, Option<ToldEpisode>)> = Vec::new();
    for one in told {
        let place = of_b.iter().position(|other| touches(&one, other));
        pairs.push((Some(one), place.map(|place| of_b.remove(place))));
    }
    pairs.extend(of_b.into_iter().map(|one| (None, Some(one))));
    pairs.sort_by_key(|(a, b)| a.as_ref().or(b.as_ref()).map(|one| one.opened_at));
    let differing = pairs.into_iter().filter_map(|(a, b)| {
        let kind = kind(a.as_ref(), b.as_ref())?;
        Some(Difference { bearing: bearing.bearing.clone(), page: page.clone(), kind, a, b })
    });
    differing.collect()
}

fn told(side: &SidePlayed) -> Vec<ToldEpisode> {
    let told = |episode: &EpisodePlayed| {
        let first = side.first_told(episode)?;
        Some(ToldEpisode {
            id: episode.id,
            opened_at: episode.opened_at,
            closed_at: episode.closed_at,
            told_at: first.at,
            told: episode.told.unwrap_or(first.level),
            fault: episode.fault,
            messages: side.of(episode).count() as u64,
        })
    };
    side.episodes.iter().filter_map(told).collect()
}

fn kind(a: Option<&ToldEpisode>, b: Option<&ToldEpisode>) -> Option<DifferenceKind> {
    let (a, b) = match (a, b) {
        (Some(a), Some(b)) => (a, b),
        (Some(_), None) => return Some(DifferenceKind::OnlyA),
        (None, Some(_)) => return Some(DifferenceKind::OnlyB),
        (None, None) => return None,
    };
    if a.told != b.told {
        Some(DifferenceKind::Level)
    } else if a.told_at != b.told_at {
        Some(DifferenceKind::ToldAt)
    } else if (a.messages, a.closed_at) != (b.messages, b.closed_at) {
        Some(DifferenceKind::Messages)
    } else {
        None
    }
}
