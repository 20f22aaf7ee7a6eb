//! Claims about captures as a whole: what goes into a tap comes out as a file, each trigger once.

use std::path::Path;
use std::sync::Arc;

use ndarray::Array2;
use pdm_service::clock::SystemClock;
use pdm_shared::capture::CaptureReason;
use pdm_shared::event::{BaselineState, Event, Method};
use pdm_shared::time::Timestamp;
use pdm_shared::units::{M_S2_PER_G, SampleRate};

use super::*;
use crate::source::{Block, BlockRate};
use crate::window::Window;

const RATE_HZ: usize = 2000;

pub(super) fn settings(folder: &Path) -> CaptureSettings {
    CaptureSettings {
        budget_bytes: 4 << 20,
        folder: folder.to_owned(),
        most_disk_bytes: 100 << 20,
        before_s: 3.0,
        after_s: 2.0,
        per_hour: 6,
        reference_s: 0.0,
        upload: None,
    }
}

fn point() -> CapturePoint {
    CapturePoint {
        source: "s".to_owned(),
        channel: 0,
        equipment: "P-101".parse().expect("name"),
        bearing: "DE".parse().expect("name"),
        measuring_point: None,
        orders: DefectOrders::new(3.58, 5.41, 2.36, 0.398).expect("orders"),
        order_tolerance: 0.02,
        estimated_for: None,
        speed_rpm: 1500.0,
        speed_tolerance: 0.05,
        sensitivity_mv_per_g: Some(100.0),
        rate_hz: RATE_HZ as f64,
    }
}

/// Counts of a 16-bit converter, as m/s².
fn sample(n: u64) -> f64 {
    let count = (n * 2_654_435_761 % 30_011) as f64 - 15_000.0;
    count * 0.0001 / 100.0 * 1000.0 * M_S2_PER_G
}

/// A source of seconds: pushes blocks, and judges each as a window.
struct Feed {
    tap: Tap,
    second: u64,
    offset_s: f64,
    rate: BlockRate,
}

impl Feed {
    fn at(&self, second: u64) -> Timestamp {
        let begun = Timestamp::from_unix_ms(1_700_000_000_000).expect("valid");
        begun.plus_seconds(second as f64 + self.offset_s)
    }

    /// The next second; `judged` changes its event.
    fn next(&mut self, judged: impl FnOnce(&mut Event)) {
        self.next_with(judged, |accel| accel);
    }

    fn next_with(
        &mut self,
        judged: impl FnOnce(&mut Event),
        changed: impl FnOnce(Array2<f64>) -> Array2<f64>,
    ) {
        let (second, first) = (self.second, self.second * RATE_HZ as u64);
        let at = self.at(second);
        let accel = Array2::from_shape_fn((1, RATE_HZ), |(_, n)| sample(first + n as u64));
        let block = Block {
            index: second,
            started_at: Some(at),
            follows_on: second > 0,
            rate: self.rate,
            input: None,
            values: None,
            accel_m_s2: changed(accel),
        };
        self.tap.push(&block, first, RATE_HZ as f64);
        let text = include_str!("../../../config/examples/event-healthy.json");
        let mut event: Event = serde_json::from_str(text).expect("the example");
        event.equipment_id = "P-101".parse().expect("name");
        event.bearing_id = "DE".parse().expect("name");
        event.measuring_point = None;
        event.measured_at = at;
        event.window.sampling_rate_hz = RATE_HZ as f64;
        event.frequency_domain.method = Method::Fast;
        event.anomaly.baseline.state = BaselineState::Ready;
        event.anomaly_detected = false;
        judged(&mut event);
        let window = Window {
            index: second,
            block_index: second,
            first_sample: first,
            started_at: Some(at),
            rate: self.rate,
            input: None,
            accel_m_s2: block.accel_m_s2,
        };
        self.tap.tell(&[event], &[window]);
        self.second += 1;
    }
}

