//! `[store]`: where everything is kept, and for how long.

use std::fmt;
use std::path::{Path, PathBuf};

use pdm_shared::config::ConfigError;
use pdm_shared::secret::SecretSource;
use serde::Deserialize;

use super::{above_zero, seconds_of};

/// `[store]`: `sqlite = "agent.db"`, or `[store.postgres]`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Typed")]
pub struct StoreSettings {
    /// Where.
    pub place: StorePlace,
    /// For how long.
    pub retention: RetentionSettings,
    /// This agent's name among those that share the store: its client identity at the broker.
    pub replica: String,
}

/// Where everything is kept.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum StorePlace {
    /// One file, for one agent.
    Sqlite(PathBuf),
    /// A server, for one agent or several replicas.
    Postgres(Box<PostgresSettings>),
}

/// The section as it is typed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Typed {
    sqlite: Option<PathBuf>,
    postgres: Option<PostgresSettings>,
    #[serde(default)]
    retention: RetentionSettings,
}

impl TryFrom<Typed> for StoreSettings {
    type Error = &'static str;

    fn try_from(typed: Typed) -> Result<Self, Self::Error> {
        let place = match (typed.sqlite, typed.postgres) {
            (Some(file), None) => StorePlace::Sqlite(file),
            (None, Some(server)) => StorePlace::Postgres(Box::new(server)),
            (Some(_), Some(_)) => return Err("either sqlite or postgres, not both"),
            (None, None) => return Err("sqlite = \"agent.db\" or [store.postgres] is missing"),
        };
        Ok(Self { place, retention: typed.retention, replica: String::new() })
    }
}

/// `[store.retention]`: days; 0 keeps for ever. What waits for a judgement or has still to leave stays
/// whatever its age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetentionSettings {
    /// Events as they came.
    pub events_days: u32,
    /// Judgements, with the steps of their runs.
    pub judgements_days: u32,
    /// Notifications and acknowledgements.
    pub told_days: u32,
    /// Refused messages.
    pub refused_days: u32,
}

impl Default for RetentionSettings {
    fn default() -> Self {
        Self { events_days: 90, judgements_days: 0, told_days: 730, refused_days: 90 }
    }
}

/// `[store.postgres]`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PostgresSettings {
    /// `postgres://user@host:port/database`, without a password.
    pub url: String,
    /// Where the password stands; without it as the server trusts the user.
    #[serde(default)]
    pub password: Option<SecretSource>,
    /// Most connections of this agent, beside the one that holds the bearings it judges.
    #[serde(default = "connections")]
    pub connections: u32,
    /// Longest time of one statement, s.
    #[serde(default = "statement_timeout_s")]
    pub statement_timeout_s: f64,
    /// Absent: off on this machine, verified to any other.
    #[serde(default)]
    pub tls: Option<PostgresTls>,
    /// Who signed the server's certificate, PEM; absent: the machine's own authorities.
    #[serde(default)]
    pub ca_file: Option<PathBuf>,
    /// Own certificate, PEM.
    #[serde(default)]
    pub cert_file: Option<PathBuf>,
    /// Its key, PEM.
    #[serde(default)]
    pub key_file: Option<PathBuf>,
}

/// How the connection to the server is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PostgresTls {
    /// Not at all.
    Off,
    /// TLS; the certificate has to be valid and to name the host.
    Verified,
}

fn connections() -> u32 {
    8
}

fn statement_timeout_s() -> f64 {
    30.0
}

impl StoreSettings {
    /// One file.
    pub fn sqlite(file: impl Into<PathBuf>) -> Self {
        Self {
            place: StorePlace::Sqlite(file.into()),
            retention: RetentionSettings::default(),
            replica: String::new(),
        }
    }

    /// The folder of the file, where the store is one: what has no place of its own goes there.
    pub fn folder(&self) -> Option<&Path> {
        match &self.place {
            StorePlace::Sqlite(file) => Some(file.parent().unwrap_or(Path::new(""))),
            StorePlace::Postgres(_) => None,
        }
    }

    pub(super) fn check(&self, path: &Path) -> Result<(), ConfigError> {
        match &self.place {
            StorePlace::Sqlite(_) => Ok(()),
            StorePlace::Postgres(server) => server.check(path),
        }
    }

    /// With relative paths taken from `folder`.
    pub(super) fn rooted(mut self, folder: &Path) -> Self {
        match &mut self.place {
            StorePlace::Sqlite(file) => *file = folder.join(&file),
            StorePlace::Postgres(server) => {
                let files = [&mut server.ca_file, &mut server.cert_file, &mut server.key_file];
                for file in files.into_iter().flatten() {
                    *file = folder.join(&file);
                }
            }
        }
        self
    }
}

impl fmt::Display for StoreSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            StorePlace::Sqlite(file) => file.display().fmt(f),
            StorePlace::Postgres(server) => f.write_str(&server.url),
        }
    }
}

impl PostgresSettings {
    /// A server at this address, with the defaults for the rest.
    pub fn at(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            password: None,
            connections: connections(),
            statement_timeout_s: statement_timeout_s(),
            tls: None,
            ca_file: None,
            cert_file: None,
            key_file: None,
        }
    }

    /// How the connection is protected.
    pub fn tls(&self) -> PostgresTls {
        let is_here =
            || match reqwest::Url::parse(&self.url).ok().as_ref().and_then(|url| url.host_str()) {
                // a socket is written as a host that begins with %2F
                Some(host) => {
                    matches!(host, "localhost" | "[::1]")
                        || host.starts_with("127.")
                        || host.to_ascii_lowercase().starts_with("%2f")
                }
                None => true,
            };
        self.tls.unwrap_or(if is_here() { PostgresTls::Off } else { PostgresTls::Verified })
    }

    fn check(&self, path: &Path) -> Result<(), ConfigError> {
        let key = "store.postgres.url";
        let allowed = "postgres://user@host:port/database, with the password under `password`";
        let Ok(url) = reqwest::Url::parse(&self.url) else {
            return Err(ConfigError::value(path, key, "not a URL", allowed));
        };
        if url.password().is_some() {
            // which must not be repeated here
            return Err(ConfigError::value(path, key, "a URL with a password", allowed));
        }
        if !matches!(url.scheme(), "postgres" | "postgresql") || url.query().is_some() {
            return Err(ConfigError::value(path, key, &self.url, allowed));
        }
        above_zero(path, "store.postgres.connections", self.connections.into())?;
        seconds_of(path, "store.postgres.statement_timeout_s", self.statement_timeout_s)?;
        if self.statement_timeout_s < 0.1 {
            let key = "store.postgres.statement_timeout_s";
            return Err(ConfigError::value(path, key, self.statement_timeout_s, "0.1 or more"));
        }
        if self.cert_file.is_some() != self.key_file.is_some() {
            let key = "store.postgres.cert_file";
            return Err(ConfigError::value(path, key, "alone", "cert_file and key_file together"));
        }
        Ok(())
    }
}
