//! The packs that come with the program: those of `config/packs/`, gathered by `build.rs`.

include!(concat!(env!("OUT_DIR"), "/packs.rs"));

/// The names of the packs.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let manifests = FILES.iter().filter(|(_, path, _)| *path == super::MANIFEST);
    manifests.map(|(pack, _, _)| *pack)
}

/// Path and text of each file of a pack.
pub(super) fn files(pack: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    FILES.iter().filter(move |(own, _, _)| *own == pack).map(|(_, path, text)| (*path, *text))
}
