//! Claims about WAV files in the forms that recorders write, built byte by byte (issue 32, point
//! 3).

use std::io::Cursor;

use proptest::prelude::*;

use super::*;

const PCM: u16 = 1;
const FLOAT: u16 = 3;

/// A format chunk of 16 bytes.
fn format(tag: u16, channels: u16, container: u16, bits: u16) -> Vec<u8> {
    let mut raw = tag.to_le_bytes().to_vec();
    raw.extend(channels.to_le_bytes());
    raw.extend(25_600u32.to_le_bytes());
    raw.extend((25_600 * u32::from(channels * container)).to_le_bytes());
    raw.extend((channels * container).to_le_bytes());
    raw.extend(bits.to_le_bytes());
    raw
}

/// An extensible format chunk.
fn extensible(tag: u16, channels: u16, container: u16, valid: u16) -> Vec<u8> {
    let mut raw = format(0xfffe, channels, container, 8 * container);
    raw.extend(22u16.to_le_bytes());
    raw.extend(valid.to_le_bytes());
    raw.extend(0u32.to_le_bytes());
    raw.extend(tag.to_le_bytes());
    raw.extend(b"\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71");
    raw
}

fn chunk(id: [u8; 4], content: &[u8]) -> Vec<u8> {
    let mut raw = id.to_vec();
    raw.extend(u32::try_from(content.len()).expect("short").to_le_bytes());
    raw.extend(content);
    raw
}

fn file(chunks: &[Vec<u8>]) -> Vec<u8> {
    let content = chunks.concat();
    let mut raw = b"RIFF".to_vec();
    raw.extend(u32::try_from(content.len() + 4).expect("short").to_le_bytes());
    raw.extend(b"WAVE");
    raw.extend(content);
    raw
}

/// 1, −2, 3, −4 in two channels.
fn four(container: usize, shift: u32) -> Vec<u8> {
    let number = |n: i64| (n << shift).to_le_bytes()[..container].to_vec();
    [1, -2, 3, -4].into_iter().flat_map(number).collect()
}

fn sixteen_bits() -> Vec<u8> {
    file(&[chunk(*b"fmt ", &format(PCM, 2, 2, 16)), chunk(*b"data", &four(2, 0))])
}

fn opened(bytes: &[u8]) -> Result<(Array2<f64>, RawRecording), SourceError> {
    assert!(is_wav(bytes) || bytes.len() < 12, "{:?}", bytes.get(..12));
    let mut raw = open(Path::new("t.wav"), Cursor::new(bytes))?;
    Ok((raw.reader.next_snapshot()?.expect("one snapshot"), raw))
}

fn samples(bytes: &[u8]) -> Array2<f64> {
    opened(bytes).expect("valid").0
}

fn refused(bytes: &[u8]) -> String {
    opened(bytes).err().expect("refused").to_string()
}

fn expected() -> Array2<f64> {
    ndarray::arr2(&[[1.0, 3.0], [-2.0, -4.0]])
}

#[test]
fn channels_are_taken_apart_at_every_width() {
    for container in 2..=8u16 {
        let format = format(PCM, 2, container, 8 * container);
        let bytes = file(&[chunk(*b"fmt ", &format), chunk(*b"data", &four(container.into(), 0))]);
        assert_eq!(samples(&bytes), expected(), "{container} bytes");
    }
    let bytes = [chunk(*b"fmt ", &format(PCM, 2, 1, 8)), chunk(*b"data", &[129, 126, 131, 124])];
    assert_eq!(samples(&file(&bytes)), expected());
}

/// Issue 32, point 3: 24 valid bits in 32 stand left; so do 12 in 16 and 20 in 24.
#[test]
fn samples_aligned_left_are_numbers_of_their_valid_bits() {
    for (container, valid) in [(4u16, 24u16), (3, 20), (2, 12), (8, 53)] {
        let data = four(container.into(), u32::from(8 * container - valid));
        for header in [extensible(PCM, 2, container, valid), format(PCM, 2, container, valid)] {
            let bytes = file(&[chunk(*b"fmt ", &header), chunk(*b"data", &data)]);
            let (data, raw) = opened(&bytes).expect("valid");
            assert_eq!(data, expected(), "{valid} in {container}");
            let encoding = NumberEncoding::Counts { bits: valid.into() };
            assert_eq!(raw.channels[0].encoding, encoding);
        }
    }
}

/// The form that `arecord -f S24_LE` writes: 24 bits, aligned right in 32.
#[test]
fn samples_aligned_right_are_taken_as_they_stand() {
    let data = chunk(*b"data", &four(4, 0));
    assert_eq!(samples(&file(&[chunk(*b"fmt ", &format(PCM, 2, 4, 24)), data])), expected());
}

