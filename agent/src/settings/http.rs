//! `[http]`: the address of the HTTP server, its certificate, and who its callers are.

use std::net::SocketAddr;
use std::path::Path;

use pdm_oidc::OidcSettings;
use pdm_service::config::ConfigError;
use pdm_service::http::tls::ListenerTls;
use pdm_service::secret::{Secret, SecretError, SecretSource};
use pdm_shared::bounds;
use serde::Deserialize;

/// `[http]`
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HttpSettings {
    /// The address; absent serves nothing.
    pub listen: Option<SocketAddr>,
    /// The bearer token whose holder is an administrator. Where other machines can reach the
    /// address, this or a user is required.
    pub token: Option<SecretSource>,
    /// The certificate; absent is plain HTTP.
    pub tls: Option<ListenerTls>,
    /// The address under which staff reaches the pages: the base of links in messages.
    pub public_url: Option<String>,
    /// The plant's own provider of logins (OpenID Connect), beside names and passwords.
    pub oidc: Option<Box<OidcSettings>>,
    /// How the first user is made beside `pdm-agent user add`.
    pub first_admin: Option<FirstAdmin>,
}

/// How the first user is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FirstAdmin {
    /// By a one-time token in the log, while there is no user.
    Log,
}

impl HttpSettings {
    pub(super) fn check(&self, path: &Path) -> Result<(), ConfigError> {
        if let Some(url) = &self.public_url {
            let is_address = url.starts_with("http://") || url.starts_with("https://");
            if !is_address || url.chars().count() > 256 || url.chars().any(bounds::is_hidden) {
                let allowed =
                    "an address that begins with http:// or https://, up to 256 characters";
                return Err(ConfigError::value(path, "http.public_url", url, allowed));
            }
        }
        if let Some(oidc) = &self.oidc {
            oidc.check(path)?;
            if self.public_url.is_none() {
                let allowed = "the address under which browsers reach the pages: [http.oidc] sends \
                    them back there";
                return Err(ConfigError::value(path, "http.public_url", "", allowed));
            }
        }
        match self.listen {
            Some(listen)
                if !listen.ip().is_loopback() && self.token.is_none() && !self.is_secure() =>
            {
                let allowed = "a loopback address, any with http.token, or any with users over TLS \
                               (http.tls, or an http.public_url that begins with https://)";
                Err(ConfigError::value(path, "http.listen", listen, allowed))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Whether browsers reach the pages over TLS: of this program, or of a proxy before it.
    pub fn is_secure(&self) -> bool {
        let public = self.public_url.as_deref();
        self.tls.is_some() || public.is_some_and(|url| url.starts_with("https://"))
    }

    /// The settings with relative files resolved against `folder`.
    pub(super) fn rooted(self, folder: &Path) -> Self {
        let tls = self.tls.map(|tls| ListenerTls {
            certificate: folder.join(tls.certificate),
            key: folder.join(tls.key),
        });
        let oidc = self.oidc.map(|oidc| Box::new(oidc.rooted(folder)));
        Self { token: self.token.map(|token| token.rooted(folder)), tls, oidc, ..self }
    }

    /// Reads the token.
    ///
    /// # Errors
    /// [`SecretError`] if its source cannot be read.
    pub fn token(&self) -> Result<Option<Secret>, SecretError> {
        self.token.as_ref().map(SecretSource::fetch).transpose()
    }
}
