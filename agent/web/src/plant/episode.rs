//! Episodes as pages and API list and show them.

use pdm_shared::episode::EpisodeDocument;
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

/// An episode with what staff was told of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EpisodeDetail {
    /// The episode as it stands on its topic.
    #[serde(flatten)]
    pub document: EpisodeDocument,
    /// What stands in one line, as the last judgement sees it; of what is over what staff was told
    /// last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Text>,
    /// The last notification of it; none while staff was told nothing.
    pub alarm: Option<EpisodeAlarm>,
}

impl EpisodeDetail {
    /// The bearing.
    pub fn key(&self) -> BearingKey {
        BearingKey {
            site: self.document.site.clone(),
            equipment: self.document.equipment_id.clone(),
            bearing: self.document.bearing_id.clone(),
        }
    }
}

/// What staff was told of an episode last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EpisodeAlarm {
    /// The notification; an acknowledgement names this.
    pub notification_id: Uuid,
    /// The level that was told.
    pub risk_level: RiskLevel,
    /// The notification in one line.
    pub title: Text,
    /// The event that caused it, if one did.
    pub event_id: Option<EventId>,
    /// How often it was repeated.
    pub repeats: u32,
    /// When it is repeated next, unless somebody acknowledges it.
    pub repeat_at: Option<Timestamp>,
}

/// Which episodes are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EpisodeFilter {
    /// Those that stand.
    Open,
    /// Those that are over.
    Closed,
    /// Those that a person has put off, or whose machine is being worked on.
    Shelved,
    /// All.
    All,
}
