//! The values and secrets that the configuration gives a hook, by name. A secret leaves only by a
//! template, a signature or a token; `Debug` does not show it.

use std::collections::BTreeMap;

use minijinja::context;
use minijinja::value::Value;
use pdm_service::secret::Secret;

/// Values and secrets by name.
#[derive(Debug, Default)]
pub(crate) struct Filled {
    pub(crate) values: BTreeMap<String, String>,
    pub(crate) secrets: BTreeMap<String, Secret>,
}

impl Filled {
    pub(crate) fn new<'a>(
        values: impl IntoIterator<Item = (&'a str, &'a str)>,
        secrets: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let value = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let secret = |(name, value): (&str, &str)| (name.to_owned(), Secret::new(value.to_owned()));
        Self {
            values: values.into_iter().map(value).collect(),
            secrets: secrets.into_iter().map(secret).collect(),
        }
    }

    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    pub(crate) fn secret(&self, name: &str) -> Option<&str> {
        self.secrets.get(name).map(Secret::expose)
    }

    /// `values` and `secrets` for a template.
    pub(crate) fn context(&self) -> Value {
        let all = |texts: &mut dyn Iterator<Item = (&String, &str)>| {
            Value::from_pairs(texts.map(|(name, text)| (name.as_str(), text)))
        };
        let values = all(&mut self.values.iter().map(|(name, value)| (name, value.as_str())));
        let secrets = all(&mut self.secrets.iter().map(|(name, one)| (name, one.expose())));
        context! { values, secrets }
    }
}
