//! Tells who did what, in the reader's language. The record keeps one form of words
//! ([`crate::audit`]), which programs read; a page tells it in the words of the other pages.

use minijinja::context;
use minijinja::value::Value;
use pdm_shared::text::{Language, Text};
use pdm_shared::time::Timestamp;

use super::show;
use crate::accounts::Act;
use crate::times;

/// An act with its way, its name and its words. What the page does not know stands as it was
/// written down.
pub(super) fn row(act: &Act, language: Language) -> Value {
    context! {
        act => name_of(&act.action, language),
        way => way_of(&act.via, language),
        told => told(&act.action, &act.what, language),
        ..show::value(act)
    }
}

fn word(key: &str, language: Language) -> Option<&'static str> {
    crate::language::words(language).get(key).copied()
}

fn say(ko: &'static str, en: &'static str, language: Language) -> &'static str {
    if language == Language::Ko { ko } else { en }
}

fn name_of(action: &str, language: Language) -> String {
    let (ko, en) = match action {
        "acknowledge" => ("경보 확인", "acknowledged"),
        "undo acknowledge" => ("경보 확인 취소", "took an acknowledgement back"),
        "note" => ("메모", "note"),
        "ask for waveform" => ("파형 요청", "asked for a waveform"),
        "ask to relearn" => ("새로 학습 요청", "asked to learn a bearing anew"),
        "shelve" => ("보류", "shelved"),
        "end shelf" => ("보류 종료", "shelf ended"),
        "follow-up" => ("작업 보고", "reported work"),
        "undo follow-up" => ("보고 취소", "took a report back"),
        "add photo" => ("사진 추가", "added a photo"),
        "remove photo" => ("사진 삭제", "removed a photo"),
        "login" => ("로그인", "logged in"),
        "logout" => ("로그아웃", "logged out"),
        "user add" => ("사용자 추가", "added a user"),
        "user change" => ("사용자 변경", "changed a user"),
        "token add" => ("토큰 발급", "made a token"),
        "token revoke" => ("토큰 폐기", "took a token away"),
        "upload" => ("문서 올림", "uploaded a document"),
        "remove document" => ("문서 삭제", "removed a document"),
        "series" => ("측정값 입력", "sent values"),
        "settings" => ("설정 변경", "changed settings"),
        "duty override" => ("당직 대행", "changed who stands in"),
        "rename" => ("이름 변경", "renamed"),
        "forget" => ("제외", "took out"),
        "forget gateway" => ("게이트웨이 제외", "took a gateway out"),
        "replace gateway" => ("게이트웨이 교체", "replaced a gateway"),
        "release bearing" => ("베어링의 게이트웨이 지정 해제", "released a bearing"),
        "release gateway" => ("게이트웨이의 베어링 지정 해제", "released a gateway"),
        other => return other.to_owned(),
    };
    say(ko, en, language).to_owned()
}

fn way_of(via: &str, language: Language) -> String {
    let words = match via {
        "page" => Text::new("화면", "page"),
        "api" => Text::new("프로그램", "program"),
        "link" => Text::new("알림의 링크", "link of a message"),
        "cli" => Text::new("명령", "command"),
        other => return other.to_owned(),
    };
    words.in_language(language).to_owned()
}

