//! Authorization of HTTP requests by bearer token, or by a loopback address.
//!
//! Three kinds of routes are guarded. [`Access::guard_actions`] is for routes that act or show more
//! than health: on loopback without a token these answer only requests with a loopback host name
//! (against DNS rebinding) and without a foreign origin. [`Access::guard_reads`] is for metrics: on
//! loopback without a token every local client may read. [`Access::guard_uploads`] is for routes
//! that change what people are told later: these always require a token. With a token all kinds
//! require it. On any other address than loopback a token is required ([`Access::new`] refuses
//! without). A server with users ([`Access::with_callers`]) takes their tokens too: metrics need a
//! viewer, every other guarded route a technician.
//!
//! A wrong token is counted, logged with the caller's address and answered after a pause that grows
//! with each further one; the right token is never delayed.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};

use super::callers::{Callers, Identity, Role, UnknownCallers};
use super::peers::Failures;
use super::server::{self, Peer};
use crate::secret::{LiveSecret, Secret, SecretSource};

/// Fewest characters of a token. 16 characters of `openssl rand -hex` are 64 random bits, which
/// nobody guesses over a network.
pub const LEAST_TOKEN: usize = 16;

/// An address or a token with which nothing is served: a configuration error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AccessError {
    /// The address is reachable from other machines and there is no token.
    #[error("{listen} needs a token: without one only loopback (127.0.0.1, ::1) is served")]
    NeedsToken {
        /// The address.
        listen: SocketAddr,
    },
    /// The token is too short.
    #[error(
        "the token has {characters} characters, allowed are {LEAST_TOKEN} or more \
         (openssl rand -hex 24 makes one)"
    )]
    ShortToken {
        /// Its characters.
        characters: usize,
    },
}

/// The name under which the holder of the configured token acts.
pub const TOKEN_NAME: &str = "http.token";

/// The authorization that a server asks for.
#[derive(Debug, Clone)]
pub struct Access {
    token: Option<LiveSecret>,
    is_loopback: bool,
    failures: Arc<Failures>,
    callers: Option<Arc<dyn Callers>>,
}

/// The caller that a guard let pass, an extension of the request: for the log of what was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The caller's address; `None` outside of [`server::serve`].
    pub peer: Option<Peer>,
    /// The identity of the caller; `None` for a program of this machine that needs no token.
    pub identity: Option<Identity>,
}

/// The kind of guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Guard {
    Actions,
    Reads,
    /// Uploads, with the key that has to be set.
    Uploads(&'static str),
}

impl Access {
    /// Access for a server on `listen`.
    ///
    /// # Errors
    /// [`AccessError`] if other machines can connect and there is no token, or if the token is
    /// short. An empty token is none.
    pub fn new(listen: SocketAddr, token: Option<Secret>) -> Result<Self, AccessError> {
        let is_loopback = listen.ip().is_loopback();
        let token = token.filter(|token| !token.expose().is_empty());
        match &token {
            None if !is_loopback => return Err(AccessError::NeedsToken { listen }),
            Some(token) if !is_long_enough(token) => {
                let characters = token.expose().chars().count();
                return Err(AccessError::ShortToken { characters });
            }
            _ => {}
        }
        let token = token.map(LiveSecret::from);
        Ok(Self { token, is_loopback, failures: Arc::default(), callers: None })
    }

    /// Returns the same access, whose token is read from `source` again for each request, so that
    /// it can be rotated without a restart. A token that is too short, or that is not there, does
    /// not replace it.
    #[must_use]
    pub fn renewing(self, source: Option<SecretSource>) -> Self {
        let token = self.token.map(|token| LiveSecret::with(source, token.current()));
        Self { token, ..self }
    }

