//! Tests the dependencies of the programs: where packages come from, under which licences, and with
//! which known weaknesses. `cargo deny check` says the same and more where it is installed and can
//! fetch its database; these tests hold without either.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use semver::Version;
use serde::Deserialize;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read<T: serde::de::DeserializeOwned>(file: &str) -> T {
    let text = std::fs::read_to_string(root().join(file)).expect("a file of the project");
    toml::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"))
}

#[derive(Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: Version,
    source: Option<String>,
    checksum: Option<String>,
    #[serde(default)]
    dependencies: Vec<String>,
}

#[derive(Deserialize)]
struct Reviewed {
    advisory: Vec<Advisory>,
}

#[derive(Deserialize)]
struct Advisory {
    id: String,
    package: String,
    what: String,
    fixed: Vec<Version>,
}

impl Advisory {
    /// Mended in the release's own line, or in a line before it.
    fn is_mended_in(&self, version: &Version) -> bool {
        let line = |v: &Version| if v.major > 0 { (v.major, 0) } else { (0, v.minor) };
        let own = self.fixed.iter().find(|fixed| line(fixed) == line(version));
        let newest = self.fixed.iter().max();
        own.or(newest).is_some_and(|fixed| version >= fixed)
    }
}

#[derive(Deserialize)]
struct Deny {
    advisories: Excused,
    licenses: Licences,
}

#[derive(Deserialize)]
struct Excused {
    ignore: Vec<Excuse>,
}

#[derive(Deserialize)]
struct Excuse {
    id: String,
    reason: String,
}

#[derive(Deserialize)]
struct Licences {
    allow: BTreeSet<String>,
}

#[test]
fn every_package_comes_from_the_registry_with_its_checksum() {
    let lock: Lock = read("Cargo.lock");
    let foreign = lock.package.iter().filter(|package| !package.name.starts_with("pdm"));
    let wrong: Vec<&str> = foreign
        .filter(|package| {
            let registry = "registry+https://github.com/rust-lang/crates.io-index";
            package.source.as_deref() != Some(registry) || package.checksum.is_none()
        })
        .map(|package| package.name.as_str())
        .collect();
    assert!(wrong.is_empty(), "not from crates.io, or without a checksum: {wrong:?}");
}

/// The Python package is a workspace of its own, whose lock file nobody writes when a crate here
/// needs another one: an install would resolve anew, and `--locked` fails.
#[test]
fn the_lock_file_of_the_python_package_has_what_its_crates_need() {
    let (lock, python): (Lock, Lock) = (read("Cargo.lock"), read("edge/python/Cargo.lock"));
    let own = python.package.iter().filter(|one| one.source.is_none() && one.name != "pdm-python");
    let mut missing = Vec::new();
    let mut count = 0;
    for package in own {
        let here = lock.package.iter().find(|one| one.name == package.name);
        let here = here.unwrap_or_else(|| panic!("{} is no crate here", package.name));
        let folder = match package.name.as_str() {
            "pdm-edge" => "edge",
            "pdm-dsp" => "edge/dsp",
            "pdm-shared" => "shared",
            "pdm-service" => "shared/service",
            other => panic!("say in this test where {other} is"),
        };
        let needed = needed_by(&read(&format!("{folder}/Cargo.toml")));
        for name in needed.iter().filter(|name| locks(here, name)) {
            count += 1;
            if !locks(package, name) || !python.package.iter().any(|one| one.name == **name) {
                missing.push(format!("{} needs {name}", package.name));
            }
        }
    }
    assert!(count > 40, "{count} dependencies looked at");
    assert!(
        missing.is_empty(),
        "edge/python/Cargo.lock lacks what `cargo update -w` in edge/python adds: {missing:?}"
    );
}

/// Whether a package is locked with a dependency of this name; two versions of one are `name
/// version`.
fn locks(package: &Locked, name: &str) -> bool {
    package.dependencies.iter().any(|one| one.split(' ').next() == Some(name))
}

/// Returns the names of the packages that a manifest needs in every build: without optional ones
/// and those of its tests.
fn needed_by(manifest: &toml::Value) -> Vec<String> {
    let table = manifest.get("dependencies").and_then(toml::Value::as_table);
    let needed = table.into_iter().flatten().filter(|(_, how)| {
        let is_optional = how.get("optional").and_then(toml::Value::as_bool);
        !is_optional.unwrap_or(false)
    });
    let name = |(key, how): (&String, &toml::Value)| {
        let own = how.get("package").and_then(toml::Value::as_str);
        own.unwrap_or(key).to_owned()
    };
    needed.map(name).collect()
}

