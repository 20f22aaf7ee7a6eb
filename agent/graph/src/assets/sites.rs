//! Finds the site of a machine of the asset graph: two plants each have a `P-101`.
//!
//! An id `SITE/MACHINE`, or the property `site`, says it. A machine without either is of the site
//! of the bearings that files put into it, else of the site that it is a part of, else of the one
//! site that has a machine of this id. Where these name several sites, the machine is of none of
//! them: a page without a name is better than one with the name of another plant's machine.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::{Assets, EdgeName, NodeName};
use crate::value::{Properties, Value};

/// Marks what the agent brought from events, on nodes and on relationships.
pub const FROM_EVENTS: &str = "from_events";

/// A machine as events name it: its site and its id.
pub type MeasuredMachine = (Arc<str>, Arc<str>);

/// The site of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MachineSite {
    /// The node is of this site.
    Of(Arc<str>),
    /// The graph does not say which of these.
    OneOf(BTreeSet<Arc<str>>),
    /// The graph says nothing, and no site has such a machine.
    Unsaid,
}

/// The node of a machine of a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MachineNode {
    /// The id of the node.
    Known(Arc<str>),
    /// There is a node without a site, which may be of any of these.
    Unclear(BTreeSet<Arc<str>>),
    /// The graph knows no such machine.
    Unknown,
}

/// The machines of a graph with their sites.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MachineSites {
    sites: BTreeMap<Arc<str>, MachineSite>,
    /// The ids of nodes that events alone brought: they say no more than that there is such a
    /// machine.
    bare: BTreeSet<Arc<str>>,
}

/// The site and the machine of an id; no site where the id has none.
pub fn machine_id_parts(id: &str) -> (Option<&str>, &str) {
    match id.split_once('/') {
        Some((site, machine)) if !site.is_empty() && !machine.contains('/') => {
            (Some(site), machine)
        }
        _ => (None, id),
    }
}

/// The id of a machine's node with its site.
pub fn machine_id_of(site: &str, equipment: &str) -> String {
    format!("{site}/{equipment}")
}

/// The site and the machine of a bearing's id.
fn bearing_id_parts(id: &str) -> Option<(&str, &str)> {
    let (site, rest) = id.split_once('/')?;
    Some((site, rest.split_once('/')?.0))
}

/// Whether the agent brought an element from events.
pub fn is_from_events(own: &Properties) -> bool {
    own.get(FROM_EVENTS) == Some(&Value::Bool(true))
}

/// The evidence for a site.
#[derive(Debug, Default)]
struct Evidence {
    bearings: BTreeSet<Arc<str>>,
    through_lines: BTreeSet<Arc<str>>,
    at_once: BTreeSet<Arc<str>>,
}

impl Evidence {
    fn site(self, measured: &BTreeSet<Arc<str>>) -> MachineSite {
        let several = |sites: BTreeSet<Arc<str>>| {
            let mut each = sites.iter();
            match (each.next(), each.next()) {
                (None, _) => MachineSite::Unsaid,
                (Some(one), None) => MachineSite::Of(Arc::clone(one)),
                _ => MachineSite::OneOf(sites),
            }
        };
        let Self { bearings, through_lines, at_once } = self;
        if !bearings.is_empty() {
            let is_against = !through_lines.is_empty() && through_lines.is_disjoint(&bearings);
            let sites = if is_against { &bearings | &through_lines } else { bearings };
            return several(sites);
        }
        if !through_lines.is_empty() {
            return several(through_lines);
        }
        // older versions joined a machine without a site with the site of the first event that
        // named it
        let sites = if at_once.is_empty() { measured.clone() } else { &at_once | measured };
        several(sites)
    }
}

impl MachineSites {
    /// The sites of the machines of `assets`; `measured` are the machines that events name.
    pub fn of_assets(assets: &Assets, measured: &BTreeSet<MeasuredMachine>) -> Self {
        let mut by_machine: HashMap<&str, BTreeSet<Arc<str>>> = HashMap::new();
        for (site, machine) in measured {
            by_machine.entry(machine).or_default().insert(Arc::clone(site));
        }
        let of_kind =
            |kind: &'static str| assets.nodes.iter().filter(move |(name, _)| &*name.kind == kind);
        for (name, _) in of_kind("Bearing") {
            if let Some((site, machine)) = bearing_id_parts(&name.id) {
                by_machine.entry(machine).or_default().insert(site.into());
            }
        }
        let mut evidence = evidence_of(assets);
        let nowhere = BTreeSet::new();
        let mut found = Self::default();
        for (name, own) in of_kind("Equipment") {
            let stated = match own.get("site") {
                Some(Value::Text(site)) => Some(Arc::clone(site)),
                _ => machine_id_parts(&name.id).0.map(Arc::from),
            };
            let own_evidence = evidence.remove(name).unwrap_or_default();
            let measured = by_machine.get(&*name.id).unwrap_or(&nowhere);
            let site = stated.map_or_else(|| own_evidence.site(measured), MachineSite::Of);
            found.sites.insert(Arc::clone(&name.id), site);
            if is_from_events(own) {
                found.bare.insert(Arc::clone(&name.id));
            }
        }
        found
    }