fn alarmed(event: &mut Event) {
    event.anomaly_detected = true;
}

/// Feeds a run and returns what is in the folder after its end.
fn captured(
    settings: CaptureSettings,
    feed: impl FnOnce(&mut Feed, &Capturing),
) -> (Vec<StoredCapture>, Remarks) {
    let folder = settings.folder.clone();
    let start = CaptureStart::new(settings);
    let tap = start.tap("s", vec![point()], false);
    let capturing = start.capturing();
    let remarks = Remarks::default();
    let host: (SharedClock, Remarks) = (Arc::new(SystemClock), remarks.clone());
    let names = ("gw".parse().expect("name"), "site".parse().expect("name"));
    let running = start.run(names, host).expect("a thread");
    let mut source = Feed { tap, second: 0, offset_s: 0.0, rate: BlockRate::Format };
    feed(&mut source, &capturing);
    assert!(running.stop(), "no panic");
    let (captures, unread) = list(&folder).expect("lists");
    assert!(unread.is_empty());
    (captures, remarks)
}

/// Asks for a capture and waits for the answer.
fn demanded(capturing: &Capturing, bearing: &str) -> Demanded {
    let (told, answer) = std::sync::mpsc::sync_channel(1);
    capturing
        .demand(bearing, AskedBy::default(), move |demanded| told.send(demanded).expect("waits"));
    answer.recv().expect("an answer, whatever becomes of the demand")
}

/// The samples of a capture's file.
fn samples(capture: &StoredCapture) -> Vec<f32> {
    let mut file = hound::WavReader::open(capture.wav()).expect("a WAV file");
    file.samples().collect::<Result<_, _>>().expect("samples")
}

#[test]
fn an_alarm_is_captured_with_what_came_before_and_after_bit_for_bit() {
    let folder = tempfile::tempdir().expect("folder");
    let (captures, remarks) = captured(settings(folder.path()), |feed, _| {
        (0..20).for_each(|_| feed.next(|_| ()));
        (0..10).for_each(|_| feed.next(alarmed));
    });
    assert_eq!(captures.len(), 1, "an alarm that stands is one capture");
    let document = &captures[0].document;
    assert_eq!(document.triggers[0].reason, CaptureReason::Alarm);
    assert!(document.is_in_alarm && document.steps.is_exact && document.gaps.is_empty());
    // 3 s before, the window, 2 s after
    assert_eq!((document.samples, document.window.first_sample), (12_000, 6_000));
    assert_eq!(document.window.samples, RATE_HZ as u64);
    assert_eq!(document.sensor.sensitivity_mv_per_g, Some(100.0));
    let taken = samples(&captures[0]);
    for (at, taken) in taken.iter().enumerate() {
        let expected = sample(17 * RATE_HZ as u64 + at as u64) as f32;
        assert_eq!(taken.to_bits(), expected.to_bits(), "sample {at}");
    }
    assert!(remarks.lines().is_empty());
}

#[test]
fn two_triggers_in_one_stretch_are_one_capture() {
    let folder = tempfile::tempdir().expect("folder");
    let (captures, _) = captured(settings(folder.path()), |feed, _| {
        (0..10).for_each(|_| feed.next(|_| ()));
        feed.next(alarmed);
        feed.next(|event| {
            alarmed(event);
            event.frequency_domain.method = Method::Thorough;
            event.frequency_domain.dominant_fault = Some(pdm_shared::fault::Fault::OuterRace);
        });
        (0..10).for_each(|_| feed.next(alarmed));
    });
    assert_eq!(captures.len(), 1);
    let reasons: Vec<CaptureReason> =
        captures[0].document.triggers.iter().map(|trigger| trigger.reason).collect();
    assert_eq!(reasons, [CaptureReason::Alarm, CaptureReason::Name]);
    assert_eq!(captures[0].document.samples, 14_000, "until 2 s after the second");
}

