//! Which bearing a question is about: the one that it names, the one of the page, or the one that the
//! conversation named last.

use pdm_shared::id::BearingKey;

use super::Question;
use super::desk::CoreFields;

/// The bearing of a question, among those of the plant.
pub(super) fn bearing(question: &Question, fleet: &[CoreFields]) -> Option<BearingKey> {
    if let Some(key) = named(&question.message, fleet) {
        return Some(key);
    }
    if let Some(about) = &question.about {
        return fleet.iter().any(|core| core.key == *about).then(|| about.clone());
    }
    question.history.iter().rev().find_map(|said| named(&said.content, fleet))
}

/// Every bearing that a text names, in its order: machine and bearing, or machines alone, whose worst bearings
/// are meant.
pub(super) fn all(text: &str, fleet: &[CoreFields]) -> Vec<BearingKey> {
    let lower = text.to_lowercase();
    let holds = |name: &str| mentions(&lower, &name.to_lowercase());
    let mut found: Vec<(usize, BearingKey)> = Vec::new();
    let mut machines: Vec<&str> = Vec::new();
    for core in fleet {
        let machine = core.key.equipment.as_str();
        if machines.contains(&machine) || !holds(machine) {
            continue;
        }
        machines.push(machine);
        let at = lower.find(&machine.to_lowercase()).unwrap_or(0);
        let on_machine = || fleet.iter().filter(|core| core.key.equipment.as_str() == machine);
        let exact: Vec<&CoreFields> =
            on_machine().filter(|core| holds(core.key.bearing.as_str())).collect();
        let meant = if exact.is_empty() { on_machine().take(1).collect() } else { exact };
        found.extend(meant.into_iter().map(|core| (at, core.key.clone())));
    }
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, key)| key).collect()
}

/// The bearing that a text names: machine and bearing, or a machine alone, whose worst bearing is meant.
fn named(text: &str, fleet: &[CoreFields]) -> Option<BearingKey> {
    let text = text.to_lowercase();
    let holds = |name: &str| mentions(&text, &name.to_lowercase());
    let on_machine: Vec<&CoreFields> =
        fleet.iter().filter(|core| holds(core.key.equipment.as_str())).collect();
    let exact = on_machine.iter().find(|core| holds(core.key.bearing.as_str()));
    exact.or(on_machine.first()).map(|core| core.key.clone())
}

/// Whether a text holds a name that is no part of a longer one: `P-10` is not named by `P-101`.
fn mentions(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    text.match_indices(name).any(|(at, found)| {
        let before = text[..at].chars().next_back();
        let after = text[at + found.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_within_a_longer_one_is_not_meant() {
        assert!(mentions("p-101의 상태", "p-101") && mentions("p-101 de?", "de"));
        assert!(
            !mentions("p-1012", "p-101") && !mentions("nde", "de") && !mentions("xp-101", "p-101")
        );
    }
}
