//! Logging in by the plant's own provider (OpenID Connect), beside names and passwords.
//!
//! The state of one attempt is kept by the browser in a cookie of ten minutes, so that several
//! agents may stand behind one address, and whoever comes back with a foreign code is not let in.
//! That cookie is `Lax`: the browser comes from another site. The session's cookie is `Strict`, so
//! the answer is a page that goes on by itself: a redirect would arrive as a request of the
//! provider's site, without the cookie.
//!
//! The provider decides name and role. A user is found by the provider's own name of the person,
//! never by the name that is shown: nobody becomes a local user, or another person, by taking a
//! name.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Extension, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Redirect, Response};
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pdm_oidc::{Attempt, Callback, OidcError, Person, Provider};
use pdm_service::http::callers::Role;
use pdm_service::http::server::Peer;

use crate::access::{cookie, inner};
use crate::accounts::{Provided, User, UserChange, user_name};
use crate::login::{self, To};
use crate::pages::{self, LoginFailure};
use crate::plant::PlantError;
use crate::problem::Problem;
use crate::{Shared, Site, audit, language, session};

/// The cookie of an attempt.
const COOKIE: &str = "pdm_login";
/// How long a login at the provider may take, s.
const LASTS_S: u32 = 600;

pub(crate) fn router() -> Router<Arc<Shared>> {
    Router::new().route("/login/provider", get(begin)).route("/login/provider/back", get(back))
}

/// The path to which the provider sends the browser back.
pub const BACK: &str = "/login/provider/back";

/// An attempt and where the browser goes after it, as the cookie has them.
fn kept(attempt: &Attempt, to: &str) -> String {
    let Attempt { state, nonce, verifier } = attempt;
    format!("{state}.{nonce}.{verifier}.{}", URL_SAFE_NO_PAD.encode(to))
}

/// Returns the attempt and the address of a cookie; `None` if it is no such cookie.
fn read(cookie: &str) -> Option<(Attempt, String)> {
    let mut parts = cookie.split('.');
    let mut part = || parts.next().filter(|part| !part.is_empty()).map(str::to_owned);
    let attempt = Attempt { state: part()?, nonce: part()?, verifier: part()? };
    let to = URL_SAFE_NO_PAD.decode(part()?).ok()?;
    Some((attempt, String::from_utf8(to).ok()?))
}

fn set(site: &Site, value: &str, lasts_s: u32) -> String {
    let secure = if site.is_secure { "; Secure" } else { "" };
    format!(
        "{COOKIE}={value}; Path=/login/provider; HttpOnly; SameSite=Lax; Max-Age={lasts_s}{secure}"
    )
}

async fn begin(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    Query(to): Query<To>,
) -> Response {
    let Some(provider) = &shared.site.provider else {
        return Problem::unknown("page").into_response();
    };
    match provider.begin().await {
        Ok((address, attempt)) => {
            let cookie = set(&shared.site, &kept(&attempt, inner(&to.to)), LASTS_S);
            ([(header::SET_COOKIE, cookie)], Redirect::to(address.as_str())).into_response()
        }
        Err(error) => failed(&shared, &headers, "/", Refusal::Provider(error)).await,
    }
}

/// Why nobody has entered.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error(transparent)]
    Provider(#[from] OidcError),
    #[error(
        "the browser has no attempt: it took longer than ten minutes, or another browser began it"
    )]
    NoAttempt,
    #[error("the provider calls the person {0}")]
    Unnamed(String),
    #[error("there is another user {0}")]
    Taken(String),
    #[error("the user {0} is disabled")]
    Disabled(String),
    #[error(transparent)]
    Store(#[from] PlantError),
}

impl Refusal {
    /// Returns the text of the login page.
    const fn told(&self) -> LoginFailure {
        let (text, status) = match self {
            Self::Provider(error) if error.is_away() => ("provider_away", StatusCode::BAD_GATEWAY),
            Self::Provider(OidcError::NotEntitled(_)) => {
                ("provider_no_role", StatusCode::FORBIDDEN)
            }
            Self::Provider(OidcError::Refused(_)) => ("provider_refused", StatusCode::UNAUTHORIZED),
            Self::Provider(_) | Self::NoAttempt => ("provider_unproven", StatusCode::UNAUTHORIZED),
            Self::Unnamed(_) | Self::Taken(_) => ("provider_taken", StatusCode::FORBIDDEN),
            Self::Disabled(_) => ("provider_disabled", StatusCode::FORBIDDEN),
            Self::Store(_) => ("provider_away", StatusCode::SERVICE_UNAVAILABLE),
        };
        LoginFailure { text, status }
    }
}