#[test]
fn a_storm_of_a_thousand_triggers_is_bounded_and_told() {
    let folder = tempfile::tempdir().expect("folder");
    let (captures, remarks) = captured(settings(folder.path()), |feed, _| {
        feed.next(|_| ());
        for n in 0..3000 {
            feed.next(|event| event.anomaly_detected = n % 3 == 0);
        }
    });
    assert!((1..=6).contains(&captures.len()), "{}", captures.len());
    assert!(remarks.lines()[0].contains("per_hour = 6"), "{:?}", remarks.lines());
}

#[test]
fn a_reference_is_of_the_sound_state_and_an_alarm_beside_it_takes_its_place() {
    let folder = tempfile::tempdir().expect("folder");
    let daily = CaptureSettings { reference_s: 86_400.0, ..settings(folder.path()) };
    let (captures, _) = captured(daily.clone(), |feed, _| {
        (0..30).for_each(|_| feed.next(|_| ()));
    });
    assert_eq!(captures.len(), 1, "once a day");
    assert!(captures[0].document.is_for(CaptureReason::Reference));
    assert!(!captures[0].document.is_in_alarm);
    // the first window and 2 s after it: windows that are due meanwhile make it no longer
    assert_eq!(captures[0].document.samples, 6_000);
    let other = tempfile::tempdir().expect("folder");
    let at_once = CaptureSettings { folder: other.path().to_owned(), ..daily };
    let (captures, _) = captured(at_once, |feed, _| {
        feed.next(|_| ());
        (0..10).for_each(|_| feed.next(alarmed));
    });
    assert!(captures[0].document.is_for(CaptureReason::Alarm));
    assert!(!captures[0].document.is_for(CaptureReason::Reference));
    assert!(
        captures[0].document.window.first_sample > 0,
        "the window of the alarm, not the sound one"
    );
}

#[test]
fn a_demand_without_time_before_it_is_captured() {
    let folder = tempfile::tempdir().expect("folder");
    let none_before = CaptureSettings { before_s: 0.0, ..settings(folder.path()) };
    let (captures, _) = captured(none_before, |feed, capturing| {
        (0..10).for_each(|_| feed.next(|_| ()));
        assert_eq!(demanded(capturing, "P-101/DE"), Demanded::Taken);
        (0..10).for_each(|_| feed.next(|_| ()));
    });
    assert!(captures[0].document.is_for(CaptureReason::Demand));
    assert!(captures[0].document.samples > 0);
}

#[test]
fn a_demand_is_captured_and_one_for_a_point_that_is_not_there_is_refused() {
    let folder = tempfile::tempdir().expect("folder");
    let (captures, _) = captured(settings(folder.path()), |feed, capturing| {
        (0..10).for_each(|_| feed.next(|_| ()));
        assert_eq!(demanded(capturing, "P-101/DE"), Demanded::Taken);
        let known = vec!["P-101/DE".to_owned()];
        assert_eq!(demanded(capturing, "P-999/DE"), Demanded::Unknown(known));
        (0..10).for_each(|_| feed.next(|_| ()));
    });
    assert_eq!(captures.len(), 1);
    let document = &captures[0].document;
    assert!(document.is_for(CaptureReason::Demand) && document.samples >= 6_000);
    let taken = samples(&captures[0]);
    let second = document
        .started_at
        .seconds_since(Timestamp::from_unix_ms(1_700_000_000_000).expect("valid"));
    let first = (second * RATE_HZ as f64).round() as u64;
    assert!(
        taken
            .iter()
            .enumerate()
            .all(|(at, taken)| taken.to_bits() == (sample(first + at as u64) as f32).to_bits())
    );
}

