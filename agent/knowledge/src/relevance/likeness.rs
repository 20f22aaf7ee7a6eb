//! Measures how alike two words are, so that a typing error, an ending or another spelling of a
//! loan word still finds its word: runs of three letters, Hangul taken apart into its jamo (렌치 →
//! ㄹㅔㄴㅊㅣ).

use super::spelling::is_one_slip;
use crate::words::is_hangul;

/// A word with its runs of three letters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spelt {
    pub(super) text: String,
    letters: usize,
    /// Hashes of the runs, rising.
    runs: Vec<u32>,
    /// Which of 256 places the runs fall on: words without a place in common have no run in common.
    places: [u64; 4],
    is_hangul: bool,
    has_digit: bool,
}

impl Spelt {
    pub(super) fn of(text: &str) -> Self {
        let jamo = jamo(text);
        let marked: Vec<char> =
            std::iter::once('^').chain(jamo.iter().copied()).chain(std::iter::once('$')).collect();
        let mut runs: Vec<u32> = marked.windows(3).map(hash).collect();
        runs.sort_unstable();
        runs.dedup();
        Self {
            letters: jamo.len(),
            places: places(&runs),
            runs,
            is_hangul: text.starts_with(is_hangul),
            has_digit: text.bytes().any(|byte| byte.is_ascii_digit()),
            text: text.to_owned(),
        }
    }

    /// 1 for the same word, 0 for another one. `self` is the word of the question.
    pub(super) fn likeness(&self, other: &Self) -> f32 {
        if self.text == other.text {
            return 1.0;
        }
        if self.is_hangul != other.is_hangul || self.has_digit || other.has_digit {
            return 0.0;
        }
        if self.is_hangul {
            return self.likeness_in_hangul(other);
        }
        if self.letters.min(other.letters) < MIN_LATIN {
            return 0.0;
        }
        let (a, b): (Vec<char>, Vec<char>) =
            (self.text.chars().collect(), other.text.chars().collect());
        if is_one_slip(&a, &b) { SLIP } else { scaled(self.dice(other), LATIN) }
    }

    fn likeness_in_hangul(&self, other: &Self) -> f32 {
        let is_pair = |word: &Self| word.text.chars().nth(1).is_some();
        if self.letters < MIN_JAMO {
            return if is_pair(self) && other.text.starts_with(&self.text) { 1.0 } else { 0.0 };
        }
        // a word of two syllables or more shares a run with each word that it is in, and most words
        // share none
        if self.places.iter().zip(&other.places).all(|(own, others)| own & others == 0) {
            return 0.0;
        }
        if is_pair(self) && other.text.contains(&self.text) {
            1.0
        } else if is_pair(other) && self.text.contains(&other.text) {
            PART
        } else {
            scaled(self.dice(other), HANGUL)
        }
    }

    /// Dice's coefficient of the two sets of runs.
    fn dice(&self, other: &Self) -> f32 {
        let (mut a, mut b, mut common) = (0, 0, 0_usize);
        while let (Some(x), Some(y)) = (self.runs.get(a), other.runs.get(b)) {
            match x.cmp(y) {
                std::cmp::Ordering::Less => a += 1,
                std::cmp::Ordering::Greater => b += 1,
                std::cmp::Ordering::Equal => {
                    (a, b, common) = (a + 1, b + 1, common + 1);
                }
            }
        }
        2.0 * common as f32 / (self.runs.len() + other.runs.len()).max(1) as f32
    }
}

/// A word of the document within one of the question: 정렬 in 축정렬불량. The questions of the
/// development set do not change between 0.7 and 0.9.
const PART: f32 = 0.8;
/// Coefficients at which two words begin to be alike, and above it the distance to the same word.
/// Chosen on the development set, where 렌취 and 렌치 must be near, 열교환기 and 교환 must not.
const HANGUL: (f32, f32) = (0.4, 0.4);
const LATIN: (f32, f32) = (0.55, 0.35);
/// A Latin word at one slip of the finger: as much as a word in another one.
const SLIP: f32 = PART;
/// Fewest letters of a Latin word that may have an error: shorter ones are near too many others.
const MIN_LATIN: usize = 5;
/// Fewest jamo of a Hangul word that may have one.
const MIN_JAMO: usize = 4;

