//! The encoding of a text: UTF-8, UTF-16 with and without a mark, CP949, Latin-1; Chinese, Japanese
//! and Cyrillic ones where `chardetng` finds that the letters are theirs.
//!
//! Invariant: bytes that hold zeros after decoding are no text.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, Encoding, GB18030, GBK, KOI8_U, SHIFT_JIS, UTF_16BE, UTF_16LE,
    WINDOWS_1251, WINDOWS_1252,
};

/// Bytes by which an encoding without a mark is told.
const SAMPLE: usize = 4096;

/// Fewest bytes above ASCII by which such an encoding is told: four Chinese letters.
const LEAST_LETTERS: usize = 8;

/// The text of these bytes; `None` if they are no text.
pub fn decoded(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let text = match Encoding::for_bom(bytes) {
        Some((encoding, mark)) => encoding.decode_without_bom_handling(&bytes[mark..]).0,
        None => match wide(bytes) {
            Some(encoding) => encoding.decode_without_bom_handling(bytes).0,
            None => narrow(bytes),
        },
    };
    (!text.contains('\0')).then_some(text)
}

/// UTF-16 without a mark: in a table of numbers nearly every second byte is zero.
fn wide(bytes: &[u8]) -> Option<&'static Encoding> {
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    if sample.len() < 8 {
        return None;
    }
    let zeros =
        |offset: usize| sample.iter().skip(offset).step_by(2).filter(|byte| **byte == 0).count();
    let half = sample.len() / 2;
    match (zeros(0), zeros(1)) {
        (0, odd) if 2 * odd > half => Some(UTF_16LE),
        (even, 0) if 2 * even > half => Some(UTF_16BE),
        _ => None,
    }
}

fn narrow(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let encoding = other_letters(bytes)
        .unwrap_or_else(|| if is_korean(bytes) { EUC_KR } else { WINDOWS_1252 });
    encoding.decode_without_bom_handling(bytes).0
}

/// Returns a Chinese, Japanese or Cyrillic encoding in which the letters are usual ones, not only
/// possible ones: the pairs of CP949 and those of GBK are the same bytes. `None` for a text with
/// few letters above ASCII.
fn other_letters(bytes: &[u8]) -> Option<&'static Encoding> {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    let found = detector.guess(None, Utf8Detection::Deny);
    let letters = bytes.iter().filter(|byte| **byte >= 0x80).count();
    let is_one = [GBK, GB18030, BIG5, SHIFT_JIS, EUC_JP, WINDOWS_1251, KOI8_U].contains(&found);
    (is_one && letters >= LEAST_LETTERS).then_some(found)
}

/// CP949: all bytes above ASCII come in pairs of 0xA1 and above, and one of the pairs is a syllable
/// of KS X 1001 (0xB0 to 0xC8 first). Letters of Latin-1 stand between those of ASCII.
fn is_korean(bytes: &[u8]) -> bool {
    let mut has_syllable = false;
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| *byte >= 0x80) {
        match rest.get(at..at + 2) {
            Some([first @ 0xa1..=0xfd, 0xa1..=0xfe]) => {
                has_syllable |= (0xb0..=0xc8).contains(first);
            }
            _ => return false,
        }
        rest = &rest[at + 2..];
    }
    has_syllable
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wide_of(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    }

    #[test]
    fn every_usual_encoding_is_decoded() {
        let text = "time,x\n0.1,0.25\n";
        for bytes in [
            text.as_bytes().to_vec(),
            [b"\xef\xbb\xbf", text.as_bytes()].concat(),
            wide_of(text, u16::to_le_bytes),
            wide_of(text, u16::to_be_bytes),
            wide_of(&format!("\u{feff}{text}"), u16::to_le_bytes),
            wide_of(&format!("\u{feff}{text}"), u16::to_be_bytes),
        ] {
            assert_eq!(decoded(&bytes).as_deref(), Some(text));
        }
        let (korean, ..) = EUC_KR.encode("시간(초),가속도(g)\n");
        assert_eq!(decoded(&korean).as_deref(), Some("시간(초),가속도(g)\n"));
        for korean in [
            "측정 시간,진동 가속도\n",
            "채널 이름: 펌프 구동측 베어링\n",
            "단위: 진동 속도(밀리미터)\n",
        ] {
            assert_eq!(decoded(&EUC_KR.encode(korean).0).as_deref(), Some(korean));
        }
        for (encoding, text) in [
            (GBK, "时间(s),工程单位:m/s^2\n"),
            (GB18030, "采样频率：12800 Hz\n单位：m/s2\n"),
            (SHIFT_JIS, "サンプリング周波数,12800\n単位,m/s2\n"),
            (WINDOWS_1251, "Частота дискретизации: 12800 Гц\nЕдиница: м/с2\n"),
        ] {
            assert_eq!(
                decoded(&encoding.encode(text).0).as_deref(),
                Some(text),
                "{}",
                encoding.name()
            );
        }
        assert_eq!(decoded(b"[m/s\xb2] \xb0C").as_deref(), Some("[m/s²] °C"));
        assert_eq!(decoded(b"Temperatur \xe4\xf6\xfc").as_deref(), Some("Temperatur äöü"));
        assert_eq!(decoded(&[1, 0, 0, 0, 7, 0, 0, 9]), None);
    }
}
