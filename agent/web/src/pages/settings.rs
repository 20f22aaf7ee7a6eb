//! The page of settings, for administrators: forms over the program's own file. What is sent is
//! shown as the lines that would change, checked as at a start; a second press writes it, and the
//! program reads it again.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::{Form, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use minijinja::context;
use minijinja::value::Value;
use pdm_shared::text::Language;
use serde::Deserialize;
use toml::Value as Toml;

use super::settings_fields::{Field, FieldKind, TableForm, choice, table_of};
use super::settings_tables::SECTIONS;
use super::{Reader, refusal, settings_told, show};
use crate::Shared;
use crate::access::{Admin, Viewer};
use crate::configuration::{
    ConfigChange, ConfigStep, ConfigurationFile, ConfigurationRefusal, ConfigurationText, dotted,
};
use crate::problem::Problem;

/// Which part of the page.
#[derive(Debug, Default, Deserialize)]
pub(super) struct SettingsAsked {
    #[serde(default)]
    section: String,
}

pub(super) async fn page(
    State(shared): State<Arc<Shared>>,
    Admin(viewer): Admin,
    Query(asked): Query<SettingsAsked>,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    let wanted = SECTIONS.iter().find(|section| section.word == asked.section);
    let section = wanted.unwrap_or(&SECTIONS[0]);
    let sections: Vec<&str> = SECTIONS.iter().map(|one| one.word).collect();
    let head = context! { sections, section => section.word };
    let of = match read(&shared).await {
        Ok(read) => {
            let mut cards = Vec::new();
            for form in section.tables {
                add_cards(&mut cards, (form, &[]), &Toml::Table(read.values.clone()), &reader);
            }
            let lists = section.tables.iter().filter(|form| form.is_list);
            let adds = lists.map(|form| addition(form, &[], &reader)).collect::<Vec<_>>();
            let known = known_kinds(&read);
            let ConfigurationText { path, unwritable, digest, .. } = read;
            context! { path, unwritable, digest, cards, adds, known, wrong => Value::from(()) }
        }
        Err(refusal) => context! { wrong => told(&refusal, &reader), cards => Vec::<Value>::new() },
    };
    super::page("settings.html", &reader, StatusCode::OK, context! { ..of, ..head })
}

fn file(shared: &Shared) -> Result<&Arc<dyn ConfigurationFile>, ConfigurationRefusal> {
    let none =
        || ConfigurationRefusal::Unreadable("this program was started without a file".to_owned());
    shared.site.configuration.as_ref().ok_or_else(none)
}

async fn read(shared: &Shared) -> Result<ConfigurationText, ConfigurationRefusal> {
    file(shared)?.read().await
}

/// The people, groups and channels that rotas and routes may name.
pub(super) fn known_names(read: &ConfigurationText) -> BTreeSet<String> {
    let email = read.values.get("notify").and_then(|notify| notify.get("email"));
    let email = email.map(|_| "email".to_owned());
    let lists = ["recipient", "group", "webhook"].into_iter();
    lists.flat_map(|list| names_of(read, list)).chain(email).collect()
}

/// The names of a list of tables.
fn names_of(read: &ConfigurationText, list: &str) -> Vec<String> {
    let tables = read.values.get("notify").and_then(|notify| notify.get(list)?.as_array());
    let names = tables.into_iter().flatten().filter_map(|one| one.get("name")?.as_str());
    names.map(str::to_owned).collect()
}

/// The names that may be used, by what they are; kinds without any are left out.
fn known_kinds(read: &ConfigurationText) -> Vec<Value> {
    let kinds = [
        ("known_people", "recipient"),
        ("known_groups", "group"),
        ("known_rotas", "rota"),
        ("known_channels", "webhook"),
    ];
    let kinds = kinds.into_iter().map(|(word, list)| (word, names_of(read, list)));
    let kinds = kinds.filter(|(_, names)| !names.is_empty());
    kinds.map(|(word, names)| context! { word, names => names.join(", ") }).collect()
}

