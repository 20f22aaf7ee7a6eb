//! A hook's file: read, checked and compiled, with errors that name file, line and key.

use std::collections::BTreeMap;

use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use pdm_shared::text::Language;
use serde::Deserialize;
use toml::de::{DeTable, DeValue};
use uuid::Uuid;

use crate::answer::{Answers, Sign, Success};
use crate::body::{Body, RenderError, Tree, failed, render};
use crate::filled::Filled;
use crate::limit::Limit;
use crate::message::{Message, sample};
use crate::sign::Signature;
use crate::token::TokenSource;

/// The header that carries the idempotency key where a file names none.
const KEY_HEADER: &str = "Idempotency-Key";
/// Most steps of the template language that one text may take; chosen, the longest preset takes
/// fewer than 200.
const MOST_STEPS: u64 = 20_000;

/// A hook's file that cannot be used. The caller shows the error and ends with a bad configuration.
#[derive(Debug, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct TemplateError {
    /// The file.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The key and what is wrong with it.
    pub message: String,
}

/// A file as it is typed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// The document of the receiver's maker that the file follows.
    source: String,
    #[serde(default)]
    method: Method,
    url: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    json: Option<toml::Value>,
    #[serde(default)]
    form: Option<BTreeMap<String, String>>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    limit: Option<Limit>,
    #[serde(default)]
    values: Vec<String>,
    #[serde(default)]
    defaults: BTreeMap<String, String>,
    #[serde(default)]
    secrets: Vec<String>,
    #[serde(default)]
    optional_secrets: Vec<String>,
    #[serde(default)]
    to: bool,
    #[serde(default)]
    idempotency_header: Option<String>,
    #[serde(default)]
    success: Success,
    #[serde(default)]
    duplicate: Option<Sign>,
    #[serde(default)]
    refused: Option<Sign>,
    #[serde(default)]
    signature: Option<Signature>,
    #[serde(default)]
    token: Option<TokenSource>,
    #[serde(default)]
    per_minute: u32,
}

/// The method of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Method {
    Get,
    #[default]
    Post,
    Put,
}

impl Method {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
        }
    }
}

/// A compiled file.
#[derive(Debug)]
pub struct HookTemplate {
    file: String,
    environment: Environment<'static>,
    lines: BTreeMap<String, usize>,
    has_message: bool,
    limit: Option<Limit>,
    body: Body,
    pub(crate) method: Method,
    pub(crate) headers: Vec<String>,
    pub(crate) values: Vec<String>,
    pub(crate) defaults: BTreeMap<String, String>,
    pub(crate) secrets: Vec<String>,
    pub(crate) optional_secrets: Vec<String>,
    pub(crate) needs_to: bool,
    pub(crate) key_header: Option<String>,
    pub(crate) answers: Answers,
    pub(crate) signature: Option<Signature>,
    pub(crate) token: Option<TokenSource>,
    pub(crate) per_minute: u32,
}

/// A request whose texts are filled in.
#[derive(Debug)]
pub(crate) struct FilledRequest {
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) content_type: Option<&'static str>,
    pub(crate) body: Vec<u8>,
}

impl HookTemplate {
    /// Reads and compiles a file. Every template is tried with a sample, so that a name that
    /// nothing defines is found here.
    ///
    /// # Errors
    /// [`TemplateError`] with line and key.
    pub fn parse(file: &str, text: &str) -> Result<Self, TemplateError> {
        let read: File = toml::from_str(text).map_err(|error| {
            let offset = error.span().map_or(0, |span| span.start);
            let line = line_at(text, offset);
            TemplateError { file: file.to_owned(), line, message: error.message().to_owned() }
        })?;
        let template = Compiler::new(file, text).compile(read)?;
        template.tried()?;
        Ok(template)
    }

    /// Whether each message needs the number or name of its receiver.
    pub const fn needs_to(&self) -> bool {
        self.needs_to
    }

    /// The names of the values, for an error.
    pub(crate) fn known(&self) -> String {
        let names = self.values.iter().chain(self.defaults.keys()).map(String::as_str);
        names.collect::<Vec<_>>().join(", ")
    }

    /// Puts another address in place of the file's.
    pub(crate) fn replace_url(&mut self, url: &str) -> Result<(), TemplateError> {
        let added = self.environment.add_template_owned("url".to_owned(), url.to_owned());
        added.map_err(|error| self.at(&failed("url", &error)))
    }

    /// The request of a message.
    pub(crate) fn fill(
        &self,
        message: &Message<'_>,
        filled: &Filled,
    ) -> Result<FilledRequest, TemplateError> {
        self.filled(message, filled).map_err(|error| self.at(&error))
    }

