//! The purposes for which a sentence may name a document.

use pdm_shared::text::Text;

use super::figures::{Unit, figures};

/// The purpose for which a sentence may name a document.
#[derive(Debug, Clone, PartialEq)]
pub enum Citation {
    /// Anything.
    Any,
    /// A similar case.
    Similar,
    /// A manual.
    Manual,
    /// The result of the comparison with the document, in these words.
    Compared(Text),
}

/// Words before a list of similar cases, and before one of manuals.
const SIMILAR: [&str; 2] = ["유사 사례", "similar: "];
const MANUAL: [&str; 2] = ["매뉴얼", "manual: "];

fn has(sentence: &str, words: [&str; 2]) -> bool {
    words.iter().any(|word| sentence.contains(word))
}

impl Citation {
    /// Whether a sentence lists documents.
    pub(super) fn is_list(sentence: &str) -> bool {
        has(sentence, SIMILAR) || has(sentence, MANUAL)
    }

    /// Whether a sentence is one in which a document may be named so.
    pub(super) fn fits(&self, sentence: &str, units: &[String]) -> bool {
        let told = |text: &str| -> Vec<(Unit, String)> {
            let all = figures(text, units).into_iter().filter(|one| one.unit != Unit::Name);
            all.map(|one| (one.unit.clone(), text[one.at].to_owned())).collect()
        };
        match self {
            Self::Any => true,
            Self::Similar => has(sentence, SIMILAR),
            Self::Manual => has(sentence, MANUAL),
            Self::Compared(said) => {
                let here = told(sentence);
                !Self::is_list(sentence) && (here == told(&said.ko) || here == told(&said.en))
            }
        }
    }
}
