//! Formats of seismology, which loggers of buildings and machines write, too. Most have no first
//! bytes of their own: fields of their headers tell.
//!
//! Sources: FDSN, *SEED Reference Manual* 2.4 (fixed section of a data header) and *miniSEED 3*;
//! IRIS, *SAC data file format*; SEG, *SEG-Y* revision 1 (textual header of 40 lines of 80 letters)
//! and *SEG-2*.

const MINISEED: &str = "miniSEED of seismology; export it as SAC in text, CSV or MAT (ObsPy: \
                        numpy.save of trace.data beside its sampling rate)";
const SEED: &str = "SEED of seismology; export it as CSV or MAT";
const SAC: &str = "SAC of seismology; export it as CSV, WAV or MAT (ObsPy: numpy.save of \
                   trace.data beside its sampling rate)";
const SEG_Y: &str = "SEG-Y of seismology; export it as CSV or MAT";
const SEG_2: &str = "SEG-2 of seismology; export it as CSV or MAT";
const GSE2: &str = "GSE2 of seismology; export it as CSV or MAT";
const EDF: &str = "EDF, a recording of medicine and sleep; export it as CSV, WAV or MAT";

/// The form of a file that begins so.
pub(super) fn form_of(start: &[u8]) -> Option<&'static str> {
    if is_miniseed_2(start) || start.starts_with(b"MS\x03") {
        return Some(MINISEED);
    }
    if is_seed_volume(start) {
        return Some(SEED);
    }
    if is_segy(start) {
        return Some(SEG_Y);
    }
    if is_sac(start) {
        return Some(SAC);
    }
    if start.starts_with(b"\x55\x3a\x01\x00") || start.starts_with(b"\x3a\x55\x00\x01") {
        return Some(SEG_2);
    }
    if start.starts_with(b"WID2 ") && has_line_of(start, b"DAT2") {
        return Some(GSE2);
    }
    is_edf(start).then_some(EDF)
}

/// Six digits of a number, the quality of the data, a blank, names of station and channel, and a
/// day.
fn is_miniseed_2(start: &[u8]) -> bool {
    let Some(head) = start.get(..48) else { return false };
    let is_number = head[..6].iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b' ' | 0));
    let is_name =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | 0 | b'-' | b'_');
    is_number
        && matches!(head[6], b'D' | b'R' | b'Q' | b'M')
        && matches!(head[7], b' ' | 0)
        && head[8..20].iter().all(is_name)
        && is_day([head[20], head[21]], [head[22], head[23]])
}

/// Year and day of the year, in either order of bytes.
fn is_day(year: [u8; 2], day: [u8; 2]) -> bool {
    let fits = |year: u16, day: u16| (1900..=2100).contains(&year) && (1..=366).contains(&day);
    fits(u16::from_be_bytes(year), u16::from_be_bytes(day))
        || fits(u16::from_le_bytes(year), u16::from_le_bytes(day))
}

/// A control header of a full SEED volume: `000001V 010`.
fn is_seed_volume(start: &[u8]) -> bool {
    start.get(..11).is_some_and(|head| {
        head[..6].iter().all(u8::is_ascii_digit)
            && matches!(head[6], b'V' | b'A' | b'S' | b'T')
            && matches!(head[7], b' ' | b'*')
            && head[8..11].iter().all(u8::is_ascii_digit)
    })
}

/// Lines of 80 letters that begin with C, without line ends, in ASCII or EBCDIC.
fn is_segy(start: &[u8]) -> bool {
    let Some(head) = start.get(..1600) else { return false };
    let begin_with = |letter: u8| head.chunks_exact(80).all(|line| line[0] == letter);
    begin_with(0xc3) || (begin_with(b'C') && !head.contains(&b'\n') && !head.contains(&b'\r'))
}

/// The version of the header in word 76, and fields that are not defined, in either order of bytes.
fn is_sac(start: &[u8]) -> bool {
    const UNDEFINED: f32 = -12_345.0;
    let word = |at: usize| -> Option<[u8; 4]> { start.get(4 * at..4 * at + 4)?.try_into().ok() };
    let Some(version) = word(76) else { return false };
    if start.len() < 632 {
        return false;
    }
    let is_version = |version: i32| matches!(version, 6 | 7);
    let is_big_endian = is_version(i32::from_be_bytes(version));
    if !is_big_endian && !is_version(i32::from_le_bytes(version)) {
        return false;
    }
    let number = |raw: [u8; 4]| {
        if is_big_endian { f32::from_be_bytes(raw) } else { f32::from_le_bytes(raw) }
    };
    let step = word(0).map(number);
    let undefined =
        (0..70).filter_map(word).filter(|raw| number(*raw).to_bits() == UNDEFINED.to_bits());
    step.is_some_and(|step| step > 0.0 && step.is_finite()) && undefined.count() >= 4
}

fn has_line_of(start: &[u8], word: &[u8]) -> bool {
    start.split(|byte| *byte == b'\n').any(|line| line.starts_with(word))
}

/// The version 0 in eight letters, and 256 letters without line ends, among which two times and
/// dates.
fn is_edf(start: &[u8]) -> bool {
    let Some(head) = start.get(..256) else { return false };
    let is_date = |at: usize| head[at + 2] == b'.' && head[at + 5] == b'.';
    head.starts_with(b"0       ")
        && head.iter().all(|byte| matches!(byte, 32..=126))
        && is_date(168)
        && is_date(176)
}
