//! Sessions of browsers that have logged in.
//!
//! A session is 256 random bits in a cookie; the store has their SHA-256. It ends twelve hours
//! after its last use, seven days after the login (twelve hours after a login by the plant's own
//! provider, which does not say that somebody has left), at the log-out, and when the password or
//! the token that it was opened with changes, or its user is disabled.

use pdm_service::http::callers::{Identity, Role};
use pdm_service::http::guard::TOKEN_NAME;
use pdm_shared::time::Timestamp;

use crate::Site;
use crate::accounts::{Digest, StoredSession, User, digest, hex, new_secret};
use crate::plant::PlantError;

/// Longest time without use, s: one shift of twelve hours.
pub(crate) const IDLE_S: f64 = 12.0 * 3600.0;
/// Longest time of a session, s. Chosen: a week, so that a screen in a control room asks on a
/// Monday.
pub(crate) const LONGEST_S: f64 = 7.0 * 86_400.0;
/// Longest time of a session that the plant's own provider opened, s: a shift, after which the
/// provider is asked again, so that somebody who has left is out by the next day.
const PROVIDED_S: f64 = 12.0 * 3600.0;
/// The shortest time between two notes of a session's use, s: one write a minute and browser.
const NOTED_EVERY_S: f64 = 60.0;

/// Opens a session for a user, or for the holder of the configured token; tells its cookie's value.
pub(crate) async fn open(site: &Site, user: Option<&User>) -> Result<String, PlantError> {
    let (value, now) = (new_secret(), site.clock.now());
    let session = StoredSession {
        hash: digest("session", &value),
        user: user.map(|user| user.name.clone()),
        credential: credential(site, user),
        opened_at: now,
        seen_at: now,
    };
    let (oldest, idle) = (now.plus_seconds(-LONGEST_S), now.plus_seconds(-IDLE_S));
    site.accounts.open_session(&session, oldest, idle).await?;
    Ok(value)
}

/// Returns whose session a cookie's value is, if it is open.
pub(crate) async fn owner(site: &Site, value: &str) -> Result<Option<Identity>, PlantError> {
    let hash = digest("session", value);
    let Some((session, user)) = site.accounts.session(&hash).await? else { return Ok(None) };
    let now = site.clock.now();
    if !is_open(site, &session, user.as_ref(), now) {
        site.accounts.end_session(&hash).await?;
        return Ok(None);
    }
    if now.seconds_since(session.seen_at) >= NOTED_EVERY_S {
        site.accounts.saw_session(&hash, now).await?;
    }
    Ok(Some(match user {
        Some(user) => Identity { name: user.name, role: user.role },
        None => Identity { name: TOKEN_NAME.to_owned(), role: Role::Admin },
    }))
}

fn is_open(site: &Site, session: &StoredSession, user: Option<&User>, now: Timestamp) -> bool {
    let is_whole = match (&session.user, user) {
        (Some(_), Some(user)) => !user.is_disabled,
        // the session of the token ends with the token
        (None, _) => site.access.has_token(),
        (Some(_), None) => false,
    };
    let longest_s = match user.and_then(|user| user.provider.as_ref()) {
        Some(_) => PROVIDED_S,
        None => LONGEST_S,
    };
    is_whole && session.credential == credential(site, user) && is_in_time(session, longest_s, now)
}

fn is_in_time(session: &StoredSession, longest_s: f64, now: Timestamp) -> bool {
    now.seconds_since(session.seen_at) < IDLE_S && now.seconds_since(session.opened_at) < longest_s
}

/// The digest of what is needed to log in: what changes it ends the sessions.
fn credential(site: &Site, user: Option<&User>) -> Digest {
    match user {
        Some(user) => {
            let password = user.password.as_deref().unwrap_or_default();
            match &user.provider {
                Some(by) => {
                    digest("provider", &format!("{}\n{}\n{password}", by.issuer, by.subject))
                }
                None => digest("password", password),
            }
        }
        None => {
            digest("http.token", site.access.token().as_ref().map_or("", |token| token.expose()))
        }
    }
}

/// Ends a session.
pub(crate) async fn end(site: &Site, value: &str) -> Result<(), PlantError> {
    site.accounts.end_session(&digest("session", value)).await
}

/// The value that a form of this session has to send back, so that a page of another origin cannot
/// send the form.
pub(crate) fn form_key(session: &str) -> String {
    hex(&digest("form", session))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_ends_without_use_and_after_a_week_of_use() {
        let opened_at = Timestamp::from_unix_ms(1_795_238_000_000).expect("in range");
        let seen = |seconds: f64| StoredSession {
            hash: [0; 32],
            user: None,
            credential: [0; 32],
            opened_at,
            seen_at: opened_at.plus_seconds(seconds),
        };
        let after = |seconds: f64| opened_at.plus_seconds(seconds);
        assert!(is_in_time(&seen(0.0), LONGEST_S, after(IDLE_S - 1.0)));
        assert!(!is_in_time(&seen(0.0), LONGEST_S, after(IDLE_S)), "nobody used it");
        assert!(is_in_time(&seen(LONGEST_S - 60.0), LONGEST_S, after(LONGEST_S - 1.0)));
        assert!(
            !is_in_time(&seen(LONGEST_S - 1.0), LONGEST_S, after(LONGEST_S)),
            "it is a week old"
        );
        assert!(
            !is_in_time(&seen(PROVIDED_S - 1.0), PROVIDED_S, after(PROVIDED_S)),
            "it is a shift old"
        );
    }

    #[test]
    fn a_forms_key_tells_nothing_of_its_session() {
        assert_ne!(form_key("a"), form_key("b"));
        assert_ne!(form_key("a"), hex(&digest("session", "a")));
    }
}
