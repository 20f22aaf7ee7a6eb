//! Secrets are read from a file or the environment, never from the configuration itself, and are
//! never logged. [`LiveSecret`] reads its source again each time it is used, so that a rotated
//! secret needs no restart.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};

mod live;

pub use live::LiveSecret;

/// A secret's value. Only [`Secret::expose`] gives it out; `Debug` does not.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value.
    pub const fn new(value: String) -> Self {
        Self(value)
    }

    /// The value, for the call that needs it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether `given` is this secret. The time of the comparison does not tell where they differ.
    pub fn is(&self, given: &[u8]) -> bool {
        let pairs = given.iter().zip(self.0.as_bytes());
        let differs = pairs.fold(0, |differ, (a, b)| differ | (a ^ b));
        given.len() == self.0.len() && std::hint::black_box(differs) == 0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Source of a secret: `{ file = "/run/secrets/mqtt" }` or `{ env = "PDM_MQTT_PASSWORD" }`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretSource {
    /// A file. A byte order mark and the line ends around the secret are not part of it; its blanks
    /// are.
    File(PathBuf),
    /// An environment variable.
    Env(String),
    /// A value that the program made itself for another part of the same process; no file names it.
    Made(Secret),
}

/// The forms of a secret's source, for errors. They never quote the value: who wrote the secret
/// itself in its place must not find it in the log.
const FORMS: &str = "a secret is not written here; allowed are { file = \"PATH\" } and \
                     { env = \"NAME\" }";

impl<'de> Deserialize<'de> for SecretSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Form;

        impl<'de> Visitor<'de> for Form {
            type Value = Option<SecretSource>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(FORMS)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let hidden = |_quotes_the_value| A::Error::custom(FORMS);
                let mut source = None;
                while let Some(key) = map.next_key::<String>().map_err(hidden)? {
                    match key.as_str() {
                        "file" if source.is_none() => {
                            let path = map.next_value::<PathBuf>().map_err(hidden)?;
                            source = Some(SecretSource::File(path));
                        }
                        "env" if source.is_none() => {
                            let name = map.next_value::<String>().map_err(hidden)?;
                            source = Some(SecretSource::Env(name));
                        }
                        _ => return Err(A::Error::custom(FORMS)),
                    }
                }
                Ok(source)
            }

            fn visit_str<E: serde::de::Error>(self, _secret: &str) -> Result<Self::Value, E> {
                Ok(None)
            }

            fn visit_i64<E: serde::de::Error>(self, _secret: i64) -> Result<Self::Value, E> {
                Ok(None)
            }

            fn visit_f64<E: serde::de::Error>(self, _secret: f64) -> Result<Self::Value, E> {
                Ok(None)
            }

            fn visit_bool<E: serde::de::Error>(self, _secret: bool) -> Result<Self::Value, E> {
                Ok(None)
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                mut list: A,
            ) -> Result<Self::Value, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(None)
            }
        }

        let read = deserializer.deserialize_any(Form)?;
        read.ok_or_else(|| D::Error::custom(FORMS))
    }
}

/// A secret that cannot be read. The caller reports it with the key it belongs to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// The file cannot be read.
    #[error("cannot read the secret's file {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the read.
        #[source]
        source: std::io::Error,
    },
    /// The secret has more than one line: two keys in one file, or a file of another kind.
    #[error("the secret of {place} has more than one line, allowed is one")]
    Lines {
        /// The file or the variable; the text is not told.
        place: String,
    },
    /// The secret is empty: while a file is being written anew it may be.
    #[error("the secret of {place} is empty")]
    Empty {
        /// The file or the variable.
        place: String,
    },
    /// The variable is not set or not UTF-8.
    #[error("environment variable {name} is not set (or not UTF-8)")]
    Env {
        /// The variable.
        name: String,
    },
}

impl SecretError {
    /// Whether the secret may be there in a moment: a volume is being mounted, a file is being
    /// replaced.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::File { source, .. } => source.kind() == std::io::ErrorKind::NotFound,
            Self::Empty { .. } => true,
            Self::Lines { .. } | Self::Env { .. } => false,
        }
    }
}

impl fmt::Display for SecretSource {
    /// The file or the variable, never what it holds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Env(name) => write!(f, "environment variable {name}"),
            Self::Made(_) => f.write_str("a value of this process"),
        }
    }
}

impl SecretSource {
    /// The source with a relative file resolved against `folder`.
    #[must_use]
    pub fn rooted(self, folder: &std::path::Path) -> Self {
        match self {
            Self::File(path) => Self::File(folder.join(path)),
            Self::Env(_) | Self::Made(_) => self,
        }
    }

    /// Reads the secret.
    ///
    /// # Errors
    /// [`SecretError`] if the file or the variable cannot be read.
    pub fn fetch(&self) -> Result<Secret, SecretError> {
        match self {
            Self::File(path) => {
                let text = std::fs::read_to_string(path)
                    .map_err(|source| SecretError::File { path: path.clone(), source })?;
                one_line(&text, || path.display().to_string())
            }
            Self::Env(name) => {
                let text = std::env::var(name)
                    .map_err(|_not_set| SecretError::Env { name: name.clone() })?;
                one_line(&text, || format!("environment variable {name}"))
            }
            Self::Made(secret) => Ok(secret.clone()),
        }
    }
}

