//! Figures of vibration that stand still: one whose source time does not go on is no new
//! measurement, and one that is the same to the last digit for long comes from a device that has
//! stopped measuring.
//!
//! Used by the sources that poll. Invariants: a figure with the source time of an earlier one is
//! used once; what stands still is told. Temperatures and speeds may well stand.

use std::time::Duration;

use metrics::counter;

use super::Figure;
use crate::source::SourceHost;

/// Readings of the same figure in a row after which it is told. Chosen: of a machine that runs, the
/// last digit of a level changes from one reading to the next; ten equal ones of three digits are
/// no chance.
const FROZEN_READINGS: u32 = 10;

/// Whole numbers below this have too few digits to change from reading to reading.
const FEW_DIGITS: f64 = 100.0;

/// Shortest time after which a figure whose source time stands is told to be stale, and the
/// shortest as multiples of the time from poll to poll and of the longest time that it has stood
/// before.
const STALE_AFTER: (Duration, u32, u32) = (Duration::from_secs(15), 3, 2);

/// The state of a place that is polled.
#[derive(Debug, Clone, Copy, Default)]
struct ValuePlace {
    /// The last number and its source time, ms since 1970.
    last: Option<(f64, Option<u64>)>,
    /// When this number, with this time, was read first.
    since: Duration,
    readings: u32,
    /// The longest time for which a source time has stood.
    longest: Duration,
    is_told: bool,
}

/// How new a number is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::source) enum Freshness {
    /// It was measured since the reading before, as far as anything tells.
    New,
    /// It is the measurement of an earlier reading.
    Earlier,
    /// It is so old that it is told; in words.
    Stale(String),
}

/// The figures of a device.
#[derive(Debug)]
pub(in crate::source) struct Standing {
    host: SourceHost,
    every: Duration,
    places: Vec<ValuePlace>,
}

impl Standing {
    pub(in crate::source) fn new(count: usize, every: Duration, host: SourceHost) -> Self {
        Self { host, every, places: vec![ValuePlace::default(); count] }
    }

    /// Judges a number, as the device holds it, of the place with this number.
    pub(in crate::source) fn freshness(
        &mut self,
        place: usize,
        figure: &Figure,
        number: f64,
        source_ms: Option<u64>,
    ) -> Freshness {
        let now = self.host.clock.uptime();
        let (Some(own), Figure::Feature(_)) = (self.places.get_mut(place), figure) else {
            return Freshness::New;
        };
        let stood = now.saturating_sub(own.since);
        let is_same = own.last.is_some_and(|(last, _)| last.total_cmp(&number).is_eq());
        let is_same_time = own.last.is_some_and(|(_, ms)| ms.is_some() && ms == source_ms);
        if is_same && is_same_time {
            let (least, polls, longest) = STALE_AFTER;
            let limit = least.max(self.every * polls).max(own.longest * longest);
            if stood <= limit {
                return Freshness::Earlier;
            }
            let stood_s = stood.as_secs_f64();
            return Freshness::Stale(format!(
                "is stale: its source time has stood for {stood_s:.0} s; it is the measurement of \
                 an earlier poll and not used again"
            ));
        }
        if own.last.is_some_and(|(_, ms)| ms.is_some()) && !is_same_time {
            own.longest = own.longest.max(stood);
        }
        own.last = Some((number, source_ms));
        if !is_same {
            let was_told = std::mem::take(&mut own.is_told);
            (own.since, own.readings) = (now, 1);
            if was_told && !self.places.iter().any(|place| place.is_told) {
                self.host.remarks.withdraw(&self.host.name, "frozen");
            }
            return Freshness::New;
        }
        if source_ms.is_some() {
            own.since = now;
        }
        own.readings = own.readings.saturating_add(1);
        let is_coarse = number.fract() == 0.0 && number.abs() < FEW_DIGITS && number != 0.0;
        if own.readings >= FROZEN_READINGS && !is_coarse {
            let is_news = !std::mem::replace(&mut own.is_told, true);
            self.tell_frozen(figure, number, is_news);
        }
        Freshness::New
    }

