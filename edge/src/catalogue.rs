//! The bearing catalogue: names to geometry and defect orders.
//!
//! `config/bearings.toml` is part of the program; a file of the same form adds entries or replaces
//! those of the same id. [`entry`] reads a file, [`designation`] takes a typed name apart,
//! [`estimate`] holds the formula of the entries whose makers print no rolling elements.
//! Invariants: every entry has a source; no two entries of a file answer to one name; orders come
//! from the geometry where there is one; a name is never taken for another bearing.

use std::path::Path;
use std::sync::LazyLock;

use pdm_dsp::DefectOrders;
use pdm_service::config::{self, ConfigError};

mod designation;
mod entry;
pub mod estimate;

use designation::{Designation, plain};
use entry::Form;
pub use estimate::{Estimate, Family, Size};

/// The catalogue that the program carries, read once: a list of recordings asks for it in every
/// row.
static BUILT_IN: LazyLock<Catalogue> = LazyLock::new(|| {
    Catalogue::parse(Path::new("bearings.toml"), include_str!("../../config/bearings.toml"))
        .expect("the built-in catalogue is checked by a test")
});

/// Most names that an unknown one is answered with.
const MOST_SUGGESTIONS: usize = 6;

/// A bearing that a machine may have.
#[derive(Debug, Clone, PartialEq)]
pub struct Bearing {
    /// The name of the bearing in commands and configuration.
    pub id: String,
    /// Other names it answers to.
    pub also: Vec<String>,
    /// The series that it belongs to.
    pub family: Option<String>,
    /// Its boundary dimensions, where they are known.
    pub size: Option<Size>,
    /// The dimensions inside, where they are known or estimated.
    pub geometry: Option<Dimensions>,
    /// The defect orders.
    pub orders: DefectOrders,
    /// The basis of the orders.
    pub basis: Basis,
    /// The source of the figures.
    pub source: String,
    /// A note for the person who chose the entry.
    pub note: Option<String>,
}

/// The basis of the orders of an entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Basis {
    /// Somebody printed them, or the geometry.
    Published,
    /// They follow from load ratings that a maker prints.
    Derived,
    /// They are estimated from the boundary dimensions.
    Estimated {
        /// How far the orders may be off, ratio.
        order_tolerance: f64,
    },
}

impl Basis {
    /// The word of the file and of lists.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Derived => "derived",
            Self::Estimated { .. } => "estimated",
        }
    }
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

impl Bearing {
    /// The estimate that the orders are, if they are one.
    pub fn estimate(&self) -> Option<Estimate> {
        match self.basis {
            Basis::Published | Basis::Derived => None,
            Basis::Estimated { order_tolerance } => {
                Some(Estimate { bearing: self.id.clone(), order_tolerance })
            }
        }
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.id).chain(&self.also).map(String::as_str)
    }
}

/// Bearings by name.
#[derive(Debug, Clone, PartialEq)]
pub struct Catalogue {
    bearings: Vec<Bearing>,
    families: Vec<Family>,
}

/// A name that the catalogue does not have. The caller shows it to the person who typed it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown bearing {name:?}: {reason}; near are {near}; `pdm-edge bearings` lists all {known}, \
     or give its four orders"
)]
pub struct UnknownBearing {
    name: String,
    reason: String,
    near: String,
    known: usize,
}

impl Catalogue {
    /// The catalogue that the program carries.
    pub fn built_in() -> Self {
        BUILT_IN.clone()
    }

    /// The built-in catalogue with the entries of `path` added; those of the same id replace it. An
    /// entry of `path` may be of a family of the built-in catalogue.
    ///
    /// # Errors
    /// [`ConfigError`] with file, line or key and what is allowed.
    pub fn with(path: &Path) -> Result<Self, ConfigError> {
        let form: Form = config::read_config(path)?;
        let built_in = Self::built_in();
        let own = Self::from_form(path, form, built_in.families)?;
        let replaced = |bearing: &Bearing| own.exact(&bearing.id).is_none();
        let mut bearings: Vec<Bearing> = built_in.bearings.into_iter().filter(replaced).collect();
        bearings.extend(own.bearings);
        Ok(Self { bearings, families: own.families })
    }

    /// The entries of `text` alone; `path` stands in errors.
    ///
    /// # Errors
    /// As [`Self::with`].
    pub fn parse(path: &Path, text: &str) -> Result<Self, ConfigError> {
        Self::from_form(path, config::parse(path, text)?, Vec::new())
    }

