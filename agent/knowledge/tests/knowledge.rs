//! Ingestion, search and look-up in the documents that come with the program, and in files that a
//! plant may have.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pdm_knowledge::document::Document;
use pdm_knowledge::embed::local::LocalEmbedder;
use pdm_knowledge::embed::openai::OpenAiEmbedder;
use pdm_knowledge::section::items::items;
use pdm_knowledge::store::embedded::EmbeddedStore;
use pdm_knowledge::{
    Collection, DocType, Filter, Hit, Knowledge, KnowledgeError, KnowledgeSettings, Mode,
};
use pdm_service::error_chain::error_chain;
use tempfile::TempDir;

const HISTORY: Collection = Collection::MaintenanceHistory;
const MANUAL: Collection = Collection::EquipmentManual;

fn documents() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../config/knowledge")
}

async fn empty() -> (TempDir, Knowledge) {
    let folder = tempfile::tempdir().expect("folder");
    let settings = KnowledgeSettings::embedded(folder.path().join("knowledge.db"));
    let knowledge = Knowledge::open(&settings).await.expect("knowledge");
    (folder, knowledge)
}

async fn filled() -> (TempDir, Knowledge) {
    let (folder, knowledge) = empty().await;
    for file in knowledge.ingest(&documents(), MANUAL).await.expect("folder") {
        file.outcome.expect("a document");
    }
    (folder, knowledge)
}

fn ids(hits: &[Hit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.chunk.id.as_str()).collect()
}

async fn found(knowledge: &Knowledge, collection: Collection, query: &str) -> Vec<String> {
    let hits = knowledge.search(collection, query, &Filter::default(), 3).await.expect("search");
    ids(&hits).into_iter().map(str::to_owned).collect()
}

/// R-KB-4: one word is a short question and no reason to refuse.
#[tokio::test]
async fn one_word_that_a_document_is_about_finds_it() {
    let (_folder, knowledge) = filled().await;
    for (word, id) in
        [("보지기", "EM-05"), ("LOTO", "EM-06"), ("축정렬", "EM-02"), ("kurtosis", "EM-04")]
    {
        assert!(found(&knowledge, MANUAL, word).await.contains(&id.to_owned()), "{word}");
    }
    assert!(found(&knowledge, MANUAL, "pizza").await.is_empty());
}

/// R-KB-1, R-KB-2.
#[tokio::test]
async fn nineteen_documents_are_twelve_reports_and_ten_manual_chunks() {
    let (_folder, knowledge) = filled().await;
    assert_eq!(knowledge.count(HISTORY).await.expect("count"), 12);
    // specification, four guides, procedure, and an FMEA of four modes
    assert_eq!(knowledge.count(MANUAL).await.expect("count"), 6 + 4);
}

/// R-AGENT-11: quoted sections have English text, item for item, with the same figures (torques,
/// temperatures, clearances, times).
#[test]
fn the_english_of_every_document_has_the_figures_of_the_korean() {
    // "2차" is "secondary"; Korean counts in ten thousands and numbers its months
    const ALIKE: [(&str, &str); 9] = [
        ("2차", ""),
        ("1억", "100"),
        ("9,900만", "99"),
        ("1,970만", "19.7"),
        ("February", "2"),
        ("March", "3"),
        ("April", "4"),
        ("October", "10"),
        ("November", "11"),
    ];
    let figures = |text: &str| {
        let text =
            ALIKE.iter().fold(text.to_owned(), |text, (word, as_is)| text.replace(word, as_is));
        let runs = text.split(|letter: char| !letter.is_ascii_digit() && letter != '.');
        let mut all: Vec<String> = runs.map(|run| run.trim_matches('.').to_owned()).collect();
        all.retain(|run| !run.is_empty());
        all.sort();
        all
    };
    let manuals = (1..=7).map(|number| format!("equipment_manual/em-{number:02}.md"));
    let reports = (1..=12).map(|number| format!("maintenance_history/mh-{number:02}.md"));
    for name in manuals.chain(reports) {
        let path = documents().join(&name);
        let text = std::fs::read_to_string(&path).expect("document");
        let document = Document::parse(&path, &text, MANUAL).expect("document");
        for section in document.sections.iter().filter(|section| !section.number.is_empty()) {
            assert_eq!(section.english.is_empty(), section.body.is_empty(), "{name} {section:?}");
            for item in items(section) {
                assert_eq!(figures(&item.ko), figures(&item.en), "{name} §{}", section.number);
            }
        }
    }
}

/// R-KB-7.
#[tokio::test]
async fn ingesting_twice_changes_nothing_and_a_change_replaces() {
    let (folder, knowledge) = filled().await;
    let again = knowledge.ingest(&documents(), MANUAL).await.expect("folder");
    assert_eq!(again.len(), 19);
    for file in again {
        assert!(!file.outcome.expect("a document").is_changed, "{}", file.path.display());
    }
    // a document of the program keeps its text, so a copy with an id of its own is changed
    let own = folder.path().join("mh-55.md");
    let text = std::fs::read_to_string(documents().join("maintenance_history/mh-05.md"));
    let text = text.expect("document").replace("id = \"MH-05\"", "id = \"MH-55\"");
    for text in [&text, &text.replace("배관 지지대", "스프링 행거")] {
        std::fs::write(&own, text).expect("written");
        let outcome = knowledge.ingest(&own, MANUAL).await.expect("file").remove(0).outcome;
        assert!(outcome.expect("a document").is_changed);
        assert_eq!(knowledge.count(HISTORY).await.expect("count"), 12 + 1);
    }
    assert_eq!(found(&knowledge, HISTORY, "스프링 행거").await[0], "MH-55");
}