/// The tables of a form, each a card, with those below them.
fn add_cards(
    cards: &mut Vec<Value>,
    (form, above): (&TableForm, &[ConfigStep]),
    values: &Toml,
    reader: &Reader,
) {
    let found = form.way.iter().try_fold(values, |value, key| value.get(key));
    let empty = Toml::Table(toml::Table::new());
    let way = way_of(form, above);
    let tables: Vec<(Vec<ConfigStep>, &Toml)> = match (form.is_list, found) {
        (false, found) => vec![(way, found.unwrap_or(&empty))],
        (true, Some(Toml::Array(all))) => {
            let numbered = all.iter().enumerate();
            numbered
                .map(|(number, one)| ([&way[..], &[ConfigStep::At(number)]].concat(), one))
                .collect()
        }
        (true, _) => Vec::new(),
    };
    for (steps, table) in tables {
        let name = table.get("name").and_then(Toml::as_str).unwrap_or_default();
        let below = form.below.iter().map(|one| addition(one, &steps, reader));
        cards.push(context! {
            entry => dotted(&steps),
            is_below => !above.is_empty(),
            is_list => form.is_list,
            heading => form.name(reader.language),
            name,
            told => settings_told::summary(form, table, reader.language),
            fields => fields(form, Some(table), reader),
            adds => below.collect::<Vec<_>>(),
        });
        for one in form.below {
            add_cards(cards, (one, &steps), table, reader);
        }
    }
}

fn way_of(form: &TableForm, above: &[ConfigStep]) -> Vec<ConfigStep> {
    let own = form.way.iter().map(|key| ConfigStep::Key((*key).to_owned()));
    above.iter().cloned().chain(own).collect()
}

/// The form of a new table of a list.
fn addition(form: &TableForm, above: &[ConfigStep], reader: &Reader) -> Value {
    context! {
        entry => dotted(&way_of(form, above)),
        heading => form.name(reader.language),
        fields => fields(form, None, reader),
    }
}

fn fields(form: &TableForm, table: Option<&Toml>, reader: &Reader) -> Vec<Value> {
    let shown = form.fields.iter().filter_map(|field| {
        let value = table.and_then(|table| table.get(field.key));
        let written = match value {
            // a value in a form that the page does not know stays as it is
            Some(value) => field.written(value)?,
            None => String::new(),
        };
        let choices = match field.kind {
            FieldKind::Choice(words) => words
                .iter()
                .map(|word| context! { word => *word, label => choice(word, reader.language) })
                .collect(),
            FieldKind::Text
            | FieldKind::Number
            | FieldKind::Count
            | FieldKind::List
            | FieldKind::Moment => Vec::new(),
        };
        Some(context! {
            key => field.key,
            name => field.name(reader.language),
            value => written,
            input => input_of(field),
            choices,
        })
    });
    shown.collect()
}

const fn input_of(field: &Field) -> &'static str {
    match field.kind {
        FieldKind::Number | FieldKind::Count => "number",
        FieldKind::Moment => "datetime-local",
        FieldKind::Choice(_) => "choice",
        FieldKind::Text | FieldKind::List => "text",
    }
}

/// The fields that were sent: `entry`, `act` (`set`, `add`, `remove`), `digest`, `step` (`write` at
/// the second press), and each field as `v.KEY`.
type Sent = [(String, String)];

fn sent<'a>(form: &'a Sent, key: &str) -> &'a str {
    form.iter().find(|(name, _)| name == key).map_or("", |(_, value)| value.as_str())
}

pub(super) async fn act(
    State(shared): State<Arc<Shared>>,
    Admin(viewer): Admin,
    headers: HeaderMap,
    Form(form): Form<Vec<(String, String)>>,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    if let Err(problem) = viewer.check_form(sent(&form, "form_key")) {
        return refusal(&reader, &problem);
    }
    let done = match changes(&shared, &form).await {
        Err(problem) => return refusal(&reader, &problem),
        Ok(Err(refused)) => Err(refused),
        Ok(Ok(changes)) => made(&shared, (&viewer, &reader), &form, &changes).await,
    };
    let hidden =
        form.iter().filter(|(name, _)| name != "form_key" && name != "digest" && name != "step");
    let hidden: Vec<Value> = hidden.map(|(name, value)| context! { name, value }).collect();
    let back = match sent(&form, "back") {
        "/duty" => "/duty".to_owned(),
        _ => format!("/settings?section={}", section_of(sent(&form, "entry"))),
    };
    let entry = sent(&form, "entry");
    match done {
        Ok(made) => {
            let of = context! { hidden, back, wrong => Value::from(()), ..made };
            super::page("settings_change.html", &reader, StatusCode::OK, of)
        }
        Err(refused) => {
            let status = status_of(&refused);
            let wrong = told(&refused, &reader);
            let entry = settings_told::heading(entry, &toml::Table::new(), reader.language);
            let none = Vec::<Value>::new();
            let of =
                context! { back, entry, wrong, lines => &none, rows => &none, is_written => false };
            super::page("settings_change.html", &reader, status, of)
        }
    }
}

