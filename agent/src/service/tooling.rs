//! What the agent looks things up with and acts through: the knowledge base, and the tools over it.
//!
//! Both are opened before anything is received, so that the first judgement finds its grounds. A
//! server that is away (Qdrant, an embedding endpoint) does not hold up the start for longer than
//! [`FIRST_FILL`]: it is filled when it comes, and the search tools say so until then.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use pdm_knowledge::Knowledge;
use pdm_knowledge::keeper::Keeper;
use pdm_tools::exec::builtin::{Builtins, NotifyStaff};
use pdm_tools::exec::search::KnowledgeSearch;
use pdm_tools::settings::ToolSettings;
use pdm_tools::{Catalogue, Problem, Runtime};
use tokio_util::sync::CancellationToken;

use super::StartError;
use super::search::SearchedKnowledge;
use crate::notify::staff::OutboxNotifier;
use crate::settings::AgentSettings;

/// How long the start waits for the knowledge base. Chosen: the shipped documents take well below a
/// second; a remote embedding of them a few.
const FIRST_FILL: Duration = Duration::from_secs(10);

/// The knowledge base and the tools, and what keeps them up to date.
pub(crate) struct Tooling {
    pub(crate) knowledge: Knowledge,
    pub(crate) runtime: Arc<Runtime>,
    pub(super) filling: Filling,
    pub(super) watching: Watching,
}

impl Tooling {
    /// Opens both. Without a notifier nobody can be told anything through a tool.
    ///
    /// # Errors
    /// [`StartError::Knowledge`], [`StartError::Secret`].
    pub(crate) async fn open(
        settings: &AgentSettings,
        notifier: Option<Arc<OutboxNotifier>>,
    ) -> Result<Self, StartError> {
        let knowledge = Knowledge::connect(&settings.knowledge).await?;
        let filling = Filling::start(&knowledge, settings).await?;
        let searched: Arc<dyn KnowledgeSearch> = Arc::new(SearchedKnowledge(knowledge.clone()));
        let (runtime, problems) = runtime(&settings.tools, Some(searched), notifier)?;
        for problem in &problems {
            tracing::error!(%problem, "Tool refused.");
        }
        let watching = Watching::start(runtime.catalogue());
        Ok(Self { knowledge, runtime, filling, watching })
    }
}

/// The tools over what is there; the problems say which were refused.
///
/// # Errors
/// [`StartError::Secret`] of a tool server's token.
pub(crate) fn runtime(
    settings: &ToolSettings,
    knowledge: Option<Arc<dyn KnowledgeSearch>>,
    notifier: Option<Arc<OutboxNotifier>>,
) -> Result<(Arc<Runtime>, Vec<Problem>), StartError> {
    let (catalogue, problems) = match &settings.folder {
        Some(folder) => Catalogue::open(folder),
        None => Catalogue::shipped(),
    };
    let mut means =
        settings.means().map_err(|source| StartError::Secret { key: "tools.servers", source })?;
    means.knowledge = knowledge;
    if let Some(notifier) = notifier {
        let notify = NotifyStaff::new(notifier);
        means.builtins = Builtins::default().with("notify_maintenance_staff", notify);
    }
    Ok((Arc::new(Runtime::new(catalogue, means)), problems))
}

/// A knowledge base that is filled, or will be.
pub(super) struct Filling {
    rest: Option<Keeper>,
}

impl Filling {
    async fn start(knowledge: &Knowledge, settings: &AgentSettings) -> Result<Self, StartError> {
        let keeper = Keeper::new(knowledge.clone(), settings.knowledge.documents.clone());
        match tokio::time::timeout(FIRST_FILL, keeper.fill()).await {
            Ok(Ok(filled)) => {
                tracing::info!(?filled, "the knowledge base is ready");
                return Ok(Self { rest: None });
            }
            Ok(Err(error)) if !error.is_transient() => return Err(error.into()),
            Ok(Err(error)) => tracing::warn!(%error, "the knowledge base is not ready yet"),
            Err(_elapsed) => tracing::warn!("the knowledge base is still being filled"),
        }
        Ok(Self { rest: Some(keeper) })
    }

    /// Fills what is left, then waits for `stop`.
    pub(super) async fn run(self, stop: CancellationToken) {
        let fill = async {
            if let Some(keeper) = &self.rest {
                match keeper.fill_until_done().await {
                    Ok(filled) => tracing::info!(?filled, "the knowledge base is ready"),
                    Err(error) => tracing::error!(%error, "the knowledge base cannot be filled"),
                }
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = fill => {}
            () = stop.cancelled() => {}
        }
    }
}

/// The tools' folder, followed while the agent runs.
pub(super) struct Watching {
    changes: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl Watching {
    fn start(catalogue: &Arc<Catalogue>) -> Self {
        match catalogue.watch() {
            Ok(changes) => Self { changes: Some(Box::pin(changes)) },
            Err(error) => {
                tracing::warn!(%error, "Tools are not reloaded while running.");
                Self { changes: None }
            }
        }
    }

    /// Reads the folder again whenever it changes, until `stop`.
    pub(super) async fn run(self, stop: CancellationToken) {
        let Some(changes) = self.changes else { return stop.cancelled().await };
        tokio::select! {
            () = changes => {}
            () = stop.cancelled() => {}
        }
    }
}
