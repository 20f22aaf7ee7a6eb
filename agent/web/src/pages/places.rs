//! Names of machines, their lines and the designations of bearings, by which lists are searched and
//! filtered.

use std::collections::BTreeSet;

use pdm_shared::fault::Fault;
use pdm_shared::id::BearingKey;
use pdm_shared::text::Language;

use crate::Shared;
use crate::plant::{MachinePlace, MachinePlaces};
use crate::problem::Problem;

/// The names, lines and designations of the machines, besides their judgements.
pub(super) struct Places<'a> {
    graph: MachinePlaces,
    shared: &'a Shared,
    language: Language,
}

impl<'a> Places<'a> {
    pub(super) async fn of_plant(
        shared: &'a Shared,
        language: Language,
    ) -> Result<Places<'a>, Problem> {
        Ok(Places { graph: shared.site.plant.machine_places().await?, shared, language })
    }

    fn machine(&self, key: &BearingKey) -> Option<&MachinePlace> {
        self.graph.machines.get(&format!("{}/{}", key.site, key.equipment))
    }

    /// The machine's name: that of the configuration in the reader's language, else that of the
    /// asset graph, which has one.
    pub(super) fn name(&self, key: &BearingKey) -> Option<String> {
        let configured = self.shared.site.plant.machine_name(key);
        let configured = configured.map(|name| name.in_language(self.language).to_owned());
        configured.or_else(|| self.machine(key)?.name.clone())
    }

    /// The line that the machine belongs to.
    pub(super) fn line(&self, key: &BearingKey) -> Option<&str> {
        self.machine(key)?.line.as_deref()
    }

    /// Machine, line and designation, for a search.
    pub(super) fn words(&self, key: &BearingKey) -> String {
        let graph = self.machine(key).and_then(|machine| machine.name.as_deref());
        let configured = self.shared.site.plant.machine_name(key);
        let configured = configured.map(|name| format!("{} {}", name.ko, name.en));
        let configured = configured.unwrap_or_default();
        let name = graph.unwrap_or_default();
        let line = self.line(key).unwrap_or_default();
        let designation = self.designation(key).unwrap_or_default();
        format!("{configured} {name} {line} {designation}")
    }

    /// The bearing's designation: of the configuration, else of the asset graph.
    pub(super) fn designation(&self, key: &BearingKey) -> Option<String> {
        let configured = self.shared.site.plant.designation(key);
        configured.or_else(|| self.graph.designations.get(&key.to_string()).cloned())
    }

    /// Returns the lines of these bearings, each once; empty where there is nothing to choose.
    pub(super) fn lines<'k>(&self, keys: impl Iterator<Item = &'k BearingKey>) -> Vec<String> {
        let lines: BTreeSet<&str> = keys.filter_map(|key| self.line(key)).collect();
        lines.into_iter().map(str::to_owned).collect()
    }

    /// Whether a bearing is on the line of a filter.
    pub(super) fn is_on(&self, key: &BearingKey, line: &str) -> bool {
        line.is_empty() || self.line(key) == Some(line)
    }
}

/// Returns the element of a filter; `None` where it is empty.
pub(super) fn element_of(word: &str) -> Result<Option<Fault>, Problem> {
    if word.is_empty() {
        return Ok(None);
    }
    let known = [Fault::OuterRace, Fault::InnerRace, Fault::Ball, Fault::Cage].into_iter();
    let mut known = known.filter(|fault| fault.as_str() == word);
    let allowed = "outer_race, inner_race, ball, cage";
    known.next().map(Some).ok_or_else(|| Problem::parameter("element", word, allowed))
}
