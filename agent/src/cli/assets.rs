//! `pdm-agent assets`: the asset graph of the plant, into the store and out of it.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args as ClapArgs, Subcommand};
use pdm_graph::assets::{
    AssetChange, Assets, MachineSites, Origins, check, difference, read_assets, to_yaml,
};
use pdm_graph::files::FileProblem;
use pdm_graph::{Limits, Properties, Query};
use pdm_service::exit::{Exit, Failure};
use pdm_store::Store;

use super::failure;
use super::with_store::with_store;
use crate::assets::{StoredGraph, digests, machines};
use crate::settings::AgentSettings;

/// Arguments of `assets`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  pdm-agent assets check plant.yaml parts.csv
  pdm-agent assets import plant.yaml parts.csv --dry-run --config /etc/pdm/agent.toml
  pdm-agent assets import plant.yaml parts.csv --config /etc/pdm/agent.toml
  pdm-agent assets query \"MATCH (e:Equipment) RETURN e.id LIMIT 5\" --config /etc/pdm/agent.toml

A file is YAML (nodes, relationships) or CSV (columns type, id, … or type, from, to, …; UTF-8 or \
CP949). An import prints what changes (+ new, ~ different, - gone) and applies it whole or not \
at all; the same import again changes nothing.

Exit codes: 0 done, 64 wrong arguments, 65 a file or a query is refused, 66 no such file or node, \
    69 store unavailable, \
78 bad configuration")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
    /// The configuration
    #[arg(long, value_name = "FILE", env = "PDM_AGENT_CONFIG", global = true)]
    config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Put files over the stored graph; prints the difference
    Import {
        /// YAML and CSV files, read together
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Only print the difference
        #[arg(long)]
        dry_run: bool,
        /// Remove what the files do not name; what the agent brought itself stays
        #[arg(long)]
        prune: bool,
    },
    /// Print the stored graph as YAML that `import` takes
    Export,
    /// Count the stored nodes and relationships by type, or show one node with its relationships
    Show {
        /// TYPE/ID, such as Equipment/P-101
        node: Option<String>,
    },
    /// Check files alone, or the stored graph
    Check {
        /// YAML and CSV files; without one the stored graph is checked
        files: Vec<PathBuf>,
    },
    /// Run a read-only openCypher query; prints a JSON object a row
    Query {
        /// The query
        cypher: String,
        /// Most rows
        #[arg(long, default_value_t = 1_000)]
        rows: usize,
    },
    /// Bring in what events, judgements and work orders say
    Refresh,
}

/// Runs the command.
///
/// # Errors
/// A [`Failure`] with its exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let mut out = pdm_service::command_line::stdout();
    if let Command::Check { files } = &args.command
        && !files.is_empty()
    {
        let (assets, origins) = read_assets(files).map_err(|problems| refused(&problems))?;
        wrong(&check(&assets, &origins))?;
        writeln!(
            out,
            "{} nodes, {} relationships, all right",
            assets.nodes.len(),
            assets.edges.len()
        )?;
        out.write_all(remarked(&MachineSites::of_assets(&assets, &BTreeSet::new())).as_bytes())?;
        return Ok(Exit::Ok);
    }
    let Some(config) = &args.config else {
        let error = anyhow::anyhow!("--config FILE is missing (or PDM_AGENT_CONFIG)");
        return Err(Failure::new(Exit::Usage, error).into());
    };
    let settings = AgentSettings::read(config).map_err(failure::config)?;
    let told = with_store(&settings.store, async |store| answer(&args.command, store).await)?;
    out.write_all(told.as_bytes())?;
    Ok(Exit::Ok)
}

async fn answer(command: &Command, store: &Store) -> Result<String, Failure> {
    match command {
        Command::Import { files, dry_run, prune } => import(store, files, *dry_run, *prune).await,
        Command::Export => Ok(to_yaml(&store.graph().assets().await.map_err(failure::store)?)),
        Command::Show { node } => {
            let assets = store.graph().assets().await.map_err(failure::store)?;
            node.as_deref().map_or_else(|| Ok(counted(&assets)), |node| shown(&assets, node))
        }
        Command::Check { .. } => {
            let assets = store.graph().assets().await.map_err(failure::store)?;
            wrong(&check(&assets, &Origins::default()))?;
            let sites = remarked(&sites_of(store, &assets).await?);
            let (nodes, edges) = (assets.nodes.len(), assets.edges.len());
            Ok(format!("{nodes} nodes, {edges} relationships, all right\n{sites}"))
        }
        Command::Query { cypher, rows } => query(store, cypher, *rows).await,
        Command::Refresh => {
            let change = digests::refresh(store).await.map_err(failure::store)?;
            Ok(told(&change, "brought in"))
        }
    }
}

async fn import(
    store: &Store,
    files: &[PathBuf],
    dry_run: bool,
    prune: bool,
) -> Result<String, Failure> {
    let (new, origins) = read_assets(files).map_err(|problems| refused(&problems))?;
    let revised = |before: &Assets| {
        let mut after = if prune { pruned(before, &new) } else { before.clone().with(&new) };
        digests::give_way(before, &new, &mut after);
        wrong(&check(&after, &origins))?;
        Ok::<_, Failure>(difference(before, &after))
    };
    if dry_run {
        let before = store.graph().assets().await.map_err(failure::store)?;
        let change = revised(&before)?;
        let sites = sites_of(store, &before.with(&new)).await?;
        return Ok(told(&change, "would change") + &remarked(&sites));
    }
    // checked against what is stored at that moment: another import may have come in between
    let mut outcome = Ok(AssetChange::default());
    let revise = &mut |before: &Assets| {
        outcome = revised(before);
        outcome.as_ref().ok().filter(|change| !change.is_empty()).cloned()
    };
    store.graph().change_assets(revise).await.map_err(failure::store)?;
    let change = outcome?;
    let sites = sites_of(store, &store.graph().assets().await.map_err(failure::store)?).await?;
    Ok(told(&change, "changed") + &remarked(&sites))
}

