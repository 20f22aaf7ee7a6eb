//! `pdm-agent tools`: list, describe, draw, check and call tools from the terminal.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Subcommand;
use pdm_shared::exit::{Exit, Failure};
use pdm_shared::telemetry::{self, LogFormat};
use serde_json::{Value, json};
use uuid::Uuid;

use super::failure;
use crate::knowledge::settings::StoreChoice;
use crate::knowledge::{Knowledge, KnowledgeSettings};
use crate::settings::AgentSettings;
use crate::tools::settings::ToolSettings;
use crate::tools::{Call, Catalogue, Means, Problem, Registry, Runtime, ToolError, ToolSpec};

/// Where the tools stand and what their names stand for.
#[derive(Debug, clap::Args)]
pub struct Place {
    /// The configuration, whose [tools] names folder, databases, hosts and servers
    #[arg(long, value_name = "FILE", env = "PDM_AGENT_CONFIG", global = true)]
    config: Option<PathBuf>,
    /// The tools' folder, instead of the configuration's
    #[arg(long, value_name = "DIR", env = "PDM_TOOLS", global = true)]
    tools: Option<PathBuf>,
    /// The knowledge base's file (`pdm-agent knowledge ingest` fills it); without it the search
    /// tools are refused
    #[arg(long, value_name = "FILE", env = "PDM_KNOWLEDGE", global = true)]
    knowledge: Option<PathBuf>,
}

/// Arguments of `tools`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pdm-agent tools list --tag search
  pdm-agent tools describe search_equipment_manual
  pdm-agent tools graph --dot | dot -Tsvg > tools.svg
  pdm-agent tools validate config/tools
  pdm-agent tools call --knowledge knowledge.db search_maintenance_history \\
            '{\"query\": \"외륜 결함\"}'

Exit codes: 0 done, 64 no such tool or wrong arguments, 65 a tool is wrong, 66 no such folder,
69 a tool failed, 78 bad configuration")]
pub struct Args {
    #[command(flatten)]
    place: Place,
    /// What to do
    #[command(subcommand)]
    what: What,
}

/// What to do with the tools.
#[derive(Debug, Subcommand)]
enum What {
    /// List the tools in the order of their layers
    List {
        /// Only those with this tag
        #[arg(long)]
        tag: Option<String>,
    },
    /// Print everything that is known of one tool, as JSON
    Describe {
        /// Its name
        name: String,
    },
    /// Draw who needs whom
    Graph {
        /// For Graphviz instead of the terminal
        #[arg(long)]
        dot: bool,
    },
    /// Check every tool of a folder; one line for each thing that is wrong
    Validate {
        /// The folder, instead of the configured one
        dir: Option<PathBuf>,
    },
    /// Call a tool
    Call {
        /// Its name
        name: String,
        /// Its arguments as a JSON object
        #[arg(default_value = "{}")]
        arguments: String,
    },
}

/// The folder that is taken where nothing names one.
const DEFAULT_FOLDER: &str = "config/tools";

impl Place {
    /// The settings, with the folder that the command line names.
    pub(super) fn settings(&self) -> Result<ToolSettings, Failure> {
        let mut settings = match &self.config {
            Some(path) => AgentSettings::read(path).map_err(failure::config)?.tools,
            None => ToolSettings::default(),
        };
        if self.tools.is_some() {
            settings.folder.clone_from(&self.tools);
        }
        settings.folder.get_or_insert_with(|| PathBuf::from(DEFAULT_FOLDER));
        Ok(settings)
    }

    /// What the executors work with: what `settings` name, and the knowledge base.
    pub(super) async fn means(&self, settings: &ToolSettings) -> Result<Means, Failure> {
        let mut means = settings.means().map_err(|error| Failure::new(Exit::Config, error))?;
        if let Some(file) = &self.knowledge {
            if !file.is_file() {
                let error = anyhow::anyhow!("{}: no such knowledge base", file.display());
                return Err(Failure::new(Exit::NoInput, error));
            }
            let store = StoreChoice::Sqlite(file.clone());
            let wanted = KnowledgeSettings { store, ..KnowledgeSettings::default() };
            let knowledge = Knowledge::open(&wanted).await;
            let knowledge = knowledge.map_err(|error| Failure::new(Exit::Unavailable, error))?;
            means.knowledge = Some(Arc::new(knowledge));
        }
        Ok(means)
    }
}

/// The folder that the settings name.
pub(super) fn folder(settings: &ToolSettings) -> Result<&Path, Failure> {
    let folder = settings.folder.as_deref().unwrap_or(Path::new(DEFAULT_FOLDER));
    if folder.is_dir() {
        return Ok(folder);
    }
    let error = anyhow::anyhow!("{}: no such folder of tools (--tools DIR)", folder.display());
    Err(Failure::new(Exit::NoInput, error))
}