fn scaled(dice: f32, (from, span): (f32, f32)) -> f32 {
    ((dice - from) / span).clamp(0.0, 1.0)
}

/// The letters of a word, its syllables taken apart.
pub(super) fn jamo(word: &str) -> Vec<char> {
    let mut jamo: Vec<char> = Vec::with_capacity(word.len());
    word.chars().for_each(|c| take_apart(c, &mut jamo));
    jamo
}

/// The jamo of a syllable; another letter as it is. Source: Unicode 16.0, section 3.12.
fn take_apart(c: char, out: &mut Vec<char>) {
    if !is_hangul(c) {
        out.push(c);
        return;
    }
    let code = u32::from(c) - 0xAC00;
    let (lead, vowel, tail) = (code / 588, code % 588 / 28, code % 28);
    out.extend(char::from_u32(0x1100 + lead));
    out.extend(char::from_u32(0x1161 + vowel));
    if tail > 0 {
        out.extend(char::from_u32(0x11A7 + tail));
    }
}

/// The places of runs among 256.
fn places(runs: &[u32]) -> [u64; 4] {
    let mut places = [0_u64; 4];
    for run in runs {
        let at = run % 256;
        if let Some(place) = places.get_mut(at as usize / 64) {
            *place |= 1 << (at % 64);
        }
    }
    places
}

/// FNV-1a over the code points. Source: draft-eastlake-fnv-17.
fn hash(run: &[char]) -> u32 {
    run.iter().fold(0x811c_9dc5, |hash, c| (hash ^ u32::from(*c)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alike(a: &str, b: &str) -> f32 {
        Spelt::of(a).likeness(&Spelt::of(b))
    }

    #[test]
    fn a_typing_error_and_another_spelling_are_near_and_other_words_are_not() {
        for (a, b) in [
            ("베아링", "베어링"),
            ("콤프레샤", "콤프레서"),
            ("roler", "roller"),
            ("스펙트름", "스펙트럼"),
        ] {
            assert!(alike(a, b) > 0.3, "{a} {b} {}", alike(a, b));
        }
        for (a, b) in [
            ("김치", "첨도"),
            ("점심", "정렬"),
            ("belt", "bolt"),
            ("6205", "6203"),
            ("지게차", "게이지"),
        ] {
            assert!(alike(a, b) < 0.2, "{a} {b} {}", alike(a, b));
        }
    }

    #[test]
    fn words_without_a_common_place_would_not_be_alike_either() {
        let text = concat!(
            include_str!("../../../../config/knowledge/equipment_manual/em-01.md"),
            include_str!("../../../../config/knowledge/equipment_manual/em-02.md"),
        );
        let words: Vec<Spelt> = text
            .split(|c: char| !is_hangul(c))
            .filter(|word| word.chars().nth(1).is_some())
            .map(Spelt::of)
            .collect();
        assert!(words.len() > 300, "{}", words.len());
        for own in words.iter().step_by(7) {
            for other in &words {
                let anywhere = Spelt { places: [u64::MAX; 4], ..own.clone() };
                let (fast, slow) = (own.likeness(other), anywhere.likeness(other));
                assert!((fast - slow).abs() < f32::EPSILON, "{} {}", own.text, other.text);
            }
        }
    }

    #[test]
    fn a_compound_has_its_parts() {
        assert!((alike("정렬", "축정렬불량") - 1.0).abs() < 1e-6);
        assert!((alike("축정렬", "정렬") - PART).abs() < 1e-6);
    }
}
