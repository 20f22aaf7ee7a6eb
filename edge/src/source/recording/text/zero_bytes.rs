//! Zero bytes in a text: a logger reserves its file, or loses a block of its card.
//!
//! Invariant: zeros at the end are left out and told; zeros amid the text are refused with their
//! line, since rows are missing there.

/// In a text, one in this many bytes may be no sign of a text.
const MOST_SIGNS: usize = 100;

/// The content without the zeros at its end, if a text stands before them, with how many there are.
pub(super) fn without_tail(content: &[u8]) -> Option<(&[u8], usize)> {
    let end = content.iter().rposition(|byte| *byte != 0)? + 1;
    let zeros = content.len() - end;
    let text = &content[..end];
    (zeros > 0 && !text.contains(&0)).then_some((text, zeros))
}

/// Returns why a content is refused that is text except for a block of zeros.
pub(super) fn refusal(content: &[u8]) -> Option<String> {
    let at = content.iter().position(|byte| *byte == 0)?;
    let zeros = content.split(|byte| *byte == 0).count() - 1;
    let is_sign = |byte: &&u8| matches!(**byte, 1..=8 | 14..=31);
    let signs = content.iter().filter(is_sign).count();
    let rest = content.len() - zeros;
    if at == 0 || rest < 2 * zeros.min(64) || signs * MOST_SIGNS > rest {
        return None;
    }
    let run = content[at..].iter().take_while(|byte| **byte == 0).count();
    let line = content[..at].split(|byte| *byte == b'\n').count();
    let others = zeros - run;
    let more = if others > 0 { format!(" and {others} further down") } else { String::new() };
    Some(format!(
        "line {line}: {run} zero bytes stand amid the text{more}: a block that was not written, \
         and rows are missing there; keep the rows before it or behind it in a file of their own"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_at_the_end_are_a_reserve_and_amid_the_text_a_loss() {
        let rows = "0.1,0.2\n".repeat(50).into_bytes();
        let reserved = [rows.clone(), vec![0; 512]].concat();
        assert_eq!(without_tail(&reserved), Some((rows.as_slice(), 512)));
        assert_eq!(without_tail(&rows), None);
        let lost = [rows.clone(), vec![0; 128], rows.clone()].concat();
        assert_eq!(without_tail(&lost), None);
        let told = refusal(&lost).expect("a block");
        assert!(told.contains("line 51") && told.contains("128 zero bytes"), "{told}");
        assert_eq!(refusal(&[1, 0, 2, 0, 3, 0, 0, 1].repeat(40)), None);
    }
}
