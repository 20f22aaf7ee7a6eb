//! Checks which words may name a tool, a step or a field.

/// Whether a word is snake_case: lower-case letters, digits and single underscores, a letter first.
pub(crate) fn is_snake_case(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && !word.contains("__")
        && !word.ends_with('_')
}

/// A name of a pack's source: letters, digits and underscores, a letter first.
pub(crate) fn is_plain(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
