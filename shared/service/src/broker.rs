//! The way to a broker: the keys of `[broker]` that every program has, with one spelling.
//!
//! ```toml
//! [broker]
//! addresses = ["mqtt-a:8883", "mqtt-b:8883"]   # tried in turn; port 8883 with TLS, else 1883
//! user = "gw-01"
//! password = { file = "mqtt.password" }
//! [broker.tls]
//! ca = "ca.pem"
//! certificate = "gw-01.pem"                     # with key: mutual TLS
//! key = "gw-01.key"
//! crl = "ca.crl"                                # certificates that the authority has revoked
//! ```
//!
//! [`TlsFiles::client_config`] is called for every connection, so a renewed file is used without a
//! restart.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};
use rustls::server::{VerifierBuilderError, WebPkiClientVerifier};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use serde::Deserialize;

use crate::config::ConfigError;
use crate::secret::SecretSource;

/// Stands for the client id of a connection in the names of its certificate and key, and in a
/// user's name, in the agent's configuration: its connections may each need their own.
pub const CLIENT_ID: &str = "{client_id}";

/// Host and port of a broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokerAddress {
    /// Host name or IP address, which the broker's certificate must carry.
    pub host: String,
    /// TCP port.
    pub port: u16,
}

impl fmt::Display for BrokerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// The user name and the password for the broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    /// User name.
    pub user: String,
    /// File or variable that holds the password.
    pub password: SecretSource,
}

/// `[broker.tls]`: certificates, PEM files.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsFiles {
    /// Certificates of the authorities that may sign the broker's certificate.
    pub ca: PathBuf,
    /// This program's certificate chain, for mutual TLS; the agent's may hold [`CLIENT_ID`].
    #[serde(default)]
    pub certificate: Option<PathBuf>,
    /// Private key of `certificate`.
    #[serde(default)]
    pub key: Option<PathBuf>,
    /// Revocation lists of the authorities. With them a server's certificate that is on a list, or
    /// whose authority has no list here or only one that has expired, is refused.
    #[serde(default)]
    pub crl: Option<PathBuf>,
}

/// The certificates of a listener whose clients need a certificate, PEM files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerTls {
    /// The listener's certificate chain.
    pub certificate: PathBuf,
    /// Private key of `certificate`.
    pub key: PathBuf,
    /// Certificates of the authorities that may sign a client's certificate.
    pub client_ca: PathBuf,
    /// Revocation lists of these authorities; as in [`TlsFiles::crl`].
    pub crl: Option<PathBuf>,
}

/// The keys as the file has them.
#[derive(Debug, Default)]
pub struct ReachFile {
    /// `broker.addresses`
    pub addresses: Option<Vec<String>>,
    /// `broker.user`
    pub user: Option<String>,
    /// `broker.password`
    pub password: Option<SecretSource>,
    /// `[broker.tls]`
    pub tls: Option<TlsFiles>,
}

/// The keys after they are checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reach {
    /// Addresses, tried in turn until one answers.
    pub addresses: Vec<BrokerAddress>,
    /// The login; `None` is anonymous.
    pub login: Option<Login>,
    /// The TLS files; `None` is plain TCP.
    pub tls: Option<TlsFiles>,
}

impl ReachFile {
    /// Checks the keys; relative paths start at `folder`. `refuse` makes an error from a key, its
    /// value and the allowed values.
    ///
    /// # Errors
    /// The error that `refuse` makes.
    pub fn meant(
        self,
        folder: &Path,
        refuse: impl Fn(&str, &str, &str) -> ConfigError,
    ) -> Result<Reach, ConfigError> {
        let default_port = if self.tls.is_some() { 8883 } else { 1883 };
        let addresses = match self.addresses {
            None => vec![BrokerAddress { host: "127.0.0.1".to_owned(), port: default_port }],
            Some(texts) => addresses(&texts, default_port).map_err(|wrong| {
                refuse(
                    "broker.addresses",
                    &wrong,
                    "one or more of host or host:port, each a text of its own without a scheme",
                )
            })?,
        };
        let login = match (self.user, self.password) {
            (None, None) => None,
            (Some(user), Some(password)) => Some(Login { user, password: password.rooted(folder) }),
            (Some(user), None) => {
                return Err(refuse("broker.user", &user, "a user with broker.password"));
            }
            (None, Some(_)) => {
                return Err(refuse("broker.password", "set", "only with broker.user"));
            }
        };
        if self.tls.as_ref().is_some_and(|tls| tls.certificate.is_some() != tls.key.is_some()) {
            let allowed = "certificate and key together, or neither";
            return Err(refuse("broker.tls.certificate", "one of the two", allowed));
        }
        Ok(Reach { addresses, login, tls: self.tls.map(|tls| tls.rooted(folder)) })
    }
}

