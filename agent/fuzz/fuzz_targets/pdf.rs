//! Any bytes as a PDF: its text or an error, within the limits of memory and time. A parser that
//! panics is caught by the reader, so a panic is not the end of the run here.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use pdm_knowledge::pdf;

fuzz_target!(
    init: std::panic::set_hook(Box::new(|_told_as_an_error| {})),
    |data: &[u8]| {
        let _ = pdf::text(Path::new("a.pdf"), data.to_vec());
    }
);
