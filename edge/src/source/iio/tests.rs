//! Claims about IIO devices, with the kernel's files in a temporary folder (R-EDGE-1).

use std::sync::Arc;

use pdm_service::clock::SystemClock;
use proptest::prelude::*;

use super::scan::Layout;
use super::*;

/// A device's folder with the kernel's files, and its character device with `scans`.
fn device(scans: &[u8]) -> (tempfile::TempDir, IioSettings) {
    let root = tempfile::tempdir().expect("folder");
    let folder = root.path().join("iio:device0");
    fs::create_dir_all(folder.join("scan_elements")).expect("made");
    fs::create_dir_all(folder.join("buffer")).expect("made");
    let put = |name: &str, text: &str| fs::write(folder.join(name), text).expect("written");
    put("sampling_frequency", "3200.0\n");
    put("in_accel_scale", "0.5\n");
    put("in_accel_y_scale", "0.25\n");
    put("in_accel_x_offset", "1\n");
    put("buffer/enable", "0\n");
    put("buffer/length", "2\n");
    for (name, index, layout) in [
        ("in_accel_x", "0", "le:s12/16>>4"),
        ("in_accel_y", "1", "be:s32/32>>0"),
        ("in_timestamp", "2", "le:s64/64>>0"),
    ] {
        put(&format!("scan_elements/{name}_en"), "0\n");
        put(&format!("scan_elements/{name}_index"), &format!("{index}\n"));
        put(&format!("scan_elements/{name}_type"), &format!("{layout}\n"));
    }
    let device = root.path().join("dev");
    fs::write(&device, scans).expect("written");
    let settings = IioSettings {
        folder,
        device,
        channels: vec![],
        block_samples: 2,
        trigger: None,
        calibrations: vec![],
    };
    (root, settings)
}

fn host() -> SourceHost {
    SourceHost::alone(Arc::new(SystemClock), "bench")
}

/// x = −3 counts in the upper 12 of 16 bits, two bytes of padding, y = 7 counts, big endian.
fn scan() -> Vec<u8> {
    let mut bytes = (-3i16 << 4).to_le_bytes().to_vec();
    bytes.extend([0xaa, 0xaa]);
    bytes.extend(7i32.to_be_bytes());
    bytes
}

#[test]
fn scans_become_acceleration() {
    let (_root, settings) = device(&[scan(), scan(), scan()].concat());
    let folder = settings.folder.clone();
    let mut source = open_iio(&settings, &host()).expect("opens");
    assert_eq!(source.format().channels, 2);
    let block = source.next_block().expect("readable").expect("there");
    assert_eq!(block.accel_m_s2, ndarray::arr2(&[[-1.0, -1.0], [1.75, 1.75]]));
    let read = |name: &str| fs::read_to_string(folder.join(name)).expect("there");
    assert_eq!(read("scan_elements/in_accel_x_en"), "1");
    assert_eq!(read("scan_elements/in_timestamp_en"), "0");
    assert_eq!((read("buffer/length").as_str(), read("buffer/enable").as_str()), ("8", "1"));
    let error = source.next_block().expect_err("one scan left").to_string();
    assert!(error.contains("no more samples"), "{error}");
    drop(source);
    assert_eq!(read("buffer/enable"), "0");
}

#[test]
fn channels_come_in_the_order_wanted() {
    let (_root, mut settings) = device(&[scan(), scan()].concat());
    settings.channels = vec!["accel_y".to_owned(), "accel_x".to_owned()];
    let mut source = open_iio(&settings, &host()).expect("opens");
    let block = source.next_block().expect("readable").expect("there");
    assert!((block.accel_m_s2[[0, 0]] - 1.75).abs() < 1e-12);
    settings.channels = vec!["accel_z".to_owned()];
    let error = open_iio(&settings, &host()).err().expect("unknown").to_string();
    assert!(error.contains("none of the channels wanted"), "{error}");
}

#[test]
fn a_device_that_is_not_there_is_told_with_its_file() {
    let (_root, mut settings) = device(&[]);
    settings.folder = settings.folder.join("nowhere");
    let error = open_iio(&settings, &host()).err().expect("missing").to_string();
    assert!(error.contains("nowhere/sampling_frequency: no such file"), "{error}");
}

/// BMI323 and BMI270 have the rate beside their channels, and sample by a trigger.
#[test]
fn a_rate_beside_the_channels_and_a_trigger_are_used() {
    let (_root, mut settings) = device(&[scan(), scan()].concat());
    let folder = settings.folder.clone();
    let rate = folder.join("in_accel_sampling_frequency");
    fs::rename(folder.join("sampling_frequency"), rate).expect("renamed");
    fs::create_dir(folder.join("trigger")).expect("made");
    settings.trigger = Some("bmi323-dev0".to_owned());
    let source = open_iio(&settings, &host()).expect("opens");
    assert!((source.format().sample_rate.get() - 3200.0).abs() < 1e-9);
    let set = fs::read_to_string(folder.join("trigger/current_trigger")).expect("written");
    assert_eq!(set, "bmi323-dev0");
}

/// An ADXL1002 is a voltage of a converter, mV a count.
#[test]
fn a_voltage_needs_the_sensitivity_of_its_sensor() {
    let (_root, mut settings) = device(&[20i16, -40].map(i16::to_le_bytes).concat());
    let put =
        |name: &str, text: &str| fs::write(settings.folder.join(name), text).expect("written");
    put("in_voltage_scale", "0.5");
    put("scan_elements/in_voltage0_en", "0");
    put("scan_elements/in_voltage0_index", "0");
    put("scan_elements/in_voltage0_type", "le:s16/16>>0");
    settings.channels = vec!["voltage0".to_owned()];
    let error = open_iio(&settings, &host()).err().expect("refused").to_string();
    assert!(error.contains("sensitivity_mv_per_g"), "{error}");
    let unit = crate::source::AccelUnit::Millivolt { sensitivity_mv_per_g: 10.0 };
    settings.calibrations = vec![Calibration::new(unit, 1.0, 0.0).expect("valid")];
    let block = open_iio(&settings, &host()).expect("opens").next_block().expect("reads");
    let g = block.expect("a block").accel_m_s2 / pdm_shared::units::M_S2_PER_G;
    assert!((g[[0, 0]] - 1.0).abs() < 1e-9 && (g[[0, 1]] + 2.0).abs() < 1e-9, "{g}");
}

proptest! {
    #[test]
    fn any_type_and_any_bytes_get_an_answer(
        text in "(be|le|xe):[su]?[0-9]{0,3}/[0-9]{0,3}(>>[0-9]{0,2})?",
        raw in proptest::collection::vec(any::<u8>(), 0..10)
    ) {
        if let Some(layout) = Layout::parse(&text) {
            let _ = layout.decode(&raw);
        }
    }
}