/// The parsed addresses, or the first text that is not an address (`[]` for an empty list).
fn addresses(texts: &[String], default_port: u16) -> Result<Vec<BrokerAddress>, String> {
    if texts.is_empty() {
        return Err("[]".to_owned());
    }
    let address = |text: &String| {
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) => (host, port.parse().ok()),
            None => (text.as_str(), Some(default_port)),
        };
        // a list in one text, and a URL
        let is_one = !host.contains(|c: char| c == ',' || c == '/' || c.is_whitespace());
        match port {
            Some(port) if !host.is_empty() && is_one && port > 0 => {
                Ok(BrokerAddress { host: host.to_owned(), port })
            }
            _ => Err(text.clone()),
        }
    };
    texts.iter().map(address).collect()
}

/// Certificates that cannot be used. The caller waits until somebody has corrected them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file cannot be read as PEM.
    #[error("cannot read certificates or key from {}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reader's error.
        reason: String,
    },
    /// A file holds no usable certificate or key.
    #[error("{} holds no certificate", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A file holds no revocation list.
    #[error("{} holds no revocation list", path.display())]
    NoList {
        /// The file.
        path: PathBuf,
    },
    /// Certificate and key do not fit, or TLS refuses them.
    #[error("certificate and key cannot be used: {0}")]
    Refused(#[from] rustls::Error),
    /// Authorities and revocation lists cannot be used together.
    #[error("authorities and revocation lists cannot be used: {0}")]
    Verifier(String),
}

impl TlsFiles {
    /// Returns the same files, relative paths starting at `folder`.
    #[must_use]
    pub fn rooted(self, folder: &Path) -> Self {
        Self {
            ca: folder.join(self.ca),
            certificate: self.certificate.map(|path| folder.join(path)),
            key: self.key.map(|path| folder.join(path)),
            crl: self.crl.map(|path| folder.join(path)),
        }
    }

    /// The files of one connection: `{client_id}` in the names of certificate and key is its client
    /// id.
    #[must_use]
    pub fn of_client(&self, client_id: &str) -> Self {
        let named = |path: &PathBuf| {
            let text = path.to_string_lossy();
            if text.contains(CLIENT_ID) {
                PathBuf::from(text.replace(CLIENT_ID, client_id))
            } else {
                path.clone()
            }
        };
        Self {
            certificate: self.certificate.as_ref().map(named),
            key: self.key.as_ref().map(named),
            ..self.clone()
        }
    }

    /// Reads the files into a client's configuration.
    ///
    /// # Errors
    /// [`TlsError`] with the file's path.
    pub fn client_config(&self) -> Result<ClientConfig, TlsError> {
        let verifier = WebPkiServerVerifier::builder_with_provider(roots(&self.ca)?, provider())
            .with_crls(revoked(self.crl.as_deref())?)
            .only_check_end_entity_revocation()
            .enforce_revocation_expiration()
            .build()
            .map_err(unusable)?;
        let builder = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()?
            .with_webpki_verifier(verifier);
        match (&self.certificate, &self.key) {
            (Some(certificate), Some(key)) => {
                let key = PrivateKeyDer::from_pem_file(key).map_err(|error| failed(key, &error))?;
                Ok(builder.with_client_auth_cert(certificates(certificate)?, key)?)
            }
            _ => Ok(builder.with_no_client_auth()),
        }
    }
}

