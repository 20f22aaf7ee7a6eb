//! `edge.toml`: the keys as typed, and the settings that they describe.
//!
//! Relative paths start at the folder of the file. Every error names file, line, key, value and the
//! allowed values; an unknown key is an error.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pdm_service::broker::{Reach, ReachFile, TlsFiles};
use pdm_service::config::{self, ConfigError};
use pdm_service::secret::SecretSource;
use pdm_service::telemetry::LogFormat;
use pdm_shared::id::{GatewayId, SiteId};
use pdm_shared::topic::Prefix;
use serde::Deserialize;

use super::{
    AdminSettings, BrokerSettings, DEFAULT_GRACE, DrainOrder, EdgeSettings, Protocol,
    SourceSettings, capture, lines, source,
};
use crate::catalogue::Catalogue;
use crate::spool::{Limits, Policy, SpoolSettings};

/// `[log]`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogSettings {
    /// Text for people, or JSON for collectors.
    pub format: LogFormat,
    /// Filter, such as `info,pdm_edge=debug`.
    pub filter: String,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self { format: LogFormat::Text, filter: "info".to_owned() }
    }
}

/// The keys of the whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    gateway_id: GatewayId,
    site: SiteId,
    #[serde(default)]
    prefix: Prefix,
    #[serde(default)]
    shutdown_grace_s: Option<f64>,
    /// A catalogue of bearings that is added to the built-in one.
    #[serde(default)]
    catalogue: Option<PathBuf>,
    #[serde(default)]
    broker: Broker,
    spool: SpoolTable,
    #[serde(default)]
    source: Vec<source::SourceTable>,
    #[serde(default)]
    admin: Option<Admin>,
    #[serde(default)]
    capture: Option<capture::CaptureTable>,
    #[serde(default)]
    log: LogSettings,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Broker {
    addresses: Option<Vec<String>>,
    protocol: Protocol,
    client_id: Option<String>,
    user: Option<String>,
    password: Option<SecretSource>,
    tls: Option<TlsFiles>,
    keep_alive_s: Option<f64>,
    session_expiry_s: Option<f64>,
    max_packet_bytes: Option<u32>,
    max_in_flight: Option<u16>,
    gateway_in_topic: Option<bool>,
    drain_order: DrainOrder,
    drain_per_s: Option<u32>,
    late_after_s: Option<f64>,
    reconnect_min_s: Option<f64>,
    reconnect_max_s: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SpoolTable {
    path: PathBuf,
    #[serde(default)]
    max_bytes: Option<u64>,
    #[serde(default)]
    max_age_h: Option<f64>,
    #[serde(default)]
    policy: Policy,
    #[serde(default)]
    await_receipt: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Admin {
    listen: SocketAddr,
    #[serde(default)]
    token: Option<SecretSource>,
}

/// The file that values come from, for errors about them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin<'a> {
    pub(super) path: &'a Path,
    pub(super) text: &'a str,
    pub(super) gateway: &'a GatewayId,
}

impl Origin<'_> {
    /// The error for a value that its key does not allow, with the line of the key.
    pub(super) fn refuse(
        &self,
        key: &str,
        value: impl ToString,
        allowed: impl Into<String>,
    ) -> ConfigError {
        let key = match lines::line_of(self.text, key) {
            Some(line) => format!("{key} (line {line})"),
            None => key.to_owned(),
        };
        ConfigError::value(self.path, key, value, allowed)
    }

    /// A path of the configuration, which starts at the folder of the file.
    pub(super) fn rooted(&self, path: &Path) -> PathBuf {
        self.folder().join(path)
    }

    /// The folder of the file, at which relative paths start.
    pub(super) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// A number of seconds, `least` or more.
    pub(super) fn seconds(
        &self,
        key: &str,
        value: Option<f64>,
        default: Duration,
        least: f64,
    ) -> Result<Duration, ConfigError> {
        let Some(seconds) = value else { return Ok(default) };
        match Duration::try_from_secs_f64(seconds) {
            Ok(duration) if seconds >= least => Ok(duration),
            _ => Err(self.refuse(key, seconds, format!("seconds, {least} or more"))),
        }
    }
}

/// Reads `edge.toml`.
///
/// # Errors
/// [`ConfigError`] with file, line, key, value and the allowed values.
pub fn read_settings(path: &Path) -> Result<(EdgeSettings, LogSettings), ConfigError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| ConfigError::Unreadable { path: path.to_owned(), source })?;
    parse(path, &text)
}

