//! Decides who may enter, and what they may do there.
//!
//! Without a token and without users (which only loopback allows) a request must name a loopback
//! host and come from no page of another origin; its sender is an administrator of this machine.
//! Else an API call sends a token as `Authorization: Bearer`, and a browser logs in and gets a
//! session's cookie ([`crate::login`]). Forms of a session carry a key of their own
//! ([`Viewer::may_send`]), and every request that acts must come from a page of this server.
//!
//! A handler that acts takes [`Technician`] or [`Admin`] in place of [`Viewer`]: whoever has less
//! is refused before the handler runs.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use pdm_service::http::callers::{Identity, Role, UnknownCallers};
use pdm_service::http::guard::{self, TOKEN_NAME};
use pdm_service::http::server::{self, Peer};

use crate::plant::PlantError;
use crate::problem::Problem;
use crate::session::{self, form_key};
use crate::{Shared, Site, audit};

/// The cookie of a session.
pub(crate) const COOKIE: &str = "pdm_session";

/// The caller, as an extension of every request that has entered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Viewer {
    /// `None` for a program or browser of this machine that needs no login.
    identity: Option<Identity>,
    session: Option<String>,
    peer: Option<Peer>,
}

impl Viewer {
    /// Returns the name by which a bounded place is held: the user's name, else the address.
    pub(crate) fn asker(&self) -> String {
        let address = || self.peer.map(|peer| format!("address {}", peer.0.ip()));
        let name = self.identity.as_ref().map(|identity| format!("user {}", identity.name));
        name.or_else(address).unwrap_or_default()
    }

    /// The key that forms of this viewer send back.
    pub(crate) fn form_key(&self) -> String {
        self.session.as_deref().map(form_key).unwrap_or_default()
    }

    /// Whether a form with this key is one that this server gave to the viewer.
    pub(crate) fn may_send(&self, key: &str) -> bool {
        self.session.as_deref().is_none_or(|session| form_key(session) == key)
    }

    /// Refuses a form with another key.
    pub(crate) fn check_form(&self, key: &str) -> Result<(), Problem> {
        if self.may_send(key) {
            return Ok(());
        }
        let told = "the form is of an earlier login: open the page again";
        Err(Problem::new(StatusCode::FORBIDDEN, told))
    }

    /// Whether the viewer has logged in and can log out.
    pub(crate) const fn has_session(&self) -> bool {
        self.session.is_some()
    }

    /// Returns the viewer's role.
    pub(crate) fn role(&self) -> Role {
        self.identity.as_ref().map_or(Role::Admin, |identity| identity.role)
    }

    /// Returns the user's name; `None` for the token and for this machine, where people type their
    /// names themselves.
    pub(crate) fn user(&self) -> Option<&str> {
        let name = self.identity.as_ref().map(|identity| identity.name.as_str());
        name.filter(|name| *name != TOKEN_NAME)
    }

    /// Returns the name under which the viewer's open streams are counted; `None` for a program of
    /// this machine.
    pub(crate) fn named(&self) -> Option<&str> {
        self.identity.as_ref().map(|identity| identity.name.as_str())
    }

    /// The name under which the viewer acts: a user's own, whatever else was typed.
    pub(crate) fn signed(&self, typed: &str) -> String {
        match self.user() {
            Some(user) => user.to_owned(),
            None => typed.to_owned(),
        }
    }

    /// The name under which the record of acts has the viewer.
    pub(crate) fn name(&self) -> &str {
        self.identity.as_ref().map_or("local", |identity| identity.name.as_str())
    }

    /// The address that the viewer asks from.
    pub(crate) const fn peer(&self) -> Option<Peer> {
        self.peer
    }

    /// Writes down what the viewer did.
    pub(crate) async fn did(&self, shared: &Shared, via: &str, action: &str, what: String) {
        audit::note(shared, self.name(), via, self.peer, action, what).await;
    }
}

/// A viewer who may act.
#[derive(Debug, Clone)]
pub(crate) struct Technician(pub(crate) Viewer);

/// A viewer who may manage users.
#[derive(Debug, Clone)]
pub(crate) struct Admin(pub(crate) Viewer);

