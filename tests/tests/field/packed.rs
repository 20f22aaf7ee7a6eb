//! Messages that a bridge has compressed: they are named, and are no sign of life.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::open_plant::{topic, until};
use crate::suppression::Field;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_compressed_event_is_refused_by_that_name_and_is_no_sign_of_life() {
    let test = "a_compressed_event_is_refused_by_that_name_and_is_no_sign_of_life";
    let Some(mut field) = Field::new(test).await else { return };
    field.settings.silence.silent_after_s = 6.0;
    let agent = field.start().await;
    field.warning("gw-01", "P-101", "DE").await;
    field.until_told("[Warning] P-101 DE").await;
    let gateways = pdm_store::open(&field.settings.store).await.expect("opens").gateways();
    let heard = async || gateways.gateways().await.expect("read")[0].last_event_at;
    let before = heard().await.expect("an event came");
    for _ in 0..4 {
        let event = field.event("gw-01", "P-101", "DE");
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(&serde_json::to_vec(&event).expect("json")).expect("packed");
        let packed = packed.finish().expect("packed");
        field.client.publish(topic(&event, "event/gw-01"), false, packed).await;
    }
    let told = field.until_told("[Refused] events of gateway gw-01 are refused").await;
    assert!(told.contains("the message is compressed (gzip)"), "{told}");
    let letter = until("the letter", 60, || field.client.heard("dead-letter").pop()).await;
    assert!(letter.contains("compressed (gzip)"), "{letter}");
    assert_eq!(heard().await, Some(before), "no sign of life");
    field.until_told("[Silent] gateway gw-01").await;
    agent.stop().await.expect("no part failed");
}