    fn filled(&self, message: &Message<'_>, filled: &Filled) -> Result<FilledRequest, RenderError> {
        let nothing = || RenderError::of("message", "no notification".to_owned());
        let context = message.context(filled, None).ok_or_else(nothing)?;
        let text = self.text(&context)?;
        let context = message.context(filled, Some(&text)).ok_or_else(nothing)?;
        let of = |name: &str| render(&self.environment, name, &context);
        let (content_type, body) = match &self.body {
            Body::None => (None, Vec::new()),
            Body::Json(tree) => {
                let value = tree.fill(&self.environment, &context)?.unwrap_or_default();
                (Some("application/json; charset=utf-8"), value.to_string().into_bytes())
            }
            Body::Form(fields) => {
                let fields = fields.iter().map(|(key, name)| Ok((key.as_str(), of(name)?)));
                let fields = fields.collect::<Result<Vec<_>, RenderError>>()?;
                let fields = fields.into_iter().filter(|(_, text)| !text.is_empty());
                let text = reqwest::Url::parse_with_params("http://form/", fields);
                let text = text.map_err(|error| RenderError::of("form", error.to_string()))?;
                let body = text.query().unwrap_or_default().as_bytes().to_vec();
                (Some("application/x-www-form-urlencoded"), body)
            }
            Body::Text(name) => (Some("text/plain; charset=utf-8"), of(name)?.into_bytes()),
        };
        let headers = self.headers.iter();
        let headers = headers.map(|name| Ok((name.clone(), of(&format!("headers.{name}"))?)));
        let headers = headers.collect::<Result<Vec<_>, RenderError>>()?;
        let headers = headers.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        Ok(FilledRequest { url: of("url")?, headers, content_type, body })
    }

    /// The text after `message` and its limit.
    fn text(&self, context: &minijinja::value::Value) -> Result<String, RenderError> {
        let text = if self.has_message {
            render(&self.environment, "message", context)?
        } else {
            context.get_attr("text").map_err(|error| failed("text", &error))?.to_string()
        };
        Ok(self.limit.map_or_else(|| text.clone(), |limit| limit.cut(&text)))
    }

    fn tried(&self) -> Result<(), TemplateError> {
        let Some(sample) = sample() else { return Ok(()) };
        let values = self.values.iter().chain(self.defaults.keys());
        let secrets = self.secrets.iter().chain(&self.optional_secrets);
        let filled = Filled::new(
            values.map(|name| (name.as_str(), "sample")),
            secrets.map(|name| (name.as_str(), "sample")),
        );
        let message = Message {
            key: Uuid::nil(),
            to: Some("sample"),
            languages: &[Language::Ko, Language::En],
            notifications: &[&sample],
        };
        self.fill(&message, &filled).map(|_request| ())
    }

    fn at(&self, error: &RenderError) -> TemplateError {
        let line = self.lines.get(&error.name).copied().unwrap_or(1);
        TemplateError {
            file: self.file.clone(),
            line: line + error.line - 1,
            message: format!("{}: {}", error.name, error.reason),
        }
    }
}

/// Puts a file's templates into an environment.
struct Compiler {
    file: String,
    lines: BTreeMap<String, usize>,
    environment: Environment<'static>,
}

impl Compiler {
    fn new(file: &str, text: &str) -> Self {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        // a loop in a file must not keep the notifications of everybody waiting
        environment.set_fuel(Some(MOST_STEPS));
        // a tree and a form are escaped as a whole
        environment.set_auto_escape_callback(|_name| AutoEscape::None);
        environment.add_filter("markdown", markdown);
        let mut lines = BTreeMap::new();
        if let Ok(table) = DeTable::parse(text) {
            let each = table.get_ref().iter();
            each.for_each(|(key, value)| {
                note_lines(key.get_ref(), value.get_ref(), value.span().start, text, &mut lines);
            });
        }
        Self { file: file.to_owned(), lines, environment }
    }

    fn wrong(&self, key: &str, why: &str) -> TemplateError {
        let line = self.lines.get(key).copied().unwrap_or(1);
        TemplateError { file: self.file.clone(), line, message: format!("{key}: {why}") }
    }

    fn take(&mut self, name: &str, text: &str) -> Result<(), TemplateError> {
        let added = self.environment.add_template_owned(name.to_owned(), text.to_owned());
        added.map_err(|error| {
            let error = failed(name, &error);
            let mut told = self.wrong(name, &error.reason);
            told.line += error.line - 1;
            told
        })
    }

