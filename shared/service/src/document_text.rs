//! The text of a document, between a program and the one that reads documents for it: the file goes
//! to standard input, the answer comes from standard output.
//!
//! The answer is one line that says what follows (`pdm-document/1 text`, `… empty` or `… refused`),
//! then the Markdown or the reason. A process that answers otherwise is not such a reader, or one
//! of another version.

use std::io::{self, Write};

/// Name of the program that reads PDFs.
pub const PDF_PROGRAM: &str = "pdm-pdf";

/// Largest file, bytes: a scanned manual of some hundred pages.
pub const MAX_FILE_BYTES: u64 = 64 << 20;

/// Most bytes of text, about a thousand pages. A compressed page can announce any number of
/// letters.
pub const MAX_TEXT_BYTES: usize = 4 << 20;

/// First words of every answer.
const ANSWER: &str = "pdm-document/1 ";
/// The word before a text.
const TEXT: &str = "text";
/// The word before a reason.
const REFUSED: &str = "refused";
/// The word of a document without a letter.
const EMPTY: &str = "empty";

/// The answer of a program that reads documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentText {
    /// The text as Markdown, with a section for each page.
    Markdown(String),
    /// No page holds a letter.
    Empty,
    /// The parser's reason.
    Refused(String),
}

impl DocumentText {
    /// Writes the answer.
    ///
    /// # Errors
    /// The error of the pipe.
    pub fn write(&self, mut output: impl Write) -> io::Result<()> {
        let (word, text) = match self {
            Self::Markdown(text) => (TEXT, text.as_str()),
            Self::Empty => (EMPTY, ""),
            Self::Refused(reason) => (REFUSED, reason.as_str()),
        };
        write!(output, "{ANSWER}{word}\n{text}")?;
        output.flush()
    }

    /// Parses an answer; `None` if it is not one.
    pub fn parse(answer: &[u8]) -> Option<Self> {
        let answer = String::from_utf8_lossy(answer);
        match answer.strip_prefix(ANSWER)?.split_once('\n')? {
            (TEXT, "") | (EMPTY, _) => Some(Self::Empty),
            (TEXT, text) => Some(Self::Markdown(text.to_owned())),
            (REFUSED, reason) => Some(Self::Refused(reason.to_owned())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_written_is_parsed_as_it_was() {
        for answer in [
            DocumentText::Markdown("## 1 p.1\n급유 주기\n".to_owned()),
            DocumentText::Empty,
            DocumentText::Refused("page 7: no font".to_owned()),
        ] {
            let mut bytes = Vec::new();
            answer.write(&mut bytes).expect("written");
            assert_eq!(DocumentText::parse(&bytes), Some(answer));
        }
    }

    #[test]
    fn another_program_gives_no_answer() {
        for answer in ["", "hello\n", "pdm-document/1 text", "pdm-document/2 text\na"] {
            assert_eq!(DocumentText::parse(answer.as_bytes()), None, "{answer}");
        }
    }
}
