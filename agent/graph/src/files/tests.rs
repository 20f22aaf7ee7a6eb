//! The encodings and shapes of CSV.

use std::path::Path;

use super::table::FileTable;

const ETFS: &str = "code,name\n069500,코덱스 200\n";

fn read(bytes: &[u8]) -> Result<FileTable, String> {
    FileTable::parse(Path::new("etfs.csv"), bytes).map_err(|problems| problems[0].to_string())
}

fn cells(bytes: &[u8]) -> Vec<String> {
    read(bytes).expect("a table").records.remove(0).cells
}

#[test]
fn korean_windows_byte_order_marks_and_semicolons_are_read() {
    let (korean, _, lossy) = encoding_rs::EUC_KR.encode(ETFS);
    assert!(!lossy && std::str::from_utf8(&korean).is_err());
    let marked = format!("\u{feff}{}", ETFS.replace(',', ";"));
    for bytes in [ETFS.as_bytes(), &korean, marked.as_bytes()] {
        assert_eq!(cells(bytes), ["069500", "코덱스 200"]);
    }
}

#[test]
fn what_is_wrong_is_told_with_file_and_line() {
    let refused = |bytes: &[u8]| read(bytes).expect_err("refused");
    assert_eq!(refused(b"code,name\n1,2,3\n"), "etfs.csv:2: has 3 cells, the header has 2");
    let told = refused(b"code,code\n1,2\n");
    assert!(told.starts_with("etfs.csv:1: column 2 is \"code\""), "{told}");
    let told = refused(b"code,name\n1,a\n2,\xff\xff\xff\n");
    assert_eq!(told, "etfs.csv:3: is neither UTF-8 nor CP949; save the file as UTF-8");
}

proptest::proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY,
        0..400)) {
        let _read = FileTable::parse(Path::new("x.csv"), &bytes);
    }
}
