//! `pdm-agent knowledge`: fills the knowledge base, lists its documents with who brought them,
//! searches it, looks up sections and titles.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use pdm_knowledge::ingest::Ingested;
use pdm_knowledge::settings::StoreChoice;
use pdm_knowledge::shipped::is_shipped;
use pdm_knowledge::{
    Added, Chunk, Collection, DEFAULT_TOP_K, DocType, Filter, Hit, Knowledge, KnowledgeSettings,
};
use pdm_service::clock::{Clock as _, SystemClock};
use pdm_service::exit::{Exit, Failure};
use pdm_web::accounts::{AccountStore as _, Act};
use serde_json::{Value, json};

use super::failure;
use crate::service::connect_store;
use crate::settings::AgentSettings;

/// Arguments of `knowledge`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pdm-agent knowledge ingest manual.md --by kim --config agent.toml
  pdm-agent knowledge list --config agent.toml
  pdm-agent knowledge search '외륜 결함 진행 속도' --collection maintenance_history
  pdm-agent knowledge section EM-06 9
  pdm-agent knowledge title '교체 정비 절차서'

Exit codes: 0 done, 65 a file was refused, 66 nothing found, 69 store or embedding unavailable, \
78 bad configuration")]
pub struct Args {
    /// Action on the knowledge base
    #[command(subcommand)]
    action: KnowledgeAction,
    /// The embedded store's file [default: the configuration's, else knowledge.db]
    #[arg(long, global = true, value_name = "FILE")]
    store: Option<PathBuf>,
    /// The configuration, whose [knowledge] names store and embedding
    #[arg(long, global = true, value_name = "FILE", env = "PDM_AGENT_CONFIG")]
    config: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum KnowledgeAction {
    /// Take in files or folders of Markdown, text and PDF
    Ingest {
        /// Files and folders
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// Collection of documents without front matter
        #[arg(long, default_value = "equipment_manual")]
        collection: Collection,
        /// Person who brings them; it is shown with the documents and, with --config, stands in the
        /// record of acts
        #[arg(long, default_value = "local")]
        by: String,
    },
    /// List the documents, with who brought them, when and by which way
    List,
    /// Find the best chunks for a question
    Search {
        /// The question, Korean or English
        query: String,
        /// Only in this collection
        #[arg(long)]
        collection: Option<Collection>,
        /// Most hits
        #[arg(long, default_value_t = DEFAULT_TOP_K)]
        top_k: usize,
        /// Only about this machine
        #[arg(long)]
        equipment: Option<String>,
        /// Only about this bearing
        #[arg(long)]
        bearing: Option<String>,
        /// Only this kind of document
        #[arg(long)]
        doc_type: Option<DocType>,
    },
    /// Print a section by its number, with the sections below it
    Section {
        /// The document's id, such as EM-06
        document: String,
        /// The section's number, such as 4.2
        number: String,
    },
    /// Find documents and sections by their title
    Title {
        /// The title or a part of it
        title: String,
        /// Most hits
        #[arg(long, default_value_t = DEFAULT_TOP_K)]
        top_k: usize,
    },
}

/// Runs the command.
///
/// # Errors
/// A [`Failure`] with its exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let settings = settings(args)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(failure::runtime)?;
    runtime.block_on(act(args, &settings))
}

fn settings(args: &Args) -> Result<KnowledgeSettings, Failure> {
    let mut settings = match &args.config {
        Some(path) => AgentSettings::read(path).map_err(failure::config)?.knowledge,
        None => KnowledgeSettings::embedded_in(Path::new("")),
    };
    if let Some(file) = &args.store {
        settings.store = StoreChoice::Sqlite(file.clone());
    }
    Ok(settings)
}

