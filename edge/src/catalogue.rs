//! The bearing catalogue: names to geometry and defect orders.
//!
//! `config/bearings.toml` is part of the program; a file of the same form adds entries or replaces
//! those of the same id. Invariants: every entry has a source; no two entries answer to one name;
//! orders come from the geometry where there is one.

use std::path::{Path, PathBuf};

use pdm_dsp::{DefectOrders, Geometry};
use pdm_service::config::{self, ConfigError};
use serde::Deserialize;

/// The catalogue that the program carries.
const BUILT_IN: &str = include_str!("../../config/bearings.toml");

/// A bearing that a machine may have.
#[derive(Debug, Clone, PartialEq)]
pub struct Bearing {
    /// The name of the bearing in commands and configuration.
    pub id: String,
    /// Other names it answers to.
    pub also: Vec<String>,
    /// The dimensions, where they are known.
    pub geometry: Option<Dimensions>,
    /// The defect orders.
    pub orders: DefectOrders,
    /// The source of the figures.
    pub source: String,
}

/// Dimensions as the catalogue gives them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dimensions {
    /// Rolling elements of one row.
    pub elements: u32,
    /// Diameter of an element, mm.
    pub element_diameter_mm: f64,
    /// Diameter of the circle through their centres, mm.
    pub pitch_diameter_mm: f64,
    /// Contact angle, degrees.
    pub contact_angle_deg: f64,
}

/// Bearings by name.
#[derive(Debug, Clone, PartialEq)]
pub struct Catalogue {
    bearings: Vec<Bearing>,
}

/// A name that the catalogue does not have. The caller shows it to the person who typed it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown bearing {name:?}; known are {known}, or give its four orders")]
pub struct UnknownBearing {
    name: String,
    known: String,
}

impl Catalogue {
    /// The catalogue that the program carries.
    pub fn built_in() -> Self {
        Self::parse(Path::new("bearings.toml"), BUILT_IN)
            .expect("the built-in catalogue is checked by a test")
    }

    /// The built-in catalogue with the entries of `path` added; those of the same id replace it.
    ///
    /// # Errors
    /// [`ConfigError`] with file, line or key and what is allowed.
    pub fn with(path: &Path) -> Result<Self, ConfigError> {
        let form: Form = config::read(path)?;
        let own = Self::from_form(path, form)?;
        let replaced = |bearing: &Bearing| own.find(&bearing.id).is_err();
        let mut bearings: Vec<Bearing> =
            Self::built_in().bearings.into_iter().filter(replaced).collect();
        bearings.extend(own.bearings);
        Ok(Self { bearings })
    }

    /// The entries of `text` alone; `path` stands in errors.
    ///
    /// # Errors
    /// As [`Self::with`].
    pub fn parse(path: &Path, text: &str) -> Result<Self, ConfigError> {
        Self::from_form(path, config::parse(path, text)?)
    }

    fn from_form(path: &Path, form: Form) -> Result<Self, ConfigError> {
        let mut catalogue = Self { bearings: Vec::new() };
        for entry in form.bearing {
            let bearing = entry.checked(path)?;
            for name in std::iter::once(&bearing.id).chain(&bearing.also) {
                if let Ok(other) = catalogue.find(name) {
                    let allowed = format!("a name that is not taken by {:?}", other.id);
                    return Err(ConfigError::value(path, "bearing.id", name, allowed));
                }
            }
            catalogue.bearings.push(bearing);
        }
        Ok(catalogue)
    }

    /// All bearings, in the order of the files.
    pub fn bearings(&self) -> &[Bearing] {
        &self.bearings
    }

    /// The bearing of this name; case, spaces and hyphens do not matter.
    ///
    /// # Errors
    /// [`UnknownBearing`] with the names that are known.
    pub fn find(&self, name: &str) -> Result<&Bearing, UnknownBearing> {
        let wanted = plain(name);
        let answers = |bearing: &&Bearing| {
            std::iter::once(&bearing.id).chain(&bearing.also).any(|known| plain(known) == wanted)
        };
        self.bearings.iter().find(answers).ok_or_else(|| UnknownBearing {
            name: name.to_owned(),
            known: self.bearings.iter().map(|b| b.id.as_str()).collect::<Vec<_>>().join(", "),
        })
    }
}

