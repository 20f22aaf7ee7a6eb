//! Any bytes as a PDF: its text or an error, within the limits of memory and time. A parser that
//! panics is caught by the reader, so a panic is not the end of the run here.
//!
//! Deep nesting overflows the parser's stack. The programs parse in a child process, whose end is
//! an error of the file; here it would be the end of the run, so such inputs are left out.
#![no_main]

use libfuzzer_sys::fuzz_target;

/// Deepest nesting that is tried: the parser's stack holds some thousand levels.
const DEEPEST: usize = 256;

/// The most brackets that are open at once, whatever they belong to.
fn nesting(data: &[u8]) -> usize {
    let (mut open, mut deepest) = (0usize, 0);
    for byte in data {
        match byte {
            b'[' | b'<' | b'(' => open += 1,
            b']' | b'>' | b')' => open = open.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(open);
    }
    deepest
}

fuzz_target!(
    init: std::panic::set_hook(Box::new(|_told_as_an_error| {})),
    |data: &[u8]| {
        if nesting(data) > DEEPEST {
            return;
        }
        let _ = pdm_pdf::text(data.to_vec());
    }
);