/// Refuses to search a file that is not there: an empty one would be made, and nothing be found in
/// it.
fn there(args: &Args, settings: &KnowledgeSettings) -> Result<(), Failure> {
    let StoreChoice::Sqlite(file) = &settings.store else { return Ok(()) };
    let makes = matches!(args.action, KnowledgeAction::Ingest { .. });
    if makes || !matches!(file.try_exists(), Ok(false)) {
        return Ok(());
    }
    let told = anyhow::anyhow!(
        "there is no knowledge base {}: `pdm-agent knowledge ingest` and `pdm-agent run` make it; \
         --store FILE or --config FILE names another one",
        file.display()
    );
    Err(Failure::new(Exit::NoInput, told))
}

async fn act(args: &Args, settings: &KnowledgeSettings) -> anyhow::Result<Exit> {
    there(args, settings)?;
    let knowledge = Knowledge::open(settings).await.map_err(failure::knowledge)?;
    match &args.action {
        KnowledgeAction::Ingest { paths, collection, by } => {
            let added = Added { by: by.clone(), via: "cli".to_owned(), at: SystemClock.now() };
            let mut files = Vec::new();
            for path in paths {
                let taken = knowledge.ingest_added(path, *collection, Some(&added)).await;
                files.extend(taken.map_err(failure::knowledge)?);
            }
            note_uploads(args, &files, &added).await;
            told_files(&files, args.json)
        }
        KnowledgeAction::List => told_documents(&knowledge, args.json).await,
        KnowledgeAction::Search { query, collection, top_k, equipment, bearing, doc_type } => {
            let filter = Filter {
                equipment: equipment.clone(),
                bearing: bearing.clone(),
                doc_type: *doc_type,
                ..Filter::default()
            };
            let hits = match collection {
                Some(at) => knowledge.search(*at, query, &filter, *top_k).await,
                None => knowledge.search_all(query, &filter, *top_k).await,
            };
            told_hits(&hits.map_err(failure::knowledge)?, args.json)
        }
        KnowledgeAction::Section { document, number } => {
            let found = knowledge.section(document, number).await.map_err(failure::knowledge)?;
            let entries = found.iter().map(|found| {
                let shown = found.section.whole();
                let fields = json!({"section": found.section, "source": found.chunk.citation()});
                (format!("{shown}\n[{}]", found.chunk.citation()), fields)
            });
            told(entries.collect(), args.json)
        }
        KnowledgeAction::Title { title, top_k } => {
            let found = knowledge.title(title, *top_k).await.map_err(failure::knowledge)?;
            let entries = found.iter().map(|found| {
                let section = found.section.as_ref();
                let place =
                    section.map_or_else(String::new, |s| format!(" §{} {}", s.number, s.title));
                let fields = json!({
                    "score": found.score, "section": section, "source": found.chunk.citation(),
                });
                (format!("{:.2}  {}{place}", found.score, found.chunk.citation()), fields)
            });
            told(entries.collect(), args.json)
        }
    }
}

/// Writes the documents that were taken in into the record of acts. They stay taken in if this
/// fails, which is said.
async fn note_uploads(args: &Args, files: &[Ingested], added: &Added) {
    let taken = || files.iter().filter_map(|file| Some((&file.path, file.outcome.as_ref().ok()?)));
    let Some(config) = args.config.as_deref().filter(|_| taken().next().is_some()) else { return };
    let noted = async {
        let settings = AgentSettings::read(config)?;
        let store = connect_store(&settings.store).await?;
        for (path, done) in taken() {
            let what = format!("{:?} {:?}", path.display().to_string(), done.document);
            let act = Act::new(added.at, &added.by, &added.via, None, "upload", &what);
            store.accounts().note_act(&act).await?;
        }
        store.close().await;
        anyhow::Ok(())
    };
    if let Err(error) = noted.await {
        // who has closed standard error wants no word of it
        let _closed =
            writeln!(std::io::stderr(), "warning: not written into the record of acts: {error:#}");
    }
}

