//! Dates and times of day in a text.

use super::{Figure, Unit};

/// Forms of a date: how it is written (`0` is a digit), and which parts of a time it gives.
const FORMS: &[(&str, &str)] = &[
    ("0000-00-00 00:00:00", "%Y-%m-%d %H:%M:%S"),
    ("0000-00-00T00:00:00", "%Y-%m-%dT%H:%M:%S"),
    ("0000-00-00 00:00", "%Y-%m-%d %H:%M"),
    ("0000-00-00T00:00", "%Y-%m-%dT%H:%M"),
    ("0000-00-00", "%Y-%m-%d"),
    ("00:00:00", "%H:%M:%S"),
    ("00:00", "%H:%M"),
];

/// Parts of a Korean date in their order.
const KOREAN: &[(char, &str)] =
    &[('년', "%Y년"), ('월', "%-m월"), ('일', "%-d일"), ('시', "%-H시"), ('분', "%-M분")];

/// The date that begins at `start`.
pub(super) fn date(text: &str, start: usize) -> Option<Figure> {
    let before = text[..start].chars().next_back();
    if before.is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '#' | ':')) {
        return None;
    }
    let (end, form) = numeric(text, start).or_else(|| korean(text, start))?;
    let unit = Unit::Instant(form);
    Some(Figure { at: start..end, end, value: f64::NAN, decimals: 0, unit })
}

fn numeric(text: &str, start: usize) -> Option<(usize, String)> {
    let rest = text.as_bytes().get(start..)?;
    let fits = |form: &str| {
        rest.len() >= form.len()
            && form.bytes().zip(rest).all(|(wanted, is)| match wanted {
                b'0' => is.is_ascii_digit(),
                sign => *is == sign,
            })
            && !rest.get(form.len()).is_some_and(u8::is_ascii_digit)
    };
    let (form, parts) = FORMS.iter().find(|(form, _)| fits(form))?;
    Some((start + form.len(), (*parts).to_owned()))
}

/// `2026년 11월 21일`, `11월 21일 8시 5분`: two parts at least, the month among them.
fn korean(text: &str, start: usize) -> Option<(usize, String)> {
    let (mut at, mut end, mut form) = (start, start, String::new());
    let (mut next, mut parts) = (0, 0);
    loop {
        let rest = &text[at..];
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let Some(sign) = rest[digits..].chars().next().filter(|_| digits > 0) else { break };
        let Some(place) = KOREAN[next..].iter().position(|(word, _)| *word == sign) else { break };
        form.push_str(&text[end..at]);
        form.push_str(KOREAN[next + place].1);
        next += place + 1;
        parts += 1;
        end = at + digits + sign.len_utf8();
        at = end + usize::from(text[end..].starts_with(' '));
    }
    (parts >= 2 && form.contains('월')).then_some((end, form))
}
