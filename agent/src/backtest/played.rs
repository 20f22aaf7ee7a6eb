//! The result of playing a machine: one line of a part, and the source of all figures and of the
//! report.

use pdm_episode::Episode;
use pdm_shared::delivery::{Notification, NotificationReason};
use pdm_shared::fault::Fault;
use pdm_shared::follow_up::Verdict;
use pdm_shared::id::{BearingKey, GatewayId};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::course::Point;
use super::names::MachineKey;
use crate::preview::Way;

/// A machine that was played to its last event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct MachinePlayed {
    /// The machine.
    pub(crate) machine: MachineKey,
    /// Its bearings, by name.
    pub(crate) bearings: Vec<BearingPlayed>,
    /// For each configuration, messages that are of no bearing: of a gateway's clock, for example.
    pub(crate) others: Vec<Vec<Message>>,
}

/// A bearing that was played.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct BearingPlayed {
    /// The bearing.
    pub(crate) bearing: BearingKey,
    /// Its windows.
    pub(crate) windows: u64,
    /// Windows that were older than the last one of their measuring point.
    pub(crate) late: u64,
    /// The first window.
    pub(crate) first: Timestamp,
    /// The last window.
    pub(crate) last: Timestamp,
    /// The usual time from window to window, s; `None` for a single window.
    pub(crate) period_s: Option<f64>,
    /// Times without any window that are far longer than the period.
    pub(crate) holes: Vec<Hole>,
    /// The gateways that measured it, with the first window of each.
    pub(crate) gateways: Vec<(GatewayId, Timestamp)>,
    /// Its course for plots, in stretches of one length.
    pub(crate) course: Vec<Point>,
    /// The reports of staff on it, where the events come from a store.
    pub(crate) reported: Vec<ReportPlayed>,
    /// The result under each configuration.
    pub(crate) sides: Vec<SidePlayed>,
}

/// A time without windows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Hole {
    /// The last window before.
    pub(crate) from: Timestamp,
    /// The first window after.
    pub(crate) until: Timestamp,
}

/// A report of staff.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ReportPlayed {
    /// The time of the report.
    pub(crate) at: Timestamp,
    /// The finding, if somebody looked.
    pub(crate) verdict: Option<Verdict>,
    /// Whether the bearing was repaired or replaced.
    pub(crate) repaired: bool,
}

/// A bearing under one configuration.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SidePlayed {
    /// The episodes, in their order.
    pub(crate) episodes: Vec<EpisodePlayed>,
    /// The messages, in their order.
    pub(crate) messages: Vec<Message>,
}

/// An episode of a bearing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct EpisodePlayed {
    /// The identity, the same as in service.
    pub(crate) id: Uuid,
    /// How often it changed.
    pub(crate) changes: u64,
    /// When it began.
    pub(crate) opened_at: Timestamp,
    /// When it was closed; `None` if it stands at the last event.
    pub(crate) closed_at: Option<Timestamp>,
    /// The highest level that staff was told; `None` if it was told nothing.
    pub(crate) told: Option<RiskLevel>,
    /// The element.
    pub(crate) fault: Option<Fault>,
    /// Staff was told of it with another bearing's alarm when the events ended.
    pub(crate) told_with_another: bool,
}

/// A message to staff.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Message {
    /// When it was decided.
    pub(crate) at: Timestamp,
    /// When it leaves by its lanes; `None` where only the broker's topic has it.
    pub(crate) leaves_at: Option<Timestamp>,
    /// The reason of the message.
    pub(crate) reason: NotificationReason,
    /// The level.
    pub(crate) level: RiskLevel,
    /// The title.
    pub(crate) title: Text,
    /// The episode, if it is of one.
    pub(crate) episode: Option<Uuid>,
    /// The lanes.
    pub(crate) lanes: Vec<String>,
    /// The name of the group with which it leaves a lane as one message.
    pub(crate) group: Option<String>,
    /// The remaining life that was planned with when it was told, h.
    pub(crate) life_h: Option<f64>,
}

impl Message {
    pub(super) fn new(notification: Notification, way: Way, life_h: Option<f64>) -> Self {
        Self {
            at: notification.created_at,
            leaves_at: way.leaves_at,
            reason: notification.reason,
            level: notification.risk_level,
            title: notification.title,
            episode: notification.episode_id,
            lanes: way.lanes,
            group: way.message,
            life_h,
        }
    }
}

impl From<Episode> for EpisodePlayed {
    fn from(episode: Episode) -> Self {
        Self {
            id: episode.id,
            changes: episode.sequence,
            opened_at: episode.opened_at,
            closed_at: episode.closed_at,
            told: episode.course.told,
            fault: episode.course.fault,
            told_with_another: episode.course.told_with.is_some(),
        }
    }
}

impl BearingPlayed {
    /// Years in which it was measured: from the first window to the last without the holes.
    pub(crate) fn years(&self) -> f64 {
        let holes_s: f64 = self.holes.iter().map(|hole| hole.until.seconds_since(hole.from)).sum();
        (self.last.seconds_since(self.first) - holes_s).max(0.0) / (365.25 * 86_400.0)
    }
}

impl SidePlayed {
    /// The messages of an episode.
    pub(crate) fn of(&self, episode: &EpisodePlayed) -> impl Iterator<Item = &Message> {
        let id = episode.id;
        self.messages.iter().filter(move |message| message.episode == Some(id))
    }

    /// The first alarm of an episode.
    pub(crate) fn first_told(&self, episode: &EpisodePlayed) -> Option<&Message> {
        self.of(episode).find(|message| message.reason == NotificationReason::Raised)
    }
}
