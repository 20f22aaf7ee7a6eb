//! `[notify.email]`: notifications by SMTP.

use std::path::Path;

use pdm_service::config::ConfigError;
use pdm_service::secret::SecretSource;
use pdm_shared::risk::RiskLevel;
use serde::Deserialize;

use super::notify::{Languages, watch};

/// `[notify.email]`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmailSettings {
    /// The SMTP server.
    pub host: String,
    /// Its port; by default 465 with TLS, 587 with STARTTLS, 25 without.
    #[serde(default)]
    pub port: Option<u16>,
    /// How the connection is protected.
    #[serde(default)]
    pub security: EmailSecurity,
    /// User; absent is no login.
    #[serde(default)]
    pub user: Option<String>,
    /// The source of the password.
    #[serde(default)]
    pub password: Option<SecretSource>,
    /// Sender, such as `PdM <pdm@plant.example>`.
    pub from_address: String,
    /// Receivers of everything that no route sends elsewhere; empty where `[[notify.recipient]]`
    /// names people with addresses.
    #[serde(default)]
    pub to: Vec<String>,
    /// Languages.
    #[serde(default)]
    pub language: Languages,
    /// The lowest risk that is sent by e-mail.
    #[serde(default = "watch")]
    pub from: RiskLevel,
}

impl EmailSettings {
    pub(super) fn check(&self, path: &Path, has_people: bool) -> Result<(), ConfigError> {
        let is_one = |host: &str| {
            let marks = |c: char| c == ',' || c == ';' || c == '/' || c.is_whitespace();
            !host.is_empty() && !host.contains(marks)
        };
        if !is_one(&self.host) {
            let allowed = "the name or address of one server, without a scheme; for a second \
                           server give an address that both share, or a web hook beside the mail";
            return Err(ConfigError::value(path, "notify.email.host", &self.host, allowed));
        }
        let allowed = "an address such as \"PdM <pdm@plant.example>\"";
        for (key, address) in std::iter::once(("notify.email.from_address", &self.from_address))
            .chain(self.to.iter().map(|to| ("notify.email.to", to)))
        {
            if address.parse::<lettre::message::Mailbox>().is_err() {
                return Err(ConfigError::value(path, key, address, allowed));
            }
        }
        if self.security == EmailSecurity::None
            && self.password.is_some()
            && !is_loopback(&self.host)
        {
            let allowed = "\"starttls\" or \"tls\": without them the password would cross the \
                           network in the clear; \"none\" with a password is allowed for \
                           localhost, 127.0.0.0/8 and ::1 only";
            return Err(ConfigError::value(path, "notify.email.security", "none", allowed));
        }
        if self.to.is_empty() && !has_people {
            return Err(ConfigError::value(path, "notify.email.to", "[]", "one address or more"));
        }
        if self.user.is_some() != self.password.is_some() {
            let got = if self.user.is_some() { "user alone" } else { "password alone" };
            return Err(ConfigError::value(
                path,
                "notify.email",
                got,
                "user and password or neither",
            ));
        }
        Ok(())
    }
}

/// Whether a host is this machine. A name other than `localhost` may lead anywhere, also by a
/// changed name server, so it is not.
fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// How an SMTP connection is protected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EmailSecurity {
    /// TLS after STARTTLS, required.
    #[default]
    Starttls,
    /// TLS from the first byte.
    Tls,
    /// No protection: for a relay on the same machine, or one that asks for no password.
    None,
}
