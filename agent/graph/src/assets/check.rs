//! Checks the rules of a plant: ends that exist and fit, no cycle of parts, one bearing a place.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::{Assets, EdgeName, NodeName, Origins, RELATIONSHIP_TYPES};
use crate::files::FileProblem;
use crate::value::{Properties, Value};

/// Everything that is wrong with a plant; empty if it is right.
pub fn check(assets: &Assets, origins: &Origins) -> Vec<FileProblem> {
    let mut problems = Vec::new();
    for (name, properties) in &assets.edges {
        ends(assets, origins, name, &mut problems);
        times(origins, name, properties, &mut problems);
    }
    cycles(assets, origins, &mut problems);
    let stays = stays(assets);
    // a machine without a site may be two, one of each site: their bearings share no place
    let place = |stay: &Stay<'_>| {
        let site = stay.edge.from.id.split('/').next().unwrap_or_default();
        (stay.edge.to.clone(), format!("{site}/{}", stay.position))
    };
    overlaps(&stays, place, origins, &mut problems, |a, b| {
        format!(
            "{} and {} are in one place, {} {}, from {}",
            a.edge.from, b.edge.from, a.edge.to, a.position, b.since
        )
    });
    let bearing = |stay: &Stay<'_>| (stay.edge.from.clone(), String::new());
    overlaps(&stays, bearing, origins, &mut problems, |a, b| {
        format!(
            "{} is in two places, {} and {}, from {}",
            a.edge.from, a.edge.to, b.edge.to, b.since
        )
    });
    problems
}

fn ends(assets: &Assets, origins: &Origins, name: &EdgeName, problems: &mut Vec<FileProblem>) {
    for end in [&name.from, &name.to] {
        if !assets.nodes.contains_key(end) {
            problems.push(origins.of_edge(name, format!("{name}: {end} does not exist")));
        }
    }
    let Some((_, from, to)) = RELATIONSHIP_TYPES.iter().find(|(kind, ..)| *kind == &*name.kind)
    else {
        problems.push(origins.of_edge(name, format!("{name}: {} is no type", name.kind)));
        return;
    };
    for (end, allowed) in [(&name.from, from), (&name.to, to)] {
        if !allowed.contains(&&*end.kind) {
            let message =
                format!("{name}: {} joins {} with {}", name.kind, from.join(", "), to.join(", "));
            problems.push(origins.of_edge(name, message));
            return;
        }
    }
    if name.kind.as_ref() == "SAME_MODEL" && name.from.kind != name.to.kind {
        problems.push(origins.of_edge(name, format!("{name}: both ends have to be of one type")));
    }
}

/// `since` and `until` are days or instants, in this order.
fn times(
    origins: &Origins,
    name: &EdgeName,
    properties: &Properties,
    problems: &mut Vec<FileProblem>,
) {
    for key in ["since", "until"] {
        if let Some(value) = properties.get(key)
            && !matches!(value, Value::Text(text) if is_time(text))
        {
            let message =
                format!("{name}: {key} is {}, expected a day such as 2026-03-01", value.to_json());
            problems.push(origins.of_edge(name, message));
        }
    }
    let (since, until) = span(properties);
    if *until <= *since {
        problems.push(
            origins.of_edge(name, format!("{name}: until {until} is not after since {since}")),
        );
    }
}

/// A day, or an instant in UTC; texts of this form sort by time.
fn is_time(text: &str) -> bool {
    let day = text.get(..10).unwrap_or_default().as_bytes();
    let digits = |range: std::ops::Range<usize>| {
        let digits = day.get(range).unwrap_or_default();
        let number = digits
            .iter()
            .try_fold(0_u32, |n, d| d.is_ascii_digit().then(|| n * 10 + u32::from(d - b'0')));
        number.filter(|_| !digits.is_empty())
    };
    let in_range = digits(0..4).is_some()
        && digits(5..7).is_some_and(|month| (1..=12).contains(&month))
        && digits(8..10).is_some_and(|day| (1..=31).contains(&day));
    let dashes = day.get(4) == Some(&b'-') && day.get(7) == Some(&b'-');
    let rest = text.get(10..).unwrap_or_default();
    in_range && dashes && (rest.is_empty() || (rest.starts_with('T') && rest.ends_with('Z')))
}

