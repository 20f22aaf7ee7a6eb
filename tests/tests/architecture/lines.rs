//! Checks the width of lines, of which rustfmt breaks neither comments nor texts.

use std::path::{Path, PathBuf};

use crate::{CRATES, root};

/// Most columns of a line.
const WIDTH: usize = 100;

/// Lines that may be wider: texts of other programs that stand as they came, drawings
/// and calls that rustfmt leaves. The number only falls.
const WIDER: usize = 91;

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn a_line_has_at_most_100_columns() {
    let mut wide = Vec::new();
    for folder in CRATES {
        let mut files = Vec::new();
        for part in ["src", "tests", "benches", "examples"] {
            sources(&root().join(folder).join(part), &mut files);
        }
        for path in files {
            let text = std::fs::read_to_string(&path).expect("a source file");
            for (number, line) in text.lines().enumerate() {
                let columns = line.chars().count();
                if columns > WIDTH {
                    wide.push(format!("{}:{}: {columns}", path.display(), number + 1));
                }
            }
        }
    }
    let count = wide.len();
    assert!(count <= WIDER, "{count} lines are wider, {WIDER} may be:\n{}", wide.join("\n"));
}
