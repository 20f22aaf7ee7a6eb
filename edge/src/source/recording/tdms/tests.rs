//! Claims about TDMS files in the forms that LabVIEW and DAQmx write, built byte by byte (issue 32,
//! point 3).

use std::io::Cursor;

use proptest::prelude::*;

use super::*;

const META: u32 = 1 << 1;
const NEW_LIST: u32 = 1 << 2;
const RAW: u32 = 1 << 3;
const INTERLEAVED: u32 = 1 << 5;
const BIG_ENDIAN: u32 = 1 << 6;
const DAQMX: u32 = 1 << 7;

/// Writes in one byte order.
struct Writer(bool, Vec<u8>);

impl Writer {
    fn put(mut self, raw: &[u8]) -> Self {
        if self.0 {
            self.1.extend(raw.iter().rev());
        } else {
            self.1.extend(raw);
        }
        self
    }

    fn u32(self, number: u32) -> Self {
        self.put(&number.to_le_bytes())
    }

    fn u64(self, number: u64) -> Self {
        self.put(&number.to_le_bytes())
    }

    fn f64(self, number: f64) -> Self {
        self.put(&number.to_le_bytes())
    }

    fn text(self, text: &str) -> Self {
        let mut writer = self.u32(u32::try_from(text.len()).expect("short"));
        writer.1.extend(text.as_bytes());
        writer
    }

    fn property(self, name: &str, number: f64) -> Self {
        self.text(name).u32(10).f64(number)
    }

    fn text_property(self, name: &str, value: &str) -> Self {
        self.text(name).u32(0x20).text(value)
    }

    /// An object of numbers of this type; properties follow.
    fn object(self, path: &str, code: u32, count: u64, properties: u32) -> Self {
        self.text(path).u32(20).u32(code).u32(1).u64(count).u32(properties)
    }
}

fn little() -> Writer {
    Writer(false, Vec::new())
}

fn segment(toc: u32, meta: &[u8], raw: &[u8]) -> Vec<u8> {
    let is_big = toc & BIG_ENDIAN != 0;
    let mut bytes = MAGIC.to_vec();
    bytes.extend(toc.to_le_bytes());
    let lead = Writer(is_big, Vec::new())
        .u32(4713)
        .u64((meta.len() + raw.len()) as u64)
        .u64(meta.len() as u64);
    [bytes, lead.1, meta.to_vec(), raw.to_vec()].concat()
}

fn raw_i16(numbers: &[i16], is_big: bool) -> Vec<u8> {
    let raw = |n: &i16| if is_big { n.to_be_bytes() } else { n.to_le_bytes() };
    numbers.iter().flat_map(raw).collect()
}

fn opened(bytes: &[u8]) -> Result<RawRecording, SourceError> {
    open(Path::new("t.tdms"), Cursor::new(bytes), None)
}

fn data(bytes: &[u8]) -> ndarray::Array2<f64> {
    opened(bytes).expect("valid").reader.next_snapshot().expect("readable").expect("one")
}

fn refused(bytes: &[u8]) -> String {
    opened(bytes).err().expect("refused").to_string()
}

/// Two channels of 16-bit numbers, two in a chunk.
fn two_channels(is_big: bool) -> Vec<u8> {
    let writer = Writer(is_big, Vec::new()).u32(2);
    writer.object("/'g'/'x'", 2, 2, 0).object("/'g'/'y'", 2, 2, 0).1
}

#[test]
fn increment_unit_and_start_are_rate_unit_and_time() {
    let meta = little()
        .u32(1)
        .object("/'run'/'acc''1'", 10, 3, 3)
        .property("wf_increment", 1.0 / 2560.0)
        .text_property("unit_string", "m/s^2")
        .text("wf_start_time")
        .u32(0x44)
        .u64(1 << 63)
        .u64(2_082_844_800 + 1_700_000_000)
        .1;
    let raw = little().f64(1.0).f64(-2.0).f64(3.5).1;
    let recording = opened(&segment(META | NEW_LIST | RAW, &meta, &raw)).expect("valid");
    assert_eq!(recording.channels[0].name.as_deref(), Some("acc'1"));
    assert_eq!(recording.channels[0].unit.as_deref(), Some("m/s^2"));
    assert_eq!(recording.channels[0].encoding, NumberEncoding::Real);
    assert_eq!(recording.stated_rate_hz, Some(2560.0));
    let start = pdm_shared::time::Timestamp::from_unix_ms(1_700_000_000_500);
    assert_eq!(recording.stated_start, start);
}