    /// The node of a machine of a site. A node that a file describes goes before one that events
    /// brought.
    pub fn machine_node(&self, site: &str, equipment: &str) -> MachineNode {
        let with_site = machine_id_of(site, equipment);
        let exact = self.sites.get_key_value(with_site.as_str()).map(|(id, _)| id);
        let plain = self.sites.get_key_value(equipment);
        let known = |id: &Arc<str>| MachineNode::Known(Arc::clone(id));
        match (exact, plain) {
            (Some(id), _) if !self.bare.contains(id) => known(id),
            (_, Some((id, MachineSite::Of(of)))) if **of == *site => known(id),
            (_, Some((_, MachineSite::OneOf(sites)))) if sites.contains(site) => {
                MachineNode::Unclear(sites.clone())
            }
            (Some(id), _) => known(id),
            _ => MachineNode::Unknown,
        }
    }

    /// Returns the site of a node.
    pub fn site_of(&self, id: &str) -> Option<&MachineSite> {
        self.sites.get(id)
    }

    /// The ids of all nodes of machines of this name, with and without a site.
    pub fn ids_of<'m>(&'m self, equipment: &'m str) -> impl Iterator<Item = &'m Arc<str>> {
        self.sites.keys().filter(move |id| machine_id_parts(id).1 == equipment)
    }

    /// Says which machines are of several sites or none, one sentence each.
    pub fn remarks(&self) -> Vec<String> {
        let unclear = self.sites.iter().filter_map(|(id, site)| {
            let MachineSite::OneOf(sites) = site else { return None };
            // what events alone brought has no name that could be another's
            if self.bare.contains(id) {
                return None;
            }
            let sites: Vec<&str> = sites.iter().map(|site| &**site).collect();
            Some(format!(
                "Equipment/{id}: the graph does not say of which site it is ({}), so no page or \
                 tool takes it for a machine of either; write its id as SITE/{id}, or give it \
                 `site`",
                sites.join(", ")
            ))
        });
        unclear.collect()
    }
}

