//! The metrics that a Sparkplug source reads, and the possible results of a message.

use super::address::SparkplugAddress;
use super::birth::MetricRole;
use crate::source::burst::ArrayTime;

/// Which metrics are measured, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SparkplugForm {
    /// Node and device.
    pub address: SparkplugAddress,
    /// Names of the metrics, channel by channel.
    pub metrics: Vec<String>,
    /// Name of the metric with the rate, Hz.
    pub rate: Option<String>,
    /// The meaning of an array's time stamp.
    pub dated: ArrayTime,
    /// The node writes its arrays big-endian, against the specification.
    pub is_big_endian: bool,
    /// Whether the node may be asked for its births.
    pub asks_rebirth: bool,
}

impl SparkplugForm {
    pub(super) fn role(&self, name: &str) -> MetricRole {
        match self.metrics.iter().position(|metric| metric == name) {
            Some(channel) => MetricRole::Channel(channel),
            None if self.rate.as_deref() == Some(name) => MetricRole::Rate,
            None => MetricRole::Other,
        }
    }
}

/// The kind of a received message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received {
    /// It held samples.
    Samples,
    /// It held none, which is right.
    Nothing,
    /// The node or the device has gone.
    Gone(String),
}

/// A message that is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The word for it in the metric.
    pub cause: &'static str,
    /// The metric, what it holds and what was expected.
    pub why: String,
}

impl From<&str> for Refusal {
    fn from(why: &str) -> Self {
        Self::from(why.to_owned())
    }
}

impl From<String> for Refusal {
    fn from(why: String) -> Self {
        Self { cause: "form", why }
    }
}
