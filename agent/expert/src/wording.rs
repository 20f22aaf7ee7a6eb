//! Puts facts into words: element names, figures, spans of time, evidence.

use pdm_shared::diagnosis::{Evidence, UncertaintyLevel};
use pdm_shared::fault::Fault;
use pdm_shared::text::Text;
use serde::Serialize;

/// The element's name for people.
pub fn element(fault: Fault) -> Text {
    fault.name()
}

/// The name of the element's defect frequency.
pub const fn frequency(fault: Fault) -> &'static str {
    match fault {
        Fault::OuterRace => "BPFO",
        Fault::InnerRace => "BPFI",
        Fault::Ball => "2×BSF",
        Fault::Cage => "FTF",
    }
}

/// A figure with three significant digits, whole above 100, without trailing zeros.
pub fn figure(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    let decimals = (2.0 - value.abs().log10().floor()).clamp(0.0, 12.0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A number of hours as people round it: below one hour as that, one decimal below ten, whole hours
/// below two days, whole days (rounded down) from there.
pub fn hours(value: f64) -> Text {
    if value < 1.0 {
        return Text::new("1시간 미만", "less than 1 h");
    }
    if value < 48.0 {
        let decimals = usize::from(value < 9.95);
        let text = format!("{value:.decimals$}");
        let figure = text.strip_suffix(".0").unwrap_or(&text);
        Text::new(format!("{figure}시간"), format!("{figure} h"))
    } else {
        let days = (value / 24.0).floor();
        Text::new(format!("{days:.0}일"), format!("{days:.0} days"))
    }
}

/// A remaining life as people read it beside other hours: hours below four days, whole days (to the
/// nearest) from there. Cut to days, 70 h were "2 days" beside a stop in 57 h.
pub fn life(value: f64) -> Text {
    if value < 48.0 {
        return hours(value);
    }
    if value < 96.0 {
        return Text::new(format!("{value:.0}시간"), format!("{value:.0} h"));
    }
    // written as figures of a text are read: half a day goes to the even one
    let days = value / 24.0;
    Text::new(format!("{days:.0}일"), format!("{days:.0} days"))
}

/// Returns how long ago something was, in natural words: minutes and hours to the nearest, days
/// that have passed.
pub fn ago(seconds: f64) -> Text {
    let unit = |count: f64, ko: &str, en: &str| {
        let plural = if count > 1.0 { "s" } else { "" };
        Text::new(format!("{count:.0}{ko} 전"), format!("{count:.0} {en}{plural} ago"))
    };
    let (minutes, hours) = ((seconds / 60.0).round(), (seconds / 3600.0).round());
    if seconds < 60.0 {
        Text::new("방금 전", "just now")
    } else if minutes < 60.0 {
        unit(minutes, "분", "minute")
    } else if hours < 24.0 {
        unit(hours, "시간", "hour")
    } else {
        unit((seconds / 86_400.0).floor().max(1.0), "일", "day")
    }
}

/// One fact with the rule that used it.
pub fn fact(path: impl Into<String>, value: impl Serialize, rule: &str) -> Evidence {
    Evidence {
        path: path.into(),
        value: serde_json::to_value(value).unwrap_or(serde_json::Value::Null),
        rule: Some(rule.to_owned()),
        source: None,
    }
}

/// A reason not to be surer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    /// The weight of the doubt.
    pub level: UncertaintyLevel,
    /// The doubt in words.
    pub cause: Text,
}

impl Doubt {
    /// A doubt of medium weight.
    pub fn medium(ko: impl Into<String>, en: impl Into<String>) -> Self {
        Self { level: UncertaintyLevel::Medium, cause: Text::new(ko, en) }
    }

    /// A doubt that leaves hardly more than a suspicion.
    pub fn high(ko: impl Into<String>, en: impl Into<String>) -> Self {
        Self { level: UncertaintyLevel::High, cause: Text::new(ko, en) }
    }
}

/// Sentences joined by a space, in both languages.
pub fn joined(parts: &[Text]) -> Text {
    let join = |pick: fn(&Text) -> &str| parts.iter().map(pick).collect::<Vec<_>>().join(" ");
    Text::new(join(|part| &part.ko), join(|part| &part.en))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_significant_digits() {
        for (value, text) in
            [(18.23, "18.2"), (0.002_13, "0.00213"), (1234.4, "1234"), (3.0, "3"), (0.0, "0")]
        {
            assert_eq!(figure(value), text);
        }
    }

    #[test]
    fn times_are_told_in_the_unit_a_person_would_use() {
        assert_eq!(ago(20.0).ko, "방금 전");
        assert_eq!(ago(130.0), Text::new("2분 전", "2 minutes ago"));
        assert_eq!(ago(290.0), Text::new("5분 전", "5 minutes ago"));
        assert_eq!(ago(3590.0), Text::new("1시간 전", "1 hour ago"));
        assert_eq!(ago(1.9 * 3600.0), Text::new("2시간 전", "2 hours ago"));
        assert_eq!(ago(86_300.0), Text::new("1일 전", "1 day ago"));
        assert_eq!(ago(5.5 * 86_400.0), Text::new("5일 전", "5 days ago"));
        assert_eq!(hours(120.0), Text::new("5일", "5 days"));
        assert_eq!(life(70.0), Text::new("70시간", "70 h"));
        assert_eq!(life(380.0), Text::new("16일", "16 days"));
        assert_eq!(life(300.0), Text::new("12일", "12 days"));
        assert_eq!(life(31.4), hours(31.4));
        assert_eq!(hours(6.37), Text::new("6.4시간", "6.4 h"));
        assert_eq!(hours(6.01), Text::new("6시간", "6 h"));
        assert_eq!(hours(9.97), Text::new("10시간", "10 h"));
        assert_eq!(hours(31.4), Text::new("31시간", "31 h"));
        assert_eq!(hours(0.005_68), Text::new("1시간 미만", "less than 1 h"));
    }
}
