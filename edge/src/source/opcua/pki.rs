//! The folder of certificates that the client wants: made for one connection, and removed with it.
//!
//! Invariant: the server's certificate that the configuration names is the only one in it. That of
//! a user is read from its own files and is never in the folder.

use std::io;
use std::path::{Path, PathBuf};

use opcua::crypto::{CertificateStore, PrivateKey, X509};
use pdm_shared::time::Timestamp;
use uuid::Uuid;

use super::{OpcuaServer, Protection, UserCertificate};

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
            private_key(&certificates.key)?;
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

/// A private key.
fn private_key(path: &Path) -> Result<PrivateKey, String> {
    if let Err(error) = std::fs::File::open(path) {
        return Err(format!("{}: {error}", path.display()));
    }
    CertificateStore::read_pkey(path)
        .map_err(|_| format!("{}: no private key in PEM (PKCS#8)", path.display()))
}

/// The certificate that a user logs in with, and its key.
///
/// # Errors
/// The file that cannot be read.
pub(super) fn of_user(user: &UserCertificate) -> Result<(X509, PrivateKey), String> {
    Ok((certificate(&user.certificate)?, private_key(&user.key)?))
}

/// Checks the files of a server: each can be read, and no certificate is out of its time.
///
/// # Errors
/// The first file that is wrong, with its key in the configuration.
pub(super) fn check(server: &OpcuaServer, now: Timestamp) -> Result<(), String> {
    let mut certificates = Vec::new();
    let mut keys = Vec::new();
    if let Some(Protection { certificates: files, .. }) = &server.protection {
        certificates.push(("opcua.certificate", &files.certificate));
        certificates.push(("opcua.server_certificate", &files.server));
        keys.push(("opcua.key", &files.key));
    }
    if let Some(user) = &server.user_certificate {
        certificates.push(("opcua.user_certificate", &user.certificate));
        keys.push(("opcua.user_key", &user.key));
    }
    for (name, path) in certificates {
        let read = certificate(path).map_err(|why| format!("{name}: {why}"))?;
        in_time(&read, now).map_err(|why| format!("{name}: {}: {why}", path.display()))?;
    }
    for (name, path) in keys {
        private_key(path).map_err(|why| format!("{name}: {why}"))?;
    }
    Ok(())
}

/// Checks that a certificate is valid at an instant.
fn in_time(certificate: &X509, now: Timestamp) -> Result<(), String> {
    let (Ok(from), Ok(to)) = (certificate.not_before(), certificate.not_after()) else {
        return Err("it does not state from when to when it is valid".to_owned());
    };
    let now_s = now.unix_ms().div_euclid(1000);
    if now_s > to.timestamp() {
        return Err(format!("it was valid to {to}, which is over; renew it"));
    }
    if now_s < from.timestamp() {
        return Err(format!("it is valid from {from} on; is the gateway's clock right?"));
    }
    Ok(())
}
