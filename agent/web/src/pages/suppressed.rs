//! Marks a bearing of which staff is not told: why, until when and by whom, in the reader's
//! language.

use minijinja::context;
use minijinja::value::Value;
use pdm_shared::episode::Suppression;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::{Language, Text};

use super::show;

/// Returns the mark of a suppression; `None` while staff is told.
pub(super) fn mark(suppression: &Suppression, language: Language) -> Option<Value> {
    let (until, by, why) = match suppression {
        Suppression::None => return None,
        Suppression::ByDesign { reason } => (None, None, reason),
        Suppression::Shelved { until, by, reason }
        | Suppression::OutOfService { until, by, reason, .. } => (Some(until), Some(by), reason),
    };
    Some(context! {
        word => format!("suppression_{}", suppression.as_str()),
        until => until.map(show::value),
        by,
        reason => reason(why, language),
    })
}

/// A reason in a language: those that the agent writes are translated, a person's own stay as they
/// are.
pub(super) fn reason(text: &str, language: Language) -> String {
    let told = of_cause(text).or_else(|| of_gateway(text));
    told.map_or_else(|| text.to_owned(), |told| told.in_language(language).to_owned())
}

/// The alarm of one cause with which a bearing is told.
fn of_cause(text: &str) -> Option<Text> {
    let (name, level) = text.strip_prefix("one cause with ")?.rsplit_once(" at ")?;
    let level: RiskLevel = level.parse().ok()?;
    let label = level.label();
    Some(Text::new(
        format!("{name} 경보({})와 함께 알림", label.ko),
        format!("told with the alarm of {name} ({})", label.en),
    ))
}

/// The gateway that is silent.
fn of_gateway(text: &str) -> Option<Text> {
    let name = text.strip_prefix("gateway ")?.strip_suffix(" is silent")?;
    Some(Text::new(
        format!("게이트웨이 {name}에서 신호가 없음"),
        format!("the gateway {name} is silent"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reasons that the agent writes have no English word on a Korean page; a person's stay.
    #[test]
    fn reasons_of_the_agent_are_told_in_the_readers_language() {
        let told = |text: &str| reason(text, Language::Ko);
        let cause = told("one cause with ulsan 1/P at Critical/NDE at Warning");
        assert!(cause.starts_with("ulsan 1/P at Critical/NDE 경보(") && !cause.contains("Warning"));
        assert!(told("gateway ulsan-1/g 1 is silent").starts_with("게이트웨이 ulsan-1/g 1에서"));
        for own in ["spare arrives", "one cause with", "gateway", "one cause with x at noon"] {
            assert_eq!(told(own), own);
        }
        assert!(mark(&Suppression::None, Language::Ko).is_none());
    }
}
