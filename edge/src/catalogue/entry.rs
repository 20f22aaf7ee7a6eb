//! The form of a catalogue file and the check of its entries.
//!
//! Stands between the file and [`super::Catalogue`]. Invariants: an entry that is taken has a
//! source and orders that a bearing can have; an error names file, entry, key, value and what is
//! allowed.

use std::path::{Path, PathBuf};

use pdm_dsp::{DefectOrders, Geometry};
use pdm_service::config::ConfigError;
use serde::Deserialize;

use super::designation::plain;
use super::estimate::{Family, Size};
use super::{Basis, Bearing, Dimensions};

/// The file as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Form {
    #[serde(default)]
    pub(super) family: Vec<FamilyEntry>,
    #[serde(default)]
    pub(super) bearing: Vec<Entry>,
}

/// `[[family]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FamilyEntry {
    name: String,
    #[serde(default)]
    pitch_offset: f64,
    element_share: Option<f64>,
    filling: f64,
    order_tolerance_percent: f64,
    fitted_on: String,
}

impl FamilyEntry {
    pub(super) fn checked(self, path: &Path) -> Result<Family, ConfigError> {
        let refused = |key: &str, value: f64, allowed: &str| {
            ConfigError::value(path, format!("family {:?}, {key}", self.name), value, allowed)
        };
        if !(-0.5..=0.5).contains(&self.pitch_offset) {
            return Err(refused("pitch_offset", self.pitch_offset, "-0.5 to 0.5 of the section"));
        }
        if let Some(share) = self.element_share
            && !(0.1..1.0).contains(&share)
        {
            return Err(refused("element_share", share, "0.1 to below 1 of the section"));
        }
        if !(0.2..1.0).contains(&self.filling) {
            return Err(refused("filling", self.filling, "0.2 to below 1 of the pitch circle"));
        }
        if !(0.0..=25.0).contains(&self.order_tolerance_percent) {
            let got = self.order_tolerance_percent;
            return Err(refused("order_tolerance_percent", got, "0 to 25 percent"));
        }
        Ok(Family {
            name: self.name,
            pitch_offset: self.pitch_offset,
            element_share: self.element_share,
            filling: self.filling,
            order_tolerance: self.order_tolerance_percent / 100.0,
            fitted_on: self.fitted_on,
        })
    }
}

/// `[[bearing]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    id: String,
    #[serde(default)]
    also: Vec<String>,
    family: Option<String>,
    bore_mm: Option<f64>,
    outside_mm: Option<f64>,
    inner_raceway_mm: Option<f64>,
    elements: Option<u32>,
    element_diameter_mm: Option<f64>,
    pitch_diameter_mm: Option<f64>,
    contact_angle_deg: Option<f64>,
    orders: Option<Orders>,
    basis: Option<PrintedBasis>,
    source: String,
    note: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Orders {
    bpfo: f64,
    bpfi: f64,
    bsf: f64,
    ftf: f64,
}

/// The basis that the file may state of printed figures; an entry without one is an estimate.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PrintedBasis {
    Published,
    Derived,
}

impl Entry {
    pub(super) fn checked(self, path: &Path, families: &[Family]) -> Result<Bearing, ConfigError> {
        let refused = Refused { path: path.to_owned(), id: self.id.clone() };
        if plain(&self.id).is_empty() {
            return Err(refused.because("id", &self.id, "a name with letters or digits"));
        }
        if self.source.trim().is_empty() {
            return Err(refused.because("source", "empty", "where the figures come from"));
        }
        let size = self.size(&refused)?;
        let given = self.dimensions(&refused)?;
        let basis = match self.basis {
            None | Some(PrintedBasis::Published) => Basis::Published,
            Some(PrintedBasis::Derived) => Basis::Derived,
        };
        let (geometry, orders, basis) = match (&self.orders, given) {
            (None, Some(dimensions)) => (Some(dimensions), refused.orders_of(dimensions)?, basis),
            (Some(o), None) => {
                let orders = DefectOrders::new(o.bpfo, o.bpfi, o.bsf, o.ftf)
                    .map_err(|e| refused.because("orders", "impossible", &e.to_string()))?;
                (None, orders, basis)
            }
            (None, None) if self.basis.is_none() => {
                let (dimensions, order_tolerance) = self.estimated(size, families, &refused)?;
                let orders = refused.orders_of(dimensions)?;
                (Some(dimensions), orders, Basis::Estimated { order_tolerance })
            }
            (Some(_), Some(_)) | (None, None) => {
                let allowed =
                    "either geometry or orders, or a family and boundary dimensions alone";
                return Err(refused.because("orders", "unclear", allowed));
            }
        };
        Ok(Bearing {
            id: self.id,
            also: self.also,
            family: self.family,
            size,
            geometry,
            orders,
            basis,
            source: self.source,
            note: self.note,
        })
    }