/// Races of the built-in catalogue's bearings whose lines stand within 1 % of an order, nearest first,
/// at most so many; 1 % is the slip of a bearing that is not worn (Randall & Antoni 2011). Rolling
/// elements are left out: theirs seldom stand alone, and one of them has the order of an inverter in the
/// recordings of Paderborn.
pub fn races_at(order: f64, most: usize) -> Vec<String> {
    static BUILT_IN: std::sync::LazyLock<Catalogue> = std::sync::LazyLock::new(Catalogue::built_in);
    const SLIP: f64 = 0.01;
    let parts = |bearing: &'static Bearing| {
        let orders = &bearing.orders;
        [("outer race", orders.bpfo.get()), ("inner race", orders.bpfi.get())]
            .map(|(part, own)| ((order / own - 1.0).abs(), format!("{} {part}", bearing.id)))
    };
    let all = BUILT_IN.bearings.iter().flat_map(parts);
    let mut near: Vec<(f64, String)> = all.filter(|(off, _)| *off <= SLIP).collect();
    near.sort_by(|a, b| a.0.total_cmp(&b.0));
    near.into_iter().take(most).map(|(_, name)| name).collect()
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The file as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    #[serde(default)]
    bearing: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: String,
    #[serde(default)]
    also: Vec<String>,
    elements: Option<u32>,
    element_diameter_mm: Option<f64>,
    pitch_diameter_mm: Option<f64>,
    contact_angle_deg: Option<f64>,
    orders: Option<Orders>,
    source: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Orders {
    bpfo: f64,
    bpfi: f64,
    bsf: f64,
    ftf: f64,
}

