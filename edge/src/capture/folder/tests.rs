//! Claims about the folder: whole or not there, bounded, oldest first, what is kept stays.

use pdm_shared::capture::{CAPTURE_SCHEMA, CaptureTrigger};
use pdm_shared::id::EventId;
use pdm_shared::time::Timestamp;

use super::*;

struct Standing(Vec<EventId>);

impl Kept for Standing {
    fn is_of_standing_alarm(&self, capture: &StoredCapture) -> bool {
        self.0.contains(&capture.document.capture_id)
    }
}

const NOBODY: Standing = Standing(Vec::new());

fn document(n: i64, reason: CaptureReason) -> CaptureDocument {
    let text = include_str!("../../../../config/examples/capture.json");
    let mut document: CaptureDocument = serde_json::from_str(text).expect("the example");
    let at = Timestamp::from_unix_ms(1_700_000_000_000 + n * 1000).expect("valid");
    document.capture_id = EventId::at(at.unix_ms());
    document.started_at = at;
    document.triggers =
        vec![CaptureTrigger { reason, at, event_id: None, asked_at: None, demand_id: None }];
    (document.samples, document.window.first_sample, document.window.samples) = (50_000, 0, 50_000);
    document
}

fn save(folder: &mut Folder, n: i64, reason: CaptureReason, kept: &Standing) -> EventId {
    let document = document(n, reason);
    let stored = folder.save(document, &vec![n as f32; 50_000], kept).expect("saved");
    assert_eq!(sha256_of(&stored.wav()).expect("there"), stored.document.file.sha256);
    stored.document.capture_id
}

fn ids(folder: &Path) -> Vec<EventId> {
    let (captures, unread) = list(folder).expect("lists");
    assert!(unread.is_empty(), "{unread:?}");
    captures.into_iter().map(|capture| capture.document.capture_id).collect()
}

#[test]
fn the_oldest_leave_and_references_and_standing_alarms_stay() {
    let path = tempfile::tempdir().expect("folder");
    // each capture has 0.2 MB: four fit
    let mut folder = Folder::open(path.path(), 900_000).expect("opens");
    let first = save(&mut folder, 0, CaptureReason::Reference, &NOBODY);
    let alarm = save(&mut folder, 1, CaptureReason::Alarm, &NOBODY);
    let second = save(&mut folder, 2, CaptureReason::Reference, &NOBODY);
    let standing = Standing(vec![alarm]);
    for n in 3..10 {
        save(&mut folder, n, CaptureReason::Name, &standing);
    }
    let left = ids(path.path());
    assert!(left.len() == 4 && left.starts_with(&[first, alarm, second]), "{left:?}");
    // a third reference makes the second one ordinary
    let third = save(&mut folder, 10, CaptureReason::Reference, &standing);
    save(&mut folder, 11, CaptureReason::Name, &standing);
    let left = ids(path.path());
    assert!(left.contains(&first) && left.contains(&third) && !left.contains(&second));
    // the alarm is over
    save(&mut folder, 12, CaptureReason::Name, &NOBODY);
    assert!(!ids(path.path()).contains(&alarm));
}

#[test]
fn a_capture_without_room_is_refused_and_nothing_is_removed_for_it() {
    let path = tempfile::tempdir().expect("folder");
    let mut folder = Folder::open(path.path(), 500_000).expect("opens");
    let alarm = save(&mut folder, 0, CaptureReason::Alarm, &NOBODY);
    let other = save(&mut folder, 1, CaptureReason::Name, &NOBODY);
    let standing = Standing(vec![alarm, other]);
    let refused = folder.save(document(2, CaptureReason::Name), &vec![0.0; 50_000], &standing);
    assert!(matches!(refused, Err(CaptureError::NoRoom { .. })), "{refused:?}");
    assert_eq!(ids(path.path()), [alarm, other]);
}

