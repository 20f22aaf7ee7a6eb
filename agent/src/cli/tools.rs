//! `pdm-agent tools`: list, describe, draw, check and call tools from the terminal.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use pdm_graph::Query;
use pdm_service::exit::{Exit, Failure};
use pdm_service::telemetry::{self, LogFormat};
use pdm_tools::pack::{self, PackPlace};
use pdm_tools::{Call, Registry, Sources, ToolError, ToolSpec};
use serde_json::{Value, json};
use uuid::Uuid;

use super::failure;
use super::place::{PlacedTools, ToolsPlace};
use crate::service::tooling::FUNCTIONS;

/// Arguments of `tools`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pdm-agent tools list --tag search
  pdm-agent tools describe search_equipment_manual
  pdm-agent tools graph --dot | dot -Tsvg > tools.svg
  pdm-agent tools validate config/tools
  pdm-agent tools validate --packs contracts,etf-atlas --json
  pdm-agent tools validate my-packs/cmms
  pdm-agent tools call --knowledge knowledge.db search_maintenance_history \\
            '{\"query\": \"외륜 결함\"}'

Exit codes: 0 done, 64 no such tool or wrong arguments, 65 a tool is wrong, 66 no such folder, \
69 a tool failed, 78 bad configuration")]
pub struct Args {
    #[command(flatten)]
    place: ToolsPlace,
    /// Action on the tools
    #[command(subcommand)]
    action: ToolsAction,
}

/// The actions on the tools.
#[derive(Debug, Subcommand)]
enum ToolsAction {
    /// List the tools in the order of their layers
    List {
        /// Only tools with this tag
        #[arg(long)]
        tag: Option<String>,
    },
    /// Print everything about one tool, as JSON
    Describe {
        /// Name of the tool
        name: String,
    },
    /// Draw the graph of dependencies
    Graph {
        /// Print Graphviz text instead of text for the terminal
        #[arg(long)]
        dot: bool,
    },
    /// Check every tool of a folder, and of the packs that are turned on; one line for each error
    Validate {
        /// Folder of tools or of a pack, instead of the configured one
        dir: Option<PathBuf>,
        /// Print {"valid": …, "errors": […]} instead of lines
        #[arg(long)]
        json: bool,
    },
    /// Call a tool
    Call {
        /// Name of the tool
        name: String,
        /// Arguments of the tool as a JSON object
        #[arg(default_value = "{}")]
        arguments: String,
    },
}

/// Default folder of `validate`.
const DEFAULT_FOLDER: &str = "config/tools";

/// Runs the command.
///
/// # Errors
/// A [`Failure`] with its exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let mut out = pdm_service::command_line::stdout();
    match &args.action {
        ToolsAction::Validate { dir, json } => {
            let sources = validated(&args.place.read()?, dir.as_deref())?;
            validate(&sources, *json, &mut out)
        }
        ToolsAction::List { tag } => {
            let registry = args.place.read()?.registry();
            list(&registry, tag.as_deref(), &mut out)?;
            Ok(Exit::Ok)
        }
        ToolsAction::Describe { name } => {
            let registry = args.place.read()?.registry();
            let Some(spec) = registry.get(name) else {
                return Err(unknown(name, &registry).into());
            };
            serde_json::to_writer_pretty(&mut out, &described(spec))
                .map_err(std::io::Error::from)?;
            writeln!(out)?;
            Ok(Exit::Ok)
        }
        ToolsAction::Graph { dot } => {
            let registry = args.place.read()?.registry();
            let text = if *dot { registry.dot() } else { registry.graph() };
            out.write_all(text.as_bytes())?;
            Ok(Exit::Ok)
        }
        ToolsAction::Call { name, arguments } => call(&args.place, name, arguments, &mut out),
    }
}

fn unknown(name: &str, registry: &Registry) -> Failure {
    let known = registry.names().join(", ");
    Failure::new(Exit::Usage, anyhow::anyhow!("there is no tool {name}; there are: {known}"))
}

/// Returns the sources that `validate` checks: the folder that is named, or the configured ones.
fn validated(placed: &PlacedTools, dir: Option<&Path>) -> Result<Sources, Failure> {
    let mut sources = placed.sources().clone();
    if let Some(pack) = dir.filter(|dir| pack::is_pack(dir)) {
        sources.packs.push(PackPlace::Folder(pack.to_owned()));
        return Ok(sources);
    }
    let default = Path::new(DEFAULT_FOLDER);
    let has_folder = sources.folder.is_some() || !sources.packs.is_empty();
    let folder = dir.or((!has_folder).then_some(default));
    if let Some(folder) = folder {
        if !folder.is_dir() {
            let error = anyhow::anyhow!("{}: no such folder of tools", folder.display());
            return Err(Failure::new(Exit::NoInput, error));
        }
        sources.folder = Some(folder.to_owned());
    }
    Ok(sources)
}

fn validate(sources: &Sources, json: bool, out: &mut impl Write) -> anyhow::Result<Exit> {
    let loaded = Registry::load(sources);
    let mut problems = loaded.problems;
    let mut wrong = loaded.registry.without_function(&FUNCTIONS);
    wrong.extend(
        loaded.registry.with_wrong_query(|query| {
            Query::read(query).map(drop).map_err(|error| error.to_string())
        }),
    );
    let right = loaded.registry.names().len() - wrong.len();
    problems.extend(wrong);
    problems.sort();
    let is_valid = problems.is_empty();
    if json {
        let errors: Vec<String> = problems.iter().map(ToString::to_string).collect();
        serde_json::to_writer_pretty(&mut *out, &json!({ "valid": is_valid, "errors": errors }))
            .map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        for problem in &problems {
            writeln!(out, "{problem}")?;
        }
        if is_valid {
            writeln!(out, "{right} tools, all right")?;
        }
    }
    if is_valid {
        return Ok(Exit::Ok);
    }
    let error = anyhow::anyhow!("{} problems; {right} tools are right", problems.len());
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

fn call(
    place: &ToolsPlace,
    name: &str,
    arguments: &str,
    out: &mut impl Write,
) -> anyhow::Result<Exit> {
    telemetry::start(LogFormat::Text, "error");
    let arguments: Value = serde_json::from_str(arguments).map_err(|error| {
        Failure::new(Exit::Usage, anyhow::anyhow!("the arguments are not JSON: {error}"))
    })?;
    let placed = place.read()?;
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let tokio = tokio.map_err(failure::runtime)?;
    let runtime = tokio.block_on(placed.runtime())?;
    let call = Call { id: Uuid::now_v7().to_string(), tool: name.to_owned(), arguments };
    let answer = tokio.block_on(runtime.call(&call));
    match answer {
        Ok(observation) => {
            serde_json::to_writer_pretty(&mut *out, &observation.value)
                .map_err(std::io::Error::from)?;
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