/// Returns the sites of a graph's machines, and of those that events name.
async fn sites_of(store: &Store, assets: &Assets) -> Result<MachineSites, Failure> {
    let fleet = store.pages().fleet().await.map_err(failure::store)?;
    let measured = machines::measured_machines(fleet.iter().map(|row| &row.key));
    Ok(MachineSites::of_assets(assets, &measured))
}

/// Returns the remarks for the person on machines whose site is not clear, one a line.
fn remarked(sites: &MachineSites) -> String {
    sites.remarks().into_iter().fold(String::new(), |told, one| told + "! " + &one + "\n")
}

/// Returns the entries of the files with those that the agent added itself: digests, and the
/// machines and bearings of the digests.
fn pruned(before: &Assets, new: &Assets) -> Assets {
    let mut kept = before.clone();
    kept.nodes.retain(|name, own| digests::is_own(name, own));
    kept.edges.retain(|name, _| {
        let there = |end| kept.nodes.contains_key(end) || new.nodes.contains_key(end);
        digests::is_own_edge(name) && there(&name.from) && there(&name.to)
    });
    kept.with(new)
}

fn told(change: &AssetChange, what: &str) -> String {
    let nodes = change.nodes.len() + change.removed_nodes.len();
    let edges = change.edges.len() + change.removed_edges.len();
    format!("{change}{nodes} nodes and {edges} relationships {what}\n")
}

async fn query(store: &Store, cypher: &str, rows: usize) -> Result<String, Failure> {
    let begun = Instant::now();
    let query = Query::read(cypher).map_err(|error| Failure::new(Exit::BadInput, error))?;
    let graph = StoredGraph::new(store.clone());
    let limits = Limits { rows, ..Limits::default() };
    let run = move || query.run(&graph, &Properties::new(), &limits);
    let table = tokio::task::spawn_blocking(run).await;
    let table = table.map_err(|error| Failure::new(Exit::Software, error))?;
    let table = table.map_err(|error| {
        let exit = if error.is_transient() { Exit::Unavailable } else { Exit::BadInput };
        Failure::new(exit, error)
    })?;
    tracing::debug!(took = ?begun.elapsed(), rows = table.rows.len(), "Query answered.");
    let mut text = String::new();
    for row in table.to_json().as_array().into_iter().flatten() {
        text.push_str(&row.to_string());
        text.push('\n');
    }
    if table.truncated {
        text.extend(["{\"truncated\":\"there are more than ", &rows.to_string(), " rows\"}\n"]);
    }
    Ok(text)
}

fn counted(assets: &Assets) -> String {
    let mut counts = std::collections::BTreeMap::new();
    for name in assets.nodes.keys() {
        *counts.entry(format!("node         {}", name.kind)).or_insert(0_usize) += 1;
    }
    for name in assets.edges.keys() {
        *counts.entry(format!("relationship {}", name.kind)).or_insert(0) += 1;
    }
    let lines = counts.into_iter().map(|(what, count)| format!("{what}: {count}\n"));
    lines.collect::<Vec<_>>().concat()
}

fn shown(assets: &Assets, node: &str) -> Result<String, Failure> {
    let found = assets.nodes.iter().find(|(name, _)| name.to_string() == node);
    let Some((name, own)) = found else {
        let error =
            anyhow::anyhow!("{node} is not in the asset graph; `assets show` counts what is");
        return Err(Failure::new(Exit::NoInput, error));
    };
    let mut text = format!("{name} {}\n", pdm_graph::properties_json(own));
    for (edge, own) in &assets.edges {
        if edge.from == *name || edge.to == *name {
            let own = pdm_graph::properties_json(own).to_string();
            text.extend(["  ", &edge.to_string(), " ", &own, "\n"]);
        }
    }
    Ok(text)
}

/// Fails with every problem, one a line.
fn wrong(problems: &[FileProblem]) -> Result<(), Failure> {
    if problems.is_empty() { Ok(()) } else { Err(refused(problems)) }
}

/// Most problems that are told; a wrong column makes one a row.
const TOLD: usize = 20;

fn refused(problems: &[FileProblem]) -> Failure {
    let mut lines: Vec<String> = problems.iter().take(TOLD).map(place).collect();
    if problems.len() > TOLD {
        lines.push(format!("and {} more", problems.len() - TOLD));
    }
    lines.push("nothing is imported".into());
    let is_missing = |problem: &FileProblem| {
        !is_of_store(problem) && matches!(problem.file.try_exists(), Ok(false))
    };
    let exit = if problems.iter().any(is_missing) { Exit::NoInput } else { Exit::BadInput };
    Failure::new(exit, anyhow::anyhow!(lines.join("\n")))
}

/// Whether a problem is of what is stored already, and of no file.
fn is_of_store(problem: &FileProblem) -> bool {
    problem.file == Path::new("(stored)")
}

fn place(problem: &FileProblem) -> String {
    if is_of_store(problem) {
        return format!("(stored): {}", problem.message);
    }
    problem.to_string()
}
