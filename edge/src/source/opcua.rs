//! Samples and values of an OPC UA server.
//!
//! An array in a node is a burst of samples: a subscription brings every one of them, and those of
//! several nodes are put together by their source times ([`super::burst`]). Numbers of nodes are
//! the ready-made values of a transmitter ([`super::values`]), read at a period. The client is the
//! crate `async-opcua`, built in by the feature `opcua`; without it such a source is refused by
//! name.
//!
//! Invariants: a value is used only if its status is Good; Bad and Uncertain are told. The first
//! array of a connection is not measured, since it may be old. Values that the server or this
//! gateway had no room for are told as lost. Nothing is written to a server. Nodes are resolved by
//! the URI of their namespace at every connection. After any fault of the connection everything is
//! begun anew: a session that a restarted server does not know (BadSessionIdInvalid), its
//! subscriptions and its namespace indices are never carried on.

use std::path::PathBuf;
use std::time::Duration;

use pdm_service::broker::Login;
use pdm_shared::time::Timestamp;

pub use super::burst::ArrayTime;
use super::frames::FrameFormat;
use super::values::ValueMeaning;

#[cfg(feature = "opcua")]
mod arrays;
#[cfg(feature = "opcua")]
mod connection;
#[cfg(feature = "opcua")]
mod endpoint;
#[cfg(feature = "opcua")]
mod log;
mod node;
#[cfg(feature = "opcua")]
mod open;
#[cfg(feature = "opcua")]
mod pki;
#[cfg(feature = "opcua")]
mod polls;
#[cfg(feature = "opcua")]
mod reading;
#[cfg(feature = "opcua")]
mod subscription;
#[cfg(feature = "opcua")]
mod unit;

pub use node::{Namespace, NodeIdentifier, NodeName};
#[cfg(feature = "opcua")]
pub use open::open_opcua;

/// A server and what is read of it.
#[derive(Debug, Clone, PartialEq)]
pub struct OpcuaSettings {
    /// The server.
    pub server: OpcuaServer,
    /// Its nodes.
    pub content: OpcuaContent,
}

impl OpcuaSettings {
    /// Whether it gives samples.
    pub const fn has_samples(&self) -> bool {
        matches!(self.content, OpcuaContent::Samples { .. })
    }
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpcuaServer {
    /// `opc.tcp://HOST:PORT/PATH`; used also where the server announces another host.
    pub endpoint: String,
    /// Signing and encryption; `None`: neither.
    pub protection: Option<Protection>,
    /// User, and the place of the password; `None`: anonymous, or by certificate.
    pub login: Option<Login>,
    /// The certificate of the user, which logs in in place of a password.
    pub user_certificate: Option<UserCertificate>,
    /// Whether the password may be sent readable.
    pub plain_password: bool,
    /// URI of this application, as in its certificate.
    pub application_uri: String,
    /// Name of the session in the server's diagnostics.
    pub session: String,
    /// Longest wait for an answer.
    pub timeout: Duration,
}

/// A policy and the certificates for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Protection {
    /// The algorithms.
    pub policy: SecurityPolicy,
    /// Whether messages are encrypted beside being signed.
    pub encrypts: bool,
    /// The files.
    pub certificates: OpcuaCertificates,
}

/// Security policies that are not deprecated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecurityPolicy {
    /// The usual one.
    Basic256Sha256,
    /// AES 128 with RSA OAEP.
    Aes128Sha256RsaOaep,
    /// AES 256 with RSA PSS.
    Aes256Sha256RsaPss,
}

impl SecurityPolicy {
    /// The names of the policies, as in their URIs.
    pub const NAMES: [(&str, Self); 3] = [
        ("Basic256Sha256", Self::Basic256Sha256),
        ("Aes128_Sha256_RsaOaep", Self::Aes128Sha256RsaOaep),
        ("Aes256_Sha256_RsaPss", Self::Aes256Sha256RsaPss),
    ];
}

/// Certificates in files, DER or PEM; read at every opening, so that they can be renewed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpcuaCertificates {
    /// The certificate of this gateway.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
    /// The certificate of the server: no other is trusted.
    pub server: PathBuf,
}

/// A certificate that a user logs in with, DER or PEM, and its key; read at every opening.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserCertificate {
    /// The certificate, which the server has to know.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

/// What is read of a server.
#[derive(Debug, Clone, PartialEq)]
pub enum OpcuaContent {
    /// Ready-made values, polled.
    Values {
        /// The values.
        values: Vec<NodeValue>,
        /// Time from poll to poll.
        every: Duration,
    },
    /// Samples.
    Samples {
        /// The nodes.
        form: NodeForm,
        /// Channels, nominal rate and calibration; the encoding is not used.
        format: FrameFormat,
        /// Share by which the true rate may differ.
        rate_tolerance: f64,
        /// Time without samples after which the source fails.
        silence: Duration,
    },
}

/// A value of a node.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeValue {
    /// The meaning of the value.
    pub meaning: ValueMeaning,
    /// Its node.
    pub node: NodeName,
    /// The factor that brings its number into its unit.
    pub scale: f64,
    /// Its unit; `None`: as the server states it.
    pub unit: Option<String>,
}

/// The nodes of samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeForm {
    /// The arrays, channel by channel.
    pub nodes: Vec<NodeName>,
    /// The node with the rate, Hz.
    pub rate: Option<NodeName>,
    /// The meaning of an array's source time.
    pub dated: ArrayTime,
}

/// Checks the certificates and keys of a server at an instant, without a connection.
///
/// # Errors
/// The file, and what is wrong with it; of a program without the client nothing is.
#[cfg(feature = "opcua")]
pub fn check_certificates(server: &OpcuaServer, now: Timestamp) -> Result<(), String> {
    pki::check(server, now)
}

/// Without the client no file is looked at.
///
/// # Errors
/// None.
#[cfg(not(feature = "opcua"))]
pub const fn check_certificates(_server: &OpcuaServer, _now: Timestamp) -> Result<(), String> {
    Ok(())
}

/// The error of a program that was built without the client.
///
/// # Errors
/// Always: the feature is named.
#[cfg(not(feature = "opcua"))]
pub fn open_opcua(
    settings: &OpcuaSettings,
    _host: &super::SourceHost,
) -> Result<Box<dyn super::Source>, super::SourceError> {
    let why = "this program is built without OPC UA; `cargo build --release --features opcua` \
               builds it in (docs/connect.md)";
    Err(super::SourceError::options(settings.server.endpoint.as_ref(), why))
}

#[cfg(test)]
#[cfg(not(feature = "opcua"))]
mod tests {
    use std::sync::Arc;

    use pdm_service::clock::SystemClock;

    use super::*;
    use crate::source::{SourceHost, SourceInput};

    #[test]
    fn a_program_without_the_client_names_the_feature() {
        let server = OpcuaServer {
            endpoint: "opc.tcp://plc:4840".to_owned(),
            protection: None,
            login: None,
            user_certificate: None,
            plain_password: false,
            application_uri: "urn:x".to_owned(),
            session: "x".to_owned(),
            timeout: Duration::from_secs(1),
        };
        let content = OpcuaContent::Values { values: Vec::new(), every: Duration::from_secs(1) };
        let input = SourceInput::Opcua(Box::new(OpcuaSettings { server, content }));
        let host = SourceHost::alone(Arc::new(SystemClock), "n");
        let error = input.open_at(&host).err().expect("no client").to_string();
        assert!(error.contains("--features opcua"), "{error}");
    }
}