#[test]
fn no_package_is_locked_with_a_known_weakness_that_nobody_excused() {
    let (lock, reviewed, deny): (Lock, Reviewed, Deny) =
        (read("Cargo.lock"), read("tests/data/advisories.toml"), read("deny.toml"));
    let excused: BTreeMap<&str, &str> =
        deny.advisories.ignore.iter().map(|e| (e.id.as_str(), e.reason.as_str())).collect();
    let mut weak = BTreeSet::new();
    for advisory in &reviewed.advisory {
        for package in lock.package.iter().filter(|package| package.name == advisory.package) {
            if advisory.is_mended_in(&package.version) {
                continue;
            }
            weak.insert(advisory.id.as_str());
            let (name, version) = (&package.name, &package.version);
            let reason = excused.get(advisory.id.as_str()).copied().unwrap_or_default();
            let Advisory { id, what, fixed, .. } = advisory;
            assert!(
                reason.len() > 10,
                "{name} {version} has {id} ({what}), mended in {fixed:?}: update it, or say in \
                 deny.toml why it may stay"
            );
        }
    }
    let stale: Vec<&&str> = excused.keys().filter(|id| !weak.contains(**id)).collect();
    assert!(stale.is_empty(), "deny.toml excuses what no locked package has any more: {stale:?}");
}

#[test]
fn every_licence_is_an_allowed_one() {
    let deny: Deny = read("deny.toml");
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let told = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--all-features"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&told.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    assert!(packages.len() > 100, "{} packages", packages.len());
    let refused: Vec<String> = packages
        .iter()
        .filter(|package| !package["source"].is_null())
        .filter(|package| {
            let licence = package["license"].as_str().unwrap_or_default();
            !is_allowed(licence, &deny.licenses.allow)
        })
        .map(|package| {
            format!("{} {}: {}", package["name"], package["version"], package["license"])
        })
        .collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

/// Whether one of the ways to fulfil an SPDX expression names allowed licences only.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    // before SPDX expressions, `/` stood for OR
    let expression = expression.replace('/', " OR ");
    let Ok(parsed) = spdx::Expression::parse_mode(&expression, spdx::ParseMode::LAX) else {
        return false;
    };
    parsed.evaluate(|requirement| allowed.contains(&requirement.to_string()))
}

#[test]
fn a_licence_outside_the_list_is_refused() {
    let allowed = BTreeSet::from(["MIT".to_owned(), "ISC".to_owned()]);
    assert!(
        is_allowed("MIT/Apache-2.0", &allowed)
            && is_allowed("(MIT OR GPL-3.0-only) AND ISC", &allowed)
    );
    assert!(!is_allowed("GPL-3.0-only", &allowed) && !is_allowed("MIT AND GPL-3.0-only", &allowed));
    assert!(!is_allowed("", &allowed));
}

#[test]
fn a_version_before_the_mended_one_of_its_line_is_weak() {
    let advisory = Advisory {
        id: "RUSTSEC-0000-0000".to_owned(),
        package: "p".to_owned(),
        what: "w".to_owned(),
        fixed: ["0.8.6", "0.9.3"].map(|v| Version::parse(v).expect("a version")).into(),
    };
    let mended =
        |version: &str| advisory.is_mended_in(&Version::parse(version).expect("a version"));
    assert!(mended("0.8.6") && mended("0.9.4") && mended("0.10.0"));
    assert!(!mended("0.8.5") && !mended("0.9.2") && !mended("0.7.0"));
    assert!(!Advisory { fixed: vec![], ..advisory }.is_mended_in(&Version::new(9, 0, 0)));
}

/// What the test command fetches comes by the registries' own clients (`npm`, `pip`, `apt-get`,
/// `cargo`), so that mirrors of them are all that a closed network needs; the addresses in it are
/// of this machine.
#[test]
fn the_test_command_names_no_address_to_fetch_from() {
    for file in ["tests/run", "tests/lanes", "tests/fuzz", "tests/model/run"] {
        let text = std::fs::read_to_string(root().join(file)).expect(file);
        for (at, mark) in text.match_indices("://") {
            let address = text[at + mark.len()..].lines().next().unwrap_or_default();
            // the second is told to a person who has no Rust
            let is_known = address.starts_with("127.0.0.1:") || address.starts_with("rustup.rs\"");
            assert!(is_known, "{file}: {address}");
        }
    }
}