/// A time of 16 bytes, little-endian: a fraction of 2^64 before the seconds since 1904.
fn time(writer: Writer, ms: u64) -> Writer {
    let fraction = ((ms % 1000) as f64 / 1000.0 * 2f64.powi(64)) as u64;
    writer.u64(fraction).u64(2_082_844_800 + ms / 1000)
}

/// LabVIEW writes clusters of a time and its samples; one of the two comes interleaved.
#[test]
fn a_channel_of_times_gives_rate_and_start_and_is_no_channel() {
    let count = 16u64;
    for is_interleaved in [false, true] {
        let meta = little()
            .u32(2)
            .object("/'g'/'Timestamp'", 0x44, count, 0)
            .object("/'g'/'x'", 10, count, 0)
            .1;
        let sample = |n: u64| (n as f64 * 0.7).sin();
        let raw = if is_interleaved {
            let row = |writer, n| time(writer, 1_700_000_000_250 + n).f64(sample(n));
            (0..count).fold(little(), row).1
        } else {
            let times = (0..count).fold(little(), |w, n| time(w, 1_700_000_000_250 + n));
            (0..count).fold(times, |w, n| w.f64(sample(n))).1
        };
        let more = if is_interleaved { INTERLEAVED } else { 0 };
        let recording = opened(&segment(META | NEW_LIST | RAW | more, &meta, &raw)).expect("valid");
        assert_eq!(recording.channels.len(), 1);
        assert_eq!(recording.channels[0].name.as_deref(), Some("x"));
        let rate = recording.stated_rate_hz.expect("a rate");
        assert!((rate - 1000.0).abs() < 0.1, "{rate}");
        let start = pdm_shared::time::Timestamp::from_unix_ms(1_700_000_000_250);
        assert_eq!((recording.stated_start, recording.is_start_local), (start, false));
        assert_eq!(recording.start_origin.as_deref(), Some("the times of g/Timestamp"));
    }
}

/// npTDMS and DIAdem count the offset of the first sample from the start; group and file state it
/// for all.
#[test]
fn an_offset_of_the_first_sample_is_added_and_the_group_or_the_file_may_state_the_start() {
    let start_of = |path: &str, name: &str, offset: bool| {
        let object = little().u32(2).text(path).u32(u32::MAX).u32(if offset { 2 } else { 1 });
        let object = time(object.text(name).u32(0x44), 1_700_000_000_000);
        let object = if offset { object.property("wf_start_offset", 1.5) } else { object };
        let meta = object.object("/'g'/'x'", 2, 2, 0).1;
        let bytes = segment(META | NEW_LIST | RAW, &meta, &raw_i16(&[1, 2], false));
        let recording = opened(&bytes).expect("valid");
        let ms = recording.stated_start.expect("a start").unix_ms() - 1_700_000_000_000;
        (ms, recording.start_origin.expect("told"))
    };
    assert_eq!(start_of("/'g'", "wf_start_time", true), (1500, "wf_start_time".to_owned()));
    assert_eq!(start_of("/", "wf_start_time", false), (0, "wf_start_time".to_owned()));
    assert_eq!(
        start_of("/", "DateTime", false),
        (0, "the property DateTime of the file".to_owned())
    );
}

#[test]
fn chunks_in_turn_and_interleaved_are_taken_apart_in_both_orders() {
    for is_big in [false, true] {
        let order = if is_big { BIG_ENDIAN } else { 0 };
        let meta = two_channels(is_big);
        let in_turn = raw_i16(&[1, 2, -5, -6, 3, 4, -7, -8], is_big);
        let expected = ndarray::arr2(&[[1.0, 2.0, 3.0, 4.0], [-5.0, -6.0, -7.0, -8.0]]);
        let toc = META | NEW_LIST | RAW | order;
        assert_eq!(data(&segment(toc, &meta, &in_turn)), expected);
        let mixed = raw_i16(&[1, -5, 2, -6, 3, -7, 4, -8], is_big);
        let bytes = segment(toc | INTERLEAVED, &meta, &mixed);
        assert_eq!(data(&bytes), expected);
        let encoding = opened(&bytes).expect("valid").channels[0].encoding;
        assert_eq!(encoding, NumberEncoding::Counts { bits: 16 });
    }
}

