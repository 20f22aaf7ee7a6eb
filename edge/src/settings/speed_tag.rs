//! `[source.speed_tag]`: the shaft speed from an MQTT topic. The keys of its broker are those of
//! `[source.stream]`.

use std::time::Duration;

use pdm_service::broker::TlsFiles;
use pdm_service::config::ConfigError;
use pdm_service::secret::SecretSource;
use serde::Deserialize;

use super::file::Origin;
use super::topic::TopicKeys;
use super::values::SPEED_RANGE;
use crate::source::shaft_speed::{USUAL_SPEEDS, speed_shares};
use crate::source::speed_tag::SpeedTagSettings;

/// Age up to which a value is used where none is configured: drives publish their speed every
/// second to ten seconds.
const DEFAULT_AGE: Duration = Duration::from_secs(30);

/// `[source.speed_tag]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SpeedTagTable {
    /// Broker and topic, such as `mqtt://HOST:PORT/TOPIC`.
    from: String,
    /// JSON pointer of the value; the whole payload if left out.
    #[serde(default)]
    pointer: String,
    /// `rpm` or `hz`.
    unit: Option<SpeedUnit>,
    max_age_s: Option<f64>,
    /// JSON pointer of the time of the value.
    time: Option<String>,
    /// Speeds that the shaft can have, percent of `rpm`.
    range_percent: Option<[f64; 2]>,
    client_id: Option<String>,
    user: Option<String>,
    password: Option<SecretSource>,
    tls: Option<TlsFiles>,
}

/// The unit of a tag.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SpeedUnit {
    Rpm,
    Hz,
}

impl SpeedTagTable {
    /// The tag of the source with this key and name.
    pub(super) fn meant(
        &self,
        origin: Origin<'_>,
        source: &str,
        name: &str,
    ) -> Result<SpeedTagSettings, ConfigError> {
        let time = self.time.as_deref().unwrap_or("");
        for (name, pointer) in [("pointer", self.pointer.as_str()), ("time", time)] {
            if !(pointer.is_empty() || pointer.starts_with('/')) {
                let allowed = "a JSON pointer such as \"/value\", or nothing";
                let key = format!("{source}.speed_tag.{name}");
                return Err(origin.refuse(&key, pointer, allowed));
            }
        }
        let speeds = match self.range_percent {
            None => USUAL_SPEEDS,
            Some(percent) => speed_shares(percent).ok_or_else(|| {
                let key = format!("{source}.speed_tag.range_percent");
                origin.refuse(&key, format!("{percent:?}"), SPEED_RANGE)
            })?,
        };
        let key = format!("{source}.speed_tag.max_age_s");
        let max_age = origin.seconds(&key, self.max_age_s, DEFAULT_AGE, 0.1)?;
        let keys = TopicKeys {
            table: "speed_tag",
            from: &self.from,
            client_id: self.client_id.as_deref(),
            user: self.user.as_deref(),
            password: self.password.as_ref(),
            tls: self.tls.as_ref(),
        };
        let client_id = format!("{}-{name}-speed", origin.gateway);
        Ok(SpeedTagSettings {
            topic: keys.topic(origin, source, client_id, Duration::ZERO)?,
            pointer: self.pointer.clone(),
            rpm_per_unit: match self.unit {
                None | Some(SpeedUnit::Rpm) => 1.0,
                Some(SpeedUnit::Hz) => 60.0,
            },
            max_age,
            time: self.time.clone(),
            speeds,
        })
    }
}
