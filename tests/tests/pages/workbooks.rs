//! Lists as workbooks of Excel.

use reqwest::header::{CONTENT_DISPOSITION, CONTENT_TYPE};

use crate::orders::User;

/// Each list is a workbook too, with heads in the reader's language and numbers as numbers.
pub(crate) async fn are_workbooks(user: &User<'_>) {
    const MEDIA: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
    for (path, head, number) in [
        ("/bearings.xlsx?element=outer_race", "설비 이름", true),
        ("/episodes.xlsx?state=open", "알린 내용", false),
        ("/work.xlsx", "작업지시서", true),
        ("/bearings/ulsan-1/P-101/DE/windows.xlsx", "가속도 RMS (g)", true),
    ] {
        let answer = user.get(path).await;
        assert_eq!(answer.headers()[CONTENT_TYPE], MEDIA, "{path}");
        let disposition = answer.headers()[CONTENT_DISPOSITION].to_str().expect("text").to_owned();
        assert!(disposition.contains(".xlsx"), "{disposition}");
        let file = answer.bytes().await.expect("bytes").to_vec();
        let mut archive = zip::ZipArchive::new(std::io::Cursor::new(file)).expect("a workbook");
        let mut part = archive.by_name("xl/worksheets/sheet1.xml").expect("a sheet");
        let mut sheet = String::new();
        std::io::Read::read_to_string(&mut part, &mut sheet).expect("UTF-8");
        assert!(sheet.contains(head) && sheet.contains("P-101"), "{path}: {sheet}");
        assert!(sheet.contains("s=\"2\"><v>4"), "{path}: a date is a number of days: {sheet}");
        assert!(!number || sheet.contains("\"><v>"), "{path}");
        assert!(!sheet.contains("<f>") && !sheet.contains("outer_race"), "{path}: {sheet}");
    }
}
