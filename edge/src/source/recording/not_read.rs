//! Formats that are known by their first bytes and not read, with what to do instead.
//!
//! A file of such a format is refused by name, not as bytes without a meaning. Invariants: text
//! that is read as a table is never taken for one of them: first bytes that a text may have count
//! only where the rest is no text; the name of a file alone decides only where the content is no
//! text.

use signatures::{BINARY, KNOWN, Signature};

mod seismic;
mod signatures;

/// Returns why a file that begins with `start` is not read, if its first bytes are those of a known
/// format.
pub(super) fn refusal(start: &[u8]) -> Option<String> {
    let form = container(start).or_else(|| begins_as(start, KNOWN));
    form.or_else(|| seismic::form_of(start)).or_else(|| web_page(start)).map(refused)
}

/// Returns why a file that no reader takes, and that is no text, is not read, if its first bytes or
/// its name, whose ending is `extension` in lower case, tell its program.
pub(super) fn refusal_of_binary(start: &[u8], extension: &str) -> Option<String> {
    if !is_binary(start) {
        return None;
    }
    begins_as(start, BINARY).or_else(|| by_extension(extension)).map(refused)
}

fn refused(form: &str) -> String {
    format!("{form}: this form is not read")
}

/// The words of the signature that these bytes begin with.
fn begins_as(start: &[u8], known: &[Signature]) -> Option<&'static str> {
    let begins =
        |(at, magic, _): &&Signature| start.get(*at..).is_some_and(|rest| rest.starts_with(magic));
    known.iter().find(begins).map(|(_, _, what)| *what)
}

/// Forms whose first bytes hold several: IFF, RIFF, EBML, ISO media.
fn container(start: &[u8]) -> Option<&'static str> {
    let kind = start.get(8..12);
    if start.starts_with(b"FORM") {
        return match kind {
            Some(b"AIFF" | b"AIFC") => Some("AIFF; save it as WAV, and state the scale"),
            Some(b"8SVX" | b"16SV") => {
                Some("8SVX, a sound of IFF; save it as WAV, and state the scale")
            }
            _ => None,
        };
    }
    if start.starts_with(b"RIFF") {
        return match kind {
            Some(b"AVI ") => Some("AVI, a film; export the sound as WAV"),
            Some(b"WEBP") => Some("a picture, which holds no samples"),
            _ => None,
        };
    }
    if start.starts_with(b"\x1a\x45\xdf\xa3") {
        let head = &start[..start.len().min(64)];
        let is_film = |name: &[u8]| head.windows(name.len()).any(|word| word == name);
        return Some(if is_film(b"webm") || is_film(b"matroska") {
            "Matroska or WebM, a film; export the sound as WAV"
        } else {
            "a recording of enDAQ (.ide); export it as CSV or MAT"
        });
    }
    if start.get(4..8) == Some(b"ftyp") {
        return Some("MP4, a compressed sound or film; record as WAV");
    }
    None
}

fn web_page(start: &[u8]) -> Option<&'static str> {
    let begin: String = start.iter().take(64).map(|&byte| char::from(byte)).collect();
    let begin =
        begin.trim_start_matches(['\u{ef}', '\u{bb}', '\u{bf}']).trim_start().to_lowercase();
    let is_page = begin.starts_with("<!doctype html") || begin.starts_with("<html");
    is_page.then_some(
        "a page of HTML, perhaps a login or an error in place of the file; fetch the file itself",
    )
}

/// Whether the content is no text in any encoding: UTF-16 has a zero in every second byte of its
/// letters.
fn is_binary(start: &[u8]) -> bool {
    let head = &start[..start.len().min(512)];
    let is_utf_16 = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") || {
        let zeros = |from: usize| head.iter().skip(from).step_by(2).all(|byte| *byte == 0);
        let some = |from: usize| head.iter().skip(from).step_by(2).all(|byte| *byte != 0);
        head.len() >= 4 && ((zeros(1) && some(0)) || (zeros(0) && some(1)))
    };
    let is_control = |byte: &u8| matches!(byte, 0..=8 | 14..=26 | 28..=31);
    !is_utf_16 && head.iter().any(is_control)
}

/// Programs whose recordings have no first bytes that are known, by the ending of the name.
fn by_extension(extension: &str) -> Option<&'static str> {
    Some(match extension {
        "dxd" | "dxz" | "d7d" | "d7z" => {
            "a recording of Dewesoft; export it as CSV, UFF, MAT or TDMS"
        }
        "ddf" => "a recording of DASYLab (.ddf); export it as ASCII, TDMS or WAV",
        "hdf" => {
            "a recording of HEAD acoustics or an HDF4 file; export it as WAV, UFF, MAT or HDF5"
        }
        "pti" | "pul" | "knf" => "a recording of B&K PULSE; export it as UFF, WAV or MAT",
        "lms" | "ldsf" | "tdf" => "a recording of Simcenter Testlab; export it as UFF or MAT",
        "orv" | "oros" | "nvg" => "a recording of OROS; export it as UFF, WAV or MAT",
        "sie" | "sif" => "a recording of HBM eDAQ (Somat); export it as CSV, MAT or UFF",
        "dac" => "a recording of nCode or nSoft (.dac); export it as CSV or MAT",
        "bin" => {
            "binary numbers whose type, order and channels nothing states; write them as .npy with \
             numpy.fromfile and numpy.save, or as WAV, MAT or CSV"
        }
        "dat" | "raw" => {
            "binary data of a form that this name does not tell; export it as CSV, WAV, UFF, MAT \
             or TDMS in the program that wrote it"
        }
        "r32" | "r64" | "i16" => "the numbers of a DIAdem file (.dat); export it as TDMS or CSV",
        "db" | "ldb" => "a database; export the table as CSV",
        _ => return None,
    })
}

/// Returns why a zip archive that holds these files is not read, if its form is known.
pub(super) fn refusal_of_archive(holds: impl Fn(&str) -> bool) -> Option<&'static str> {
    const FORMS: [(&str, &str); 8] = [
        (
            "xl/workbook.bin",
            "an Excel workbook of the binary form (.xlsb), which is not read; save it as .xlsx or \
             CSV",
        ),
        ("word/document.xml", "a Word document, which holds no samples; save its table as CSV"),
        ("ppt/presentation.xml", "a presentation, which holds no samples"),
        ("content.xml", "an OpenDocument sheet (.ods), which is not read; save it as .xlsx or CSV"),
        ("Index/Document.iwa", "a sheet of Numbers, which is not read; export it as CSV or .xlsx"),
        (
            "Contents/content.hpf",
            "a Hangul document (.hwpx), which holds no samples; save its table as CSV",
        ),
        ("META-INF/MANIFEST.MF", "a Java archive, which holds no samples"),
        ("simulink/blockdiagram.xml", "a Simulink model, which holds no samples"),
    ];
    FORMS.iter().find(|(name, _)| holds(name)).map(|(_, what)| *what)
}

#[cfg(test)]
mod tests;
