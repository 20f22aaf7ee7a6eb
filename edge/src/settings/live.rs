//! `[source.stream]`: the keys as typed, and the sources that they describe.

use std::time::Duration;

use pdm_service::broker::TlsFiles;
use pdm_service::config::ConfigError;
use pdm_service::secret::SecretSource;
use pdm_shared::units::SampleRate;
use serde::Deserialize;

use super::file::Origin;
use super::json::JsonTable;
use super::sparkplug::SparkplugTable;
use super::topic::TopicKeys;
use crate::source::decoder::{StreamForm, StreamFormat};
use crate::source::frames::{Encoding, FrameFormat};
use crate::source::listen::ListenBy;
use crate::source::mqtt::MessageForm;
use crate::source::{Calibration, DEFAULT_RATE_TOLERANCE, SourceInput};
use crate::tabular::LocalZone;

/// Length of a block where none is configured, s: one window of the usual length.
const DEFAULT_BLOCK_S: f64 = 1.0;

/// Silence after which a connection counts as lost where none is configured: ten blocks of the
/// default length, so a pause of the network alone does not end the connection.
const DEFAULT_SILENCE: Duration = Duration::from_secs(10);

/// The values that `from` may have.
const FROM: &str = "\"stdin\", \"tcp://HOST:PORT\", \"tcp-listen://HOST:PORT\", \
     \"udp://HOST:PORT\", \"mqtt://HOST:PORT/TOPIC\" or \"mqtts://HOST:PORT/TOPIC\"";

/// `[source.stream]`: interleaved little-endian frames.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StreamTable {
    /// Origin of the frames, such as `tcp://HOST:PORT`.
    from: String,
    /// `raw`, the default, or `pdm.frames/1`.
    format: Option<String>,
    /// `i16`, `i24`, `i32` or `f32`, with `be` behind for big-endian; not for `pdm.frames/1`.
    encoding: Option<String>,
    /// Samples of a frame; the highest measured channel plus one if left out.
    channels: Option<usize>,
    block_s: Option<f64>,
    silence_s: Option<f64>,
    rate_tolerance_percent: Option<f64>,
    /// Where samples stand in messages of JSON; MQTT only.
    json: Option<JsonTable>,
    /// Which metrics of Sparkplug B are measured; MQTT only.
    sparkplug: Option<SparkplugTable>,
    /// The keys from here on are for MQTT only.
    client_id: Option<String>,
    user: Option<String>,
    password: Option<SecretSource>,
    tls: Option<TlsFiles>,
}

/// The values of the `[[source]]` that the table belongs to.
pub(super) struct SourceContext<'a> {
    pub(super) origin: Origin<'a>,
    /// Key of the source, such as `source[0]`.
    pub(super) key: String,
    pub(super) name: String,
    pub(super) rate: Option<SampleRate>,
    /// Time from one measured window to the next.
    pub(super) every: Option<Duration>,
    pub(super) calibrations: Vec<Calibration>,
    /// The highest measured channel plus one.
    pub(super) channels: usize,
    /// Zone of times that state none.
    pub(super) zone: LocalZone,
}

impl StreamTable {
    /// The stream as a source.
    pub(super) fn meant(&self, context: SourceContext<'_>) -> Result<SourceInput, ConfigError> {
        let key = |name: &str| format!("{}.stream.{name}", context.key);
        let format = self.format(&context)?;
        let silence = self.silence_s;
        let silence = context.origin.seconds(&key("silence_s"), silence, DEFAULT_SILENCE, 0.01)?;
        let refused = |allowed: &str| context.origin.refuse(&key("from"), &self.from, allowed);
        if let Some(json) = self.json.as_ref().filter(|_| !self.from.starts_with("mqtt")) {
            let allowed = "only with mqtt:// or mqtts://";
            return Err(context.origin.refuse(&key("json"), &json.samples, allowed));
        }
        if self.sparkplug.is_some() && !self.from.starts_with("mqtt") {
            let allowed = "only with mqtt:// or mqtts://";
            return Err(context.origin.refuse(&key("sparkplug"), "set", allowed));
        }
        if self.from == "stdin" {
            return Ok(SourceInput::StandardInput(format));
        }
        for (scheme, by) in [("tcp-listen://", ListenBy::Tcp), ("udp://", ListenBy::Udp)] {
            if let Some(address) = self.from.strip_prefix(scheme) {
                let address = address.to_owned();
                return Ok(SourceInput::Listen { by, address, format, silence });
            }
        }
        if let Some(address) = self.from.strip_prefix("tcp://") {
            let address = address.to_owned();
            return Ok(SourceInput::Tcp { address, format, silence });
        }
        if !self.from.starts_with("mqtt") {
            return Err(refused(FROM));
        }
        let topic = TopicKeys {
            table: "stream",
            from: &self.from,
            client_id: self.client_id.as_deref(),
            user: self.user.as_deref(),
            password: self.password.as_ref(),
            tls: self.tls.as_ref(),
        };
        let messages = self.messages(&context, format.frames.channels)?;
        // a source that is measured each minute is not silent after ten seconds
        let every = context.every.map_or(Duration::ZERO, |every| every * 3);
        let silence = match self.silence_s {
            None => (silence.max(every), true),
            Some(_) => (silence, false),
        };
        topic.meant(&context, format, messages, silence)
    }

