//! Settings of a PostgreSQL server and of the protection of its connection, for `[store.postgres]`
//! and for a server of `[tools.databases]`.
//!
//! ```toml
//! [store.postgres]
//! url = "postgres://pdm@db.plant.example/pdm"
//! password = { file = "postgres.password" }
//! [store.postgres.tls]
//! ca = "db-ca.pem"             # without: the machine's own authorities
//! certificate = "pdm.pem"      # with key: mutual TLS
//! key = "pdm.key"
//! ```

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Visitor};

use crate::config::{ConfigError, above_zero};
use crate::secret::SecretSource;

mod connect;

pub use connect::{WayError, options};

/// `[store.postgres]`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(from = "Typed")]
pub struct PostgresSettings {
    /// `postgres://user@host:port/database`, without a password.
    pub url: String,
    /// File or variable that holds the password; without one the server must trust the user.
    pub password: Option<SecretSource>,
    /// Most connections of this agent's pool. One more connection holds the locks on the bearings
    /// that are being judged.
    pub connections: u32,
    /// Longest time of one statement, s.
    pub statement_timeout_s: f64,
    /// Protection of the connection. Absent: off to this machine, verified to any other.
    pub tls: Option<PostgresTls>,
}

/// Protection of the connection to the server: `tls = "off"`, `tls = "verified"`, or
/// `[store.postgres.tls]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PostgresTls {
    /// No TLS.
    Off,
    /// TLS; the certificate must be valid and name the host.
    Verified(PostgresCertificates),
}

/// `[store.postgres.tls]`: certificates, PEM files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PostgresCertificates {
    /// Authorities that may sign the server's certificate; absent: those of the operating system.
    pub ca: Option<PathBuf>,
    /// This program's certificate, for mutual TLS.
    pub certificate: Option<PathBuf>,
    /// Private key of `certificate`.
    pub key: Option<PathBuf>,
}

/// The section as the file has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Typed {
    url: String,
    password: Option<SecretSource>,
    #[serde(default = "connections")]
    connections: u32,
    #[serde(default = "statement_timeout_s")]
    statement_timeout_s: f64,
    tls: Option<PostgresTls>,
    #[serde(default, rename = "ca_file", deserialize_with = "renamed")]
    _ca_file: (),
    #[serde(default, rename = "cert_file", deserialize_with = "renamed")]
    _cert_file: (),
    #[serde(default, rename = "key_file", deserialize_with = "renamed")]
    _key_file: (),
}

/// Refuses a key of an earlier version and names its successor.
fn renamed<'de, D: Deserializer<'de>>(_value: D) -> Result<(), D::Error> {
    let told = "the keys ca_file, cert_file and key_file are now ca, certificate and key in \
                [store.postgres.tls]";
    Err(de::Error::custom(told))
}

fn connections() -> u32 {
    8
}

fn statement_timeout_s() -> f64 {
    30.0
}

impl From<Typed> for PostgresSettings {
    fn from(typed: Typed) -> Self {
        let Typed { url, password, connections, statement_timeout_s, tls, .. } = typed;
        Self { url, password, connections, statement_timeout_s, tls }
    }
}

impl<'de> Deserialize<'de> for PostgresTls {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WordOrFiles;
        impl<'de> Visitor<'de> for WordOrFiles {
            type Value = PostgresTls;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"off\", \"verified\", or ca, certificate and key")
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<PostgresTls, E> {
                match word {
                    "off" => Ok(PostgresTls::Off),
                    "verified" => Ok(PostgresTls::Verified(PostgresCertificates::default())),
                    _ => Err(E::invalid_value(de::Unexpected::Str(word), &self)),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, files: A) -> Result<PostgresTls, A::Error> {
                PostgresCertificates::deserialize(MapAccessDeserializer::new(files))
                    .map(PostgresTls::Verified)
            }
        }
        deserializer.deserialize_any(WordOrFiles)
    }
}

