//! Answers of text, compressed for clients that take gzip: a bearing's page is a tenth of its size
//! on a slow line.
//!
//! Only answers whose length is known are compressed: a live stream goes out as it comes. The pages
//! keep no secret beside text of a stranger that another site could measure: cookies go with no
//! request of one.

use std::io::Write as _;

use axum::body::{Body, HttpBody as _, to_bytes};
use axum::extract::Request;
use axum::http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;

/// Answers below this gain nothing: they fit one packet.
const LEAST_BYTES: u64 = 1_400;
/// Larger answers go out as they are, so that no answer takes seconds of a small machine's time.
const MOST_BYTES: u64 = 32_000_000;

pub(crate) async fn gzip(request: Request, next: Next) -> Response {
    let is_asked = request.method() != Method::HEAD && takes_gzip(request.headers());
    let answer = next.run(request).await;
    if !is_asked || !is_text(answer.headers()) {
        return answer;
    }
    let length = answer.body().size_hint().exact();
    if !length.is_some_and(|length| (LEAST_BYTES..=MOST_BYTES).contains(&length)) {
        return answer;
    }
    let (mut head, body) = answer.into_parts();
    let most = usize::try_from(MOST_BYTES).unwrap_or(usize::MAX);
    let Ok(plain) = to_bytes(body, most).await else {
        // a body of a known length is in memory: reading it does not fail
        return Response::from_parts(head, Body::empty());
    };
    let Some(packed) = packed(&plain) else { return Response::from_parts(head, Body::from(plain)) };
    head.headers.remove(CONTENT_LENGTH);
    head.headers.remove(ETAG);
    head.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    head.headers.append(VARY, HeaderValue::from_static("accept-encoding"));
    Response::from_parts(head, Body::from(packed))
}

fn packed(plain: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(plain.len() / 4), Compression::fast());
    encoder.write_all(plain).ok()?;
    encoder.finish().ok()
}

/// Whether a client takes gzip, and not with the weight 0.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|entry| {
        let mut parts = entry.split(';').map(str::trim);
        let is_gzip = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        let weight = parts.find_map(|part| part.strip_prefix("q=")?.parse::<f64>().ok());
        is_gzip && weight.is_none_or(|weight| weight > 0.0)
    })
}

/// Whether an answer is text that is not compressed yet.
fn is_text(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    let is_stream = kind == "text/event-stream";
    let is_text = kind.starts_with("text/") || kind.ends_with("json") || kind.ends_with("+xml");
    is_text && !is_stream && !headers.contains_key(CONTENT_ENCODING)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn headers(name: axum::http::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_str(value).expect("a value"))])
    }

    #[test]
    fn clients_say_whether_they_take_gzip() {
        let takes = |value: &str| takes_gzip(&headers(ACCEPT_ENCODING, value));
        assert!(takes("gzip, deflate, br") && takes("br;q=1.0, GZIP;q=0.5") && takes("gzip"));
        assert!(!takes("gzip;q=0") && !takes("br") && !takes("") && !takes("x-gzip"));
        assert!(!takes_gzip(&HeaderMap::new()));
    }

    #[test]
    fn text_alone_is_compressed_and_is_read_back() {
        let is = |kind: &str| is_text(&headers(CONTENT_TYPE, kind));
        assert!(is("text/html; charset=utf-8") && is("application/problem+json"));
        assert!(is("image/svg+xml") && is("application/manifest+json"));
        assert!(!is("text/event-stream") && !is("application/pdf") && !is("font/woff2"));
        let plain = "경보 ".repeat(1000);
        let packed = packed(plain.as_bytes()).expect("packed");
        assert!(packed.len() * 10 < plain.len());
        let mut read = String::new();
        flate2::read::GzDecoder::new(packed.as_slice()).read_to_string(&mut read).expect("gzip");
        assert_eq!(read, plain);
    }
}