    fn body(&mut self, file: &File) -> Result<Body, TemplateError> {
        Ok(match (&file.json, &file.form, &file.text) {
            (None, None, None) => Body::None,
            (Some(json), None, None) => {
                Body::Json(Tree::read("json", json, &mut |name, text| self.take(name, text))?)
            }
            (None, Some(form), None) => {
                let mut fields = Vec::with_capacity(form.len());
                for (key, text) in form {
                    let name = format!("form.{key}");
                    self.take(&name, text)?;
                    fields.push((key.clone(), name));
                }
                Body::Form(fields)
            }
            (None, None, Some(text)) => {
                self.take("text", text)?;
                Body::Text("text".to_owned())
            }
            _ => return Err(self.wrong("json", "one of json, form and text is allowed")),
        })
    }

    fn compile(mut self, file: File) -> Result<HookTemplate, TemplateError> {
        if !file.source.starts_with("https://") {
            return Err(self.wrong("source", "allowed is the address of the receiver's document"));
        }
        if let Some(why) = file.success.wrong() {
            return Err(self.wrong("success", why));
        }
        self.needs(&file)?;
        let body = self.body(&file)?;
        self.take("url", &file.url)?;
        for (name, text) in &file.headers {
            if name.parse::<reqwest::header::HeaderName>().is_err() {
                return Err(self.wrong(&format!("headers.{name}"), "no name of a header"));
            }
            self.take(&format!("headers.{name}"), text)?;
        }
        if let Some(message) = &file.message {
            self.take("message", message)?;
        }
        let key_header = file.idempotency_header.unwrap_or_else(|| KEY_HEADER.to_owned());
        let File { success, duplicate, refused, .. } = file;
        Ok(HookTemplate {
            file: self.file,
            environment: self.environment,
            lines: self.lines,
            has_message: file.message.is_some(),
            limit: file.limit,
            body,
            method: file.method,
            headers: file.headers.into_keys().collect(),
            values: file.values,
            defaults: file.defaults,
            secrets: file.secrets,
            optional_secrets: file.optional_secrets,
            needs_to: file.to,
            key_header: (!key_header.is_empty()).then_some(key_header),
            answers: Answers { success, duplicate, refused },
            signature: file.signature,
            token: file.token,
            per_minute: file.per_minute,
        })
    }

    /// Checks that the names in signature and token are declared.
    fn needs(&self, file: &File) -> Result<(), TemplateError> {
        let has_value = |name: &str| file.values.iter().any(|value| value == name);
        let has_secret = |name: &str| file.secrets.iter().any(|secret| secret == name);
        let declared = |key: &str, (value, secret): (Option<&str>, &str)| {
            if let Some(value) = value.filter(|value| !has_value(value)) {
                return Err(self.wrong(key, &format!("`{value}` is not in values")));
            }
            if has_secret(secret) {
                return Ok(());
            }
            Err(self.wrong(key, &format!("`{secret}` is not in secrets")))
        };
        if let Some(signature) = &file.signature {
            declared("signature", signature.needs())?;
        }
        if let Some(token) = &file.token {
            declared("token", token.needs())?;
        }
        Ok(())
    }
}

/// Notes where each text of a file begins.
fn note_lines(
    name: &str,
    value: &DeValue<'_>,
    offset: usize,
    text: &str,
    lines: &mut BTreeMap<String, usize>,
) {
    // the first line break after the quotes of a text of several lines is not part of it
    let rest = text.get(offset..).unwrap_or_default();
    let is_long = ["\"\"\"\n", "'''\n"].iter().any(|quotes| rest.starts_with(quotes));
    lines.insert(name.to_owned(), line_at(text, offset) + usize::from(is_long));
    if let Some(table) = value.as_table() {
        for (key, value) in table {
            let name = format!("{name}.{}", key.get_ref());
            note_lines(&name, value.get_ref(), value.span().start, text, lines);
        }
    }
    for (n, value) in value.as_array().into_iter().flatten().enumerate() {
        note_lines(&format!("{name}[{n}]"), value.get_ref(), value.span().start, text, lines);
    }
}

/// A text in which Markdown finds no mark and a messenger nobody to address.
fn markdown(text: String) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '@' => out.push('＠'),
            '\\' | '`' | '*' | '_' | '~' | '[' | ']' | '<' | '>' | '#' | '|' | '!' => {
                out.push('\\');
                out.push(c);
            }
            other => out.push(other),
        }
    }
    out
}

fn line_at(text: &str, offset: usize) -> usize {
    text.get(..offset).unwrap_or_default().matches('\n').count() + 1
}

#[cfg(test)]
mod tests;
