//! Users, their sessions and tokens, and the record of who did what: the rows, and the store's
//! trait.
//!
//! Sessions and tokens are 256 random bits; the store has their SHA-256 alone, so whoever reads it
//! enters nowhere. A session holds the digest of what its owner logged in with: a changed password
//! or token ends it.

use async_trait::async_trait;
use pdm_service::http::callers::Role;
use pdm_service::http::server::Peer;
use pdm_shared::bounds::MAX_NOTE;
use pdm_shared::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::plant::PlantError;

/// A SHA-256 digest.
pub type Digest = [u8; 32];

/// Longest name of a user, characters.
pub const MAX_NAME: usize = 64;

/// A user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The name, by which the user's acts are signed.
    pub name: String,
    /// The role of the user.
    pub role: Role,
    /// The hash of the password; `None` for a program that has tokens alone, and for a user of a
    /// provider.
    pub password: Option<String>,
    /// The provider that vouches for the user in place of a password.
    pub provider: Option<Provided>,
    /// Whether the user is kept out, with all sessions and tokens.
    pub is_disabled: bool,
    /// When the user was added.
    pub created_at: Timestamp,
}

/// How a provider of logins knows a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provided {
    /// The provider.
    pub issuer: String,
    /// Its own name of the user, which it gives to nobody else.
    pub subject: String,
}

/// A change of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserChange {
    /// The role.
    Role(Role),
    /// The password's hash.
    Password(String),
    /// Whether anything of the user is let in.
    Disabled(bool),
}

/// Whether a change takes away the last administrator who can log in: then nobody changes users or
/// reads who did what, also not from the agent's own machine.
pub fn ends_last_admin(users: &[User], name: &str, change: &UserChange) -> bool {
    let loses = match change {
        UserChange::Role(role) => *role != Role::Admin,
        UserChange::Disabled(disabled) => *disabled,
        UserChange::Password(_) => false,
    };
    let enters = |user: &&User| {
        let has_login = user.password.is_some() || user.provider.is_some();
        user.role == Role::Admin && !user.is_disabled && has_login
    };
    let mut admins = users.iter().filter(enters);
    loses && admins.next().is_some_and(|one| one.name == name) && admins.next().is_none()
}

/// A token of a user, without its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserToken {
    /// Its name among those of the user.
    pub label: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends; `None` for a token without an end.
    pub expires_at: Option<Timestamp>,
}

/// A session as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSession {
    /// The digest of the cookie's value.
    pub hash: Digest,
    /// The user; `None` for the configured token's holder.
    pub user: Option<String>,
    /// The digest of what the owner logged in with.
    pub credential: Digest,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// When it was used last, to the minute.
    pub seen_at: Timestamp,
}

/// Something that somebody did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Act {
    /// Its number; later acts have higher ones.
    pub id: u64,
    /// When.
    pub at: Timestamp,
    /// The user, `http.token`, `local` (a program of the agent's machine), `cli`, or the recipient
    /// of a link.
    pub who: String,
    /// The way: `page`, `api`, `link`, `cli`.
    pub via: String,
    /// The address that it came from.
    pub peer: Option<String>,
    /// What was done, such as `acknowledge`.
    pub action: String,
    /// What it was done to, and with which words.
    pub what: String,
}

impl Act {
    /// An act that the store has yet to number; `what` is cut to its first [`MAX_NOTE`] characters.
    pub fn new(
        at: Timestamp,
        who: &str,
        via: &str,
        peer: Option<Peer>,
        action: &str,
        what: &str,
    ) -> Self {
        Self {
            id: 0,
            at,
            who: who.to_owned(),
            via: via.to_owned(),
            peer: peer.map(|peer| peer.0.ip().to_string()),
            action: action.to_owned(),
            what: what.chars().take(MAX_NOTE).collect(),
        }
    }
}

/// Whether a text can be a user's name: what stays after trimming and lower-casing it.
///
/// # Errors
/// A text that says what is allowed.
pub fn user_name(text: &str) -> Result<String, String> {
    let name = text.trim().to_lowercase();
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '@');
    let length = name.chars().count();
    if !(1..=MAX_NAME).contains(&length) || !name.chars().all(fits) {
        let shown: String = name.chars().filter(|c| !c.is_control()).take(80).collect();
        return Err(format!(
            "{shown:?} is no user name, allowed are 1 to {MAX_NAME} letters, digits and . _ - @"
        ));
    }
    if name == pdm_service::http::guard::TOKEN_NAME || ["local", "cli"].contains(&name.as_str()) {
        return Err(format!("{name} is the name of a way to act, not of a user"));
    }
    Ok(name)
}

