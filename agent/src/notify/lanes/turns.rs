//! The turns of a channel: what was claimed leaves the worst first and, among equals, one message
//! of each gateway after the other. A turn is short: what is left of it is claimed again, together
//! with what has been written meanwhile, so that a Critical is not behind all that was written
//! before it.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use pdm_shared::risk::RiskLevel;
use pdm_store::{Claimed, SendOutcome};
use tokio::time::Instant;

use super::super::ceiling::Ceiling;
use super::super::grouping::{groups, worst};
use super::super::log;
use super::super::sending::WaitAsked;
use super::super::share::Share;
use super::{CLAIM, Channel, LOOK, Lane};

/// The longest turn; one message at least is sent in it. Chosen: below the time in which staff is
/// told of a Critical.
const TURN: Duration = Duration::from_secs(2);

/// Rows that leave together, with the share that they count in.
type Group = (Share, Vec<Claimed>);

/// The worst level first; among equals one group of each share after the other, each share's in its
/// order.
fn in_turn(groups: Vec<Group>) -> Vec<Group> {
    let mut levels: BTreeMap<Option<RiskLevel>, Vec<(String, VecDeque<Group>)>> = BTreeMap::new();
    for group in groups {
        let lines = levels.entry(worst(&group.1)).or_default();
        let name = group.0.name();
        match lines.iter_mut().find(|(of, _)| of == name) {
            Some((_, line)) => line.push_back(group),
            None => lines.push((name.to_owned(), VecDeque::from([group]))),
        }
    }
    let mut ordered = Vec::new();
    for (_, mut lines) in levels.into_iter().rev() {
        while !lines.is_empty() {
            ordered.extend(lines.iter_mut().filter_map(|(_, line)| line.pop_front()));
            lines.retain(|(_, line)| !line.is_empty());
        }
    }
    ordered
}

impl Lane {
    /// Sends what was claimed, as far as the ceiling and the turn allow.
    pub(super) async fn serve(
        &self,
        channel: &dyn Channel,
        ceiling: &Ceiling,
        rows: Vec<Claimed>,
        (asked, probed): (&mut Option<WaitAsked>, &mut Option<Instant>),
    ) {
        let mut shared = Vec::new();
        for group in groups(rows) {
            shared.push((ceiling.share_of(&group).await, group));
        }
        let mut room = ceiling.room(self.clock.now()).await;
        let (ends, mut held, mut is_cut) = (Instant::now() + TURN, Vec::new(), false);
        for (share, group) in in_turn(shared) {
            let now = self.clock.now();
            if !room.admits(&share) {
                ceiling.hold(group.len(), now);
                held.extend(group.iter().map(|row| (row.id, SendOutcome::Held)));
                continue;
            }
            if Instant::now() >= ends && !self.stop.is_cancelled() {
                is_cut = true;
                break;
            }
            let outcomes = self.send(channel, &group, asked).await;
            let is_told = outcomes.first().is_some_and(|(_, outcome)| outcome.is_told());
            if is_told {
                ceiling.delivered(&share, now).await;
            }
            self.settle(channel.lane(), &outcomes).await;
            if is_told && probed.take().is_some() {
                self.revive(channel.lane(), CLAIM).await;
            }
        }
        if !held.is_empty() {
            self.settle(channel.lane(), &held).await;
        }
        if is_cut {
            self.let_go(channel.lane()).await;
        }
    }

    /// Frees what is claimed and not settled, trying until the store takes it or the lane is
    /// stopped.
    async fn let_go(&self, lane: &str) {
        while let Err(error) = self.store.let_go(lane).await {
            log::claim_failed(lane, &error);
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                () = self.stop.cancelled() => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use pdm_shared::delivery::Notification;
    use pdm_shared::id::GatewayKey;
    use pdm_shared::time::Timestamp;
    use uuid::Uuid;

    use super::*;

    fn group(gateway: &str, risk: RiskLevel, id: i64) -> Group {
        let owner: GatewayKey = format!("s/{gateway}").parse().expect("a gateway");
        let told: Notification = serde_json::from_value(serde_json::json!({
            "schema": "pdm.notification/1", "notification_id": Uuid::nil(), "site": "s",
            "equipment_id": "P-101", "bearing_id": "DE", "risk_level": risk, "reason": "raised",
            "title": { "ko": "가", "en": "a" }, "body": { "ko": "가", "en": "a" },
            "created_at": "2026-11-21T05:10:21.000Z",
        }))
        .expect("a notification");
        let row = Claimed {
            id,
            key: Uuid::nil(),
            topic: None,
            retain: false,
            group: None,
            payload: serde_json::to_string(&told).expect("json"),
            attempts: 0,
            created_at: Timestamp::from_unix_ms(0).expect("epoch"),
        };
        (Share::of_message(&told, Some(&owner)), vec![row])
    }

    /// R-AGENT-1: an honest Critical left behind 340 invented ones of two gateways.
    #[test]
    fn a_critical_of_each_gateway_leaves_in_turn_and_before_what_is_less() {
        let mut all: Vec<Group> = (0..340)
            .map(|n: i64| group(if n % 2 == 0 { "gw-02" } else { "gw-04" }, RiskLevel::Critical, n))
            .collect();
        all.push(group("gw-03", RiskLevel::Warning, 900));
        all.push(group("gw-03", RiskLevel::Critical, 901));
        let order: Vec<i64> =
            in_turn(all).iter().flat_map(|(_, rows)| rows.iter().map(|row| row.id)).collect();
        assert_eq!(order[..4], [0, 1, 901, 2], "third of 342");
        assert_eq!(order.last(), Some(&900));
    }
}
