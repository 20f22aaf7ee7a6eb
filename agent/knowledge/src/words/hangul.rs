//! Hangul syllables: their recognition and composition.

pub(crate) const fn is_hangul(c: char) -> bool {
    matches!(c, '가'..='힣')
}

/// The text in lower case with Hangul composed, so that NFD text (macOS, some PDFs) equals NFC
/// text.
pub fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii() {
            out.push(c.to_ascii_lowercase());
        } else if is_hangul(c) {
            out.push(c);
        } else {
            c.to_lowercase().for_each(|c| push_joined(&mut out, c));
        }
    }
    out
}

fn push_joined(out: &mut String, c: char) {
    match out.chars().next_back().and_then(|before| join(before, c)) {
        Some(syllable) => {
            out.pop();
            out.push(syllable);
        }
        None => out.push(c),
    }
}

/// Joins conjoining jamo. Source: Unicode 16.0, section 3.12.
fn join(before: char, next: char) -> Option<char> {
    let (before, next) = (u32::from(before), u32::from(next));
    let code = match (before, next) {
        (0x1100..=0x1112, 0x1161..=0x1175) => {
            0xAC00 + ((before - 0x1100) * 21 + (next - 0x1161)) * 28
        }
        (0xAC00..=0xD7A3, 0x11A8..=0x11C2) if (before - 0xAC00).is_multiple_of(28) => {
            before + (next - 0x11A7)
        }
        _ => return None,
    };
    char::from_u32(code)
}