    fn from_form(path: &Path, form: Form, known: Vec<Family>) -> Result<Self, ConfigError> {
        let mut catalogue = Self { bearings: Vec::new(), families: known };
        for family in form.family {
            let family = family.checked(path)?;
            catalogue.families.retain(|known| known.name != family.name);
            catalogue.families.push(family);
        }
        let mut taken = std::collections::BTreeMap::<String, String>::new();
        for entry in form.bearing {
            let bearing = entry.checked(path, &catalogue.families)?;
            for name in bearing.names() {
                let owner = taken.entry(plain(name)).or_insert_with(|| bearing.id.clone());
                if *owner != bearing.id {
                    let allowed = format!("a name that is not taken by {owner:?}");
                    return Err(ConfigError::value(path, "bearing.id", name, allowed));
                }
            }
            if catalogue.bearings.iter().any(|other| other.id == bearing.id) {
                let allowed = "an id that stands once in the file";
                return Err(ConfigError::value(path, "bearing.id", &bearing.id, allowed));
            }
            catalogue.bearings.push(bearing);
        }
        Ok(catalogue)
    }

    /// All bearings, in the order of the files.
    pub fn bearings(&self) -> &[Bearing] {
        &self.bearings
    }

    /// All families, in the order of the files.
    pub fn families(&self) -> &[Family] {
        &self.families
    }

    /// The bearing of this name. Case, spaces and hyphens do not matter, nor a maker's name before
    /// it and suffixes behind it that leave the rolling elements as they are (`SKF 6205-2RS1/C3`);
    /// a housing unit is its insert (`UCP205`). A suffix that is not understood is an error: it may
    /// be another bearing.
    ///
    /// # Errors
    /// [`UnknownBearing`] with the nearest names.
    pub fn find(&self, name: &str) -> Result<&Bearing, UnknownBearing> {
        if let Some(bearing) = self.exact(name) {
            return Ok(bearing);
        }
        let read = Designation::read(name);
        let reason = match &read {
            Ok(designation) => {
                let found = designation.ids().iter().find_map(|id| self.exact(id));
                if let Some(bearing) = found {
                    return Ok(bearing);
                }
                "it is not in the catalogue".to_owned()
            }
            Err(reason) => reason.clone(),
        };
        Err(UnknownBearing {
            name: name.to_owned(),
            reason,
            near: self.near(name).join(", "),
            known: self.bearings.len(),
        })
    }

    /// Bearings whose id, other names, family or source hold this text, for a list.
    pub fn search(&self, text: &str) -> Vec<&Bearing> {
        let wanted = plain(text);
        let holds = |bearing: &&Bearing| {
            bearing.names().any(|name| plain(name).contains(&wanted))
                || bearing.family.as_deref().is_some_and(|family| plain(family) == wanted)
        };
        self.bearings.iter().filter(holds).collect()
    }

    /// The ids that are nearest to a name, nearest first.
    fn near(&self, name: &str) -> Vec<&str> {
        let wanted = designation::base(name);
        let mut near: Vec<(usize, &str)> = self
            .bearings
            .iter()
            .map(|bearing| {
                (designation::distance(&wanted, &plain(&bearing.id)), bearing.id.as_str())
            })
            .collect();
        near.sort_by_key(|(distance, _)| *distance);
        near.into_iter().take(MOST_SUGGESTIONS).map(|(_, id)| id).collect()
    }

    /// The bearing of exactly this name, but for case and signs; of two files the later one counts.
    fn exact(&self, name: &str) -> Option<&Bearing> {
        let wanted = plain(name);
        self.bearings.iter().rev().find(|b| b.names().any(|known| plain(known) == wanted))
    }
}

/// Returns races of common ball bearings and of the open recordings' bearings whose lines stand
/// within 1 % of an order, nearest first, and how many beyond the first `most` there are; 1 % is
/// the slip of a bearing that is not worn (Randall & Antoni 2011). With every bearing of the
/// catalogue each order would fit one.
/// Rolling elements are left out: theirs seldom stand alone, and one of them has the order of an
/// inverter in the recordings of Paderborn.
pub fn races_at(order: f64, most: usize) -> (Vec<String>, usize) {
    const SLIP: f64 = 0.01;
    let is_common = |bearing: &&'static Bearing| {
        bearing.family.as_deref().is_none_or(|family| matches!(family, "62" | "63"))
    };
    let parts = |bearing: &'static Bearing| {
        let orders = &bearing.orders;
        [("outer race", orders.bpfo.get()), ("inner race", orders.bpfi.get())]
            .map(|(part, own)| ((order / own - 1.0).abs(), format!("{} {part}", bearing.id)))
    };
    let all = BUILT_IN.bearings.iter().filter(is_common).flat_map(parts);
    let mut near: Vec<(f64, String)> = all.filter(|(off, _)| *off <= SLIP).collect();
    near.sort_by(|a, b| a.0.total_cmp(&b.0));
    let more = near.len().saturating_sub(most);
    (near.into_iter().take(most).map(|(_, name)| name).collect(), more)
}
