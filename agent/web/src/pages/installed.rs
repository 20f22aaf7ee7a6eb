//! The parts with which a browser installs the pages on a phone, and its pages without a network:
//! the manifest, the icon, the page that says so, and an honest answer to an address that does not
//! exist.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use minijinja::context;
use serde_json::json;

use super::Reader;
use crate::problem::Problem;
use crate::{assets, language};

/// The icon, as the browser asks for it by itself.
pub(super) async fn icon() -> Response {
    let headers =
        [(header::CONTENT_TYPE, "image/svg+xml"), (header::CACHE_CONTROL, "public, max-age=86400")];
    (headers, assets::ICON).into_response()
}

pub(super) async fn manifest(headers: HeaderMap) -> Response {
    let code = language::code(language::language_of(&headers));
    let folder = assets::folder();
    let icon =
        json!({ "src": format!("{folder}/icon.svg"), "sizes": "any", "type": "image/svg+xml" });
    let manifest = json!({
        "name": "PdM", "short_name": "PdM", "lang": code,
        "id": "/", "start_url": "/", "scope": "/", "display": "standalone",
        "background_color": "#ffffff", "theme_color": "#0a58ca",
        "icons": [icon],
    });
    ([(header::CONTENT_TYPE, "application/manifest+json")], manifest.to_string()).into_response()
}

/// The script that answers for the server while it cannot be reached. Its first line names the
/// assets of this version: a browser takes a script of other bytes for a new one.
pub(super) async fn worker() -> Response {
    let script = format!("const FOLDER = '{}';\n{}", assets::folder(), assets::WORKER);
    let headers = [
        (header::CONTENT_TYPE, "text/javascript; charset=utf-8"),
        (header::CACHE_CONTROL, "no-cache"),
        (HeaderName::from_static("service-worker-allowed"), "/"),
    ];
    (headers, script).into_response()
}

/// The page without a network, in both languages: whose browser it is cannot be asked.
pub(super) async fn offline(headers: HeaderMap) -> Response {
    let reader = Reader::nobody(language::language_of(&headers));
    super::page("offline.html", &reader, StatusCode::OK, context! {})
}

/// An address that does not exist: a page for a browser, problem details for a program.
pub(crate) async fn missing(request: Request) -> Response {
    let headers = request.headers();
    let accepts = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    let problem = Problem::unknown("page");
    if accepts.is_some_and(|accepts| accepts.contains("text/html")) {
        return super::refusal(&Reader::nobody(language::language_of(headers)), &problem);
    }
    problem.into_response()
}
