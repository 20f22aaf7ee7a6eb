//! Formats that are known by their first bytes and not read, with what to do instead.
//!
//! A file of such a format is refused by name, not as bytes without a meaning.

/// First bytes, and the words of the refusal.
const KNOWN: [(&[u8], &str); 10] = [
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
    (b"FORM", "AIFF; save it as WAV, and state the scale"),
    (b"%PDF", "a PDF, which holds no samples"),
];

/// Why a file that begins with `start` is not read, if its format is known.
pub(super) fn refusal(start: &[u8]) -> Option<String> {
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
        ] {
            assert!(refusal(start).is_some_and(|what| what.contains(word)), "{word}");
        }
        for start in [&b""[..], b"MDF,1\n", b"1,2\n"] {
            assert_eq!(refusal(start), None);
        }
    }
}
