//! `[source.opcua]`: a server, how it is reached, and which of its nodes hold samples or values.

use std::path::PathBuf;
use std::time::Duration;

use pdm_service::config::ConfigError;
use pdm_service::secret::SecretSource;
use serde::Deserialize;

use super::PointSettings;
use super::file::Origin;
use super::live::{SourceContext, padded};
use super::values::{MOST_VALUES, MeaningKeys, ValueContext, check_together};
use crate::source::frames::{Encoding, FrameFormat};
use crate::source::opcua::{ArrayTime, NodeForm, NodeName, NodeValue, OpcuaContent, OpcuaSettings};
use crate::source::{DEFAULT_RATE_TOLERANCE, SourceInput};

mod server;

/// Time between two polls of values where none is configured, as for Modbus.
const DEFAULT_EVERY: Duration = Duration::from_secs(10);

/// Time without samples after which the source counts as silent where none is configured. Bursts
/// come every second to every hour, so it is to be set; ten minutes tell a server that stopped.
const DEFAULT_SILENCE: Duration = Duration::from_mins(10);

/// `[source.opcua]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OpcuaTable {
    /// `opc.tcp://HOST:PORT/PATH`
    endpoint: String,
    /// `none`, the default, or the name of a policy.
    security: Option<String>,
    /// `sign` or, the default, `sign_and_encrypt`.
    mode: Option<String>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
    server_certificate: Option<PathBuf>,
    application_uri: Option<String>,
    user: Option<String>,
    password: Option<SecretSource>,
    /// The certificate of the user, and its key, in place of user and password.
    user_certificate: Option<PathBuf>,
    user_key: Option<PathBuf>,
    /// Whether the password may travel readable.
    #[serde(default)]
    plain_password: bool,
    timeout_s: Option<f64>,
    /// The nodes of the arrays, channel by channel, for samples.
    #[serde(default)]
    samples: Vec<String>,
    /// The node with the rate, Hz.
    rate: Option<String>,
    /// `first` or `last`: the sample that an array's source time dates.
    time: Option<String>,
    silence_s: Option<f64>,
    rate_tolerance_percent: Option<f64>,
    /// The time from poll to poll, s, for values.
    every_s: Option<f64>,
    #[serde(default)]
    value: Vec<ValueTable>,
}

/// `[[source.opcua.value]]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct ValueTable {
    node: String,
    #[serde(flatten)]
    meaning: MeaningKeys,
}

/// A table's errors.
#[derive(Clone, Copy)]
struct Keys<'a> {
    origin: Origin<'a>,
    source: &'a str,
}

impl Keys<'_> {
    fn of(&self, name: &str) -> String {
        format!("{}.opcua.{name}", self.source)
    }

    fn refuse(&self, name: &str, value: impl ToString, allowed: impl Into<String>) -> ConfigError {
        self.origin.refuse(&self.of(name), value, allowed)
    }

    fn node(&self, name: &str, text: &str) -> Result<NodeName, ConfigError> {
        text.parse().map_err(|why: String| self.refuse(name, text, why))
    }

    fn seconds(
        &self,
        name: &str,
        value: Option<f64>,
        default: Duration,
        least: f64,
    ) -> Result<Duration, ConfigError> {
        self.origin.seconds(&self.of(name), value, default, least)
    }
}

impl OpcuaTable {
    /// Whether it reads samples, whose keys then mean something.
    pub(super) const fn has_samples(&self) -> bool {
        !self.samples.is_empty()
    }

    /// The server as a source of values.
    pub(super) fn of_values(
        &self,
        origin: Origin<'_>,
        source: &str,
        points: &[PointSettings],
        name: &str,
    ) -> Result<SourceInput, ConfigError> {
        let keys = Keys { origin, source };
        if self.value.is_empty() || self.value.len() > MOST_VALUES {
            let allowed = format!("samples, or 1 to {MOST_VALUES} [[source.opcua.value]]");
            return Err(keys.refuse("value", self.value.len(), allowed));
        }
        for (key, is_set) in [
            ("rate", self.rate.is_some()),
            ("time", self.time.is_some()),
            ("silence_s", self.silence_s.is_some()),
            ("rate_tolerance_percent", self.rate_tolerance_percent.is_some()),
        ] {
            if is_set {
                return Err(keys.refuse(key, "set", "only with samples"));
            }
        }
        let mut values = Vec::new();
        for (place, value) in self.value.iter().enumerate() {
            let key = keys.of(&format!("value[{place}]"));
            values.push(value.meant(&ValueContext { origin, key }, points)?);
        }
        let meanings = values.iter().map(|value| &value.meaning);
        check_together(meanings, points, (origin, &keys.of("value")))?;
        let every = keys.seconds("every_s", self.every_s, DEFAULT_EVERY, 0.1)?;
        let content = OpcuaContent::Values { values, every };
        Ok(SourceInput::Opcua(Box::new(OpcuaSettings {
            server: self.server(keys, name)?,
            content,
        })))
    }