#[test]
fn floating_point_of_both_widths_is_real() {
    let numbers = [1.0f64, -2.0, 3.0, -4.0];
    let wide: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    let narrow: Vec<u8> = numbers.iter().flat_map(|&n| (n as f32).to_le_bytes()).collect();
    for (container, data) in [(8u16, wide), (4, narrow)] {
        for header in [
            format(FLOAT, 2, container, 8 * container),
            extensible(FLOAT, 2, container, 8 * container),
        ] {
            let fact = chunk(*b"fact", &2u32.to_le_bytes());
            let bytes = file(&[chunk(*b"fmt ", &header), fact, chunk(*b"data", &data)]);
            let (data, raw) = opened(&bytes).expect("valid");
            assert_eq!(data, expected());
            assert_eq!(raw.channels[1].encoding, NumberEncoding::Real);
        }
    }
}

#[test]
fn a_nan_in_a_float_file_is_data() {
    let data: Vec<u8> = [f32::NAN, 0.5].iter().flat_map(|n| n.to_le_bytes()).collect();
    let data = samples(&file(&[chunk(*b"fmt ", &format(FLOAT, 2, 4, 32)), chunk(*b"data", &data)]));
    assert!(data[[0, 0]].is_nan() && data[[1, 0]] > 0.4);
}

#[test]
fn the_rate_is_the_files_own_unless_the_header_contradicts_itself() {
    let (_, raw) = opened(&sixteen_bits()).expect("valid");
    assert_eq!(raw.stated_rate_hz, Some(25_600.0));
    let mut contradicts = sixteen_bits();
    contradicts[24..28].copy_from_slice(&8_000u32.to_le_bytes());
    assert_eq!(opened(&contradicts).expect("valid").1.stated_rate_hz, None);
}

#[test]
fn a_big_endian_file_is_read_in_its_order() {
    let mut format = PCM.to_be_bytes().to_vec();
    format.extend(2u16.to_be_bytes());
    format.extend(8_000u32.to_be_bytes());
    format.extend(32_000u32.to_be_bytes());
    format.extend(4u16.to_be_bytes());
    format.extend(16u16.to_be_bytes());
    let mut bytes = b"RIFX\x00\x00\x00\x2cWAVEfmt \x00\x00\x00\x10".to_vec();
    bytes.extend(format);
    bytes.extend(b"data\x00\x00\x00\x08");
    bytes.extend([1i16, -2, 3, -4].iter().flat_map(|n| n.to_be_bytes()));
    let (data, raw) = opened(&bytes).expect("valid");
    assert_eq!((data, raw.stated_rate_hz), (expected(), Some(8_000.0)));
}

/// The number that begins the GUID is in the order of the file, or little-endian from some
/// programs.
#[test]
fn an_extensible_format_is_read_in_a_big_endian_file() {
    for guid in [[0, 0, 0, 1], [1, 0, 0, 0]] {
        let mut raw = Vec::new();
        for word in [0xfffe_u16, 2] {
            raw.extend(word.to_be_bytes());
        }
        raw.extend(25_600u32.to_be_bytes());
        raw.extend((25_600u32 * 4).to_be_bytes());
        for word in [4_u16, 16, 22, 16, 0, 0] {
            raw.extend(word.to_be_bytes());
        }
        raw.extend(guid);
        raw.extend(b"\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71");
        let numbers: Vec<u8> = [1i16, -2, 3, -4].iter().flat_map(|n| n.to_be_bytes()).collect();
        let mut bytes = b"RIFX\0\0\0\x50WAVEfmt \0\0\0\x28".to_vec();
        bytes.extend(&raw);
        bytes.extend(b"data\0\0\0\x08");
        bytes.extend(numbers);
        assert_eq!(samples(&bytes), expected(), "{guid:?}");
    }
}

#[test]
fn a_file_for_more_than_4_gib_has_its_length_in_ds64() {
    for id in [b"RF64", b"BW64"] {
        let mut long = [0u8; 28];
        long[8..16].copy_from_slice(&8u64.to_le_bytes());
        let mut bytes = file(&[
            chunk(*b"ds64", &long),
            chunk(*b"fmt ", &format(PCM, 2, 2, 16)),
            chunk(*b"data", &four(2, 0)),
            chunk(*b"LIST", b"INFO"),
        ]);
        bytes[..4].copy_from_slice(id);
        bytes[4..8].copy_from_slice(&[0xff; 4]);
        let at = bytes.windows(4).position(|id| id == b"data").expect("there") + 4;
        bytes[at..at + 4].copy_from_slice(&[0xff; 4]);
        assert_eq!(samples(&bytes), expected());
    }
}

