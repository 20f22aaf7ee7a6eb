//! Checks that a function that other files call says of what it tells: a name like `read` or `told`
//! alone is found a hundred times and names nothing. Methods and constructors are left out, because
//! their type says it.

use std::path::{Path, PathBuf};

use syn::visit::Visit;

use crate::{CRATES, root};

/// Names that do not tell what they are about.
const BARE: [&str; 18] = [
    "answered", "asked", "blind", "found", "heard", "held", "kept", "known", "made", "of", "read",
    "said", "seen", "shown", "stated", "tell", "tells", "told",
];

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

/// Public functions of a file that stand in a module, not in a type.
#[derive(Default)]
struct Bare(Vec<String>);

impl<'ast> Visit<'ast> for Bare {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        let name = function.sig.ident.to_string();
        let is_private = matches!(function.vis, syn::Visibility::Inherited);
        if !is_private && BARE.contains(&name.as_str()) {
            self.0.push(name);
        }
    }
}

#[test]
fn a_function_that_other_files_call_says_of_what() {
    let mut wrong = Vec::new();
    for folder in CRATES {
        let mut sources = Vec::new();
        files(&root().join(folder).join("src"), &mut sources);
        for path in sources {
            let text = std::fs::read_to_string(&path).expect("a source file");
            let mut bare = Bare::default();
            bare.visit_file(&syn::parse_file(&text).expect("Rust"));
            wrong.extend(bare.0.iter().map(|name| format!("{}: {name}", path.display())));
        }
    }
    assert!(wrong.is_empty(), "functions whose names do not say of what:\n{}", wrong.join("\n"));
}
