//! Methods of texts.

use std::rc::Rc;

use super::Machine;
use super::evaluate::Arguments;
use super::format::{braces, padded};
use crate::error::{Outcome, type_error, value_error};
use crate::value::Value;

/// The methods.
pub(super) const NAMES: [&str; 31] = [
    "capitalize",
    "center",
    "count",
    "endswith",
    "find",
    "format",
    "index",
    "isalnum",
    "isalpha",
    "isdigit",
    "islower",
    "isnumeric",
    "isspace",
    "isupper",
    "join",
    "ljust",
    "lower",
    "lstrip",
    "partition",
    "removeprefix",
    "removesuffix",
    "replace",
    "rjust",
    "rsplit",
    "rstrip",
    "split",
    "splitlines",
    "startswith",
    "strip",
    "title",
    "upper",
];

impl Machine<'_> {
    pub(super) fn of_text(
        &mut self,
        text: &Rc<str>,
        name: &str,
        arguments: Arguments,
    ) -> Outcome<Value> {
        self.usage.steps(text.len() as u64 / 16)?;
        let made = match name {
            "format" => braces(text, &arguments)?,
            "join" => self.joined(text, &arguments)?,
            "replace" => self.replaced(text, &arguments)?,
            "split" | "rsplit" | "splitlines" | "partition" => {
                return self.parts(text, name, arguments);
            }
            "ljust" | "rjust" | "center" => {
                let width = arguments.positional.first().and_then(Value::whole).unwrap_or(0);
                let align = match name {
                    "ljust" => '<',
                    "rjust" => '>',
                    _ => '^',
                };
                padded(text, ' ', align, usize::try_from(width).unwrap_or(0))?
            }
            "upper" => text.to_uppercase(),
            "lower" => text.to_lowercase(),
            "title" | "capitalize" => cased(text, name == "title"),
            "strip" | "lstrip" | "rstrip" | "removeprefix" | "removesuffix" => {
                trimmed(text, name, &arguments)?.to_owned()
            }
            _ => return asked(text, name, &arguments),
        };
        self.usage.bytes(made.len() as u64)?;
        Ok(Value::from(made))
    }

    fn joined(&mut self, between: &str, arguments: &Arguments) -> Outcome<String> {
        let Some(of) = arguments.positional.first() else {
            return type_error("join wants a list of texts");
        };
        let mut out = String::new();
        for (at, one) in self.each(&of.clone())?.iter().enumerate() {
            let Value::Text(one) = one else {
                return type_error(format!("join wants texts, found a {}", one.kind()));
            };
            self.usage.bytes((one.len() + between.len()) as u64)?;
            out.push_str(if at > 0 { between } else { "" });
            out.push_str(one);
        }
        Ok(out)
    }

    fn replaced(&mut self, text: &str, arguments: &Arguments) -> Outcome<String> {
        let [Value::Text(old), Value::Text(new), ..] = arguments.positional.as_slice() else {
            return type_error("replace wants two texts");
        };
        let times =
            if old.is_empty() { text.chars().count() + 1 } else { text.matches(&**old).count() };
        self.usage.bytes((times as u64).saturating_mul(new.len() as u64))?;
        Ok(text.replace(&**old, new))
    }

    fn parts(&mut self, text: &str, name: &str, mut arguments: Arguments) -> Outcome<Value> {
        let most = arguments.take("maxsplit");
        let mut given = arguments.positional.into_iter();
        let (by, most) = (given.next(), given.next().or(most));
        let most = most.and_then(|most| most.whole()).and_then(|most| usize::try_from(most).ok());
        let by = match by {
            Some(Value::Text(by)) if !by.is_empty() => Some(by),
            Some(Value::Text(_)) => return value_error("a text is not split by an empty one"),
            _ => None,
        };
        self.usage.bytes(text.len() as u64 * 2)?;
        self.usage.elements(text.len() / 8 + 1)?;
        let parts: Vec<&str> = match (name, &by, most) {
            ("splitlines", ..) => text.lines().collect(),
            ("partition", Some(by), _) => match text.split_once(&**by) {
                Some((before, after)) => vec![before, by, after],
                None => vec![text, "", ""],
            },
            (_, None, _) => text.split_whitespace().collect(),
            ("rsplit", Some(by), Some(most)) => {
                let mut parts: Vec<&str> = text.rsplitn(most + 1, &**by).collect();
                parts.reverse();
                parts
            }
            (_, Some(by), Some(most)) => text.splitn(most.saturating_add(1), &**by).collect(),
            (_, Some(by), None) => text.split(&**by).collect(),
        };
        self.usage.elements(parts.len())?;
        Ok(Value::from(parts.into_iter().map(Value::from).collect::<Vec<_>>()))
    }
}