/// Reads `text` as the content of the file `path`.
///
/// # Errors
/// As [`read`].
pub fn parse(path: &Path, text: &str) -> Result<(EdgeSettings, LogSettings), ConfigError> {
    let file: File = config::parse(path, text)?;
    let origin = Origin { path, text, gateway: &file.gateway_id };
    let catalogue = match &file.catalogue {
        Some(own) => Catalogue::with(&origin.rooted(own))?,
        None => Catalogue::built_in(),
    };
    let mut names = HashSet::new();
    let mut sources = Vec::new();
    for (index, table) in file.source.into_iter().enumerate() {
        let key = format!("source[{index}].name");
        if !names.insert(table.name.clone()) {
            return Err(origin.refuse(&key, &table.name, "a name that no other source has"));
        }
        sources.push(table.meant(origin, index, &catalogue)?);
    }
    refuse_shared_points(origin, &sources)?;
    let spool = file.spool.meant(origin)?;
    let capture = file.capture.map(|table| table.meant(origin, &spool.path)).transpose()?;
    let settings = EdgeSettings {
        gateway: file.gateway_id.clone(),
        site: file.site,
        prefix: file.prefix,
        broker: file.broker.meant(origin)?,
        spool,
        sources,
        admin: file.admin.map(|admin| AdminSettings { listen: admin.listen, token: admin.token }),
        capture,
        shutdown_grace: origin.seconds(
            "shutdown_grace_s",
            file.shutdown_grace_s,
            DEFAULT_GRACE,
            0.0,
        )?,
        until_done: false,
    };
    if let Some(admin) = &settings.admin
        && admin.token.is_none()
        && !admin.listen.ip().is_loopback()
    {
        let allowed = "a loopback address, or any with admin.token set";
        return Err(origin.refuse("admin.listen", admin.listen, allowed));
    }
    Ok((settings, file.log))
}

/// Refuses two channels that name one measuring point: their windows would be one history.
fn refuse_shared_points(origin: Origin<'_>, sources: &[SourceSettings]) -> Result<(), ConfigError> {
    let mut known = HashMap::new();
    for (index, source) in sources.iter().enumerate() {
        for (place, point) in source.points.iter().enumerate() {
            let key = format!("source[{index}].channel[{place}].measuring_point");
            let name = (&point.equipment, &point.bearing, &point.measuring_point);
            let Some(before) = known.insert(name, key.clone()) else { continue };
            let line = lines::line_of(origin.text, &before);
            let line = line.map_or_else(String::new, |line| format!(" (line {line})"));
            let (equipment, bearing) = (&point.equipment, &point.bearing);
            let value = point.measuring_point.as_ref().map_or("left out", |point| point.as_str());
            let allowed = format!(
                "a measuring point that no other channel of {equipment}/{bearing} has; \
                 {before}{line} has it too"
            );
            return Err(origin.refuse(&key, value, allowed));
        }
    }
    Ok(())
}

impl Broker {
    fn meant(self, origin: Origin<'_>) -> Result<BrokerSettings, ConfigError> {
        let default = BrokerSettings::default();
        let reach = ReachFile {
            addresses: self.addresses,
            user: self.user,
            password: self.password,
            tls: self.tls,
        };
        let refuse = |key: &str, value: &str, allowed: &str| origin.refuse(key, value, allowed);
        let Reach { addresses, login, tls } = reach.meant(origin.folder(), refuse)?;
        let max_packet_bytes = self.max_packet_bytes.unwrap_or(default.max_packet_bytes);
        if max_packet_bytes < 1024 {
            let key = "broker.max_packet_bytes";
            return Err(origin.refuse(key, max_packet_bytes, "1024 or more"));
        }
        if self.max_in_flight == Some(0) {
            return Err(origin.refuse("broker.max_in_flight", 0, "1 to 65535"));
        }
        if self.drain_per_s == Some(0) {
            return Err(origin.refuse("broker.drain_per_s", 0, "1 or more, or left out"));
        }
        let late_after_s = self.late_after_s.unwrap_or(default.late_after_s);
        if !(late_after_s.is_finite() && late_after_s >= 0.0) {
            return Err(origin.refuse("broker.late_after_s", late_after_s, "seconds, 0 or more"));
        }
        let (shortest, longest) = default.reconnect;
        let shortest =
            origin.seconds("broker.reconnect_min_s", self.reconnect_min_s, shortest, 0.01)?;
        let longest =
            origin.seconds("broker.reconnect_max_s", self.reconnect_max_s, longest, 0.01)?;
        Ok(BrokerSettings {
            addresses,
            protocol: self.protocol,
            client_id: self.client_id,
            login,
            tls,
            keep_alive: origin.seconds(
                "broker.keep_alive_s",
                self.keep_alive_s,
                default.keep_alive,
                5.0,
            )?,
            session_expiry: origin.seconds(
                "broker.session_expiry_s",
                self.session_expiry_s,
                default.session_expiry,
                0.0,
            )?,
            max_packet_bytes,
            max_in_flight: self.max_in_flight.unwrap_or(default.max_in_flight),
            gateway_in_topic: self.gateway_in_topic.unwrap_or(default.gateway_in_topic),
            drain_order: self.drain_order,
            drain_per_s: self.drain_per_s,
            late_after_s,
            reconnect: (shortest, longest.max(shortest)),
        })
    }
}

impl SpoolTable {
    fn meant(self, origin: Origin<'_>) -> Result<SpoolSettings, ConfigError> {
        let default = Limits::default();
        let max_bytes = self.max_bytes.unwrap_or(default.max_bytes);
        if max_bytes < 1 << 20 {
            return Err(origin.refuse("spool.max_bytes", max_bytes, "1048576 (1 MiB) or more"));
        }
        let max_age = match self.max_age_h {
            None => default.max_age,
            Some(hours) => Duration::try_from_secs_f64(hours * 3600.0)
                .ok()
                .filter(|age| !age.is_zero())
                .ok_or_else(|| origin.refuse("spool.max_age_h", hours, "hours, above 0"))?,
        };
        Ok(SpoolSettings {
            path: origin.rooted(&self.path),
            limits: Limits { max_bytes, max_age, policy: self.policy },
            await_receipt: self.await_receipt.unwrap_or(true),
        })
    }
}

#[cfg(test)]
mod tests;
