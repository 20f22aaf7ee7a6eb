//! Logging in and out, and the first user by a one-time token of the log.
//!
//! Wrong passwords are slowed by the caller's address ([`Access::refuse`]) and by the user's name
//! ([`Attempts`]); an unknown name costs as much time as a known one. At most [`AT_ONCE`] passwords
//! are hashed at a time, 19 MiB each.
//!
//! [`Access::refuse`]: pdm_service::http::guard::Access::refuse

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{Extension, Form, Query, Request, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use pdm_service::http::callers::{Identity, Role};
use pdm_service::http::guard::TOKEN_NAME;
use pdm_service::http::server::Peer;
use serde::Deserialize;
use tokio::sync::Semaphore;

use crate::access::{COOKIE, LoginOver, cookie, inner, is_of_this_server};
use crate::accounts::{Digest, User, digest, user_name};
use crate::pages::{self, LoginFailure, LoginNote};
use crate::plant::PlantError;
use crate::problem::Problem;
use crate::session::{self, LONGEST_S};
use crate::{Shared, Site, audit, language, password};

/// Passwords that are hashed at once.
const AT_ONCE: usize = 2;
/// Wrong passwords of a user before the next attempt waits.
const FREE: u32 = 5;
/// Attempts of one address for one user that are not answered yet; a further one is answered as a
/// wrong password is, without a look at it. Chosen: a person has a browser or two.
const SIDE_BY_SIDE: u32 = 3;
/// Longest wait for one user, whose own attempt waits too: nobody is locked out by another's
/// guesses.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// After this time wrong passwords are forgotten.
const FORGOTTEN: Duration = Duration::from_mins(10);
/// Most names whose wrong passwords are remembered; for one more the oldest is forgotten, so that a
/// flood of other names leaves no room for unslowed guesses at a user.
const MOST: usize = 1024;
/// How long the one-time token of the log lasts.
pub(crate) const SETUP_LASTS: Duration = Duration::from_mins(30);

/// A hash that no password fits, so that an unknown user takes as long as a known one.
static NOBODY: LazyLock<String> =
    LazyLock::new(|| password::hash(&crate::accounts::new_secret()).unwrap_or_default());

/// Attempts to log in.
#[derive(Debug)]
pub(crate) struct Attempts {
    pub(crate) turns: Semaphore,
    wrong: Mutex<HashMap<String, (u32, Instant)>>,
    /// Attempts that are not answered yet, by user and address.
    open: Mutex<HashMap<OfOne, u32>>,
}

/// A user's name and the address of a caller.
type OfOne = (String, Option<IpAddr>);

impl Default for Attempts {
    fn default() -> Self {
        Self { turns: Semaphore::new(AT_ONCE), wrong: Mutex::default(), open: Mutex::default() }
    }
}

/// An attempt that is not answered yet.
#[derive(Debug)]
struct Begun<'a> {
    open: &'a Mutex<HashMap<OfOne, u32>>,
    of: OfOne,
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.of) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                open.remove(&self.of);
            }
        }
    }
}

impl Attempts {
    /// An attempt of a caller for this user, unless so many of its others are not answered yet:
    /// guesses that are made side by side would each wait only as long as one.
    fn begin(&self, name: &str, peer: Option<Peer>) -> Option<Begun<'_>> {
        let of = (name.to_owned(), peer.map(|peer| peer.0.ip()));
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry(of.clone()).or_default();
        if *count >= SIDE_BY_SIDE {
            return None;
        }
        *count += 1;
        Some(Begun { open: &self.open, of })
    }

    /// Returns how long an attempt for this user waits.
    fn wait(&self, name: &str) -> Duration {
        let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        wrong.retain(|_, (_, since)| since.elapsed() < FORGOTTEN);
        let count = wrong.get(name).map_or(0, |(count, _)| *count);
        let Some(beyond) = count.checked_sub(FREE) else { return Duration::ZERO };
        let doubled = 1u32.checked_shl(beyond).unwrap_or(u32::MAX);
        Duration::from_millis(250).saturating_mul(doubled).min(LONGEST_WAIT)
    }

    fn note(&self, name: &str, is_right: bool) {
        let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        if is_right {
            wrong.remove(name);
            return;
        }
        if wrong.len() >= MOST && !wrong.contains_key(name) {
            let oldest = wrong.iter().min_by_key(|(_, (_, at))| *at).map(|(name, _)| name.clone());
            oldest.and_then(|name| wrong.remove(&name));
        }
        let (count, at) = wrong.entry(name.to_owned()).or_insert((0, Instant::now()));
        (*count, *at) = (count.saturating_add(1), Instant::now());
    }
}