    /// Access for a server on `listen` whose users `callers` knows, in place of the token or beside
    /// it. Beyond loopback a caller without either is always refused.
    ///
    /// # Errors
    /// [`AccessError::ShortToken`].
    pub fn with_callers(
        listen: SocketAddr,
        token: Option<Secret>,
        callers: Arc<dyn Callers>,
    ) -> Result<Self, AccessError> {
        let own = SocketAddr::from(([127, 0, 0, 1], listen.port()));
        let access = Self::new(own, token)?;
        Ok(Self { is_loopback: listen.ip().is_loopback(), callers: Some(callers), ..access })
    }

    /// Whether only this machine can connect.
    pub const fn is_loopback(&self) -> bool {
        self.is_loopback
    }

    /// Whether a token is configured.
    pub const fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// The configured token's text, to bind a login to it.
    pub fn token(&self) -> Option<Secret> {
        self.token.as_ref().map(|token| token.current_if(is_long_enough))
    }

    /// Whether callers have to say who they are.
    ///
    /// # Errors
    /// [`UnknownCallers`] if the users cannot be asked.
    pub async fn needs_login(&self) -> Result<bool, UnknownCallers> {
        if self.token.is_some() || !self.is_loopback {
            return Ok(true);
        }
        match &self.callers {
            Some(callers) => callers.exist().await,
            None => Ok(false),
        }
    }

    /// Returns who has this token, for a request of `path`. A wrong one is logged and answered
    /// after a pause, as those of the guards.
    ///
    /// # Errors
    /// [`UnknownCallers`] if the users cannot be asked.
    pub async fn who(
        &self,
        peer: Option<Peer>,
        path: &str,
        given: &str,
    ) -> Result<Option<Identity>, UnknownCallers> {
        let found = self.owner(given).await?;
        if found.is_none() {
            self.refuse(peer, path).await;
        }
        Ok(found)
    }

    /// Counts a wrong password, token or link of a caller, and waits as long as its address has
    /// deserved.
    pub async fn refuse(&self, peer: Option<Peer>, path: &str) {
        if let Some(peer) = peer {
            tokio::time::sleep(self.wrong_token(peer, path)).await;
        }
    }

    async fn owner(&self, given: &str) -> Result<Option<Identity>, UnknownCallers> {
        if self.token().is_some_and(|token| token.is(given.as_bytes())) {
            return Ok(Some(Identity { name: TOKEN_NAME.to_owned(), role: Role::Admin }));
        }
        match &self.callers {
            Some(callers) => callers.of_token(given).await,
            None => Ok(None),
        }
    }

    /// Counts and logs a wrong token; tells the pause before the answer.
    fn wrong_token(&self, peer: Peer, path: &str) -> Duration {
        let (failures, pause) = self.failures.note(peer.0.ip());
        // the first and every doubling: a flood of guesses does not fill the log
        if failures.is_power_of_two() {
            tracing::warn!(%peer, path, failures, "a request with a wrong token was refused");
        }
        pause
    }

    /// `router` behind the guard for requests that act.
    pub fn guard_actions<S>(&self, router: Router<S>) -> Router<S>
    where
        S: Clone + Send + Sync + 'static,
    {
        self.guard(router, Guard::Actions)
    }

    /// `router` behind the guard for requests that read metrics.
    pub fn guard_reads<S>(&self, router: Router<S>) -> Router<S>
    where
        S: Clone + Send + Sync + 'static,
    {
        self.guard(router, Guard::Reads)
    }

