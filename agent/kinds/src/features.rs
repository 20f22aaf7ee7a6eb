//! The features of a text: its words, pairs of words and runs of letters, hashed to places.

use std::hash::{Hash as _, Hasher as _};

/// Places that features are hashed to.
pub(crate) const BUCKETS: usize = 1 << 16;
/// Letters of the runs that are features.
const RUNS: std::ops::RangeInclusive<usize> = 1..=4;

/// The features of a text: hashed words, pairs of words, runs of letters and signs, of length 1
/// together.
pub(crate) fn features(text: &str, signs: &[String]) -> Vec<(usize, f32)> {
    let words = words(text);
    let mut found: Vec<usize> = vec![bucket(0, "")];
    for (at, word) in words.iter().enumerate() {
        found.push(bucket(1, word));
        if let Some(next) = words.get(at + 1) {
            found.push(bucket(2, &format!("{word} {next}")));
        }
        let letters: Vec<char> = format!("^{word}$").chars().collect();
        for length in RUNS {
            let runs = letters.windows(length).map(|run| run.iter().collect::<String>());
            // single letters of an alphabet say nothing, syllables do
            found.extend(
                runs.filter(|run| length > 2 || !run.is_ascii()).map(|run| bucket(3, &run)),
            );
        }
    }
    let of_signs = signs.iter().map(|sign| bucket(4, sign));
    found.sort_unstable();
    found.dedup();
    let value = 1.0 / (found.len() as f32).sqrt();
    let mut all: Vec<(usize, f32)> = found.into_iter().map(|bucket| (bucket, value)).collect();
    all.extend(of_signs.map(|bucket| (bucket, SIGN)));
    all
}

/// Weight of a sign beside the features of the words, which together have length 1.
const SIGN: f32 = 0.1;

/// The words of a text in lower case; a word with a digit is one of names and numbers.
fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'');
    let words = words.filter(|word| !word.is_empty());
    words
        .map(|word| word.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect())
        .collect()
}

fn bucket(group: u8, text: &str) -> usize {
    let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
    group.hash(&mut hasher);
    text.hash(&mut hasher);
    usize::try_from(hasher.finish() % BUCKETS as u64).unwrap_or_default()
}

/// FNV-1a: the same on every machine and in every version of the standard library.
struct Fnv(u64);

impl std::hash::Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
