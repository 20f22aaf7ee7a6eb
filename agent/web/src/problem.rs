//! Refusals as problem details (RFC 9457), for the API; pages show the same words.

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::plant::PlantError;

/// Why a request was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    status: StatusCode,
    detail: String,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into() }
    }

    /// Returns the problem that nothing is stored under that name.
    pub(crate) fn unknown(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("no such {what}"))
    }

    /// A parameter is not what it has to be.
    pub(crate) fn parameter(name: &str, got: &str, allowed: &str) -> Self {
        let got: String = got.chars().take(80).collect();
        Self::new(StatusCode::BAD_REQUEST, format!("{name} is {got:?}, allowed is {allowed}"))
    }

    /// Returns the problem of a body that can be read and is not allowed.
    pub(crate) fn unfit(told: impl ToString) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, told.to_string())
    }

    pub(crate) const fn status(&self) -> StatusCode {
        self.status
    }

    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }
}

impl From<PlantError> for Problem {
    fn from(error: PlantError) -> Self {
        // the reason may name hosts and files: it is for the log alone
        tracing::warn!(%error, "a page could not be made");
        match error {
            PlantError::Unavailable(_) => Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "the store does not answer at the moment",
            ),
            PlantError::Unreadable(_) => Self::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "this entry of the store cannot be read: another version wrote it or it is \
                 damaged; the agent's log names it",
            ),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = json!({
            "type": "about:blank",
            "title": self.status.canonical_reason().unwrap_or("refused"),
            "status": self.status.as_u16(),
            "detail": self.detail,
        });
        let mut response = (self.status, Json(body)).into_response();
        let kind = header::HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        response
    }
}
