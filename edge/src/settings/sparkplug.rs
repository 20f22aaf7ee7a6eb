//! `[source.stream.sparkplug]`: which metrics of a Sparkplug B device are measured.

use pdm_service::config::ConfigError;
use serde::Deserialize;

use super::live::SourceContext;
use crate::source::sparkplug::{ArrayTime, SparkplugAddress, SparkplugForm};

/// `[source.stream.sparkplug]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SparkplugTable {
    /// Names of the metrics, channel by channel.
    metrics: Vec<String>,
    /// Name of the metric with the rate, Hz.
    rate: Option<String>,
    /// `first` or `last`: the sample that an array's time stamp dates.
    time: Option<String>,
    /// `little`, the default, or `big`.
    byte_order: Option<String>,
    /// Whether the node may be asked for its births; true if left out.
    rebirth: Option<bool>,
}

impl SparkplugTable {
    /// The number of channels.
    pub(super) fn channels(&self) -> usize {
        self.metrics.len()
    }

    /// The form of the messages of `from`.
    pub(super) fn meant(
        &self,
        context: &SourceContext<'_>,
        from: &str,
        channels: usize,
    ) -> Result<SparkplugForm, ConfigError> {
        let key = |name: &str| format!("{}.stream.sparkplug.{name}", context.key);
        let refuse = |name: &str, value: &str, allowed: &str| {
            context.origin.refuse(&key(name), value, allowed)
        };
        let topic = from.split("://").nth(1).and_then(|rest| rest.split_once('/'));
        let address =
            SparkplugAddress::parse(topic.map_or("", |(_, topic)| topic)).map_err(|allowed| {
                let key = format!("{}.stream.from", context.key);
                let allowed = format!("mqtt://HOST:PORT/{allowed}");
                context.origin.refuse(&key, from, allowed)
            })?;
        let names = self.metrics.join(", ");
        let is_twice = |(at, name): (usize, &String)| self.metrics[..at].contains(name);
        if self.metrics.iter().any(String::is_empty)
            || self.metrics.iter().enumerate().any(is_twice)
        {
            return Err(refuse("metrics", &names, "names of metrics, each once"));
        }
        if self.metrics.len() != channels {
            let allowed = format!("{channels} names, one for each channel");
            return Err(refuse("metrics", &names, &allowed));
        }
        if let Some(rate) = self.rate.as_ref().filter(|rate| self.metrics.contains(rate)) {
            return Err(refuse("rate", rate, "the name of another metric than those measured"));
        }
        let dated = match self.time.as_deref() {
            None => ArrayTime::Arrival,
            Some("first") => ArrayTime::First,
            Some("last") => ArrayTime::Last,
            Some(other) => {
                let allowed = "\"first\" or \"last\", or left out: samples end when they arrive";
                return Err(refuse("time", other, allowed));
            }
        };
        let is_big_endian = match self.byte_order.as_deref() {
            None | Some("little") => false,
            Some("big") => true,
            Some(other) => return Err(refuse("byte_order", other, "\"little\" or \"big\"")),
        };
        Ok(SparkplugForm {
            address,
            metrics: self.metrics.clone(),
            rate: self.rate.clone(),
            dated,
            is_big_endian,
            asks_rebirth: self.rebirth.unwrap_or(true),
        })
    }
}
