//! `[source.stream.json]`: where the messages of a topic hold samples, rate, time and channel.

use pdm_service::config::ConfigError;
use serde::Deserialize;

use super::live::SourceContext;
use crate::source::frames::Encoding;
use crate::source::json_burst::JsonForm;

/// `[source.stream.json]`; every value but `channels` is a JSON pointer.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JsonTable {
    /// The samples: one pointer, or several with a comma between, one for each channel.
    pub(super) samples: String,
    rate: Option<String>,
    time: Option<String>,
    unit: Option<String>,
    scale: Option<String>,
    /// `frames` or `channels`: the order of one array that holds several channels.
    layout: Option<String>,
    /// The channel of a message that holds one, and the names of the channels in their order.
    channel: Option<String>,
    #[serde(default)]
    channels: Vec<String>,
    /// The value that the messages of a burst have in common; `time` if left out.
    burst: Option<String>,
    part: Option<String>,
    parts: Option<String>,
}

impl JsonTable {
    /// The form of the messages; `encoding` is that of base64 texts.
    #[expect(clippy::too_many_lines, reason = "a list: one entry a key")]
    pub(super) fn meant(
        &self,
        context: &SourceContext<'_>,
        (encoding, channels): (Option<Encoding>, usize),
    ) -> Result<JsonForm, ConfigError> {
        let key = |name: &str| format!("{}.stream.json.{name}", context.key);
        let refuse = |name: &str, value: &str, allowed: &str| {
            context.origin.refuse(&key(name), value, allowed)
        };
        let samples: Vec<String> =
            self.samples.split(',').map(|pointer| pointer.trim().to_owned()).collect();
        let named = [
            ("rate", &self.rate),
            ("time", &self.time),
            ("unit", &self.unit),
            ("scale", &self.scale),
            ("channel", &self.channel),
            ("burst", &self.burst),
            ("part", &self.part),
            ("parts", &self.parts),
        ];
        let pointers = named.iter().filter_map(|(name, value)| Some((*name, value.as_ref()?)));
        for (name, pointer) in pointers.chain(samples.iter().map(|pointer| ("samples", pointer))) {
            if !(pointer.is_empty() || pointer.starts_with('/')) {
                return Err(refuse(name, pointer, "a JSON pointer such as \"/data/x\""));
            }
        }
        if samples.len() > 1 && (samples.len() != channels || self.channel.is_some()) {
            let allowed = "one pointer, or one for each channel and no json.channel";
            return Err(refuse("samples", &self.samples, allowed));
        }
        let part = match (&self.part, &self.parts) {
            (None, None) => None,
            (Some(part), Some(parts)) => Some((part.clone(), parts.clone())),
            (part, _) => {
                let value = if part.is_some() { "without parts" } else { "left out" };
                return Err(refuse("part", value, "part and parts together"));
            }
        };
        let is_several = part.is_some() || self.channel.is_some();
        if is_several && self.burst.is_none() && self.time.is_none() {
            let allowed = "what the messages of a burst have in common, or json.time";
            return Err(refuse("burst", "left out", allowed));
        }
        let layout = self.layout.as_deref().map(|layout| {
            let allowed = "\"frames\" (x, y, z, x, …) or \"channels\" (x, x, …, y, y, …)";
            layout.parse().map_err(|()| refuse("layout", layout, allowed))
        });
        let layout = layout.transpose()?;
        let channel = self.channel.clone().map(|pointer| (pointer, self.channels.clone()));
        let (rate, time) = (self.rate.clone(), self.time.clone());
        let (unit, scale) = (self.unit.clone(), self.scale.clone());
        let burst = self.burst.clone();
        Ok(JsonForm {
            samples,
            encoding,
            layout,
            rate,
            time,
            unit,
            scale,
            channel,
            burst,
            part,
            zone: context.zone,
        })
    }
}
