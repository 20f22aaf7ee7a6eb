//! Numbered sections, at which a document is cut, and the English text of each.

use std::path::Path;

use pdm_service::config::ConfigError;
use serde::{Deserialize, Serialize};

pub mod items;

/// Line that starts the English text of a section, up to the next heading.
const ENGLISH: &str = "<!-- en -->";

/// A numbered section.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// Number: `2`, `2.1`; empty for text before the first heading.
    pub number: String,
    /// The heading without its number.
    pub title: String,
    /// Text of the section, without deeper sections.
    pub body: String,
    /// The text in English, item for item; empty if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub english: String,
}

impl Section {
    /// The section's number, heading and text.
    pub fn whole(&self) -> String {
        let heading = format!("{} {}", self.number, self.title);
        format!("{}\n{}", heading.trim(), self.body).trim().to_owned()
    }

    /// The section's number, heading and English text; empty if there is none.
    pub fn whole_in_english(&self) -> String {
        if self.english.is_empty() {
            return String::new();
        }
        let heading = format!("{} {}", self.number, self.title);
        format!("{}\n{}", heading.trim(), self.english).trim().to_owned()
    }

    /// Whether this is section `number` or one below it.
    pub fn is_within(&self, number: &str) -> bool {
        self.number
            .strip_prefix(number)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    /// The section in pieces of at most `limit` characters, cut at line ends where possible.
    pub(crate) fn pieces(&self, limit: usize) -> Vec<Self> {
        let mut pieces = vec![String::new()];
        let mut filled = 0;
        for part in self.body.split_inclusive('\n') {
            let letters: Vec<char> = part.chars().collect();
            for run in letters.chunks(limit) {
                if filled > 0 && filled + run.len() > limit {
                    pieces.push(String::new());
                    filled = 0;
                }
                filled += run.len();
                if let Some(piece) = pieces.last_mut() {
                    piece.extend(run);
                }
            }
        }
        let mut english = self.english.clone();
        pieces
            .into_iter()
            .map(|body| Self {
                number: self.number.clone(),
                title: self.title.clone(),
                body,
                english: std::mem::take(&mut english),
            })
            .collect()
    }
}

/// Cuts a text at its headings: Markdown (`## 2. …`), or a bare numbered line (`2.1 …`).
pub(crate) fn sections(text: &str) -> Vec<Section> {
    let mut all = vec![Section::default()];
    let mut is_english = false;
    for line in text.lines() {
        if let Some((number, title)) = heading(line) {
            all.push(Section { number, title, ..Section::default() });
            is_english = false;
        } else if line.trim() == ENGLISH {
            is_english = true;
        } else if let Some(section) = all.last_mut() {
            let part = if is_english { &mut section.english } else { &mut section.body };
            part.push_str(line);
            part.push('\n');
        }
    }
    for section in &mut all {
        section.body = section.body.trim().to_owned();
        section.english = section.english.trim().to_owned();
    }
    all.retain(|section| !(section.body.is_empty() && section.number.is_empty()));
    all
}

/// Number and title of a heading. The document's own title (`# …`) is text.
fn heading(line: &str) -> Option<(String, String)> {
    let marked = line.trim_start_matches('#');
    let level = line.len() - marked.len();
    if (2..=6).contains(&level) && marked.starts_with(' ') {
        return Some(split_number(marked.trim()));
    }
    None
}

fn split_number(title: &str) -> (String, String) {
    let end = title.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(title.len());
    let (number, rest) = title.split_at(end);
    if number.starts_with(|c: char| c.is_ascii_digit()) && rest.starts_with([' ', '\t']) {
        (number.trim_end_matches('.').to_owned(), rest.trim().to_owned())
    } else {
        (String::new(), title.to_owned())
    }
}

/// Checks that Korean and English have the same number of items: a step missing in one language
/// could injure somebody.
pub(crate) fn check_english(path: &Path, sections: &[Section]) -> Result<(), ConfigError> {
    for section in sections.iter().filter(|section| !section.english.is_empty()) {
        let own = items::split(&section.body).len();
        let english = items::split(&section.english).len();
        if own != english {
            let key = format!("section {:?}, items below {ENGLISH}", section.number);
            let allowed = format!("as many as above it, {own}");
            return Err(ConfigError::value(path, key, english, allowed));
        }
    }
    Ok(())
}