/// Shows the changes, or writes them at the second press.
async fn made(
    shared: &Shared,
    (viewer, reader): (&Viewer, &Reader),
    form: &Sent,
    changes: &[ConfigChange],
) -> Result<Value, ConfigurationRefusal> {
    let file = file(shared)?;
    let before = file.read().await?.values;
    let is_written = sent(form, "step") == "write";
    let done = if is_written {
        let done = file.apply(changes, sent(form, "digest")).await?;
        let subjects: Vec<String> = changes.iter().map(ConfigChange::subject).collect();
        let is_duty = subjects.iter().all(|subject| subject.contains(".override"));
        let action = if is_duty { "duty override" } else { "settings" };
        viewer.did(shared, "page", action, subjects.join(", ")).await;
        done
    } else {
        file.propose(changes).await?
    };
    let unwritable = file.read().await?.unwritable;
    let undo = is_written.then(|| settings_told::back(changes, &before)).flatten();
    let undo = undo.unwrap_or_default();
    let undo = undo.iter().map(|(name, value)| context! { name, value }).collect::<Vec<_>>();
    Ok(context! {
        entry => settings_told::heading(sent(form, "entry"), &before, reader.language),
        rows => settings_told::rows(changes, &before, reader.language),
        undo,
        lines => done.lines.iter().map(show::value).collect::<Vec<_>>(),
        digest => done.digest,
        unwritable,
        is_written,
    })
}

/// The changes that a form asks for: of a table that stands, the keys whose value is another one.
async fn changes(
    shared: &Shared,
    form: &Sent,
) -> Result<Result<Vec<ConfigChange>, ConfigurationRefusal>, Problem> {
    let entry = sent(form, "entry");
    let wrong = || Problem::parameter("entry", entry, "a table of this page");
    let (offered, steps) = table_of(entry).ok_or_else(wrong)?;
    let read = match read(shared).await {
        Ok(read) => read,
        Err(refused) => return Ok(Err(refused)),
    };
    let is_one = matches!(steps.last(), Some(ConfigStep::At(_)));
    let changes = match (sent(form, "act"), offered.is_list, is_one) {
        ("set", true, true) | ("set", false, _) => exchanged(&read, offered, &steps, form)?,
        ("remove", true, true) => vec![ConfigChange::Remove { table: steps }],
        ("add", true, false) => vec![added(offered, steps, form)?],
        (other, ..) => return Err(Problem::parameter("act", other, "set, add, remove")),
    };
    if changes.is_empty() { Ok(Err(ConfigurationRefusal::Same)) } else { Ok(Ok(changes)) }
}

fn exchanged(
    read: &ConfigurationText,
    offered: &TableForm,
    steps: &[ConfigStep],
    form: &Sent,
) -> Result<Vec<ConfigChange>, Problem> {
    let values = Toml::Table(read.values.clone());
    let table = steps.iter().try_fold(&values, |value, step| match step {
        ConfigStep::Key(key) => value.get(key),
        ConfigStep::At(number) => value.get(*number),
    });
    let mut changes = Vec::new();
    for field in offered.fields {
        let Some((_, typed)) =
            form.iter().find(|(name, _)| name.strip_prefix("v.") == Some(field.key))
        else {
            continue;
        };
        let now = table.and_then(|table| table.get(field.key));
        let (steps, key) = (steps.to_vec(), field.key.to_owned());
        let value = match field.value(typed)? {
            // an empty list of people is a value of its own: nobody
            None if field.key == "who" && now.is_some() => Some(Toml::Array(Vec::new())),
            value => value,
        };
        match value {
            Some(value) if is_same(now, &value) => {}
            Some(value) => changes.push(ConfigChange::Set { table: steps, key, value }),
            None if now.is_some() => changes.push(ConfigChange::Unset { table: steps, key }),
            None => {}
        }
    }
    Ok(changes)
}

