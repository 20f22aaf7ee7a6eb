//! Breaks text into lines: at spaces, and inside a word that is wider than its column.

use crate::font;

/// The lines of a text in a column of `width`, at least one.
pub(super) fn lines(text: &str, size: f32, width: f32) -> Vec<String> {
    let mut lines = Vec::new();
    for part in text.split('\n') {
        wrap(part, size, width, &mut lines);
    }
    lines
}

fn wrap(text: &str, size: f32, width: f32, lines: &mut Vec<String>) {
    let mut line = String::new();
    let mut filled = 0.0;
    let space = font::width(" ", size);
    for word in text.split_whitespace() {
        let word: String = word.chars().filter(|letter| !letter.is_control()).collect();
        let needed = font::width(&word, size);
        let gap = if line.is_empty() { 0.0 } else { space };
        if filled + gap + needed <= width {
            if gap > 0.0 {
                line.push(' ');
            }
            line.push_str(&word);
            filled += gap + needed;
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        (line, filled) = cut(&word, size, width, lines);
    }
    lines.push(line);
}

/// Puts full lines of a long word into `lines` and returns the rest with its width.
fn cut(word: &str, size: f32, width: f32, lines: &mut Vec<String>) -> (String, f32) {
    let mut line = String::new();
    let mut filled = 0.0;
    for letter in word.chars() {
        let advance = font::glyph(letter).advance_em * size;
        if filled + advance > width && !line.is_empty() {
            lines.push(std::mem::take(&mut line));
            filled = 0.0;
        }
        line.push(letter);
        filled += advance;
    }
    (line, filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_and_long_words_inside() {
        let width = font::width("외륜 결함", 10.0) + 0.1;
        assert_eq!(lines("외륜 결함 외륜", 10.0, width), ["외륜 결함", "외륜"]);
        assert_eq!(lines("", 10.0, width), [""]);
        assert!(lines(&"a".repeat(100), 10.0, width).len() > 5);
        assert_eq!(lines("가", 10.0, 1.0), ["가"], "a column narrower than a letter");
    }
}
