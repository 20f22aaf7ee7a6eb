//! Removes secrets and personal data from texts for a model.
//!
//! It recognises the secrets of this program, words that the configuration calls private, mail
//! addresses, telephone numbers and resident registration numbers, keys and tokens by their form,
//! and names that follow a label (`담당자: 홍길동`, `Inspector: J. Smith`). A name without a label is not
//! recognised: `private_words` is for those.

/// The mark in place of what is left out.
const MARK: &str = "[redacted]";
/// Secrets below this length are too likely to be a part of an ordinary word.
const SHORTEST_SECRET: usize = 4;

/// Labels after which a person is named, in lower case.
const LABELS: [&str; 22] = [
    "담당자",
    "작성자",
    "점검자",
    "정비사",
    "작업자",
    "확인자",
    "승인자",
    "보고자",
    "성명",
    "이름",
    "연락처",
    "technician",
    "inspector",
    "author",
    "reported by",
    "checked by",
    "approved by",
    "written by",
    "engineer",
    "operator",
    "contact",
    "name of person",
];

/// Labels after which a secret stands, in lower case.
const SECRET_LABELS: [&str; 9] =
    ["password", "passwd", "비밀번호", "암호", "api_key", "api key", "apikey", "secret", "token"];

/// Leaves out what is not sent.
#[derive(Clone, Default)]
pub struct Redactor {
    words: Vec<String>,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Redactor({} words)", self.words.len())
    }
}

impl Redactor {
    /// A redactor that also leaves out these secrets and words.
    pub fn new(words: impl IntoIterator<Item = String>) -> Self {
        let mut words: Vec<String> =
            words.into_iter().filter(|word| word.trim().len() >= SHORTEST_SECRET).collect();
        // a longer word may hold a shorter one
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        words.dedup();
        Self { words }
    }

    /// The text without what is not sent.
    pub fn clean(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for word in &self.words {
            if text.contains(word.as_str()) {
                text = text.replace(word.as_str(), MARK);
            }
        }
        let mut out = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            let line = after_labels(line, LABELS.iter().chain(&SECRET_LABELS));
            for word in
                line.split_inclusive([' ', '\t', '\n', '"', '\'', ',', ';', '(', ')', '<', '>'])
            {
                clean_word(word, &mut out);
            }
        }
        spaced_numbers(&out)
    }

    /// A text for a person whom no model stands between: without secrets, with the names and
    /// numbers of people that the plant's documents have. Staff looks up whom to call.
    pub fn clean_of_secrets(&self, text: &str) -> String {
        let text = self.words.iter().fold(text.to_owned(), |rest, word| rest.replace(word, MARK));
        let mut out = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            let line = after_labels(line, SECRET_LABELS.iter());
            for word in line.split_inclusive([' ', '\t', '\n', '"', '\'', ',', ';', '(', ')']) {
                let core =
                    word.trim_end_matches(|c: char| c.is_whitespace() || "\"',;()".contains(c));
                out.push_str(if is_key(core) { MARK } else { core });
                out.push_str(&word[core.len()..]);
            }
        }
        out
    }
}

/// A line without what follows labels.
fn after_labels<'l>(line: &str, labels: impl Iterator<Item = &'l &'l str>) -> String {
    let mut line = line.to_owned();
    for label in labels {
        let mut from = 0;
        // lower case of the labels' letters keeps the length of the bytes, other letters may not
        while let Some(at) = find_ignoring_case(&line, label, from) {
            let end = at + label.len();
            from = end;
            let rest = &line[end..];
            let value = rest.trim_start_matches([' ', '"', '\'', '*']);
            let Some(value) = value.strip_prefix([':', '=', '：']) else { continue };
            let start = line.len() - value.len();
            let value = value.trim_start_matches([' ', '"', '\'', '*']);
            let begin = line.len() - value.len();
            let length = value.find(['\n', ',', ';', '"', '|', ')', '}']).unwrap_or(value.len());
            if length == 0 {
                from = start;
                continue;
            }
            line.replace_range(begin..begin + length, MARK);
            from = begin + MARK.len();
        }
    }
    line
}

fn find_ignoring_case(text: &str, word: &str, from: usize) -> Option<usize> {
    let (text, word) = (text.as_bytes(), word.as_bytes());
    let last = text.len().checked_sub(word.len())?;
    (from..=last).find(|&at| text[at..at + word.len()].eq_ignore_ascii_case(word))
}

fn clean_word(word: &str, out: &mut String) {
    let is_end = |c: char| c.is_whitespace() || "\"',;()<>".contains(c);
    let core = word.trim_end_matches(is_end);
    let end = &word[core.len()..];
    if is_mail(core) || is_key(core) || is_personal_number(core) {
        out.push_str(MARK);
    } else {
        out.push_str(core);
    }
    out.push_str(end);
}

fn is_mail(word: &str) -> bool {
    word.split_once('@').is_some_and(|(name, host)| {
        !name.is_empty() && host.contains('.') && host.chars().any(char::is_alphanumeric)
    })
}

