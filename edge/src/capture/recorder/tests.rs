//! Claims about the thread itself, step by step: an alarm gets its waveform whatever went before,
//! and the capture of one bearing takes nothing from another.

use std::path::Path;

use pdm_dsp::DefectOrders;
use pdm_service::clock::SystemClock;
use pdm_shared::event::{BaselineState, Method};
use pdm_shared::fault::Fault;
use pdm_shared::time::Timestamp;

use super::*;
use crate::capture::folder::list;

const RATE_HZ: u64 = 1000;

fn settings(folder: &Path) -> CaptureSettings {
    let settings = crate::capture::tests::settings(folder);
    CaptureSettings { budget_bytes: 16 << 20, before_s: 2.0, after_s: 0.0, ..settings }
}

fn point(at: usize) -> CapturePoint {
    CapturePoint {
        source: "s".to_owned(),
        channel: at,
        equipment: format!("P-{at}").parse().expect("name"),
        bearing: "DE".parse().expect("name"),
        measuring_point: None,
        orders: DefectOrders::new(3.58, 5.41, 2.36, 0.398).expect("orders"),
        order_tolerance: 0.02,
        estimated_for: None,
        speed_rpm: 1500.0,
        speed_tolerance: 0.05,
        sensitivity_mv_per_g: None,
        rate_hz: RATE_HZ as f64,
    }
}

fn recorder(settings: CaptureSettings, points: usize) -> Recorder {
    let names = ("gw".parse().expect("name"), "site".parse().expect("name"));
    let host: (SharedClock, Remarks) = (Arc::new(SystemClock), Remarks::default());
    Recorder::new(settings, names, (0..points).map(point).collect(), host)
}

fn time(second: u64) -> Timestamp {
    let begun = Timestamp::from_unix_ms(1_700_000_000_000).expect("valid");
    begun.plus_seconds(second as f64)
}

/// A second of one point: its block.
fn block(at: usize, second: u64) -> Message {
    let rows = vec![(at, (0..RATE_HZ).map(|n| (n % 97) as f64).collect())];
    let origin = Origin {
        first: second * RATE_HZ,
        started_at: time(second),
        rate_hz: RATE_HZ as f64,
        stated_hz: None,
        is_after_gap: second == 0,
    };
    Message::Block { origin, rows }
}

/// The event of that second; a fault is named in it where one is given.
fn judged(at: usize, second: u64, is_alarmed: bool, named: Option<Fault>) -> Judged {
    let text = include_str!("../../../../config/examples/event-healthy.json");
    let mut event: Event = serde_json::from_str(text).expect("the example");
    event.equipment_id = format!("P-{at}").parse().expect("name");
    event.bearing_id = "DE".parse().expect("name");
    event.measured_at = time(second);
    event.window.sampling_rate_hz = RATE_HZ as f64;
    event.anomaly.baseline.state = BaselineState::Ready;
    event.anomaly_detected = is_alarmed;
    event.frequency_domain.method = if named.is_some() { Method::Thorough } else { Method::Fast };
    event.frequency_domain.dominant_fault = named;
    Judged { first: second * RATE_HZ, samples: RATE_HZ, event }
}

/// A course of seconds of one point.
struct Course {
    at: usize,
    second: u64,
}

impl Course {
    fn next(&mut self, recorder: &mut Recorder, is_alarmed: bool, named: Option<Fault>) {
        let Message::Block { origin, rows } = block(self.at, self.second) else { return };
        recorder.push(origin, rows);
        recorder.judged(self.at, judged(self.at, self.second, is_alarmed, named));
        while recorder.finish_one_due() {}
        self.second += 1;
    }

    fn demand(&self, recorder: &mut Recorder) -> Demanded {
        let demanded = recorder.demanded(&format!("P-{}/DE", self.at), AskedBy::default());
        while recorder.finish_one_due() {}
        demanded
    }
}

fn captures(folder: &Path) -> Vec<StoredCapture> {
    let (captures, unread) = list(folder).expect("lists");
    assert!(unread.is_empty(), "{unread:?}");
    captures
}

fn count(folder: &Path, at: usize, reason: CaptureReason) -> usize {
    let is_one = |capture: &&StoredCapture| {
        capture.document.within_site() == format!("P-{at}/DE") && capture.document.is_for(reason)
    };
    captures(folder).iter().filter(is_one).count()
}

/// Demands leave the alarm of the hour its place.
#[test]
fn demands_do_not_use_up_the_place_of_an_alarm() {
    let folder = tempfile::tempdir().expect("folder");
    let mut recorder = recorder(settings(folder.path()), 1);
    let mut course = Course { at: 0, second: 0 };
    let mut refused = 0;
    for _ in 0..20 {
        course.next(&mut recorder, false, None);
        refused += usize::from(course.demand(&mut recorder) != Demanded::Taken);
    }
    assert!(refused >= 15, "{refused} of 20 refused");
    (0..3).for_each(|_| course.next(&mut recorder, true, None));
    assert_eq!(count(folder.path(), 0, CaptureReason::Alarm), 1);
}

