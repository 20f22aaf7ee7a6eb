//! Shows values in templates: figures with three digits, hours as hours or days, addresses.

use std::fmt::Write as _;

use minijinja::Environment;
use minijinja::value::{Serde, Value, ValueKind};
use pdm_shared::id::BearingKey;
use pdm_shared::text::Language;
use pdm_shared::time::Timestamp;
use serde::Serialize;

use crate::access::encoded;
use crate::times;

/// Adds the filters `figure`, `hours`, `length`, `time` (to the minute), `moment` (to the second),
/// `time_in`, `dash`, `linked`, `sourced`, `marked`, `compact`.
pub(super) fn add(environment: &mut Environment<'static>) {
    environment.add_filter("figure", |value: Value| number(&value).map_or_else(dash, figure));
    environment.add_filter("hours", |value: Value, code: &str| {
        let language = crate::language::parse(code).unwrap_or_default();
        number(&value).map_or_else(dash, |number| life(number, language))
    });
    environment.add_filter("dash", |value: Value| {
        if matches!(value.kind(), ValueKind::None | ValueKind::Undefined) {
            Value::from("–")
        } else {
            value
        }
    });
    // of what is not there none
    environment.add_filter("length", |value: Value| value.len().unwrap_or(0));
    environment.add_filter("time", |value: Value| {
        time_of(&value, |at| times::minute_of(at, times::plant_zone()))
    });
    environment.add_filter("moment", |value: Value| {
        time_of(&value, |at| times::second_of(at, times::plant_zone()))
    });
    environment.add_filter("time_in", |value: Value, zone: Value| {
        let own = zone.as_str().and_then(|zone| zone.parse().ok());
        let own = own.unwrap_or_else(times::plant_zone);
        time_of(&value, |at| {
            if own == times::plant_zone() { times::minute_of(at, own) } else { own.in_words(at) }
        })
    });
    environment.add_filter("linked", |text: Value| {
        text.as_str().map_or_else(|| text.clone(), |text| Value::from_safe_string(linked(text)))
    });
    environment.add_filter("sourced", |text: Value, code: &str| {
        let language = crate::language::parse(code).unwrap_or_default();
        let told = text.as_str().map(|text| linked(&of_one_language(text, language)));
        told.map_or_else(|| text.clone(), Value::from_safe_string)
    });
    environment.add_filter("marked", |text: Value| {
        text.as_str().map_or_else(|| text.clone(), |text| Value::from_safe_string(marked(text)))
    });
    environment.add_filter("compact", |value: Value| {
        serde_json::to_string(&value).unwrap_or_default().chars().take(400).collect::<String>()
    });
}

/// The source of a passage with the document's title in the reader's language: `EM-06 §1 (안전 ·
/// Safety)` names it in both.
fn of_one_language(source: &str, language: Language) -> String {
    let titles = source.strip_suffix(')').and_then(|rest| rest.split_once(" ("));
    let titles = titles.and_then(|(place, both)| Some((place, both.split_once(" · ")?)));
    match (titles, language) {
        (Some((place, (ko, _))), Language::Ko) => format!("{place} ({ko})"),
        (Some((place, (_, en))), Language::En) => format!("{place} ({en})"),
        (None, _) => source.to_owned(),
    }
}

/// Returns the same, with the words in bold that a document marks by two asterisks.
pub(super) fn marked(text: &str) -> String {
    let parts: Vec<&str> = text.split("**").collect();
    // an odd number of marks is no pair: the text stands as it is
    if parts.len().is_multiple_of(2) {
        return linked(text);
    }
    let mut html = String::with_capacity(text.len() + 64);
    for (at, part) in parts.iter().enumerate() {
        let is_bold = at % 2 == 1 && !part.is_empty() && !part.contains('\n');
        let told = linked(part);
        if is_bold {
            html.extend(["<strong>", &told, "</strong>"]);
        } else if at % 2 == 1 {
            html.extend(["**", &told, "**"]);
        } else {
            html.push_str(&told);
        }
    }
    html
}

/// A time as HTML: what a person reads, with the instant for programs. What is no time stands as it
/// is.
fn time_of(value: &Value, written: impl Fn(Timestamp) -> String) -> Value {
    let Some(text) = value.as_str() else { return Value::from(dash()) };
    let Ok(at) = Timestamp::parse(text) else { return Value::from(text) };
    let shown = written(at);
    Value::from_safe_string(format!("<time datetime=\"{at}\">{shown}</time>"))
}

