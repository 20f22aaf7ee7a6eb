//! The folder of certificates that the client wants: made for one connection, and removed with it.
//!
//! Invariant: the server's certificate that the configuration names is the only one in it.

use std::io;
use std::path::{Path, PathBuf};

use opcua::crypto::{CertificateStore, X509};
use uuid::Uuid;

use super::Protection;

/// A folder of certificates.
#[derive(Debug)]
pub(super) struct Pki {
    folder: PathBuf,
    /// The certificate of the server that is trusted.
    pub(super) server: Option<X509>,
}

impl Pki {
    /// A folder with the certificates of a protection.
    ///
    /// # Errors
    /// The file that cannot be read, or why the folder cannot be made.
    pub(super) fn new(protection: Option<&Protection>) -> Result<Self, String> {
        let folder = std::env::temp_dir().join(format!("pdm-edge-opcua-{}", Uuid::now_v7()));
        let mut pki = Self { folder, server: None };
        let failed = |error: io::Error| format!("{}: {error}", pki.folder.display());
        make_private(&pki.folder).map_err(failed)?;
        let store = CertificateStore::new(&pki.folder);
        store.ensure_pki_path()?;
        if let Some(Protection { certificates, .. }) = protection {
            // the client tells the form of a file by its ending
            let own = certificate(&certificates.certificate)?;
            std::fs::write(pki.own(), own.to_der().map_err(|error| error.to_string())?)
                .map_err(failed)?;
            if let Err(error) = std::fs::File::open(&certificates.key) {
                return Err(format!("{}: {error}", certificates.key.display()));
            }
            CertificateStore::read_pkey(&certificates.key).map_err(|_| {
                format!("{}: no private key in PEM (PKCS#8)", certificates.key.display())
            })?;
            let server = certificate(&certificates.server)?;
            let place = store.trusted_certs_dir().join(CertificateStore::cert_file_name(&server));
            let der = server.to_der().map_err(|error| error.to_string())?;
            std::fs::write(&place, der).map_err(failed)?;
            pki.server = Some(server);
        }
        Ok(pki)
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The certificate of this gateway.
    pub(super) fn own(&self) -> PathBuf {
        self.folder.join("own.der")
    }
}

impl Drop for Pki {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.folder) {
            tracing::warn!(folder = %self.folder.display(), %error, "certificates are left behind");
        }
    }
}

#[cfg(unix)]
fn make_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn make_private(folder: &Path) -> io::Result<()> {
    std::fs::create_dir(folder)
}

/// A certificate, whatever the ending of its file.
fn certificate(path: &Path) -> Result<X509, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let read =
        if bytes.starts_with(b"-----") { X509::from_pem(&bytes) } else { X509::from_der(&bytes) };
    read.map_err(|_| format!("{}: no certificate in DER or PEM", path.display()))
}
