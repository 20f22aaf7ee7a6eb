//! The knowledge base and the tools that search it, opened for the agent's use.
//!
//! Both are opened before anything is received, so that the first judgement can quote its sources. A
//! server that is away (Qdrant, an embedding endpoint) holds up the start for 10 s at most: the
//! knowledge base is filled when the server answers, and the search tools report it as unavailable until
//! then.

use std::pin::Pin;
use std::sync::Arc;

use pdm_graph::NamedGraphs;
use pdm_knowledge::{Knowledge, PdfReader};
use pdm_tools::exec::builtin::{Builtins, NotifyStaff};
use pdm_tools::exec::search::KnowledgeSearch;
use pdm_tools::settings::ToolSettings;
use pdm_tools::{Catalogue, Problem, Runtime};
use tokio_util::sync::CancellationToken;

use super::filling::Filling;
use super::search::SearchedKnowledge;
use super::{StartError, log};
use crate::assets::AssetTools;
use crate::notify::staff::OutboxNotifier;
use crate::settings::AgentSettings;

/// The knowledge base and the tools, with the tasks that keep them up to date.
pub(crate) struct Tooling {
    pub(crate) knowledge: Knowledge,
    pub(crate) runtime: Arc<Runtime>,
    pub(super) filling: Filling,
    pub(super) watching: Watching,
}

impl Tooling {
    /// Opens both. Without a notifier the tool `notify_maintenance_staff` fails when it is called, and
    /// without `assets` so do those of the asset graph.
    ///
    /// # Errors
    /// [`StartError::Knowledge`], [`StartError::Secret`].
    pub(crate) async fn open(
        settings: &AgentSettings,
        notifier: Option<Arc<OutboxNotifier>>,
        assets: Option<AssetTools>,
    ) -> Result<Self, StartError> {
        let knowledge = Knowledge::connect(&settings.knowledge).await?;
        let knowledge = knowledge.with_pdf_reader(PdfReader::own_program());
        let filling = Filling::start(&knowledge, settings).await?;
        let searched: Arc<dyn KnowledgeSearch> = Arc::new(SearchedKnowledge(knowledge.clone()));
        let (runtime, problems) =
            runtime(&settings.tools, Some(searched), notifier, assets.as_ref())?;
        for problem in &problems {
            log::tool_refused(problem);
        }
        let watching = Watching::start(runtime.catalogue());
        Ok(Self { knowledge, runtime, filling, watching })
    }
}

/// The tools of the configured folder, or the shipped ones; the problems name the tools that were
/// refused.
///
/// # Errors
/// [`StartError::Secret`] of a tool server's token.
pub(crate) fn runtime(
    settings: &ToolSettings,
    knowledge: Option<Arc<dyn KnowledgeSearch>>,
    notifier: Option<Arc<OutboxNotifier>>,
    assets: Option<&AssetTools>,
) -> Result<(Arc<Runtime>, Vec<Problem>), StartError> {
    let (catalogue, problems) = match &settings.folder {
        Some(folder) => Catalogue::open(folder),
        None => Catalogue::shipped(),
    };
    let mut means =
        settings.means().map_err(|source| StartError::Secret { key: "tools.servers", source })?;
    means.knowledge = knowledge;
    let mut builtins = Builtins::default();
    if let Some(notifier) = notifier {
        builtins = builtins.with("notify_maintenance_staff", NotifyStaff::new(notifier));
    }
    if let Some(assets) = assets {
        let graphs = NamedGraphs::default().with("assets", Arc::new(assets.graph().clone()));
        means.graphs = Some(Arc::new(graphs));
        builtins = assets.add_to(builtins);
    }
    means.builtins = builtins;
    Ok((Arc::new(Runtime::new(catalogue, means)), problems))
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
                log::tools_not_watched(&error);
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