impl ServerTls {
    /// Reads the files into a listener's configuration.
    ///
    /// # Errors
    /// [`TlsError`] with the file's path.
    pub fn server_config(&self) -> Result<Arc<ServerConfig>, TlsError> {
        let authorities = roots(&self.client_ca)?;
        let verifier = WebPkiClientVerifier::builder_with_provider(authorities, provider())
            .with_crls(revoked(self.crl.as_deref())?)
            .only_check_end_entity_revocation()
            .enforce_revocation_expiration()
            .build()
            .map_err(unusable)?;
        let key =
            PrivateKeyDer::from_pem_file(&self.key).map_err(|error| failed(&self.key, &error))?;
        let config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()?
            .with_client_cert_verifier(verifier)
            .with_single_cert(certificates(&self.certificate)?, key)?;
        Ok(Arc::new(config))
    }
}

/// The verifier's error as text: its own message already holds its cause.
fn unusable(error: VerifierBuilderError) -> TlsError {
    TlsError::Verifier(error.to_string())
}

pub(crate) fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn roots(path: &Path) -> Result<Arc<RootCertStore>, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        roots.add(certificate)?;
    }
    Ok(Arc::new(roots))
}

/// The revocation lists of a file; without a file there are none, and nothing counts as revoked.
fn revoked(path: Option<&Path>) -> Result<Vec<CertificateRevocationListDer<'static>>, TlsError> {
    let Some(path) = path else { return Ok(Vec::new()) };
    let lists: Vec<_> = CertificateRevocationListDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|error| failed(path, &error))?;
    if lists.is_empty() {
        return Err(TlsError::NoList { path: path.to_owned() });
    }
    Ok(lists)
}

pub(crate) fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let certificates: Vec<_> = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|error| failed(path, &error))?;
    if certificates.is_empty() {
        return Err(TlsError::Empty { path: path.to_owned() });
    }
    Ok(certificates)
}

pub(crate) fn failed(path: &Path, error: &rustls::pki_types::pem::Error) -> TlsError {
    TlsError::File { path: path.to_owned(), reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_or_empty_file_is_named() {
        let folder = tempfile::tempdir().expect("folder");
        let ca = folder.path().join("ca.pem");
        let files = TlsFiles { ca: ca.clone(), certificate: None, key: None, crl: None };
        let text = files.client_config().expect_err("missing").to_string();
        assert!(text.contains("ca.pem"), "{text}");
        std::fs::write(&ca, "no certificate here\n").expect("writes");
        let text = files.client_config().expect_err("empty").to_string();
        assert!(text.ends_with("ca.pem holds no certificate"), "{text}");
    }

    fn meant(file: ReachFile) -> Result<Reach, String> {
        let refuse = |key: &str, value: &str, allowed: &str| {
            ConfigError::value(Path::new("x.toml"), key, value, allowed)
        };
        file.meant(Path::new("/etc/pdm"), refuse).map_err(|error| error.to_string())
    }

    #[test]
    fn without_a_port_it_is_that_of_the_protocol_and_paths_start_at_the_folder() {
        let tls = TlsFiles { ca: "ca.pem".into(), certificate: None, key: None, crl: None };
        let addresses = Some(vec!["a".to_owned(), "b:1".to_owned()]);
        let reach = meant(ReachFile { addresses, tls: Some(tls), ..ReachFile::default() });
        let reach = reach.expect("right");
        let shown: Vec<String> = reach.addresses.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["a:8883", "b:1"]);
        assert_eq!(reach.tls.expect("TLS").ca, Path::new("/etc/pdm/ca.pem"));
    }

    #[test]
    fn half_a_login_half_a_pair_and_no_address_are_refused_with_their_key() {
        let user = ReachFile { user: Some("a".to_owned()), ..ReachFile::default() };
        assert!(meant(user).expect_err("wrong").contains("broker.user is a"));
        let none = ReachFile { addresses: Some(Vec::new()), ..ReachFile::default() };
        assert!(meant(none).expect_err("wrong").contains("broker.addresses is []"));
        for text in ["a:1883,b:1883", "a, b", "mqtt://a:1883"] {
            let file = ReachFile { addresses: Some(vec![text.to_owned()]), ..ReachFile::default() };
            let told = meant(file).expect_err("wrong");
            assert!(told.contains(&format!("broker.addresses is {text}")), "{told}");
        }
        let tls = TlsFiles { ca: "a".into(), certificate: Some("b".into()), key: None, crl: None };
        let half = ReachFile { tls: Some(tls), ..ReachFile::default() };
        assert!(meant(half).expect_err("wrong").contains("broker.tls.certificate"));
    }
}
