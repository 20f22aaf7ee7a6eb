//! The tools of a folder and of packs: reads them, checks them against each other, lists and finds
//! them.
//!
//! Invariant: a [`Registry`] is always valid as a whole: names are unique, every dependency exists,
//! there is no circle, every pipeline has a plan. A file that would break this is left out, or its
//! last valid version stays; a [`Problem`] gives the reason.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::graph::{self, Tools};
use super::layer::Layer;
use super::pack::{Pack, PackData};
use super::problem::Problem;
use super::sources::{Read, Sources};
use super::spec::ToolSpec;
use super::spec::executor::{Executor, GraphQuery};

/// The usable tools.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    tools: Tools,
    files: BTreeMap<PathBuf, Arc<ToolSpec>>,
    order: Vec<String>,
    packs: Vec<Arc<Pack>>,
}

/// The result of reading a folder.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The valid tools.
    pub registry: Registry,
    /// The problems of the others, in the order of files and lines.
    pub problems: Vec<Problem>,
}

impl Registry {
    /// Reads every `*.yaml` and `*.yml` of `folder`.
    pub fn read(folder: &Path) -> Loaded {
        Self::load(&Sources::folder(folder))
    }

    /// The tools that come with the program.
    pub fn shipped() -> Loaded {
        Self::load(&Sources::default())
    }

    /// Reads the tools of `sources`.
    pub fn load(sources: &Sources) -> Loaded {
        Self::default().renewed(sources)
    }

    /// Reads the folder again; a file that is now broken keeps its previous version.
    pub fn reread(&self, folder: &Path) -> Loaded {
        self.renewed(&Sources::folder(folder))
    }

    /// Reads `sources` again; a file or a pack that is now broken keeps its previous version.
    pub fn renewed(&self, sources: &Sources) -> Loaded {
        let mut problems = Vec::new();
        match sources.read(&self.packs, &mut problems) {
            Ok(read) => self.with_texts(read, problems),
            Err(problem) => Loaded { registry: self.clone(), problems: vec![problem] },
        }
    }

    fn with_texts(&self, read: Vec<Read>, mut problems: Vec<Problem>) -> Loaded {
        let mut candidates = Vec::new();
        let mut packs = Vec::new();
        let replaced: BTreeMap<String, Option<String>> = read
            .iter()
            .filter_map(|read| read.setting.pack.as_deref())
            .flat_map(|pack| pack.replaces.clone())
            .collect();
        for Read { setting, files } in read {
            let outside = setting.pack.is_none();
            for (file, text) in files {
                let before = self.files.get(&file).cloned();
                let before = before.filter(|old| !outside || !replaced.contains_key(&old.name));
                let fresh = match text {
                    Ok(text) => ToolSpec::parse_in(&file, &text, &setting),
                    Err(problem) => Err(vec![problem]),
                };
                let mut fresh = fresh.map_err(|mut found| problems.append(&mut found)).ok();
                let stays = match &mut fresh {
                    Some(spec) if outside => spec.make_room(&replaced),
                    _ => true,
                };
                if stays {
                    candidates.push(Candidate { fresh: fresh.map(Arc::new), before });
                }
            }
            packs.extend(setting.pack);
        }
        let registry = Self { packs, ..settle(candidates, &mut problems) };
        problems.sort();
        problems.dedup();
        Loaded { registry, problems }
    }

    /// The packs that are turned on.
    pub fn packs(&self) -> &[Arc<Pack>] {
        &self.packs
    }

    /// The data of a pack that is turned on.
    pub fn pack_data(&self, name: &str) -> Option<&Arc<PackData>> {
        self.packs.iter().find(|pack| pack.name == name).map(|pack| &pack.data)
    }

    /// Whether two registries have the same packs with the same data.
    pub(crate) fn has_packs_of(&self, other: &Self) -> bool {
        let same = |(own, other): (&Arc<Pack>, &Arc<Pack>)| {
            (&own.name, &own.version, &own.data) == (&other.name, &other.version, &other.data)
        };
        self.packs.len() == other.packs.len() && self.packs.iter().zip(&other.packs).all(same)
    }

    /// Returns the tools whose function is not among `known`, each as a problem of its file.
    pub fn without_function(&self, known: &[&str]) -> Vec<Problem> {
        let missing = |spec: &Arc<ToolSpec>| {
            let Executor::Builtin { function } = &spec.executor else { return None };
            let is_missing = !known.contains(&function.as_str());
            let known = known.join(", ");
            let message = format!(
                "the program has no function {function:?}; it has: {known} (another executor is \
                 named by the field executor)"
            );
            is_missing.then(|| spec.problem("/executor", message))
        };
        self.list().filter_map(missing).collect()
    }

