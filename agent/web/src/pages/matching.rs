//! Decides whether a row of a list is what a person searches for, as people type names: with and
//! without the hyphens of a tag, or with another dash, in any case and in full width, each word
//! somewhere in the row.

/// Whether every word of `asked` stands in `text`.
pub(super) fn fits(text: &str, asked: &str) -> bool {
    let text = folded(text);
    let bare = bare(&text);
    folded(asked).split_whitespace().all(|word| {
        let bare_word = self::bare(word);
        text.contains(word) || (!bare_word.is_empty() && bare.contains(&bare_word))
    })
}

/// Small letters of usual width: a Korean keyboard also types `Ｐ－１０１`.
fn folded(text: &str) -> String {
    let narrow = |one: char| match one {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(one) - 0xfee0).unwrap_or(one),
        '\u{3000}' => ' ',
        other => other,
    };
    text.chars().map(narrow).collect::<String>().to_lowercase()
}

/// The letters and digits of a text; words stay apart.
fn bare(text: &str) -> String {
    text.chars().filter(|one| one.is_alphanumeric() || one.is_whitespace()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_found_with_and_without_its_hyphen() {
        let row = "P-101 · DE ulsan-1 냉각수 펌프 외륜 Outer race 긴급 Critical";
        for asked in [
            "P-101",
            "p101",
            "P_101",
            "101 de",
            "냉각수",
            "외륜",
            "critical ULSAN1",
            "Ｐ－１０１　ＤＥ",
            "P–101",
            "P\u{ad}101",
            "p.101",
            "",
            " ",
        ] {
            assert!(fits(row, asked), "{asked:?}");
        }
        for asked in ["P-102", "p101de", "내륜", "-"] {
            let is_sign = asked == "-";
            assert_eq!(fits(row, asked), is_sign, "{asked:?}");
        }
    }
}
