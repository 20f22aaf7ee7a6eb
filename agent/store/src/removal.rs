//! Taking out of the store what is gone from the plant, and giving what has another name its new
//! one.

use std::fmt;
use std::sync::Arc;

use pdm_service::http::server::Peer;
use pdm_shared::delivery::Notification;
use pdm_shared::id::BearingKey;
use pdm_shared::time::Timestamp;
use pdm_shared::topic::Prefix;
use pdm_web::accounts::Act;
pub use pdm_web::plant::{PlantPart, TakenOut};

use crate::{EpisodeRecord, Outgoing};

/// An alarm that staff was told of and that ends because its bearing is taken out or renamed.
#[derive(Debug)]
pub struct RemovedAlarm {
    /// The bearing, by the name that ends.
    pub key: BearingKey,
    /// The new name; `None` where the bearing is taken out.
    pub new: Option<BearingKey>,
    /// The history goes on under the new name.
    pub moves: bool,
    /// The alarm as it stood.
    pub record: EpisodeRecord,
}

/// A message to staff with its rows on the way out.
pub type RemovalMessage = (Notification, Vec<Outgoing>);

type WordRemovedAlarm = dyn Fn(&RemovedAlarm) -> Option<RemovalMessage> + Send + Sync;

/// The wording of the message to staff for each alarm that ends; nobody is told without it. The
/// message is written in the transaction of the removal, so no alarm ends without it.
#[derive(Clone, Default)]
pub struct RemovalWording(Option<Arc<WordRemovedAlarm>>);

impl RemovalWording {
    /// Returns the wording that calls `word` for each alarm.
    pub fn new(
        word: impl Fn(&RemovedAlarm) -> Option<RemovalMessage> + Send + Sync + 'static,
    ) -> Self {
        Self(Some(Arc::new(word)))
    }

    /// The message of an alarm.
    pub(crate) fn message(&self, alarm: &RemovedAlarm) -> Option<RemovalMessage> {
        self.0.as_ref().and_then(|word| word(alarm))
    }
}

impl fmt::Debug for RemovalWording {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "RemovalWording({})", if self.0.is_some() { "set" } else { "none" })
    }
}

/// How something is taken out.
#[derive(Debug, Clone)]
pub struct Removal {
    /// The first levels of the topics that are cleared.
    pub prefix: Prefix,
    /// The login that asks.
    pub who: String,
    /// The person who asks.
    pub by: String,
    /// The way that it takes: `cli`, `api`, `page`.
    pub via: String,
    /// The address that it comes from.
    pub peer: Option<Peer>,
    /// Why, as it stands in the work that is closed.
    pub reason: String,
    /// The time of the act.
    pub now: Timestamp,
    /// Say what would be taken out, and leave it.
    pub is_dry: bool,
    /// The wording of what staff is told of alarms that end.
    pub wording: RemovalWording,
}

/// The treatment of the history of a bearing that is renamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum History {
    /// It stays under the former name.
    Stays,
    /// It goes on under the new name, which must not be known yet.
    Moves,
    /// It goes on under the new name, beside the history that stands there.
    Joins,
}

impl Removal {
    /// The record of the act.
    pub(crate) fn act(&self, action: &str, what: &str) -> Act {
        let Self { who, by, via, reason, .. } = self;
        let signed = if who == by { String::new() } else { format!(" by {by:?}") };
        let what = format!("{what}{signed}: {reason}");
        Act::new(self.now, who, via, self.peer, action, &what)
    }
}
