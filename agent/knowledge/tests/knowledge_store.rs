//! The behaviour of a vector store, tested on the embedded store, on the Qdrant store against a
//! stand-in server, and on a Qdrant server if `PDM_QDRANT_URL` names one.

use pdm_knowledge::about::{About, Keywords};
use pdm_knowledge::embed::local::LocalEmbedder;
use pdm_knowledge::section::Section;
use pdm_knowledge::store::embedded::EmbeddedStore;
use pdm_knowledge::store::qdrant::QdrantStore;
use pdm_knowledge::store::{Point, Query, StoreError, VectorStore};
use pdm_knowledge::{Chunk, Collection, DocType, Filter, words};
use pdm_shared::fault::Fault;
use pdm_shared::text::Text;

const AT: Collection = Collection::MaintenanceHistory;

fn chunk(id: &str, document: &str, text: &str) -> Chunk {
    let about = About {
        collection: AT,
        doc_type: DocType::Report,
        title: Text::new(text, text),
        keywords: Keywords::default(),
        asked: Vec::new(),
        equipment: None,
        bearing: None,
        fault_type: None,
        synthetic: false,
        sources: vec!["a test".to_owned()],
        origin: "test.md".to_owned(),
        hash: text.len().to_string(),
        added: None,
    };
    let section = Section {
        number: "1".to_owned(),
        title: "경과".to_owned(),
        body: text.to_owned(),
        english: String::new(),
    };
    Chunk { id: id.to_owned(), document: document.to_owned(), about, sections: vec![section] }
}

fn point(chunk: Chunk) -> Point {
    let (head, body) = (chunk.head(), chunk.body());
    Point {
        dense: LocalEmbedder::vector(&head, &body),
        sparse: words::passage_vector(&head, &body),
        embedder: "local/1".to_owned(),
        chunk,
    }
}

fn cases() -> Vec<Chunk> {
    let mut outer = chunk("A", "A", "펌프 외륜 박리가 BPFO에서 보였다");
    outer.about.equipment = Some("P-101".to_owned());
    outer.about.bearing = Some("DE".to_owned());
    outer.about.fault_type = Some(Fault::OuterRace);
    let mut cage = chunk("B", "B", "송풍기 보지기 파손, FTF 불규칙");
    cage.about.equipment = Some("F-201".to_owned());
    cage.about.fault_type = Some(Fault::Cage);
    let mut fmea = chunk("C#1", "C", "외륜 고장 모드의 심각도와 발생도");
    fmea.about.doc_type = DocType::Fmea;
    vec![outer, cage, fmea]
}

fn asked(text: &str) -> Query {
    Query {
        dense: Some(LocalEmbedder::vector(text, "")),
        sparse: Some(words::query_vector(text)),
        filter: Filter::default(),
        top_k: 3,
    }
}

async fn ids(store: &dyn VectorStore, query: &Query) -> Vec<String> {
    let hits = store.search(AT, query).await.expect("search");
    hits.into_iter().map(|hit| hit.chunk.id).collect()
}

async fn fill(store: &dyn VectorStore) {
    let documents: Vec<String> = ["A", "B", "C"].map(str::to_owned).to_vec();
    let points = cases().into_iter().map(point).collect();
    store.replace(AT, &documents, points).await.expect("stored");
}

/// The conformance suite. `store` is empty.
async fn conforms(store: &dyn VectorStore) {
    store.prepare().await.expect("may be called again");
    assert_eq!(store.count(AT).await.expect("count"), 0);
    assert!(ids(store, &asked("외륜")).await.is_empty(), "an empty store finds nothing");
    fill(store).await;
    finds_by_meaning_by_word_and_by_both(store).await;
    every_filter_holds_in_every_mode(store).await;
    what_is_stored_comes_back_whole(store).await;
    replacing_leaves_nothing_old(store).await;
}

async fn finds_by_meaning_by_word_and_by_both(store: &dyn VectorStore) {
    for text in ["BPFO 외륜 박리 펌프", "pump outer race spalling"] {
        let fused = asked(text);
        let vector = Query { sparse: None, ..fused.clone() };
        let keyword = Query { dense: None, ..fused.clone() };
        for query in [fused, vector, keyword] {
            assert_eq!(ids(store, &query).await[0], "A", "{text}");
        }
    }
    // an unknown word finds nothing, but every vector has a nearest chunk
    let nowhere = asked("xylophone");
    assert!(ids(store, &Query { dense: None, ..nowhere.clone() }).await.is_empty());
    assert_eq!(ids(store, &Query { sparse: None, top_k: 2, ..nowhere }).await.len(), 2);
    let hits = store.search(AT, &asked("외륜")).await.expect("search");
    assert!(hits.is_sorted_by(|a, b| a.score >= b.score), "best first");
    let other = store.search(Collection::EquipmentManual, &asked("외륜")).await.expect("search");
    assert!(other.is_empty(), "collections do not mix");
}