    /// Whether nothing beside the configuration can state the unit of the samples.
    pub(super) fn is_of_raw_frames(&self) -> bool {
        let is_framed = self.format.as_deref() == Some("pdm.frames/1");
        !is_framed && self.json.is_none() && self.sparkplug.is_none()
    }

    /// Whether it brings messages of JSON.
    pub(super) const fn is_of_json(&self) -> bool {
        self.json.is_some()
    }

    /// Returns the form of a topic's messages.
    fn messages(
        &self,
        context: &SourceContext<'_>,
        channels: usize,
    ) -> Result<MessageForm, ConfigError> {
        match (&self.json, &self.sparkplug) {
            (None, None) => Ok(MessageForm::Frames),
            (Some(json), None) => json
                .meant(context, (self.encoding(), channels))
                .map(Box::new)
                .map(MessageForm::Json),
            (None, Some(sparkplug)) => sparkplug
                .meant(context, &self.from, channels)
                .map(Box::new)
                .map(MessageForm::Sparkplug),
            (Some(_), Some(_)) => {
                let key = format!("{}.stream.sparkplug", context.key);
                Err(context.origin.refuse(&key, "set", "one of json and sparkplug"))
            }
        }
    }

    fn encoding(&self) -> Option<Encoding> {
        self.encoding.as_ref().and_then(|name| name.parse().ok())
    }

    fn form(&self, context: &SourceContext<'_>) -> Result<StreamForm, ConfigError> {
        let key = |name: &str| format!("{}.stream.{name}", context.key);
        let form = match self.format.as_deref() {
            None | Some("raw") => StreamForm::Raw,
            Some("pdm.frames/1") => StreamForm::Framed,
            Some(other) => {
                let allowed = "\"raw\" or \"pdm.frames/1\"";
                return Err(context.origin.refuse(&key("format"), other, allowed));
            }
        };
        match (&self.encoding, form) {
            (None, StreamForm::Raw) if self.json.is_none() && self.sparkplug.is_none() => {
                let allowed = format!("one of {}", encodings());
                Err(context.origin.refuse(&key("encoding"), "left out", allowed))
            }
            (Some(encoding), StreamForm::Framed) => {
                let allowed = "nothing: the blocks of pdm.frames/1 state theirs";
                Err(context.origin.refuse(&key("encoding"), encoding, allowed))
            }
            (Some(encoding), StreamForm::Raw) if self.sparkplug.is_some() => {
                let allowed = "nothing: the births of Sparkplug B state the types";
                Err(context.origin.refuse(&key("encoding"), encoding, allowed))
            }
            (_, StreamForm::Framed) if self.sparkplug.is_some() => {
                Err(context.origin.refuse(&key("format"), "pdm.frames/1", "nothing with sparkplug"))
            }
            _ => Ok(form),
        }
    }

    fn format(&self, context: &SourceContext<'_>) -> Result<StreamFormat, ConfigError> {
        let form = self.form(context)?;
        let key = format!("{}.stream.rate_tolerance_percent", context.key);
        let rate_tolerance = match self.rate_tolerance_percent {
            None => DEFAULT_RATE_TOLERANCE,
            Some(percent) if percent > 0.0 && percent <= 50.0 => percent / 100.0,
            Some(percent) => {
                return Err(context.origin.refuse(&key, percent, "above 0 to 50 percent"));
            }
        };
        self.frames(context).map(|frames| StreamFormat { frames, form, rate_tolerance })
    }

    fn frames(&self, context: &SourceContext<'_>) -> Result<FrameFormat, ConfigError> {
        let key = |name: &str| format!("{}.stream.{name}", context.key);
        let Some(sample_rate) = context.rate else {
            let rate = format!("{}.rate_hz", context.key);
            return Err(context.origin.refuse(&rate, "left out", "the rate of the stream, Hz"));
        };
        let encoding = match &self.encoding {
            // the blocks or messages bring theirs along
            None => Encoding::F32,
            Some(name) => name.parse().map_err(|_unknown: String| {
                let allowed = format!("one of {}", encodings());
                context.origin.refuse(&key("encoding"), name, allowed)
            })?,
        };
        let block_s = self.block_s.unwrap_or(DEFAULT_BLOCK_S);
        let metrics = self.sparkplug.as_ref().map(SparkplugTable::channels);
        let channels = self.channels.or(metrics).unwrap_or(context.channels);
        let format = FrameFormat {
            channels,
            sample_rate,
            encoding,
            block_samples: (block_s * sample_rate.get()).round().max(0.0) as usize,
            calibrations: padded(&context.calibrations, channels),
        };
        format.check().map_err(|error| {
            context.origin.refuse(&key("channels or block_s"), "out of range", error.to_string())
        })?;
        if format.channels < context.channels {
            let allowed = format!("{} or more: that many are measured", context.channels);
            return Err(context.origin.refuse(&key("channels"), format.channels, allowed));
        }
        Ok(format)
    }
}

/// The names of the encodings.
fn encodings() -> String {
    let names: Vec<String> =
        Encoding::NAMES.iter().map(|(name, _)| format!("\"{name}\"")).collect();
    names.join(", ")
}

/// One calibration for each channel of the stream, if the channels differ.
pub(super) fn padded(calibrations: &[Calibration], channels: usize) -> Vec<Calibration> {
    match calibrations {
        [] | [_] => calibrations.to_vec(),
        many => {
            let mut all = many.to_vec();
            all.resize(channels, Calibration::default());
            all
        }
    }
}

#[cfg(test)]
mod tests;