/// The secret of a text. A line break in a header or a login would be refused later with the secret
/// in the message, so it is refused here without.
fn one_line(text: &str, place: impl Fn() -> String) -> Result<Secret, SecretError> {
    let text = bare(text);
    if text.trim().is_empty() {
        return Err(SecretError::Empty { place: place() });
    }
    if text.contains(['\r', '\n', '\0']) {
        return Err(SecretError::Lines { place: place() });
    }
    if text.trim() != text {
        say_blank(place());
    }
    Ok(Secret(text.to_owned()))
}

/// A text without the byte order mark and the empty lines that editors and shells put around it.
/// The blanks of the line itself stay: they may belong to the secret.
fn bare(text: &str) -> &str {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let is_empty = |line: &&str| line.trim().is_empty();
    let lines = || text.split(['\r', '\n']);
    let before: usize = lines().take_while(is_empty).map(|line| line.len() + 1).sum();
    let after: usize = lines().rev().take_while(is_empty).map(|line| line.len() + 1).sum();
    text.get(before..text.len().saturating_sub(after)).unwrap_or_default()
}

/// Says once for each place that its secret begins or ends with a blank: it is used with it, and
/// where a login is refused nobody would see why.
fn say_blank(place: String) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if said.insert(place.clone()) {
        tracing::warn!(
            place,
            "this secret begins or ends with a blank, which is taken as a part of it; remove it if \
             it is none"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_does_not_show_in_debug_output() {
        let secret = Secret::new("hunter2".to_owned());
        assert!(!format!("{secret:?}").contains("hunter2"));
    }

    #[test]
    fn a_file_with_two_lines_is_refused_without_its_text() {
        let file = tempfile::NamedTempFile::new().expect("file");
        std::fs::write(file.path(), "hunter2\nhunter3\n").expect("write");
        let error = SecretSource::File(file.path().into()).fetch().expect_err("two lines");
        let told = format!("{error} {error:?}");
        assert!(told.contains("more than one line") && !told.contains("hunter"), "{told}");
    }

    /// Issue 33, point 5: a file that is being written anew is empty for a moment.
    #[test]
    fn an_empty_file_is_no_secret() {
        let file = tempfile::NamedTempFile::new().expect("file");
        for text in ["", "\n", " \n"] {
            std::fs::write(file.path(), text).expect("write");
            let error = SecretSource::File(file.path().into()).fetch().expect_err("empty");
            assert!(matches!(error, SecretError::Empty { .. }) && error.may_pass(), "{error}");
        }
    }

    #[test]
    fn a_file_gives_the_secret_without_its_line_end() {
        let file = tempfile::NamedTempFile::new().expect("file");
        std::fs::write(file.path(), "s3cret\r\n").expect("write");
        let secret = SecretSource::File(file.path().into()).fetch().expect("secret");
        assert_eq!(secret.expose(), "s3cret");
    }

    /// Issue 33, point 5: editors, shells and Windows put a mark and line ends around a secret.
    #[test]
    fn a_mark_and_empty_lines_around_a_secret_are_no_part_of_it_and_its_blanks_are() {
        let file = tempfile::NamedTempFile::new().expect("file");
        for (text, secret) in [
            ("\u{feff}s3cret\r\n", "s3cret"),
            ("\u{feff}s3cret", "s3cret"),
            ("s3cret\n\n", "s3cret"),
            ("s3cret\r\n\r\n", "s3cret"),
            ("s3cret\n  \n", "s3cret"),
            ("\ns3cret\n", "s3cret"),
            ("s3 cret phrase\n", "s3 cret phrase"),
            ("s3cret \n", "s3cret "),
            (" s3cret\n", " s3cret"),
            ("비밀 값\r\n", "비밀 값"),
        ] {
            std::fs::write(file.path(), text).expect("write");
            let read = SecretSource::File(file.path().into()).fetch().expect(text);
            assert_eq!(read.expose(), secret, "{text:?}");
        }
        for text in ["\u{feff}", "\u{feff}\r\n", "\r\n \r\n", "\t"] {
            std::fs::write(file.path(), text).expect("write");
            let error = SecretSource::File(file.path().into()).fetch().expect_err(text);
            let place = file.path().display().to_string();
            assert!(matches!(error, SecretError::Empty { .. }), "{text:?}: {error}");
            assert!(error.to_string().contains(&place), "{error}");
        }
    }

    #[test]
    fn a_secret_in_the_configuration_itself_is_refused_and_not_shown() {
        #[derive(Debug, Deserialize)]
        struct Settings {
            token: SecretSource,
        }
        let read = |value: &str| {
            let path = std::path::Path::new("agent.toml");
            crate::config::parse::<Settings>(path, &format!("token = {value}\n"))
        };
        for wrong in [
            "\"hunter2\"",
            "[\"hunter2\"]",
            "{ hunter2 = 1 }",
            "{ value = \"hunter2\" }",
            "{ file = [\"hunter2\"] }",
            "{ env = { a = \"hunter2\" } }",
            "4221",
            "42.21",
            "true",
            "2026-11-23",
            "{}",
        ] {
            let told = read(wrong).expect_err(wrong).to_string();
            assert!(told.starts_with("agent.toml:1:") && told.contains("token"), "{told}");
            assert!(told.contains("{ file = \"PATH\" }"), "{told}");
            for value in ["hunter2", "4221", "42.21", "2026"] {
                assert!(!told.contains(value), "{told}");
            }
        }
        let settings = read("{ env = \"PDM_TOKEN\" }").expect("a source");
        assert_eq!(settings.token, SecretSource::Env("PDM_TOKEN".to_owned()));
    }
}
