//! Checks that names say of what: a function that other files call is not called `read` or `told`
//! alone, and no type is called `Found` or `Table` alone, because such a name is found a hundred
//! times and names nothing. Methods and constructors are left out, because their type says it.

use std::path::{Path, PathBuf};

use syn::visit::Visit;

use crate::{CRATES, root};

/// Names that do not tell what they are about.
const BARE: [&str; 18] = [
    "answered", "asked", "blind", "found", "heard", "held", "kept", "known", "made", "of", "read",
    "said", "seen", "shown", "stated", "tell", "tells", "told",
];

/// Names of types that do not tell what they are about.
const BARE_TYPES: [&str; 8] =
    ["Answer", "Asked", "Found", "Place", "Reading", "Step", "Table", "Told"];

/// The signal crate has such types in single files.
const TYPES_LEFT_OUT: [&str; 1] = ["edge/dsp"];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// Bare names in a file: of public functions that stand in a module, and of types.
#[derive(Default)]
struct Bare {
    functions: Vec<String>,
    types: Vec<String>,
}

impl Bare {
    fn note_type(&mut self, name: &syn::Ident) {
        if BARE_TYPES.contains(&name.to_string().as_str()) {
            self.types.push(name.to_string());
        }
    }
}

impl<'ast> Visit<'ast> for Bare {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        let name = function.sig.ident.to_string();
        let is_private = matches!(function.vis, syn::Visibility::Inherited);
        if !is_private && BARE.contains(&name.as_str()) {
            self.functions.push(name);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.note_type(&item.ident);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.note_type(&item.ident);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.note_type(&item.ident);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.note_type(&item.ident);
    }
}

/// Each source file of these crates with its bare names.
fn bare_names(folders: impl Iterator<Item = &'static str>) -> Vec<(PathBuf, Bare)> {
    let mut all = Vec::new();
    for folder in folders {
        let mut sources = Vec::new();
        files(&root().join(folder).join("src"), &mut sources);
        for path in sources {
            let text = std::fs::read_to_string(&path).expect("a source file");
            let mut bare = Bare::default();
            bare.visit_file(&syn::parse_file(&text).expect("Rust"));
            all.push((path, bare));
        }
    }
    all
}

fn told(path: &Path, names: &[String]) -> Vec<String> {
    names.iter().map(|name| format!("{}: {name}", path.display())).collect()
}

#[test]
fn a_function_that_other_files_call_says_of_what() {
    let all = bare_names(CRATES.into_iter());
    let wrong: Vec<String> =
        all.iter().flat_map(|(path, bare)| told(path, &bare.functions)).collect();
    assert!(wrong.is_empty(), "functions whose names do not say of what:\n{}", wrong.join("\n"));
}

#[test]
fn a_type_says_of_what() {
    let looked_at = CRATES.into_iter().filter(|folder| !TYPES_LEFT_OUT.contains(folder));
    let all = bare_names(looked_at);
    let wrong: Vec<String> = all.iter().flat_map(|(path, bare)| told(path, &bare.types)).collect();
    assert!(wrong.is_empty(), "types whose names do not say of what:\n{}", wrong.join("\n"));
}
