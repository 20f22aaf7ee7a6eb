//! Who may enter: programs and browsers of this machine, or those with the token.
//!
//! Without a token (which only loopback allows) a request must name a loopback host and come from no
//! page of another origin. With one, an API call sends it as `Authorization: Bearer`, and a browser
//! logs in with it once and gets a session's cookie. Forms of a session carry a key of their own
//! ([`Viewer::may_send`]), and every request that acts must come from a page of this server.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Extension, Form, Query, Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use pdm_service::http::guard;
use pdm_service::http::server::{self, Peer};
use serde::Deserialize;

use crate::problem::Problem;
use crate::session::{LASTS, form_key};
use crate::{Shared, language, pages};

/// The cookie of a session.
const COOKIE: &str = "pdm_session";

/// Who asks, an extension of every request that has entered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Viewer {
    session: Option<String>,
}

impl Viewer {
    /// The key that forms of this viewer send back.
    pub(crate) fn form_key(&self) -> String {
        self.session.as_deref().map(form_key).unwrap_or_default()
    }

    /// Whether a form with this key is one that this server gave to the viewer.
    pub(crate) fn may_send(&self, key: &str) -> bool {
        self.session.as_deref().is_none_or(|session| form_key(session) == key)
    }

    /// Whether the viewer has logged in and can log out.
    pub(crate) const fn has_session(&self) -> bool {
        self.session.is_some()
    }
}

/// Login and logout.
pub(crate) fn router() -> Router<Arc<Shared>> {
    Router::new().route("/login", get(ask).post(login)).route("/logout", post(logout))
}

/// Lets a request in, or answers why not.
pub(crate) async fn enter(
    State(shared): State<Arc<Shared>>,
    mut request: Request,
    next: Next,
) -> Response {
    let access = &shared.site.access;
    let headers = request.headers();
    let viewer = if access.needs_token() {
        if let Some(session) = open_session(&shared, headers) {
            Viewer { session: Some(session) }
        } else if let Some(token) = bearer(headers) {
            let peer = request.extensions().get::<Peer>().copied();
            if !access.admits(peer, request.uri().path(), &token).await {
                return Problem::new(StatusCode::UNAUTHORIZED, "the token is wrong")
                    .into_response();
            }
            Viewer { session: None }
        } else {
            return without_login(&request);
        }
    } else if guard::is_local(headers) {
        Viewer { session: None }
    } else {
        let told = "only programs and pages of this machine may ask: no token is configured";
        return Problem::new(StatusCode::FORBIDDEN, told).into_response();
    };
    if !is_of_this_server(request.method(), request.headers()) {
        let told = "a page of another server sent this request";
        return Problem::new(StatusCode::FORBIDDEN, told).into_response();
    }
    server::admit(&request);
    request.extensions_mut().insert(viewer);
    next.run(request).await
}

/// A browser is sent to the login page, a program is told what to send.
fn without_login(request: &Request) -> Response {
    let path = request.uri().path();
    let is_page = request.method() == Method::GET && !path.starts_with("/api/") && path != "/live";
    if is_page {
        // the address is a path of this server's routes: it needs no check of its own
        let to = request.uri().path_and_query().map_or("/", |path| path.as_str());
        return Redirect::to(&format!("/login?to={}", encoded(to))).into_response();
    }
    let mut told = Problem::new(StatusCode::UNAUTHORIZED, "a bearer token or a login is required")
        .into_response();
    told.headers_mut().insert(header::WWW_AUTHENTICATE, header::HeaderValue::from_static("Bearer"));
    told
}

/// Whether a request that acts comes from this server's pages: browsers say the origin of a form.
fn is_of_this_server(method: &Method, headers: &HeaderMap) -> bool {
    if matches!(*method, Method::GET | Method::HEAD) {
        return true;
    }
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    match (text(header::ORIGIN), text(header::HOST)) {
        (None, _) => true,
        (Some(origin), Some(host)) => {
            origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")) == Some(host)
        }
        (Some(_), None) => false,
    }
}

