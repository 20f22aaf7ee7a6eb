//! An hour of stream on clocks that are given: senders that are fast and slow, packets that are
//! late, frames that are lost, a wall clock that is set.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use pdm_service::clock::Clock;

use super::*;

/// A clock whose two hands are set, ms.
#[derive(Debug, Default)]
struct Hands {
    wall_ms: AtomicI64,
    uptime_us: AtomicI64,
}

const BEGAN_MS: i64 = 1_790_000_000_000;

impl Clock for Hands {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_ms(self.wall_ms.load(Ordering::Relaxed)).expect("in range")
    }

    fn uptime(&self) -> Duration {
        Duration::from_micros(self.uptime_us.load(Ordering::Relaxed).unsigned_abs())
    }
}

/// A sender of packets of 0.1 s at 1 kHz nominal.
struct Bench {
    hands: Arc<Hands>,
    clock: SampleClock,
    /// Frames that were taken, and of these how many were handed to the clock.
    taken: u64,
    true_rate_hz: f64,
    /// The time by which the wall clock is ahead of the true time, s.
    wall_ahead_s: f64,
    state: u64,
    /// Worst difference between the time of a frame and its true time, s.
    worst_s: f64,
}

const NOMINAL_HZ: f64 = 1000.0;

impl Bench {
    fn new(off: f64) -> Self {
        let hands = Arc::new(Hands::default());
        hands.wall_ms.store(BEGAN_MS, Ordering::Relaxed);
        let host = SourceHost::alone(hands.clone(), "bench");
        let nominal = SampleRate::new(NOMINAL_HZ).expect("valid");
        let clock = SampleClock::new(nominal, 0.05, host);
        let true_rate_hz = NOMINAL_HZ * (1.0 + off);
        Self { hands, clock, taken: 0, true_rate_hz, wall_ahead_s: 0.0, state: 7, worst_s: 0.0 }
    }

    fn random(&mut self) -> f64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.state >> 40) as f64 / f64::from(1 << 24)
    }

    fn stand_at(&self, at_s: f64) {
        let uptime_us = (at_s * 1e6) as i64 + 5_000_000;
        self.hands.uptime_us.store(uptime_us, Ordering::Relaxed);
        let wall_ms = BEGAN_MS + ((at_s + self.wall_ahead_s) * 1e3) as i64;
        self.hands.wall_ms.store(wall_ms, Ordering::Relaxed);
    }

    /// Runs packets for this many seconds; each arrives up to 20 ms late, one in twenty up to 120
    /// ms. The time of the first frame of each packet is compared.
    fn run(&mut self, seconds: f64) -> usize {
        let frames = (0.1 * NOMINAL_HZ) as u64;
        let until = self.taken + (seconds * self.true_rate_hz) as u64;
        let mut losses = 0;
        while self.taken < until {
            let first = self.clock.frames();
            let first_at_s = self.taken as f64 / self.true_rate_hz;
            self.taken += frames;
            let late_s = if self.random() < 0.05 { 0.12 } else { 0.02 } * self.random();
            self.stand_at(self.taken as f64 / self.true_rate_hz + late_s);
            let lost = self.clock.arrived(frames);
            losses += usize::from(lost);
            // the frames that were lost are counted before those that have arrived
            let first = if lost { self.clock.frames() - frames } else { first };
            let told = self.clock.began(first);
            let truth_ms = BEGAN_MS as f64 + (first_at_s + self.wall_ahead_s) * 1e3;
            self.worst_s = self.worst_s.max((told.unix_ms() as f64 - truth_ms).abs() / 1e3);
        }
        losses
    }

    /// Frames that the sender took and nobody got.
    fn lose(&mut self, frames: u64) {
        self.taken += frames;
    }

    fn measured_hz(&self) -> f64 {
        self.clock.rate().own().map_or(0.0, SampleRate::get)
    }
}

/// ± 50 ms at ± 2 % of rate error, and the true rate.
#[test]
fn an_hour_of_stream_is_dated_within_50_ms_and_its_rate_is_measured() {
    for off in [0.0, 0.005, -0.02, 0.02] {
        let mut bench = Bench::new(off);
        assert_eq!(bench.run(3600.0), 0, "no loss is told at {off}");
        assert!(bench.worst_s < 0.05, "{} s at {off}", bench.worst_s);
        let error = bench.measured_hz() / bench.true_rate_hz - 1.0;
        assert!(error.abs() < 5e-4, "{error} at {off}");
    }
}

#[test]
fn a_wall_clock_that_is_set_reaches_the_next_frame() {
    let mut bench = Bench::new(-0.02);
    for ahead_s in [0.0, 3600.0, -3600.0, 0.0] {
        bench.wall_ahead_s = ahead_s;
        bench.run(60.0);
        assert!(bench.worst_s < 0.05, "{} s at {ahead_s}", bench.worst_s);
    }
}

