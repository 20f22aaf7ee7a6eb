//! Reads the expert's rules (`diagnosis.toml`) and refuses values that no rule can work with,
//! naming file and key.

use std::path::Path;

use pdm_expert::rules::Rules;
use pdm_service::config::{self, ConfigError};

/// Reads a rules file.
///
/// # Errors
/// [`ConfigError`] with file, line or key and what is allowed.
pub fn read_rules(path: &Path) -> Result<Rules, ConfigError> {
    checked(path, config::read_config(path)?)
}

/// Reads rules from `text` as if it stood in `path`.
///
/// # Errors
/// As [`read`].
pub fn parse(path: &Path, text: &str) -> Result<Rules, ConfigError> {
    checked(path, config::parse(path, text)?)
}

fn checked(path: &Path, rules: Rules) -> Result<Rules, ConfigError> {
    match rules.check() {
        Ok(()) => Ok(rules),
        Err(wrong) => Err(ConfigError::value(path, wrong.key, wrong.value, wrong.allowed)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHIPPED: &str = include_str!("../../../config/diagnosis.toml");

    fn refused(was: &str, is: &str) -> String {
        let text = SHIPPED.replace(was, is);
        parse(Path::new("d.toml"), &text).expect_err("wrong").to_string()
    }

    #[test]
    fn a_mistyped_key_is_told_with_its_line() {
        let error = refused("high_kurtosis", "hi_kurtosis");
        assert!(error.contains("d.toml:") && error.contains("hi_kurtosis"), "{error}");
    }

    #[test]
    fn a_wrong_value_is_told_with_file_and_key() {
        let error = refused("parts_h = 120.0", "parts_h = -1.0");
        let told = "d.toml: lead_time.parts_h is -1, allowed is a finite number above 0";
        assert_eq!(error, told);
    }
}
