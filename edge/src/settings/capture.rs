//! `[capture]`: the keys as typed.

use std::path::{Path, PathBuf};

use axum::http::Uri;
use pdm_service::broker::TlsFiles;
use pdm_service::config::ConfigError;
use pdm_service::secret::SecretSource;
use serde::Deserialize;

use super::file::Origin;
use crate::capture::{CaptureSettings, UploadSettings};

/// Memory of the rings where none is stated. Chosen: 29 s of 8 channels at 25.6 kHz, which holds
/// what comes before and after a trigger and its window, and leaves a gateway with 64 MB its half.
const BUDGET_MB: f64 = 16.0;
/// Most memory that is taken for a meant number: a gateway with more keeps hours, not seconds.
const MOST_BUDGET_MB: f64 = 4096.0;
/// Bound of the folder: some 500 captures of 12 s at 25.6 kHz.
const MOST_DISK_MB: f64 = 512.0;
/// Seconds before the window: 25 turns of a shaft at 150 rpm, and what led to an impact.
const BEFORE_S: f64 = 10.0;
const AFTER_S: f64 = 2.0;
/// Longest time before or after. A capture is put together in memory: 120 s at 25.6 kHz are 12 MB.
const LONGEST_S: f64 = 60.0;
/// Captures of a point in an hour: an alarm, its name, a zone, and as many again.
const PER_HOUR: usize = 6;
const REFERENCE_EVERY_H: f64 = 24.0;

/// The keys of the table.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct CaptureTable {
    budget_mb: Option<f64>,
    folder: Option<PathBuf>,
    max_disk_mb: Option<f64>,
    before_s: Option<f64>,
    after_s: Option<f64>,
    per_hour: Option<usize>,
    reference_every_h: Option<f64>,
    upload: Option<UploadTable>,
}

/// `[capture.upload]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct UploadTable {
    url: String,
    token: SecretSource,
    #[serde(default)]
    tls: Option<TlsFiles>,
}

impl UploadTable {
    fn meant(self, origin: Origin<'_>) -> Result<UploadSettings, ConfigError> {
        let allowed = "the agent's address: https://HOST:PORT, or http:// of this machine";
        let refused = |value: &str| origin.refuse("capture.upload.url", value, allowed);
        let url: Uri = self.url.parse().map_err(|_wrong| refused(&self.url))?;
        let host = url.host().unwrap_or_default();
        let is_own = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
        match (url.scheme_str(), url.query()) {
            (Some("https"), None) if !host.is_empty() => {}
            (Some("http"), None) if is_own => {}
            _ => return Err(refused(&self.url)),
        }
        let is_tls = url.scheme_str() == Some("https");
        if is_tls != self.tls.is_some() {
            let key = "capture.upload.tls";
            let allowed =
                "{ ca = \"FILE\" } with the authorities of an https:// address, none with http://";
            return Err(origin.refuse(key, if is_tls { "left out" } else { "set" }, allowed));
        }
        let tls = self.tls.map(|tls| tls.rooted(origin.folder()));
        Ok(UploadSettings { url, token: self.token.rooted(origin.folder()), tls })
    }
}

impl CaptureTable {
    /// The settings; the files stand beside the spool unless a folder is named.
    pub(super) fn meant(
        self,
        origin: Origin<'_>,
        spool: &Path,
    ) -> Result<CaptureSettings, ConfigError> {
        let within =
            |key: &str, value: Option<f64>, default: f64, (least, most): (f64, f64), unit: &str| {
                let value = value.unwrap_or(default);
                if (least..=most).contains(&value) {
                    return Ok(value);
                }
                let allowed = format!("{least} to {most} {unit}");
                Err(origin.refuse(&format!("capture.{key}"), value, allowed))
            };
        let budget_unit = "MB for all points together; without [capture] nothing is captured";
        let budget_mb =
            within("budget_mb", self.budget_mb, BUDGET_MB, (1.0, MOST_BUDGET_MB), budget_unit)?;
        let disk_mb = within("max_disk_mb", self.max_disk_mb, MOST_DISK_MB, (1.0, 1e7), "MB")?;
        let length = (0.0, LONGEST_S);
        let before_s = within("before_s", self.before_s, BEFORE_S, length, "seconds")?;
        let after_s = within("after_s", self.after_s, AFTER_S, length, "seconds")?;
        let reference_h = within(
            "reference_every_h",
            self.reference_every_h,
            REFERENCE_EVERY_H,
            (0.0, 8760.0),
            "hours; 0: none",
        )?;
        let per_hour = self.per_hour.unwrap_or(PER_HOUR);
        if !(1..=3600).contains(&per_hour) {
            return Err(origin.refuse("capture.per_hour", per_hour, "1 to 3600"));
        }
        let folder = match &self.folder {
            Some(folder) => origin.rooted(folder),
            None => spool.with_file_name("captures"),
        };
        Ok(CaptureSettings {
            budget_bytes: (budget_mb * 1e6) as usize,
            folder,
            most_disk_bytes: (disk_mb * 1e6) as u64,
            before_s,
            after_s,
            per_hour,
            reference_s: reference_h * 3600.0,
            upload: self.upload.map(|upload| upload.meant(origin)).transpose()?,
        })
    }
}