    /// `router` behind the guard for uploads. Without a token every upload is refused with a text
    /// that names `key`, the key of the configuration that sets one.
    pub fn guard_uploads<S>(&self, router: Router<S>, key: &'static str) -> Router<S>
    where
        S: Clone + Send + Sync + 'static,
    {
        self.guard(router, Guard::Uploads(key))
    }

    fn guard<S>(&self, router: Router<S>, guard: Guard) -> Router<S>
    where
        S: Clone + Send + Sync + 'static,
    {
        let state = (Arc::new(self.clone()), guard);
        router.layer(middleware::from_fn_with_state(state, admit))
    }

    /// Returns who a request comes from, or its refusal.
    async fn judge(&self, guard: Guard, request: &Parts) -> Result<Option<Identity>, Response> {
        let needed = match guard {
            Guard::Reads => Role::Viewer,
            Guard::Actions | Guard::Uploads(_) => Role::Technician,
        };
        if self.needs_login().await.map_err(|error| unasked(&error))? {
            return self.by_token(request, needed).await.map(Some);
        }
        match guard {
            Guard::Reads => Ok(None),
            Guard::Actions if is_local(&request.headers) => Ok(None),
            Guard::Actions => {
                refused(request, "origin");
                let told = "only programs of this machine may call\n";
                Err((StatusCode::FORBIDDEN, told).into_response())
            }
            Guard::Uploads(key) => {
                refused(request, "token");
                let told = format!(
                    "an upload needs a token: set {key} in the configuration ({LEAST_TOKEN} \
                     characters or more) and send it as Authorization: Bearer\n"
                );
                Err((StatusCode::FORBIDDEN, told).into_response())
            }
        }
    }

    /// The owner of the token in a request's headers.
    async fn by_token(&self, request: &Parts, needed: Role) -> Result<Identity, Response> {
        let given = request.headers.get(header::AUTHORIZATION);
        let given = given.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        if let Some(given) = given {
            let peer = request.extensions.get::<Peer>().copied();
            let path = request.uri.path();
            let found =
                self.who(peer, path, given.trim()).await.map_err(|error| unasked(&error))?;
            if let Some(identity) = found {
                if identity.role >= needed {
                    return Ok(identity);
                }
                refused(request, "role");
                let told = format!(
                    "this needs the role {needed}, {} has {}\n",
                    identity.name, identity.role
                );
                return Err((StatusCode::FORBIDDEN, told).into_response());
            }
        }
        refused(request, "token");
        let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
        Err((StatusCode::UNAUTHORIZED, challenge, "a bearer token is required\n").into_response())
    }
}

/// The answer while the users cannot be asked; the reason is for the log alone.
fn unasked(error: &UnknownCallers) -> Response {
    tracing::warn!(%error, "a request was refused");
    (StatusCode::SERVICE_UNAVAILABLE, "the store does not answer at the moment\n").into_response()
}

async fn admit(
    State((access, guard)): State<(Arc<Access>, Guard)>,
    request: Request,
    next: Next,
) -> Response {
    // a body cannot be shared between threads, and the users are asked across an await
    let (parts, body) = request.into_parts();
    let identity = match access.judge(guard, &parts).await {
        Ok(identity) => identity,
        Err(refusal) => return refusal,
    };
    let mut request = Request::from_parts(parts, body);
    let name = identity.as_ref().map(|identity| identity.name.as_str());
    if let Err(full) = server::admit(&request, name) {
        return *full;
    }
    let peer = request.extensions().get::<Peer>().copied();
    request.extensions_mut().insert(Caller { peer, identity });
    next.run(request).await
}

/// Counts the refusal of a request.
fn refused(request: &Parts, reason: &'static str) {
    let peer = request.extensions.get::<Peer>().map(|peer| peer.0.ip());
    server::refused(reason, peer.unwrap_or(std::net::Ipv4Addr::UNSPECIFIED.into()));
}

/// Whether the request names a loopback host and no page of another origin makes it: another port
/// of this machine is another origin too, whoever serves it.
pub fn is_local(headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let origin = headers.get(header::ORIGIN).map(|origin| origin.to_str().ok());
    // a browser says so although it sends no origin, as for a form that another page leads to
    let site = headers.get("sec-fetch-site").and_then(|site| site.to_str().ok());
    let is_foreign = matches!(site, Some("cross-site" | "same-site"));
    host.is_some_and(|host| is_loopback_name(&format!("http://{host}")))
        && origin.is_none_or(|origin| is_own(origin, host))
        && !is_foreign
}

/// Whether an origin is the host that the request goes to.
fn is_own(origin: Option<&str>, host: Option<&str>) -> bool {
    let of = |scheme| origin.and_then(|origin| origin.strip_prefix(scheme));
    of("http://").or_else(|| of("https://")).is_some_and(|origin| Some(origin) == host)
}

fn is_loopback_name(origin: &str) -> bool {
    let host = origin.parse::<Uri>().ok().and_then(|uri| uri.host().map(str::to_owned));
    host.is_some_and(|host| matches!(host.as_str(), "localhost" | "127.0.0.1" | "[::1]"))
}

fn is_long_enough(token: &Secret) -> bool {
    token.expose().chars().count() >= LEAST_TOKEN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_address_needs_a_token() {
        let open: SocketAddr = "0.0.0.0:8080".parse().expect("address");
        let own: SocketAddr = "127.0.0.1:8080".parse().expect("address");
        assert!(Access::new(own, None).is_ok());
        assert!(Access::new(open, None).is_err());
        assert!(Access::new(open, Some(Secret::new(String::new()))).is_err());
        let token = |text: &str| Some(Secret::new(text.to_owned()));
        assert!(Access::new(open, token("sixteen letters.")).is_ok());
        for address in [open, own] {
            let error = Access::new(address, token("fifteen letters")).expect_err("short");
            assert_eq!(error, AccessError::ShortToken { characters: 15 });
            assert!(!error.to_string().contains("fifteen"), "{error}");
        }
    }

    #[test]
    fn a_page_of_another_origin_and_a_foreign_host_name_are_not_local() {
        let local = |host: &str, origin: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().expect("value"));
            if let Some(origin) = origin {
                headers.insert(header::ORIGIN, origin.parse().expect("value"));
            }
            is_local(&headers)
        };
        for host in ["localhost:9465", "127.0.0.1:9465", "[::1]:9465"] {
            assert!(local(host, None), "{host}");
        }
        assert!(local("localhost:9465", Some("http://localhost:9465")));
        assert!(!local("localhost:9465", Some("http://localhost:3000")), "another port");
        assert!(!local("localhost:9465", Some("http://localhost")), "another port");
        assert!(!local("localhost:9465", Some("http://127.0.0.1:9465")), "another name");
        assert!(!local("evil.example", None));
        assert!(!local("localhost:9465", Some("https://evil.example")));
        assert!(!local("localhost:9465", Some("null")));
        assert!(!is_local(&HeaderMap::new()));
        for (site, is_taken) in
            [("same-origin", true), ("none", true), ("cross-site", false), ("same-site", false)]
        {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, "localhost:9465".parse().expect("value"));
            headers.insert("sec-fetch-site", site.parse().expect("value"));
            assert_eq!(is_local(&headers), is_taken, "{site}");
        }
    }

    /// Issue 33, point 5: a rotated token is taken, and the one of before no more.
    #[tokio::test]
    async fn a_rotated_token_is_used_without_a_restart() {
        let file = tempfile::NamedTempFile::new().expect("file");
        let own: SocketAddr = "127.0.0.1:8080".parse().expect("address");
        let first = Secret::new("sixteen letters1".to_owned());
        let source = SecretSource::File(file.path().into());
        let access = Access::new(own, Some(first)).expect("right").renewing(Some(source));
        let is_known = async |given| access.owner(given).await.expect("asked").is_some();
        assert!(is_known("sixteen letters1").await, "the file is empty as yet");
        std::fs::write(file.path(), "sixteen letters2\n").expect("written");
        assert!(is_known("sixteen letters2").await && !is_known("sixteen letters1").await);
        std::fs::write(file.path(), "short").expect("written");
        assert!(is_known("sixteen letters2").await && !is_known("short").await);
    }

    #[test]
    fn tokens_are_compared_whole() {
        let token = Secret::new("abc".to_owned());
        assert!(token.is(b"abc"));
        for wrong in ["", "ab", "abd", "abcd"] {
            assert!(!token.is(wrong.as_bytes()), "{wrong}");
        }
    }
}
