//! The location of a command's tools and the meaning of the names in them: from the configuration,
//! or from folders and files given one by one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pdm_knowledge::embed::Embedder;
use pdm_knowledge::embed::local::LocalEmbedder;
use pdm_knowledge::keeper::Keeper;
use pdm_knowledge::{Knowledge, KnowledgeSettings};
use pdm_service::clock::{SharedClock, SystemClock};
use pdm_service::exit::{Exit, Failure};
use pdm_store::StoreError;
use pdm_tools::exec::search::KnowledgeSearch;
use pdm_tools::pack::{self, PackPlace};
use pdm_tools::settings::ToolSettings;
use pdm_tools::{Problem, Registry, Runtime, Sources};

use super::failure;
use crate::model::LanguageModel;
use crate::notify::policy::Policy;
use crate::progress::Reporter;
use crate::service::search::SearchedKnowledge;
use crate::service::tooling::{self, StoreParts, ToolParts};
use crate::service::{connect_store, install_cryptography, open_store};
use crate::settings::AgentSettings;

/// The arguments that locate the tools and define the names in them.
#[derive(Debug, clap::Args)]
pub struct ToolsPlace {
    /// The configuration, whose [tools], [knowledge], [store], [notify] and [reasoner] the tools
    /// work with
    #[arg(long, value_name = "FILE", env = "PDM_AGENT_CONFIG", global = true)]
    config: Option<PathBuf>,
    /// The tools' folder, instead of the configuration's [default: the tools that come with the
    /// program]
    #[arg(long, value_name = "DIR", env = "PDM_TOOLS", global = true)]
    tools: Option<PathBuf>,
    /// Packs to turn on, instead of the configuration's: air-quality, contracts, …, or a folder
    /// with a pack.toml
    #[arg(long, value_name = "NAME,…", env = "PDM_PACKS", global = true, value_delimiter = ',')]
    packs: Option<Vec<String>>,
    /// The knowledge base's file, instead of the configuration's; without either the search tools
    /// are refused
    #[arg(long, value_name = "FILE", env = "PDM_KNOWLEDGE", global = true)]
    knowledge: Option<PathBuf>,
}

/// The arguments after their files have been read.
pub(super) struct PlacedTools {
    agent: Option<AgentSettings>,
    tools: ToolSettings,
    /// The tools' places.
    sources: Sources,
    knowledge: Option<KnowledgeSettings>,
}

impl ToolsPlace {
    /// Reads the configuration and checks that the given folders and files exist.
    pub(super) fn read(&self) -> Result<PlacedTools, Failure> {
        let agent = self.config.as_deref().map(AgentSettings::read).transpose();
        let agent = agent.map_err(failure::config)?;
        let mut tools = agent.as_ref().map_or_else(ToolSettings::default, |a| a.tools.clone());
        if self.tools.is_some() {
            tools.folder.clone_from(&self.tools);
        }
        if let Some(folder) = tools.folder.as_deref().filter(|folder| !folder.is_dir()) {
            let error =
                anyhow::anyhow!("{}: no such folder of tools (--tools DIR)", folder.display());
            return Err(Failure::new(Exit::NoInput, error));
        }
        if let Some(file) = self.knowledge.as_deref().filter(|file| !file.is_file()) {
            let error = anyhow::anyhow!("{}: no such knowledge base", file.display());
            return Err(Failure::new(Exit::NoInput, error));
        }
        let named = self.knowledge.as_ref().map(KnowledgeSettings::embedded);
        let knowledge = named.or_else(|| agent.as_ref().map(|agent| agent.knowledge.clone()));
        if let Some(packs) = &self.packs {
            tools.packs.clone_from(packs);
        }
        let sources = sources(&tools)?;
        Ok(PlacedTools { agent, tools, sources, knowledge })
    }
}