async fn every_filter_holds_in_every_mode(store: &dyn VectorStore) {
    let some = |text: &str| Some(text.to_owned());
    let filters = [
        (Filter { equipment: some("P-101"), ..Filter::default() }, vec!["A"]),
        (Filter { bearing: some("DE"), ..Filter::default() }, vec!["A"]),
        (Filter { doc_type: Some(DocType::Fmea), ..Filter::default() }, vec!["C#1"]),
        (Filter { fault_type: Some(Fault::Cage), ..Filter::default() }, vec!["B"]),
        (Filter { document: some("C"), ..Filter::default() }, vec!["C#1"]),
        (Filter { without: vec!["A".into(), "B".into()], ..Filter::default() }, vec!["C#1"]),
        (Filter { equipment: some("P-101"), bearing: some("NDE"), ..Filter::default() }, vec![]),
    ];
    for (filter, expected) in filters {
        let fused = Query { filter: filter.clone(), ..asked("외륜 보지기 고장") };
        let vector = Query { sparse: None, ..fused.clone() };
        let keyword = Query { dense: None, ..fused.clone() };
        for query in [fused, vector, keyword] {
            assert_eq!(ids(store, &query).await, expected, "{filter:?}");
        }
        let listed = store.list(AT, &filter).await.expect("list");
        let listed: Vec<&str> = listed.iter().map(|stored| stored.chunk.id.as_str()).collect();
        assert_eq!(listed, expected, "{filter:?}");
    }
}

async fn what_is_stored_comes_back_whole(store: &dyn VectorStore) {
    let stored = store.list(AT, &Filter::default()).await.expect("list");
    let chunks: Vec<Chunk> = stored.iter().map(|stored| stored.chunk.clone()).collect();
    assert_eq!(chunks, cases());
    assert!(stored.iter().all(|stored| stored.embedder == "local/1"));
}

async fn replacing_leaves_nothing_old(store: &dyn VectorStore) {
    let new = point(chunk("A", "A", "기어박스 전동체 압흔"));
    store.replace(AT, &["A".to_owned(), "C".to_owned()], vec![new]).await.expect("stored");
    assert_eq!(store.count(AT).await.expect("count"), 2);
    let keyword = Query { dense: None, ..asked("펌프 외륜") };
    assert!(ids(store, &keyword).await.is_empty(), "the old text is not found");
    assert_eq!(ids(store, &asked("전동체 압흔")).await[0], "A");
    store.replace(AT, &["A".to_owned(), "B".to_owned()], Vec::new()).await.expect("removed");
    assert_eq!(store.count(AT).await.expect("count"), 0);
}

/// R-KB-8.
#[tokio::test]
async fn the_embedded_store_conforms() {
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("knowledge.db");
    let store = EmbeddedStore::open(&file, LocalEmbedder::DIMENSIONS).await.expect("store");
    conforms(&store).await;
}

async fn qdrant_conforms(url: &str) {
    let prefix = format!("pdm_test_{}_", uuid::Uuid::now_v7().simple());
    let dimensions = LocalEmbedder::DIMENSIONS;
    let store = QdrantStore::new(url, None, &prefix, dimensions).expect("client");
    store.prepare().await.expect("collections");
    store.prepare().await.expect("they are there already");
    conforms(&store).await;
    let other = QdrantStore::new(url, None, &prefix, dimensions + 1).expect("client");
    assert!(matches!(other.prepare().await, Err(StoreError::Dimensions { .. })));
    store.drop_collections().await.expect("cleaned up");
}

/// R-KB-8.
#[tokio::test]
async fn the_qdrant_store_conforms() {
    let name = "the_qdrant_store_conforms";
    let Some(url) = pdm_harness::outside_server(name, "PDM_QDRANT_URL") else { return };
    qdrant_conforms(&url).await;
}

/// R-KB-8, without a server: the requests over gRPC, interpreted by Qdrant's own client.
#[tokio::test]
async fn the_qdrant_store_conforms_at_a_stand_in_of_qdrants_python_client() {
    let name = "the_qdrant_store_conforms_at_a_stand_in_of_qdrants_python_client";
    let folder = env!("CARGO_TARGET_TMPDIR");
    let Some(server) = pdm_harness::QdrantStandIn::start(name, folder) else { return };
    qdrant_conforms(server.url()).await;
}

/// R-KB-8.
#[tokio::test]
async fn a_qdrant_server_that_is_away_is_told_with_its_address() {
    let url = format!("http://127.0.0.1:{}", pdm_harness::free_port());
    let store = QdrantStore::new(&url, None, "", 4).expect("client");
    let error = store.prepare().await.expect_err("nobody listens");
    assert!(error.to_string().contains(&url), "{error}");
}

