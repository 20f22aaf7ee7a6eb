//! Machines by what people call them: the whole name, one with a slip, in short, or its last word.

use super::squeezed;
use crate::chat::desk::CoreFields;

/// Longest question in which a name with a slip is looked for, letters and digits.
const LONGEST: usize = 240;

/// Where a text names a machine as people call it (`냉각수 펌프`, `the cooling water pump`), or by the last word of
/// that name where no other machine has it (`the compressor`).
///
/// `is_one_whole`: the text has the whole name of a machine, so that a slip of another name is none.
pub(super) fn place_of_name(
    text: &str,
    core: &CoreFields,
    fleet: &[CoreFields],
    is_one_whole: bool,
) -> Option<usize> {
    let names = core.machine_name.as_ref()?;
    let (lower, squeezed_text) = (text.to_lowercase(), squeezed(text));
    let is_only = |last: &str| {
        fleet.iter().all(|other| {
            let others = other.machine_name.as_ref();
            other.key.equipment == core.key.equipment
                || others.is_none_or(|other| {
                    ![&other.ko, &other.en].iter().any(|name| ends_in(name, last))
                })
        })
    };
    let is_whole = |name: &String| is_wholly_in(name, &squeezed_text);
    [&names.ko, &names.en].into_iter().find_map(|name| {
        let last = name.rsplit(' ').next().unwrap_or_default().to_lowercase();
        let whole = squeezed(name);
        if is_whole(name)
            || !is_one_whole
                && (is_nearly_in(&whole, &squeezed_text) || is_shortened_in(name, &lower))
        {
            return Some(lower.find(&last).unwrap_or_default());
        }
        let is_word = |at: usize| {
            let before = lower[..at].chars().next_back();
            !before.is_some_and(char::is_alphanumeric)
        };
        let at = lower.match_indices(&last).map(|(at, _)| at).find(|at| is_word(*at))?;
        (last.chars().count() > 1 && is_only(&last)).then_some(at)
    })
}

/// Whether a text of letters and digits has a name, and not the begin of one with a longer number.
pub(super) fn is_wholly_in(name: &str, squeezed_text: &str) -> bool {
    let whole = squeezed(name);
    let is_cut = |end: usize| {
        whole.ends_with(|c: char| c.is_numeric())
            && squeezed_text[end..].starts_with(|c: char| c.is_numeric())
    };
    whole.chars().count() > 2
        && squeezed_text.match_indices(&whole).any(|(at, _)| !is_cut(at + whole.len()))
}

/// Whether a text has a name with a slip: one letter of four or more in Hangul, two of eight or more in Latin.
fn is_nearly_in(name: &str, text: &str) -> bool {
    let (name_chars, text_chars): (Vec<char>, Vec<char>) =
        (name.chars().collect(), text.chars().collect());
    let slips = match (name.is_ascii(), name_chars.len()) {
        (false, 4..) => 1,
        (true, 8..) => 2,
        _ => return false,
    };
    // longer texts are answers and stories, in which names stand as they are written
    if text_chars.len() > LONGEST {
        return false;
    }
    // a number tells machines of one kind apart: it is never a slip
    let digits = |text: &str| text.chars().filter(|c| c.is_numeric()).collect::<String>();
    text_chars.windows(name_chars.len()).any(|window| {
        let window: String = window.iter().collect();
        digits(&window) == digits(name) && strsim::damerau_levenshtein(&window, name) <= slips
    })
}

/// Whether a text has the first and the last word of a name of three: `feed pump` for `Feed water pump`.
fn is_shortened_in(name: &str, lower: &str) -> bool {
    let words: Vec<&str> = name.split(' ').collect();
    match words[..] {
        [first, _, last] => lower.contains(&format!("{first} {last}").to_lowercase()),
        _ => false,
    }
}

fn ends_in(name: &str, last: &str) -> bool {
    name.to_lowercase().ends_with(last)
}