/// The refused caller and the reason, as an extension of the answer: pages show it as a page.
#[derive(Debug, Clone)]
pub(crate) struct Refused {
    pub(crate) viewer: Viewer,
    pub(crate) problem: Problem,
}

impl<S: Send + Sync> FromRequestParts<S> for Technician {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Response> {
        ranked(parts, Role::Technician).map(Self).map_err(|refusal| *refusal)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Admin {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Response> {
        ranked(parts, Role::Admin).map(Self).map_err(|refusal| *refusal)
    }
}

/// The viewer of a request, if the role is high enough.
fn ranked(parts: &Parts, needed: Role) -> Result<Viewer, Box<Response>> {
    let viewer = parts.extensions.get::<Viewer>();
    let found = viewer.map(Viewer::role);
    match viewer {
        Some(viewer) if viewer.role() >= needed => Ok(viewer.clone()),
        Some(_) | None => {
            let has = found.map_or("no role", Role::as_str);
            let told = format!("this needs the role {needed}, you have {has}");
            let problem = Problem::new(StatusCode::FORBIDDEN, told);
            let mut refusal = problem.clone().into_response();
            if let Some(viewer) = viewer.cloned() {
                refusal.extensions_mut().insert(Refused { viewer, problem });
            }
            Err(Box::new(refusal))
        }
    }
}

/// Lets a request in, or answers why not.
pub(crate) async fn enter(
    State(shared): State<Arc<Shared>>,
    request: Request,
    next: Next,
) -> Response {
    // a body cannot be shared between threads, and the users are asked across an await
    let (parts, body) = request.into_parts();
    let viewer = match viewer_of(&shared, &parts).await {
        Ok(viewer) => viewer,
        Err(refusal) => return refusal,
    };
    if !is_of_this_server(&shared.site, &parts.method, &parts.headers) {
        let told = "a page of another server sent this request";
        return Problem::new(StatusCode::FORBIDDEN, told).into_response();
    }
    let mut request = Request::from_parts(parts, body);
    let name = viewer.identity.as_ref().map(|identity| identity.name.as_str());
    if let Err(full) = server::admit(&request, name) {
        return *full;
    }
    request.extensions_mut().insert(viewer);
    next.run(request).await
}

/// Returns who sends a request, or the refusal of somebody who may not enter.
async fn viewer_of(shared: &Shared, request: &Parts) -> Result<Viewer, Response> {
    let access = &shared.site.access;
    let headers = &request.headers;
    let peer = request.extensions.get::<Peer>().copied();
    let unasked = |error: UnknownCallers| {
        Problem::from(PlantError::Unavailable(error.to_string())).into_response()
    };
    if let Some(value) = cookie(headers, COOKIE) {
        let owner = session::owner(&shared.site, &value).await;
        let owner = owner.map_err(|error| Problem::from(error).into_response())?;
        if owner.is_some() {
            return Ok(Viewer { identity: owner, session: Some(value), peer });
        }
    }
    if !access.needs_login().await.map_err(unasked)? {
        if guard::is_local(headers) {
            return Ok(Viewer { identity: None, session: None, peer });
        }
        let told = "only programs and pages of this machine may ask: no token is configured";
        return Err(Problem::new(StatusCode::FORBIDDEN, told).into_response());
    }
    let Some(token) = bearer(headers) else {
        if is_form(request) {
            let mut refusal = without_login(request);
            refusal.extensions_mut().insert(LoginOver);
            return Err(refusal);
        }
        return Err(without_login(request));
    };
    match access.who(peer, request.uri.path(), &token).await.map_err(unasked)? {
        Some(identity) => Ok(Viewer { identity: Some(identity), session: None, peer }),
        None => Err(challenged(Problem::new(StatusCode::UNAUTHORIZED, "the token is wrong"))),
    }
}

/// Marks the refusal of a form whose sender's login has ended; [`crate::login`] makes a page of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LoginOver;

/// Whether a request is a form of a page.
fn is_form(request: &Parts) -> bool {
    let of = request.headers.get(header::CONTENT_TYPE).and_then(|of| of.to_str().ok());
    let is_form = of.is_some_and(|of| {
        of.starts_with("application/x-www-form-urlencoded") || of.starts_with("multipart/form-data")
    });
    is_form && request.method == Method::POST && !request.uri.path().starts_with("/api/")
}

/// A browser is sent to the login page, a program is told what to send.
fn without_login(request: &Parts) -> Response {
    let path = request.uri.path();
    let is_page = request.method == Method::GET && !path.starts_with("/api/") && path != "/live";
    if is_page {
        // the address is a path of this server's routes: it needs no check of its own
        let to = request.uri.path_and_query().map_or("/", |path| path.as_str());
        return Redirect::to(&format!("/login?to={}", encoded(to))).into_response();
    }
    challenged(Problem::new(StatusCode::UNAUTHORIZED, "a bearer token or a login is required"))
}

fn challenged(problem: Problem) -> Response {
    let mut told = problem.into_response();
    told.headers_mut().insert(header::WWW_AUTHENTICATE, header::HeaderValue::from_static("Bearer"));
    told
}

/// Whether a request that acts comes from this server's pages: browsers say the origin of a form.
/// It is that of the `Host` header, or the public address where a proxy writes another host.
pub(crate) fn is_of_this_server(site: &Site, method: &Method, headers: &HeaderMap) -> bool {
    if matches!(*method, Method::GET | Method::HEAD) {
        return true;
    }
    let Some(origin) = headers.get(header::ORIGIN) else { return true };
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    origin.to_str().is_ok_and(|origin| is_own(origin, host, site.public_url.as_deref()))
}

fn is_own(origin: &str, host: Option<&str>, public: Option<&str>) -> bool {
    let bare = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    let is_of_host = bare.is_some() && bare == host;
    is_of_host || public.and_then(origin_of).as_deref() == Some(origin)
}

/// The origin of an address: its scheme and its host with the port.
fn origin_of(address: &str) -> Option<String> {
    let uri: axum::http::Uri = address.parse().ok()?;
    Some(format!("{}://{}", uri.scheme_str()?, uri.authority()?))
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

/// The address if it is a path of this server, else the first page: no link to a login may lead
/// away.
pub(crate) fn inner(to: &str) -> &str {
    let is_path = to.starts_with('/') && !to.starts_with("//") && !to.contains(['\\', '\r', '\n']);
    if is_path && to.is_ascii() && !to.contains(|c: char| c.is_ascii_control()) { to } else { "/" }
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
        let away = [
            "//evil.example",
            "https://evil.example",
            "/\\evil.example",
            "",
            "/a\r\nb",
            "/\t/evil.example",
        ];
        for away in away {
            assert_eq!(inner(away), "/", "{away:?}");
        }
        assert_eq!(inner("/bearings/a/b/c?n=1"), "/bearings/a/b/c?n=1");
    }

    #[test]
    fn a_form_of_another_origin_is_no_form_of_this_server() {
        let sent =
            |origin: &str, host: &str| is_own(origin, Some(host), Some("https://p.example/x"));
        assert!(sent("http://pdm:9465", "pdm:9465") && sent("https://p.example", "127.0.0.1:9465"));
        assert!(!sent("http://p.example", "pdm:9465") && !sent("https://p.example:1", "pdm:9465"));
        assert!(!sent("http://evil.example", "pdm:9465") && !is_own("null", None, None));
        assert!(!sent("http://pdm:1", "pdm:9465") && !sent("null", "pdm:9465"));
    }

    #[test]
    fn a_cookie_is_found_among_others() {
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, "a=1; pdm_session=xyz; pdm_sessions=no".parse().expect("v"));
        assert_eq!(cookie(&headers, COOKIE).as_deref(), Some("xyz"));
        assert_eq!(cookie(&headers, "b"), None);
    }

    #[test]
    fn a_user_acts_under_the_users_own_name() {
        let identity =
            |name: &str| Some(Identity { name: name.to_owned(), role: Role::Technician });
        let viewer = |identity| Viewer { identity, session: None, peer: None };
        assert_eq!(viewer(identity("kim")).signed("lee"), "kim");
        assert_eq!(viewer(identity(TOKEN_NAME)).signed("lee"), "lee");
        assert_eq!(viewer(None).signed("lee"), "lee");
        assert_eq!(viewer(None).role(), Role::Admin);
    }
}