/// The one-time token by which the first user is made.
#[derive(Debug, Default)]
pub struct Setup(Mutex<Option<(Digest, Instant)>>);

impl Setup {
    /// Makes a token; the caller writes it into the log.
    pub fn offer(&self) -> String {
        let token = crate::accounts::new_secret();
        let mut offered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *offered = Some((digest("setup", &token), Instant::now()));
        token
    }

    /// Whether a token is offered and has not ended.
    fn is_offered(&self) -> bool {
        let offered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        offered.is_some_and(|(_, since)| since.elapsed() < SETUP_LASTS)
    }

    fn fits(&self, token: &str) -> bool {
        let offered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        offered.is_some_and(|(hash, since)| {
            since.elapsed() < SETUP_LASTS && hash == digest("setup", token.trim())
        })
    }

    fn end(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Login, logout and the first user: what is open to everybody.
pub(crate) fn router() -> Router<Arc<Shared>> {
    Router::new()
        .route("/login", get(ask).post(login))
        .route("/logout", post(logout))
        .route("/setup", get(setup_page).post(setup))
}

/// Where the browser goes after its login.
#[derive(Debug, Deserialize)]
pub(crate) struct To {
    #[serde(default)]
    pub(crate) to: String,
}

async fn ask(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    Query(to): Query<To>,
) -> Response {
    match shared.site.access.needs_login().await {
        Ok(true) => {
            pages::login(language::language_of(&headers), inner(&to.to), note(&shared).await)
        }
        Ok(false) => Redirect::to("/").into_response(),
        Err(error) => Problem::from(PlantError::Unavailable(error.to_string())).into_response(),
    }
}

/// Returns the ways to log in that the login page offers.
pub(crate) async fn note(shared: &Shared) -> LoginNote {
    LoginNote {
        has_users: shared.site.accounts.has_users().await.unwrap_or(true),
        has_token: shared.site.access.has_token(),
        provider: shared.site.provider.as_ref().map(|provider| provider.name().to_owned()),
        failed: None,
    }
}

/// The login page for somebody whose login ended while they filled in a form: what they typed was
/// not taken, and the browser's way back still has it.
pub(crate) async fn show_over(
    State(shared): State<Arc<Shared>>,
    request: Request,
    next: Next,
) -> Response {
    let headers = request.headers().clone();
    let answer = next.run(request).await;
    if answer.extensions().get::<LoginOver>().is_none() {
        return answer;
    }
    let from = headers.get(header::REFERER).and_then(|from| from.to_str().ok());
    let page = from.and_then(|from| from.parse::<Uri>().ok());
    let to = page.as_ref().and_then(Uri::path_and_query).map_or("/", |path| path.as_str());
    let failure = LoginFailure { text: "login_over", status: StatusCode::UNAUTHORIZED };
    let note = note(&shared).await.because(failure);
    pages::login(language::language_of(&headers), inner(to), note)
}

/// The login form: a name and a password, or the token.
#[derive(Debug, Deserialize)]
struct Login {
    #[serde(default)]
    name: String,
    #[serde(default)]
    password: String,
    #[serde(default)]
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
    let opened = if is_of_this_server(&shared.site, &Method::POST, &headers) {
        enter(&shared, peer, &form).await
    } else {
        Ok(None)
    };
    match opened {
        Ok(Some((identity, value))) => {
            audit::note(&shared, &identity.name, "page", peer, "login", String::new()).await;
            ([(header::SET_COOKIE, set(&shared.site, &value))], Redirect::to(to)).into_response()
        }
        Ok(None) => {
            let wrong = LoginFailure { text: "wrong_login", status: StatusCode::UNAUTHORIZED };
            pages::login(language::language_of(&headers), to, note(&shared).await.because(wrong))
        }
        Err(error) => Problem::from(error).into_response(),
    }
}

/// Opens a session for whoever the form proves to be.
async fn enter(
    shared: &Shared,
    peer: Option<Peer>,
    form: &Login,
) -> Result<Option<(Identity, String)>, PlantError> {
    let site = &shared.site;
    if !form.token.trim().is_empty() {
        let known = site.access.who(peer, "/login", form.token.trim()).await;
        let known = known.map_err(|error| PlantError::Unavailable(error.to_string()))?;
        // a user's token is for programs: a browser logs in by password
        let Some(identity) = known.filter(|known| known.name == TOKEN_NAME) else {
            return Ok(None);
        };
        return Ok(Some((identity, session::open(site, None).await?)));
    }
    let name = user_name(&form.name).unwrap_or_default();
    let begun = shared.attempts.begin(&name, peer);
    let user = match &begun {
        Some(_) => by_password(shared, &name, &form.password).await?,
        None => None,
    };
    let Some(user) = user else {
        site.access.refuse(peer, "/login").await;
        return Ok(None);
    };
    let value = session::open(site, Some(&user)).await?;
    Ok(Some((Identity { name: user.name, role: user.role }, value)))
}

/// The user of this name, if the password is the user's.
async fn by_password(shared: &Shared, name: &str, given: &str) -> Result<Option<User>, PlantError> {
    tokio::time::sleep(shared.attempts.wait(name)).await;
    let user = match name {
        "" => None,
        name => shared.site.accounts.user(name).await?.filter(|user| !user.is_disabled),
    };
    let hash = user.as_ref().and_then(|user| user.password.clone());
    let given = given.to_owned();
    // closed only when the program ends
    let Ok(_turn) = shared.attempts.turns.acquire().await else { return Ok(None) };
    let checked = tokio::task::spawn_blocking(move || {
        let fits = password::fits(&given, hash.as_deref().unwrap_or(&NOBODY));
        fits && hash.is_some()
    });
    let is_right = checked.await.unwrap_or(false);
    shared.attempts.note(name, is_right);
    Ok(user.filter(|_| is_right))
}

/// The cookie of a session; over TLS alone where the pages are reached by it.
pub(crate) fn set(site: &Site, value: &str) -> String {
    let secure = if site.is_secure { "; Secure" } else { "" };
    format!("{COOKIE}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={LONGEST_S}{secure}")
}

async fn logout(
    State(shared): State<Arc<Shared>>,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
) -> Response {
    if is_of_this_server(&shared.site, &Method::POST, &headers)
        && let Some(value) = cookie(&headers, COOKIE)
    {
        let owner = session::owner(&shared.site, &value).await;
        if let Err(error) = session::end(&shared.site, &value).await {
            return Problem::from(error).into_response();
        }
        if let Ok(Some(owner)) = owner {
            let peer = peer.map(|Extension(peer)| peer);
            audit::note(&shared, &owner.name, "page", peer, "logout", String::new()).await;
        }
    }
    let gone = format!("{COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
    ([(header::SET_COOKIE, gone)], Redirect::to("/login")).into_response()
}

async fn setup_page(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> Response {
    if !shared.site.setup.is_offered() {
        return Problem::unknown("page").into_response();
    }
    pages::setup(language::language_of(&headers), StatusCode::OK, None)
}

/// The form of the first user.
#[derive(Debug, Deserialize)]
struct SetupForm {
    token: String,
    name: String,
    password: String,
}

async fn setup(
    State(shared): State<Arc<Shared>>,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
    Form(form): Form<SetupForm>,
) -> Response {
    let peer = peer.map(|Extension(peer)| peer);
    match first_user(&shared, peer, &headers, form).await {
        Ok(cookie) => ([(header::SET_COOKIE, cookie)], Redirect::to("/")).into_response(),
        Err(problem) => {
            pages::setup(language::language_of(&headers), problem.status(), Some(problem.detail()))
        }
    }
}

/// Makes the first user; tells the cookie of the session.
async fn first_user(
    shared: &Shared,
    peer: Option<Peer>,
    headers: &HeaderMap,
    form: SetupForm,
) -> Result<String, Problem> {
    let refused = |told: &str| Problem::new(StatusCode::FORBIDDEN, told);
    if !is_of_this_server(&shared.site, &Method::POST, headers) {
        return Err(refused("a page of another server sent this request"));
    }
    if !shared.site.setup.fits(&form.token) {
        shared.site.access.refuse(peer, "/setup").await;
        return Err(refused("the token is wrong, or was used, or has ended"));
    }
    let name = user_name(&form.name).map_err(Problem::unfit)?;
    password::check(&name, &form.password).map_err(Problem::unfit)?;
    let hash = password::hashed(&shared.attempts.turns, form.password).await?;
    let user = User {
        name,
        role: Role::Admin,
        password: Some(hash),
        provider: None,
        is_disabled: false,
        created_at: shared.site.clock.now(),
    };
    // the store decides: of two at the same time one is the first
    if !shared.site.accounts.add_user(&user, true).await? {
        shared.site.setup.end();
        return Err(refused("there is a user already"));
    }
    shared.site.setup.end();
    audit::note(shared, &user.name, "page", peer, "user add", format!("{} admin", user.name)).await;
    Ok(set(&shared.site, &session::open(&shared.site, Some(&user)).await?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_passwords_of_a_user_wait_longer_and_a_right_one_forgets_them() {
        let attempts = Attempts::default();
        for _ in 0..FREE {
            assert_eq!(attempts.wait("kim"), Duration::ZERO);
            attempts.note("kim", false);
        }
        assert_eq!(attempts.wait("kim"), Duration::from_millis(250));
        for _ in 0..20 {
            attempts.note("kim", false);
        }
        assert_eq!(attempts.wait("kim"), LONGEST_WAIT);
        assert_eq!(attempts.wait("lee"), Duration::ZERO);
        attempts.note("kim", true);
        assert_eq!(attempts.wait("kim"), Duration::ZERO);
    }

    /// R-AGENT-12: 60 guesses at once were answered within nine seconds.
    #[test]
    fn guesses_that_are_made_side_by_side_are_few() {
        let attempts = Attempts::default();
        let peer = |last: u8| Some(Peer(([10, 0, 0, last], 4000).into()));
        let begun: Vec<_> = (0..60).filter_map(|_| attempts.begin("kim", peer(1))).collect();
        assert_eq!(begun.len(), SIDE_BY_SIDE as usize);
        assert!(attempts.begin("kim", peer(2)).is_some(), "the user's own address has its own");
        drop(begun);
        assert!(attempts.begin("kim", peer(1)).is_some());
        assert!(attempts.open.lock().expect("lock").is_empty(), "nothing is kept");
    }

    #[test]
    fn the_memory_of_wrong_passwords_is_bounded() {
        let attempts = Attempts::default();
        for number in 0..2 * MOST {
            attempts.note(&number.to_string(), false);
        }
        assert_eq!(attempts.wrong.lock().expect("lock").len(), MOST);
    }

    #[test]
    fn guesses_at_a_user_are_slowed_after_a_flood_of_other_names() {
        let attempts = Attempts::default();
        for number in 0..MOST {
            attempts.note(&number.to_string(), false);
        }
        for _ in 0..=FREE {
            attempts.note("kim", false);
        }
        assert!(attempts.wait("kim") > Duration::ZERO);
    }

    #[test]
    fn the_one_time_token_fits_until_it_is_used() {
        let setup = Setup::default();
        assert!(!setup.is_offered() && !setup.fits(""));
        let token = setup.offer();
        assert!(setup.is_offered() && setup.fits(&token) && !setup.fits("other"));
        setup.end();
        assert!(!setup.is_offered() && !setup.fits(&token));
    }
}
