//! The items of a section, as documents quote them: bullets, parts of an enumeration (`1. … 2. …`),
//! or paragraphs. The text stays as it is; only Markdown's marks are removed.

use pdm_shared::text::Text;

use super::Section;

/// The items of a section in both languages; without English the Korean text serves for both.
pub fn items(section: &Section) -> Vec<Text> {
    let own = split(&section.body);
    let english = split(&section.english);
    let paired = own.len() == english.len();
    let english = if paired { english } else { own.clone() };
    own.into_iter().zip(english).map(|(ko, en)| Text::new(ko, en)).collect()
}

/// The items of a Markdown text.
pub(crate) fn split(body: &str) -> Vec<String> {
    let mut items = Vec::new();
    let mut paragraph = String::new();
    for line in body.lines().map(str::trim) {
        if let Some(bullet) = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")) {
            flush(&mut paragraph, &mut items);
            paragraph.push_str(bullet);
        } else if line.is_empty() {
            flush(&mut paragraph, &mut items);
        } else if !line.starts_with('#') {
            if starts_enumeration(line) {
                flush(&mut paragraph, &mut items);
            }
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(line);
            // an enumeration on one line ends with that line
            if starts_enumeration(line) && line.ends_with('.') {
                flush(&mut paragraph, &mut items);
            }
        }
    }
    flush(&mut paragraph, &mut items);
    items
}

fn starts_enumeration(line: &str) -> bool {
    line.starts_with("1. ")
}

fn flush(paragraph: &mut String, items: &mut Vec<String>) {
    let text = plain(paragraph);
    paragraph.clear();
    if text.is_empty() {
        return;
    }
    match enumerated(&text) {
        Some(parts) => items.extend(parts),
        None => items.push(text),
    }
}

/// The text without Markdown's marks for emphasis and code.
fn plain(text: &str) -> String {
    text.replace("**", "").replace('`', "").trim().to_owned()
}

/// The parts of `1. first 2. second`; `None` if the numbers do not count upwards from 1.
fn enumerated(text: &str) -> Option<Vec<String>> {
    let mut rest = text.strip_prefix("1. ")?;
    let mut parts = Vec::new();
    for next in 2.. {
        let mark = format!(" {next}. ");
        let Some(at) = rest.find(&mark) else { break };
        parts.push(rest[..at].trim().to_owned());
        rest = &rest[at + mark.len()..];
    }
    parts.push(rest.trim().to_owned());
    (parts.len() > 1).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bullets_enumerations_and_paragraphs_become_items() {
        let body =
            "1. 차단 2. 잠금 3. **확인** 4. 작업.\n국내 규칙을 확인한다.\n\n- 하나\n- 둘\n  이어짐";
        assert_eq!(
            split(body),
            ["차단", "잠금", "확인", "작업.", "국내 규칙을 확인한다.", "하나", "둘 이어짐"]
        );
    }

    #[test]
    fn items_pair_with_their_english_and_stand_alone_without() {
        let section = |english: &str| Section {
            body: "- 하나\n- 둘".to_owned(),
            english: english.to_owned(),
            ..Section::default()
        };
        assert_eq!(
            items(&section("- one\n- two")),
            [Text::new("하나", "one"), Text::new("둘", "two")]
        );
        assert_eq!(items(&section(""))[1], Text::new("둘", "둘"));
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(body in "\\PC{0,120}") {
            let _items = split(&body);
        }
    }
}
