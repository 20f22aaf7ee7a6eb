//! Fills the knowledge base: at the start, later if its server was away, and again if the server
//! comes back empty.
//!
//! The documents are compared by their content, so filling again costs little. The judgements are
//! in the agent's store; where the knowledge base has none of them they leave through the outbox
//! again.

use std::time::Duration;

use pdm_knowledge::keeper::Keeper;
use pdm_knowledge::{Knowledge, KnowledgeError};
use pdm_service::clock::SharedClock;
use pdm_store::{OutboxStore, VECTORS_LANE};
use tokio_util::sync::CancellationToken;

use super::{StartError, log};
use crate::settings::AgentSettings;

/// How long the start waits for the knowledge base. The shipped documents take well below a second
/// with the local embedding and a few seconds with a remote one.
const FIRST_FILL: Duration = Duration::from_secs(10);
/// The interval of looks at a server that was filled. Chosen: a search finds nothing for half a
/// minute after a server came back empty, and three counts are no load.
const LOOK: Duration = Duration::from_secs(30);
/// Most judgements that are sent again: as many as the embedded store keeps by default.
const MOST_JUDGEMENTS: u32 = 10_000;

/// Keeps the knowledge base filled.
pub(super) struct Filling {
    keeper: Keeper,
    is_filled: bool,
    /// A server can come back empty; a file of this machine cannot.
    is_server: bool,
}

impl Filling {
    pub(super) async fn start(
        knowledge: &Knowledge,
        settings: &AgentSettings,
    ) -> Result<Self, StartError> {
        let keeper = Keeper::new(knowledge.clone(), settings.knowledge.documents.clone());
        let is_server = settings.knowledge.is_server();
        let filled = match tokio::time::timeout(FIRST_FILL, keeper.fill()).await {
            Ok(Ok(filled)) => {
                log::knowledge_ready(&filled);
                true
            }
            Ok(Err(error)) if !error.is_transient() => return Err(error.into()),
            Ok(Err(error)) => {
                log::knowledge_not_ready(&error);
                false
            }
            Err(_elapsed) => {
                log::knowledge_still_filling();
                false
            }
        };
        Ok(Self { keeper, is_filled: filled, is_server })
    }

    /// Fills what is left and follows the server until `stop`.
    pub(super) async fn run(self, store: OutboxStore, clock: SharedClock, stop: CancellationToken) {
        tokio::select! {
            () = self.follow(store, clock) => {}
            () = stop.cancelled() => {}
        }
    }

    async fn follow(self, store: OutboxStore, clock: SharedClock) {
        if !self.is_filled {
            self.fill().await;
        }
        if !self.is_server {
            return std::future::pending().await;
        }
        loop {
            match self.look(&store, &clock).await {
                Ok(()) => {}
                // the searches and the outbox tell of a server that is away
                Err(error) => tracing::debug!(%error, "the knowledge base does not answer"),
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn fill(&self) {
        match self.keeper.fill_until_done().await {
            Ok(filled) => log::knowledge_ready(&filled),
            Err(error) => log::knowledge_not_filled(&error),
        }
    }

    async fn look(&self, store: &OutboxStore, clock: &SharedClock) -> Result<(), KnowledgeError> {
        let there = self.keeper.look().await?;
        if there.documents == 0 {
            log::knowledge_empty();
            self.fill().await;
        }
        if there.judgements == 0 {
            match store.send_again(VECTORS_LANE, MOST_JUDGEMENTS, clock.now()).await {
                Ok(0) => {}
                Ok(rows) => log::judgements_sent_again(rows),
                Err(error) => log::judgements_not_sent_again(&error),
            }
        }
        Ok(())
    }
}
