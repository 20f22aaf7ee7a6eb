//! Claims about LVM files in the forms that LabVIEW writes (issue 32, point 3).

use std::io::Cursor;

use proptest::prelude::*;

use super::*;

/// A file of two channels with these settings, and rows.
fn file(settings: &str, head: &str, rows: &str) -> String {
    format!(
        "LabVIEW Measurement\t\nWriter_Version\t2\n{settings}Time_Pref\tAbsolute\n\
         ***End_of_Header***\t\n\t\nChannels\t2\t\t\t\n{head}***End_of_Header***\t\t\t\n{rows}"
    )
}

fn opened(text: &str) -> Result<RawRecording, SourceError> {
    open(Path::new("t.lvm"), Cursor::new(text.as_bytes()), &RecordingOptions::default())
}

fn data(mut recording: RawRecording) -> ndarray::Array2<f64> {
    recording.reader.next_snapshot().expect("readable").expect("one")
}

const NO_TIME: &str = "Separator\tTab\nDecimal_Separator\t,\nX_Columns\tNo\n";
const HEAD: &str = "Samples\t3\t3\t\nY_Unit_Label\tNewtons\tm/s^2\t\nX_Dimension\tTime\tTime\t\n\
                    Delta_X\t3,90625E-4\t3,90625E-4\t\n";

#[test]
fn a_file_without_times_has_units_and_step_in_its_header() {
    let rows = "X_Value\tHammer\tResponse\tComment\n\t0,5\t1,25\n\t-0,5\t1,5\tlost\n\t0,75\t2\n\n";
    let recording = opened(&file(NO_TIME, HEAD, rows)).expect("valid");
    assert_eq!(recording.channels[1].name.as_deref(), Some("Response"));
    assert_eq!(recording.channels[1].unit.as_deref(), Some("m/s^2"));
    assert_eq!(recording.stated_rate_hz, Some(2560.0));
    assert_eq!(data(recording), ndarray::arr2(&[[0.5, -0.5, 0.75], [1.25, 1.5, 2.0]]));
}

#[test]
fn rows_without_the_empty_first_field_are_read_too() {
    let rows = "X_Value\tA\tB\tComment\n0,5\t1,25\n-0,5\t1,5\n";
    let recording = opened(&file(NO_TIME, HEAD, rows)).expect("valid");
    assert_eq!(data(recording), ndarray::arr2(&[[0.5, -0.5], [1.25, 1.5]]));
}

#[test]
fn a_column_of_times_for_each_channel_is_no_channel() {
    let settings = "Separator\tTab\nDecimal_Separator\t.\nX_Columns\tMulti\n";
    let head =
        "Y_Unit_Label\tVolts\t\tg\t\nX_Dimension\tTime\t\tTime\t\nDelta_X\t0.001\t\t0.001\t\n";
    let rows =
        "X_Value\tVoltage\tX_Value\tAcceleration\tComment\n0\t1.5\t0\t-1\n0.001\t2\t0.001\t-2\n";
    let recording = opened(&file(settings, head, rows)).expect("valid");
    let units: Vec<_> =
        recording.channels.iter().map(|c| c.unit.clone().expect("stated")).collect();
    assert_eq!((units, recording.stated_rate_hz), (vec!["Volts".into(), "g".into()], Some(1000.0)));
    assert_eq!(data(recording), ndarray::arr2(&[[1.5, 2.0], [-1.0, -2.0]]));
}

#[test]
fn empty_columns_are_left_out_and_commas_may_separate() {
    let settings = "Separator,Comma\nX_Columns,One\n";
    let text = file(settings, "", "X_Value,A,B,Comment\n0.0,,1.5\n0.5,,2.5,OK\n")
        .replace("Channels\t2\t\t\t", "Channels,2,,,");
    let recording = opened(&text).expect("valid");
    assert_eq!(recording.channels[0].name.as_deref(), Some("B"));
    assert_eq!(data(recording), ndarray::arr2(&[[1.5, 2.5]]));
}

/// A step of 1 in the header beside times that say otherwise: the times are right.
#[test]
fn a_column_of_times_decides_over_the_step_of_the_header() {
    let settings = "X_Columns\tOne\n";
    let rows: Vec<String> =
        (0..16).map(|n| format!("{}\t{}\t1\n", f64::from(n) / 2560.0, n % 3)).collect();
    let text = file(settings, "Delta_X\t1.0\t1.0\t\n", &rows.concat());
    assert_eq!(opened(&text).expect("valid").stated_rate_hz, Some(2560.0));
    let uneven = text.replace("0.0015625", "0.1");
    assert_eq!(opened(&uneven).expect("valid").stated_rate_hz, None);
}

#[test]
fn segments_of_one_form_are_snapshots_and_others_are_refused() {
    let names = "X_Value\tA\tB\tComment\n";
    let segment = |rows: &str| format!("Channels\t2\t\n{HEAD}***End_of_Header***\n{names}{rows}\n");
    let first = file(NO_TIME, HEAD, &format!("{names}\t1\t2\n\t3\t4\n\n"));
    let mut recording = opened(&format!("{first}{}", segment("\t5\t6\n\t7\t8\n"))).expect("valid");
    assert_eq!(recording.snapshots, 2);
    recording.reader.next_snapshot().expect("readable").expect("first");
    assert_eq!(data(recording), ndarray::arr2(&[[5.0, 7.0], [6.0, 8.0]]));
    let error = opened(&format!("{first}{}", segment("\t5\t6\n\t7\t8\n\t9\t1\n")))
        .err()
        .expect("another form");
    assert!(error.to_string().contains("segment 1"), "{error}");
}

