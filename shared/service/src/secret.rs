//! Secrets are read from a file or the environment, never from the configuration itself, and are
//! never logged.

use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;

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
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Source of a secret: `{ file = "/run/secrets/mqtt" }` or `{ env = "PDM_MQTT_PASSWORD" }`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SecretSource {
    /// A file; one line end at its end is not part of the secret.
    File(PathBuf),
    /// An environment variable.
    Env(String),
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
    /// The variable is not set or not UTF-8.
    #[error("environment variable {name} is not set (or not UTF-8)")]
    Env {
        /// The variable.
        name: String,
    },
}

impl SecretSource {
    /// The source with a relative file resolved against `folder`.
    #[must_use]
    pub fn rooted(self, folder: &std::path::Path) -> Self {
        match self {
            Self::File(path) => Self::File(folder.join(path)),
            Self::Env(name) => Self::Env(name),
        }
    }

    /// Reads the secret.
    ///
    /// # Errors
    /// [`SecretError`] if the file or the variable cannot be read.
    pub fn fetch(&self) -> Result<Secret, SecretError> {
        match self {
            Self::File(path) => std::fs::read_to_string(path)
                .map(|text| Secret(text.trim_end_matches(['\r', '\n']).to_owned()))
                .map_err(|source| SecretError::File { path: path.clone(), source }),
            Self::Env(name) => std::env::var(name)
                .map(Secret)
                .map_err(|_not_set| SecretError::Env { name: name.clone() }),
        }
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
    fn a_file_gives_the_secret_without_its_line_end() {
        let file = tempfile::NamedTempFile::new().expect("file");
        std::fs::write(file.path(), "s3cret\r\n").expect("write");
        let secret = SecretSource::File(file.path().into()).fetch().expect("secret");
        assert_eq!(secret.expose(), "s3cret");
    }
}
