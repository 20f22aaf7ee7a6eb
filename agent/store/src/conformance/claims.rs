//! Tests who may say what about whom (`docs/security.md`): no claim of one gateway changes what is
//! told of another's bearing.
//!
//! Claims are drawn at random and stored between the events of an honest gateway; another store
//! gets the honest events alone. What both know of the honest bearing has to be the same. The first
//! event of the honest gateway comes first: until then a bearing belongs to nobody.

use pdm_shared::delivery::{GatewayStatus, Presence};
use pdm_shared::event::Event;
use pdm_shared::id::{Epoch, EventId, GatewayKey};
use pdm_web::plant::WindowRow;

use super::room::healthy;
use super::{at, event, judge_some, key};
use crate::{BearingOwners, Incoming, IntakeTerms, Store};

/// Draws of claims; each has some thirty.
const DRAWS: u64 = 6;

/// Numbers that follow from a seed (xorshift64*): the same claims on every run.
struct Drawn(u64);

impl Drawn {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % most
    }

    fn epoch(&mut self, honest: Epoch) -> Option<Epoch> {
        match self.below(4) {
            0 => None,
            1 => Some(honest),
            other => Some(Epoch::at(i64::try_from(other).unwrap_or(9))),
        }
    }
}

fn status(gateway: &str, epoch: Epoch, last: u64) -> Incoming {
    let status = GatewayStatus {
        last_sequence: Some(last),
        epoch: Some(epoch),
        first_sequence: Some(1),
        gone: vec![[1, last.max(1)]],
        ..GatewayStatus::bare(gateway.parse().expect("name"), Presence::Online, at(0.0))
    };
    Incoming::Status { site: event(1).site, status }
}

fn sent(event: Event, proven: bool) -> Incoming {
    let payload = serde_json::to_string(&event).expect("json");
    Incoming::Event { event: Box::new(event), payload, proven }
}

/// A claim of the hostile gateway: under its own topic about whatever bearing, under the short
/// topic in the honest one's name, its own status, or one in the honest one's name with another
/// count.
fn claim(drawn: &mut Drawn, honest: Epoch) -> Incoming {
    let mut said = if drawn.below(3) == 0 { healthy(1) } else { event(1) };
    said.event_id = EventId(uuid::Uuid::from_u128(
        (0x0193_6f3e_7c1a_7b52_9a6e_u128 << 48) + u128::from(drawn.below(1 << 31)) + (1 << 41),
    ));
    said.sequence = [1, 2, 7, 1 << 20, (1 << 53) - 1][drawn.below(5) as usize];
    said.measured_at = at([-1e6, 0.0, 90.0, 500.0, 1e8][drawn.below(5) as usize]);
    said.epoch = drawn.epoch(honest);
    said.bearing_id = ["DE", "X", "Y"][drawn.below(3) as usize].parse().expect("name");
    match drawn.below(5) {
        0 => {
            let last = [0, 3, 1 << 20][drawn.below(3) as usize];
            let epoch = drawn.epoch(honest).unwrap_or(honest);
            let name = if epoch == honest || drawn.below(2) == 0 { "gw-66" } else { "gw-01" };
            status(name, epoch, last)
        }
        1 | 2 => {
            said.gateway_id = "gw-01".parse().expect("name");
            sent(said, false)
        }
        _ => {
            said.gateway_id = "gw-66".parse().expect("name");
            sent(said, true)
        }
    }
}

/// Returns the windows, the episode and the receipts of the honest gateway's bearing.
async fn told(store: &Store) -> (Vec<WindowRow>, Option<String>, Vec<(u64, Vec<[u64; 2]>)>) {
    let windows = store.pages().windows(&key(), at(1e9), 99).await.expect("read");
    let stands = store.episodes().episode(&key()).await.expect("read").map(|record| {
        let alarm = record.alarm.map(|alarm| (alarm.risk, alarm.repeats));
        format!("{:?} {:?}", record.episode.state(), alarm)
    });
    let gateway = GatewayKey::new(event(1).site, event(1).gateway_id);
    let receipts = store.gateways().receipts(&[gateway], at(0.0)).await.expect("read");
    let receipts = receipts.into_iter().map(|(_, one)| (one.stored_through, one.missing));
    (windows, stands, receipts.collect())
}

pub(super) async fn no_claim_of_one_gateway_changes_what_is_told_of_anothers_bearing(
    fresh: &impl AsyncFn() -> Store,
) {
    let honest = Epoch::at(7_000);
    // as at a broker whose access rules hold a topic to the gateway that it names
    let entry = serde_json::json!({
        "site": "ulsan-1", "gateway": "gw-01", "topic": "required",
    });
    let entry = serde_json::from_value(entry).expect("an entry");
    let owners = BearingOwners::of_settings(std::path::Path::new("agent.toml"), vec![entry]);
    let terms = IntakeTerms { owners: owners.expect("valid"), ..IntakeTerms::default() };
    for seed in 1..=DRAWS {
        let (alone, beside) = (fresh().await, fresh().await);
        let mut drawn = Drawn(seed);
        let put = async |store: &Store, one: Incoming| {
            store.intake().store_under(&terms, &[one], at(0.0), "dead").await.expect("stored");
            judge_some(store, 100).await;
        };
        for store in [&alone, &beside] {
            put(store, status("gw-01", honest, 0)).await;
        }
        for number in 1..=6 {
            let mut event = if number < 3 { healthy(number) } else { event(number) };
            event.gateway_id = "gw-01".parse().expect("name");
            event.bearing_id = key().bearing;
            event.measured_at = at(number as f64 * 60.0);
            event.epoch = Some(honest);
            for store in [&alone, &beside] {
                put(store, sent(event.clone(), true)).await;
            }
            for _ in 0..5 {
                put(&beside, claim(&mut drawn, honest)).await;
            }
        }
        let expected = told(&alone).await;
        assert!(expected.1.is_some(), "the honest bearing has an alarm");
        assert_eq!(told(&beside).await, expected, "seed {seed}");
    }
}
