//! Decides which of a sender's times date its bursts.
//!
//! A time in the past is taken: the burst may have waited on its way. A time that cannot be (before
//! 2020, ahead of the gateway's clock, the same one for other samples, or hours off by a time zone
//! while the bursts come live) is not; the burst is then dated by its arrival. Invariant: whenever
//! a sender's clock is not that of the gateway, health says by how much and which clock dates.

use std::time::Duration;

use pdm_shared::time::Timestamp;

use super::CLOCKS_APART_S;
use crate::source::SourceHost;

/// 2020-01-01, ms since 1970: a clock before was never set.
const FIRST_RIGHT_MS: i64 = 1_577_836_800_000;
/// Lateness of a burst above which health names it, s: the messages of a burst over a slow radio
/// take less.
const LATE_S: f64 = 60.0;
/// Time zones differ by multiples of this, s, and a burst that comes live is late by less than the
/// second figure.
const ZONE_S: (f64, f64) = (1800.0, 30.0);
/// Bursts in a row that come live with the offset of a time zone.
const ZONE_BURSTS: u32 = 3;

/// Judges the times of a sender.
#[derive(Debug)]
pub(in crate::source) struct SenderClock {
    host: SourceHost,
    last: Option<Timestamp>,
    /// Lateness of the last burst, s, when it came, and how many came live with that offset.
    offset: Option<(f64, Duration, u32)>,
}

impl SenderClock {
    pub(in crate::source) const fn new(host: SourceHost) -> Self {
        Self { host, last: None, offset: None }
    }

    /// The start of a burst of this length by its sender; `None` if its arrival is to date it.
    pub(in crate::source) fn date(
        &mut self,
        stated: Timestamp,
        length_s: f64,
    ) -> Option<Timestamp> {
        let late_s = self.host.clock.now().seconds_since(stated) - length_s;
        metrics::gauge!("pdm_edge_sender_clock_offset_seconds", "source" => self.host.name.clone())
            .set(-late_s);
        let is_same = self.last.replace(stated) == Some(stated);
        let zone_bursts = self.live_with_offset(late_s);
        let why = if stated.unix_ms() < FIRST_RIGHT_MS {
            format!("the sender's clock was never set (it says {stated})")
        } else if late_s < -CLOCKS_APART_S {
            format!("the sender's clock is {:.0} s ahead of this gateway's", -late_s)
        } else if is_same {
            format!("the sender's clock stands still at {stated}")
        } else if zone_bursts >= ZONE_BURSTS {
            format!("the sender's clock is {late_s:.0} s behind this gateway's, as by a time zone")
        } else {
            self.tell_late(late_s);
            return Some(stated);
        };
        self.tell(format!("{why}: its bursts are dated by their arrival"));
        None
    }

    /// Returns how many bursts in a row came live and late by the same time, that of a time zone.
    fn live_with_offset(&mut self, late_s: f64) -> u32 {
        let now = self.host.clock.uptime();
        let is_zone = late_s > ZONE_S.0 - ZONE_S.1 && late_s.rem_euclid(ZONE_S.0) < ZONE_S.1;
        let before = self.offset.filter(|(before_s, at, _)| {
            let passed_s = now.saturating_sub(*at).as_secs_f64();
            // what waited comes faster than it was taken, so its lateness shrinks
            passed_s >= 0.5 && (late_s - before_s).abs() <= (0.2 * passed_s).min(ZONE_S.1)
        });
        let bursts = if is_zone { before.map_or(0, |(_, _, bursts)| bursts) + 1 } else { 0 };
        self.offset = Some((late_s, now, bursts));
        bursts
    }

    fn tell_late(&self, late_s: f64) {
        if late_s > LATE_S {
            self.tell(format!(
                "bursts come {late_s:.0} s after their time: they waited on the way, or the \
                 sender's clock is behind; their own time dates them"
            ));
        } else {
            self.host.remarks.withdraw(&self.host.name, "sender clock");
        }
    }

    fn tell(&self, text: String) {
        self.host.remarks.set(&self.host.name, "sender clock", text);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pdm_service::clock::{Clock, SystemClock};

    use super::*;

    /// The machine's clock on a gateway that has run for an hour.
    #[derive(Debug)]
    struct RunningForAnHour;

    impl Clock for RunningForAnHour {
        fn now(&self) -> Timestamp {
            SystemClock.now()
        }

        fn uptime(&self) -> Duration {
            SystemClock.uptime() + Duration::from_hours(1)
        }
    }

    fn clock() -> SenderClock {
        SenderClock::new(SourceHost::alone(Arc::new(RunningForAnHour), "bench"))
    }

    #[test]
    fn a_time_that_cannot_be_is_told_and_one_in_the_past_is_taken() {
        let now = || SystemClock.now();
        let at = |text: &str| Timestamp::parse(text).expect("a time");
        for (stated, told) in [
            (at("1970-01-01T00:00:00Z"), "never set"),
            (at("1970-02-01T03:00:00Z"), "never set"),
            (now().plus_seconds(9.0 * 3600.0), "ahead"),
            (now().plus_seconds(20.0), "ahead"),
        ] {
            let mut clock = clock();
            assert_eq!(clock.date(stated, 1.0), None, "{stated}");
            let line = clock.host.remarks.lines().join("");
            assert!(line.contains(told) && line.contains("arrival"), "{line}");
        }
        let mut clock = clock();
        let late = now().plus_seconds(-7210.0);
        assert_eq!(clock.date(late, 1.0), Some(late));
        assert!(clock.host.remarks.lines().join("").contains("waited on the way"));
        let prompt = now().plus_seconds(-1.2);
        assert_eq!(clock.date(prompt, 1.0), Some(prompt));
        assert!(clock.host.remarks.lines().is_empty());
        assert_eq!(clock.date(prompt, 1.0), None, "other samples of the same time");
        assert!(clock.host.remarks.lines().join("").contains("stands still"));
    }

    #[test]
    fn a_backlog_of_whole_hours_is_no_time_zone_and_live_bursts_are() {
        let mut backlog = clock();
        let base = SystemClock.now();
        for burst in 0..10 {
            let stated = base.plus_seconds(-7205.0 + f64::from(burst));
            assert_eq!(backlog.date(stated, 1.0), Some(stated), "burst {burst}");
        }
        let mut live = clock();
        let base = SystemClock.now();
        let mut dated = Vec::new();
        for burst in 0..3 {
            // as if a second had passed since the last burst
            live.offset = live.offset.map(|(late_s, at, bursts)| {
                (late_s, at.saturating_sub(Duration::from_secs(1)), bursts)
            });
            dated.push(live.date(base.plus_seconds(-3602.0 + 0.01 * f64::from(burst)), 1.0));
        }
        assert!(dated[0].is_some() && dated[2].is_none(), "{dated:?}");
    }
}