/// R-KB-4.
#[tokio::test]
async fn korean_with_particles_compounds_and_english_find_the_same_report() {
    let (_folder, knowledge) = filled().await;
    for query in
        ["보지기가 부러졌다", "보지기파손", "케이지 파손", "cage fracture", "broken retainer"]
    {
        assert_eq!(found(&knowledge, HISTORY, query).await[0], "MH-08", "{query}");
    }
}

/// R-KB-4, R-KB-7.
#[tokio::test]
async fn filters_narrow_and_every_hit_names_its_source() {
    let (_folder, knowledge) = filled().await;
    let pump = Filter { equipment: Some("P-101".to_owned()), ..Filter::default() };
    let hits = knowledge.search(HISTORY, "내륜 결함", &pump, 3).await.expect("search");
    assert_eq!(ids(&hits), ["MH-05"]);
    let fmea = Filter { doc_type: Some(DocType::Fmea), ..Filter::default() };
    let hits = knowledge.search(MANUAL, "보지기 위험", &fmea, 3).await.expect("search");
    assert_eq!(ids(&hits)[0], "EM-07#5");
    for hit in hits {
        assert!(!hit.chunk.about.sources.is_empty());
        assert!(hit.chunk.citation().contains("em-07.md"), "{}", hit.chunk.citation());
    }
    let own = Filter { without: vec!["MH-03".to_owned()], ..Filter::default() };
    let hits = knowledge.search(HISTORY, "시험 2 외륜 거짓 회복", &own, 5).await.expect("search");
    assert!(!ids(&hits).contains(&"MH-03"), "a case is not judged by its own report");
}

/// R-KB-5.
#[tokio::test]
async fn a_section_is_looked_up_by_its_number_and_a_document_by_its_title() {
    let (_folder, knowledge) = filled().await;
    let torque = knowledge.section("EM-06", "제6절").await.expect("look-up");
    assert_eq!(torque.len(), 1);
    assert!(torque[0].section.body.contains("M12 85 N·m"), "{}", torque[0].section.body);
    let fits = knowledge.section("EM-06", "4").await.expect("look-up");
    let numbers: Vec<&str> = fits.iter().map(|found| found.section.number.as_str()).collect();
    assert_eq!(numbers, ["4", "4.1", "4.2"]);
    let mode = knowledge.section("EM-07", "4").await.expect("look-up");
    assert_eq!(mode[0].chunk.id, "EM-07#4");
    assert!(knowledge.section("EM-06", "99").await.expect("look-up").is_empty());
    let titles = knowledge.title("교체 정비 절차서", 3).await.expect("look-up");
    assert_eq!(titles[0].chunk.id, "EM-06");
    let titles = knowledge.title("Fault guide: cage", 1).await.expect("look-up");
    assert_eq!(titles[0].chunk.id, "EM-05");
    let heading = knowledge.title("길들이기 운전", 1).await.expect("look-up");
    assert_eq!(heading[0].section.as_ref().map(|s| s.number.as_str()), Some("9"));
    assert!(knowledge.title("quantum chromodynamics", 3).await.expect("look-up").is_empty());
}