fn open_session(shared: &Shared, headers: &HeaderMap) -> Option<String> {
    let value = cookie(headers, COOKIE)?;
    shared.sessions.is_open(&value).then_some(value)
}

fn bearer(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    value.strip_prefix("Bearer ").map(|token| token.trim().to_owned())
}

/// The value of a cookie.
pub(crate) fn cookie(headers: &HeaderMap, name: &str) -> Option<String> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .find_map(|pair| pair.trim().strip_prefix(name)?.strip_prefix('=').map(str::to_owned))
}

/// Where the browser goes after its login.
#[derive(Debug, Deserialize)]
struct To {
    #[serde(default)]
    to: String,
}

async fn ask(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    Query(to): Query<To>,
) -> Response {
    if !shared.site.access.needs_token() {
        return Redirect::to("/").into_response();
    }
    pages::login(language::of(&headers), inner(&to.to), false)
}

/// The login form.
#[derive(Debug, Deserialize)]
struct Login {
    token: String,
    #[serde(default)]
    to: String,
}

async fn login(
    State(shared): State<Arc<Shared>>,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
    Form(form): Form<Login>,
) -> Response {
    let to = inner(&form.to);
    let peer = peer.map(|Extension(peer)| peer);
    if !is_of_this_server(&Method::POST, &headers)
        || !shared.site.access.admits(peer, "/login", form.token.trim()).await
    {
        return pages::login(language::of(&headers), to, true);
    }
    let value = shared.sessions.open();
    let cookie =
        format!("{COOKIE}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={}", LASTS.as_secs());
    ([(header::SET_COOKIE, cookie)], Redirect::to(to)).into_response()
}

async fn logout(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> Response {
    if is_of_this_server(&Method::POST, &headers)
        && let Some(value) = cookie(&headers, COOKIE)
    {
        shared.sessions.end(&value);
    }
    let gone = format!("{COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
    ([(header::SET_COOKIE, gone)], Redirect::to("/login")).into_response()
}

/// The address if it is a path of this server, else the first page: no link to a login may lead
/// away.
fn inner(to: &str) -> &str {
    let is_path = to.starts_with('/') && !to.starts_with("//") && !to.contains(['\\', '\r', '\n']);
    if is_path && to.is_ascii() { to } else { "/" }
}

/// The text with everything but letters, digits and `/._-~` as `%XX`.
pub(crate) fn encoded(text: &str) -> String {
    use std::fmt::Write as _;
    text.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"/._-~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _written = write!(out, "%{byte:02X}");
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_login_leads_to_another_server() {
        for away in ["//evil.example", "https://evil.example", "/\\evil.example", "", "/a\r\nb"] {
            assert_eq!(inner(away), "/", "{away:?}");
        }
        assert_eq!(inner("/bearings/a/b/c?n=1"), "/bearings/a/b/c?n=1");
    }

    #[test]
    fn a_form_of_another_origin_is_no_form_of_this_server() {
        let sent = |origin: Option<&str>, host: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().expect("value"));
            if let Some(origin) = origin {
                headers.insert(header::ORIGIN, origin.parse().expect("value"));
            }
            is_of_this_server(&Method::POST, &headers)
        };
        assert!(sent(None, "pdm:9465") && sent(Some("http://pdm:9465"), "pdm:9465"));
        assert!(!sent(Some("http://evil.example"), "pdm:9465"));
        assert!(!sent(Some("http://pdm:1"), "pdm:9465") && !sent(Some("null"), "pdm:9465"));
    }

    #[test]
    fn a_cookie_is_found_among_others() {
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, "a=1; pdm_session=xyz; pdm_sessions=no".parse().expect("v"));
        assert_eq!(cookie(&headers, COOKIE).as_deref(), Some("xyz"));
        assert_eq!(cookie(&headers, "b"), None);
    }
}