/// Begin and end of a stay; an open end sorts after every time.
fn span(properties: &Properties) -> (Arc<str>, Arc<str>) {
    let text = |key: &str, open: &str| match properties.get(key) {
        Some(Value::Text(text)) => Arc::clone(text),
        _ => open.into(),
    };
    (text("since", ""), text("until", "~"))
}

/// A bearing in a machine for a time.
struct Stay<'a> {
    edge: &'a EdgeName,
    position: Arc<str>,
    since: Arc<str>,
    until: Arc<str>,
}

/// The stays of bearings in machines. Without a position, the last part of the bearing's name is
/// it.
fn stays(assets: &Assets) -> Vec<Stay<'_>> {
    let installed = assets.edges.iter().filter(|(name, _)| &*name.kind == "INSTALLED_IN");
    let stays = installed.map(|(edge, properties)| {
        let position = match properties.get("position") {
            Some(Value::Text(position)) => Arc::clone(position),
            _ => edge.from.id.rsplit('/').next().unwrap_or_default().into(),
        };
        let (since, until) = span(properties);
        Stay { edge, position, since, until }
    });
    stays.collect()
}

fn overlaps(
    stays: &[Stay<'_>],
    by: impl Fn(&Stay<'_>) -> (NodeName, String),
    origins: &Origins,
    problems: &mut Vec<FileProblem>,
    told: impl Fn(&Stay<'_>, &Stay<'_>) -> String,
) {
    let mut groups: BTreeMap<_, Vec<&Stay<'_>>> = BTreeMap::new();
    for stay in stays {
        groups.entry(by(stay)).or_default().push(stay);
    }
    for group in groups.values_mut() {
        group.sort_by(|a, b| a.since.cmp(&b.since));
        for pair in group.windows(2) {
            if let [a, b] = pair
                && b.since < a.until
            {
                // told at the one that comes from a file
                let at = if origins.has_edge(b.edge) { b } else { a };
                problems.push(origins.of_edge(at.edge, told(a, b)));
            }
        }
    }
}

/// Cycles of `HAS_PART`, each told once, at one of its relationships.
fn cycles(assets: &Assets, origins: &Origins, problems: &mut Vec<FileProblem>) {
    let mut parts: HashMap<&NodeName, Vec<&EdgeName>> = HashMap::new();
    for name in assets.edges.keys().filter(|name| &*name.kind == "HAS_PART") {
        parts.entry(&name.from).or_default().push(name);
    }
    let mut done: HashSet<&NodeName> = HashSet::new();
    for start in assets.nodes.keys() {
        if done.contains(start) || !parts.contains_key(start) {
            continue;
        }
        // depth first without recursion: a plant may nest as deep as its file says
        let mut way: Vec<(&NodeName, usize)> = vec![(start, 0)];
        let mut on_way: HashSet<&NodeName> = HashSet::from([start]);
        while let Some((node, next)) = way.last_mut() {
            let Some(edge) = parts.get(*node).and_then(|edges| edges.get(*next)) else {
                on_way.remove(*node);
                done.insert(*node);
                way.pop();
                continue;
            };
            *next += 1;
            if on_way.contains(&edge.to) {
                let from = way.iter().position(|(node, _)| **node == edge.to).unwrap_or(0);
                let cycle: Vec<_> = way[from..].iter().map(|(node, _)| node.to_string()).collect();
                let message = format!("HAS_PART goes round: {} -> {}", cycle.join(" -> "), edge.to);
                problems.push(origins.of_edge(edge, message));
            } else if !done.contains(&edge.to) {
                on_way.insert(&edge.to);
                way.push((&edge.to, 0));
            }
        }
    }
}