/// Metadata is incremental: none, a layout that repeats, a new list.
#[test]
fn segments_repeat_change_and_replace_the_list_of_objects() {
    let first =
        segment(META | NEW_LIST | RAW, &two_channels(false), &raw_i16(&[1, 2, 5, 6], false));
    let same = segment(RAW, &[], &raw_i16(&[3, 4, 7, 8], false));
    let repeats = little().u32(2).text("/'g'/'x'").u32(0).u32(0).text("/'g'/'y'").u32(0).u32(0).1;
    let again = segment(META | RAW, &repeats, &raw_i16(&[9, 10, 11, 12], false));
    let bytes = [first.clone(), same, again].concat();
    let expected =
        ndarray::arr2(&[[1.0, 2.0, 3.0, 4.0, 9.0, 10.0], [5.0, 6.0, 7.0, 8.0, 11.0, 12.0]]);
    assert_eq!(data(&bytes), expected);
    let without_y = little().u32(1).text("/'g'/'y'").u32(u32::MAX).u32(0).1;
    let only_x = segment(META | RAW, &without_y, &raw_i16(&[3, 4, 5, 6, 7, 8, 9, 0], false));
    let new_list = little().u32(1).object("/'g'/'y'", 2, 1, 0).1;
    let only_y =
        segment(META | NEW_LIST | RAW, &new_list, &raw_i16(&[1, 2, 3, 4, 5, 6, 7, 8], false));
    let bytes = [first, only_x, only_y].concat();
    assert_eq!(data(&bytes).dim(), (2, 10));
}

#[test]
fn a_file_of_a_stopped_program_is_read_as_far_as_it_is_there() {
    let mut bytes =
        segment(META | NEW_LIST | RAW, &two_channels(false), &raw_i16(&[1, 2, 5, 6, 3], false));
    bytes[12..20].copy_from_slice(&[0xff; 8]);
    assert_eq!(data(&bytes), ndarray::arr2(&[[1.0, 2.0], [5.0, 6.0]]));
    let meta_cut = &segment(META | NEW_LIST | RAW, &two_channels(false), &[])[..60];
    assert!(refused(meta_cut).contains("truncated"));
}

/// One card of 16-bit converters: frames of two channels, a linear scale from a scaler.
fn daqmx(scale: impl Fn(Writer) -> Writer, properties: u32) -> Vec<u8> {
    let channel = |writer: Writer, path: &str, offset: u32| {
        let writer = writer.text(path).u32(0x1269).u32(u32::MAX).u32(1).u64(2).u32(1);
        let writer = writer.u32(3).u32(0).u32(offset).u32(0).u32(0);
        scale(writer.u32(1).u32(4).u32(properties))
    };
    let meta = channel(channel(little().u32(2), "/'g'/'x'", 0), "/'g'/'y'", 2).1;
    segment(
        META | NEW_LIST | RAW | INTERLEAVED | DAQMX,
        &meta,
        &raw_i16(&[10, -20, 30, -40], false),
    )
}

#[test]
fn raw_data_of_a_card_is_scaled_as_the_file_states() {
    let linear = |writer: Writer| {
        writer
            .property("NI_Number_Of_Scales", 2.0)
            .text_property("NI_Scale[1]_Scale_Type", "Linear")
            .property("NI_Scale[1]_Linear_Slope", 0.5)
            .property("NI_Scale[1]_Linear_Y_Intercept", 1.0)
            .property("NI_Scale[1]_Linear_Input_Source", 0.0)
    };
    let bytes = daqmx(linear, 5);
    assert_eq!(data(&bytes), ndarray::arr2(&[[6.0, 16.0], [-9.0, -19.0]]));
    assert_eq!(opened(&bytes).expect("valid").channels[0].encoding, NumberEncoding::Real);
    let polynomial = |writer: Writer| {
        writer
            .property("NI_Number_Of_Scales", 2.0)
            .text_property("NI_Scale[1]_Scale_Type", "Polynomial")
            .property("NI_Scale[1]_Polynomial_Coefficients_Size", 3.0)
            .property("NI_Scale[1]_Polynomial_Coefficients[0]", 1.0)
            .property("NI_Scale[1]_Polynomial_Coefficients[1]", 0.0)
            .property("NI_Scale[1]_Polynomial_Coefficients[2]", 2.0)
            .property("NI_Scale[1]_Polynomial_Input_Source", 0.0)
    };
    assert_eq!(data(&daqmx(polynomial, 7)), ndarray::arr2(&[[201.0, 1801.0], [801.0, 3201.0]]));
}