/// Others fill the disk below the bound: the oldest capture leaves for the new one, as at the
/// bound; one that is kept does not.
#[test]
fn a_disk_that_is_full_below_the_bound_makes_room_as_at_the_bound() {
    let name = "a_disk_that_is_full_below_the_bound";
    let Some(disk) = pdm_harness::SmallDisk::mount(name, 2) else { return };
    let path = disk.path().join("captures");
    let mut folder = Folder::open(&path, 100_000_000).expect("opens");
    let alarm = save(&mut folder, 0, CaptureReason::Alarm, &NOBODY);
    let old = save(&mut folder, 1, CaptureReason::Demand, &NOBODY);
    disk.fill();
    let standing = Standing(vec![alarm]);
    let new = save(&mut folder, 2, CaptureReason::Alarm, &standing);
    assert_eq!(ids(&path), [alarm, new], "{old} left");
    let standing = Standing(vec![alarm, new]);
    let full = folder.save(document(3, CaptureReason::Demand), &vec![0.0; 50_000], &standing);
    assert!(matches!(full, Err(CaptureError::Disk { .. })), "{full:?}");
    assert_eq!(ids(&path), [alarm, new], "nothing is removed in vain");
    let files = fs::read_dir(&path).expect("reads").count();
    assert_eq!(files, 4, "nothing half written");
}

#[test]
fn what_a_kill_left_behind_is_completed_or_removed_and_files_of_others_stay() {
    let path = tempfile::tempdir().expect("folder");
    let mut folder = Folder::open(path.path(), 10_000_000).expect("opens");
    let whole = save(&mut folder, 0, CaptureReason::Alarm, &NOBODY);
    let nameless = save(&mut folder, 1, CaptureReason::Alarm, &NOBODY);
    let document = folder.captures()[1].path.clone();
    // killed between the two names
    fs::rename(&document, document.with_extension("json.tmp")).expect("renames");
    fs::write(path.path().join("half_1f2a77e1.wav.tmp"), b"RIFF").expect("writes");
    fs::write(path.path().join("half_1f2a77e1.json.tmp"), b"{").expect("writes");
    fs::write(path.path().join("own.wav"), b"mine").expect("writes");
    fs::write(path.path().join("notes.tmp"), b"mine").expect("writes");
    fs::create_dir(path.path().join("folder.tmp")).expect("makes");
    fs::write(path.path().join("own.json"), b"{\"a\": 1}").expect("writes");
    let folder = Folder::open(path.path(), 10_000_000).expect("opens");
    let found: Vec<EventId> =
        folder.captures().iter().map(|capture| capture.document.capture_id).collect();
    assert_eq!(found, [whole, nameless]);
    let left = fs::read_dir(path.path()).expect("reads").flatten();
    let left: Vec<PathBuf> = left.map(|entry| entry.path()).collect();
    let of_ours = |path: &&PathBuf| path.to_string_lossy().contains("half_1f2a77e1");
    assert!(left.iter().find(of_ours).is_none(), "{left:?}");
    assert!(path.path().join("notes.tmp").is_file() && path.path().join("folder.tmp").is_dir());
    assert!(path.path().join("own.wav").is_file() && path.path().join("own.json").is_file());
}

#[test]
fn a_document_that_leads_out_of_the_folder_or_lies_is_refused() {
    let path = tempfile::tempdir().expect("folder");
    let at = path.path().join("x.json");
    let text = include_str!("../../../../config/examples/capture.json");
    for (from, to) in [
        ("\"P-101_DE_20261121T051011Z_alarm_1f2a77e1.wav\"", "\"../../etc/passwd\""),
        (CAPTURE_SCHEMA, "pdm.capture/9"),
        ("\"samples\": 332800", "\"samples\": 0"),
    ] {
        assert!(text.contains(from), "{from}");
        fs::write(&at, text.replace(from, to)).expect("writes");
        assert!(read_document(&at).is_err(), "{to}");
    }
}
