//! The summary for a person at a terminal.

use std::fmt::Write as _;

use pdm_shared::text::Language;

use crate::backtest::Summary;

/// The summary in a language.
pub(super) fn summary_in_words(summary: &Summary, language: Language) -> String {
    let say = |ko: &str, en: &str| match language {
        Language::Ko => ko.to_owned(),
        Language::En => en.to_owned(),
    };
    let unknown = say("알 수 없음", "cannot say");
    let number = |value: Option<f64>, decimals: usize| {
        value.map_or_else(|| unknown.clone(), |value| format!("{value:.decimals$}"))
    };
    let mut out = String::new();
    // writing to a String cannot fail
    let _infallible = writeln!(
        out,
        "{} {}, {} {}, {:.2} {}",
        summary.windows,
        say("구간", "windows"),
        summary.bearings,
        say("베어링", if summary.bearings == 1 { "bearing" } else { "bearings" }),
        summary.bearing_years,
        say("베어링·년", "bearing-years"),
    );
    for (letter, side) in ["A", "B"].into_iter().zip(&summary.sides) {
        let messages: u64 = side.messages.values().sum();
        let truth = side.truth.as_ref();
        let failures = truth.map_or_else(
            || unknown.clone(),
            |one| format!("{}/{}", one.failures - one.failures_not_told, one.failures),
        );
        let _infallible = writeln!(
            out,
            "{letter} {}: {} {}, {messages} {}, {}: {}, {}: {failures}",
            side.name,
            side.episodes_told,
            say("에피소드", "episodes told"),
            say("메시지", "messages"),
            say("베어링·년당 거짓 에피소드", "false episodes a bearing-year"),
            number(truth.and_then(|one| one.false_per_bearing_year), 2),
            say("미리 알린 고장", "failures told before they came"),
        );
        for person in side.people.iter().filter(|person| person.name != "mqtt") {
            let _infallible = writeln!(
                out,
                "  {}: {} {} {}",
                person.name,
                number(person.per_week, 1),
                say("건/주, 시간당 최다", "messages a week, in one hour at most"),
                person.busiest_hour,
            );
        }
    }
    add_rest(&mut out, summary, language);
    out
}

/// Adds the differences of the configurations, and what cannot be said.
fn add_rest(out: &mut String, summary: &Summary, language: Language) {
    let say = |ko: &str, en: &str| match language {
        Language::Ko => ko.to_owned(),
        Language::En => en.to_owned(),
    };
    if summary.sides.len() == 2 {
        let differing = summary.differences.len();
        let _infallible =
            writeln!(out, "{}: {differing}", say("서로 다른 에피소드", "episodes that differ"));
    }
    if !summary.holes.is_empty() {
        let _infallible = writeln!(
            out,
            "{}: {}",
            say("빈 시간", "holes in the events, of which nothing can be said"),
            summary.holes.len()
        );
    }
    for remark in &summary.remarks {
        let _infallible = writeln!(out, "{remark}");
    }
}