#[test]
fn what_is_no_number_is_told_with_its_line_and_column() {
    let text = file(NO_TIME, HEAD, "X_Value\tA\tB\n\t1\tx9\n");
    let error = opened(&text).err().expect("refused").to_string();
    assert!(error.contains("column 3: \"x9\" is no number"), "{error}");
}

/// Some programs write the header of the file alone.
#[test]
fn names_below_the_only_header_are_a_table() {
    let rows = "Time\tA\tB\n0.000\t0.5\t1\n0.001\t0.25\t2\n0.002\t0.75\t3\n";
    let head = "LabVIEW Measurement\nSeparator\tTab\n***End_of_Header***\t\n";
    let recording = opened(&format!("{head}{rows}")).expect("valid");
    let names: Vec<_> = recording.channels.iter().filter_map(|c| c.name.as_deref()).collect();
    assert_eq!(names, ["A", "B"], "and a time");
    assert_eq!(recording.samples, 3);
}

/// The column of X rises, but not evenly, whatever `Delta_X` states.
#[test]
fn times_without_an_even_step_give_no_rate_and_are_told() {
    let rows: Vec<String> = (0..20).map(|n| format!("{}\t{n}.5\t1\n", n * n)).collect();
    let rows = rows.concat();
    let head = NO_TIME.replace("X_Columns\tNo", "X_Columns\tOne");
    assert_ne!(head, NO_TIME);
    let recording = opened(&file(&head, HEAD, &format!("X_Value\tA\tB\n{rows}"))).expect("valid");
    assert_eq!(recording.stated_rate_hz, None);
    assert!(recording.notes[0].contains("gives no rate"), "{:?}", recording.notes);
}

#[test]
fn a_spectrum_is_refused_by_name() {
    let head = HEAD.replace("Time\tTime", "Frequency\tFrequency");
    let error = opened(&file(NO_TIME, &head, "\t1\t2\n\t3\t4\n")).err().expect("refused");
    assert!(error.to_string().contains("spectrum"), "{error}");
}

#[test]
fn a_file_that_ends_in_its_header_is_told() {
    let whole = file(NO_TIME, HEAD, "\t1\t2\n\t3\t4\n");
    for cut in [20, 120, 250] {
        assert!(opened(&whole[..cut]).is_err(), "{cut}");
    }
}

proptest! {
    #[test]
    fn arbitrary_damage_never_panics(at in 0usize..400, byte in any::<u8>(), cut in 0usize..500) {
        let mut bytes = file(NO_TIME, HEAD, "X_Value\tA\tB\n\t1,5\t2\n\t3\t4\n").into_bytes();
        if let Some(old) = bytes.get_mut(at) {
            *old = byte;
        }
        bytes.truncate(cut);
        let _ = open(Path::new("t.lvm"), Cursor::new(bytes), &RecordingOptions::default());
    }
}

/// R-EDGE-4: a file that ends early is told, and its segments may go on in their times.
#[test]
fn a_channel_with_fewer_samples_than_its_header_announces_is_told() {
    let rows = "X_Value\tA\tB\tComment\n\t0,5\t1,25\n\t-0,5\t1,5\n";
    let recording = opened(&file(NO_TIME, HEAD, rows)).expect("read");
    let told = recording.notes.iter().any(|note| note.contains("3 samples, 2 are there"));
    assert!(told, "{:?}", recording.notes);
}

#[test]
fn segments_whose_times_go_on_are_of_one_rate_and_others_are_told_by_what_differs() {
    let head = "Channels\t1\t\nSamples\t40\t\nDate\t2026/02/03\t\nTime\t04:05:06.7890123456789\t\n\
                Y_Unit_Label\tg\t\nDelta_X\t0.000390625\t\n***End_of_Header***\t\t\n\
                X_Value\tpump\tComment\n";
    let rows = |from: usize, count: usize| -> String {
        (from..from + count)
            .map(|n| format!("{:.6}\t{:.4}\n", n as f64 * 0.000_390_625, (n as f64).sin()))
            .collect::<Vec<_>>()
            .concat()
    };
    let start = "LabVIEW Measurement\t\nSeparator\tTab\nDecimal_Separator\t.\nX_Columns\tOne\n\
                 ***End_of_Header***\t\n\n";
    let two = |count: usize| format!("{start}{head}{}\n{head}{}", rows(0, 40), rows(40, count));
    let recording = opened(&two(40)).expect("one form");
    assert_eq!(recording.snapshots, 2);
    let at = recording.stated_start.expect("a start").to_string();
    assert!(at.starts_with("2026-02-03T04:05:06.789") && recording.is_start_local, "{at}");
    let Err(error) = opened(&two(30)) else { panic!("two lengths") };
    assert!(error.to_string().contains("has 30 samples, the first has 40 samples"), "{error}");
}
