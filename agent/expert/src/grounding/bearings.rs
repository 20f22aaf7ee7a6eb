//! Finds whose a figure is: the bearings that a text speaks of, and the bearing that a reading
//! belongs to.
//!
//! A plant is a list of machines and their bearings. A clause that names bearings speaks of those;
//! one that names none speaks of what its sentence names, else of what was named last before it.

use std::ops::Range;

use super::claim::{clause, sentence};

/// A bearing, or all of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Owner {
    machine: String,
    bearing: Option<String>,
}

impl Owner {
    /// Whether the two can be the same bearing.
    fn meets(&self, other: &Self) -> bool {
        self.machine == other.machine
            && match (&self.bearing, &other.bearing) {
                (Some(own), Some(other)) => own == other,
                (None, _) | (_, None) => true,
            }
    }
}

/// The bearings of a plant by name, machine and bearing.
#[derive(Debug, Clone, Default)]
pub(super) struct Plant(Vec<(String, String)>);

impl Plant {
    pub(super) fn of(names: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(names.into_iter().collect())
    }

    /// The bearing of a mapping that says whose it is; names stand in `equipment_id` and
    /// `bearing_id`, or a whole name (`site/machine/bearing`) in one of them.
    pub(super) fn of_fields(&self, field: impl Fn(&str) -> Option<String>) -> Option<Owner> {
        let told = |names: [&str; 2]| names.into_iter().find_map(&field);
        let (machine, bearing) =
            (told(["equipment_id", "equipment"]), told(["bearing_id", "bearing"]));
        let whole = bearing.iter().chain(&machine).find_map(|name| {
            let mut parts = name.rsplit('/');
            let (bearing, machine) = (parts.next()?, parts.next()?);
            self.known(machine, Some(bearing))
        });
        whole.or_else(|| self.known(&machine?, bearing.as_deref()))
    }

    fn known(&self, machine: &str, bearing: Option<&str>) -> Option<Owner> {
        let mut of_machine = self.0.iter().filter(|(name, _)| name.eq_ignore_ascii_case(machine));
        let first = of_machine.next()?;
        let mut all = std::iter::once(first).chain(of_machine);
        let bearing = bearing
            .and_then(|bearing| all.find(|(_, name)| name.eq_ignore_ascii_case(bearing)))
            .map(|(_, name)| name.clone());
        Some(Owner { machine: first.0.clone(), bearing })
    }

    /// The bearings that a piece of text names. Where it names no machine, bearings of `before` are
    /// meant.
    fn named(&self, text: &str, before: &[Owner]) -> Vec<Owner> {
        let lower = text.to_lowercase();
        let holds = |name: &str| mentions(&lower, &name.to_lowercase());
        let mut machines: Vec<&str> = Vec::new();
        for (machine, _) in &self.0 {
            if !machines.contains(&machine.as_str()) && holds(machine) {
                machines.push(machine);
            }
        }
        let is_carried = machines.is_empty();
        if is_carried {
            machines.extend(before.iter().map(|owner| owner.machine.as_str()));
        }
        let mut owners: Vec<Owner> = Vec::new();
        for machine in machines {
            let of_machine = self.0.iter().filter(|(name, _)| name == machine);
            let named: Vec<&String> =
                of_machine.map(|(_, bearing)| bearing).filter(|bearing| holds(bearing)).collect();
            if named.is_empty() && !is_carried {
                owners.push(Owner { machine: machine.to_owned(), bearing: None });
            }
            owners.extend(named.into_iter().map(|bearing| Owner {
                machine: machine.to_owned(),
                bearing: Some(bearing.clone()),
            }));
        }
        owners
    }

    /// Returns the bearings that each clause of a text speaks of.
    pub(super) fn spoken(&self, text: &str) -> Spoken {
        let (mut spoken, mut before, mut from) = (Vec::new(), Vec::new(), 0);
        while !self.0.is_empty() && from < text.len() {
            let sentence = from..sentence(text, from).end.max(from);
            let whole = &text[sentence.clone()];
            let in_sentence = self.named(whole, &before);
            for clause in clauses(whole) {
                let named = self.named(&whole[clause.clone()], &before);
                let of = [named, in_sentence.clone(), before.clone()];
                let of = of.into_iter().find(|owners| !owners.is_empty()).unwrap_or_default();
                spoken.push((from + clause.start..from + clause.end, of));
            }
            if !in_sentence.is_empty() {
                before = in_sentence;
            }
            // behind the end there is one character at least; the next sentence begins behind it
            let end = sentence.end;
            from = text[end..].chars().next().map_or(text.len(), |next| end + next.len_utf8());
        }
        Spoken(spoken)
    }

