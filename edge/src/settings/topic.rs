//! A stream out of an MQTT topic: how its broker is reached, by the same keys and rules as
//! `[broker]`.

use std::sync::Arc;
use std::time::Duration;

use pdm_service::broker::{Login, Reach, ReachFile, TlsFiles};
use pdm_service::clock::SystemClock;
use pdm_service::config::ConfigError;
use pdm_service::secret::SecretSource;

use super::Opener;
use super::live::Around;
use crate::source::SourceError;
use crate::source::frames::FrameFormat;
use crate::source::mqtt::{TopicSettings, open_topic};

const FROM: &str = "mqtt://HOST:PORT/TOPIC, or mqtts:// for TLS";

/// The keys of `[source.stream]` that a topic has.
pub(super) struct TopicKeys<'a> {
    pub(super) from: &'a str,
    pub(super) client_id: Option<&'a str>,
    pub(super) user: Option<&'a str>,
    pub(super) password: Option<&'a SecretSource>,
    pub(super) tls: Option<&'a TlsFiles>,
}

impl TopicKeys<'_> {
    /// How to open the topic. Password and certificates are read at every opening, so they can be
    /// renewed.
    pub(super) fn meant(
        &self,
        around: &Around<'_>,
        format: FrameFormat,
        silence: Duration,
    ) -> Result<Opener, ConfigError> {
        let (reach, topic) = self.reach(around)?;
        let settings = TopicSettings {
            host: reach.addresses[0].host.clone(),
            port: reach.addresses[0].port,
            topic,
            client_id: self.client_id.map_or_else(|| format!("pdm-{}", around.name), str::to_owned),
            credentials: None,
            tls: None,
            silence,
        };
        Ok(Arc::new(move || {
            let settings = TopicSettings {
                credentials: reach.login.as_ref().map(credentials).transpose()?,
                tls: reach.tls.as_ref().map(certificates).transpose()?,
                ..settings.clone()
            };
            open_topic(&settings, &format, Arc::new(SystemClock))
        }))
    }

    fn reach(&self, around: &Around<'_>) -> Result<(Reach, String), ConfigError> {
        let key = |name: &str| format!("{}.stream.{name}", around.key);
        let refused = || around.origin.refuse(&key("from"), self.from, FROM);
        let (is_protected, rest) = match self.from.split_once("://") {
            Some(("mqtts", rest)) => (true, rest),
            Some(("mqtt", rest)) => (false, rest),
            _ => return Err(refused()),
        };
        if is_protected != self.tls.is_some() {
            let (value, allowed) = if is_protected {
                ("left out", "a table [source.stream.tls] with ca, for mqtts://")
            } else {
                ("set", "only with mqtts://")
            };
            return Err(around.origin.refuse(&key("tls"), value, allowed));
        }
        let (server, topic) = rest.split_once('/').ok_or_else(refused)?;
        if topic.is_empty() {
            return Err(refused());
        }
        let keys = ReachFile {
            addresses: Some(vec![server.to_owned()]),
            user: self.user.map(str::to_owned),
            password: self.password.cloned(),
            tls: self.tls.cloned(),
        };
        let reach = keys.meant(around.origin.folder(), |broker_key, value, allowed| {
            match broker_key.strip_prefix("broker.") {
                Some("addresses") | None => refused(),
                Some(name) => {
                    let allowed = allowed.replace("broker.", &key(""));
                    around.origin.refuse(&key(name), value, allowed)
                }
            }
        })?;
        Ok((reach, topic.to_owned()))
    }
}

fn credentials(login: &Login) -> Result<(String, String), SourceError> {
    let password = login.password.fetch().map_err(|error| {
        SourceError::options("password of the stream".as_ref(), error.to_string())
    })?;
    Ok((login.user.clone(), password.expose().to_owned()))
}

fn certificates(files: &TlsFiles) -> Result<Arc<rustls::ClientConfig>, SourceError> {
    let config = files.client_config().map_err(|error| {
        SourceError::options("certificates of the stream".as_ref(), error.to_string())
    })?;
    Ok(Arc::new(config))
}