/// A text as HTML, in which the documents that it names (`EM-06`, `MH-03`) lead to their pages.
pub(super) fn linked(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + 64);
    let mut rest = text;
    while let Some(at) = ["EM-", "MH-"].iter().filter_map(|mark| rest.find(mark)).min() {
        let (before, from) = rest.split_at(at);
        let digits = from.bytes().skip(3).take_while(u8::is_ascii_digit).count();
        let is_word = before.ends_with(|last: char| last.is_ascii_alphanumeric() || last == '-');
        let (name, after) = from.split_at(3 + digits);
        escape(before, &mut html);
        if digits >= 2 && !is_word {
            let _written = write!(html, "<a href=\"/knowledge/{name}\">{name}</a>");
        } else {
            html.push_str(name);
        }
        rest = after;
    }
    escape(rest, &mut html);
    html
}

fn escape(text: &str, html: &mut String) {
    for one in text.chars() {
        match one {
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '&' => html.push_str("&amp;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#x27;"),
            other => html.push(other),
        }
    }
}

/// A row for a template, with the names that it has as JSON.
pub(super) fn value(of: impl Serialize) -> Value {
    Value::from(Serde(of))
}

fn number(value: &Value) -> Option<f64> {
    f64::try_from(value.clone()).ok().filter(|number| number.is_finite())
}

pub(super) fn dash() -> String {
    "–".to_owned()
}

/// Three significant digits, without an exponent for what is measured here.
fn figure(number: f64) -> String {
    let size = number.abs();
    if number == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e6).contains(&size) {
        return format!("{number:.2e}");
    }
    let digits = (2 - size.log10().floor() as i32).clamp(0, 6) as usize;
    format!("{number:.digits$}")
}

/// Hours below two days, else whole days, rounded down; what is left of an hour as that.
pub(super) fn hours(number: f64, language: Language) -> String {
    let (hour, day) = match language {
        Language::Ko => ("시간", "일"),
        Language::En => (" h", " d"),
    };
    if (0.0..1.0).contains(&number) {
        format!("<1{hour}")
    } else if number.abs() < 48.0 {
        format!("{number:.0}{hour}")
    } else {
        format!("{:.0}{day}", (number / 24.0).floor())
    }
}

/// A remaining life, rounded as messages, documents and judgements round it (`pdm_expert`): one
/// decimal below ten hours, whole hours below four days, whole days to the nearest from there. One
/// figure is one figure everywhere.
pub(super) fn life(number: f64, language: Language) -> String {
    let (hour, day) = match language {
        Language::Ko => ("시간", "일"),
        Language::En => (" h", " d"),
    };
    if number < 1.0 {
        return format!("<1{hour}");
    }
    if number < 9.95 {
        let text = format!("{number:.1}");
        return format!("{}{hour}", text.strip_suffix(".0").unwrap_or(&text));
    }
    if number < 96.0 { format!("{number:.0}{hour}") } else { format!("{:.0}{day}", number / 24.0) }
}

/// The age from which a figure is told with it, s. Chosen: above the period of the slowest gateways
/// that measure by the hour.
const TOLD_AGE_S: f64 = 2.0 * 3600.0;
/// The age from which a figure is marked as old, s. Chosen: half a day, in which every configured
/// gateway measures at least once.
const OLD_S: f64 = 12.0 * 3600.0;

/// A measurement that lies so far ahead of the clock is said to, s: its gateway's clock was or is
/// ahead, and a time of judgement beside it is the earlier one. Chosen: clocks without a time
/// service differ by less.
const AHEAD_S: f64 = 60.0;

/// Says how old a measurement is, where that matters, or how far ahead of the clock; and whether it
/// is too old for a present one.
pub(super) fn age(
    at: Option<Timestamp>,
    now: Timestamp,
    language: Language,
) -> (Option<String>, bool) {
    let Some(seconds) = at.map(|at| now.seconds_since(at)) else { return (None, false) };
    if seconds <= -AHEAD_S {
        let by = hours(-seconds / 3600.0, language);
        let told = match language {
            Language::Ko => format!("시계보다 {by} 앞섬"),
            Language::En => format!("{by} ahead of the clock"),
        };
        return (Some(told), true);
    }
    let told = (seconds >= TOLD_AGE_S).then(|| {
        let age = hours(seconds / 3600.0, language);
        match language {
            Language::Ko => format!("{age} 전"),
            Language::En => format!("{age} ago"),
        }
    });
    (told, seconds >= OLD_S)
}