impl PostgresSettings {
    /// Settings of a server at `url`, with the defaults for the rest.
    pub fn at(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            password: None,
            connections: connections(),
            statement_timeout_s: statement_timeout_s(),
            tls: None,
        }
    }

    /// Protection of the connection, with the default applied.
    pub fn tls(&self) -> PostgresTls {
        self.tls.clone().unwrap_or_else(|| {
            if self.is_here() {
                PostgresTls::Off
            } else {
                PostgresTls::Verified(PostgresCertificates::default())
            }
        })
    }

    fn is_here(&self) -> bool {
        match url::Url::parse(&self.url).ok().as_ref().and_then(|url| url.host_str()) {
            // a Unix socket is written as a host that begins with %2F
            Some(host) => {
                matches!(host, "localhost" | "[::1]")
                    || host.starts_with("127.")
                    || host.to_ascii_lowercase().starts_with("%2f")
            }
            None => true,
        }
    }

    /// The certificate files with their keys below the section; empty without TLS.
    pub fn files(&self) -> Vec<(&'static str, PathBuf)> {
        let PostgresTls::Verified(files) = self.tls() else { return Vec::new() };
        [("tls.ca", files.ca), ("tls.certificate", files.certificate), ("tls.key", files.key)]
            .into_iter()
            .filter_map(|(key, file)| Some((key, file?)))
            .collect()
    }

    /// Resolves relative paths against `folder`.
    pub fn root(&mut self, folder: &Path) {
        if let Some(PostgresTls::Verified(files)) = &mut self.tls {
            let files = [&mut files.ca, &mut files.certificate, &mut files.key];
            for file in files.into_iter().flatten() {
                *file = folder.join(&file);
            }
        }
    }

    /// Checks the settings; `section` is the name of their TOML section.
    pub fn check(&self, path: &Path, section: &str) -> Result<(), ConfigError> {
        let key = format!("{section}.url");
        let allowed = "postgres://user@host:port/database, with the password under `password`";
        if let Some(got) = unsupported_form(&self.url) {
            let allowed = "postgres://user@host:port/database with one address that leads to the \
                           primary: a virtual address, a proxy such as HAProxy, or a name that \
                           moves with it; the agent connects again after a fail-over, and an \
                           address that leads to a standby is told";
            return Err(ConfigError::value(path, key, got, allowed));
        }
        let Ok(url) = url::Url::parse(&self.url) else {
            return Err(ConfigError::value(path, key, "not a URL", allowed));
        };
        if url.password().is_some() {
            // the error must not repeat the password
            return Err(ConfigError::value(path, key, "a URL with a password", allowed));
        }
        if !matches!(url.scheme(), "postgres" | "postgresql") || url.query().is_some() {
            // a query may hold a password, so the address is not repeated either
            let query = if url.query().is_some() { " with a query" } else { "" };
            let got = format!("a URL of the scheme {}{query}", url.scheme());
            return Err(ConfigError::value(path, key, got, allowed));
        }
        above_zero(path, &format!("{section}.connections"), self.connections.into())?;
        let key = format!("{section}.statement_timeout_s");
        if !(0.1..=86_400.0).contains(&self.statement_timeout_s) {
            let allowed = "0.1 to 86400 seconds";
            return Err(ConfigError::value(path, key, self.statement_timeout_s, allowed));
        }
        self.check_files(path, section)
    }

    fn check_files(&self, path: &Path, section: &str) -> Result<(), ConfigError> {
        let Some(PostgresTls::Verified(files)) = &self.tls else { return Ok(()) };
        if files.certificate.is_some() != files.key.is_some() {
            let key = format!("{section}.tls.certificate");
            let allowed = "certificate and key together, or neither";
            return Err(ConfigError::value(path, key, "one of the two", allowed));
        }
        Ok(())
    }
}

