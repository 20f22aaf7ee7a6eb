//! Answers of a language model's server are taken or refused, never a panic, and mean the same
//! however the network cuts them: the files of the fuzz target `answer`, and cuts of them.

use std::fs;
use std::path::Path;

use pdm_reasoner::wire;
use pdm_reasoner::wire::stream::Assembly;
use proptest::prelude::*;

fn files() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz");
    ["seeds", "hostile"]
        .iter()
        .flat_map(|kind| fs::read_dir(folder.join(kind).join("answer")).expect("a folder of seeds"))
        .map(|entry| fs::read(entry.expect("an entry").path()).expect("a seed"))
        .collect()
}

fn assembled(portions: &[&[u8]]) -> Option<wire::Completion> {
    let mut assembly = Assembly::default();
    for portion in portions {
        assembly.take(portion).ok()?;
    }
    assembly.end().ok()
}

proptest! {
    #[test]
    fn an_answer_means_the_same_however_the_network_cuts_it(
        which in any::<prop::sample::Index>(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        changed in prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
    ) {
        let files = files();
        let mut bytes = which.get(&files).clone();
        if let Some((at, byte)) = changed {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = wire::read_completion(&bytes);
        let stream = &bytes[1..];
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len())).collect();
        at.extend([0, stream.len()]);
        at.sort_unstable();
        let portions: Vec<&[u8]> = at.windows(2).map(|pair| &stream[pair[0]..pair[1]]).collect();
        prop_assert_eq!(assembled(&portions), assembled(&[stream]));
    }
}
