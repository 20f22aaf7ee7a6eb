//! Logs the troubles that gateways report, so that words which change with each status fill no log.

use std::collections::BTreeMap;
use std::time::Duration;

use pdm_shared::bounds::{MAX_LINE, in_one_line};
use pdm_shared::id::GatewayKey;
use tokio::time::Instant;

use super::log;

const MINUTE: Duration = Duration::from_mins(1);
/// Gateways that are named in a minute. Chosen: what a person reads at once.
const NAMED: usize = 20;
/// Gateways whose words are remembered, some 400 bytes each.
const REMEMBERED: usize = 1024;

/// The troubles that were logged.
#[derive(Debug)]
pub(super) struct Troubles {
    logged: BTreeMap<GatewayKey, (String, Instant)>,
    since: Instant,
    named: usize,
}

impl Troubles {
    pub(super) const fn new(now: Instant) -> Self {
        Self { logged: BTreeMap::new(), since: now, named: 0 }
    }

    /// Notes the trouble of a status; logs it where it is news.
    pub(super) fn note(&mut self, gateway: &GatewayKey, trouble: Option<&str>, now: Instant) {
        let Some(trouble) = trouble else { return };
        log::status_troubled();
        if !self.is_due(gateway, trouble, now) {
            return;
        }
        self.named += 1;
        if self.named <= NAMED {
            let shown = in_one_line(trouble, MAX_LINE);
            log::gateway_troubled(&gateway.site, &gateway.gateway, &shown);
        } else if self.named == NAMED + 1 {
            log::more_gateways_troubled(NAMED);
        }
    }

    fn is_due(&mut self, gateway: &GatewayKey, trouble: &str, now: Instant) -> bool {
        if now.duration_since(self.since) >= MINUTE {
            (self.since, self.named) = (now, 0);
        }
        if let Some((words, at)) = self.logged.get(gateway)
            && (words == trouble || now.duration_since(*at) < MINUTE)
        {
            return false;
        }
        if self.logged.len() >= REMEMBERED && !self.logged.contains_key(gateway) {
            self.logged.clear();
        }
        self.logged.insert(gateway.clone(), (trouble.to_owned(), now));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-AGENT-12: 24,000 statuses with other words each wrote 2.2 MB of log in 15 s.
    #[test]
    fn words_that_change_with_each_status_are_logged_once_a_minute() {
        let now = Instant::now();
        let mut troubles = Troubles::new(now);
        let gateway = "s/gw-02".parse().expect("a gateway");
        for n in 0..24_000 {
            troubles.note(&gateway, Some(&format!("t{n}")), now);
        }
        assert_eq!(troubles.named, 1);
        troubles.note(&gateway, Some("t1"), now + MINUTE);
        troubles.note(&gateway, Some("t1"), now + MINUTE * 3);
        assert_eq!(troubles.named, 0, "the same words are no news");
        troubles.note(&gateway, None, now + MINUTE * 3);
        for n in 0..5_000 {
            let other = format!("s/g{n}").parse().expect("a gateway");
            troubles.note(&other, Some("full"), now + MINUTE * 3);
        }
        assert!(troubles.logged.len() <= REMEMBERED);
        assert!(troubles.named > NAMED, "counted, and {NAMED} of them named");
    }
}