    /// Whether a reading of `owner` may be told where `told` are spoken of.
    pub(super) fn fits(owner: Option<&Owner>, told: &[Owner]) -> bool {
        owner.is_none_or(|owner| told.is_empty() || told.iter().any(|one| one.meets(owner)))
    }
}

/// The bearings that the clauses of a text speak of.
#[derive(Debug)]
pub(super) struct Spoken(Vec<(Range<usize>, Vec<Owner>)>);

impl Spoken {
    /// Returns the bearings that the figure at this place is told of; empty if the text names none.
    pub(super) fn at(&self, place: usize) -> &[Owner] {
        let clause = self.0.iter().find(|(clause, _)| clause.contains(&place));
        clause.map_or(&[], |(_, owners)| owners.as_slice())
    }
}

/// The clauses of a sentence in their order.
fn clauses(sentence: &str) -> Vec<Range<usize>> {
    let (mut all, mut from) = (Vec::new(), 0);
    while from < sentence.len() {
        let clause = from..clause(sentence, from).end;
        from = clause.end + ", ".len();
        all.push(clause);
    }
    all
}

/// Whether a text holds a name that is no part of a longer one.
fn mentions(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    !name.is_empty()
        && text.match_indices(name).any(|(at, found)| {
            let before = text[..at].chars().next_back();
            let after = text[at + found.len()..].chars().next();
            !before.is_some_and(is_part) && !after.is_some_and(is_part)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plant() -> Plant {
        let names = [("P-101", "DE"), ("P-101", "NDE"), ("P-102", "DE"), ("P-10", "1")];
        Plant::of(names.map(|(machine, bearing)| (machine.to_owned(), bearing.to_owned())))
    }

    fn told(text: &str, figure: &str) -> Vec<String> {
        let at = text.rfind(figure).expect("there");
        let name = |owner: Owner| match owner.bearing {
            Some(bearing) => format!("{} {bearing}", owner.machine),
            None => owner.machine,
        };
        plant().spoken(text).at(at).iter().cloned().map(name).collect()
    }

    #[test]
    fn a_figure_is_told_of_what_its_clause_or_sentence_names_or_what_was_named_last() {
        assert_eq!(told("P-101 DE는 120시간", "120"), ["P-101 DE"]);
        assert_eq!(told("P-101은 96시간, P-102는 120시간 남음", "120"), ["P-102"]);
        assert_eq!(told("P-101은 96시간, P-102는 120시간 남음", "96"), ["P-101"]);
        assert_eq!(told("P-101 DE는 경고입니다. 약 120시간 남았습니다.", "120"), ["P-101 DE"]);
        assert_eq!(told("P-101 · DE: 경고, 120시간", "120"), ["P-101 DE"]);
        assert_eq!(told("P-101의 DE는 정상. NDE는 120시간", "120"), ["P-101 NDE"]);
        assert_eq!(told("■ P-102\n- 잔여수명 120시간", "120"), ["P-102"]);
        assert_eq!(told("120시간 남았습니다.", "120"), Vec::<String>::new());
    }

    #[test]
    fn a_mapping_says_whose_it_is_by_names_of_the_plant_alone() {
        let of = |machine: &str, bearing: &str| {
            let (machine, bearing) = (machine.to_owned(), bearing.to_owned());
            plant().of_fields(move |name| match name {
                "equipment_id" => Some(machine.clone()).filter(|name| !name.is_empty()),
                "bearing_id" => Some(bearing.clone()).filter(|name| !name.is_empty()),
                _ => None,
            })
        };
        let owner = |machine: &str, bearing: Option<&str>| {
            Some(Owner { machine: machine.to_owned(), bearing: bearing.map(str::to_owned) })
        };
        assert_eq!(of("P-101", "DE"), owner("P-101", Some("DE")));
        assert_eq!(of("", "ulsan-1/P-101/NDE"), owner("P-101", Some("NDE")));
        assert_eq!(of("P-102", ""), owner("P-102", None));
        assert_eq!(of("P-999", "DE"), None);
    }
}
