//! The certificate of an HTTP server, from two PEM files that are read again when they change.
//!
//! The files are looked at when a connection comes in, at most every [`LOOK`]. Files that do not
//! fit each other, as between the two writes of a renewal, leave the certificate of before in use.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject as _;
use serde::Deserialize;
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;

use crate::broker::{TlsError, certificates, failed, provider};

/// Shortest time between two looks at the files. Chosen: a renewal happens weeks before the end of
/// a certificate, and two looks at file times every few seconds cost nothing.
const LOOK: Duration = Duration::from_secs(5);

/// `[http.tls]`: the certificate of the server, PEM files.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListenerTls {
    /// The certificate with the chain of its authorities.
    pub certificate: PathBuf,
    /// The private key of `certificate`.
    pub key: PathBuf,
}

impl ListenerTls {
    fn config(&self) -> Result<Arc<ServerConfig>, TlsError> {
        let key =
            PrivateKeyDer::from_pem_file(&self.key).map_err(|error| failed(&self.key, &error))?;
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(certificates(&self.certificate)?, key)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }

    /// Returns when the two files were written; `None` for one that cannot be asked.
    fn written(&self) -> [Option<SystemTime>; 2] {
        let of = |path: &PathBuf| std::fs::metadata(path).and_then(|about| about.modified()).ok();
        [of(&self.certificate), of(&self.key)]
    }
}

/// A certificate in use.
#[derive(Debug)]
pub struct Tls {
    files: ListenerTls,
    used: Mutex<Used>,
}

#[derive(Debug)]
struct Used {
    config: Arc<ServerConfig>,
    written: [Option<SystemTime>; 2],
    looked: Instant,
}

impl Tls {
    /// Reads the files.
    ///
    /// # Errors
    /// [`TlsError`] with the file's path.
    pub fn open(files: ListenerTls) -> Result<Self, TlsError> {
        let (written, config) = (files.written(), files.config()?);
        let used = Mutex::new(Used { config, written, looked: Instant::now() });
        Ok(Self { files, used })
    }

    /// Returns the acceptor of the next connection.
    pub(super) fn acceptor(&self) -> TlsAcceptor {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if used.looked.elapsed() >= LOOK {
            used.looked = Instant::now();
            let written = self.files.written();
            if written != used.written {
                self.renew(&mut used, written);
            }
        }
        TlsAcceptor::from(Arc::clone(&used.config))
    }

    fn renew(&self, used: &mut Used, written: [Option<SystemTime>; 2]) {
        match self.files.config() {
            Ok(config) => {
                (used.config, used.written) = (config, written);
                tracing::info!(certificate = %self.files.certificate.display(), "the certificate \
                    of the HTTP server was renewed");
            }
            Err(error) => {
                tracing::warn!(%error, "the renewed certificate of the HTTP server cannot be used; \
                    the one of before stays");
            }
        }
    }
}
