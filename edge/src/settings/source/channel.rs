//! `[[source.channel]]`: the keys as typed, and the measuring point that they describe.

use pdm_dsp::diagnose::{DEFAULT_ORDER_TOLERANCE, DEFAULT_SPEED_TOLERANCE};
use pdm_service::config::ConfigError;
use pdm_shared::id::{BearingId, EquipmentId, MeasuringPoint};
use pdm_shared::units::{Band, Rpm};
use serde::Deserialize;

use super::super::file::Origin;
use super::super::{DefectOrders, PointSettings, ZoneTable};
use super::calibration::CalibrationKeys;
use crate::catalogue::{Catalogue, Estimate};
use crate::condition::MonitorSettings;

/// `[[source.channel]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChannelTable {
    #[serde(default)]
    pub(super) channel: Option<usize>,
    equipment: EquipmentId,
    bearing: BearingId,
    #[serde(default)]
    measuring_point: Option<MeasuringPoint>,
    #[serde(default)]
    bearing_type: Option<String>,
    #[serde(default)]
    orders: Option<[f64; 4]>,
    rpm: f64,
    #[serde(default)]
    rpm_tolerance_percent: Option<f64>,
    #[serde(default)]
    tachometer_ratio: Option<f64>,
    #[serde(default)]
    speed_bins_rpm: Vec<f64>,
    #[serde(default)]
    order_tolerance_percent: Option<f64>,
    #[serde(default)]
    envelope_band_hz: Option<[f64; 2]>,
    #[serde(default)]
    machine_group: Option<String>,
    #[serde(default)]
    zone_limits_mm_s: Option<[f64; 3]>,
    #[serde(default)]
    condition: Option<MonitorSettings>,
    #[serde(flatten)]
    pub(super) calibration: CalibrationKeys,
}

impl ChannelTable {
    pub(super) fn meant(
        &self,
        origin: Origin<'_>,
        key: &str,
        place: usize,
        catalogue: &Catalogue,
    ) -> Result<PointSettings, ConfigError> {
        let speed = Rpm::new(self.rpm)
            .map_err(|error| origin.refuse(&format!("{key}.rpm"), error.got, error.allowed))?;
        let envelope_band = match self.envelope_band_hz {
            None => None,
            Some([low, high]) => Some(Band::new(low, high).map_err(|error| {
                let key = format!("{key}.envelope_band_hz");
                origin.refuse(&key, format!("[{low}, {high}]"), error.to_string())
            })?),
        };
        let zones = self.zones(origin, key)?;
        let mut monitor = self.condition.clone().unwrap_or_default();
        if let Some(zones) = &zones {
            let [_, bc, cd] = zones.limits_mm_s();
            monitor = monitor.in_zones(bc, cd);
        }
        monitor.check().map_err(|error| {
            origin.refuse(&format!("{key}.condition.{}", error.key), error.got, error.allowed)
        })?;
        let (orders, estimate) = self.defect_orders(origin, key, catalogue)?;
        Ok(PointSettings {
            channel: self.channel.unwrap_or(place),
            equipment: self.equipment.clone(),
            bearing: self.bearing.clone(),
            measuring_point: self.measuring_point.clone(),
            orders,
            order_tolerance: percent(
                origin,
                &format!("{key}.order_tolerance_percent"),
                self.order_tolerance_percent,
                10.0,
            )?
            .unwrap_or_else(|| {
                estimate.as_ref().map_or(DEFAULT_ORDER_TOLERANCE, Estimate::searched)
            }),
            estimate,
            speed,
            speed_tolerance: percent(
                origin,
                &format!("{key}.rpm_tolerance_percent"),
                self.rpm_tolerance_percent,
                20.0,
            )?
            .unwrap_or(DEFAULT_SPEED_TOLERANCE),
            tachometer_ratio: self.ratio(origin, key)?,
            speed_bins: self.bins(origin, key)?,
            envelope_band,
            zones,
            monitor,
        })
    }

    fn ratio(&self, origin: Origin<'_>, key: &str) -> Result<f64, ConfigError> {
        match self.tachometer_ratio {
            None => Ok(1.0),
            Some(ratio) if ratio.is_finite() && ratio > 0.0 => Ok(ratio),
            Some(ratio) => {
                let key = format!("{key}.tachometer_ratio");
                Err(origin.refuse(&key, ratio, "turns of this shaft a turn of the tachometer's"))
            }
        }
    }

    fn bins(&self, origin: Origin<'_>, key: &str) -> Result<Vec<Rpm>, ConfigError> {
        let bins = &self.speed_bins_rpm;
        let refuse = || {
            let allowed = "at most 7 rising speeds above 0";
            origin.refuse(&format!("{key}.speed_bins_rpm"), format!("{bins:?}"), allowed)
        };
        if bins.len() > 7 || !bins.is_sorted_by(|a, b| a < b) {
            return Err(refuse());
        }
        bins.iter().map(|rpm| Rpm::new(*rpm).map_err(|_range| refuse())).collect()
    }

    fn zones(&self, origin: Origin<'_>, key: &str) -> Result<Option<ZoneTable>, ConfigError> {
        match (&self.machine_group, self.zone_limits_mm_s) {
            (None, None) => Ok(None),
            (Some(group), None) => ZoneTable::of_group(group).map(Some).ok_or_else(|| {
                let names: Vec<&str> = ZoneTable::GROUPS.iter().map(|group| group.0).collect();
                let allowed = format!("one of {}", names.join(", "));
                origin.refuse(&format!("{key}.machine_group"), group, allowed)
            }),
            (name, Some(limits)) => {
                let name = name.clone().unwrap_or_else(|| "configured".to_owned());
                ZoneTable::new(name, limits).map(Some).map_err(|allowed| {
                    let key = format!("{key}.zone_limits_mm_s");
                    origin.refuse(&key, format!("{limits:?}"), allowed)
                })
            }
        }
    }

    fn defect_orders(
        &self,
        origin: Origin<'_>,
        key: &str,
        catalogue: &Catalogue,
    ) -> Result<(DefectOrders, Option<Estimate>), ConfigError> {
        match (&self.bearing_type, self.orders) {
            (Some(name), None) => match catalogue.find(name) {
                Ok(bearing) => Ok((bearing.orders, bearing.estimate())),
                Err(error) => {
                    let allowed = format!("a bearing of the catalogue ({error})");
                    Err(origin.refuse(&format!("{key}.bearing_type"), name, allowed))
                }
            },
            (None, Some([bpfo, bpfi, bsf, ftf])) => DefectOrders::new(bpfo, bpfi, bsf, ftf)
                .map(|orders| (orders, None))
                .map_err(|error| {
                    let key = format!("{key}.orders");
                    origin.refuse(&key, format!("{:?}", self.orders), error.to_string())
                }),
            (Some(_), Some(_)) | (None, None) => {
                let allowed = "either bearing_type or orders = [BPFO, BPFI, BSF, FTF]";
                Err(origin.refuse(&format!("{key}.orders"), "both or neither", allowed))
            }
        }
    }
}

fn percent(
    origin: Origin<'_>,
    key: &str,
    value: Option<f64>,
    most: f64,
) -> Result<Option<f64>, ConfigError> {
    match value {
        Some(value) if !(0.0..=most).contains(&value) => {
            Err(origin.refuse(key, value, format!("0 to {most} percent")))
        }
        value => Ok(value.map(|value| value / 100.0)),
    }
}
