//! The templates, and how one is rendered.
//!
//! A value that a template names and that is not there is a fault of the program, which the tests
//! find. A reader sees the rest of the page all the same, with an empty place for it: a single row
//! must not take a page from everybody.

use std::sync::LazyLock;

use minijinja::value::Value;
use minijinja::{Environment, UndefinedBehavior};

use super::show;

pub(super) const TEMPLATES: [(&str, &str); 48] = [
    ("capture.html", include_str!("../../templates/capture.html")),
    ("demand.html", include_str!("../../templates/demand.html")),
    ("captures.html", include_str!("../../templates/captures.html")),
    ("removal.html", include_str!("../../templates/removal.html")),
    ("relearning.html", include_str!("../../templates/relearning.html")),
    ("relearn_state.html", include_str!("../../templates/relearn_state.html")),
    ("relearn_form.html", include_str!("../../templates/relearn_form.html")),
    ("history.html", include_str!("../../templates/history.html")),
    ("ack.html", include_str!("../../templates/ack.html")),
    ("episodes.html", include_str!("../../templates/episodes.html")),
    ("episode.html", include_str!("../../templates/episode.html")),
    ("shelf_fields.html", include_str!("../../templates/shelf_fields.html")),
    ("shelf.html", include_str!("../../templates/shelf.html")),
    ("work.html", include_str!("../../templates/work.html")),
    ("work_order.html", include_str!("../../templates/work_order.html")),
    ("tokens.html", include_str!("../../templates/tokens.html")),
    ("users.html", include_str!("../../templates/users.html")),
    ("audit.html", include_str!("../../templates/audit.html")),
    ("setup.html", include_str!("../../templates/setup.html")),
    ("report_form.html", include_str!("../../templates/report_form.html")),
    ("reports.html", include_str!("../../templates/reports.html")),
    ("recorded.html", include_str!("../../templates/recorded.html")),
    ("mark.html", include_str!("../../templates/mark.html")),
    ("labels.html", include_str!("../../templates/labels.html")),
    ("library.html", include_str!("../../templates/library.html")),
    ("list_filters.html", include_str!("../../templates/list_filters.html")),
    ("statistics.html", include_str!("../../templates/statistics.html")),
    ("duty.html", include_str!("../../templates/duty.html")),
    ("search.html", include_str!("../../templates/search.html")),
    ("article.html", include_str!("../../templates/article.html")),
    ("documents.html", include_str!("../../templates/documents.html")),
    ("offline.html", include_str!("../../templates/offline.html")),
    ("base.html", include_str!("../../templates/base.html")),
    ("fleet.html", include_str!("../../templates/fleet.html")),
    ("bearing.html", include_str!("../../templates/bearing.html")),
    ("equipment.html", include_str!("../../templates/equipment.html")),
    ("parts.html", include_str!("../../templates/parts.html")),
    ("analysis.html", include_str!("../../templates/analysis.html")),
    ("notifications.html", include_str!("../../templates/notifications.html")),
    ("gateways.html", include_str!("../../templates/gateways.html")),
    ("chat.html", include_str!("../../templates/chat.html")),
    ("entered.html", include_str!("../../templates/entered.html")),
    ("login.html", include_str!("../../templates/login.html")),
    ("unacknowledge.html", include_str!("../../templates/unacknowledge.html")),
    ("settings.html", include_str!("../../templates/settings.html")),
    ("settings_fields.html", include_str!("../../templates/settings_fields.html")),
    ("settings_change.html", include_str!("../../templates/settings_change.html")),
    ("problem.html", include_str!("../../templates/problem.html")),
];

/// Every template in an environment; `undefined` says how a value that is not there is treated.
fn environment(undefined: UndefinedBehavior) -> Result<Environment<'static>, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(undefined);
    for (name, text) in TEMPLATES {
        environment.add_template(name, text)?;
    }
    show::add(&mut environment);
    Ok(environment)
}

type Loaded = LazyLock<Result<Environment<'static>, minijinja::Error>>;

/// A value that is not there is an error.
static STRICT: Loaded = LazyLock::new(|| environment(UndefinedBehavior::Strict));
/// A value that is not there is empty, and so is everything of it.
static LENIENT: Loaded = LazyLock::new(|| environment(UndefinedBehavior::Chainable));

/// Renders a template.
///
/// # Errors
/// The fault in words, if the page cannot be made without the values that are not there either.
pub(super) fn render(name: &str, of: &Value) -> Result<String, String> {
    rendered(&STRICT, name, of).or_else(|fault| {
        tracing::error!(page = name, fault, "a page lacks a value, it is shown without it");
        rendered(&LENIENT, name, of)
    })
}

