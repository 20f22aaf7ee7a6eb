//! A machine as the plant's own documents name it: by its id, by what people call it, or by its
//! kind where that is its own.

use std::collections::{BTreeMap, BTreeSet};

use super::super::super::desk::CoreFields;
use super::super::super::intent::QUESTION_WORDS;
use super::super::terms::Term;

/// A machine by its names.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    pub(super) site: String,
    pub(super) id: String,
    /// The names that people use for it, in both languages.
    pub(super) names: Vec<String>,
    /// The names of machines of the same id at other sites.
    pub(super) others: Vec<String>,
    /// Its kind (`blower`), where all machines of the site of that kind have the letters of its id.
    pub(super) kinds: Vec<String>,
    /// Ids and names of the others of these.
    pub(super) siblings: Vec<String>,
}

/// The machines of some bearings, each once. A plant of a thousand machines is gone through once,
/// not once a machine.
pub(super) fn machines(meant: &[&CoreFields], fleet: &[CoreFields]) -> Vec<Machine> {
    let mut by_id: BTreeMap<&str, Vec<&CoreFields>> = BTreeMap::new();
    let mut groups: BTreeMap<(&str, String), Vec<&CoreFields>> = BTreeMap::new();
    for core in fleet {
        by_id.entry(core.key.equipment.as_str()).or_default().push(core);
        groups.entry(group_of(core)).or_default().push(core);
    }
    let mut kinds: BTreeMap<(&str, String), Vec<String>> = BTreeMap::new();
    let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
    let mut all = Vec::new();
    for core in meant {
        let (site, id) = (core.key.site.as_str(), core.key.equipment.as_str());
        if !seen.insert((site, id)) {
            continue;
        }
        let group = group_of(core);
        let of_id = by_id.get(id).into_iter().flatten();
        let others = of_id.filter(|one| one.key.site.as_str() != site);
        // ids of one letter are of no group
        let in_group = groups.get(&group).into_iter().flatten().filter(|_| group.1.len() > 1);
        let beside = in_group.filter(|one| one.key.equipment.as_str() != id);
        let kinds = kinds.entry(group.clone()).or_insert_with(|| own_kinds(core, fleet));
        all.push(Machine {
            site: site.to_owned(),
            id: id.to_lowercase(),
            names: names_of(core),
            others: others.flat_map(|one| names_of(one)).collect(),
            kinds: kinds.clone(),
            siblings: beside
                .flat_map(|one| {
                    let id = one.key.equipment.as_str().to_lowercase();
                    names_of(one).into_iter().chain([id])
                })
                .collect(),
        });
    }
    all
}

/// Most machines in whose names a word stands that stands for their ids. Chosen: two; a word of
/// three is a kind.
const CALLED: usize = 2;

/// Counts the id and the names of a machine as the words of its name: people say `cooling tower`
/// where a document writes CT-1, and ask in the other language.
pub(super) fn call_by_ids(terms: &mut [Term], everyone: &[Machine]) {
    for term in terms {
        let is_of_name = |one: &&Machine| one.names.iter().any(|name| has_word(name, term.word()));
        let named: Vec<&Machine> = everyone.iter().filter(is_of_name).collect();
        if named.len() <= CALLED {
            let names = named.iter().flat_map(|one| one.names.iter().chain([&one.id])).cloned();
            term.also_called(names.collect::<Vec<_>>());
        }
    }
}

/// Whether a name has a word: a Latin one whole, a Korean one as the begin of a word.
fn has_word(name: &str, word: &str) -> bool {
    let mut words = name.split_whitespace();
    word.contains(' ') && name.contains(word)
        || words.any(|one| one == word || !word.is_ascii() && one.starts_with(word))
}

/// The site of a machine and the letters of its id: `BLW-1` and `BLW-2` are of one group.
fn group_of(core: &CoreFields) -> (&str, String) {
    let id = core.key.equipment.as_str();
    (core.key.site.as_str(), id.chars().take_while(|c| c.is_alphabetic()).collect())
}

fn names_of(core: &CoreFields) -> Vec<String> {
    let name = core.machine_name.iter();
    name.flat_map(|text| [text.ko.to_lowercase(), text.en.to_lowercase()]).collect()
}

/// Whether two machines are of one group of at least two letters.
fn is_sibling(one: &CoreFields, other: &CoreFields) -> bool {
    let own = group_of(one);
    own.1.len() > 1 && own == group_of(other)
}

/// The kinds that the names of a machine and its siblings have, and those of no other machine of
/// the site.
fn own_kinds(core: &CoreFields, fleet: &[CoreFields]) -> Vec<String> {
    let has_kind = |one: &CoreFields, kind: &String| names_of(one).iter().any(|n| n.contains(kind));
    let kinds = QUESTION_WORDS.machine_kinds.iter().filter(|kind| kind.chars().count() > 1);
    let is_own = |kind: &&String| {
        let of_site = || fleet.iter().filter(|one| one.key.site == core.key.site);
        of_site().any(|one| is_sibling(one, core) && has_kind(one, kind))
            && of_site().all(|one| is_sibling(one, core) || !has_kind(one, kind))
    };
    let own: Vec<&String> = kinds.filter(is_own).collect();
    // the same kind in the other language
    let groups = QUESTION_WORDS.same_kinds.iter();
    let same = groups.filter(|group| own.iter().any(|kind| group.contains(kind))).flatten();
    let mut all: Vec<String> = same.chain(own.iter().copied()).cloned().collect();
    all.sort_unstable();
    all.dedup();
    all
}

