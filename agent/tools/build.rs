//! Writes the table of the packs that come with the program: every file of `config/packs/`, by pack
//! and by its path in it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Files below a folder, in the order of their paths; names that begin with a dot are left out.
fn below(folder: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if entry.file_type()?.is_dir() {
            below(&entry.path(), found)?;
        } else {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let packs = Path::new(&std::env::var("CARGO_MANIFEST_DIR")?).join("../../config/packs");
    println!("cargo::rerun-if-changed={}", packs.display());
    let mut files = Vec::new();
    below(&packs, &mut files)?;
    let mut text = String::from(
        "/// Pack, path below its folder and text of each file.\nconst FILES: &[(&str, &str, \
         &str)] = &[\n",
    );
    for file in files {
        let inside = file.strip_prefix(&packs)?.to_string_lossy().replace('\\', "/");
        // a README is for people, not for the program
        if let Some((pack, path)) = inside.split_once('/').filter(|(_, path)| {
            *path == "pack.toml"
                || *path == "graph.yaml"
                || path.starts_with("tools/")
                || path.starts_with("data/")
        }) {
            let file = file.canonicalize()?;
            writeln!(
                text,
                "    ({pack:?}, {path:?}, include_str!({:?})),",
                file.display().to_string()
            )?;
        }
    }
    text.push_str("];\n");
    std::fs::write(Path::new(&std::env::var("OUT_DIR")?).join("packs.rs"), text)?;
    Ok(())
}