/// Returns the evidence for the sites of machines, by their nodes.
fn evidence_of(assets: &Assets) -> HashMap<NodeName, Evidence> {
    let mut wholes: HashMap<&NodeName, Vec<(&NodeName, bool)>> = HashMap::new();
    let mut evidence: HashMap<NodeName, Evidence> = HashMap::new();
    for (EdgeName { kind, from, to, .. }, own) in &assets.edges {
        match &**kind {
            "HAS_PART" => wholes.entry(to).or_default().push((from, is_from_events(own))),
            "INSTALLED_IN" => {
                let is_brought = assets.nodes.get(from).is_some_and(is_from_events);
                if let Some((site, _)) = bearing_id_parts(&from.id)
                    && !is_brought
                    && !is_from_events(own)
                {
                    evidence.entry(to.clone()).or_default().bearings.insert(site.into());
                }
            }
            _ => {}
        }
    }
    for name in assets.nodes.keys().filter(|name| &*name.kind == "Equipment") {
        let mut seen: HashSet<&NodeName> = HashSet::from([name]);
        let mut way: Vec<(&NodeName, usize)> = vec![(name, 0)];
        while let Some((part, depth)) = way.pop() {
            for (whole, is_brought) in wholes.get(part).into_iter().flatten() {
                if *is_brought || !seen.insert(whole) {
                    continue;
                }
                if &*whole.kind == "Site" {
                    let own = evidence.entry(name.clone()).or_default();
                    let sites = if depth == 0 { &mut own.at_once } else { &mut own.through_lines };
                    sites.insert(Arc::clone(&whole.id));
                } else {
                    way.push((whole, depth + 1));
                }
            }
        }
    }
    evidence
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assets::{check, read_assets};

    fn assets(text: &str) -> Assets {
        let folder = tempfile::tempdir().expect("folder");
        let file = folder.path().join("plant.yaml");
        std::fs::write(&file, text).expect("file");
        let (assets, origins) = read_assets(&[file]).expect("read");
        assert_eq!(check(&assets, &origins), Vec::new());
        assets
    }

    fn sites(text: &str, measured: &[(&str, &str)]) -> MachineSites {
        let measured = measured.iter().map(|(site, id)| (Arc::from(*site), Arc::from(*id)));
        MachineSites::of_assets(&assets(text), &measured.collect())
    }

    fn node(sites: &MachineSites, site: &str, machine: &str) -> String {
        match sites.machine_node(site, machine) {
            MachineNode::Known(id) => id.to_string(),
            MachineNode::Unclear(_) => "unclear".into(),
            MachineNode::Unknown => "unknown".into(),
        }
    }

    const PLAIN: &str = "nodes:\n  - { type: Equipment, id: P-105, name: 급수펌프 5호 }\n";

    #[test]
    fn a_machine_without_a_site_is_of_the_one_site_that_has_it() {
        let one = sites(PLAIN, &[("ulsan-1", "P-105"), ("yeosu-2", "G-1")]);
        assert_eq!(node(&one, "ulsan-1", "P-105"), "P-105");
        assert_eq!(node(&one, "yeosu-2", "P-105"), "unknown");
        let two = sites(PLAIN, &[("ulsan-1", "P-105"), ("yeosu-2", "P-105")]);
        assert_eq!(node(&two, "ulsan-1", "P-105"), "unclear");
        assert_eq!(node(&two, "yeosu-2", "P-105"), "unclear");
        assert_eq!(two.remarks().len(), 1, "{:?}", two.remarks());
        assert!(two.remarks()[0].contains("ulsan-1, yeosu-2"), "{:?}", two.remarks());
    }

    #[test]
    fn the_bearings_of_a_file_say_of_which_site_their_machine_is() {
        let text = format!(
            "{PLAIN}  - {{ type: Bearing, id: ulsan-1/P-105/DE }}\nrelationships:\n  - {{ type: \
             INSTALLED_IN, from: Bearing/ulsan-1/P-105/DE, to: Equipment/P-105 }}\n"
        );
        let found = sites(&text, &[("ulsan-1", "P-105"), ("yeosu-2", "P-105")]);
        assert_eq!(node(&found, "ulsan-1", "P-105"), "P-105");
        assert_eq!(node(&found, "yeosu-2", "P-105"), "unknown", "never the other plant's");
        assert!(found.remarks().is_empty());
    }

    #[test]
    fn the_line_of_a_machine_says_of_which_site_it_is() {
        let text = "nodes:\n  - { type: Site, id: a }\n  - { type: Line, id: L1 }\n  - { type: \
            Equipment, id: P-1 }\nrelationships:\n  - { type: HAS_PART, from: Site/a, to: Line/L1 \
            }\n  - { type: HAS_PART, from: Line/L1, to: Equipment/P-1 }\n";
        let found = sites(text, &[("a", "P-1"), ("b", "P-1")]);
        assert_eq!(node(&found, "a", "P-1"), "P-1");
        assert_eq!(node(&found, "b", "P-1"), "unknown");
    }

    #[test]
    fn two_sites_have_a_machine_of_one_id() {
        let text = "nodes:\n  - { type: Equipment, id: a/P-1, name: feed }\n  - { type: Equipment, \
            id: P-1, name: cooling, site: b }\n  - { type: Bearing, id: a/P-1/DE }\n  - { type: \
            Bearing, id: b/P-1/DE }\nrelationships:\n  - { type: INSTALLED_IN, from: \
            Bearing/a/P-1/DE, to: Equipment/a/P-1 }\n  - { type: INSTALLED_IN, from: \
            Bearing/b/P-1/DE, to: Equipment/P-1 }\n";
        let found = sites(text, &[("a", "P-1"), ("b", "P-1")]);
        assert_eq!(node(&found, "a", "P-1"), "a/P-1");
        assert_eq!(node(&found, "b", "P-1"), "P-1");
        assert_eq!(node(&found, "c", "P-1"), "unknown");
        assert_eq!(found.ids_of("P-1").count(), 2);
    }

    /// A file that puts the bearings of two plants into one machine is read, and its name is
    /// nobody's.
    #[test]
    fn one_node_for_two_sites_is_taken_and_gives_nobody_its_name() {
        let text = "nodes:\n  - { type: Equipment, id: P-1, name: feed }\n  - { type: Bearing, id: \
            a/P-1/NDE }\n  - { type: Bearing, id: b/P-1/NDE }\nrelationships:\n  - { type: \
            INSTALLED_IN, from: Bearing/a/P-1/NDE, to: Equipment/P-1, position: NDE }\n  - { type: \
            INSTALLED_IN, from: Bearing/b/P-1/NDE, to: Equipment/P-1, position: NDE }\n";
        let found = sites(text, &[]);
        assert_eq!(node(&found, "a", "P-1"), "unclear");
        assert_eq!(node(&found, "b", "P-1"), "unclear");
        assert_eq!(found.remarks().len(), 1);
    }

    /// Older versions joined `P-1` with the site whose event came first.
    #[test]
    fn a_site_that_events_joined_a_machine_with_decides_nothing_between_two() {
        let text = "nodes:\n  - { type: Site, id: b }\n  - { type: Equipment, id: P-1, name: feed \
            }\nrelationships:\n  - { type: HAS_PART, from: Site/b, to: Equipment/P-1 }\n";
        let two = sites(text, &[("a", "P-1"), ("b", "P-1")]);
        assert_eq!(node(&two, "b", "P-1"), "unclear");
        let one = sites(text, &[("b", "P-1")]);
        assert_eq!(node(&one, "b", "P-1"), "P-1");
    }
}
