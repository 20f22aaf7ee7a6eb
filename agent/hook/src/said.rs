//! The body of an answer as text: blanks before it are passed over, what its header or its first
//! bytes say of its encoding is undone.
//!
//! Receivers are programs of many makers. .NET and PHP put a byte order mark before JSON, some
//! compress without being asked, some answer in UTF-16 or in the letters of their country. Read as
//! they stand, all of these hide a failure.

use std::io::Read as _;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use flate2::read::{DeflateDecoder, GzDecoder, ZlibDecoder};
use pdm_service::bounded::ERROR_BYTES;
use pdm_shared::packed::packed_form;
use reqwest::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue};

/// Blanks that are passed over before an answer begins, bytes. Chosen: templates of pages leave
/// kilobytes of them; an answer of blanks alone has to end.
const BLANKS: usize = 4 << 20;

/// Headers that ask for an answer as it is: what is compressed by an encoding that is not known
/// here could not be read, and many say in it that they failed.
pub fn asking_for_plain_answers() -> HeaderMap {
    HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static("identity"))])
}

/// What a receiver says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaidBody {
    /// The first 64 KiB as text.
    pub text: String,
    /// The answer has ended, or is longer than what is read of it.
    pub has_ended: bool,
    /// The encoding that cannot be undone, if it has one.
    pub unread: Option<String>,
}

/// Reads the body of an answer. Its time-out is that of the request; one that breaks off is told as
/// far as it came.
pub async fn said_body(mut answer: reqwest::Response) -> SaidBody {
    let headers = answer.headers().clone();
    let (mut bytes, mut passed) = (Vec::new(), 0);
    let has_ended = loop {
        match answer.chunk().await {
            Ok(Some(chunk)) => {
                let begun = if bytes.is_empty() { chunk.trim_ascii_start() } else { &chunk[..] };
                passed += chunk.len() - begun.len();
                let room = ERROR_BYTES.saturating_sub(bytes.len());
                bytes.extend_from_slice(&begun[..begun.len().min(room)]);
                if begun.len() > room {
                    break true;
                }
                if passed > BLANKS {
                    break false;
                }
            }
            Ok(None) => break true,
            Err(_) => break false,
        }
    };
    match unpacked(&headers, bytes) {
        Ok(bytes) => {
            let text = text_of(&headers, &bytes);
            let unread = is_no_text(&text).then(|| "unknown".to_owned());
            SaidBody { text, has_ended, unread }
        }
        Err(encoding) => SaidBody { text: String::new(), has_ended, unread: Some(encoding) },
    }
}

