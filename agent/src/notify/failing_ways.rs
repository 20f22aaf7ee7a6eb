//! The health report's line on ways to staff that deliver nothing.
//!
//! Other ways may carry the alarm meanwhile, so the agent is degraded and not ill. Health is for
//! everybody: it names no person and quotes no receiver.

use std::collections::BTreeSet;

use pdm_shared::time::Timestamp;
use pdm_web::plant::{ChannelRow, person_way};

use super::EMAIL_LANE;
use super::silence::Watchdog;

/// How long a way has to deliver nothing before health says so, s. Chosen: the first tries of a
/// message follow each other within seconds, so a short outage is over by then.
const LASTS_S: f64 = 60.0;
/// How often the ways are looked at, s: the look reads the outbox.
const EVERY_S: f64 = 4.0;

/// The result of the last look at the ways.
#[derive(Debug, Default)]
pub(super) struct FailingWays {
    looked_at: Option<Timestamp>,
    said: Option<String>,
}

impl Watchdog {
    /// Returns the health report's line on the ways to staff, read anew from time to time. A look
    /// that fails leaves the earlier line: it must not keep the watch from telling alarms.
    pub(super) async fn look_at_ways(
        &self,
        ways: &mut FailingWays,
        now: Timestamp,
    ) -> Option<String> {
        let is_fresh = |at: Timestamp| (0.0..EVERY_S).contains(&now.seconds_since(at));
        if !ways.looked_at.is_some_and(is_fresh) {
            match self.store.outbox().channels(now).await {
                Ok(channels) => ways.said = said_of(&channels, &self.policy.every_lane(), now),
                Err(error) => tracing::warn!(%error, "cannot look at the ways to staff"),
            }
            ways.looked_at = Some(now);
        }
        ways.said.clone()
    }
}

/// A sentence on the ways that have delivered nothing for a while, or at once where none of the
/// configured ways is left: a Critical of now would wait with them.
fn said_of(channels: &[ChannelRow], ways: &[String], now: Timestamp) -> Option<String> {
    let failing: Vec<&ChannelRow> =
        channels.iter().filter(|way| way.failing_since.is_some()).collect();
    // people of one hook share it: where it fails for one it is no way that is left
    let carriers: BTreeSet<&str> = failing.iter().map(|way| carrier(&way.lane)).collect();
    let is_none_left =
        !ways.is_empty() && ways.iter().all(|way| carriers.contains(carrier(way.as_str())));
    let lasts = |way: &&&ChannelRow| {
        way.failing_since.is_some_and(|since| now.seconds_since(since) >= LASTS_S)
    };
    let down: Vec<&ChannelRow> =
        if is_none_left { failing } else { failing.iter().filter(lasts).copied().collect() };
    let since = down.iter().filter_map(|way| way.failing_since).min()?;
    let names: BTreeSet<String> = down.iter().map(|way| nameless(&way.lane, &down)).collect();
    let names = names.into_iter().collect::<Vec<_>>().join(", ");
    let nobody = if is_none_left { ", and no other way is left to tell a Critical" } else { "" };
    Some(format!(
        "messages to staff wait since {since} on {names}{nobody}: /api/v1/channels has the cause"
    ))
}

/// What carries a way: the hook or the mail server that people share, else the way itself.
fn carrier(lane: &str) -> &str {
    person_way(lane).map_or(lane.strip_prefix("webhook:").unwrap_or(lane), |(_, carrier)| carrier)
}

/// A way without the name of a person: their hook is named, and how many people wait behind it.
fn nameless(lane: &str, down: &[&ChannelRow]) -> String {
    let Some((_, carrier)) = person_way(lane) else { return lane.to_owned() };
    let of_it = |way: &&&ChannelRow| person_way(&way.lane).is_some_and(|(_, one)| one == carrier);
    let name = if carrier == EMAIL_LANE { "email".to_owned() } else { format!("hook {carrier}") };
    match down.iter().filter(of_it).count() {
        0 | 1 => format!("{name} (a person's way)"),
        people => format!("{name} ({people} people)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(now: Timestamp, lane: &str, for_s: f64) -> ChannelRow {
        ChannelRow {
            failing_since: Some(now.plus_seconds(-for_s)),
            last_error: Some("kim@plant.example refused".to_owned()),
            ..ChannelRow::sound(lane.to_owned())
        }
    }

    fn now() -> Timestamp {
        Timestamp::from_unix_ms(1_795_238_000_000).expect("in range")
    }

    #[test]
    fn ways_that_deliver_nothing_for_a_minute_are_said_without_a_persons_name() {
        let ways = ["email".to_owned()];
        let fresh = [ChannelRow::sound("email".to_owned()), way(now(), "mqtt", 5.0)];
        assert_eq!(said_of(&fresh, &ways, now()), None);
        let down = [
            way(now(), "webhook:ops", 90.0),
            way(now(), "to:kim:email", 200.0),
            way(now(), "to:lee:sms", 100.0),
        ];
        let said = said_of(&down, &["webhook:other".to_owned()], now()).expect("said");
        let names = "on email (a person's way), hook sms (a person's way), webhook:ops:";
        assert!(said.contains(names), "{said}");
        assert!(!said.contains("kim") && !said.contains("lee"), "{said}");
    }

    /// Issue 33
    #[test]
    fn a_hook_that_everybody_shares_is_named() {
        let down = ["to:kim:sms", "to:lee:sms", "to:park:sms"].map(|lane| way(now(), lane, 70.0));
        let said = said_of(&down, &["webhook:other".to_owned()], now()).expect("said");
        assert!(said.contains("on hook sms (3 people):"), "{said}");
    }

    /// Issue 33: no minute of "ok" while nobody can be told.
    #[test]
    fn the_only_way_that_fails_is_said_at_once() {
        let down = [way(now(), "to:kim:sms", 1.0), way(now(), "mqtt", 1.0)];
        let only = ["to:kim:sms".to_owned(), "to:lee:sms".to_owned()];
        let said = said_of(&down, &only, now()).expect("said");
        assert!(said.contains("no other way is left to tell a Critical"), "{said}");
        let with_mail = [only[0].clone(), "email".to_owned()];
        assert_eq!(said_of(&down, &with_mail, now()), None, "mail carries it");
    }
}