/// Prints every document but the agent's own judgements, by identity.
async fn told_documents(knowledge: &Knowledge, json: bool) -> anyhow::Result<Exit> {
    let mut documents: BTreeMap<String, (Chunk, usize)> = BTreeMap::new();
    for collection in [Collection::EquipmentManual, Collection::MaintenanceHistory] {
        for chunk in knowledge.documents(collection).await.map_err(failure::knowledge)? {
            let key = chunk.document.clone();
            documents.entry(key).or_insert_with(|| (chunk, 0)).1 += 1;
        }
    }
    let entries = documents.into_iter().map(|(id, (chunk, passages))| {
        let about = &chunk.about;
        let is_shipped = is_shipped(&id);
        let brought = match &about.added {
            Some(Added { by, via, at }) => format!("added by {by} ({via}) {at}"),
            None if is_shipped => "of the program".to_owned(),
            None => "added by: not recorded".to_owned(),
        };
        let (title, kind) = (&about.title.en, about.doc_type.as_str());
        let line = format!("{id}  {kind}, {passages} passages  {brought}  {title}");
        let fields = json!({
            "document": id, "doc_type": about.doc_type, "collection": about.collection,
            "title": about.title, "passages": passages, "origin": about.origin,
            "sha256": about.hash, "is_shipped": is_shipped, "added": about.added,
        });
        (line, fields)
    });
    told(entries.collect(), json)
}

fn told_files(files: &[Ingested], json: bool) -> anyhow::Result<Exit> {
    let entries = files.iter().map(|file| {
        let path = file.path.display().to_string();
        match &file.outcome {
            Ok(done) => {
                let what = if done.is_changed { "stored" } else { "same  " };
                let chunks = done.chunks;
                let line = format!("{what}  {} ({chunks} chunks)  {path}", done.document);
                let fields = json!({"path": path, "document": done.document, "chunks": chunks,
                    "collection": done.collection, "changed": done.is_changed});
                (line, fields)
            }
            Err(error) => {
                (format!("REFUSED {error}"), json!({"path": path, "error": error.to_string()}))
            }
        }
    });
    let refused = files.iter().filter(|file| file.outcome.is_err()).count();
    told(entries.collect(), json)?;
    Ok(if refused == 0 { Exit::Ok } else { Exit::BadInput })
}

fn told_hits(hits: &[Hit], json: bool) -> anyhow::Result<Exit> {
    if hits.is_empty() && !json {
        let mut out = pdm_service::command_line::stdout();
        writeln!(out, "nothing found: no stored document answers this question")?;
    }
    let entries = hits.iter().enumerate().map(|(at, hit)| {
        let start: String = hit.chunk.body().chars().take(160).collect();
        let line = format!(
            "{}. {}\n   {}\n   probability {:.2}",
            at + 1,
            hit.chunk.citation(),
            start.replace('\n', " "),
            hit.score
        );
        (line, hit_fields(&hit.chunk, hit.score))
    });
    told(entries.collect(), json)
}

fn hit_fields(chunk: &Chunk, score: f32) -> Value {
    json!({
        "id": chunk.id, "document": chunk.document, "collection": chunk.about.collection,
        "doc_type": chunk.about.doc_type, "title": chunk.about.title, "equipment": chunk.about.equipment,
        "bearing": chunk.about.bearing, "fault_type": chunk.about.fault_type, "synthetic": chunk.about.synthetic,
        "score": score, "text": chunk.body(), "source": chunk.citation(),
        "sources": chunk.about.sources,
    })
}

/// Prints the lines, or their fields as one JSON array. An empty result is exit 66.
fn told(entries: Vec<(String, Value)>, json: bool) -> anyhow::Result<Exit> {
    let mut out = pdm_service::command_line::stdout();
    let is_empty = entries.is_empty();
    if json {
        let fields: Vec<Value> = entries.into_iter().map(|(_line, fields)| fields).collect();
        serde_json::to_writer_pretty(&mut out, &fields).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        for (line, _fields) in entries {
            writeln!(out, "{line}")?;
        }
    }
    if is_empty {
        // who has closed standard error wants no word of it
        let _closed = writeln!(std::io::stderr(), "nothing found");
    }
    Ok(if is_empty { Exit::NoInput } else { Exit::Ok })
}
