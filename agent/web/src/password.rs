//! Passwords of users: argon2id, as a PHC string with its parameters and salt.
//!
//! Hashing takes 19 MiB and some tens of milliseconds, so callers run it off the reactor.

use argon2::password_hash::{PasswordHash, PasswordHasher as _, PasswordVerifier as _, SaltString};
use argon2::{Algorithm, Argon2, Params, Version};
use axum::http::StatusCode;
use tokio::sync::Semaphore;

use crate::problem::Problem;

/// Fewest characters. NIST SP 800-63B asks for 8 at least; no data chose the two more.
pub const LEAST: usize = 10;
/// Most characters, so that nobody makes the program hash megabytes.
pub const MOST: usize = 256;

/// A password that is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PasswordError {
    /// Its length.
    #[error("the password has {got} characters, allowed are {LEAST} to {MOST}")]
    Length {
        /// Its characters.
        got: usize,
    },
    /// It is the user's name.
    #[error("the password is the user's name")]
    Name,
    /// The hash cannot be made.
    #[error("the password cannot be hashed: {0}")]
    Hash(String),
}

/// Whether a user of this name may have this password.
///
/// # Errors
/// [`PasswordError`].
pub fn check(name: &str, password: &str) -> Result<(), PasswordError> {
    let got = password.chars().count();
    if !(LEAST..=MOST).contains(&got) {
        return Err(PasswordError::Length { got });
    }
    if password.eq_ignore_ascii_case(name) {
        return Err(PasswordError::Name);
    }
    Ok(())
}

/// Hashes a password with a new salt.
///
/// # Errors
/// [`PasswordError::Hash`].
pub fn hash(password: &str) -> Result<String, PasswordError> {
    let failed = |error: argon2::password_hash::Error| PasswordError::Hash(error.to_string());
    let salt = SaltString::encode_b64(&rand::random::<[u8; 16]>()).map_err(failed)?;
    // the parameters that OWASP recommends for argon2id: 19 MiB, two passes, one lane
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::DEFAULT);
    Ok(argon2.hash_password(password.as_bytes(), &salt).map_err(failed)?.to_string())
}

/// Whether the hash is that of the password, by the parameters that stand in the hash.
pub fn fits(password: &str, hash: &str) -> bool {
    if password.chars().count() > MOST {
        return false;
    }
    PasswordHash::new(hash)
        .is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok())
}

/// The hash of a password, made off the reactor when its turn has come.
pub(crate) async fn hashed(turns: &Semaphore, password: String) -> Result<String, Problem> {
    let stopped = || Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the agent stops");
    let _turn = turns.acquire().await.map_err(|_closed| stopped())?;
    let hashed = tokio::task::spawn_blocking(move || hash(&password)).await;
    let hashed = hashed.map_err(|_cancelled| stopped())?;
    hashed.map_err(Problem::unfit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_fits_its_hash_alone() {
        let one = hash("an honest password").expect("hashed");
        assert!(one.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{one}");
        assert_ne!(one, hash("an honest password").expect("hashed"), "each has its salt");
        assert!(fits("an honest password", &one));
        assert!(!fits("an honest passworD", &one) && !fits("", &one) && !fits("x", "no hash"));
    }

    #[test]
    fn short_long_and_obvious_passwords_are_refused() {
        assert_eq!(check("kim", "123456789"), Err(PasswordError::Length { got: 9 }));
        assert_eq!(check("kim", &"x".repeat(257)), Err(PasswordError::Length { got: 257 }));
        assert_eq!(check("kim.cheolsu", "Kim.Cheolsu"), Err(PasswordError::Name));
        assert_eq!(check("kim", "열 글자가 넘는 암호"), Ok(()));
    }
}
