//! One bearing whose judgement the store cannot read or write holds up no other.
//!
//! A batch that the store refuses for its content is judged again bearing by bearing, so that the
//! one at fault is known; that one rests for a minute and its events stay where they are, so the
//! watch over the agent's work finds that they wait and tells staff. Everything else goes on.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use pdm_service::resting::Resting;
use pdm_shared::id::{BearingKey, GatewayKey};
use pdm_store::{StoreError, Unjudged};

use super::{BATCH, Judging, log};

/// Batches that are read at most to find events of other bearings behind those that rest: 4,096
/// events.
const BATCHES: u32 = 16;

/// The bearings that are judged apart from the others.
#[derive(Debug, Default)]
pub(super) struct Apart {
    resting: Resting<BearingKey>,
    /// Batches that hold one bearing each.
    narrow: AtomicUsize,
}

impl Apart {
    /// The next batches hold one bearing each.
    fn narrow(&self, batches: usize) {
        self.narrow.store(batches, Ordering::Relaxed);
    }

    /// Whether this batch holds one bearing; one less does from now on.
    fn is_narrow(&self) -> bool {
        let less = |batches: usize| batches.checked_sub(1);
        self.narrow.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }
}

/// The events of one bearing, in the order of arrival.
pub(super) type BearingEvents = (BearingKey, Vec<Unjudged>);

/// The bearings of these events: the first of each gateway, then the second of each, and so on. A
/// batch that ends before its last bearing has then judged something of every gateway.
fn in_turn(events: Vec<Unjudged>) -> Vec<BearingEvents> {
    let mut places: BTreeMap<BearingKey, usize> = BTreeMap::new();
    let mut of_gateway: BTreeMap<GatewayKey, usize> = BTreeMap::new();
    let mut bearings: Vec<(usize, BearingEvents)> = Vec::new();
    for unjudged in events {
        let key = unjudged.event.key();
        let at = *places.entry(key.clone()).or_insert_with(|| {
            let turn = of_gateway.entry(unjudged.event.gateway()).or_default();
            bearings.push((*turn, (key, Vec::new())));
            *turn += 1;
            bearings.len() - 1
        });
        if let Some((_, (_, events))) = bearings.get_mut(at) {
            events.push(unjudged);
        }
    }
    // a stable order: of one turn, the bearing whose event came first
    bearings.sort_by_key(|(turn, _)| *turn);
    bearings.into_iter().map(|(_, bearing)| bearing).collect()
}

impl Judging {
    /// The next events to be judged, by bearing, without those that rest. The bearings of the
    /// gateways come in turn.
    pub(super) async fn next_events(&self) -> Result<Vec<BearingEvents>, StoreError> {
        let resting = self.apart.resting.keys();
        let batches = u32::try_from(resting.len() + 1).unwrap_or(BATCHES).min(BATCHES);
        let mut events = self.store.unjudged(BATCH * batches).await?;
        events.retain(|event| !resting.contains(&event.event.key()));
        let mut bearings = in_turn(events);
        let mut count = 0;
        bearings.retain(|(_, events)| {
            let fits = count < BATCH as usize;
            count += events.len();
            fits
        });
        if self.apart.is_narrow() {
            bearings.truncate(1);
        }
        Ok(bearings)
    }

    /// Notes that the store refuses the content of these bearings' judgements; another failure is
    /// not caused by them.
    pub(super) fn set_apart(&self, bearings: &[BearingKey], error: &StoreError) {
        if !matches!(error, StoreError::Content { .. }) {
            return;
        }
        match bearings {
            [one] => {
                log::bearing_put_off(one, error);
                self.apart.resting.begin(one.clone(), &error.to_string());
            }
            several => self.apart.narrow(several.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use pdm_service::resting::REST;
    use pdm_shared::event::Event;

    use super::*;

    /// R-AGENT-1: 600 Criticals of two gateways stood in front of an honest one for over a minute,
    /// within a batch too.
    #[test]
    fn bearings_of_the_gateways_are_judged_in_turn_within_a_batch() {
        let text = include_str!("../../../config/examples/event.json");
        let event: Event = serde_json::from_str(text).expect("event");
        let one = |gateway: &str, bearing: &str, arrival: i64| {
            let mut event = event.clone();
            event.gateway_id = gateway.parse().expect("name");
            event.bearing_id = bearing.parse().expect("name");
            Unjudged { arrival, event, checkpoint: None }
        };
        let events = vec![
            one("gw-02", "A", 1),
            one("gw-02", "A", 2),
            one("gw-02", "B", 3),
            one("gw-04", "C", 4),
            one("gw-04", "D", 5),
            one("gw-02", "E", 6),
            one("gw-03", "Z", 7),
            one("gw-02", "A", 8),
        ];
        let turns = in_turn(events);
        let names: Vec<&str> = turns.iter().map(|(key, _)| key.bearing.as_str()).collect();
        assert_eq!(names, ["A", "C", "Z", "B", "D", "E"]);
        let of_a: Vec<i64> = turns[0].1.iter().map(|one| one.arrival).collect();
        assert_eq!(of_a, [1, 2, 8], "a bearing's events stay in their order");
    }

    #[tokio::test(start_paused = true)]
    async fn a_bearing_rests_for_a_minute_and_a_refused_batch_is_taken_apart() {
        let apart = Apart::default();
        let key = BearingKey::parse("ulsan-1", "P-101", "DE").expect("names");
        apart.resting.begin(key.clone(), "refused");
        assert_eq!(apart.resting.keys(), [key]);
        tokio::time::advance(REST).await;
        assert!(apart.resting.keys().is_empty());
        apart.narrow(2);
        assert_eq!([apart.is_narrow(), apart.is_narrow(), apart.is_narrow()], [true, true, false]);
    }
}