async fn back(
    State(shared): State<Arc<Shared>>,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
    Query(callback): Query<Callback>,
) -> Response {
    let Some(provider) = &shared.site.provider else {
        return Problem::unknown("page").into_response();
    };
    let peer = peer.map(|Extension(peer)| peer);
    let kept = cookie(&headers, COOKIE).and_then(|value| read(&value));
    let to = kept.as_ref().map_or("/", |(_, to)| inner(to)).to_owned();
    let entered = async {
        let (attempt, _) = kept.as_ref().ok_or(Refusal::NoAttempt)?;
        let now_s = shared.site.clock.now().unix_ms() / 1000;
        let person = provider.finish(&callback, attempt, now_s).await?;
        user(&shared, peer, person).await
    };
    let user = match entered.await {
        Ok(user) => user,
        Err(refusal) => {
            if matches!(refusal, Refusal::Provider(OidcError::Untrusted(_)) | Refusal::NoAttempt) {
                shared.site.access.refuse(peer, BACK).await;
            }
            return failed(&shared, &headers, &to, refusal).await;
        }
    };
    let value = match session::open(&shared.site, Some(&user)).await {
        Ok(value) => value,
        Err(error) => return failed(&shared, &headers, &to, error.into()).await,
    };
    audit::note(&shared, &user.name, "page", peer, "login", provider.name().to_owned()).await;
    let cookies = AppendHeaders([
        (header::SET_COOKIE, login::set(&shared.site, &value)),
        (header::SET_COOKIE, set(&shared.site, "", 0)),
        (header::REFRESH, format!("0; url={to}")),
    ]);
    (cookies, pages::entered(language::language_of(&headers), &to)).into_response()
}

/// The user whom the provider vouches for: with the role that the provider gives today, and new at
/// the first login.
async fn user(shared: &Shared, peer: Option<Peer>, person: Person) -> Result<User, Refusal> {
    let accounts = &shared.site.accounts;
    let by = Provided { issuer: person.issuer, subject: person.subject };
    let Some(known) = accounts.provided_user(&by).await? else {
        return first_login(shared, peer, &person.name, person.role, by).await;
    };
    if known.is_disabled {
        return Err(Refusal::Disabled(known.name));
    }
    if known.role != person.role {
        accounts.change_user(&known.name, &UserChange::Role(person.role)).await?;
        let told = format!("{} role {}", known.name, person.role);
        audit::note(shared, &known.name, "page", peer, "user change", told).await;
    }
    Ok(User { role: person.role, ..known })
}

/// Makes the user of somebody who logs in for the first time.
async fn first_login(
    shared: &Shared,
    peer: Option<Peer>,
    name: &str,
    role: Role,
    by: Provided,
) -> Result<User, Refusal> {
    let accounts = &shared.site.accounts;
    let name = user_name(name).map_err(Refusal::Unnamed)?;
    let user = User {
        name: name.clone(),
        role,
        password: None,
        provider: Some(by.clone()),
        is_disabled: false,
        created_at: shared.site.clock.now(),
    };
    if !accounts.add_user(&user, false).await? {
        // the person may have logged in twice at once
        let added = accounts.provided_user(&by).await?;
        return added.filter(|user| !user.is_disabled).ok_or(Refusal::Taken(name));
    }
    audit::note(shared, &name, "page", peer, "user add", format!("{name} {role}")).await;
    Ok(user)
}

/// The login page that says why; the log says more.
async fn failed(shared: &Shared, headers: &HeaderMap, to: &str, refusal: Refusal) -> Response {
    let reason = pdm_service::error_chain::error_chain(&refusal);
    tracing::warn!(%reason, "a login by the provider failed");
    let note = login::note(shared).await;
    let page = pages::login(language::language_of(headers), to, note.because(refusal.told()));
    ([(header::SET_COOKIE, set(&shared.site, "", 0))], page).into_response()
}

/// A provider whose browsers come back to the pages at `public_url`.
///
/// # Errors
/// [`OidcError`] if its files cannot be read.
pub fn provider(
    settings: pdm_oidc::OidcSettings,
    public_url: &str,
) -> Result<Arc<Provider>, OidcError> {
    let back = format!("{}{BACK}", public_url.trim_end_matches('/'));
    Ok(Arc::new(Provider::new(settings, back)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_brings_back_what_it_kept_and_no_other_text_does() {
        let attempt = Attempt { state: "a".into(), nonce: "b".into(), verifier: "c".into() };
        let cookie = kept(&attempt, "/bearings/공장/P-101");
        assert_eq!(read(&cookie), Some((attempt, "/bearings/공장/P-101".to_owned())));
        for wrong in ["", "...", "a.b.c", "a.b.c.!", "a.b.c.", "a..c.Lw"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
