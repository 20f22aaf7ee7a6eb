//! The settings for reaching a server: address, protection, login.

use std::time::Duration;

use pdm_service::broker::Login;
use pdm_service::config::ConfigError;

use super::{Keys, OpcuaTable};
use crate::source::opcua::{
    OpcuaCertificates, OpcuaServer, Protection, SecurityPolicy, UserCertificate,
};

/// Wait for an answer where none is configured: a controller that is busy answers after a second.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);

/// Port where the URL has none (IANA).
const DEFAULT_PORT: u16 = 4840;

impl OpcuaTable {
    pub(super) fn server(&self, keys: Keys<'_>, name: &str) -> Result<OpcuaServer, ConfigError> {
        let refused =
            || keys.refuse("endpoint", &self.endpoint, "opc.tcp://HOST, opc.tcp://HOST:PORT/PATH");
        let rest = self.endpoint.strip_prefix("opc.tcp://").ok_or_else(refused)?;
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let has_port = authority.rsplit_once(':').map(|(_, port)| port);
        let has_port = has_port.filter(|port| !port.ends_with(']'));
        if authority.is_empty()
            || authority.starts_with(':')
            || authority.contains(['@', '?', '#', ' '])
            || has_port.is_some_and(|port| port.parse::<u16>().is_err())
        {
            return Err(refused());
        }
        let port = if has_port.is_some() { String::new() } else { format!(":{DEFAULT_PORT}") };
        let gateway = keys.origin.gateway;
        Ok(OpcuaServer {
            endpoint: format!("opc.tcp://{authority}{port}{path}"),
            protection: self.protection(keys)?,
            login: self.login(keys)?,
            user_certificate: self.user_certificate(keys)?,
            plain_password: self.plain_password,
            application_uri: match &self.application_uri {
                Some(uri) if uri.is_empty() => {
                    return Err(keys.refuse("application_uri", uri, "the URI of the certificate"));
                }
                Some(uri) => uri.clone(),
                None => format!("urn:pdm-edge:{gateway}"),
            },
            session: format!("{gateway}/{name}"),
            timeout: keys.seconds("timeout_s", self.timeout_s, DEFAULT_TIMEOUT, 0.1)?,
        })
    }

    fn login(&self, keys: Keys<'_>) -> Result<Option<Login>, ConfigError> {
        match (&self.user, &self.password) {
            (None, None) if self.plain_password => {
                Err(keys.refuse("plain_password", true, "only with user and password"))
            }
            (None, None) => Ok(None),
            (Some(user), Some(password)) => {
                let password = password.clone().rooted(keys.origin.folder());
                Ok(Some(Login { user: user.clone(), password }))
            }
            (Some(user), None) => {
                Err(keys.refuse("user", user, format!("a user with {}", keys.of("password"))))
            }
            (None, Some(_)) => {
                Err(keys.refuse("password", "set", format!("only with {}", keys.of("user"))))
            }
        }
    }

    /// The certificate that the user logs in with.
    fn user_certificate(&self, keys: Keys<'_>) -> Result<Option<UserCertificate>, ConfigError> {
        let (certificate, key) = match (&self.user_certificate, &self.user_key) {
            (None, None) => return Ok(None),
            (Some(certificate), Some(key)) => (certificate, key),
            (Some(_), None) => {
                return Err(keys.refuse("user_key", "left out", "the key of user_certificate"));
            }
            (None, Some(_)) => {
                let allowed = format!("only with {}", keys.of("user_certificate"));
                return Err(keys.refuse("user_key", "set", allowed));
            }
        };
        if self.user.is_some() {
            let allowed = "one of user (with password) and user_certificate";
            return Err(keys.refuse("user_certificate", "set", allowed));
        }
        if matches!(self.security.as_deref(), None | Some("none" | "None")) {
            let allowed = "only with security: it signs with the server's certificate";
            return Err(keys.refuse("user_certificate", "set", allowed));
        }
        let (certificate, key) = (keys.origin.rooted(certificate), keys.origin.rooted(key));
        Ok(Some(UserCertificate { certificate, key }))
    }

    fn protection(&self, keys: Keys<'_>) -> Result<Option<Protection>, ConfigError> {
        let files = [
            ("certificate", &self.certificate),
            ("key", &self.key),
            ("server_certificate", &self.server_certificate),
        ];
        let names: Vec<&str> = SecurityPolicy::NAMES.iter().map(|(name, _)| *name).collect();
        let policy = match self.security.as_deref() {
            None | Some("none" | "None") => {
                if let Some((name, _)) = files.iter().find(|(_, file)| file.is_some()) {
                    let allowed = format!("only with security, one of {}", names.join(", "));
                    return Err(keys.refuse(name, "set", allowed));
                }
                if let Some(mode) = &self.mode {
                    return Err(keys.refuse("mode", mode, "only with security"));
                }
                return Ok(None);
            }
            Some(name) => SecurityPolicy::NAMES
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, policy)| *policy)
                .ok_or_else(|| {
                    let allowed = format!("none, {}", names.join(", "));
                    keys.refuse("security", name, allowed)
                })?,
        };
        let [Some(certificate), Some(key), Some(server)] = files.map(|(_, file)| file.as_ref())
        else {
            let (name, _) = files.iter().find(|(_, file)| file.is_none()).unwrap_or(&files[0]);
            let allowed = "a file, with security: certificate and key of this gateway, and \
                           server_certificate, the one that is trusted (DER or PEM)";
            return Err(keys.refuse(name, "left out", allowed));
        };
        let encrypts = match self.mode.as_deref() {
            None | Some("sign_and_encrypt") => true,
            Some("sign") => false,
            Some(other) => {
                return Err(keys.refuse("mode", other, "\"sign\" or \"sign_and_encrypt\""));
            }
        };
        Ok(Some(Protection {
            policy,
            encrypts,
            certificates: OpcuaCertificates {
                certificate: keys.origin.rooted(certificate),
                key: keys.origin.rooted(key),
                server: keys.origin.rooted(server),
            },
        }))
    }
}
