//! The child process that parses one PDF: limits first, then standard input to its end, then the
//! answer on standard output.
//!
//! The answer is one line that says what follows (`pdm-document/1 text` or `pdm-document/1
//! refused`), then the Markdown or the reason. A process that answers otherwise is not this child.

use std::io::{self, Read, Write};

use pdm_service::process_limits::{Confinement, LimitError, confine};

use super::{MAX_BYTES, markdown, not_blank};

/// First words of every answer.
pub(super) const ANSWER: &str = "pdm-document/1 ";
/// The word before a text.
pub(super) const TEXT: &str = "text";
/// The word before a reason.
pub(super) const REFUSED: &str = "refused";
/// The word of a PDF without a letter.
pub(super) const EMPTY: &str = "empty";

/// The limits of reading one PDF. A scanned manual of 64 MiB needs 150 MiB; the service's own unit
/// grants the agent and its child 1 GiB together. A thousand pages take 20 s of a slow core.
const LIMITS: Confinement = Confinement { memory_bytes: 512 << 20, cpu_s: 60 };

/// The child cannot do its work. The parent tells that there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChildError {
    /// The limits cannot be set, so nothing is parsed.
    #[error(transparent)]
    Limits(#[from] LimitError),
    /// Standard input or output is gone.
    #[error("cannot talk to the parent process: {0}")]
    Pipe(#[from] io::Error),
}

/// Limits this process, parses the PDF on `input` and writes the answer to `output`.
///
/// # Errors
/// [`ChildError`].
pub fn run(input: impl Read, mut output: impl Write) -> Result<(), ChildError> {
    confine(LIMITS)?;
    let mut bytes = Vec::new();
    input.take(MAX_BYTES).read_to_end(&mut bytes)?;
    let (word, text) = match markdown(bytes).and_then(not_blank) {
        Ok(text) => (TEXT, text),
        Err(super::PdfFault::Empty) => (EMPTY, String::new()),
        Err(super::PdfFault::Refused(reason)) => (REFUSED, reason),
    };
    write!(output, "{ANSWER}{word}\n{text}")?;
    Ok(output.flush()?)
}