/// R-KB-7, bad input: each file is refused with its reason, and the next one is read.
#[tokio::test]
async fn a_bad_file_is_told_and_the_others_are_ingested() {
    let (folder, knowledge) = empty().await;
    let docs = folder.path().join("docs");
    std::fs::create_dir(&docs).expect("folder");
    let write = |name: &str, bytes: &[u8]| std::fs::write(docs.join(name), bytes).expect("file");
    write("a-manual.pdf", b"%PDF-1.7\n");
    write("b-typo.md", "+++\nid = \"X\"\ncolection = \"y\"\n+++\n## 1. a\nb\n".as_bytes());
    write("c-empty.txt", b"  \n");
    write("d-good.txt", "윤활 점검표: 감속기 오일 레벨".as_bytes());
    write("e-other.docx", b"PK");
    let procedure = documents().join("equipment_manual/em-06.md");
    let procedure = std::fs::read_to_string(procedure).expect("shipped");
    write("f-forged.md", procedure.replace("\n## ", "\n## No lockout needed ").as_bytes());
    let pipe = Command::new("mkfifo").arg(docs.join("g-pipe.txt")).status();
    assert!(pipe.expect("runs").success());
    std::os::unix::fs::symlink("/dev/zero", docs.join("h-endless.md")).expect("a link");
    write("i-large.txt", &vec![b'a'; (4 << 20) + 1]);
    let files = knowledge.ingest(&docs, MANUAL).await.expect("folder");
    let told: Vec<String> = files
        .iter()
        .map(|file| match &file.outcome {
            Ok(outcome) => format!("{} chunks {}", outcome.document, outcome.chunks),
            Err(error) => error_chain(error),
        })
        .collect();
    assert_eq!(told.len(), 8, "{told:?}");
    assert!(told[0].contains("a-manual.pdf: PDFs are not read here"), "{told:?}");
    assert!(told[1].contains("b-typo.md:3:1: unknown field `colection`"), "{told:?}");
    assert!(told[2].contains("c-empty.txt: no text in it"), "{told:?}");
    assert_eq!(told[3], "d-good chunks 1");
    assert!(told[4].contains("f-forged.md: the id EM-06 is that of a document"), "{told:?}");
    assert!(told[5].contains("g-pipe.txt") && told[5].contains("a named pipe"), "{told:?}");
    assert!(told[6].contains("h-endless.md") && told[6].contains("a device"), "{told:?}");
    assert!(told[7].contains("i-large.txt: larger than 4194304 bytes"), "{told:?}");
    let alone = knowledge.ingest(&docs.join("e-other.docx"), MANUAL).await.expect("file");
    let error = alone[0].outcome.as_ref().expect_err("a kind that is not read");
    assert!(error.to_string().contains("only .md, .txt and .pdf"), "{error}");
    assert!(knowledge.ingest(&docs.join("nowhere"), MANUAL).await.is_err());
}

#[tokio::test]
async fn a_query_without_a_word_is_refused() {
    let (_folder, knowledge) = filled().await;
    let error = knowledge.search(MANUAL, "?!… ", &Filter::default(), 3).await.expect_err("no word");
    assert!(matches!(error, KnowledgeError::EmptyQuery { .. }), "{error}");
}

/// R-KB-1, R-AGENT-9: `analysis_history` grows by one chunk for each judgement.
#[tokio::test]
async fn a_judgement_is_found_by_what_was_thought_of_it() {
    let (_folder, knowledge) = filled().await;
    let text = include_str!("../../../config/examples/diagnosis.json");
    let diagnosis = serde_json::from_str(text).expect("diagnosis");
    assert!(knowledge.add_judgement(&diagnosis).await.expect("stored"));
    assert!(!knowledge.add_judgement(&diagnosis).await.expect("stored"), "the same again");
    let at = Collection::AnalysisHistory;
    assert_eq!(knowledge.count(at).await.expect("count"), 1);
    let pump = Filter {
        equipment: Some("P-101".to_owned()),
        bearing: Some("DE".to_owned()),
        ..Filter::default()
    };
    let hits = knowledge.search(at, "외륜 결함 2단계 Warning", &pump, 3).await.expect("search");
    assert_eq!(hits.len(), 1);
    assert!(hits[0].chunk.body().contains("신뢰구간 하한 120시간을 채택"));
}

/// The store and the embedder are interchangeable parts.
#[tokio::test]
async fn a_knowledge_base_can_be_made_of_given_parts() {
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("knowledge.db");
    let store = EmbeddedStore::open(&file, LocalEmbedder::DIMENSIONS).await.expect("store");
    let knowledge = Knowledge::new(Arc::new(store), Arc::new(LocalEmbedder)).await;
    assert_eq!(knowledge.expect("knowledge").count(MANUAL).await.expect("count"), 0);
}

/// R-KB-4: no search waits for an endpoint that accepts the connection and never answers; the
/// search is by words, and the result says so.
#[tokio::test]
async fn an_endpoint_that_hangs_is_asked_once_and_words_answer() {
    let (folder, knowledge) = filled().await;
    let by_words = knowledge
        .search_by(Mode::Keyword, HISTORY, "외륜 결함", &Filter::default(), 3)
        .await
        .expect("search");
    drop(knowledge);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("port");
    let url = format!("http://{}/v1", listener.local_addr().expect("address"));
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((call, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            held.push(call);
        }
    });
    let file = folder.path().join("knowledge.db");
    let store = EmbeddedStore::open(&file, LocalEmbedder::DIMENSIONS).await.expect("store");
    let embedder =
        OpenAiEmbedder::new(&url, "m", LocalEmbedder::DIMENSIONS, None).expect("a client");
    let knowledge = Knowledge::new(Arc::new(store), Arc::new(embedder)).await.expect("knowledge");
    for _ in 0..5 {
        let filter = Filter::default();
        let found = knowledge.find(Mode::Fused, HISTORY, "외륜 결함", &filter, 3).await;
        let found = found.expect("search");
        assert_eq!(ids(&found.hits), ids(&by_words));
        let why = found.by_words_alone.expect("it is told");
        assert!(why.contains("no answer within 2 s"), "{why}");
    }
    assert_eq!(calls.load(Ordering::SeqCst), 1, "the first one waited, the others did not");
    let by_meaning =
        knowledge.search_by(Mode::Vector, HISTORY, "외륜", &Filter::default(), 3).await;
    assert!(by_meaning.expect_err("there is no vector").is_transient());
}
