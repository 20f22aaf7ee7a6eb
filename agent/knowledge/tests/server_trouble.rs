//! A knowledge server that hangs, denies, forgets or was stopped while it made a collection, as the
//! stand-in of the tests behaves on demand.

use std::time::{Duration, Instant};

use pdm_harness::QdrantStandIn;
use pdm_knowledge::keeper::{Keeper, There};
use pdm_knowledge::settings::{QdrantChoice, StoreChoice};
use pdm_knowledge::{Collection, DocType, Filter, Knowledge, KnowledgeSettings};
use pdm_service::secret::SecretSource;

const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

fn settings(server: &QdrantStandIn, key: Option<&std::path::Path>) -> KnowledgeSettings {
    let choice = QdrantChoice {
        url: server.url().to_owned(),
        key: key.map(|file| SecretSource::File(file.to_owned())),
        prefix: "trouble_".to_owned(),
    };
    KnowledgeSettings {
        store: StoreChoice::Qdrant(choice),
        ..KnowledgeSettings::embedded("unused")
    }
}

fn procedures() -> Filter {
    Filter { doc_type: Some(DocType::Procedure), ..Filter::default() }
}

#[tokio::test]
async fn a_collection_without_an_index_is_completed_at_the_next_connection() {
    let name = "a_collection_without_an_index_is_completed_at_the_next_connection";
    let Some(mut server) = QdrantStandIn::start(name, FOLDER) else { return };
    let knowledge = Knowledge::open(&settings(&server, None)).await.expect("opens");
    server.lose_index("doc_type");
    server.be_strict();
    let search = async |knowledge: &Knowledge| {
        knowledge.search(Collection::EquipmentManual, "베어링 교체", &procedures(), 3).await
    };
    let error = search(&knowledge).await.expect_err("no index").to_string();
    assert!(error.contains("Index required") && !error.contains("MetadataMap"), "{error}");
    let knowledge = Knowledge::open(&settings(&server, None)).await.expect("opens again");
    search(&knowledge).await.expect("the index is there");
}

#[tokio::test]
async fn a_server_that_comes_back_empty_is_seen_and_filled_again() {
    let name = "a_server_that_comes_back_empty_is_seen_and_filled_again";
    let Some(mut server) = QdrantStandIn::start(name, FOLDER) else { return };
    let knowledge = Knowledge::open(&settings(&server, None)).await.expect("opens");
    let keeper = Keeper::new(knowledge.clone(), None);
    keeper.fill().await.expect("filled");
    let before = keeper.look().await.expect("there");
    assert!(before.documents > 0, "{before:?}");
    server.forget();
    let empty = keeper.look().await.expect("there");
    assert_eq!(empty, There::default());
    keeper.fill().await.expect("filled again");
    assert_eq!(keeper.look().await.expect("there"), before);
}

#[tokio::test]
async fn a_key_that_does_not_serve_is_named_and_nothing_is_made() {
    let name = "a_key_that_does_not_serve_is_named_and_nothing_is_made";
    let Some(mut server) = QdrantStandIn::start(name, FOLDER) else { return };
    server.require_keys("full-key", "read-key");
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("key");
    let mut told = Vec::new();
    for key in ["nonsense", "read-key", "full-key"] {
        std::fs::write(&file, key).expect("written");
        let probed = Knowledge::probe(&settings(&server, Some(&file))).await;
        told.push(probed.err().map_or_else(String::new, |error| error.to_string()));
    }
    assert!(told[0].contains("wrong key"), "{}", told[0]);
    assert!(told[1].contains("read-only key"), "{}", told[1]);
    assert_eq!(told[2], "");
    for text in &told {
        let types = ["tonic", "MetadataMap", "Status", "transport::"];
        assert!(!types.iter().any(|word| text.contains(word)), "{text}");
    }
    std::fs::write(&file, "full-key\nread-key\n").expect("written");
    let error = Knowledge::probe(&settings(&server, Some(&file))).await.expect_err("two lines");
    let error = format!("{error} {error:?}");
    assert!(error.contains("more than one line") && !error.contains("full-key"), "{error}");
}

/// The client once asked again after its own time-out, so 10 s became 20, for each of many
/// look-ups.
#[tokio::test]
async fn a_server_that_hangs_costs_one_short_wait_and_serves_again() {
    let name = "a_server_that_hangs_costs_one_short_wait_and_serves_again";
    let Some(mut server) = QdrantStandIn::start(name, FOLDER) else { return };
    let knowledge = Knowledge::open(&settings(&server, None)).await.expect("opens");
    server.hang();
    let begun = Instant::now();
    for _ in 0..10 {
        let found = knowledge.search(Collection::EquipmentManual, "외륜", &procedures(), 3).await;
        let error = found.expect_err("it hangs").to_string();
        assert!(error.contains("no answer within 2 s"), "{error}");
        assert!(!error.contains("tonic"), "{error}");
    }
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    server.go_on();
    // a success of the keeper ends the rest
    Keeper::new(knowledge.clone(), None).look().await.expect("there");
    knowledge.search(Collection::EquipmentManual, "외륜", &procedures(), 3).await.expect("there");
}