/// Runs the command.
///
/// # Errors
/// A [`Failure`] with its exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let settings = args.place.settings()?;
    let mut out = std::io::stdout().lock();
    match &args.what {
        What::Validate { dir } => {
            let folder = match dir {
                Some(dir) => {
                    folder(&ToolSettings { folder: Some(dir.clone()), ..settings })?.to_owned()
                }
                None => folder(&settings)?.to_owned(),
            };
            validate(&folder, &mut out)
        }
        What::List { tag } => {
            let registry = right(&settings)?;
            list(&registry, tag.as_deref(), &mut out)?;
            Ok(Exit::Ok)
        }
        What::Describe { name } => {
            let registry = right(&settings)?;
            let Some(spec) = registry.get(name) else {
                return Err(unknown(name, &registry).into());
            };
            serde_json::to_writer_pretty(&mut out, &described(spec))?;
            writeln!(out)?;
            Ok(Exit::Ok)
        }
        What::Graph { dot } => {
            let registry = right(&settings)?;
            let text = if *dot { registry.dot() } else { registry.graph() };
            out.write_all(text.as_bytes())?;
            Ok(Exit::Ok)
        }
        What::Call { name, arguments } => call(&args.place, name, arguments, &mut out),
    }
}

/// The tools that are right; the others are told on standard error.
fn right(settings: &ToolSettings) -> Result<Registry, Failure> {
    let loaded = Registry::read(folder(settings)?);
    tell(&loaded.problems);
    Ok(loaded.registry)
}

#[expect(clippy::print_stderr, reason = "for the person at the terminal; standard output is data")]
pub(super) fn tell(problems: &[Problem]) {
    for problem in problems {
        eprintln!("refused: {problem}");
    }
}

fn unknown(name: &str, registry: &Registry) -> Failure {
    let known = registry.names().join(", ");
    Failure::new(Exit::Usage, anyhow::anyhow!("there is no tool {name}; there are: {known}"))
}

fn validate(folder: &Path, out: &mut impl Write) -> anyhow::Result<Exit> {
    let loaded = Registry::read(folder);
    for problem in &loaded.problems {
        writeln!(out, "{problem}")?;
    }
    let right = loaded.registry.names().len();
    if loaded.problems.is_empty() {
        writeln!(out, "{right} tools, all right")?;
        return Ok(Exit::Ok);
    }
    let error = anyhow::anyhow!("{} problems; {right} tools are right", loaded.problems.len());
    Err(Failure::new(Exit::BadInput, error).into())
}

fn list(registry: &Registry, tag: Option<&str>, out: &mut impl Write) -> std::io::Result<()> {
    let wanted = |spec: &ToolSpec| tag.is_none_or(|tag| spec.tags.iter().any(|own| own == tag));
    let specs: Vec<_> = registry.list().filter(|spec| wanted(spec)).collect();
    let width = specs.iter().map(|spec| spec.name.len()).max().unwrap_or(0);
    for spec in specs {
        let (name, layer, kind) = (&spec.name, spec.layer.name(), spec.executor.kind());
        writeln!(
            out,
            "{name:width$}  {layer:10}  {kind:8}  {}  {}",
            spec.version, spec.description
        )?;
    }
    Ok(())
}

fn described(spec: &ToolSpec) -> Value {
    json!({
        "name": spec.name,
        "version": spec.version.to_string(),
        "layer": spec.layer.name(),
        "layer_executor": spec.layer.executor(),
        "domain": spec.domain,
        "description": spec.description,
        "executor": spec.executor.kind(),
        "input_schema": **spec.input.value(),
        "output_schema": **spec.output.value(),
        "dependencies": spec.dependencies,
        "produces": spec.produces,
        "tags": spec.tags,
        "timeout_s": spec.limits.timeout.as_secs_f64(),
        "retries": spec.limits.retries,
        "max_chars": spec.limits.max_chars,
        "file": spec.file.display().to_string(),
    })
}

fn call(place: &Place, name: &str, arguments: &str, out: &mut impl Write) -> anyhow::Result<Exit> {
    telemetry::start(LogFormat::Text, "error");
    let arguments: Value = serde_json::from_str(arguments).map_err(|error| {
        Failure::new(Exit::Usage, anyhow::anyhow!("the arguments are not JSON: {error}"))
    })?;
    let settings = place.settings()?;
    let (catalogue, problems) = Catalogue::open(folder(&settings)?);
    tell(&problems);
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let tokio = tokio.map_err(failure::runtime)?;
    let runtime = Runtime::new(catalogue, tokio.block_on(place.means(&settings))?);
    let call = Call { id: Uuid::now_v7().to_string(), tool: name.to_owned(), arguments };
    let answer = tokio.block_on(runtime.call(&call));
    match answer {
        Ok(observation) => {
            serde_json::to_writer_pretty(&mut *out, &observation.value)?;
            writeln!(out)?;
            Ok(Exit::Ok)
        }
        Err(error) => {
            let exit = match &error {
                ToolError::Unknown { .. } | ToolError::Arguments { .. } => Exit::Usage,
                ToolError::Refused { .. }
                | ToolError::Unavailable { .. }
                | ToolError::Malformed { .. } => Exit::Unavailable,
            };
            Err(Failure::new(exit, error).into())
        }
    }
}