/// The digest of a secret for one purpose: equal secrets of two purposes have two digests.
pub fn digest(purpose: &str, secret: &str) -> Digest {
    Sha256::new().chain_update(purpose).chain_update([0]).chain_update(secret).finalize().into()
}

/// The digest by which a bearer token is found.
pub fn token_digest(token: &str) -> Digest {
    digest("token", token)
}

/// A new secret: 256 random bits as text.
pub fn new_secret() -> String {
    hex(&rand::random::<[u8; 32]>())
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _infallible = write!(text, "{byte:02x}");
        text
    })
}

/// Keeps users and what belongs to them. Every method is one transaction.
#[async_trait]
pub trait AccountStore: Send + Sync + std::fmt::Debug {
    /// Whether there is any user.
    async fn has_users(&self) -> Result<bool, PlantError>;

    /// Every user, by name.
    async fn users(&self) -> Result<Vec<User>, PlantError>;

    /// A user.
    async fn user(&self, name: &str) -> Result<Option<User>, PlantError>;

    /// The user whom a provider knows.
    async fn provided_user(&self, by: &Provided) -> Result<Option<User>, PlantError>;

    /// Adds a user; false if the name is taken, if a provider's user is there under another name,
    /// or if `is_first` and there is a user already.
    async fn add_user(&self, user: &User, is_first: bool) -> Result<bool, PlantError>;

    /// Changes a user; returns false if no user has that name.
    async fn change_user(&self, name: &str, change: &UserChange) -> Result<bool, PlantError>;

    /// Gives a user a token; one of the same label is replaced.
    async fn put_token(
        &self,
        user: &str,
        hash: &Digest,
        token: &UserToken,
    ) -> Result<(), PlantError>;

    /// Takes a token away; returns false if no token has that label.
    async fn revoke_token(&self, user: &str, label: &str) -> Result<bool, PlantError>;

    /// The tokens of a user, by label.
    async fn tokens(&self, user: &str) -> Result<Vec<UserToken>, PlantError>;

    /// The owner of a token that has not ended.
    async fn token_owner(&self, hash: &Digest, now: Timestamp) -> Result<Option<User>, PlantError>;

    /// Keeps a session, and forgets those that were opened before `oldest` or not used since
    /// `idle`.
    async fn open_session(
        &self,
        session: &StoredSession,
        oldest: Timestamp,
        idle: Timestamp,
    ) -> Result<(), PlantError>;

    /// A session with its user.
    async fn session(
        &self,
        hash: &Digest,
    ) -> Result<Option<(StoredSession, Option<User>)>, PlantError>;

    /// Notes that a session was used.
    async fn saw_session(&self, hash: &Digest, now: Timestamp) -> Result<(), PlantError>;

    /// Ends a session.
    async fn end_session(&self, hash: &Digest) -> Result<(), PlantError>;

    /// Writes down what somebody did; `id` is given by the store.
    async fn note_act(&self, act: &Act) -> Result<(), PlantError>;

    /// The last `limit` acts before the act `before`, newest first.
    async fn acts(&self, before: Option<u64>, limit: u32) -> Result<Vec<Act>, PlantError>;

    /// The key by which links are signed; `fresh` becomes it if there is none yet.
    async fn link_key(&self, fresh: Digest, now: Timestamp) -> Result<Digest, PlantError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_word_in_lower_case() {
        assert_eq!(user_name(" Kim.CS "), Ok("kim.cs".to_owned()));
        assert_eq!(user_name("김정비"), Ok("김정비".to_owned()));
        for wrong in ["", " ", "a b", "a\nb", "<b>", "../x", "local", "http.token", &"x".repeat(65)]
        {
            assert!(user_name(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn digests_of_two_purposes_differ() {
        assert_ne!(digest("session", "a"), digest("form", "a"));
        assert_ne!(new_secret(), new_secret());
        assert_eq!(new_secret().len(), 64);
    }
}
