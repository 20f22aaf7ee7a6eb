//! Errors as the exceptions of `pdm_bearings.errors`.

use pyo3::exceptions::{PyFileNotFoundError, PyRuntimeError};
use pyo3::prelude::*;

use pdm_edge::source::SourceError;

/// An exception of `pdm_bearings.errors` by its name.
fn exception(class: &str, text: &str) -> PyErr {
    Python::attach(|py| {
        let made = py
            .import("pdm_bearings.errors")
            .and_then(|module| module.getattr(class))
            .and_then(|class| class.call1((text,)));
        match made {
            Ok(value) => PyErr::from_value(value),
            Err(error) => error,
        }
    })
}

/// A value that cannot be used, with the value and what is allowed.
pub(crate) fn input(text: impl std::fmt::Display) -> PyErr {
    exception("InputError", &text.to_string())
}

/// A file that cannot be read. Options are named as Python's.
pub(crate) fn reading(error: &SourceError) -> PyErr {
    let text = error.to_string();
    match error {
        SourceError::Missing { .. } => PyFileNotFoundError::new_err(text),
        SourceError::Options { .. } => exception("InputError", &as_keywords(&text)),
        _ => exception("ReadError", &as_keywords(&text)),
    }
}

/// A lock whose holder panicked: a bug.
pub(crate) fn poisoned() -> PyErr {
    PyRuntimeError::new_err("an earlier call on this object panicked; make a new one")
}

/// `--rate` and the other options of the command line as Python's keywords, `rate=`.
fn as_keywords(text: &str) -> String {
    const OPTIONS: [&str; 10] = [
        "rate",
        "unit",
        "scale",
        "offset",
        "sensitivity",
        "variable",
        "channel",
        "prefer",
        "decimal",
        "snapshot",
    ];
    OPTIONS.iter().fold(text.to_owned(), |text, name| {
        text.replace(&format!("--{name} "), &format!("{name}="))
            .replace(&format!("--{name}"), &format!("{name}="))
    })
}