    /// Tools whose own graph query `check` refuses with a reason, each as a problem of its file.
    /// The grammar belongs to the engine, which this crate does not know.
    pub fn with_wrong_query(&self, check: impl Fn(&str) -> Result<(), String>) -> Vec<Problem> {
        let wrong = |spec: &Arc<ToolSpec>| {
            let Executor::Graph(config) = &spec.executor else { return None };
            let GraphQuery::Fixed(query) = &config.query else { return None };
            check(query).err().map(|reason| spec.problem("/config/query", reason))
        };
        self.list().filter_map(wrong).collect()
    }

    /// The tool with this name.
    pub fn get(&self, name: &str) -> Option<&Arc<ToolSpec>> {
        self.tools.get(name)
    }

    /// All tools in the order of execution.
    pub fn list(&self) -> impl Iterator<Item = &Arc<ToolSpec>> {
        self.order.iter().filter_map(|name| self.tools.get(name))
    }

    /// The tools with this tag.
    pub fn tagged<'a>(&'a self, tag: &'a str) -> impl Iterator<Item = &'a Arc<ToolSpec>> {
        self.list().filter(move |spec| spec.tags.iter().any(|own| own == tag))
    }

    /// The tools of a layer.
    pub fn in_layer(&self, layer: Layer) -> impl Iterator<Item = &Arc<ToolSpec>> {
        self.list().filter(move |spec| spec.layer == layer)
    }

    /// The names in the order of execution.
    pub fn names(&self) -> &[String] {
        &self.order
    }

    /// The dependency graph for the terminal.
    pub fn graph(&self) -> String {
        graph::as_text(&self.tools, &self.order)
    }

    /// The dependency graph for Graphviz.
    pub fn dot(&self) -> String {
        graph::as_dot(&self.tools, &self.order)
    }
}

/// The present and the previous version of a file.
struct Candidate {
    fresh: Option<Arc<ToolSpec>>,
    before: Option<Arc<ToolSpec>>,
}

impl Candidate {
    fn chosen(&self) -> Option<&Arc<ToolSpec>> {
        self.fresh.as_ref().or(self.before.as_ref())
    }

    /// Whether the present version differs from the previous one.
    fn is_new(&self) -> bool {
        match (&self.fresh, &self.before) {
            (Some(fresh), Some(before)) => !fresh.says_the_same_as(before),
            (fresh, _) => fresh.is_some(),
        }
    }
}

/// Selects for each file the newest version with which the whole set is valid.
fn settle(mut candidates: Vec<Candidate>, problems: &mut Vec<Problem>) -> Registry {
    loop {
        let (tools, mut found) = by_name(&candidates);
        found.extend(graph::problems(&tools));
        if found.is_empty() {
            let order = graph::order(&tools);
            let files = tools.values().map(|spec| (spec.file.clone(), Arc::clone(spec))).collect();
            return Registry { tools, files, order, packs: Vec::new() };
        }
        let blamed: BTreeSet<PathBuf> =
            found.iter().map(|(_, problem)| problem.file.clone()).collect();
        problems.extend(found.into_iter().map(|(_, problem)| problem));
        let is_blamed = |candidate: &Candidate| {
            candidate.chosen().is_some_and(|spec| blamed.contains(&spec.file))
        };
        // previous versions are dropped only if no new version is to blame
        let new_to_blame = candidates.iter().any(|c| is_blamed(c) && c.is_new());
        for candidate in &mut candidates {
            if is_blamed(candidate) && (candidate.is_new() || !new_to_blame) {
                if candidate.is_new() {
                    candidate.fresh = None;
                } else {
                    *candidate = Candidate { fresh: None, before: None };
                }
            }
        }
    }
}

/// The selected tools by name. If two files have one name, the problem belongs to the later file,
/// unless the earlier one is new.
fn by_name(candidates: &[Candidate]) -> (Tools, Vec<(String, Problem)>) {
    let mut tools = Tools::new();
    let mut problems = Vec::new();
    let (new, known): (Vec<_>, Vec<_>) = candidates.iter().partition(|c| c.is_new());
    for spec in known.into_iter().chain(new).filter_map(Candidate::chosen) {
        if let Some(other) = tools.get(&spec.name) {
            let message = format!("{} is already the tool of {}", spec.name, other.file.display());
            problems.push((spec.name.clone(), spec.problem("/name", message)));
        } else {
            tools.insert(spec.name.clone(), Arc::clone(spec));
        }
    }
    (tools, problems)
}