    fn size(&self, refused: &Refused) -> Result<Option<Size>, ConfigError> {
        let (Some(bore_mm), Some(outside_mm)) = (self.bore_mm, self.outside_mm) else {
            let is_absent = self.bore_mm.is_none()
                && self.outside_mm.is_none()
                && self.inner_raceway_mm.is_none();
            return if is_absent {
                Ok(None)
            } else {
                Err(refused.because("bore_mm", "incomplete", "bore_mm and outside_mm together"))
            };
        };
        let between = |raceway: f64| bore_mm < raceway && raceway < outside_mm;
        let is_possible = bore_mm > 0.0
            && outside_mm.is_finite()
            && bore_mm < outside_mm
            && self.inner_raceway_mm.is_none_or(between);
        if !is_possible {
            let got = format!("{bore_mm}, {:?}, {outside_mm}", self.inner_raceway_mm);
            let allowed = "0 < bore < inner raceway < outside, mm";
            return Err(refused.because("bore_mm, inner_raceway_mm, outside_mm", &got, allowed));
        }
        let contact_angle_deg = self.contact_angle_deg.unwrap_or(0.0);
        let inner_raceway_mm = self.inner_raceway_mm;
        Ok(Some(Size { bore_mm, outside_mm, inner_raceway_mm, contact_angle_deg }))
    }

    fn dimensions(&self, refused: &Refused) -> Result<Option<Dimensions>, ConfigError> {
        let parts = (self.elements, self.element_diameter_mm, self.pitch_diameter_mm);
        match parts {
            (Some(elements), Some(element_diameter_mm), Some(pitch_diameter_mm)) => {
                let contact_angle_deg = self.contact_angle_deg.unwrap_or(0.0);
                Ok(Some(Dimensions {
                    elements,
                    element_diameter_mm,
                    pitch_diameter_mm,
                    contact_angle_deg,
                }))
            }
            (None, None, None) => Ok(None),
            _ => {
                let allowed = "elements, element_diameter_mm and pitch_diameter_mm together";
                Err(refused.because("geometry", "incomplete", allowed))
            }
        }
    }

    fn estimated(
        &self,
        size: Option<Size>,
        families: &[Family],
        refused: &Refused,
    ) -> Result<(Dimensions, f64), ConfigError> {
        let (Some(name), Some(size)) = (&self.family, size) else {
            let allowed = "geometry or orders, or family, bore_mm and outside_mm for an estimate";
            return Err(refused.because("orders", "absent", allowed));
        };
        let Some(family) = families.iter().find(|family| family.name == *name) else {
            let known: Vec<&str> = families.iter().map(|family| family.name.as_str()).collect();
            return Err(refused.because("family", name, &format!("one of {}", known.join(", "))));
        };
        let dimensions = family.estimate(size).ok_or_else(|| {
            let allowed = "a family with element_share, or inner_raceway_mm that leaves room";
            refused.because("family", name, allowed)
        })?;
        Ok((dimensions, family.order_tolerance))
    }
}

/// The entry that is refused, with the error.
struct Refused {
    path: PathBuf,
    id: String,
}

impl Refused {
    fn because(&self, key: &str, value: &str, allowed: &str) -> ConfigError {
        ConfigError::value(&self.path, format!("bearing {:?}, {key}", self.id), value, allowed)
    }

    fn orders_of(&self, of: Dimensions) -> Result<DefectOrders, ConfigError> {
        let Dimensions { elements, element_diameter_mm, pitch_diameter_mm, contact_angle_deg } = of;
        Geometry::new(elements, element_diameter_mm, pitch_diameter_mm, contact_angle_deg)
            .map(|geometry| geometry.orders())
            .map_err(|e| self.because("geometry", "impossible", &e.to_string()))
    }
}