    fn tell_frozen(&self, figure: &Figure, number: f64, is_news: bool) {
        let (source, key) = (&self.host.name, figure.key());
        counter!("pdm_edge_values_frozen_total", "source" => source.clone()).increment(1);
        if is_news {
            tracing::warn!(source, figure = %key, number, "a value stands still to its last digit");
        }
        let text = format!(
            "{key} is exactly {number} in each of the last {FROZEN_READINGS} readings and more: \
             does the transmitter still measure, and does its gateway still hear it?"
        );
        self.host.remarks.set(source, "frozen", text);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use pdm_service::clock::{Clock, SystemClock};
    use pdm_shared::event::feature::Feature;
    use pdm_shared::time::Timestamp;

    use super::*;

    const VELOCITY: Figure = Figure::Feature(Feature::Velocity);

    /// A clock that is set, s since its start.
    #[derive(Debug, Default)]
    struct Seconds(AtomicU64);

    impl Clock for Seconds {
        fn now(&self) -> Timestamp {
            Timestamp::EPOCH
        }

        fn uptime(&self) -> Duration {
            Duration::from_secs(self.0.load(Ordering::Relaxed))
        }
    }

    fn standing() -> Standing {
        let host = SourceHost::alone(Arc::new(SystemClock), "bench");
        Standing::new(2, Duration::from_secs(2), host)
    }

    /// A gateway that has lost its transmitter serves the last value for ever, or zeros.
    #[test]
    fn a_value_that_is_the_same_to_its_last_digit_is_told_until_it_moves() {
        for number in [2.345, 0.0, 20_451.0] {
            let mut standing = standing();
            for reading in 1..=FROZEN_READINGS {
                let is_told = !standing.host.remarks.lines().is_empty();
                assert!(!is_told, "{number} after {reading} readings");
                assert_eq!(standing.freshness(0, &VELOCITY, number, None), Freshness::New);
            }
            let told = standing.host.remarks.lines().join("");
            assert!(told.contains(&format!("exactly {number}")), "{told}");
            let _moved = standing.freshness(0, &VELOCITY, number + 0.001, None);
            assert!(standing.host.remarks.lines().is_empty());
        }
        let mut standing = standing();
        for _reading in 0..50 {
            let _coarse = standing.freshness(0, &VELOCITY, 12.0, None);
            let _temperature = standing.freshness(1, &Figure::Temperature, 40.5, None);
        }
        assert!(standing.host.remarks.lines().is_empty(), "too few digits, and a temperature");
    }

    #[test]
    fn a_source_time_that_stands_is_no_new_measurement_and_is_told_in_time() {
        let clock = Arc::new(Seconds::default());
        let host = SourceHost::alone(clock.clone(), "bench");
        let mut standing = Standing::new(2, Duration::from_secs(2), host);
        assert_eq!(standing.freshness(0, &VELOCITY, 2.0, Some(1000)), Freshness::New);
        assert_eq!(standing.freshness(0, &VELOCITY, 2.0, Some(1000)), Freshness::Earlier);
        // another number, or another time, is a new measurement
        assert_eq!(standing.freshness(0, &VELOCITY, 2.1, Some(1000)), Freshness::New);
        assert_eq!(standing.freshness(0, &VELOCITY, 2.1, Some(2000)), Freshness::New);
        assert_eq!(standing.freshness(1, &Figure::ShaftSpeed, 9.0, Some(1)), Freshness::New);
        assert_eq!(standing.freshness(1, &Figure::ShaftSpeed, 9.0, Some(1)), Freshness::New);
        clock.0.fetch_add(16, Ordering::Relaxed);
        assert_eq!(standing.freshness(1, &VELOCITY, 2.0, Some(5)), Freshness::New, "another place");
        let Freshness::Stale(why) = standing.freshness(0, &VELOCITY, 2.1, Some(2000)) else {
            panic!("stale");
        };
        assert!(why.contains("stale") && why.contains("source time"), "{why}");
    }
}
