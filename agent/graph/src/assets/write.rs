//! Writes a plant as the YAML that [`super::read_assets`] takes. A JSON object on one line is YAML.

use serde_json::{Map, Value as Json};

use super::{Assets, DIGEST_TYPES};
use crate::value::{Properties, properties_json};

/// The YAML of a plant, without the digests that the agent brings itself.
pub fn to_yaml(assets: &Assets) -> String {
    let is_own = |kind: &str| !DIGEST_TYPES.contains(&kind);
    let mut text = String::from("nodes:\n");
    for (name, properties) in assets.nodes.iter().filter(|(name, _)| is_own(&name.kind)) {
        let own = [("type", &name.kind), ("id", &name.id)];
        push(&mut text, &own.map(|(key, value)| (key, value.to_string())), properties);
    }
    text.push_str("relationships:\n");
    let edges = assets.edges.iter();
    for (name, properties) in
        edges.filter(|(name, _)| is_own(&name.from.kind) && is_own(&name.to.kind))
    {
        let own = [
            ("type", name.kind.to_string()),
            ("from", name.from.to_string()),
            ("to", name.to.to_string()),
        ];
        push(&mut text, &own, properties);
    }
    text
}

fn push(text: &mut String, own: &[(&str, String)], properties: &Properties) {
    let own = own.iter().map(|(key, value)| ((*key).to_owned(), Json::from(value.as_str())));
    let mut entry: Map<String, Json> = own.collect();
    if let Json::Object(rest) = properties_json(properties) {
        for (key, value) in rest {
            entry.entry(key).or_insert(value);
        }
    }
    text.push_str("  - ");
    text.push_str(&Json::Object(entry).to_string());
    text.push('\n');
}
