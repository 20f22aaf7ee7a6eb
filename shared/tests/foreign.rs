//! Foreign input is read or refused and never causes a panic: the entry points of `shared/fuzz`,
//! with generated input.

use std::fmt::Debug;

use pdm_shared::delivery::{
    Acknowledgement, DeadLetter, GatewayStatus, Notification, Receipt, State,
};
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::event::Event;
use pdm_shared::relearn::RelearnRequest;
use pdm_shared::topic::{Prefix, Topic};
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

const EVENT: &str = include_str!("../../config/examples/event.json");
const DIAGNOSIS: &str = include_str!("../../config/examples/diagnosis.json");
const RECEIPT: &str = include_str!("../../config/examples/receipt.json");
const STATE: &str = include_str!("../fuzz/seeds/delivery/state.json");
const STATUS: &str = include_str!("../fuzz/seeds/delivery/status.json");
const NOTIFICATION: &str = include_str!("../fuzz/seeds/delivery/notification.json");
const ACK: &str = include_str!("../fuzz/seeds/delivery/ack.json");
const DEAD_LETTER: &str = include_str!("../fuzz/seeds/delivery/dead-letter.json");
const RELEARN: &str = include_str!("../../config/examples/relearn.json");
const DOCUMENTS: [&str; 8] =
    [DIAGNOSIS, RECEIPT, STATE, STATUS, NOTIFICATION, ACK, DEAD_LETTER, RELEARN];

/// Reads any bytes as an event.
fn event(bytes: &[u8]) {
    if let Ok(event) = serde_json::from_slice::<Event>(bytes) {
        let _checked = event.check();
    }
    back::<Event>(bytes);
}

/// Reads any bytes as each of the smaller documents and counts the kinds that accept them.
fn documents(bytes: &[u8]) -> usize {
    [
        back::<Diagnosis>(bytes),
        back::<Receipt>(bytes),
        back::<State>(bytes),
        back::<GatewayStatus>(bytes),
        back::<Notification>(bytes),
        back::<Acknowledgement>(bytes),
        back::<DeadLetter>(bytes),
        back::<RelearnRequest>(bytes),
    ]
    .into_iter()
    .filter(|is_read| *is_read)
    .count()
}

/// Whether the bytes can be read; if so, asserts that the value is written back the same.
fn back<T: Serialize + DeserializeOwned + PartialEq + Debug>(bytes: &[u8]) -> bool {
    let Ok(document) = serde_json::from_slice::<T>(bytes) else { return false };
    let text = serde_json::to_string(&document).expect("a document is JSON");
    assert_eq!(serde_json::from_str::<T>(&text).expect("what was written is read"), document);
    true
}

#[test]
fn every_document_on_the_wire_is_read_as_itself() {
    for text in DOCUMENTS {
        assert!(documents(text.as_bytes()) >= 1, "{text}");
    }
}

/// The nested, long and false inputs of a fuzz target.
fn hostile(target: &str) -> Vec<Vec<u8>> {
    let folder = format!("{}/fuzz/hostile/{target}", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(folder).expect("seeds");
    files.map(|file| std::fs::read(file.expect("entry").path()).expect("a seed")).collect()
}

#[test]
fn every_hostile_seed_is_read_or_refused() {
    for bytes in hostile("event") {
        event(&bytes);
    }
    for bytes in hostile("delivery") {
        documents(&bytes);
    }
    for bytes in hostile("topic") {
        topic(&String::from_utf8_lossy(&bytes));
    }
}

/// Reads any text as a topic.
fn topic(text: &str) {
    let prefix = Prefix::default();
    if let Some(read) = Topic::parse(&prefix, text) {
        assert_eq!(read.under(&prefix), text);
    }
}

/// The texts that a damaged sender puts in the place of a number.
fn numbers() -> impl Strategy<Value = &'static str> {
    let odd = ["1e308", "1e999", "-1e999", "-0", "18446744073709551616", "0.1e-400", "NaN", "null"];
    prop::sample::select(odd.to_vec())
}

proptest! {
    #[test]
    fn any_bytes_are_an_event_or_none(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        event(&bytes);
    }

    #[test]
    fn an_event_with_a_part_cut_out_is_an_event_or_none(from in 0usize..4000,
        length in 0usize..200) {
        let mut text = EVENT.as_bytes().to_vec();
        let from = from.min(text.len());
        let to = (from + length).min(text.len());
        text.drain(from..to);
        event(&text);
    }

    #[test]
    fn an_event_with_a_huge_number_is_an_event_or_none(which in 0usize..80, number in numbers()) {
        let places: Vec<(usize, &str)> = EVENT.match_indices(": ").collect();
        let at = places[which % places.len()].0 + 2;
        let end = EVENT[at..].find([',', '\n']).map_or(EVENT.len(), |end| at + end);
        event(format!("{}{number}{}", &EVENT[..at], &EVENT[end..]).as_bytes());
    }

    #[test]
    fn a_damaged_document_is_one_or_none(
        which in 0usize..DOCUMENTS.len(), from in 0usize..4000, length in 0usize..60,
        number in numbers(),
    ) {
        let mut text = DOCUMENTS[which].as_bytes().to_vec();
        let from = from % text.len();
        let to = (from + length).min(text.len());
        text.splice(from..to, number.bytes());
        documents(&text);
    }

    #[test]
    fn any_text_is_a_topic_that_is_written_back_or_none(
        text in "(pdm/v1/)?([a-z+#$ 가]{0,4}/?){0,6}(event|status|ack|dead-letter)?|\\PC{0,80}",
    ) {
        topic(&text);
    }
}
