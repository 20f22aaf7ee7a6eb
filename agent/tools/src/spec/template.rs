//! An address with places for arguments: `https://cmms.plant/api/orders/{order_id}?lang={lang}`.
//!
//! Invariants: scheme, host and port are literal, so that no argument can lead elsewhere; an
//! argument is percent-encoded to one path segment or one query value.

use std::fmt::Write as _;

use reqwest::Url;
use serde_json::{Map, Value};

/// A part of the address.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Literal(String),
    Argument(String),
}

/// An address with places for arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    parts: Vec<Part>,
    origin: Url,
}

impl Address {
    /// Reads the template.
    ///
    /// # Errors
    /// The error and the allowed form.
    pub fn read(template: &str) -> Result<Self, String> {
        let allowed = "expected http(s)://host[:port]/path with {argument} after the host";
        let rest = template
            .strip_prefix("https://")
            .or_else(|| template.strip_prefix("http://"))
            .ok_or_else(|| format!("is {template:?}, {allowed}"))?;
        let host_ends = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
        let authority = &rest[..host_ends];
        if authority.contains(['{', '}', '@', '%']) {
            return Err(format!("has the host {authority:?}, {allowed}"));
        }
        let origin = Url::parse(&template[..template.len() - rest.len() + host_ends])
            .map_err(|error| format!("is {template:?}: {error}; {allowed}"))?;
        Ok(Self { parts: split(template)?, origin })
    }

    /// The names of the arguments.
    pub fn parameters(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Argument(name) => Some(name.as_str()),
            Part::Literal(_) => None,
        })
    }

    /// Host and port in the two forms of the operator's list: `host` and `host:port`.
    pub fn host(&self) -> (String, String) {
        let host = self.origin.host_str().unwrap_or_default().to_owned();
        let port = self.origin.port_or_known_default().unwrap_or_default();
        let with_port = format!("{host}:{port}");
        (host, with_port)
    }

    /// The address with the arguments in place.
    ///
    /// # Errors
    /// An argument would change the path, or is not a single value.
    pub fn fill(&self, arguments: &Map<String, Value>) -> Result<Url, String> {
        let mut text = String::new();
        let mut in_path = true;
        for part in &self.parts {
            match part {
                Part::Literal(literal) => {
                    in_path &= !literal.contains('?');
                    text.push_str(literal);
                }
                Part::Argument(name) => {
                    let value = single(name, arguments.get(name))?;
                    if in_path && matches!(value.as_str(), "" | "." | "..") {
                        return Err(format!("{name}: {value:?} is no segment of a path"));
                    }
                    encode(&value, &mut text);
                }
            }
        }
        let url = Url::parse(&text).map_err(|error| format!("{text}: {error}"))?;
        if url.origin() == self.origin.origin() {
            Ok(url)
        } else {
            Err(format!("{url} leads away from {}", self.origin))
        }
    }
}

fn split(template: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some(start) = rest.find('{') {
        let end = rest[start..].find('}').ok_or("has a { without its }")? + start;
        let name = &rest[start + 1..end];
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(format!("has {{{name}}}, expected the name of a property"));
        }
        parts.push(Part::Literal(rest[..start].to_owned()));
        parts.push(Part::Argument(name.to_owned()));
        rest = &rest[end + 1..];
    }
    parts.push(Part::Literal(rest.to_owned()));
    Ok(parts)
}

fn single(name: &str, value: Option<&Value>) -> Result<String, String> {
    match value {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Bool(flag)) => Ok(flag.to_string()),
        Some(Value::Number(number)) => Ok(number.to_string()),
        Some(Value::Array(_) | Value::Object(_)) => {
            Err(format!("{name}: a list or mapping does not fit into an address"))
        }
    }
}

/// Percent-encodes all but the unreserved characters (RFC 3986, section 2.3).
fn encode(value: &str, into: &mut String) {
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            into.push(char::from(byte));
        } else {
            // writing to a String cannot fail
            let _never = write!(into, "%{byte:02X}");
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn fill(template: &str, arguments: &Value) -> Result<String, String> {
        let arguments = arguments.as_object().expect("an object");
        Address::read(template).expect("template").fill(arguments).map(String::from)
    }

    #[test]
    fn arguments_are_encoded_into_their_places() {
        let arguments = json!({"id": "a/b?c", "lang": "한", "n": 3});
        assert_eq!(
            fill("https://h:8443/o/{id}/x?l={lang}&n={n}", &arguments).expect("url"),
            "https://h:8443/o/a%2Fb%3Fc/x?l=%ED%95%9C&n=3"
        );
    }

    #[test]
    fn the_host_cannot_come_from_an_argument() {
        for template in ["https://{host}/x", "https://a@b/x", "ftp://h/x", "https:///x", "h/x"] {
            assert!(Address::read(template).is_err(), "{template}");
        }
    }

    #[test]
    fn an_argument_cannot_climb_out_of_its_path() {
        assert!(fill("http://h/api/{id}/x", &json!({"id": ".."})).is_err());
        assert!(fill("http://h/api/{id}", &json!({"id": ["a"]})).is_err());
    }

    proptest! {
        #[test]
        fn no_argument_leads_to_another_host(id in "\\PC{0,40}") {
            let filled = fill("http://plant.local:81/api/{id}", &json!({ "id": id }));
            if let Ok(url) = filled {
                prop_assert!(url.starts_with("http://plant.local:81/api/"), "{}", url);
            }
        }
    }
}
