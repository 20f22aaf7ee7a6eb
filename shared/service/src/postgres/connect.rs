//! Connection options of a PostgreSQL server, for the store and for tools: address, password,
//! certificates.

use std::path::PathBuf;
use std::str::FromStr as _;

use sqlx::postgres::{PgConnectOptions, PgSslMode};

use super::{PostgresSettings, PostgresTls};
use crate::secret::SecretError;

/// The settings of a server cannot be used. The text begins with the key below the server's
/// section.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WayError {
    /// The URL is not an address.
    #[error("url: {0}")]
    Address(sqlx::Error),
    /// The password cannot be read.
    #[error("password: {0}")]
    Password(SecretError),
    /// A certificate or key cannot be read.
    #[error("{key}: cannot read {}: {source}", path.display())]
    Certificate {
        /// The key that names the file.
        key: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the read.
        source: std::io::Error,
    },
}

/// The connection options for `settings`.
///
/// # Errors
/// [`WayError`]: a configuration error.
pub fn options(settings: &PostgresSettings) -> Result<PgConnectOptions, WayError> {
    let mut options = PgConnectOptions::from_str(&settings.url).map_err(WayError::Address)?;
    if let Some(source) = &settings.password {
        let password = source.fetch().map_err(WayError::Password)?;
        options = options.password(password.expose());
    }
    for (key, path) in settings.files() {
        // the driver's error does not name the file that it could not read
        if let Err(source) = std::fs::File::open(&path) {
            return Err(WayError::Certificate { key, path, source });
        }
    }
    Ok(match settings.tls() {
        PostgresTls::Off => options.ssl_mode(PgSslMode::Disable),
        PostgresTls::Verified(files) => {
            options = options.ssl_mode(PgSslMode::VerifyFull);
            if let Some(file) = &files.ca {
                options = options.ssl_root_cert(file);
            }
            if let (Some(certificate), Some(key)) = (&files.certificate, &files.key) {
                options = options.ssl_client_cert(certificate).ssl_client_key(key);
            }
            options
        }
    })
}
