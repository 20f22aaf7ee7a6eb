//! An error and all its causes in one line.

use std::error::Error;

/// The text of `error` and of its causes, joined by `": "`.
///
/// A cause that the text so far already contains is left out. Some errors repeat their source in
/// their own text (`thiserror`'s `{source}`); others (reqwest's) give the reason in the last cause
/// only.
///
/// ```
/// let inner = std::io::Error::other("connection refused");
/// let outer = std::io::Error::other(inner);
/// assert_eq!(pdm_service::error_chain::error_chain(&outer), "connection refused");
/// ```
pub fn error_chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let more = inner.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot read the key file: {source}")]
    struct TellsItsSource {
        source: std::io::Error,
    }

    #[derive(Debug, thiserror::Error)]
    #[error("no connection")]
    struct KeepsItsSource(#[source] TellsItsSource);

    #[test]
    fn every_cause_is_told_once() {
        let source = std::io::Error::other("permission denied");
        let error = KeepsItsSource(TellsItsSource { source });
        assert_eq!(
            error_chain(&error),
            "no connection: cannot read the key file: permission denied"
        );
    }
}
