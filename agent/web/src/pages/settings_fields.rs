//! The fields of the page of settings: how a key's value is written, read and told. The tables and
//! their keys are those of `settings_tables`.

use pdm_shared::text::{Language, Text};
use toml::Value;

use super::settings_tables::SECTIONS;
use crate::configuration::ConfigStep;
use crate::problem::Problem;

/// How a key's value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldKind {
    /// A text.
    Text,
    /// A number with or without a fraction.
    Number,
    /// A whole number.
    Count,
    /// Texts, with commas between them.
    List,
    /// A local time, as a browser's field writes it.
    Moment,
    /// One of these words.
    Choice(&'static [&'static str]),
}

/// A key of a table.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) key: &'static str,
    pub(super) kind: FieldKind,
    ko: &'static str,
    en: &'static str,
}

/// A table, or the tables of a list, that the page offers.
#[derive(Debug)]
pub(super) struct TableForm {
    /// The keys that lead to it from the table above.
    pub(super) way: &'static [&'static str],
    pub(super) is_list: bool,
    pub(super) ko: &'static str,
    pub(super) en: &'static str,
    pub(super) fields: &'static [Field],
    pub(super) below: &'static [Self],
}

/// A part of the page.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) word: &'static str,
    pub(super) tables: &'static [TableForm],
}

pub(super) const fn field(
    key: &'static str,
    kind: FieldKind,
    ko: &'static str,
    en: &'static str,
) -> Field {
    Field { key, kind, ko, en }
}

impl TableForm {
    /// Returns the name of the table.
    pub(super) fn name(&self, language: Language) -> &'static str {
        if language == Language::Ko { self.ko } else { self.en }
    }
}

impl Field {
    /// Returns the name of the key.
    pub(super) fn name(&self, language: Language) -> &'static str {
        if language == Language::Ko { self.ko } else { self.en }
    }

    /// Returns the name without its hint in brackets.
    pub(super) fn short(&self, language: Language) -> &'static str {
        let name = self.name(language);
        name.split(" (").next().unwrap_or(name)
    }

    /// Returns a value as the form shows it; `None` for one that the form cannot show.
    pub(super) fn written(&self, value: &Value) -> Option<String> {
        match (self.kind, value) {
            (FieldKind::List, Value::Array(all)) => {
                let words: Option<Vec<&str>> = all.iter().map(Value::as_str).collect();
                Some(words?.join(", "))
            }
            (FieldKind::List, _) | (_, Value::Boolean(_) | Value::Array(_) | Value::Table(_)) => {
                None
            }
            (_, Value::String(text)) => Some(text.clone()),
            (_, Value::Integer(number)) => Some(number.to_string()),
            (_, Value::Float(number)) => Some(number.to_string()),
            (_, Value::Datetime(at)) => Some(at.to_string()),
        }
    }

    /// Returns the value that was typed; `None` where the field was left empty.
    pub(super) fn value(&self, typed: &str) -> Result<Option<Value>, Problem> {
        let typed = typed.trim();
        if typed.is_empty() {
            return Ok(None);
        }
        let wrong = |allowed: &str| Problem::parameter(self.key, typed, allowed);
        let value = match self.kind {
            FieldKind::Text | FieldKind::Moment => Value::String(typed.to_owned()),
            FieldKind::Count => {
                Value::Integer(typed.parse().map_err(|_error| wrong("a whole number"))?)
            }
            FieldKind::Number => {
                let number: f64 = typed.parse().map_err(|_error| wrong("a number"))?;
                if !number.is_finite() {
                    return Err(wrong("a number"));
                }
                Value::Float(number)
            }
            FieldKind::List => {
                let words = typed.split(',').map(str::trim).filter(|word| !word.is_empty());
                let word = |word| if self.key == "days" { day_of(word) } else { word };
                Value::Array(words.map(|one| Value::String(word(one).to_owned())).collect())
            }
            FieldKind::Choice(words) => {
                if !words.contains(&typed) {
                    return Err(wrong(&words.join(", ")));
                }
                Value::String(typed.to_owned())
            }
        };
        Ok(Some(value))
    }
}

/// The days of the week: the word of the file, and the Korean one.
const DAYS: [(&str, &str); 7] = [
    ("mon", "월"),
    ("tue", "화"),
    ("wed", "수"),
    ("thu", "목"),
    ("fri", "금"),
    ("sat", "토"),
    ("sun", "일"),
];

/// The word of the file for a day as it is typed: `월`, `월요일` or the word itself.
fn day_of(typed: &str) -> &str {
    let bare = typed.strip_suffix("요일").unwrap_or(typed);
    let found = DAYS.iter().find(|(_, ko)| *ko == bare);
    found.map_or(typed, |(word, _)| word)
}

/// A day of the file in the reader's words.
pub(super) fn day(word: &str, language: Language) -> &str {
    let found = DAYS.iter().find(|(known, _)| *known == word && language == Language::Ko);
    found.map_or(word, |(_, ko)| ko)
}

/// The level of a choice in the reader's words; other words stand as they are.
pub(super) fn choice(word: &str, language: Language) -> String {
    let text = match word {
        "ko" => Text::new("한국어", "Korean"),
        "en" => Text::new("영어", "English"),
        "both" => Text::new("한국어와 영어", "Korean and English"),
        "generic" => Text::new("일반 (JSON)", "Generic (JSON)"),
        "slack" => Text::new("Slack", "Slack"),
        "teams" => Text::new("Teams", "Teams"),
        level => match level.parse::<pdm_shared::risk::RiskLevel>() {
            Ok(level) => level.label(),
            Err(_no_level) => return word.to_owned(),
        },
    };
    text.in_language(language).to_owned()
}

/// A table that the page offers, by its way in one word (`notify.rota.0.shift`): its form, the
/// steps to it, and the list's key where the word ends with a list.
pub(super) fn table_of(word: &str) -> Option<(&'static TableForm, Vec<ConfigStep>)> {
    let mut words = word.split('.').peekable();
    let mut steps = Vec::new();
    let mut offered: Vec<&'static TableForm> =
        SECTIONS.iter().flat_map(|section| section.tables).collect();
    loop {
        let mut way: Vec<&str> = Vec::new();
        let found = loop {
            way.push(words.next()?);
            if let Some(found) = offered.iter().find(|form| form.way == way) {
                // notify is a table and the first word of the ways of lists
                let is_longer = words.peek().is_some_and(|next| {
                    offered
                        .iter()
                        .any(|form| form.way.len() > way.len() && form.way[way.len()] == *next)
                });
                if !is_longer {
                    break *found;
                }
            }
        };
        steps.extend(way.iter().map(|key| ConfigStep::Key((*key).to_owned())));
        if found.is_list
            && let Some(number) = words.peek().and_then(|word| word.parse().ok())
        {
            words.next();
            steps.push(ConfigStep::At(number));
        }
        if words.peek().is_none() {
            return Some((found, steps));
        }
        if !matches!(steps.last(), Some(ConfigStep::At(_))) {
            return None;
        }
        offered = found.below.iter().collect();
    }
}

#[cfg(test)]
mod tests;