fn cased(text: &str, is_title: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_first = true;
    for c in text.chars() {
        if is_first && c.is_alphabetic() {
            out.extend(c.to_uppercase());
        } else {
            out.extend(c.to_lowercase());
        }
        is_first = is_title && !c.is_alphabetic();
    }
    out
}

fn trimmed<'t>(text: &'t str, name: &str, arguments: &Arguments) -> Outcome<&'t str> {
    let given = match arguments.positional.first() {
        None | Some(Value::None) => None,
        Some(Value::Text(given)) => Some(&**given),
        Some(other) => return type_error(format!("{name} wants a text, not a {}", other.kind())),
    };
    Ok(match (name, given) {
        ("removeprefix", Some(part)) => text.strip_prefix(part).unwrap_or(text),
        ("removesuffix", Some(part)) => text.strip_suffix(part).unwrap_or(text),
        (_, given) => {
            let is_out = |c: char| given.map_or_else(|| c.is_whitespace(), |set| set.contains(c));
            match name {
                "lstrip" => text.trim_start_matches(is_out),
                "rstrip" => text.trim_end_matches(is_out),
                _ => text.trim_matches(is_out),
            }
        }
    })
}

/// Methods that ask something of a text.
fn asked(text: &str, name: &str, arguments: &Arguments) -> Outcome<Value> {
    let all = |is: fn(char) -> bool| Ok(Value::Bool(!text.is_empty() && text.chars().all(is)));
    match name {
        "isdigit" | "isnumeric" => return all(char::is_numeric),
        "isalpha" => return all(char::is_alphabetic),
        "isalnum" => return all(char::is_alphanumeric),
        "isspace" => return all(char::is_whitespace),
        "isupper" => {
            return Ok(Value::Bool(
                text.chars().any(char::is_uppercase) && !text.chars().any(char::is_lowercase),
            ));
        }
        "islower" => {
            return Ok(Value::Bool(
                text.chars().any(char::is_lowercase) && !text.chars().any(char::is_uppercase),
            ));
        }
        _ => {}
    }
    let parts = match arguments.positional.first() {
        Some(Value::Text(part)) => vec![Rc::clone(part)],
        Some(Value::Tuple(all)) => {
            let text = |value: &Value| match value {
                Value::Text(text) => Ok(Rc::clone(text)),
                other => type_error(format!("{name} wants texts, not a {}", other.kind())),
            };
            all.iter().map(text).collect::<Outcome<Vec<_>>>()?
        }
        _ => return type_error(format!("{name} wants a text")),
    };
    let part = parts.first().map_or("", |part| &**part);
    let place = || text.find(part).map(|at| text[..at].chars().count() as i64);
    match name {
        "startswith" => Ok(Value::Bool(parts.iter().any(|part| text.starts_with(&**part)))),
        "endswith" => Ok(Value::Bool(parts.iter().any(|part| text.ends_with(&**part)))),
        "count" => Ok(Value::Int(text.matches(part).count() as i64)),
        "find" => Ok(Value::Int(place().unwrap_or(-1))),
        "index" => match place() {
            Some(at) => Ok(Value::Int(at)),
            None => value_error("the part is not in the text"),
        },
        _ => type_error(format!("a text has no {name}")),
    }
}
