//! The health report's line on ways to staff that deliver nothing.
//!
//! Other ways may carry the alarm meanwhile, so the agent is degraded and not ill. Health is for
//! everybody: it names no person and quotes no receiver.

use std::collections::BTreeSet;

use pdm_shared::time::Timestamp;
use pdm_web::plant::ChannelRow;

use super::silence::Watchdog;

/// How long a way has to deliver nothing before health says so, s. Chosen: the first tries of a
/// message follow each other within seconds, so a short outage is over by then.
const LASTS_S: f64 = 60.0;
/// How often the ways are looked at, s: the look reads the outbox.
const EVERY_S: f64 = 10.0;

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
                Ok(channels) => ways.said = said_of(&channels, now),
                Err(error) => tracing::warn!(%error, "cannot look at the ways to staff"),
            }
            ways.looked_at = Some(now);
        }
        ways.said.clone()
    }
}

/// A sentence on the ways that have delivered nothing for a while.
fn said_of(channels: &[ChannelRow], now: Timestamp) -> Option<String> {
    let is_down = |way: &&ChannelRow| {
        way.failing_since.is_some_and(|since| now.seconds_since(since) >= LASTS_S)
    };
    let down: Vec<&ChannelRow> = channels.iter().filter(is_down).collect();
    let since = down.iter().filter_map(|way| way.failing_since).min()?;
    let names: BTreeSet<&str> = down.iter().map(|way| nameless(&way.lane)).collect();
    let names: Vec<&str> = names.into_iter().collect();
    Some(format!(
        "messages to staff wait since {since} on {}: /api/v1/channels has the cause",
        names.join(", ")
    ))
}

/// A way without the name of a person.
fn nameless(lane: &str) -> &str {
    if lane.starts_with("to:") { "a person's way" } else { lane }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_that_deliver_nothing_for_a_minute_are_said_without_a_persons_name() {
        let now = Timestamp::from_unix_ms(1_795_238_000_000).expect("in range");
        let way = |lane: &str, for_s: f64| ChannelRow {
            failing_since: Some(now.plus_seconds(-for_s)),
            last_error: Some("kim@plant.example refused".to_owned()),
            ..ChannelRow::sound(lane.to_owned())
        };
        assert_eq!(said_of(&[ChannelRow::sound("email".to_owned()), way("mqtt", 5.0)], now), None);
        let down = [way("webhook:ops", 90.0), way("to:kim:email", 200.0), way("to:lee:sms", 100.0)];
        let said = said_of(&down, now).expect("said");
        assert!(said.contains("on a person's way, webhook:ops:"), "{said}");
        assert!(!said.contains("kim") && !said.contains("lee"), "{said}");
    }
}