/// The address of a bearing's page.
pub(crate) fn address(key: &BearingKey) -> String {
    let part = |name: &str| encoded(name).replace('/', "%2F");
    format!(
        "/bearings/{}/{}/{}",
        part(key.site.as_str()),
        part(key.equipment.as_str()),
        part(key.bearing.as_str())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-UI-1: a measurement of 55 min ahead stood beside an earlier time of judgement without a
    /// word.
    #[test]
    fn a_measurement_ahead_of_the_clock_says_so() {
        let now = Timestamp::from_unix_ms(1_795_238_000_000).expect("a time");
        let told = |by_s: f64, language| age(Some(now.plus_seconds(by_s)), now, language);
        let (said, is_bad) = told(3300.0, Language::En);
        assert!(is_bad && said.as_deref().is_some_and(|said| said.ends_with("ahead of the clock")));
        let (said, _) = told(3300.0, Language::Ko);
        assert!(said.is_some_and(|said| said.starts_with("시계보다") && said.ends_with("앞섬")));
        assert_eq!(told(5.0, Language::En), (None, false), "clocks differ by seconds");
        assert_eq!(told(-5.0, Language::En), (None, false));
    }

    #[test]
    fn figures_have_three_digits() {
        for (number, text) in [
            (0.0, "0"),
            (0.077_123, "0.0771"),
            (1.0, "1.00"),
            (-12.34, "-12.3"),
            (123_456.0, "123456"),
            (1e-9, "1.00e-9"),
        ] {
            assert_eq!(figure(number), text);
        }
        let en = |number: f64| hours(number, Language::En);
        let ko = |number: f64| hours(number, Language::Ko);
        assert_eq!((en(47.6), en(480.0)), ("48 h".to_owned(), "20 d".to_owned()));
        assert_eq!((en(0.2), en(71.9)), ("<1 h".to_owned(), "2 d".to_owned()));
        assert_eq!((ko(0.2), ko(480.0)), ("<1시간".to_owned(), "20일".to_owned()));
        let life = |number: f64| life(number, Language::En);
        let told = [0.5, 6.46, 6.0, 34.2, 60.0, 95.0, 111.0, 119.7, 210.0, 388.5].map(life);
        let wanted = ["<1 h", "6.5 h", "6 h", "34 h", "60 h", "95 h", "5 d", "5 d", "9 d", "16 d"];
        assert_eq!(told, wanted, "as a message rounds them");
    }

    /// R-UI-1: documents lead to their pages, and a foreign text stays text.
    #[test]
    fn documents_that_a_text_names_are_linked_and_markup_is_not() {
        assert_eq!(
            linked("EM-06 §1 <b>(MH-03, MH-3, XEM-06)</b>"),
            "<a href=\"/knowledge/EM-06\">EM-06</a> §1 &lt;b&gt;(<a \
             href=\"/knowledge/MH-03\">MH-03</a>, \
             MH-3, XEM-06)&lt;/b&gt;"
        );
        assert_eq!(linked("외륜 EM-"), "외륜 EM-");
        assert_eq!(linked("\"'&"), "&quot;&#x27;&amp;");
    }

    #[test]
    fn a_source_is_named_in_the_readers_language_alone() {
        let both = "EM-06 §1 (베어링 교체 절차서 · Bearing replacement)";
        assert_eq!(of_one_language(both, Language::Ko), "EM-06 §1 (베어링 교체 절차서)");
        assert_eq!(of_one_language(both, Language::En), "EM-06 §1 (Bearing replacement)");
        for one in ["EM-06 §1 (Plant rules)", "EM-06", "config"] {
            assert_eq!(of_one_language(one, Language::En), one);
        }
    }

    /// A figure of hours ago does not look as if it were fresh.
    #[test]
    fn the_age_of_a_figure_is_told_once_it_matters() {
        let now = Timestamp::from_unix_ms(1_795_238_000_000).expect("in range");
        let told = |hours: f64| age(Some(now.plus_seconds(-3600.0 * hours)), now, Language::En);
        assert_eq!(told(1.0), (None, false));
        assert_eq!(told(3.0), (Some("3 h ago".to_owned()), false));
        assert_eq!(told(14.0), (Some("14 h ago".to_owned()), true));
        assert_eq!(age(None, now, Language::Ko), (None, false));
    }

    #[test]
    fn a_name_with_spaces_and_hangul_is_an_address() {
        let key = BearingKey::parse("ulsan 1", "펌프", "DE?x").expect("names");
        let address = address(&key);
        assert!(address.is_ascii() && !address.contains(['?', ' ']), "{address}");
    }
}
