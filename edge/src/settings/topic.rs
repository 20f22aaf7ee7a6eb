//! A stream or a tag from an MQTT topic. The keys of its broker are those of `[broker]`, with the
//! same rules.

use std::time::Duration;

use pdm_service::broker::{Reach, ReachFile, TlsFiles};
use pdm_service::config::ConfigError;
use pdm_service::secret::SecretSource;

use super::file::Origin;
use super::live::SourceContext;
use crate::source::SourceInput;
use crate::source::decoder::StreamFormat;
use crate::source::mqtt::{MessageForm, TopicSettings};

const FROM: &str = "mqtt://HOST:PORT/TOPIC, or mqtts:// for TLS";

/// The keys of `[source.stream]` or `[source.speed_tag]` that apply to a topic.
pub(super) struct TopicKeys<'a> {
    /// The table: `stream` or `speed_tag`.
    pub(super) table: &'static str,
    pub(super) from: &'a str,
    pub(super) client_id: Option<&'a str>,
    pub(super) user: Option<&'a str>,
    pub(super) password: Option<&'a SecretSource>,
    pub(super) tls: Option<&'a TlsFiles>,
}

impl TopicKeys<'_> {
    /// The topic as a source.
    pub(super) fn meant(
        &self,
        context: &SourceContext<'_>,
        format: StreamFormat,
        messages: MessageForm,
        (silence, silence_by_pauses): (Duration, bool),
    ) -> Result<SourceInput, ConfigError> {
        let client_id = format!("{}-{}", context.origin.gateway, context.name);
        let mut topic = self.topic(context.origin, &context.key, client_id, silence)?;
        if let MessageForm::Sparkplug(form) = &messages {
            topic.topic = form.address.filter();
        }
        topic.silence_by_pauses = silence_by_pauses && !matches!(messages, MessageForm::Frames);
        topic.keeps_session = match &messages {
            MessageForm::Json(form) => form.time.is_some(),
            MessageForm::Frames | MessageForm::Sparkplug(_) => false,
        };
        Ok(SourceInput::Topic { topic: Box::new(topic), format, messages })
    }

    /// The topic with its broker; `key` is that of the source.
    pub(super) fn topic(
        &self,
        origin: Origin<'_>,
        key: &str,
        client_id: String,
        silence: Duration,
    ) -> Result<TopicSettings, ConfigError> {
        let (reach, topic) = self.reach(origin, key)?;
        Ok(TopicSettings {
            address: reach.addresses[0].clone(),
            topic,
            client_id: self.client_id.map_or(client_id, str::to_owned),
            login: reach.login,
            tls: reach.tls,
            silence,
            silence_by_pauses: false,
            keeps_session: false,
        })
    }

    /// The broker and the topic.
    fn reach(&self, origin: Origin<'_>, source: &str) -> Result<(Reach, String), ConfigError> {
        let table = self.table;
        let key = |name: &str| format!("{source}.{table}.{name}");
        let refused = || origin.refuse(&key("from"), self.from, FROM);
        let (is_protected, rest) = match self.from.split_once("://") {
            Some(("mqtts", rest)) => (true, rest),
            Some(("mqtt", rest)) => (false, rest),
            _ => return Err(refused()),
        };
        if is_protected != self.tls.is_some() {
            let (value, allowed) = if is_protected {
                ("left out", format!("a table [source.{table}.tls] with ca, for mqtts://"))
            } else {
                ("set", "only with mqtts://".to_owned())
            };
            return Err(origin.refuse(&key("tls"), value, allowed));
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
        let reach = keys.meant(origin.folder(), |broker_key, value, allowed| {
            match broker_key.strip_prefix("broker.") {
                Some("addresses") | None => refused(),
                Some(name) => {
                    let allowed = allowed.replace("broker.", &key(""));
                    origin.refuse(&key(name), value, allowed)
                }
            }
        })?;
        Ok((reach, topic.to_owned()))
    }
}
