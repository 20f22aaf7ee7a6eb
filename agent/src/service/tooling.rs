//! The knowledge base and the tools that search it, opened for the agent's use.
//!
//! Both are opened before anything is received, so that the first judgement can quote its sources.
//! A server that is away (Qdrant, an embedding endpoint) holds up the start for 10 s at most: the
//! knowledge base is filled when the server answers, and the search tools report it as unavailable
//! until then.

use std::pin::Pin;
use std::sync::Arc;

use pdm_decision::analysis::EdgeServer;
use pdm_decision::{AbnormalDecision, SeriesSource};
use pdm_graph::NamedGraphs;
use pdm_knowledge::Knowledge;
use pdm_knowledge::embed::Embedder;
use pdm_service::clock::SharedClock;
use pdm_store::{SeriesStore, Store};
use pdm_tools::exec::articles::ArticleSearch;
use pdm_tools::exec::builtin::{Builtins, NotifyStaff};
use pdm_tools::exec::search::KnowledgeSearch;
use pdm_tools::settings::ToolSettings;
use pdm_tools::{Catalogue, Problem, Runtime, Sources};
use tokio_util::sync::CancellationToken;

use super::filling::Filling;
use super::search::{DocumentIndexer, SearchedKnowledge};
use super::series::StoredSeries;
use super::{StartError, log};
use crate::assets::AssetTools;
use crate::model::LanguageModel;
use crate::model::prompted::PromptedModel;
use crate::notify::policy::Policy;
use crate::notify::staff::{Hourly, OutboxNotifier};
use crate::progress::Reporter;
use crate::settings::AgentSettings;

/// The knowledge base and the tools, with the tasks that keep them up to date.
pub(crate) struct Tooling {
    pub(crate) knowledge: Knowledge,
    pub(crate) runtime: Arc<Runtime>,
    pub(super) filling: Filling,
    pub(super) watching: Watching,
}

impl Tooling {
    /// Opens both. Without a store the tool `notify_maintenance_staff` is not offered, and those of
    /// the asset graph fail when they are called; without a model those that ask one refuse.
    ///
    /// # Errors
    /// [`StartError::Knowledge`], [`StartError::Secret`].
    pub(crate) async fn open(
        settings: &AgentSettings,
        stored: Option<StoreParts>,
        model: Option<&Arc<LanguageModel>>,
    ) -> Result<Self, StartError> {
        let knowledge = Knowledge::connect(&settings.knowledge).await?;
        let filling = Filling::start(&knowledge, settings).await?;
        let searched: Arc<dyn KnowledgeSearch> = Arc::new(SearchedKnowledge(knowledge.clone()));
        let parts = ToolParts {
            knowledge: Some(searched),
            embedder: Arc::clone(knowledge.embedder()),
            stored,
            model: model.cloned(),
        };
        let (runtime, problems) = runtime(&settings.tools, settings.tools.sources(), parts)?;
        for problem in &problems {
            log::tool_refused(problem);
        }
        let watching = Watching::start(runtime.catalogue());
        Ok(Self { knowledge, runtime, filling, watching })
    }
}

/// Functions of the program that tools can name.
pub(crate) const FUNCTIONS: [&str; 11] = [
    "notify_maintenance_staff",
    "abnormal_decision",
    "search_equipment",
    "search_part",
    "list_tags",
    "get_equipment_info",
    "find_similar_equipment",
    "get_equipment_changes",
    "get_equipment_trend",
    "get_bearing_trend",
    "compare_equipment",
];

/// The parts that the tools use besides their settings.
pub(crate) struct ToolParts {
    pub(crate) knowledge: Option<Arc<dyn KnowledgeSearch>>,
    /// Embeds the documents of packs.
    pub(crate) embedder: Arc<dyn Embedder>,
    /// The parts that need a store.
    pub(crate) stored: Option<StoreParts>,
    /// The model that `prompt` tools ask.
    pub(crate) model: Option<Arc<LanguageModel>>,
}

/// The parts of the store that the tools use.
pub(crate) struct StoreParts {
    pub(crate) notifier: OutboxNotifier,
    pub(crate) series: SeriesStore,
    /// The asset graph.
    pub(crate) assets: AssetTools,
}

impl StoreParts {
    /// The parts of this store: a notifier that writes to its outbox (the running agent sends), its
    /// series, and the asset graph.
    pub(crate) fn of(
        store: &Store,
        clock: &SharedClock,
        policy: Policy,
        reporter: Reporter,
    ) -> Self {
        let clock = Arc::clone(clock);
        let assets = AssetTools::new(store.clone(), Arc::clone(&clock)).in_zone(policy.zone());
        let notifier = OutboxNotifier {
            store: store.messages(),
            clock,
            policy,
            reporter,
            told: Hourly::default(),
        };
        Self { notifier, series: store.series(), assets }
    }
}

/// The tools of the configured folder, or the shipped ones, and of the packs; the problems name the
/// tools that were refused.
///
/// # Errors
/// [`StartError::Secret`] of a tool server's token.
pub(crate) fn runtime(
    settings: &ToolSettings,
    sources: Sources,
    parts: ToolParts,
) -> Result<(Arc<Runtime>, Vec<Problem>), StartError> {
    let (catalogue, problems) = Catalogue::of(sources);
    let mut means =
        settings.means().map_err(|source| StartError::Secret { key: "tools.servers", source })?;
    means.knowledge = parts.knowledge;
    means.model = parts.model.map(|model| Arc::new(PromptedModel(model)) as Arc<_>);
    means.articles = ArticleSearch::new(Arc::new(DocumentIndexer(parts.embedder)));
    let analyst = Arc::new(EdgeServer(Arc::clone(&means.servers)));
    let stored = parts.stored.as_ref();
    let series = stored
        .map(|stored| stored.series.clone())
        .map(|series| Arc::new(StoredSeries(series)) as Arc<dyn SeriesSource>);
    let decide = AbnormalDecision::new(series, analyst);
    let mut builtins = Builtins::default().with("abnormal_decision", decide);
    let mut graphs = NamedGraphs::default();
    if let Some(StoreParts { notifier, assets, series: _ }) = parts.stored {
        let notify = NotifyStaff::new(Arc::new(notifier));
        builtins = builtins.with("notify_maintenance_staff", notify);
        graphs = graphs.with("assets", Arc::new(assets.graph().clone()));
        builtins = assets.add_to(builtins);
    }
    means.graphs = Some(Arc::new(graphs));
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
