//! Callers who have a name of their own: a user's role, and who knows the users.
//!
//! The guard ([`super::guard`]) asks [`Callers`] for the owner of a token that is not the
//! configured one. The agent answers from its store; a server without users has none.

use std::fmt;
use std::pin::Pin;
use std::str::FromStr;

/// The rights of a caller; a higher role may do everything that a lower one may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Reads.
    Viewer,
    /// Acknowledges, shelves, reports work, uploads.
    Technician,
    /// Manages users and reads who did what.
    Admin,
}

impl Role {
    /// Every role, lowest first.
    pub const ALL: [Self; 3] = [Self::Viewer, Self::Technician, Self::Admin];

    /// The word of the role.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Technician => "technician",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that is no role.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no role, allowed are viewer, technician and admin")]
pub struct NoRole(String);

impl FromStr for Role {
    type Err = NoRole;

    fn from_str(word: &str) -> Result<Self, NoRole> {
        let found = Self::ALL.into_iter().find(|role| role.as_str() == word);
        found.ok_or_else(|| NoRole(word.chars().take(40).collect()))
    }
}

/// The identity of a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The user's name, or `http.token` for the configured token.
    pub name: String,
    /// The role.
    pub role: Role,
}

/// The users cannot be asked. The guard answers 503.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the users cannot be asked: {0}")]
pub struct UnknownCallers(pub String);

/// An answer that is on its way.
pub type CallerAnswer<'a, T> = Pin<Box<dyn Future<Output = Result<T, UnknownCallers>> + Send + 'a>>;

/// The directory of users.
pub trait Callers: Send + Sync + fmt::Debug {
    /// Whether there are users, so that callers on loopback have to say who they are too.
    fn exist(&self) -> CallerAnswer<'_, bool>;

    /// The owner of a bearer token.
    fn of_token<'a>(&'a self, token: &'a str) -> CallerAnswer<'a, Option<Identity>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_read_back_from_its_word_and_admins_may_most() {
        for role in Role::ALL {
            assert_eq!(role.as_str().parse(), Ok(role));
        }
        assert!("root".parse::<Role>().is_err());
        assert!(Role::Admin > Role::Technician && Role::Technician > Role::Viewer);
    }
}
