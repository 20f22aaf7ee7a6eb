//! Requests that gateways learn bearings anew: once for a bearing, again while the gateway owes the
//! answer, and kept until it comes.

use pdm_shared::delivery::{GatewayStatus, Presence};
use pdm_shared::relearn::{RelearnAnswer, RelearnRefusal, RelearnRequest, RelearnStep};
use pdm_shared::topic::Prefix;
use pdm_web::plant::{RelearnRow, RelearnState};
use uuid::Uuid;

use super::{at, key};
use crate::{Incoming, MQTT_LANE, Store};

/// Stores a status of the gateway with these answers.
async fn status(store: &Store, seconds: f64, answers: Vec<RelearnAnswer>, bearings: &[&str]) {
    let status = GatewayStatus {
        relearn_answers: answers,
        bearings: bearings.iter().map(|name| (*name).to_owned()).collect(),
        ..super::intake::status(Presence::Online, seconds)
    };
    let batch = [Incoming::Status { site: key().site, status }];
    store.intake().store(&batch, at(seconds), "pdm/v1/dead-letter").await.expect("stored");
}

/// Returns the requests that leave at a time.
async fn leaving(store: &Store, seconds: f64) -> Vec<u128> {
    let rows = store.outbox().claim(MQTT_LANE, at(seconds), at(1e9), 99).await.expect("claimed");
    let mut ids = Vec::new();
    for row in rows {
        if row.topic.as_deref() != Some("pdm/v1/ulsan-1/P-101/DE/relearn") {
            continue;
        }
        let request: RelearnRequest = serde_json::from_str(&row.payload).expect("a request");
        assert_eq!(request.by, "kim");
        ids.push(request.request_id.as_u128());
    }
    ids
}

/// R-UI-1, R-EDGE-10: a request stands once for its bearing, leaves again when a gateway that
/// measures the bearing shows itself without an answer, and ends with that answer.
pub(super) async fn a_request_to_learn_anew_waits_for_its_gateway(store: &Store) {
    let prefix = Prefix::default();
    let ask = async |number: u128, seconds: f64| {
        let row = RelearnRow::new(Uuid::from_u128(number), key(), "kim".to_owned(), at(seconds));
        let asked = store.desk().request_relearning(&row, &prefix, at(seconds)).await;
        let (row, is_new) = asked.expect("asked");
        (row.request_id.as_u128(), row.state, is_new)
    };
    let state = async |seconds: f64| {
        let row = store.desk().relearning_of(&key(), at(seconds)).await.expect("read");
        row.map(|row| (row.request_id.as_u128(), row.state))
    };
    let answer = |number: u128, step: RelearnStep, cause: Option<&str>| RelearnAnswer {
        request_id: Uuid::from_u128(number),
        at: at(200.0),
        step,
        refusal: cause
            .map(|cause| RelearnRefusal { cause: cause.to_owned(), told: "why".to_owned() }),
    };
    assert_eq!(state(0.0).await, None);
    assert_eq!(ask(1, 0.0).await, (1, RelearnState::Waiting, true));
    assert_eq!(ask(2, 10.0).await, (1, RelearnState::Waiting, false), "one waits already");
    assert_eq!(leaving(store, 11.0).await, [1]);
    status(store, 100.0, vec![], &["P-102/DE"]).await;
    assert!(leaving(store, 101.0).await.is_empty(), "of a gateway that does not measure it");
    status(store, 120.0, vec![], &["P-101/DE"]).await;
    assert_eq!(leaving(store, 121.0).await, [1], "the gateway came without an answer");
    status(store, 200.0, vec![answer(1, RelearnStep::Taken, None)], &["P-101/DE"]).await;
    assert_eq!(state(201.0).await, Some((1, RelearnState::Taken)));
    assert!(leaving(store, 202.0).await.is_empty(), "the gateway has it");
    status(store, 205.0, vec![], &["P-101/DE"]).await;
    assert_eq!(leaving(store, 206.0).await, [1], "it ended before that was on its disk");
    status(store, 210.0, vec![answer(1, RelearnStep::Done, None)], &["P-101/DE"]).await;
    status(store, 400.0, vec![answer(1, RelearnStep::Taken, None)], &["P-101/DE"]).await;
    assert_eq!(state(401.0).await, Some((1, RelearnState::Done)), "done stays done");
    assert!(leaving(store, 402.0).await.is_empty());
    assert_eq!(ask(1, 500.0).await, (1, RelearnState::Done, false), "the same one asks nothing");
    assert_eq!(ask(3, 600.0).await, (3, RelearnState::Waiting, true), "another replacement");
    let refused = answer(3, RelearnStep::Refused, Some("old"));
    status(store, 610.0, vec![refused], &["P-101/DE"]).await;
    let row = store.desk().relearning_of(&key(), at(611.0)).await.expect("read").expect("there");
    assert_eq!(row.state, RelearnState::Refused);
    assert_eq!(row.refusal.map(|refusal| refusal.cause).as_deref(), Some("old"));
}