#[tokio::test]
async fn the_embedded_store_is_there_after_a_restart() {
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("knowledge.db");
    let store = EmbeddedStore::open(&file, LocalEmbedder::DIMENSIONS).await.expect("store");
    fill(&store).await;
    let before = store.search(AT, &asked("외륜 박리")).await.expect("search");
    drop(store);
    let store = EmbeddedStore::open(&file, LocalEmbedder::DIMENSIONS).await.expect("store");
    assert_eq!(store.search(AT, &asked("외륜 박리")).await.expect("search"), before);
}

#[tokio::test]
async fn what_another_process_stores_is_found() {
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("knowledge.db");
    let agent = EmbeddedStore::open(&file, LocalEmbedder::DIMENSIONS).await.expect("store");
    let command = EmbeddedStore::open(&file, LocalEmbedder::DIMENSIONS).await.expect("store");
    assert!(ids(&agent, &asked("외륜")).await.is_empty());
    fill(&command).await;
    assert_eq!(ids(&agent, &asked("펌프 외륜 박리")).await[0], "A");
    // the same in the other direction
    agent.replace(AT, &["A".to_owned()], Vec::new()).await.expect("removed");
    assert_eq!(command.count(AT).await.expect("count"), 2);
}

#[tokio::test]
async fn vectors_of_another_length_are_refused_with_both_lengths() {
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("knowledge.db");
    let store = EmbeddedStore::open(&file, LocalEmbedder::DIMENSIONS).await.expect("store");
    fill(&store).await;
    let error = EmbeddedStore::open(&file, 1536).await.expect_err("other vectors");
    assert!(error.to_string().contains("holds vectors of 256 dimensions"), "{error}");
}

#[tokio::test]
async fn a_file_that_is_no_store_is_refused_with_its_name() {
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("knowledge.db");
    std::fs::write(&file, "not a database, but long enough to be read as one".repeat(100))
        .expect("written");
    let error = EmbeddedStore::open(&file, 4).await.expect_err("no store");
    assert!(error.to_string().contains("knowledge.db"), "{error}");
}

#[tokio::test]
async fn many_replacements_keep_the_index_small_and_right() {
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("knowledge.db");
    let store = EmbeddedStore::open(&file, LocalEmbedder::DIMENSIONS).await.expect("store");
    for round in 0..100 {
        let text = format!("외륜 박리 {round}");
        let new = point(chunk("A", "A", &text));
        store.replace(AT, &["A".to_owned()], vec![new]).await.expect("stored");
    }
    assert_eq!(store.count(AT).await.expect("count"), 1);
    let hits = store.search(AT, &asked("외륜 박리")).await.expect("search");
    assert_eq!(hits[0].chunk.about.title.ko, "외륜 박리 99");
}

fn judgements(numbers: std::ops::Range<usize>) -> (Vec<String>, Vec<Point>) {
    let points = numbers.map(|number| {
        let id = format!("AH-{number:04}");
        let mut judged = chunk(&id, &id, &format!("펌프 판정 {number}"));
        judged.about.collection = Collection::AnalysisHistory;
        judged.about.fault_type = number.is_multiple_of(10).then_some(Fault::OuterRace);
        point(judged)
    });
    let points: Vec<Point> = points.collect();
    (points.iter().map(|point| point.chunk.document.clone()).collect(), points)
}

/// R-AGENT-9: memory and file of an agent stay bounded over years, and judgements with a fault are
/// deleted last.
#[tokio::test]
async fn judgements_above_the_bound_go_and_those_that_name_a_fault_go_last() {
    const KEPT: usize = 200;
    let at = Collection::AnalysisHistory;
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("knowledge.db");
    let store = EmbeddedStore::open(&file, LocalEmbedder::DIMENSIONS).await.expect("store");
    let (documents, points) = judgements(0..500);
    store.replace(at, &documents, points).await.expect("stored");
    assert_eq!(store.count(at).await.expect("count"), 500, "without a bound all stay");
    let store = store.bounded(KEPT).await.expect("bounded");
    assert!(
        store.count(at).await.expect("count") <= KEPT as u64,
        "also what an older version left"
    );
    for first in (500..1000).step_by(25) {
        let (documents, points) = judgements(first..first + 25);
        store.replace(at, &documents, points).await.expect("stored");
        assert!(store.count(at).await.expect("count") <= KEPT as u64);
    }
    let kept = store.list(at, &Filter::default()).await.expect("listed");
    assert_eq!(kept.len() as u64, store.count(at).await.expect("count"), "memory and file agree");
    let ids: Vec<&str> = kept.iter().map(|stored| stored.chunk.id.as_str()).collect();
    let with_fault = kept.iter().filter(|stored| stored.chunk.about.fault_type.is_some()).count();
    assert_eq!(with_fault, 100, "every case with a fault");
    assert!(ids.contains(&"AH-0000") && ids.contains(&"AH-0999") && !ids.contains(&"AH-0501"));
    let hits = store.search(at, &asked("판정 999")).await.expect("search");
    assert_eq!(hits[0].chunk.id, "AH-0999");
}