fn rendered(loaded: &'static Loaded, name: &str, of: &Value) -> Result<String, String> {
    let environment = loaded.as_ref().map_err(ToString::to_string)?;
    let template = environment.get_template(name).map_err(|error| error.to_string())?;
    template.render(of).map_err(|error| format!("{error:#}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use minijinja::context;
    use pdm_shared::text::Language;

    use super::*;
    use crate::language;

    /// The words that templates make their keys of, with what the store and the contracts can put
    /// there.
    const MADE: [(&str, &[&str]); 16] = [
        (
            "refused_cause_",
            &["topic", "epoch", "owner", "new_bearing", "jump", "event_id", "unreadable"],
        ),
        ("presence_", &["online", "offline"]),
        ("fault_", &["outer_race", "inner_race", "ball", "cage"]),
        ("work_", &["open", "done", "dropped", "superseded"]),
        ("role_", &["viewer", "technician", "admin"]),
        ("blind_", &["sensor", "standing", "silent"]),
        ("is_", &["sensor", "standing", "silent"]),
        ("known_", &["people", "groups", "rotas", "channels"]),
        ("lane_", &["mqtt", "email"]),
        ("mark_", &["alarm", "acknowledged", "report", "note"]),
        ("range_", &["day", "week", "month", "year", "all"]),
        ("condition_", &["normal", "active", "frozen"]),
        ("cause_", &["sensor", "standstill"]),
        ("suppression_", &["none", "shelved", "by_design", "out_of_service"]),
        ("demand_", &["waiting", "taken", "arrived", "refused", "lapsed"]),
        ("uncertainty_", &["low", "medium", "high"]),
    ];

    fn head() -> Value {
        context! { t => language::words(Language::En), language => "en", template => "x" }
    }

    #[test]
    fn every_template_is_read() {
        for loaded in [&STRICT, &LENIENT] {
            assert!(loaded.as_ref().err().is_none(), "{:?}", loaded.as_ref().err());
        }
    }

    /// R-UI-11: three messages that could not be read took the page of gateways from everybody.
    #[test]
    fn every_page_is_made_whatever_is_absent() {
        let absent: [(&str, Value); 6] = [
            ("nothing", Value::UNDEFINED),
            ("none", Value::from(())),
            ("an empty text", Value::from("")),
            ("an empty list", Value::from(Vec::<Value>::new())),
            ("an empty row", context! {}),
            ("a list of an empty row", Value::from(vec![context! {}])),
        ];
        let environment = LENIENT.as_ref().expect("templates");
        for (name, _) in TEMPLATES {
            let names = environment.get_template(name).expect("one").undeclared_variables(false);
            for (what, value) in &absent {
                let rows: BTreeMap<&str, Value> =
                    names.iter().map(|name| (name.as_str(), value.clone())).collect();
                let of = context! { ..head(), ..show::value(rows) };
                let page = rendered(&LENIENT, name, &of);
                assert!(page.is_ok(), "{name} of {what}: {page:?}");
            }
        }
    }

    /// The word behind each `t.` of a template, and each `t["…"]`.
    fn words_of(text: &str) -> Vec<String> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut found = Vec::new();
        for part in text.split("{{").skip(1).chain(text.split("{%").skip(1)) {
            let part = part.split(['}']).next().unwrap_or_default();
            let mut before = ' ';
            for (at, c) in part.char_indices() {
                let rest = &part[at..];
                if c == 't' && !is_word(before) && before != '.' {
                    let named = rest.strip_prefix("t.").or_else(|| rest.strip_prefix("t[\""));
                    let word = named.map(|rest| rest.split(|c| !is_word(c)).next());
                    found.extend(word.flatten().map(str::to_owned));
                }
                before = c;
            }
        }
        found
    }

    /// What a template names is there, so that no page has an empty place.
    #[test]
    fn every_word_of_a_template_is_there() {
        let words = language::words(Language::En);
        for (name, text) in TEMPLATES {
            for word in words_of(text) {
                let is_there = words.contains_key(word.as_str());
                assert!(is_there || word.ends_with('_'), "{name} names {word}");
            }
        }
        let made = MADE
            .iter()
            .flat_map(|(head, tails)| tails.iter().map(move |tail| format!("{head}{tail}")));
        for word in made {
            assert!(words.contains_key(word.as_str()), "{word}");
        }
    }
}
