//! The episode of a bearing or gateway as it is kept, and a change of it.

use pdm_episode::Episode;
use pdm_routes::Telling;
use pdm_shared::delivery::Notification;
use pdm_shared::episode::Suppression;
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use uuid::Uuid;

/// The last episode of a bearing or gateway.
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodeRecord {
    /// The episode.
    pub episode: Episode,
    /// The alarm that staff was told of last; `None` while a suppression has held since it began.
    pub alarm: Option<Alarm>,
    /// The alarm that it is told with, while its suppression says so.
    pub beside: Option<Beside>,
}

/// The alarm of one cause with which an episode is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beside {
    /// The bearing of that alarm.
    pub source: BearingKey,
    /// Its level when the episode was put beside it.
    pub level: RiskLevel,
}

impl EpisodeRecord {
    /// Returns the version on which a change is decided: the change is refused if the episode has
    /// changed meanwhile.
    pub fn version(&self) -> EpisodeVersion {
        EpisodeVersion { id: self.episode.id, sequence: self.episode.sequence }
    }

    /// The record as a change leaves it. A change is one number in the store, whatever its steps.
    pub fn after(was: Option<Self>, mut change: EpisodeChange) -> Self {
        let was = was.filter(|one| one.episode.id == change.episode.id);
        if let Some(was) = &was {
            change.episode.sequence = was.episode.sequence + 1;
        }
        let (alarm, beside) = was.map_or((None, None), |one| (one.alarm, one.beside));
        Self {
            episode: change.episode,
            alarm: change.alarm.map(|alarm| *alarm).or(alarm),
            beside: if change.suppresses { change.beside } else { beside },
        }
    }

    /// Whether alarms of the same cause are told with this one: it stands, and nothing withholds
    /// it.
    pub fn is_source(&self) -> bool {
        let episode = &self.episode;
        self.is_open()
            && episode.course.condition.level() > RiskLevel::Normal
            && episode.suppression == Suppression::None
    }

    /// Whether staff was told of a level that stands and that nobody has acknowledged: its route
    /// and its repetitions go on, whatever becomes of the gateway that measured it.
    pub fn is_unanswered(&self) -> bool {
        let episode = &self.episode;
        self.is_open()
            && self.alarm.is_some()
            && !episode.acknowledgement.is_acknowledged()
            && episode.course.condition.level() > RiskLevel::Normal
    }

    /// Whether the episode stands.
    pub fn is_open(&self) -> bool {
        self.episode.closed_at.is_none()
    }
}

/// An episode at one of its changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EpisodeVersion {
    /// The episode.
    pub id: Uuid,
    /// The number of the change.
    pub sequence: u64,
}

/// The alarm of an episode that stands, as staff was told it.
#[derive(Debug, Clone, PartialEq)]
pub struct Alarm {
    /// The highest level told.
    pub risk: RiskLevel,
    /// How often the alarm was repeated.
    pub repeats: u32,
    /// When the alarm is repeated next.
    pub repeat_at: Option<Timestamp>,
    /// The last notification.
    pub notification: Notification,
    /// How far it was told along its route; `None` where everybody was told at once.
    pub telling: Option<Telling>,
}

/// A change of an episode.
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodeChange {
    /// The episode afterwards.
    pub episode: Episode,
    /// Nobody has acknowledged what it tells now.
    pub resets_acknowledgement: bool,
    /// The change is one of the suppression. Any other leaves the suppression as it is stored.
    pub suppresses: bool,
    /// The alarm that the episode is told with from now on, where the suppression says so.
    pub beside: Option<Beside>,
    /// The alarm that staff was told of last, if that changes.
    pub alarm: Option<Box<Alarm>>,
    /// The topic on which the episode is retained.
    pub topic: String,
}

/// The outcome of a request to shelve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShelveOutcome {
    /// It holds.
    Taken,
    /// No such bearing was ever measured, or nothing is shelved.
    Unknown,
}
