//! The asset graph as pages read it: machines with their neighbours, names and lines.

use std::collections::BTreeMap;

use serde::Serialize;

/// Something beside a machine in the asset graph.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Neighbour {
    /// The type of the relationship, such as `HAS_PART`.
    pub relation: String,
    /// Whether the relationship goes out from the machine.
    pub outgoing: bool,
    /// The type of the neighbour, such as `Part`.
    pub kind: String,
    /// The neighbour's id.
    pub id: String,
    /// The neighbour's name or title.
    pub name: String,
    /// How many of a part are in stock.
    pub stock: Option<f64>,
    /// How many of a part the machine has.
    pub quantity: Option<f64>,
    /// Whether the relationship has ended.
    pub ended: bool,
}

/// A machine with its neighbours in the asset graph.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Surroundings {
    /// The machine's id.
    pub id: String,
    /// Its site; empty where no site has it.
    pub site: String,
    /// The machine's name.
    pub name: String,
    /// The neighbours, by relation and name.
    pub neighbours: Vec<Neighbour>,
    /// Whether there are more neighbours than those.
    pub has_more: bool,
}

/// The asset graph's answer about a machine of a site.
#[derive(Debug, Clone, PartialEq)]
pub enum MachineAround {
    /// The machine with its neighbours.
    Known(Surroundings),
    /// It has a machine of this id, and does not say in which of these sites.
    Unclear(Vec<String>),
    /// It does not know it.
    Unknown,
}

impl MachineAround {
    /// The machine, where it is known.
    pub const fn known(&self) -> Option<&Surroundings> {
        match self {
            Self::Known(around) => Some(around),
            Self::Unclear(_) | Self::Unknown => None,
        }
    }

    /// The sites of which the machine may be, where that is not clear.
    pub fn unclear_sites(&self) -> &[String] {
        match self {
            Self::Unclear(sites) => sites,
            Self::Known(_) | Self::Unknown => &[],
        }
    }
}

/// The asset graph's names, lines and designations of machines and bearings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MachinePlaces {
    /// Machines by `site/machine`.
    pub machines: BTreeMap<String, MachinePlace>,
    /// Designations of bearings by `site/machine/bearing`.
    pub designations: BTreeMap<String, String>,
}

/// The name of a machine, and its line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MachinePlace {
    /// Its name, where it has one beside its id.
    pub name: Option<String>,
    /// The line that it belongs to.
    pub line: Option<String>,
}