/// Names a form that other programs take for a fail-over and the driver does not: it would take the
/// list for a name, or connect to the first server alone. The URL is not repeated: it may hold a
/// password.
fn unsupported_form(url: &str) -> Option<&'static str> {
    let (address, query) = url.split_once('?').map_or((url, ""), |(at, query)| (at, query));
    let is_url = address.contains("://");
    let authority = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = authority.split('/').next().unwrap_or_default();
    let hosts = authority.rsplit_once('@').map_or(authority, |(_, hosts)| hosts);
    if is_url && hosts.contains(',') {
        return Some("a list of several hosts, which is not supported");
    }
    for (keyword, told) in [
        ("target_session_attrs", "a URL with target_session_attrs, which is not supported"),
        ("load_balance_hosts", "a URL with load_balance_hosts, which is not supported"),
        ("host=", "a host in the query, which is not supported"),
    ] {
        if query.contains(keyword) {
            return Some(told);
        }
    }
    let is_words = !is_url && (url.contains("host=") || url.contains("dbname="));
    is_words.then_some("libpq's form of keywords (host=… dbname=…), which is not supported")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<PostgresSettings, String> {
        #[derive(Debug, Deserialize)]
        struct File {
            store: Store,
        }
        #[derive(Debug, Deserialize)]
        struct Store {
            postgres: PostgresSettings,
        }
        let text = format!("[store.postgres]\nurl = \"postgres://pdm@db/pdm\"\n{text}");
        crate::config::parse::<File>(Path::new("agent.toml"), &text)
            .map(|file| file.store.postgres)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn the_keys_of_tls_are_those_of_the_broker() {
        let text = "[store.postgres.tls]\nca = \"ca.pem\"\ncertificate = \"a\"\nkey = \"b\"\n";
        let mut settings = parse(text).expect("valid");
        settings.root(Path::new("/etc/pdm"));
        let PostgresTls::Verified(files) = settings.tls() else { panic!("off") };
        assert_eq!(files.ca.as_deref(), Some(Path::new("/etc/pdm/ca.pem")));
        assert_eq!(files.key.as_deref(), Some(Path::new("/etc/pdm/b")));
        assert_eq!(parse("tls = \"off\"\n").expect("valid").tls(), PostgresTls::Off);
        let wrong = parse("tls = \"on\"\n").expect_err("no such word");
        assert!(wrong.contains("agent.toml:3") && wrong.contains("\"verified\""), "{wrong}");
        let wrong = parse("[store.postgres.tls]\ncert = \"a\"\n").expect_err("no such key");
        assert!(wrong.contains("`cert`") && wrong.contains("`certificate`"), "{wrong}");
    }

    #[test]
    fn keys_of_earlier_versions_are_refused_with_their_names_of_today() {
        for key in ["ca_file", "cert_file", "key_file"] {
            let told = parse(&format!("{key} = \"x.pem\"\n")).expect_err("refused");
            assert!(told.contains("agent.toml:3"), "{told}");
            assert!(
                told.contains("[store.postgres.tls]") && told.contains("certificate"),
                "{told}"
            );
        }
    }

    /// Issue 33: how others name two servers is refused by name, and no password is repeated.
    #[test]
    fn urls_of_two_servers_are_refused_by_name() {
        for (url, told) in [
            ("postgres://pdm@db-a,db-b/pdm", "several hosts"),
            ("postgres://pdm@db-a:5432,db-b:5433/pdm", "several hosts"),
            ("postgresql://pdm@[::1]:5432,[::2]:5432/pdm", "several hosts"),
            ("postgres://pdm:hid,den@db-a,db-b/pdm", "several hosts"),
            (
                "postgres://pdm@db-a/pdm?target_session_attrs=read-write&password=hidden",
                "target_session_attrs",
            ),
            ("postgres://pdm@db/pdm?load_balance_hosts=random", "load_balance_hosts"),
            ("postgres:///pdm?host=db-a,db-b", "host in the query"),
            ("host=db-a,db-b dbname=pdm target_session_attrs=primary", "keywords"),
        ] {
            let settings = PostgresSettings::at(url);
            let error = settings.check(Path::new("agent.toml"), "store.postgres");
            let error = error.expect_err("refused").to_string();
            assert!(error.contains("store.postgres.url"), "{error}");
            assert!(error.contains(told) && error.contains("one address"), "{error}");
            assert!(!error.contains("hid"), "{error}");
        }
        let one = PostgresSettings::at("postgres://pdm@db:5432/pdm,with,commas");
        one.check(Path::new("agent.toml"), "store.postgres").expect("a name of a database");
    }

    #[test]
    fn half_a_pair_is_told_with_its_key() {
        let half = parse("[store.postgres.tls]\ncertificate = \"a\"\n").expect("typed");
        let told =
            half.check(Path::new("agent.toml"), "store.postgres").expect_err("half").to_string();
        assert!(told.contains("store.postgres.tls.certificate"), "{told}");
    }
}
