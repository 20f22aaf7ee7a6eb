//! Requests as stand-ins of HTTP servers read them: from the bytes that have come so far.

/// Returns head and body of a request; `None` while a part of it is missing.
pub fn whole_request(bytes: &[u8]) -> Option<(String, String)> {
    let text = String::from_utf8_lossy(bytes);
    let (head, body) = text.split_once("\r\n\r\n")?;
    let length = header(head, "content-length").and_then(|text| text.parse().ok());
    (body.len() >= length.unwrap_or(0)).then(|| (head.to_owned(), body.to_owned()))
}

/// A field of a request's head.
pub fn header(head: &str, name: &str) -> Option<String> {
    head.lines().find_map(|line| {
        let (key, value) = line.split_once(": ")?;
        key.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_whole_with_its_last_byte() {
        let text = b"POST /x HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc";
        assert_eq!(whole_request(&text[..text.len() - 1]), None);
        let (head, body) = whole_request(text).expect("whole");
        assert_eq!((header(&head, "content-length").as_deref(), body.as_str()), (Some("3"), "abc"));
    }
}
