//! The process that parses one PDF: limits first, then standard input to its end, then the answer
//! on standard output ([`DocumentText`]).

use std::io::{self, Read, Write};

use pdm_service::document_text::{DocumentText, MAX_FILE_BYTES};
use pdm_service::process_limits::{Confinement, confine};

/// The limits of reading one PDF. A scanned manual of 64 MiB needs 150 MiB; the service's own unit
/// grants the agent and its child 1 GiB together. A thousand pages take 20 s of a slow core.
const LIMITS: Confinement = Confinement { memory_bytes: 512 << 20, cpu_s: 60 };

/// Limits this process, parses the PDF on `input` and writes the answer to `output`.
///
/// # Errors
/// [`LimitError`](pdm_service::process_limits::LimitError), so that nothing is parsed, or the error
/// of a pipe.
pub fn run(input: impl Read, output: impl Write) -> anyhow::Result<()> {
    confine(LIMITS)?;
    let answer = answer(input)?;
    Ok(answer.write(output)?)
}

fn answer(input: impl Read) -> io::Result<DocumentText> {
    let mut bytes = Vec::new();
    input.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        let reason = format!("larger than {MAX_FILE_BYTES} bytes, the most that is read");
        return Ok(DocumentText::Refused(reason));
    }
    Ok(crate::text(bytes))
}
