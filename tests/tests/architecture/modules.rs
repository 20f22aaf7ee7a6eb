//! Checks that the top-level modules of each crate form no circle, so that each can be read, moved
//! and tested with only those below it.
//!
//! The check reads the paths of `use` declarations and those of expressions and types that begin
//! with `crate` or `super`; a name that the crate's root re-exports counts as the module it comes
//! from. Test code is left out, and so are paths inside macro calls.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use syn::visit::Visit;

use crate::{CRATES, root};

/// Each module with the modules whose items it names.
type Arrows = BTreeMap<String, BTreeSet<String>>;

/// It has programs and folders of tests, no modules that stand above each other.
const LEFT_OUT: &str = "tests";

/// Every source file below `folder`, with its module path.
fn sources(folder: &Path, modules: &[String], found: &mut Vec<(Vec<String>, PathBuf)>) {
    let entries = std::fs::read_dir(folder).expect("a folder of sources");
    for entry in entries.map(|entry| entry.expect("an entry").path()) {
        let stem = entry.file_stem().expect("a name").to_string_lossy().into_owned();
        let mut inner = modules.to_vec();
        if entry.is_dir() {
            inner.push(stem);
            sources(&entry, &inner, found);
        } else if entry.extension().is_some_and(|ending| ending == "rs") {
            if !["lib", "main", "mod"].contains(&stem.as_str()) {
                inner.push(stem);
            }
            found.push((inner, entry));
        }
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.meta.require_list().is_ok_and(|list| list.tokens.to_string() == "test")
    })
}

/// Collects the paths of one file.
struct Named<'a> {
    /// Module path of the visited code.
    here: Vec<String>,
    /// Absolute paths from the crate's root, at least one segment long.
    paths: &'a mut BTreeSet<Vec<String>>,
}

impl Named<'_> {
    /// Notes a path if it begins inside the crate.
    fn note(&mut self, written: &[String]) {
        let mut at = match written.first().map(String::as_str) {
            Some("crate") => Vec::new(),
            Some("self" | "super") => self.here.clone(),
            _ => return,
        };
        let mut rest = written;
        while let Some((first, after)) = rest.split_first() {
            match first.as_str() {
                "super" => drop(at.pop()),
                "crate" | "self" => {}
                _ => break,
            }
            rest = after;
        }
        at.extend(rest.iter().cloned());
        self.paths.insert(at);
    }

    fn note_use(&mut self, tree: &syn::UseTree, before: &mut Vec<String>) {
        match tree {
            syn::UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.note_use(&path.tree, before);
                before.pop();
            }
            syn::UseTree::Name(name) => self.note_name(before, &name.ident),
            syn::UseTree::Rename(rename) => self.note_name(before, &rename.ident),
            syn::UseTree::Glob(_) => self.note(before),
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.note_use(tree, before);
                }
            }
        }
    }

    fn note_name(&mut self, before: &[String], name: &syn::Ident) {
        let mut whole = before.to_vec();
        whole.push(name.to_string());
        self.note(&whole);
    }
}

impl<'ast> Visit<'ast> for Named<'_> {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if is_test(&module.attrs) {
            return;
        }
        self.here.push(module.ident.to_string());
        syn::visit::visit_item_mod(self, module);
        self.here.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if !is_test(&item.attrs) {
            self.note_use(&item.tree, &mut Vec::new());
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let written: Vec<String> =
            path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.note(&written);
        syn::visit::visit_path(self, path);
    }
}

/// The declarations of the root file: its modules, without those of tests, and the names that it
/// re-exports from them.
#[derive(Debug, Default)]
struct Root {
    modules: BTreeSet<String>,
    re_exports: BTreeMap<String, String>,
}

impl Root {
    fn read(src: &Path) -> Self {
        let mut root = Self::default();
        for file in ["lib.rs", "main.rs"].map(|name| src.join(name)) {
            let Ok(text) = std::fs::read_to_string(&file) else { continue };
            for item in syn::parse_file(&text).expect("valid Rust").items {
                root.declare(&item);
            }
        }
        root
    }

    fn declare(&mut self, item: &syn::Item) {
        if let syn::Item::Mod(module) = item
            && !is_test(&module.attrs)
        {
            self.modules.insert(module.ident.to_string());
        } else if let syn::Item::Use(item) = item {
            self.follow(&item.tree, &mut Vec::new());
        }
    }

