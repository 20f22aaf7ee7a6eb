//! PDFs from outside are read or refused, never a panic and never an endless loop: the seeds and
//! hostile files of the fuzz target `pdf`, and damaged ones.

use std::fs;
use std::path::Path;
use std::time::Instant;

use pdm_service::document_text::DocumentText;
use proptest::prelude::*;

const PDFS: [&[u8]; 4] = [
    include_bytes!("../../fuzz/seeds/pdf/plain.pdf"),
    include_bytes!("../../fuzz/seeds/pdf/flate.pdf"),
    include_bytes!("../../fuzz/seeds/pdf/nested.pdf"),
    include_bytes!("../../fuzz/seeds/pdf/long.pdf"),
];

fn markdown(bytes: &[u8]) -> String {
    match pdm_pdf::text(bytes.to_vec()) {
        DocumentText::Markdown(text) => text,
        other @ (DocumentText::Empty | DocumentText::Refused(_)) => panic!("{other:?}"),
    }
}

#[test]
fn every_seed_of_a_pdf_has_its_text() {
    for bytes in PDFS {
        let text = markdown(bytes);
        assert!(text.contains("Grease the bearing."), "{text}");
    }
}

#[test]
fn every_hostile_seed_is_read_or_refused_within_its_time() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/hostile/pdf");
    let mut looked_at = 0;
    for file in fs::read_dir(folder).expect("seeds") {
        let path = file.expect("an entry").path();
        let begun = Instant::now();
        let _read = pdm_pdf::text(fs::read(&path).expect("a seed"));
        assert!(begun.elapsed().as_secs() < 30, "{}", path.display());
        looked_at += 1;
    }
    assert!(looked_at > 0, "no hostile PDF is left");
}

/// The parser's own loop over the lines of a table does not end where the file does.
#[test]
fn a_file_that_ends_within_its_cross_reference_table_is_refused_or_read() {
    let endless = include_bytes!("../../fuzz/hostile/pdf/table-without-trailer.pdf");
    let told = pdm_pdf::text(endless.to_vec());
    assert!(matches!(told, DocumentText::Refused(_)), "{told:?}");

    let whole = include_str!("../../fuzz/seeds/pdf/plain.pdf");
    let cut = whole.replace("trailer\n<< /Size 6 /Root 1 0 R >>\n", "");
    assert_eq!(
        markdown(cut.as_bytes()),
        markdown(whole.as_bytes()),
        "its objects are found without the table"
    );
}

proptest! {
    #[test]
    fn a_damaged_pdf_is_read_or_refused(
        which in 0usize..PDFS.len(), at in 0usize..17_000, length in 0usize..20,
        with in prop::collection::vec(any::<u8>(), 0..20),
    ) {
        let mut bytes = PDFS[which].to_vec();
        let at = at % bytes.len();
        let end = (at + length).min(bytes.len());
        bytes.splice(at..end, with);
        let _read = pdm_pdf::text(bytes);
    }
}