#[test]
fn raw_data_of_a_card_without_scales_is_counts() {
    let bytes = daqmx(|writer| writer, 0);
    assert_eq!(data(&bytes), ndarray::arr2(&[[10.0, 30.0], [-20.0, -40.0]]));
    let encoding = opened(&bytes).expect("valid").channels[1].encoding;
    assert_eq!(encoding, NumberEncoding::Counts { bits: 16 });
}

/// The numbers without the scale would be wrong in silence.
#[test]
fn scales_that_are_not_applied_are_refused_by_name() {
    let thermocouple = |writer: Writer| {
        writer
            .property("NI_Number_Of_Scales", 2.0)
            .text_property("NI_Scale[1]_Scale_Type", "Thermocouple")
    };
    assert!(refused(&daqmx(thermocouple, 2)).contains("Thermocouple"));
    let circle = |writer: Writer| {
        writer
            .property("NI_Number_Of_Scales", 2.0)
            .text_property("NI_Scale[1]_Scale_Type", "Add")
            .property("NI_Scale[1]_Add_Left_Operand_Input_Source", 1.0)
            .property("NI_Scale[1]_Add_Right_Operand_Input_Source", 1.0)
    };
    assert!(refused(&daqmx(circle, 4)).contains("circle"));
}

#[test]
fn numbers_that_the_writer_has_scaled_are_left_as_they_are() {
    let meta = little()
        .u32(1)
        .object("/'g'/'x'", 2, 2, 4)
        .text_property("NI_Scaling_Status", "unscaled")
        .text_property("NI_Scale[0]_Scale_Type", "Linear")
        .property("NI_Scale[0]_Linear_Slope", 10.0)
        .property("NI_Scale[0]_Linear_Y_Intercept", 0.0)
        .1;
    let bytes = segment(META | NEW_LIST | RAW, &meta, &raw_i16(&[1, 2], false));
    assert_eq!(data(&bytes), ndarray::arr2(&[[10.0, 20.0]]));
    let at = bytes.windows(8).position(|w| w == b"unscaled").expect("there");
    let mut scaled = bytes;
    // a shorter value, and the name that follows is shifted with the metadata's length
    scaled.splice(at - 4..at + 8, [6, 0, 0, 0].into_iter().chain(*b"scaled"));
    scaled[12] -= 2;
    scaled[20] -= 2;
    assert_eq!(data(&scaled), ndarray::arr2(&[[1.0, 2.0]]));
}

#[test]
fn channels_of_other_things_than_numbers_are_refused_by_name() {
    let meta = little().u32(1).text("/'g'/'t'").u32(20).u32(0x44).u32(1).u64(2).u32(0).1;
    let error = refused(&segment(META | NEW_LIST | RAW, &meta, &[0; 32]));
    assert!(error.contains("g/t (times)"), "{error}");
}

/// An announced count costs nothing.
#[test]
fn counts_that_are_announced_are_not_reserved() {
    let meta = little().u32(1).object("/'g'/'x'", 10, u64::MAX / 16, 0).1;
    let bytes = segment(META | NEW_LIST | RAW, &meta, &[0; 16]);
    assert_eq!(data(&bytes).dim(), (1, 2));
    let meta = little().u32(u32::MAX).1;
    assert!(refused(&segment(META | NEW_LIST, &meta, &[])).contains("truncated"));
}

proptest! {
    #[test]
    fn arbitrary_damage_never_panics(
        at in 4usize..400, byte in any::<u8>(), cut in 0usize..500, is_card in any::<bool>()
    ) {
        let mut bytes = if is_card {
            daqmx(|writer| writer.property("NI_Number_Of_Scales", 2.0), 1)
        } else {
            segment(META | NEW_LIST | RAW, &two_channels(false), &raw_i16(&[1, 2, 5, 6], false))
        };
        if let Some(old) = bytes.get_mut(at) {
            *old = byte;
        }
        bytes.truncate(cut);
        let _ = opened(&bytes);
    }
}