/// The places of the tools; a pack may be named by its folder.
fn sources(tools: &ToolSettings) -> Result<Sources, Failure> {
    let named = ToolSettings { packs: Vec::new(), ..tools.clone() };
    let mut sources = named.sources();
    for name in &tools.packs {
        let folder = Path::new(name);
        let place = if pack::is_pack(folder) {
            PackPlace::Folder(folder.to_owned())
        } else {
            PackPlace::find(name, tools.pack_folder.as_deref()).map_err(|known| {
                let error = anyhow::anyhow!("there is no pack {name}; there are: {known}");
                Failure::new(Exit::NoInput, error)
            })?
        };
        sources.packs.push(place);
    }
    Ok(sources)
}

impl PlacedTools {
    /// The configuration, if one was given.
    pub(super) fn agent(&self) -> Option<&AgentSettings> {
        self.agent.as_ref()
    }

    /// Returns the sources of the tools.
    pub(super) fn sources(&self) -> &Sources {
        &self.sources
    }

    /// The valid tools; the problems of the others go to standard error.
    pub(super) fn registry(&self) -> Registry {
        let loaded = Registry::load(&self.sources);
        tell(&loaded.problems);
        loaded.registry
    }

    /// The runtime of the tools, usable beside a running agent.
    pub(super) async fn runtime(&self) -> Result<Arc<Runtime>, Failure> {
        install_cryptography();
        let knowledge = self.knowledge().await?;
        let embedder: Arc<dyn Embedder> = match &knowledge {
            Some(knowledge) => Arc::clone(knowledge.embedder()),
            None => Arc::new(LocalEmbedder),
        };
        let (stored, model) = match &self.agent {
            Some(agent) => stored(agent).await.map(|(parts, model)| (Some(parts), model))?,
            None => (None, None),
        };
        let searched =
            |knowledge| Arc::new(SearchedKnowledge(knowledge)) as Arc<dyn KnowledgeSearch>;
        let parts = ToolParts { knowledge: knowledge.map(searched), embedder, stored, model };
        let (runtime, problems) =
            tooling::runtime(&self.tools, self.sources.clone(), parts).map_err(failure::start)?;
        tell(&problems);
        let filters = self.knowledge.as_ref().is_some_and(|knowledge| knowledge.filter_by_model);
        Ok(if filters { Arc::new(runtime.filtering()) } else { runtime })
    }

    async fn knowledge(&self) -> Result<Option<Knowledge>, Failure> {
        let Some(settings) = &self.knowledge else { return Ok(None) };
        let knowledge = Knowledge::open(settings).await.map_err(failure::knowledge)?;
        if self.agent.is_some() {
            let keeper = Keeper::new(knowledge.clone(), settings.documents.clone());
            keeper.fill().await.map_err(failure::knowledge)?;
        }
        Ok(Some(knowledge))
    }
}

/// Opens the agent's store for the tools: a notifier that writes to its outbox (the running agent
/// sends), its series, the asset graph, and the model with its budgets.
async fn stored(
    settings: &AgentSettings,
) -> Result<(StoreParts, Option<Arc<LanguageModel>>), Failure> {
    let store = match connect_store(&settings.store).await {
        // tools write to it: notifications, values, the use of a model
        Err(StoreError::Missing { .. }) => open_store(&settings.store).await,
        found => found,
    };
    let store = store.map_err(failure::store)?;
    let clock: SharedClock = Arc::new(SystemClock);
    let policy = Policy::new(settings.notify.clone(), settings.broker.prefix.clone());
    let model = LanguageModel::open(settings, store.opinions(), Arc::clone(&clock));
    let model = model.map_err(|error| failure::start(error.into()))?;
    Ok((StoreParts::of(&store, &clock, policy, Reporter::new()), model))
}

#[expect(clippy::print_stderr, reason = "for the person at the terminal; standard output is data")]
fn tell(problems: &[Problem]) {
    for problem in problems {
        eprintln!("refused: {problem}");
    }
}