/// A loss that the sender counts changes nothing; one that nobody counts is found by the arrivals.
#[test]
fn lost_frames_are_found_and_the_frames_after_them_keep_their_time() {
    for off in [0.005, -0.02] {
        let mut bench = Bench::new(off);
        bench.run(120.0);
        bench.lose(700);
        bench.clock.lost(700);
        assert_eq!(bench.run(60.0), 0);
        assert!(bench.worst_s < 0.05, "{} s at {off}", bench.worst_s);
        bench.lose(300);
        assert_eq!(bench.run(5.0), 1, "one loss without a count");
        bench.worst_s = 0.0;
        assert_eq!(bench.run(600.0), 0);
        assert!(bench.worst_s < 0.05, "{} s at {off}", bench.worst_s);
        let error = bench.measured_hz() / bench.true_rate_hz - 1.0;
        assert!(error.abs() < 1e-3, "{error} at {off}");
    }
}

#[test]
fn a_rate_far_from_the_configured_one_is_told_and_withdrawn() {
    for off in [-0.5, 1.0] {
        let mut bench = Bench::new(off);
        bench.run(60.0);
        let rate = bench.clock.rate();
        assert!(matches!(rate, BlockRate::Measured { is_off: true, .. }), "{rate:?} at {off}");
        assert!((bench.measured_hz() / bench.true_rate_hz - 1.0).abs() < 1e-3);
        assert_eq!(bench.clock.host().remarks.lines().len(), 1);
    }
}

/// A sensor that sends a second each minute: each burst was taken right before it came.
#[test]
fn bursts_after_pauses_are_dated_by_their_arrival() {
    let mut bench = Bench::new(0.01);
    for minute in 1..60 {
        for packet in 0..10 {
            let first = bench.clock.frames();
            let end_s = f64::from(minute) * 60.0 + f64::from(packet) * 0.1;
            bench.stand_at(end_s);
            assert_eq!(bench.clock.arrived(100), packet == 0 && minute > 1);
            let told_ms = bench.clock.began(first).unix_ms() - BEGAN_MS;
            let error_s = told_ms as f64 / 1e3 - (end_s - 0.1);
            assert!(error_s.abs() < 0.05, "{error_s} s in minute {minute}");
        }
    }
    assert!(matches!(bench.clock.rate(), BlockRate::Format), "{:?}", bench.clock.rate());
}

/// A sender that was cut off first sends the frames that it has kept, as fast as the network goes.
#[test]
fn a_backlog_that_comes_at_once_does_not_date_what_follows() {
    let mut bench = Bench::new(0.0);
    for _ in 0..20 {
        bench.taken += 500;
        bench.stand_at(10.0 + bench.taken as f64 / 1e4);
        bench.clock.arrived(500);
    }
    // from here on live: frame 10,000 is taken at 11 s
    let late_s = 11.0 - bench.taken as f64 / NOMINAL_HZ;
    let mut worst_s = 0.0f64;
    for packet in 0..1200 {
        let first = bench.clock.frames();
        bench.taken += 100;
        let end_s = late_s + bench.taken as f64 / NOMINAL_HZ;
        bench.stand_at(end_s);
        bench.clock.arrived(100);
        if packet > 20 {
            let told_ms = bench.clock.began(first).unix_ms() - BEGAN_MS;
            worst_s = worst_s.max((told_ms as f64 / 1e3 - (end_s - 0.1)).abs());
        }
    }
    assert!(worst_s < 0.05, "{worst_s}");
}

/// A modem that was away brings ten seconds at once: all of it is dated by its newest frame, and
/// blocks wait for that one.
#[test]
fn a_backlog_is_dated_by_its_newest_frame() {
    let mut bench = Bench::new(0.0);
    let step = |bench: &Bench, us: i64| {
        bench.hands.uptime_us.fetch_add(us, Ordering::Relaxed);
        let ms = BEGAN_MS + bench.hands.uptime_us.load(Ordering::Relaxed) / 1000;
        bench.hands.wall_ms.store(ms, Ordering::Relaxed);
    };
    let mut held = 0;
    for _minute in 0..3 {
        step(&bench, 10_000_000);
        for _piece in 0..100 {
            step(&bench, 500);
            let _paused = bench.clock.arrived(100);
            held += usize::from(bench.clock.is_catching_up());
        }
        step(&bench, 600_000);
        assert!(!bench.clock.is_catching_up(), "a pause ends it");
        let newest = bench.clock.frames();
        let now = bench.hands.now();
        for second in 0..10u64 {
            let age_s = now.seconds_since(bench.clock.began(newest - 10_000 + 1000 * second));
            let expected_s = 10.6 - second as f64;
            assert!((age_s - expected_s).abs() < 0.06, "second {second}: {age_s} s ago");
        }
    }
    assert!(held > 200, "{held}");
    // a live sender of packets of a second is no backlog
    let mut live = Bench::new(0.02);
    for _packet in 0..60 {
        step(&live, 980_000);
        let _lost = live.clock.arrived(1000);
        assert!(!live.clock.is_catching_up());
    }
}