/// Whether a value is the one that stands, however its number is written.
fn is_same(now: Option<&Toml>, new: &Toml) -> bool {
    match (now, new) {
        (Some(Toml::Integer(now)), Toml::Float(new)) => now.to_string() == new.to_string(),
        (now, new) => now == Some(new),
    }
}

fn added(
    offered: &TableForm,
    mut steps: Vec<ConfigStep>,
    form: &Sent,
) -> Result<ConfigChange, Problem> {
    let mut entries = Vec::new();
    for field in offered.fields {
        let typed = form.iter().filter(|(name, _)| name.strip_prefix("v.") == Some(field.key));
        let typed: Vec<&str> = typed.map(|(_, value)| value.as_str()).collect();
        match field.value(&typed.join(","))? {
            Some(value) => entries.push((field.key.to_owned(), value)),
            None if field.key == "who" => {
                entries.push((field.key.to_owned(), Toml::Array(Vec::new())));
            }
            None => {}
        }
    }
    // a route tells somebody at once: its first step stands in it, since a table without it would
    // be refused
    if offered.below.iter().any(|below| below.way == ["step"]) {
        let to = sent(form, "v.first").split(',').map(str::trim).filter(|word| !word.is_empty());
        let to: Vec<Toml> = to.map(|word| Toml::String(word.to_owned())).collect();
        let step = [("to".to_owned(), Toml::Array(to))].into_iter().collect();
        entries.push(("step".to_owned(), Toml::Array(vec![Toml::Table(step)])));
    }
    let Some(ConfigStep::Key(list)) = steps.pop() else {
        return Err(Problem::unfit("the entry is no list"));
    };
    Ok(ConfigChange::Append { table: steps, list, entries })
}

/// The part of the page that has a table.
fn section_of(entry: &str) -> &'static str {
    let is_of = |form: &TableForm| {
        let way = form.way.join(".");
        entry.strip_prefix(&way).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    // the longer way first: `notify` is the beginning of others
    let found = SECTIONS.iter().rev().find(|section| section.tables.iter().any(is_of));
    found.map_or(SECTIONS[0].word, |section| section.word)
}

const fn status_of(refused: &ConfigurationRefusal) -> StatusCode {
    match refused {
        ConfigurationRefusal::Meanwhile => StatusCode::CONFLICT,
        ConfigurationRefusal::Unwritable(_) | ConfigurationRefusal::Unreadable(_) => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        ConfigurationRefusal::Wrong(_)
        | ConfigurationRefusal::Form(_)
        | ConfigurationRefusal::Same => StatusCode::UNPROCESSABLE_ENTITY,
    }
}

/// Returns a refusal: a sentence of the page, and the program's reason.
fn told(refused: &ConfigurationRefusal, reader: &Reader) -> Value {
    let word = match refused {
        ConfigurationRefusal::Wrong(_) => "settings_wrong",
        ConfigurationRefusal::Form(_) => "settings_form",
        ConfigurationRefusal::Meanwhile => "settings_meanwhile",
        ConfigurationRefusal::Unwritable(_) => "settings_unwritable",
        ConfigurationRefusal::Same => "settings_same",
        ConfigurationRefusal::Unreadable(_) => "settings_unreadable",
    };
    let is_whole = matches!(refused, ConfigurationRefusal::Meanwhile | ConfigurationRefusal::Same);
    let english = (!is_whole).then(|| refused.to_string());
    let korean = english.as_deref().filter(|_| reader.language == Language::Ko);
    let korean = korean.and_then(settings_told::refusal);
    let word = crate::language::words(reader.language).get(word).copied().unwrap_or_default();
    context! { word, is_foreign => korean.is_none(), detail => korean.or(english) }
}