/// The bytes without the compression that their header or their first bytes name; the name of one
/// that cannot be undone.
fn unpacked(headers: &HeaderMap, bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    let named = headers.get(CONTENT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or("");
    let named = named.trim().to_ascii_lowercase();
    let is_gzip = bytes.starts_with(&[0x1f, 0x8b]);
    match named.as_str() {
        // a proxy may have unpacked it and left the header
        "gzip" | "x-gzip" if !is_gzip => Ok(bytes),
        "gzip" | "x-gzip" => Ok(head_of(GzDecoder::new(&*bytes))),
        "deflate" => {
            let wrapped = head_of(ZlibDecoder::new(&*bytes));
            let bare = || head_of(DeflateDecoder::new(&*bytes));
            Ok(if wrapped.is_empty() { bare() } else { wrapped })
        }
        "" | "identity" if is_gzip => Ok(head_of(GzDecoder::new(&*bytes))),
        "" | "identity" => match packed_form(&bytes) {
            Some(form) => Err(form.name.to_owned()),
            None => Ok(bytes),
        },
        other => Err(other.chars().take(40).collect()),
    }
}

/// Whether what was decoded is no text: Brotli whose header a proxy has dropped has no first bytes
/// by which it is known, and no text holds control characters.
fn is_no_text(text: &str) -> bool {
    let is_blank = |c: char| matches!(c, '\t' | '\n' | '\r' | '\u{c}');
    text.starts_with(char::REPLACEMENT_CHARACTER)
        || text.chars().any(|c| c.is_ascii_control() && !is_blank(c))
}

/// The first bytes that a decoder gives, of an answer that may be cut or damaged.
fn head_of(decoder: impl std::io::Read) -> Vec<u8> {
    let (mut all, mut part) = (Vec::new(), [0; 4096]);
    let mut decoder = decoder.take(ERROR_BYTES as u64);
    while let Ok(count @ 1..) = decoder.read(&mut part) {
        all.extend_from_slice(&part[..count]);
    }
    all
}

/// Bytes as text: by their mark, else as their header says, else as UTF-16 where every other byte
/// is zero.
fn text_of(headers: &HeaderMap, bytes: &[u8]) -> String {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    let charset = kind.split(';').skip(1).find_map(|one| {
        let (key, value) = one.split_once('=')?;
        let value = value.trim().trim_matches('"');
        key.trim().eq_ignore_ascii_case("charset").then(|| Encoding::for_label(value.as_bytes()))?
    });
    let by_zeros = match bytes {
        [0, second, ..] if *second != 0 => Some(UTF_16BE),
        [first, 0, ..] if *first != 0 => Some(UTF_16LE),
        _ => None,
    };
    // the mark before the text goes before all
    let (text, ..) = by_zeros.or(charset).unwrap_or(UTF_8).decode(bytes);
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}' || c == '\0').to_owned()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::{GzEncoder, ZlibEncoder};

    use super::*;
    use crate::says_failure;

    const FAILED: &str = r#"{"success":false,"message":"그룹 없음"}"#;

    fn read(kind: &str, encoding: &str, bytes: &[u8]) -> Result<String, String> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, kind.parse().expect("a value"));
        if !encoding.is_empty() {
            headers.insert(CONTENT_ENCODING, encoding.parse().expect("a value"));
        }
        unpacked(&headers, bytes.to_vec()).map(|bytes| text_of(&headers, &bytes))
    }

    fn utf16(text: &str, is_little: bool) -> Vec<u8> {
        let pairs = text.encode_utf16();
        pairs
            .flat_map(|one| if is_little { one.to_le_bytes() } else { one.to_be_bytes() })
            .collect()
    }

    /// R-AGENT-10: each was counted as delivered.
    #[test]
    fn a_failure_is_read_whatever_encodes_it() {
        let plain = "application/json";
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(FAILED.as_bytes()).expect("packed");
        let gzip = gzip.finish().expect("packed");
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(FAILED.as_bytes()).expect("packed");
        let zlib = zlib.finish().expect("packed");
        let (euc, ..) = encoding_rs::EUC_KR.encode(FAILED);
        for (kind, encoding, bytes) in [
            (plain, "", [b"\xef\xbb\xbf".as_slice(), FAILED.as_bytes()].concat()),
            (plain, "gzip", gzip.clone()),
            (plain, "", gzip),
            (plain, "GZIP", FAILED.as_bytes().to_vec()),
            (plain, "deflate", zlib),
            (plain, "", utf16(FAILED, true)),
            (plain, "", utf16(FAILED, false)),
            ("application/json; charset=utf-16", "", utf16(&format!("\u{feff}{FAILED}"), true)),
            ("application/json; charset=utf-16", "", utf16(&format!("\u{feff}{FAILED}"), false)),
            ("text/plain; charset=euc-kr", "", euc.to_vec()),
            (plain, "", format!("\r\n  {FAILED}\n").into_bytes()),
        ] {
            let text = read(kind, encoding, &bytes).expect("read");
            assert!(says_failure(&text), "{kind} {encoding}: {text:?}");
        }
        assert_eq!(read(plain, "br", b"\x0b\x02"), Err("br".to_owned()), "said by its name");
        assert_eq!(read(plain, "", b"\x28\xb5\x2f\xfd\x04"), Err("zstd".to_owned()));
        // `{"success":false}` in Brotli, whose header a proxy has dropped
        let brotli = b"\x0b\x08\x80{\"success\":false}\x03";
        assert!(is_no_text(&read(plain, "", brotli).expect("bytes")));
        assert!(!is_no_text(&read(plain, "", b"\r\n ok\t\n").expect("text")));
    }
}
