//! Formats that are known by their first bytes and not read, with what to do instead.
//!
//! A file of such a format is refused by name, not as bytes without a meaning.

/// First bytes, and the words of the refusal.
const KNOWN: [(&[u8], &str); 20] = [
    (b"\x1a\x45\xdf\xa3", "a recording of enDAQ (.ide); export it as CSV or MAT"),
    (b"MDF     ", "an ASAM MDF file (.mf4, .mdf); export it as MAT, TDMS or CSV"),
    (
        b"UnFinMF ",
        "an ASAM MDF file that its logger has not finished; finish and export it as MAT or CSV",
    ),
    (b"MD\xfc\x03", "a recording of Axivity (.cwa); export it as CSV or WAV"),
    (b"CDF\x01", "netCDF of the classic form; save it as netCDF-4 or HDF5"),
    (b"CDF\x02", "netCDF of the classic form; save it as netCDF-4 or HDF5"),
    (b"fLaC", "FLAC; save it as WAV, and state the scale"),
    (b"OggS", "Ogg, a compressed sound; record as WAV"),
    (b"%PDF", "a PDF, which holds no samples"),
    (b"ARROW1", "Feather or Arrow; save it as Parquet or CSV"),
    (b"SQLite format 3\0", "a database of SQLite; export the table as CSV"),
    (b"riff\x2e\x91\xcf\x11", "Wave64; save it as WAV"),
    (b"caff\0\x01", "Core Audio (.caf); save it as WAV"),
    (b".snd\0", "Sun audio (.au); save it as WAV"),
    (b"BZh", "packed with bzip2; unpack it, or pack it with gzip"),
    (b"\xfd7zXZ\0", "packed with xz; unpack it, or pack it with gzip"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd; unpack it, or pack it with gzip"),
    (b"TDSh", "the index of a TDMS file; give the .tdms file itself"),
    (b"\x80\x04\x95", "a pickle of Python; save the array with numpy.save or as CSV"),
    (b"\x80\x05\x95", "a pickle of Python; save the array with numpy.save or as CSV"),
];

/// Why a file that begins with `start` is not read, if its format is known.
pub(super) fn refusal(start: &[u8]) -> Option<String> {
    if start.starts_with(b"FORM") {
        let what = match start.get(8..12) {
            Some(b"AIFF" | b"AIFC") => "AIFF; save it as WAV, and state the scale",
            Some(b"8SVX" | b"16SV") => "8SVX, a sound of IFF; save it as WAV, and state the scale",
            _ => return None,
        };
        return Some(format!("{what}: this form is not read"));
    }
    let known = KNOWN.iter().find(|(magic, _)| start.starts_with(magic));
    known.map(|(_, what)| format!("{what}: this form is not read"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_that_is_not_read_is_refused_by_name() {
        for (start, word) in [
            (&b"\x1a\x45\xdf\xa3\x01"[..], "enDAQ"),
            (b"MDF     4.10    ", "MDF"),
            (b"fLaC\0\0\0\x22", "WAV"),
            (b"FORM\0\0\0\x20AIFFCOMM", "AIFF"),
            (b"FORM\0\0\0\x208SVXVHDR", "8SVX"),
            (b"ARROW1\0\0", "Feather"),
            (b"SQLite format 3\0\x10", "SQLite"),
        ] {
            assert!(refusal(start).is_some_and(|what| what.contains(word)), "{word}");
        }
        for start in [&b""[..], b"MDF,1\n", b"1,2\n"] {
            assert_eq!(refusal(start), None);
        }
    }
}
