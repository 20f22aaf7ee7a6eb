//! How templates show values: figures with three digits, hours as hours or days, addresses.

use minijinja::Environment;
use minijinja::value::{Serde, Value, ValueKind};
use pdm_shared::id::BearingKey;
use serde::Serialize;

use crate::access::encoded;

/// Adds the filters `figure`, `hours`, `word`.
pub(super) fn add(environment: &mut Environment<'static>) {
    environment.add_filter("figure", |value: Value| number(&value).map_or_else(dash, figure));
    environment.add_filter("hours", |value: Value| number(&value).map_or_else(dash, hours));
    environment.add_filter("dash", |value: Value| {
        if matches!(value.kind(), ValueKind::None | ValueKind::Undefined) {
            Value::from("–")
        } else {
            value
        }
    });
    environment.add_filter("compact", |value: Value| {
        serde_json::to_string(&value).unwrap_or_default().chars().take(400).collect::<String>()
    });
}

/// A row for a template, with the names that it has as JSON.
pub(super) fn value(of: impl Serialize) -> Value {
    Value::from(Serde(of))
}

fn number(value: &Value) -> Option<f64> {
    f64::try_from(value.clone()).ok().filter(|number| number.is_finite())
}

pub(super) fn dash() -> String {
    "–".to_owned()
}

/// Three significant digits, without an exponent for what is measured here.
fn figure(number: f64) -> String {
    let size = number.abs();
    if number == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e6).contains(&size) {
        return format!("{number:.2e}");
    }
    let digits = (2 - size.log10().floor() as i32).clamp(0, 6) as usize;
    format!("{number:.digits$}")
}

/// Hours below two days, else whole days, rounded down; what is left of an hour as that.
pub(super) fn hours(number: f64) -> String {
    if (0.0..1.0).contains(&number) {
        "<1 h".to_owned()
    } else if number.abs() < 48.0 {
        format!("{number:.0} h")
    } else {
        format!("{:.0} d", (number / 24.0).floor())
    }
}

/// The address of a bearing's page.
pub(crate) fn address(key: &BearingKey) -> String {
    let part = |name: &str| encoded(name).replace('/', "%2F");
    format!(
        "/bearings/{}/{}/{}",
        part(key.site.as_str()),
        part(key.equipment.as_str()),
        part(key.bearing.as_str())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits() {
        for (number, text) in [
            (0.0, "0"),
            (0.077_123, "0.0771"),
            (1.0, "1.00"),
            (-12.34, "-12.3"),
            (123_456.0, "123456"),
            (1e-9, "1.00e-9"),
        ] {
            assert_eq!(figure(number), text);
        }
        assert_eq!((hours(47.6), hours(480.0)), ("48 h".to_owned(), "20 d".to_owned()));
        assert_eq!((hours(0.2), hours(71.9)), ("<1 h".to_owned(), "2 d".to_owned()));
    }

    #[test]
    fn a_name_with_spaces_and_hangul_is_an_address() {
        let key = BearingKey::parse("ulsan 1", "펌프", "DE?x").expect("names");
        let address = address(&key);
        assert!(address.is_ascii() && !address.contains(['?', ' ']), "{address}");
    }
}
