//! Taking out of the store what is gone from the plant, and giving what has another name its new
//! one.

use pdm_service::http::server::Peer;
use pdm_shared::time::Timestamp;
use pdm_shared::topic::Prefix;
use pdm_web::accounts::Act;
pub use pdm_web::plant::{PlantPart, TakenOut};

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
