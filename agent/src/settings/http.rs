//! `[http]`: the address of the HTTP server and the token of its callers.

use std::net::SocketAddr;
use std::path::Path;

use pdm_service::config::ConfigError;
use pdm_service::secret::{Secret, SecretError, SecretSource};
use serde::Deserialize;

/// `[http]`
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HttpSettings {
    /// The address; absent serves nothing.
    pub listen: Option<SocketAddr>,
    /// The bearer token that callers of `/mcp` and `/knowledge` have to send; required where other
    /// machines can reach the address.
    pub token: Option<SecretSource>,
}

impl HttpSettings {
    pub(super) fn check(&self, path: &Path) -> Result<(), ConfigError> {
        match self.listen {
            Some(listen) if !listen.ip().is_loopback() && self.token.is_none() => {
                let allowed = "a loopback address, or any with http.token";
                Err(ConfigError::value(path, "http.listen", listen, allowed))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// The settings with a relative file of the token resolved against `folder`.
    pub(super) fn rooted(self, folder: &Path) -> Self {
        Self { token: self.token.map(|token| token.rooted(folder)), ..self }
    }

    /// Reads the token.
    ///
    /// # Errors
    /// [`SecretError`] if its source cannot be read.
    pub fn token(&self) -> Result<Option<Secret>, SecretError> {
        self.token.as_ref().map(SecretSource::fetch).transpose()
    }
}
