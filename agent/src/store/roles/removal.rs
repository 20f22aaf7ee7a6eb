//! Taking out of the store what is gone from the plant, and giving what has another name its new one.

use async_trait::async_trait;
use pdm_service::http::server::Peer;
use pdm_shared::id::{BearingKey, GatewayKey};
use pdm_shared::time::Timestamp;
use pdm_shared::topic::Prefix;
use pdm_web::accounts::Act;
pub use pdm_web::plant::{PlantPart, TakenOut};

use crate::store::StoreError;

/// How something is taken out.
#[derive(Debug, Clone)]
pub struct Removal {
    /// The first levels of the topics that are cleared.
    pub prefix: Prefix,
    /// Whose login asks.
    pub who: String,
    /// The person who asks.
    pub by: String,
    /// The way that it takes: `cli`, `api`, `page`.
    pub via: String,
    /// The address that it comes from.
    pub peer: Option<Peer>,
    /// Why, as it stands in the work that is closed.
    pub reason: String,
    /// When.
    pub now: Timestamp,
    /// Say what would be taken out, and leave it.
    pub is_dry: bool,
}

/// What becomes of the history of a bearing that is renamed.
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

/// Taking out and renaming; used by the command line and the HTTP server.
#[async_trait]
pub trait RemovalStore: Send + Sync + std::fmt::Debug {
    /// Takes bearings out: episodes and work are closed, the state and the owner are forgotten, retained
    /// topics are cleared. Events, judgements and notifications stay for as long as they are kept.
    async fn take_out(&self, part: &PlantPart, how: &Removal) -> Result<TakenOut, StoreError>;

    /// Gives bearings another name: they are taken out under the former one; with their history, events,
    /// judgements and the bearing's memory go on under the new one. Where a new name is known already
    /// (`joined`), this changes nothing unless `history` says that it may join.
    async fn rename(
        &self,
        from: &PlantPart,
        to: &PlantPart,
        history: History,
        how: &Removal,
    ) -> Result<TakenOut, StoreError>;

    /// Takes a gateway out: its alarms end, its bearings belong to the gateway of their next event, its
    /// sequence and its retained topics are forgotten. Nothing is taken out where it is not known.
    async fn forget_gateway(
        &self,
        gateway: &GatewayKey,
        how: &Removal,
    ) -> Result<TakenOut, StoreError>;

    /// Takes a gateway out whose bearings another one of its site measures from now on.
    async fn replace_gateway(
        &self,
        old: &GatewayKey,
        new: &GatewayKey,
        how: &Removal,
    ) -> Result<TakenOut, StoreError>;

    /// As [`super::GatewayStore::release_bearing`], with a record of the act.
    async fn release_bearing_as(
        &self,
        bearing: &BearingKey,
        how: &Removal,
    ) -> Result<TakenOut, StoreError>;

    /// As [`super::GatewayStore::release_gateway`], with a record of the act.
    async fn release_gateway_as(
        &self,
        gateway: &GatewayKey,
        how: &Removal,
    ) -> Result<TakenOut, StoreError>;
}
