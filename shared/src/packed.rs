//! The compression of a message by its first bytes.
//!
//! Bridges and gateways compress what they forward, often by a setting that nobody remembers. A
//! compressed message is no text and no frame of samples; it is refused by the name of its form, so
//! that whoever set it finds the setting.

/// A form of compression, as its first bytes tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackedForm {
    /// Its name.
    pub name: &'static str,
    /// Its first bytes are so long that samples do not begin so by chance: three bytes or more,
    /// which random samples have once in 16,777,216 messages.
    pub is_certain: bool,
}

/// First bytes and names: RFC 1952, RFC 8878, the LZ4 frame format 1.6.4, bzip2, xz 1.2.1, APPNOTE
/// 6.3.10 and the framing format of Snappy.
const FORMS: [(&[u8], &str); 7] = [
    (&[0x1f, 0x8b, 0x08], "gzip"),
    (&[0x28, 0xb5, 0x2f, 0xfd], "zstd"),
    (&[0x04, 0x22, 0x4d, 0x18], "LZ4"),
    (b"BZh", "bzip2"),
    (&[0xfd, b'7', b'z', b'X', b'Z', 0x00], "xz"),
    (&[b'P', b'K', 0x03, 0x04], "zip"),
    (&[0xff, 0x06, 0x00, 0x00, b's', b'N', b'a', b'P', b'p', b'Y'], "Snappy"),
];

/// Returns the form in which these bytes are compressed, if they begin as one does. Raw deflate and
/// Brotli have no first bytes of their own.
pub fn packed_form(bytes: &[u8]) -> Option<PackedForm> {
    let by_start = FORMS.iter().find(|(start, _)| bytes.starts_with(start));
    let certain = by_start.map(|(_, name)| PackedForm { name, is_certain: true });
    certain.or_else(|| {
        // RFC 1950: deflate in a window of 32 KiB, and a check of both bytes
        let is_zlib = matches!(bytes, [0x78, flags, ..]
            if (0x7800 | u16::from(*flags)).is_multiple_of(31) && flags & 0x20 == 0);
        is_zlib.then_some(PackedForm { name: "zlib", is_certain: false })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compressed_message_is_named_by_its_first_bytes() {
        let name = |bytes: &[u8]| packed_form(bytes).map(|form| form.name);
        assert_eq!(name(b"\x1f\x8b\x08\x00\x00"), Some("gzip"));
        assert_eq!(name(b"\x78\x9c\xab\x56"), Some("zlib"));
        assert_eq!(name(b"\x28\xb5\x2f\xfd\x04"), Some("zstd"));
        for plain in [&b"{\"schema\":1}"[..], b"[1, 2]", b"x1", b"x", b"", b"\x1f\x8b"] {
            assert_eq!(name(plain), None, "{plain:?}");
        }
        assert!(!packed_form(b"\x78\x9c").expect("zlib").is_certain, "two bytes are a sample");
    }
}
