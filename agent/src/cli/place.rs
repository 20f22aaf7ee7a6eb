//! The location of a command's tools and the meaning of the names in them: from the configuration,
//! or from folders and files given one by one.

use std::path::PathBuf;
use std::sync::Arc;

use pdm_knowledge::keeper::Keeper;
use pdm_knowledge::{Knowledge, KnowledgeSettings, PdfReader};
use pdm_service::clock::SystemClock;
use pdm_service::exit::{Exit, Failure};
use pdm_tools::exec::search::KnowledgeSearch;
use pdm_tools::settings::ToolSettings;
use pdm_tools::{Problem, Registry, Runtime};

use super::failure;
use crate::assets::AssetTools;
use crate::notify::policy::Policy;
use crate::notify::staff::OutboxNotifier;
use crate::progress::Reporter;
use crate::service::search::SearchedKnowledge;
use crate::service::{connect_store, install_cryptography, tooling};
use crate::settings::AgentSettings;
use crate::store::Store;

/// The arguments that locate the tools and define the names in them.
#[derive(Debug, clap::Args)]
pub struct ToolsPlace {
    /// The configuration, whose [tools], [knowledge], [store] and [notify] the tools work with
    #[arg(long, value_name = "FILE", env = "PDM_AGENT_CONFIG", global = true)]
    config: Option<PathBuf>,
    /// The tools' folder, instead of the configuration's [default: the tools that come with the
    /// program]
    #[arg(long, value_name = "DIR", env = "PDM_TOOLS", global = true)]
    tools: Option<PathBuf>,
    /// The knowledge base's file, instead of the configuration's; without either the search tools
    /// are refused
    #[arg(long, value_name = "FILE", env = "PDM_KNOWLEDGE", global = true)]
    knowledge: Option<PathBuf>,
}

/// The arguments after their files have been read.
pub(super) struct PlacedTools {
    agent: Option<AgentSettings>,
    tools: ToolSettings,
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
        Ok(PlacedTools { agent, tools, knowledge })
    }
}

impl PlacedTools {
    /// The configuration, if one was given.
    pub(super) fn agent(&self) -> Option<&AgentSettings> {
        self.agent.as_ref()
    }

    /// The tools' folder; `None` for the tools that come with the program.
    pub(super) fn folder(&self) -> Option<&std::path::Path> {
        self.tools.folder.as_deref()
    }

    /// The valid tools; the problems of the others go to standard error.
    pub(super) fn registry(&self) -> Registry {
        let loaded = self.folder().map_or_else(Registry::shipped, Registry::read);
        tell(&loaded.problems);
        loaded.registry
    }

    /// The runtime of the tools, usable beside a running agent.
    pub(super) async fn runtime(&self) -> Result<Arc<Runtime>, Failure> {
        install_cryptography();
        let knowledge = self.knowledge().await?;
        let (mut told, mut assets) = (None, None);
        if let Some(agent) = &self.agent {
            let store = connect_store(&agent.store).await.map_err(failure::store)?;
            assets = Some(AssetTools::new(Arc::clone(&store), Arc::new(SystemClock)));
            told = Some(Arc::new(notifier(agent, store)));
        }
        let (runtime, problems) = tooling::runtime(&self.tools, knowledge, told, assets.as_ref())
            .map_err(failure::start)?;
        tell(&problems);
        Ok(runtime)
    }

    async fn knowledge(&self) -> Result<Option<Arc<dyn KnowledgeSearch>>, Failure> {
        let Some(settings) = &self.knowledge else { return Ok(None) };
        let knowledge = Knowledge::open(settings).await.map_err(failure::knowledge)?;
        let knowledge = knowledge.with_pdf_reader(PdfReader::own_program());
        if self.agent.is_some() {
            let keeper = Keeper::new(knowledge.clone(), settings.documents.clone());
            keeper.fill().await.map_err(failure::knowledge)?;
        }
        Ok(Some(Arc::new(SearchedKnowledge(knowledge))))
    }
}

/// A notifier that writes to the outbox of the agent's store; the running agent sends.
fn notifier(settings: &AgentSettings, store: Arc<dyn Store>) -> OutboxNotifier {
    OutboxNotifier {
        store,
        clock: Arc::new(SystemClock),
        policy: Policy::new(settings.notify.clone(), settings.broker.prefix.clone()),
        reporter: Reporter::new(),
    }
}

#[expect(clippy::print_stderr, reason = "for the person at the terminal; standard output is data")]
fn tell(problems: &[Problem]) {
    for problem in problems {
        eprintln!("refused: {problem}");
    }
}
