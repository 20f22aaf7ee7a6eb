//! Reads a TOML file into a type, with errors that name file, line, key and allowed values.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

/// A configuration that cannot be used. The program prints the error and exits with 78.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the read.
        source: std::io::Error,
    },
    /// The file is not valid TOML, or has an unknown key or a wrong type.
    #[error("{}:{line}:{column}: {message}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1.
        line: usize,
        /// Column, counted from 1.
        column: usize,
        /// The parser's message, with the allowed keys or type.
        message: String,
    },
    /// A value that its key does not allow.
    #[error("{}: {key} is {value}, allowed is {allowed}", path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// Dotted key.
        key: String,
        /// The value in the file.
        value: String,
        /// The allowed values.
        allowed: String,
    },
}

impl ConfigError {
    /// The error for a value that its key does not allow.
    pub fn value(
        path: &Path,
        key: impl Into<String>,
        value: impl ToString,
        allowed: impl Into<String>,
    ) -> Self {
        Self::Value {
            path: path.to_owned(),
            key: key.into(),
            value: value.to_string(),
            allowed: allowed.into(),
        }
    }
}

/// Reads `path` as TOML into `T`; give `T` `deny_unknown_fields` so that a mistyped key is found.
///
/// # Errors
/// [`ConfigError`] with file, line, column and the parser's message.
pub fn read_config<T: DeserializeOwned>(path: &Path) -> Result<T, ConfigError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| ConfigError::Unreadable { path: path.to_owned(), source })?;
    parse(path, &text)
}

/// Parses `text` as the contents of `path`.
///
/// # Errors
/// The errors of [`read`].
pub fn parse<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, ConfigError> {
    toml::from_str(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        let before = text.get(..offset).unwrap_or("");
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
        let key = key_at(text, line);
        let message = match key {
            Some(key) if !error.message().contains(&format!("`{key}`")) => {
                format!("{key}: {}", error.message())
            }
            _ => error.message().to_owned(),
        };
        ConfigError::Syntax { path: path.to_owned(), line, column, message }
    })
}

/// The key of a line of the form `key = value`.
fn key_at(text: &str, line: usize) -> Option<&str> {
    let (key, _value) = text.lines().nth(line - 1)?.split_once('=')?;
    Some(key.trim())
}

/// Refuses a duration of `key` that is not a number from 0 to `most` of `unit`.
///
/// # Errors
/// [`ConfigError::Value`].
pub fn within(
    path: &Path,
    key: &str,
    value: f64,
    most: f64,
    unit: &str,
) -> Result<(), ConfigError> {
    if (0.0..=most).contains(&value) {
        return Ok(());
    }
    Err(ConfigError::value(path, key, value, format!("0 to {most} {unit}")))
}

/// Refuses a count of `key` that is 0.
///
/// # Errors
/// [`ConfigError::Value`].
pub fn above_zero(path: &Path, key: &str, value: u64) -> Result<(), ConfigError> {
    if value == 0 { Err(ConfigError::value(path, key, value, "1 or more")) } else { Ok(()) }
}

/// Refuses a count of `key` that is 0 or above `most`: a size that memory is reserved by.
///
/// # Errors
/// [`ConfigError::Value`].
pub fn count_within(path: &Path, key: &str, value: u64, most: u64) -> Result<(), ConfigError> {
    if (1..=most).contains(&value) {
        return Ok(());
    }
    Err(ConfigError::value(path, key, value, format!("1 to {most}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Settings {
        #[expect(dead_code, reason = "the test only parses the field")]
        rate_hz: f64,
    }

    fn message(text: &str) -> String {
        parse::<Settings>(Path::new("edge.toml"), text).expect_err("wrong").to_string()
    }

    #[test]
    fn an_unknown_key_is_told_with_file_line_and_what_is_allowed() {
        assert_eq!(
            message("rate_hz = 1.0\nrte_hz = 2.0\n"),
            "edge.toml:2:1: unknown field `rte_hz`, expected `rate_hz`"
        );
    }

    #[test]
    fn a_wrong_type_is_told_with_its_key() {
        let text = message("# a comment\nrate_hz = \"fast\"\n");
        assert!(
            text.starts_with("edge.toml:2:11: rate_hz: invalid type: string \"fast\""),
            "{text}"
        );
    }
}