impl Entry {
    fn checked(self, path: &Path) -> Result<Bearing, ConfigError> {
        let refused = Refused { path: path.to_owned(), id: self.id.clone() };
        if plain(&self.id).is_empty() {
            return Err(refused.because("id", &self.id, "a name with letters or digits"));
        }
        if self.source.trim().is_empty() {
            return Err(refused.because("source", "empty", "where the figures come from"));
        }
        let geometry = self.dimensions(&refused)?;
        let orders = match (&self.orders, geometry) {
            (None, Some(d)) => Geometry::new(
                d.elements,
                d.element_diameter_mm,
                d.pitch_diameter_mm,
                d.contact_angle_deg,
            )
            .map(|geometry| geometry.orders())
            .map_err(|e| refused.because("geometry", "impossible", &e.to_string()))?,
            (Some(o), None) => DefectOrders::new(o.bpfo, o.bpfi, o.bsf, o.ftf)
                .map_err(|e| refused.because("orders", "impossible", &e.to_string()))?,
            _ => return Err(refused.because("orders", "unclear", "either geometry or orders")),
        };
        Ok(Bearing { id: self.id, also: self.also, geometry, orders, source: self.source })
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
}

/// Whose entry is refused.
struct Refused {
    path: PathBuf,
    id: String,
}

impl Refused {
    fn because(&self, key: &str, value: &str, allowed: &str) -> ConfigError {
        ConfigError::value(&self.path, format!("bearing {:?}, {key}", self.id), value, allowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-EDGE-3. The sum of the race orders is the number of elements.
    #[test]
    fn the_race_orders_of_every_bearing_add_up_to_its_elements() {
        for bearing in Catalogue::built_in().bearings() {
            let orders = bearing.orders;
            let sum = orders.bpfo.get() + orders.bpfi.get();
            let elements = bearing.geometry.map_or(sum.round(), |d| f64::from(d.elements));
            // printed orders are rounded to three decimals
            assert!((sum - elements).abs() < 0.005, "{}: {sum}", bearing.id);
            assert!(orders.is_consistent(), "{}", bearing.id);
        }
    }

    #[test]
    fn published_orders_follow_from_the_geometry() {
        let catalogue = Catalogue::built_in();
        for (id, bpfo, bpfi, bsf, ftf) in [
            ("6205", 3.5848, 5.4152, 2.3567, 0.3983),
            ("6203", 3.0530, 4.9469, 1.994, 0.3817),
            ("ZA-2115", 7.0921, 8.9079, 4.1975, 0.4433),
            ("NICE", 3.245, 4.755, 2.5546, 0.4056),
            ("PRONOSTIA", 5.611, 7.389, 3.589, 0.4316),
            ("ER-16K", 3.572, 5.428, 2.32, 0.3969),
        ] {
            let orders = catalogue.find(id).expect(id).orders;
            for (got, expected) in
                [(orders.bpfo, bpfo), (orders.bpfi, bpfi), (orders.bsf, bsf), (orders.ftf, ftf)]
            {
                // published to three or four digits
                assert!((got.get() / expected - 1.0).abs() < 2e-3, "{id}: {got} {expected}");
            }
        }
    }

    /// ISO 76: C0r = f0 Z Dw². The ratings are rounded to three digits or half a kilonewton.
    #[test]
    fn derived_balls_give_the_load_rating_that_their_source_names() {
        let number = |text: &str, after: &str| -> f64 {
            let rest = text.split(after).nth(1).expect(after);
            let word = rest.split([' ', ';']).next().expect(after);
            word.parse().expect(word)
        };
        let catalogue = Catalogue::built_in();
        let derived: Vec<&Bearing> =
            catalogue.bearings().iter().filter(|b| b.source.contains("NSK C0r")).collect();
        assert!(derived.len() >= 20, "{}", derived.len());
        for bearing in derived {
            let size = bearing.geometry.expect("a geometry");
            let (rating_kn, f0) = (number(&bearing.source, "C0r "), number(&bearing.source, "f0 "));
            let by_balls = f0 * f64::from(size.elements) * size.element_diameter_mm.powi(2) / 1e3;
            let off = by_balls / rating_kn - 1.0;
            assert!(off.abs() < 0.01, "{}: {by_balls} kN of {rating_kn}", bearing.id);
            let pitch = f64::midpoint(
                number(&bearing.source, "bore "),
                number(&bearing.source, "outside "),
            );
            assert!((size.pitch_diameter_mm - pitch).abs() < 1e-9, "{}", bearing.id);
        }
    }

    #[test]
    fn a_name_is_found_however_it_is_typed() {
        let catalogue = Catalogue::built_in();
        for name in ["za2115", "Rexnord ZA-2115", "ZA 2115"] {
            assert_eq!(catalogue.find(name).expect(name).id, "ZA-2115");
        }
        let error = catalogue.find("9999").expect_err("unknown").to_string();
        assert!(error.contains("known are 6203, 6204"), "{error}");
    }

    #[test]
    fn an_own_file_adds_and_replaces() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("own.toml");
        let text = "[[bearing]]\nid = \"6205\"\nelements = 10\nelement_diameter_mm = 7.0\n\
                    pitch_diameter_mm = 39.0\nsource = \"drawing 4711\"\n";
        std::fs::write(&path, text).expect("written");
        let catalogue = Catalogue::with(&path).expect("valid");
        assert_eq!(catalogue.find("6205").expect("there").source, "drawing 4711");
        assert_eq!(catalogue.bearings().len(), Catalogue::built_in().bearings().len());
    }

    #[test]
    fn an_entry_that_cannot_be_is_refused_by_name() {
        let refused = |entry: &str| {
            let text = format!("[[bearing]]\nid = \"x\"\nsource = \"s\"\n{entry}");
            Catalogue::parse(Path::new("b.toml"), &text).expect_err(entry).to_string()
        };
        let both = "elements = 9\nelement_diameter_mm = 8.0\npitch_diameter_mm = 39.0\n\
                    orders = { bpfo = 3.5, bpfi = 5.4, bsf = 2.3, ftf = 0.4 }";
        for entry in [
            "",
            both,
            "elements = 9",
            "elements = 2\nelement_diameter_mm = 8.0\npitch_diameter_mm = 39.0",
        ] {
            let error = refused(entry);
            assert!(error.contains("bearing \"x\""), "{error}");
        }
        assert!(refused("balls = 9").contains("b.toml:4"), "{}", refused("balls = 9"));
    }
}