    /// The server as a source of samples.
    pub(super) fn of_samples(
        &self,
        context: &SourceContext<'_>,
    ) -> Result<SourceInput, ConfigError> {
        let keys = Keys { origin: context.origin, source: &context.key };
        if !self.value.is_empty() {
            let allowed =
                "either samples or [[source.opcua.value]]; another source reads the other";
            return Err(keys.refuse("value", self.value.len(), allowed));
        }
        if self.every_s.is_some() {
            let allowed = "only with [[source.opcua.value]]: arrays are measured as they come";
            return Err(keys.refuse("every_s", "set", allowed));
        }
        let Some(sample_rate) = context.rate else {
            let rate = format!("{}.rate_hz", context.key);
            let allowed = "the rate of the samples, Hz";
            return Err(context.origin.refuse(&rate, "left out", allowed));
        };
        let rate_tolerance = match self.rate_tolerance_percent {
            None => DEFAULT_RATE_TOLERANCE,
            Some(percent) if percent > 0.0 && percent <= 50.0 => percent / 100.0,
            Some(percent) => {
                let allowed = "above 0 to 50 percent";
                return Err(keys.refuse("rate_tolerance_percent", percent, allowed));
            }
        };
        let channels = self.samples.len();
        if channels < context.channels {
            let allowed =
                format!("{} nodes or more: that many channels are measured", context.channels);
            return Err(keys.refuse("samples", channels, allowed));
        }
        let format = FrameFormat {
            channels,
            sample_rate,
            // the arrays bring their types along
            encoding: Encoding::F32,
            block_samples: 1,
            calibrations: padded(&context.calibrations, channels),
        };
        format.check().map_err(|error| keys.refuse("samples", channels, error.to_string()))?;
        let form = self.form(keys)?;
        let silence = keys.seconds("silence_s", self.silence_s, DEFAULT_SILENCE, 0.1)?;
        let content = OpcuaContent::Samples { form, format, rate_tolerance, silence };
        let server = self.server(keys, &context.name)?;
        Ok(SourceInput::Opcua(Box::new(OpcuaSettings { server, content })))
    }

    fn form(&self, keys: Keys<'_>) -> Result<NodeForm, ConfigError> {
        let mut nodes = Vec::new();
        for text in &self.samples {
            let node = keys.node("samples", text)?;
            if nodes.contains(&node) {
                return Err(keys.refuse("samples", text, "names of nodes, each once"));
            }
            nodes.push(node);
        }
        let rate = self.rate.as_ref().map(|text| keys.node("rate", text)).transpose()?;
        if let Some(rate) = rate.as_ref().filter(|rate| nodes.contains(rate)) {
            return Err(keys.refuse("rate", rate, "another node than those of samples"));
        }
        let dated = match self.time.as_deref() {
            None => ArrayTime::Arrival,
            Some("first") => ArrayTime::First,
            Some("last") => ArrayTime::Last,
            Some(other) => {
                let allowed = "\"first\" or \"last\", or left out: samples end when they arrive";
                return Err(keys.refuse("time", other, allowed));
            }
        };
        Ok(NodeForm { nodes, rate, dated })
    }
}

impl ValueTable {
    fn meant(
        &self,
        context: &ValueContext<'_>,
        points: &[PointSettings],
    ) -> Result<NodeValue, ConfigError> {
        let meaning = self.meaning.meant(context, points)?;
        let node =
            self.node.parse().map_err(|why: String| context.refuse("node", &self.node, &why))?;
        let scale = self.meaning.scale(context)?;
        // the server may state the unit; where the configuration does, it has to be the figure's
        if self.meaning.unit.is_some() {
            self.meaning.conversion(context, &meaning.figure, scale.unwrap_or(1.0))?;
        }
        Ok(NodeValue {
            meaning,
            node,
            scale: scale.unwrap_or(1.0),
            unit: self.meaning.unit.clone(),
        })
    }
}