#[test]
fn lost_samples_another_rate_and_a_set_clock_are_kept_as_they_were() {
    let folder = tempfile::tempdir().expect("folder");
    let (captures, _) = captured(settings(folder.path()), |feed, _| {
        (0..10).for_each(|_| feed.next(|_| ()));
        // the clock is set back by an hour in the middle of what comes before the alarm
        feed.offset_s = -3600.0;
        feed.next_with(
            |_| (),
            |mut accel| {
                accel[[0, 7]] = f64::NAN;
                accel
            },
        );
        feed.next(alarmed);
        (0..3).for_each(|_| feed.next(alarmed));
    });
    let document = &captures[0].document;
    assert_eq!((document.not_finite, document.samples), (1, 12_000));
    let taken = samples(&captures[0]);
    for (at, taken) in taken.iter().enumerate() {
        let expected = sample(8 * RATE_HZ as u64 + at as u64) as f32;
        let is_lost = at == 2 * RATE_HZ + 7;
        assert!(
            if is_lost { taken.is_nan() } else { taken.to_bits() == expected.to_bits() },
            "sample {at}"
        );
    }
    // a rate that changes ends the capture
    let other = tempfile::tempdir().expect("folder");
    let (captures, _) = captured(settings(other.path()), |feed, _| {
        (0..10).for_each(|_| feed.next(|_| ()));
        feed.rate = BlockRate::Stated(SampleRate::new(4000.0).expect("rate"));
        feed.next(alarmed_after_sound);
        feed.next(alarmed);
        (0..8).for_each(|_| feed.next(alarmed));
    });
    assert_eq!(captures.len(), 1);
    let document = &captures[0].document;
    assert_eq!(document.window.first_sample % RATE_HZ as u64, 0);
    assert!(document.samples <= 8 * RATE_HZ as u64);
    assert_eq!(document.cut, Some(pdm_shared::capture::CaptureCut::Rate), "and it says so");
}

fn alarmed_after_sound(event: &mut Event) {
    event.anomaly_detected = false;
}

/// A demand is answered with its outcome: refused with the wait where the hour's captures are used
/// up, and where the captures have stopped.
#[test]
fn a_demand_beyond_the_hour_is_refused_and_says_when_the_next_is_taken() {
    let folder = tempfile::tempdir().expect("folder");
    let two = CaptureSettings { per_hour: 2, after_s: 0.0, ..settings(folder.path()) };
    let mut left = None;
    let (captures, remarks) = captured(two, |feed, capturing| {
        (0..5).for_each(|_| feed.next(|_| ()));
        assert_eq!(demanded(capturing, "P-101/DE"), Demanded::Taken);
        (0..5).for_each(|_| feed.next(|_| ()));
        let refused = demanded(capturing, "P-101/DE");
        let Demanded::Used { most: 2, wait } = refused else { panic!("{refused:?}") };
        assert!((3_500..=3_600).contains(&wait.as_secs()), "{wait:?}");
        let told = refused.refusal("P-101/DE").expect("refused");
        assert!(told.contains("per_hour = 2") && told.contains("in 60 min"), "{told}");
        left = Some(capturing.clone());
    });
    assert_eq!(captures.len(), 1);
    assert!(remarks.lines()[0].contains("per_hour = 2"), "{:?}", remarks.lines());
    assert_eq!(demanded(&left.expect("set"), "P-101/DE"), Demanded::Busy, "it has stopped");
}

#[test]
fn a_folder_that_cannot_be_used_is_told_and_stops_nothing() {
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("file");
    std::fs::write(&file, b"no folder").expect("writes");
    let start = CaptureStart::new(settings(&file));
    let tap = start.tap("s", vec![point()], false);
    let remarks = Remarks::default();
    let host: (SharedClock, Remarks) = (Arc::new(SystemClock), remarks.clone());
    let names = ("gw".parse().expect("name"), "site".parse().expect("name"));
    let running = start.run(names, host).expect("a thread");
    let mut feed = Feed { tap, second: 0, offset_s: 0.0, rate: BlockRate::Format };
    feed.next(|_| ());
    (0..10).for_each(|_| feed.next(alarmed));
    assert!(running.stop(), "no panic");
    assert!(remarks.lines()[0].contains("source s: "), "{:?}", remarks.lines());
}