/// The words of an act: what it was done to, what was done, and who signed.
fn told(action: &str, what: &str, language: Language) -> String {
    let (subject, by, rest) = parts_of(what);
    let rest = match action {
        "follow-up" => finding(rest, language),
        "shelve" => shelf(rest, language),
        "add photo" => photo(rest),
        "user add" | "user change" => return of_user(what, language),
        _ => Some(rest.trim_start_matches([':', ' ']).to_owned()),
    };
    let Some(rest) = rest else { return what.to_owned() };
    let parts = [subject.to_owned(), by.unwrap_or_default(), rest];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// Splits a text at ` by "name"`: returns the part before it, the name, and the part behind it.
fn parts_of(what: &str) -> (&str, Option<String>, &str) {
    let none = (what, None, "");
    let Some((subject, quoted)) = what.split_once(" by \"") else { return none };
    let mut name = String::new();
    let mut is_escaped = false;
    for (at, letter) in quoted.char_indices() {
        match letter {
            '\\' if !is_escaped => is_escaped = true,
            '"' if !is_escaped => return (subject, Some(name), &quoted[at + 1..]),
            letter => {
                name.push(letter);
                is_escaped = false;
            }
        }
    }
    none
}

/// `: done found right repaired true` in words.
fn finding(rest: &str, language: Language) -> Option<String> {
    let (report, kept) = match rest.split_once(", ") {
        Some((report, _kept)) => (report, true),
        None => (rest, false),
    };
    let words: Vec<&str> = report.strip_prefix(": ")?.split(' ').collect();
    let [state, "found", verdict, "repaired", repaired] = words.as_slice() else { return None };
    let mut told = vec![word(&format!("work_{state}"), language)?];
    if *verdict != "-" {
        told.push(word(&format!("found_{verdict}"), language)?);
    }
    if *repaired == "true" {
        told.push(word("found_repaired", language)?);
    }
    if kept {
        told.push(word("report_finding", language)?);
    }
    Some(told.join(" · "))
}

/// ` until 2026-11-30T07:00:00Z: "reason"` on the plant's clock.
fn shelf(rest: &str, language: Language) -> Option<String> {
    let (until, reason) = rest.strip_prefix(" until ")?.split_once(": ")?;
    let until = Timestamp::parse(until).ok()?;
    let until = times::minute_of(until, times::plant_zone());
    let until =
        if language == Language::Ko { format!("{until}까지") } else { format!("until {until}") };
    Some(format!("{until} · {}", reason.trim_matches('"')))
}

/// `: jpeg of 8229 bytes for IDENTITY` as `JPEG, 9 kB`; the judgement's identity is for programs.
fn photo(rest: &str) -> Option<String> {
    let (kind, size) = rest.strip_prefix(": ")?.split_once(" of ")?;
    let (bytes, _judgement) = size.split_once(" bytes for ")?;
    let bytes: u64 = bytes.parse().ok()?;
    Some(format!("{}, {} kB", kind.to_uppercase(), bytes.div_ceil(1000)))
}

fn of_user(what: &str, language: Language) -> String {
    let mut words: Vec<&str> = what.split(' ').collect();
    if let Some(last) = words.last_mut()
        && let Some(role) = word(&format!("role_{last}"), language)
    {
        *last = role;
    }
    let told = words.join(" ");
    let pairs = [
        (" disabled true", " 사용 중지", " disabled"),
        (" disabled false", " 사용 재개", " enabled"),
        (" password", " 비밀번호", " password"),
        (" role ", " 역할 ", " role "),
    ];
    let known = pairs.into_iter().find(|(text, ..)| told.contains(text));
    known.map_or_else(
        || told.clone(),
        |(text, ko, en)| told.replacen(text, say(ko, en, language), 1),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-UI-1: the record of acts has no English word on a Korean page, and says who signed.
    #[test]
    fn acts_are_told_in_the_readers_language() {
        let ko = |action: &str, what: &str| told(action, what, Language::Ko);
        let report =
            ko("follow-up", "u/P/DE by \"김 \\\"기사\\\"\": done found right repaired true");
        assert_eq!(
            report,
            "u/P/DE · 김 \"기사\" · 완료 · 판정대로 손상됨 · 베어링을 수리하거나 교체함"
        );
        let open = ko("follow-up", "u/P/DE by \"kim\": open found - repaired false");
        assert_eq!(open, "u/P/DE · kim · 대기");
        let shelf = ko("shelve", "u/P/DE by \"kim\" until 2026-11-30T07:00:00.000Z: \"부품 대기\"");
        assert_eq!(shelf, "u/P/DE · kim · 2026-11-30 07:00까지 · 부품 대기");
        assert_eq!(ko("user change", "kim disabled true"), "kim 사용 중지");
        assert_eq!(ko("user change", "kim role admin"), "kim 역할 관리자");
        let photo =
            "u/P/DE by \"kim\": jpeg of 8229 bytes for 01936f3e-7c1a-7b52-9a6e-000000000099";
        assert_eq!(ko("add photo", photo), "u/P/DE · kim · JPEG, 9 kB");
        assert_eq!(ko("acknowledge", "u/P/DE by \"kim\""), "u/P/DE · kim");
        // words of another version, or of a person, stay as they are
        for own in ["", "by", "x by \"open", "u by \"k\": done"] {
            assert_eq!(ko("follow-up", own), own, "{own:?}");
        }
        assert_eq!(name_of("something new", Language::Ko), "something new");
        let en = told("follow-up", "u by \"k\": done found wrong repaired false", Language::En);
        assert_eq!(en, "u · k · Done · Nothing was wrong");
    }
}