impl Machine {
    /// A machine of this id and no name.
    #[cfg(test)]
    pub(super) fn named(id: &str) -> Self {
        let none = Vec::new;
        let (site, id) = ("s-1".to_owned(), id.to_owned());
        Self { site, id, names: none(), others: none(), kinds: none(), siblings: none() }
    }

    /// The others of these machines.
    pub(super) fn others_of(&self, all: &[Self]) -> Vec<Self> {
        all.iter().filter(|one| one.id != self.id || one.site != self.site).cloned().collect()
    }

    /// Whether a text in lower case is of this machine: it has its name or its id, and not the name
    /// of another machine of that id; or it is of all machines of its kind.
    pub(super) fn is_named_in(&self, text: &str) -> bool {
        let is_siblings = self.siblings.iter().any(|name| !name.is_empty() && text.contains(name));
        let is_of_kind = self.kinds.iter().any(|kind| text.contains(kind)) && !is_siblings;
        self.is_named_itself(text) || is_of_kind
    }

    /// Whether a text in lower case has its name or its id, and not the name of another machine of
    /// that id.
    pub(super) fn is_named_itself(&self, text: &str) -> bool {
        let has_own = self.names.iter().any(|name| !name.is_empty() && text.contains(name));
        let is_word = |at: usize| {
            let (before, after) = (&text[..at], &text[at + self.id.len()..]);
            !before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '-')
                && !after.starts_with(|c: char| c.is_ascii_alphanumeric())
        };
        let has_id = text.match_indices(self.id.as_str()).any(|(at, _)| is_word(at));
        let is_others = self.others.iter().any(|name| !name.is_empty() && text.contains(name));
        has_own || has_id && !is_others
    }

    /// Whether a text in lower case is of this machine and not of one of the others, which it names
    /// itself where it has the kind of this one alone.
    pub(super) fn is_meant_by(&self, text: &str, others: &[Self]) -> bool {
        self.is_named_itself(text)
            || self.is_named_in(text) && !others.iter().any(|one| one.is_named_itself(text))
    }
}

#[cfg(test)]
mod tests {
    use pdm_shared::id::BearingKey;
    use pdm_shared::risk::RiskLevel;
    use pdm_shared::text::Text;

    use super::*;

    fn core(id: &str, en: &str) -> CoreFields {
        CoreFields {
            key: BearingKey::parse("works-1", id, "DE").expect("names"),
            risk: RiskLevel::Normal,
            stage: 0,
            fault: None,
            rul_hours: None,
            event_id: None,
            measured_at: None,
            alarm: None,
            machine_name: Some(Text::new(en, en)),
            location: None,
            suppression: pdm_shared::episode::Suppression::None,
            abnormal_since: None,
            risen: Vec::new(),
            watch: crate::chat::desk::Watch::Judged,
            is_of_many_sites: false,
        }
    }

    /// A sheet says "blower" of all blowers; of two pumps with other ids it says nothing by "pump".
    #[test]
    fn a_kind_names_a_machine_where_it_is_its_own() {
        let fleet = [
            core("BLW-1", "The Bull"),
            core("BLW-2", "Blower 2"),
            core("WP-16", "White water pump"),
            core("VP-4", "Vacuum pump"),
        ];
        let all = machines(&fleet.iter().collect::<Vec<_>>(), &fleet);
        let named = |text: &str| {
            let named = all.iter().filter(|one| one.is_named_in(text));
            named.map(|one| one.id.clone()).collect::<Vec<_>>()
        };
        assert_eq!(named("- blower bearing cover m8: 21 n·m"), ["blw-1", "blw-2"]);
        assert_eq!(named("- blower 2: belts every year"), ["blw-2"]);
        assert_eq!(named("- pump housing bolts m12: 78 n·m"), Vec::<String>::new());
        assert_eq!(named("- wp-16 housing bolts"), ["wp-16"]);
    }

    /// Machines of one id at two sites are told apart by their names; ids of one letter have no
    /// siblings.
    #[test]
    fn machines_of_one_id_and_of_one_group_know_each_other() {
        let at = |site: &str, id: &str, en: &str| {
            let key = BearingKey::parse(site, id, "DE").expect("names");
            CoreFields { key, ..core(id, en) }
        };
        let fleet = [
            at("works-1", "BLW-1", "The Bull"),
            at("works-1", "BLW-2", "Blower 2"),
            at("works-2", "BLW-1", "Old fan"),
            at("works-1", "P-1", "Feed pump"),
            at("works-1", "P-2", "Drain pump"),
        ];
        let all = machines(&fleet.iter().chain(&fleet).collect::<Vec<_>>(), &fleet);
        assert_eq!(all.len(), 5, "each once");
        assert!(all[0].others.contains(&"old fan".to_owned()));
        assert!(all[0].siblings.contains(&"blw-2".to_owned()) && all[3].siblings.is_empty());
    }
}