/// A key or token by its form: known beginnings, or a long run of letters and digits that no word
/// of a language has.
fn is_key(word: &str) -> bool {
    let begins = ["sk-", "ghp_", "gho_", "xoxb-", "xoxp-", "AKIA", "eyJ", "-----BEGIN", "glpat-"];
    let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    if word.len() >= 12 && begins.iter().any(|begin| word.starts_with(begin)) {
        return true;
    }
    let is_run = word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '='));
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let letters = word.chars().filter(char::is_ascii_alphabetic).count();
    word.len() >= 32 && is_run && digits >= 4 && letters >= 4
}

/// A telephone or resident registration number: digits in groups, from a 0 or a +.
fn is_personal_number(word: &str) -> bool {
    let groups: Vec<&str> = word.split(['-', '.']).collect();
    let digits: String = word.chars().filter(char::is_ascii_digit).collect();
    let is_number = word.chars().all(|c| c.is_ascii_digit() || matches!(c, '-' | '.' | '+'))
        && !digits.is_empty();
    if !is_number {
        return false;
    }
    let is_registration = groups.len() == 2 && groups[0].len() == 6 && groups[1].len() == 7;
    let is_mobile =
        groups.len() == 1 && matches!(digits.len(), 10 | 11) && digits.starts_with("01");
    let is_grouped = groups.len() >= 3
        && (9..=13).contains(&digits.len())
        && (word.starts_with('0') || word.starts_with('+'));
    let is_international = word.starts_with('+') && (10..=14).contains(&digits.len());
    is_registration || is_mobile || is_grouped || is_international
}

/// Telephone numbers in groups with spaces: from `+` or `01` on.
fn spaced_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['+', '0']) {
        let begins = rest[at..].starts_with('+') || rest[at..].starts_with("01");
        let before = rest[..at].chars().next_back();
        let is_start =
            before.is_none_or(|c| !(c.is_alphanumeric() || matches!(c, '.' | '-' | '+')));
        let run = rest[at + 1..]
            .find(|c: char| !(c.is_ascii_digit() || matches!(c, ' ' | '-')))
            .map_or(rest.len(), |end| at + 1 + end);
        let number = rest[at..run].trim_end();
        let digits = number.chars().filter(char::is_ascii_digit).count();
        if begins && is_start && (10..=14).contains(&digits) && number.contains(' ') {
            out.push_str(&rest[..at]);
            out.push_str(MARK);
            rest = &rest[at + number.len()..];
        } else {
            out.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn secrets_and_data_of_people_are_left_out() {
        let redactor = Redactor::new(["hunter2!".to_owned(), "김철수".to_owned()]);
        for (text, hidden) in [
            ("the key is hunter2! now", "hunter2"),
            ("김철수가 점검함", "김철수"),
            ("담당자: 홍길동, 외륜 결함", "홍길동"),
            ("점검자 : 이영희\n외륜", "이영희"),
            ("Inspector: J. Smith", "Smith"),
            ("mail kim@plant.example today", "kim@"),
            ("call 010-1234-5678 now", "1234"),
            ("call 01012345678 now", "0101234"),
            ("+82 10 1234 5678 call", "1234"),
            ("900101-1234567", "900101"),
            ("sk-proj-abcdefghijklmnop", "abcdef"),
            ("password = hunter3", "hunter3"),
            ("{\"api_key\":\"abc123def\"}", "abc123"),
            ("0123456789abcdef0123456789abcdef", "abcdef"),
        ] {
            let clean = redactor.clean(text);
            assert!(!clean.contains(hidden) && clean.contains(MARK), "{text}: {clean}");
        }
    }

    #[test]
    fn what_a_judgement_needs_is_sent() {
        let redactor = Redactor::default();
        for text in [
            "2026-11-21T05:10:21.412Z RMS 0.169 g, 1797.0 rpm, BPFO 107.4 Hz",
            "01936f3e-7c1a-7b52-9a6e-2f0d5c8e4b11",
            "외륜 결함 주파수(BPFO) 18.2 dB, P-F 2단계, RUL 120-390 h",
            "MH-03#2, ISO 20816-1, SKF 6205-2RS/C3",
            "slope +0.0021 g/h, +12 dB, 0.02",
            "담당 부서 확인 후 교체",
        ] {
            assert_eq!(redactor.clean(text), text);
        }
    }

    #[test]
    fn the_words_are_not_shown_in_logs() {
        assert!(!format!("{:?}", Redactor::new(["hunter2!".to_owned()])).contains("hunter"));
    }

    proptest! {
        #[test]
        fn a_secret_is_found_in_any_text(before in "\\PC{0,30}", after in "\\PC{0,30}") {
            let redactor = Redactor::new(["CANARY-7f3a".to_owned()]);
            let clean = redactor.clean(&format!("{before}CANARY-7f3a{after}"));
            prop_assert!(!clean.contains("CANARY-7f3a"));
        }
    }
}
