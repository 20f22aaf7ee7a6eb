//! TLS from PEM files: the authorities that may sign the broker's certificate, and ours for mutual
//! TLS. Read anew for every connection, so a renewed file is used without a restart.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

use crate::settings::TlsSettings;

/// Certificates that cannot be used. Wait until somebody has put them right.
#[derive(Debug, thiserror::Error)]
pub(super) enum TlsError {
    /// A file cannot be read as PEM.
    #[error("cannot read certificates or key from {}: {reason}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A file has nothing in it that can be used.
    #[error("{} holds no certificate", path.display())]
    Empty {
        /// Which.
        path: PathBuf,
    },
    /// Certificate and key do not fit, or TLS refuses them.
    #[error("certificate and key cannot be used: {0}")]
    Refused(#[from] rustls::Error),
}

/// The client's configuration.
pub(super) fn client_config(tls: &TlsSettings) -> Result<ClientConfig, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(&tls.ca)? {
        roots.add(certificate)?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots);
    match (&tls.certificate, &tls.key) {
        (Some(certificate), Some(key)) => {
            let key = PrivateKeyDer::from_pem_file(key).map_err(|error| failed(key, &error))?;
            Ok(builder.with_client_auth_cert(certificates(certificate)?, key)?)
        }
        _ => Ok(builder.with_no_client_auth()),
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let certificates: Vec<_> = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|error| failed(path, &error))?;
    if certificates.is_empty() {
        return Err(TlsError::Empty { path: path.to_owned() });
    }
    Ok(certificates)
}

fn failed(path: &Path, error: &rustls::pki_types::pem::Error) -> TlsError {
    TlsError::File { path: path.to_owned(), reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_or_empty_file_is_named() {
        let folder = tempfile::tempdir().expect("folder");
        let ca = folder.path().join("ca.pem");
        let settings = TlsSettings { ca: ca.clone(), certificate: None, key: None };
        let text = client_config(&settings).expect_err("missing").to_string();
        assert!(text.contains("ca.pem"), "{text}");
        std::fs::write(&ca, "no certificate here\n").expect("writes");
        let text = client_config(&settings).expect_err("empty").to_string();
        assert!(text.ends_with("ca.pem holds no certificate"), "{text}");
    }
}
