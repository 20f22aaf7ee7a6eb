//! Counts the judgements that were right and the alarms that were false, by the reported findings
//! of staff.

use pdm_shared::follow_up::Verdict;
use pdm_shared::id::BearingKey;
use pdm_shared::text::Language;

use super::dates::{self, Span};
use super::desk::{CoreFields, Desk, InspectedJudgement};
use super::reader::Reader;
use super::sites;

/// Reports that are told one by one.
const MAX_TOLD: usize = 10;

/// The counts of inspected judgements by what was found: of the days that a clause names, else all
/// that are kept; of one bearing where one is asked. Nothing where the desk keeps none.
pub(super) async fn verdicts(
    desk: &dyn Desk,
    (fleet, of): (&[CoreFields], Option<&BearingKey>),
    clause: &str,
    reader: Reader,
) -> Option<String> {
    let language = reader.language;
    let span = reader.today().and_then(|today| dates::span_in(clause, today));
    let all = desk.inspected().await.ok()??;
    let sites = sites::all(fleet);
    let is_asked = |one: &&InspectedJudgement| {
        (sites.is_empty() || sites.contains(&one.key.site.as_str()))
            && of.is_none_or(|key| *key == one.key)
            && span.is_none_or(|span| span.holds(reader.day(one.at)))
    };
    let asked: Vec<&InspectedJudgement> = all.iter().filter(is_asked).collect();
    let count = |verdict: Verdict| asked.iter().filter(|one| one.verdict == verdict).count();
    let head = head(count(Verdict::Wrong), span, language);
    let counts = Counts {
        all: asked.len(),
        right: count(Verdict::Right),
        wrong: count(Verdict::Wrong),
        other: count(Verdict::OtherCause),
    };
    let lines = asked.iter().take(MAX_TOLD).map(|one| line(one, fleet, reader));
    let rest = asked.len().saturating_sub(MAX_TOLD);
    let rest = (rest > 0).then(|| match language {
        Language::Ko => format!("그 밖에 {rest}건"),
        Language::En => format!("and {rest} more"),
    });
    let unread = dates::unread(clause, span, language);
    if asked.is_empty() {
        let none = none(of.map(|key| name_of(key, fleet, language)), span, language);
        return Some(unread.into_iter().chain([none]).collect::<Vec<_>>().join("\n"));
    }
    let told = unread.into_iter().chain([head, counts.in_words(language)]).chain(lines);
    Some(told.chain(rest).chain([bound(language).to_owned()]).collect::<Vec<_>>().join("\n"))
}

/// Inspected judgements by what was found.
struct Counts {
    all: usize,
    right: usize,
    wrong: usize,
    other: usize,
}

impl Counts {
    fn in_words(&self, language: Language) -> String {
        let Self { all, right, wrong, other } = self;
        let share = pdm_expert::wording::figure(100.0 * *right as f64 / (*all).max(1) as f64);
        match language {
            Language::Ko => format!(
                "점검 결과가 보고된 판정 {all}건: 판정 맞음 {right} ({share} %), 이상 없음(오경보) {wrong}, 다른 원인 {other}"
            ),
            Language::En => format!(
                "Judgements that staff inspected and reported: {all}: right {right} ({share} %), \
                 nothing wrong (false alarm) {wrong}, another cause {other}"
            ),
        }
    }
}

fn head(wrong: usize, span: Option<Span>, language: Language) -> String {
    let days = span.map(Span::in_words);
    match (days, language) {
        (Some(days), Language::Ko) => format!("오경보 {wrong}건 ({days}에 보고된 점검 결과)"),
        (None, Language::Ko) => format!("오경보 {wrong}건 (기록된 모든 점검 결과)"),
        (Some(days), Language::En) => {
            format!("False alarms: {wrong} (by findings that were reported {days})")
        }
        (None, Language::En) => format!("False alarms: {wrong} (by all findings on record)"),
    }
}

/// Says that no finding is reported: of a bearing, or of some time.
fn none(name: Option<String>, span: Option<Span>, language: Language) -> String {
    let name = name.map(|name| format!("{name}: ")).unwrap_or_default();
    let days = span.map(Span::in_words);
    match (days, language) {
        (Some(days), Language::Ko) => {
            format!("{name}{days}에 보고된 점검 결과가 없어 오경보였는지는 기록에 없습니다.")
        }
        (None, Language::Ko) => {
            format!("{name}보고된 점검 결과가 없어 오경보였는지는 기록에 없습니다.")
        }
        (Some(days), Language::En) => format!(
            "{name}no finding was reported {days}, so whether an alarm was false is not on record."
        ),
        (None, Language::En) => {
            format!("{name}no finding is reported, so whether an alarm was false is not on record.")
        }
    }
}

fn name_of(key: &BearingKey, fleet: &[CoreFields], language: Language) -> String {
    let core = fleet.iter().find(|core| core.key == *key);
    core.map_or_else(|| key.to_string(), |core| core.full_name(language))
}

fn line(one: &InspectedJudgement, fleet: &[CoreFields], reader: Reader) -> String {
    let language = reader.language;
    let name = name_of(&one.key, fleet, language);
    let found = match (one.verdict, language) {
        (Verdict::Right, Language::Ko) => "판정 맞음",
        (Verdict::Right, Language::En) => "right",
        (Verdict::Wrong, Language::Ko) => "이상 없음(오경보)",
        (Verdict::Wrong, Language::En) => "nothing wrong (false alarm)",
        (Verdict::OtherCause, Language::Ko) => "다른 원인",
        (Verdict::OtherCause, Language::En) => "another cause",
    };
    let note = one.note.as_ref().map(|note| format!(", {note}")).unwrap_or_default();
    format!("- {name}: {found}{note} ({}, {})", one.by, reader.clock_time(one.at))
}

/// States the limits of the counts.
const fn bound(language: Language) -> &'static str {
    match language {
        Language::Ko => {
            "점검 결과가 보고되지 않은 경보가 오경보였는지는 기록에 없습니다. [출처: 점검 보고]"
        }
        Language::En => {
            "Of alarms without a reported finding it is not on record whether they were false. \
             [Source: reports of inspections]"
        }
    }
}