/// An alarm that found no place stays owed: it is captured when one is free while the alarm stands,
/// and not after.
#[test]
fn a_refused_alarm_is_captured_when_a_place_is_free_while_it_stands() {
    let folder = tempfile::tempdir().expect("folder");
    let mut recorder = recorder(settings(folder.path()), 1);
    let mut course = Course { at: 0, second: 0 };
    for n in 0..24 {
        course.next(&mut recorder, n % 2 == 1, None);
    }
    assert_eq!(count(folder.path(), 0, CaptureReason::Alarm), 6, "the hour is used up");
    let hour_later = |recorder: &mut Recorder| recorder.points[0].hour = HourBudget::default();
    // the last alarm stands, and was refused
    course.next(&mut recorder, true, None);
    assert_eq!(count(folder.path(), 0, CaptureReason::Alarm), 6);
    hour_later(&mut recorder);
    (0..5).for_each(|_| course.next(&mut recorder, true, None));
    assert_eq!(count(folder.path(), 0, CaptureReason::Alarm), 7, "once");
    // one that is over is owed no more
    recorder.points[0].is_rise_owed = true;
    (0..5).for_each(|_| course.next(&mut recorder, false, None));
    assert!(!recorder.points[0].is_rise_owed);
    assert_eq!(captures(folder.path()).len(), 7);
}

/// A full disk: the try costs no place of the hour, and the alarm is captured once there is room.
#[test]
fn an_alarm_that_a_full_disk_did_not_take_is_captured_once_there_is_room() {
    let test = "an_alarm_that_a_full_disk_did_not_take";
    let Some(disk) = pdm_harness::SmallDisk::mount(test, 1) else { return };
    let folder = disk.path().join("captures");
    let mut recorder = recorder(settings(&folder), 1);
    recorder.disk_pause = Duration::ZERO;
    let mut course = Course { at: 0, second: 0 };
    (0..3).for_each(|_| course.next(&mut recorder, false, None));
    disk.fill();
    (0..20).for_each(|_| course.next(&mut recorder, true, None));
    assert_eq!(captures(&folder).len(), 0);
    let told = recorder.remarks.lines().join("");
    assert!(told.contains("cannot be written"), "{told}");
    disk.make_room();
    (0..3).for_each(|_| course.next(&mut recorder, true, None));
    assert_eq!(count(&folder, 0, CaptureReason::Alarm), 1);
    assert!(recorder.remarks.lines().is_empty(), "{:?}", recorder.remarks.lines());
    // a disk that was just full is not written in vain, and who asks is told
    recorder.points[0].disk_from = Some(Instant::now() + DISK_PAUSE);
    assert_eq!(course.demand(&mut recorder), Demanded::NoDisk);
}

/// One bearing whose alarm stands, with names that flip and demands, does not keep the folder: the
/// capture of its rise and the newest three stay, and the next bearing's alarm has room.
#[test]
fn a_standing_alarm_keeps_its_rise_and_the_newest_and_leaves_room_for_others() {
    let folder = tempfile::tempdir().expect("folder");
    // each capture has 3 s × 1 kHz × 4 bytes, and room for heads is reckoned with 10 kB: some ten
    // fit
    let small =
        CaptureSettings { most_disk_bytes: 150_000, per_hour: 3600, ..settings(folder.path()) };
    let mut recorder = recorder(small, 2);
    let mut first = Course { at: 0, second: 0 };
    (0..3).for_each(|_| first.next(&mut recorder, false, None));
    for n in 0..30 {
        let fault = if n % 2 == 0 { Fault::OuterRace } else { Fault::InnerRace };
        first.next(&mut recorder, true, if n == 0 { None } else { Some(fault) });
        first.demand(&mut recorder);
    }
    assert_eq!(count(folder.path(), 0, CaptureReason::Alarm), 1, "its rise stays");
    assert!(count(folder.path(), 0, CaptureReason::Name) >= 3);
    let mut second = Course { at: 1, second: 0 };
    (0..3).for_each(|_| second.next(&mut recorder, false, None));
    second.next(&mut recorder, true, None);
    for n in 0..30 {
        let fault = if n % 2 == 0 { Fault::OuterRace } else { Fault::InnerRace };
        second.next(&mut recorder, true, Some(fault));
    }
    for at in [0, 1] {
        assert_eq!(count(folder.path(), at, CaptureReason::Alarm), 1, "the rise of {at}");
    }
    assert_eq!(count(folder.path(), 0, CaptureReason::Name), 3, "the newest three");
    assert_eq!(count(folder.path(), 0, CaptureReason::Demand), 0, "demands leave");
    // after a start the alarm that stands has its capture, and is owed none
    let again = recorder.captures().to_vec();
    assert!(standing::has_rise(&again, &point(0)) && standing::has_rise(&again, &point(1)));
}

/// Blocks that come while one capture is written are taken into the rings before the next one is
/// written.
#[test]
fn what_comes_while_a_file_is_written_is_taken_in_before_the_next() {
    const POINTS: usize = 8;
    let folder = tempfile::tempdir().expect("folder");
    let mut recorder = recorder(settings(folder.path()), POINTS);
    let inbox = Inbox::new();
    let push = |second: u64| {
        for at in 0..POINTS {
            assert!(inbox.push(8 * RATE_HZ as usize, block(at, second), false));
        }
    };
    push(0);
    for _ in 0..POINTS {
        assert!(recorder.step(&inbox));
    }
    for at in 0..POINTS {
        assert_eq!(recorder.demanded(&format!("P-{at}/DE"), AskedBy::default()), Demanded::Taken);
    }
    let mut written = 0;
    for second in 1..40 {
        // as during the writing of one file
        push(second);
        let mut steps = 0;
        while inbox.waiting() > 0 {
            assert!(recorder.step(&inbox));
            steps += 1;
        }
        let now = captures(folder.path()).len();
        assert!(now <= written + 2, "{} files were written in {steps} messages", now - written);
        written = now;
    }
    assert_eq!(written, POINTS, "and all are written");
    assert!(recorder.points.iter().all(|state| state.ring.end() == 40 * RATE_HZ));
}
