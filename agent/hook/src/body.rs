//! The body of a request: a tree whose texts are templates, so that no text of a notification can
//! become syntax.
//!
//! A text of the file is a template of a text. A table with the one key `$json` is a template of a
//! value: it is rendered and read as JSON, and the key above it is left out where nothing is
//! rendered.

use std::io::{self, Write};

use minijinja::value::Value as Context;
use minijinja::{Environment, ErrorKind};
use serde_json::{Map, Value};

/// Longest text that a template may give, bytes. Chosen: more than any service takes. A list that
/// is repeated a hundred million times costs the engine one step.
const MOST_BYTES: usize = 256 * 1024;

/// The key of a template whose result is a value.
const TYPED: &str = "$json";

/// A tree of templates, by their names in the environment.
#[derive(Debug, Clone)]
pub(crate) enum Tree {
    /// A template of a text.
    Text(String),
    /// A template of a value.
    Typed(String),
    /// A value as it stands in the file.
    Plain(Value),
    List(Vec<Self>),
    Table(Vec<(String, Self)>),
}

/// The body of a request.
#[derive(Debug, Clone)]
pub(crate) enum Body {
    None,
    Json(Tree),
    /// Fields of a form, each with its template.
    Form(Vec<(String, String)>),
    /// A text of its own.
    Text(String),
}

impl Tree {
    /// The tree of a part of the file. `take` compiles a template under its name.
    pub(crate) fn read<E>(
        name: &str,
        value: &toml::Value,
        take: &mut impl FnMut(&str, &str) -> Result<(), E>,
    ) -> Result<Self, E> {
        Ok(match value {
            toml::Value::String(text) => {
                take(name, text)?;
                Self::Text(name.to_owned())
            }
            toml::Value::Integer(number) => Self::Plain(Value::from(*number)),
            toml::Value::Float(number) => Self::Plain(Value::from(*number)),
            toml::Value::Boolean(is) => Self::Plain(Value::from(*is)),
            toml::Value::Datetime(at) => Self::Plain(Value::from(at.to_string())),
            toml::Value::Array(list) => {
                let each = list.iter().enumerate();
                let each = each.map(|(n, one)| Self::read(&format!("{name}[{n}]"), one, take));
                Self::List(each.collect::<Result<_, E>>()?)
            }
            toml::Value::Table(table) => {
                if let (1, Some(toml::Value::String(text))) = (table.len(), table.get(TYPED)) {
                    let name = format!("{name}.{TYPED}");
                    take(&name, text)?;
                    return Ok(Self::Typed(name));
                }
                let each = table.iter().map(|(key, one)| {
                    Ok((key.clone(), Self::read(&format!("{name}.{key}"), one, take)?))
                });
                Self::Table(each.collect::<Result<_, E>>()?)
            }
        })
    }

    /// Returns the value; `None` where a typed template renders nothing.
    pub(crate) fn fill(
        &self,
        environment: &Environment<'_>,
        context: &Context,
    ) -> Result<Option<Value>, RenderError> {
        Ok(Some(match self {
            Self::Text(name) => Value::from(render(environment, name, context)?),
            Self::Typed(name) => {
                let text = render(environment, name, context)?;
                if text.trim().is_empty() {
                    return Ok(None);
                }
                let read = serde_json::from_str(&text);
                read.map_err(|error| RenderError::of(name, format!("no JSON: {error}")))?
            }
            Self::Plain(value) => value.clone(),
            Self::List(list) => {
                let mut values = Vec::with_capacity(list.len());
                for one in list {
                    values.extend(one.fill(environment, context)?);
                }
                Value::from(values)
            }
            Self::Table(table) => {
                let mut values = Map::new();
                for (key, one) in table {
                    if let Some(value) = one.fill(environment, context)? {
                        values.insert(key.clone(), value);
                    }
                }
                Value::from(values)
            }
        }))
    }
}

/// A template that gives no text. It never repeats a value, which may be a secret.
#[derive(Debug)]
pub(crate) struct RenderError {
    /// The template's name.
    pub(crate) name: String,
    /// The line in the template.
    pub(crate) line: usize,
    pub(crate) reason: String,
}

impl RenderError {
    pub(crate) fn of(name: &str, reason: String) -> Self {
        Self { name: name.to_owned(), line: 1, reason }
    }
}

/// Renders a template, up to [`MOST_BYTES`].
pub(crate) fn render(
    environment: &Environment<'_>,
    name: &str,
    context: &Context,
) -> Result<String, RenderError> {
    let mut text = Bounded(Vec::new());
    let template = environment.get_template(name).map_err(|error| failed(name, &error))?;
    if let Err(error) = template.render_captured_to(context, &mut text) {
        let is_long = error.kind() == ErrorKind::WriteFailure;
        let long = || RenderError::of(name, format!("more than {MOST_BYTES} bytes"));
        return Err(if is_long { long() } else { failed(name, &error) });
    }
    String::from_utf8(text.0).map_err(|error| RenderError::of(name, error.to_string()))
}

/// A text that takes no more than [`MOST_BYTES`].
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MOST_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A template's error in words.
pub(crate) fn failed(name: &str, error: &minijinja::Error) -> RenderError {
    let reason = match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    };
    RenderError { name: name.to_owned(), line: error.line().unwrap_or(1), reason }
}