/// Lengths that writers to a pipe put there: 2^32 − 1, 2^31, less a header, less a buffer, or none.
#[test]
fn a_stream_lasts_to_the_end_of_the_file() {
    for length in [u32::MAX, 0x8000_0000, 0x7fff_ffff, 0x7fff_f000, 0xffff_ffdb, 0] {
        for whole in [length, 36] {
            let mut bytes = sixteen_bits();
            bytes[4..8].copy_from_slice(&whole.to_le_bytes());
            bytes[40..44].copy_from_slice(&length.to_le_bytes());
            assert_eq!(samples(&bytes), expected(), "{length:x} in {whole:x}");
            bytes.extend([7, 0, 7]); // a writer that was stopped within a frame
            assert_eq!(samples(&bytes), expected(), "{length:x} in {whole:x}");
        }
    }
}

#[test]
fn an_empty_data_chunk_before_others_is_no_stream() {
    let list = chunk(*b"LIST", b"INFOICMT\x04\x00\x00\x00text");
    let bytes = file(&[chunk(*b"fmt ", &format(PCM, 2, 2, 16)), chunk(*b"data", &[]), list]);
    assert!(refused(&bytes).contains("holds no samples"));
}

/// Odd chunks with and without the pad byte (soundfile and SciPy read both).
#[test]
fn odd_chunks_are_left_out_with_and_without_pad_byte() {
    for pad in [&b"\x00"[..], b""] {
        let mut odd = chunk(*b"LIST", b"INFOICMT\x03\x00\x00\x00abc");
        odd.extend(pad);
        let mut bext = chunk(*b"bext", &[7; 603]);
        bext.extend(pad);
        let mut long_format = format(PCM, 2, 2, 16);
        long_format.extend([0; 3]);
        let mut long_format = chunk(*b"fmt ", &long_format);
        long_format.extend(pad);
        let bytes = file(&[bext, odd.clone(), long_format, odd, chunk(*b"data", &four(2, 0))]);
        assert_eq!(samples(&bytes), expected(), "{pad:?}");
    }
}

#[test]
fn compressed_forms_are_refused_by_name() {
    for (tag, name) in [(7, "μ-law"), (6, "A-law"), (2, "Microsoft ADPCM"), (0x11, "IMA ADPCM")] {
        let data = chunk(*b"data", &[1, 2]);
        let plain = file(&[chunk(*b"fmt ", &format(tag, 1, 1, 8)), data.clone()]);
        let wide = file(&[chunk(*b"fmt ", &extensible(tag, 1, 1, 8)), data]);
        for bytes in [plain, wide] {
            let error = refused(&bytes);
            assert!(error.contains(name) && error.contains("PCM"), "{error}");
        }
    }
}

#[test]
fn a_truncated_file_is_said_to_be_truncated() {
    let whole = sixteen_bits();
    for cut in [12, 15, 20, 30, 36, 41, 45, 51] {
        let error = refused(&whole[..cut]);
        assert!(error.contains("truncated"), "{cut}: {error}");
    }
}

#[test]
fn a_frame_that_is_not_whole_is_refused() {
    let bytes = file(&[chunk(*b"fmt ", &format(PCM, 2, 2, 16)), chunk(*b"data", &[0; 10])]);
    assert!(refused(&bytes).contains("no whole frames of 4 bytes"));
}

/// An announced length costs nothing: a header alone of 4 GiB ends at once.
#[test]
fn a_length_that_is_announced_is_not_reserved() {
    let mut bytes = sixteen_bits();
    bytes[40..44].copy_from_slice(&0x7000_0000u32.to_le_bytes());
    assert!(refused(&bytes).contains("8 of 1879048192 bytes"));
}

proptest! {
    #[test]
    fn arbitrary_damage_never_panics(
        at in 4usize..60, byte in any::<u8>(), cut in 0usize..90, is_wide in any::<bool>()
    ) {
        let mut bytes = if is_wide {
            file(&[chunk(*b"fmt ", &extensible(PCM, 2, 4, 24)), chunk(*b"data", &four(4, 8))])
        } else {
            sixteen_bits()
        };
        if let Some(old) = bytes.get_mut(at) {
            *old = byte;
        }
        bytes.truncate(bytes.len().min(cut));
        let _ = open(Path::new("t.wav"), Cursor::new(bytes));
    }

    #[test]
    fn arbitrary_bytes_never_panic(tail in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut bytes = b"RIFF\x00\x01\x00\x00WAVEfmt \x10\x00\x00\x00".to_vec();
        bytes.extend(tail);
        let _ = open(Path::new("t.wav"), Cursor::new(bytes));
    }
}
