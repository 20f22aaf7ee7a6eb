//! Manuals as PDFs in the knowledge base, read by the program as it is installed: a confined child
//! process.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use pdm_knowledge::{Collection, Filter, Knowledge, KnowledgeSettings};
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_pdm-pdf");
const MANUAL: Collection = Collection::EquipmentManual;

async fn empty() -> (TempDir, Knowledge) {
    let folder = tempfile::tempdir().expect("folder");
    let mut settings = KnowledgeSettings::embedded(folder.path().join("knowledge.db"));
    settings.pdf_reader = Some(PROGRAM.into());
    let knowledge = Knowledge::open(&settings).await.expect("knowledge");
    (folder, knowledge)
}

/// R-KB-7: the Korean text of a PDF whose font has only codes of the Korean character collection.
#[tokio::test]
async fn korean_text_of_a_pdf_is_right() {
    let (folder, knowledge) = empty().await;
    let file = folder.path().join("급유표.pdf");
    std::fs::write(&file, korean_pdf(&["감속기 급유 주기는 육 개월이다", "펌프 축봉 점검"]))
        .expect("pdf");
    let outcome = knowledge.ingest(&file, MANUAL).await.expect("file").remove(0).outcome;
    assert_eq!(outcome.expect("a document").document, "급유표");
    let hits = knowledge.search(MANUAL, "감속기 급유 주기", &Filter::default(), 1).await;
    let body = hits.expect("search")[0].chunk.body();
    assert!(body.contains("감속기 급유 주기는 육 개월이다"), "{body}");
    let page = knowledge.section("급유표", "2").await.expect("look-up");
    assert!(page[0].section.body.contains("펌프 축봉 점검"), "a page is a section");
}

/// A PDF with one line for each page, in the predefined encoding `UniKS-UCS2-H` and without
/// embedded font.
fn korean_pdf(lines: &[&str]) -> Vec<u8> {
    let kids: Vec<String> = (0..lines.len()).map(|at| format!("{} 0 R", 5 + 2 * at)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), lines.len()),
        "<< /Type /Font /Subtype /Type0 /BaseFont /HYSMyeongJo-Medium /Encoding /UniKS-UCS2-H \
         /DescendantFonts [4 0 R] >>"
            .to_owned(),
        "<< /Type /Font /Subtype /CIDFontType0 /BaseFont /HYSMyeongJo-Medium /CIDSystemInfo \
         << /Registry (Adobe) /Ordering (Korea1) /Supplement 1 >> /DW 1000 >>"
            .to_owned(),
    ];
    for line in lines {
        let codes = line.encode_utf16().fold(String::new(), |mut codes, code| {
            let _infallible = write!(codes, "{code:04X}");
            codes
        });
        let stream = format!("BT /F1 12 Tf 72 700 Td <{codes}> Tj ET");
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {} 0 R /Resources \
             << /Font << /F1 3 0 R >> >> >>",
            objects.len() + 2
        ));
        objects.push(format!("<< /Length {} >>\nstream\n{stream}\nendstream", stream.len()));
    }
    assemble(&objects)
}

fn assemble(objects: &[String]) -> Vec<u8> {
    let mut out = "%PDF-1.4\n".to_owned();
    let mut places = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        places.push(out.len());
        let _infallible = write!(out, "{} 0 obj\n{object}\nendobj\n", at + 1);
    }
    let start = out.len();
    let _infallible = write!(out, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for place in places {
        let _infallible = writeln!(out, "{place:010} 00000 n ");
    }
    let size = objects.len() + 1;
    let _infallible =
        write!(out, "trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n");
    out.into_bytes()
}

/// No input ends the PDF reader with a panic: truncated files are refused or read.
#[tokio::test]
async fn a_truncated_pdf_never_stops_the_agent() {
    let (folder, knowledge) = empty().await;
    let whole = korean_pdf(&["감속기"]);
    for length in (0..whole.len()).step_by(97) {
        let file = folder.path().join("cut.pdf");
        std::fs::write(&file, &whole[..length]).expect("pdf");
        let _refused_or_read = knowledge.ingest(&file, MANUAL).await.expect("file");
    }
    assert!(knowledge.count(MANUAL).await.is_ok());
}

#[tokio::test]
async fn a_broken_pdf_is_refused_with_its_name() {
    let (folder, knowledge) = empty().await;
    let file = folder.path().join("a-broken.pdf");
    std::fs::write(&file, b"%PDF-1.7\nnothing that follows is a PDF\n\x00\xff%%EOF").expect("pdf");
    let outcome = knowledge.ingest(&file, MANUAL).await.expect("file").remove(0).outcome;
    let told = outcome.expect_err("refused").to_string();
    assert!(told.contains("a-broken.pdf: no readable PDF"), "{told}");
}

/// The program alone, as a person may try it: the answer and its exit code.
#[test]
fn the_program_answers_on_standard_output() {
    for (bytes, answer) in [
        (korean_pdf(&["감속기"]), "pdm-document/1 text\n## 1 p.1\n감속기\n"),
        (korean_pdf(&[""]), "pdm-document/1 empty\n"),
        (b"no PDF".to_vec(), "pdm-document/1 refused\n"),
    ] {
        let mut command = Command::new(PROGRAM);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        child.stdin.take().expect("a pipe").write_all(&bytes).expect("it reads");
        let output = child.wait_with_output().expect("it ends");
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(told.starts_with(answer), "{told}");
        assert_eq!(output.status.code(), Some(0), "{told}");
    }
}
