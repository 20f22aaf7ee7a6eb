//! Reads a form with files (`multipart/form-data`, RFC 7578) as browsers send it: whole, and up to
//! a size.
//!
//! A boundary counts only as a line of its own, so a file that holds its text stays whole.

use axum::body::Body;
use axum::http::{HeaderMap, header};
use futures_util::StreamExt as _;

/// Bytes of a body that is too large which are read and thrown away, so that the browser reads the
/// answer: it reads no answer while it sends.
const THROWN_AWAY: u64 = 256 * 1024 * 1024;
/// Fields of a form.
const MOST_PARTS: usize = 40;

/// Why a form cannot be read. The caller says it to whoever sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UploadError {
    /// More bytes than are taken.
    #[error("the photos together are larger than 40 MB: send fewer at once")]
    TooLarge,
    /// The same user sends another form.
    #[error("photos of yours are still on their way: send these when they have arrived")]
    Another,
    /// The connection ended, or the form is malformed.
    #[error("the form did not arrive whole: send it again")]
    Broken,
}

/// A field of a form.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Part<'a> {
    /// The field's name.
    pub(crate) name: String,
    /// Whether it is a file.
    pub(crate) is_file: bool,
    /// The name of the file; empty where it is none.
    pub(crate) file_name: String,
    /// Its content.
    pub(crate) content: &'a [u8],
}

/// Reads a body of at most `most` bytes.
pub(crate) async fn body(body: Body, most: usize) -> Result<Vec<u8>, UploadError> {
    let mut stream = body.into_data_stream();
    let (mut bytes, mut thrown) = (Vec::new(), 0_u64);
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|_broken| UploadError::Broken)?;
        if thrown > 0 || bytes.len() + chunk.len() > most {
            bytes = Vec::new();
            thrown += chunk.len() as u64;
            if thrown > THROWN_AWAY {
                break;
            }
        } else {
            bytes.extend_from_slice(&chunk);
        }
    }
    if thrown > 0 { Err(UploadError::TooLarge) } else { Ok(bytes) }
}

/// The boundary that a form's head names.
pub(crate) fn boundary(headers: &HeaderMap) -> Option<String> {
    let kind = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    let mut parameters = kind.split(';').map(str::trim);
    if !parameters.next()?.eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let of = |parameter: &str| {
        let (name, value) = parameter.split_once('=')?;
        name.eq_ignore_ascii_case("boundary").then(|| value.trim_matches('"').to_owned())
    };
    parameters.find_map(of).filter(|text| (1..=70).contains(&text.len()))
}

/// The fields of a form.
pub(crate) fn parts<'a>(bytes: &'a [u8], boundary: &str) -> Result<Vec<Part<'a>>, UploadError> {
    let line = format!("\r\n--{boundary}");
    let first = line.as_bytes().get(2..).unwrap_or_default();
    let mut rest = bytes.strip_prefix(first).ok_or(UploadError::Broken)?;
    let mut parts = Vec::new();
    loop {
        if rest.starts_with(b"--") {
            return Ok(parts);
        }
        let within = rest.strip_prefix(b"\r\n").ok_or(UploadError::Broken)?;
        let (content, after) = until_line(within, line.as_bytes()).ok_or(UploadError::Broken)?;
        if parts.len() >= MOST_PARTS {
            return Err(UploadError::Broken);
        }
        parts.push(part(content).ok_or(UploadError::Broken)?);
        rest = after;
    }
}

/// Returns the bytes before the next boundary that is a line of its own, and the bytes after it.
fn until_line<'a>(bytes: &'a [u8], line: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let mut from = 0;
    loop {
        let at = from + find(bytes.get(from..)?, line)?;
        let after = bytes.get(at + line.len()..)?;
        if after.starts_with(b"\r\n") || after.starts_with(b"--") {
            return Some((bytes.get(..at)?, after));
        }
        from = at + 1;
    }
}

fn find(bytes: &[u8], word: &[u8]) -> Option<usize> {
    let first = word.first()?;
    let mut from = 0;
    loop {
        let at = from + bytes.get(from..)?.iter().position(|byte| byte == first)?;
        if bytes.get(at..)?.starts_with(word) {
            return Some(at);
        }
        from = at + 1;
    }
}

/// A field with its head.
fn part(bytes: &[u8]) -> Option<Part<'_>> {
    let end = find(bytes, b"\r\n\r\n")?;
    let head = std::str::from_utf8(bytes.get(..end)?).ok()?;
    let content = bytes.get(end + 4..)?;
    let told = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.trim().eq_ignore_ascii_case("content-disposition").then_some(value)
    })?;
    let name = told.split("; name=\"").nth(1)?.split('"').next()?;
    let file_name = told.split("; filename=\"").nth(1).and_then(|rest| rest.split('"').next());
    // browsers send a name alone; a path of another program is cut to its last part
    let file_name = file_name.unwrap_or_default();
    let file_name = file_name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    let is_file = told.contains("; filename=");
    Some(Part { name: name.to_owned(), is_file, file_name, content })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: &str) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, kind.parse().expect("a value"));
        boundary(&headers)
    }

    #[test]
    fn a_boundary_is_read_with_and_without_quotes() {
        assert_eq!(of("multipart/form-data; boundary=----x").as_deref(), Some("----x"));
        assert_eq!(of("Multipart/Form-Data;boundary=\"a b\"").as_deref(), Some("a b"));
        for wrong in [
            "application/x-www-form-urlencoded",
            "multipart/form-data",
            "multipart/mixed; boundary=x",
        ] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }

    /// The forms of browsers, and files that end with line breaks or hold the text of the boundary.
    #[test]
    fn fields_and_files_are_read_whole() {
        let form = b"--b\r\nContent-Disposition: form-data; name=\"form_key\"\r\n\r\nk\r\n\
            --b\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"a b.jpg\"\r\n\
            Content-Type: image/jpeg\r\n\r\nx--b\r\n--bb\r\n\r\n\r\n--b\r\n\
            content-disposition: form-data; name=\"photo\"; filename=\"\"\r\n\r\n\r\n--b--\r\n";
        let parts = parts(form, "b").expect("whole");
        assert_eq!(parts.len(), 3);
        assert_eq!(
            (parts[0].name.as_str(), parts[0].content, parts[0].is_file),
            ("form_key", &b"k"[..], false)
        );
        assert_eq!(parts[1].content, b"x--b\r\n--bb\r\n\r\n");
        assert!(parts[2].is_file && parts[2].content.is_empty());
    }

    #[test]
    fn a_form_that_ends_early_is_broken() {
        let whole = b"--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nk\r\n--b--\r\n";
        assert!(parts(whole, "b").is_ok());
        for end in 0..whole.len() - 4 {
            assert_eq!(parts(&whole[..end], "b"), Err(UploadError::Broken), "{end}");
        }
        assert_eq!(parts(whole, "c"), Err(UploadError::Broken));
    }
}
