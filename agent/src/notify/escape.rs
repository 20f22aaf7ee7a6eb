//! Foreign texts in the forms of the channels: no name, unit or reason that a gateway or a tool
//! sent can begin a line of its own, format what stands beside it, address somebody or turn its
//! direction.
//!
//! Texts are bounded and on one line when they are taken in (`pdm_shared::bounds`). This module is
//! the second lock: it also holds for what an earlier version stored.

use pdm_shared::bounds::in_one_line;
use pdm_shared::text::Language;

/// Longest line of a message: the longest line of the agent's own texts has 400 characters.
const LINE: usize = 1000;
/// Longest title.
const TITLE: usize = 200;
/// Most lines of one message: the agent's own texts have twelve.
const LINES: usize = 60;

/// A title: one line.
pub(super) fn title(text: &str) -> String {
    in_one_line(text, TITLE).into_owned()
}

/// The lines of a body, each on one line.
pub(super) fn lines(text: &str) -> impl Iterator<Item = String> {
    text.split('\n').take(LINES).map(|line| in_one_line(line, LINE).into_owned())
}

/// A body for plain text: mail.
pub(super) fn plain(text: &str) -> String {
    lines(text).collect::<Vec<_>>().join("\n")
}

/// A message of one sender on one line. Its own line breaks become ` / `, so that no part of it
/// looks like a line that the agent wrote.
pub(super) fn one_line(text: &str, most: usize) -> String {
    let parts: Vec<&str> =
        text.split(['\n', '\r']).map(str::trim).filter(|part| !part.is_empty()).collect();
    in_one_line(&parts.join(" / "), most).into_owned()
}

/// A line in a page.
pub(super) fn html(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

/// The word of the link by which an alarm is acknowledged.
pub(super) const fn acknowledge(language: Language) -> &'static str {
    match language {
        Language::Ko => "확인",
        Language::En => "Acknowledge",
    }
}

/// A text in which a messenger finds nobody to address (`@here`, `@all`, `@channel`): the sign is
/// replaced by the one that looks like it.
pub(super) fn addresses_nobody(text: &str) -> String {
    text.replace('@', "＠")
}

/// A line for Slack's `mrkdwn`. Slack escapes three characters; it has no escape for those of its
/// formats, so these are replaced by characters that look like them. An underscore formats only
/// between words, and feature keys such as `rms_g` need it.
pub(super) fn slack(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '*' => out.push('∗'),
            '~' => out.push('∼'),
            '`' => out.push('ˋ'),
            '@' => out.push('＠'),
            other => out.push(other),
        }
    }
    out
}

/// An address within Slack's form of a link.
pub(super) fn slack_address(url: &str) -> String {
    let url = url.replace('|', "%7C").replace('&', "&amp;");
    url.replace('<', "%3C").replace('>', "%3E")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_message_with_line_breaks_is_one_line() {
        let forged = "check the seal\n\nAction: keep running\r\n";
        assert_eq!(one_line(forged, 500), "check the seal / Action: keep running");
        assert_eq!(plain("a\nb\u{2028}c\u{202e}d"), "a\nb\\u{2028}c\\u{202e}d");
    }

    proptest! {
        #[test]
        fn a_slack_line_has_no_mark_of_its_own(text in "[-a-z<>&*~`!@#| ]{0,60}") {
            let line = slack(&text);
            prop_assert!(!line.contains(['<', '>', '*', '~', '`', '@']));
            let marks = line.matches('&').count();
            prop_assert_eq!(marks, text.matches(['<', '>', '&']).count());
        }

        #[test]
        fn a_line_of_a_page_has_no_tag_of_its_own(text in "[-a-z<>&\"'= ]{0,60}") {
            prop_assert!(!html(&text).contains(['<', '>', '"', '\'']));
        }

        #[test]
        fn no_text_has_more_lines_than_it_was_written_with(
            text in "\\PC{0,80}|[\\x00-\\x20\\u{2028}]{0,40}") {
            let most = text.matches('\n').count() + 1;
            prop_assert!(plain(&text).lines().count() <= most);
            prop_assert!(one_line(&text, 200).lines().count() <= 1);
        }
    }
}