    fn follow(&mut self, tree: &syn::UseTree, before: &mut Vec<String>) {
        match tree {
            syn::UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.follow(&path.tree, before);
                before.pop();
            }
            syn::UseTree::Name(name) => self.re_export(&name.ident.to_string(), before),
            syn::UseTree::Rename(rename) => self.re_export(&rename.rename.to_string(), before),
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.follow(tree, before);
                }
            }
            syn::UseTree::Glob(_) => {}
        }
    }

    fn re_export(&mut self, name: &str, from: &[String]) {
        let module = from.iter().find(|segment| !["crate", "self"].contains(&segment.as_str()));
        if let Some(module) = module {
            self.re_exports.insert(name.to_owned(), module.clone());
        }
    }

    /// The top-level module of a path; `None` for items of the root itself.
    fn module_of(&self, path: &[String]) -> Option<&String> {
        let first = path.first()?;
        self.modules
            .get(first)
            .or_else(|| self.re_exports.get(first).filter(|module| self.modules.contains(*module)))
    }
}

fn arrows_of(krate: &str) -> Arrows {
    let src = root().join(krate).join("src");
    let root = Root::read(&src);
    let mut files = Vec::new();
    sources(&src, &[], &mut files);
    let mut arrows = Arrows::new();
    for (modules, file) in files {
        let is_test_file = modules.iter().any(|name| name.ends_with("tests"));
        let Some(top) = modules.first().filter(|top| root.modules.contains(*top)) else { continue };
        if is_test_file {
            continue;
        }
        let text = std::fs::read_to_string(&file).expect("a source");
        let parsed = syn::parse_file(&text).expect("valid Rust");
        let mut paths = BTreeSet::new();
        Named { here: modules.clone(), paths: &mut paths }.visit_file(&parsed);
        let named = paths.iter().filter_map(|path| root.module_of(path));
        arrows.entry(top.clone()).or_default().extend(named.filter(|to| *to != top).cloned());
    }
    arrows
}

/// The modules on a circle: those left after repeatedly removing all modules without an arrow to,
/// or from, a remaining module.
fn circle(arrows: &Arrows) -> Arrows {
    let mut left = arrows.clone();
    loop {
        let before = left.len();
        let names: BTreeSet<String> = left.keys().cloned().collect();
        left.retain(|_, to| to.iter().any(|name| names.contains(name)));
        let reached: BTreeSet<String> = left.values().flatten().cloned().collect();
        left.retain(|name, _| reached.contains(name));
        if left.len() == before {
            break;
        }
    }
    let names: BTreeSet<String> = left.keys().cloned().collect();
    for to in left.values_mut() {
        to.retain(|name| names.contains(name));
    }
    left
}

#[test]
fn top_level_modules_form_no_circle() {
    let mut told = String::new();
    for krate in CRATES.into_iter().filter(|krate| *krate != LEFT_OUT) {
        let arrows = arrows_of(krate);
        assert!(!arrows.is_empty(), "no modules found in {krate}");
        for (from, to) in circle(&arrows) {
            let _infallible = writeln!(told, "{krate}: {from} -> {to:?}");
        }
    }
    assert!(told.is_empty(), "modules that form circles:\n{told}");
}

#[test]
fn a_circle_is_found_and_what_hangs_on_it_is_not_part_of_it() {
    let arrow = |from: &str, to: &[&str]| {
        (from.to_owned(), to.iter().map(|name| (*name).to_owned()).collect())
    };
    let arrows = Arrows::from([
        arrow("a", &["b"]),
        arrow("b", &["c", "d"]),
        arrow("c", &["b"]),
        arrow("d", &[]),
    ]);
    assert_eq!(circle(&arrows), Arrows::from([arrow("b", &["c"]), arrow("c", &["b"])]));
    assert!(circle(&Arrows::from([arrow("a", &["b"]), arrow("b", &[])])).is_empty());
}

#[test]
fn paths_are_followed_from_where_they_are_written() {
    let text = "use super::super::spool::Row; use crate::{event::Event, window};
                fn f() { super::g::h(); let _: crate::quality::Verdict; }
                #[cfg(test)] mod tests { use crate::pipeline::P; }";
    let parsed = syn::parse_file(text).expect("valid Rust");
    let mut paths = BTreeSet::new();
    let here = vec!["publish".to_owned(), "lanes".to_owned()];
    Named { here, paths: &mut paths }.visit_file(&parsed);
    let told: Vec<String> = paths.iter().map(|path| path.join("::")).collect();
    let expected = ["event::Event", "publish::g::h", "quality::Verdict", "spool::Row", "window"];
    assert_eq!(told, expected);
}
