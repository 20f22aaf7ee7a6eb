//! The plant's documents by a page: a file is added with what was read of it, answers at once, and
//! is taken out again; everything else is refused with a sentence in the reader's language.

use pdm_harness::until;
use reqwest::header::{CONTENT_TYPE, COOKIE, LOCATION};
use reqwest::{Response, StatusCode};
use serde_json::json;

use crate::browser::Browser;
use crate::phone::{TOO_SMALL, enter};
use crate::plant::{Plant, client};
use crate::roles::form_key;
use crate::seen::{RULES, axe};

/// A manual of a machine that no other document knows.
const MANUAL: &str = "# 수직 교반기 V-77 정비 매뉴얼\n\n## 1. 윤활\n\n상부 베어링은 그리스 41 g을 채운다.\n\n\
                      ## 2. 조임\n\n커버 볼트는 17 N·m로 조인다.\n";

/// Sends a form with a file as a browser does.
async fn send(plant: &Plant, session: &str, key: &str, (name, content): (&str, &[u8])) -> Response {
    let mut body = Vec::new();
    let head = "--line\r\nContent-Disposition: form-data; name=\"";
    for (field, value) in [("form_key", key), ("collection", "equipment_manual")] {
        body.extend_from_slice(format!("{head}{field}\"\r\n\r\n{value}\r\n").as_bytes());
    }
    let file = format!("{head}document\"; filename=\"{name}\"\r\nContent-Type: text/html\r\n\r\n");
    body.extend_from_slice(file.as_bytes());
    body.extend_from_slice(content);
    body.extend_from_slice(b"\r\n--line--\r\n");
    let sent = client().post(format!("{}/library", plant.url)).body(body);
    let sent = sent.header(CONTENT_TYPE, "multipart/form-data; boundary=line");
    sent.header(COOKIE, session).send().await.expect("answers")
}

async fn page(plant: &Plant, session: &str, path: &str) -> String {
    let asked = client().get(format!("{}{path}", plant.url)).header(COOKIE, session);
    let text = asked.send().await.expect("answers").text().await.expect("text");
    text.replace("&#x2f;", "/").replace("&quot;", "\"")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_is_added_by_a_page_answers_at_once_and_is_taken_out() {
    let plant = Plant::with_documents().await;
    let session = plant.login("technician").await;
    let key = form_key(&plant, &session).await;
    // the documents of the program come while the agent runs already
    for _ in 0..600 {
        if page(&plant, &session, "/library").await.contains("EM-06") {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    let file = ("C:\\fake\\V-77.md", MANUAL.as_bytes());
    let answer = send(&plant, &session, &key, file).await;
    assert_eq!(answer.status(), StatusCode::SEE_OTHER, "{:?}", answer.text().await);
    let to = answer.headers()[LOCATION].to_str().expect("text").to_owned();
    let told = page(&plant, &session, to.split('#').next().expect("a path")).await;
    assert!(
        told.contains("읽은 문서") && told.contains("1 윤활") && told.contains("2 조임"),
        "{told}"
    );
    assert!(told.contains("구절 "), "how many passages: {told}");
    assert!(told.contains("올린 사람: technician · page · <time"), "who brought it: {told}");
    let id = to.split("read=").nth(1).expect("an id").split(['&', '#']).next().expect("an id");
    let found = page(&plant, &session, "/search?q=V-77").await;
    assert!(found.contains(&format!("href=\"/knowledge/{id}\"")), "{id}: {found}");
    let again = send(&plant, &session, &key, file).await;
    let to = again.headers()[LOCATION].to_str().expect("text").to_owned();
    assert!(to.contains("same=yes"), "{to}");
    let viewer = plant.login("viewer").await;
    let forbidden = send(&plant, &viewer, &form_key(&plant, &viewer).await, file).await;
    assert_eq!(forbidden.status(), StatusCode::FORBIDDEN, "a viewer reads alone");
    let seen = page(&plant, &viewer, "/library").await;
    assert!(seen.contains(id) && !seen.contains("type=\"file\""), "and sees no form");
    let remove = async |id: &str, sure: &str| {
        let form = [("form_key", key.as_str()), ("id", id), ("sure", sure)];
        let sent = client().post(format!("{}/library/remove", plant.url)).form(&form);
        sent.header(COOKIE, &session).send().await.expect("answers")
    };
    assert_eq!(remove(id, "").await.status(), StatusCode::BAD_REQUEST, "a slip of the thumb");
    assert_eq!(remove("EM-06", "yes").await.status(), StatusCode::CONFLICT);
    assert_eq!(remove("no such", "yes").await.status(), StatusCode::NOT_FOUND);
    assert_eq!(remove(id, "yes").await.status(), StatusCode::SEE_OTHER);
    assert!(!page(&plant, &session, "/library").await.contains("/knowledge/V-77"));
    let admin = plant.login("admin").await;
    let audit = page(&plant, &admin, "/audit").await;
    assert!(audit.contains("문서 올림") && audit.contains("문서 삭제"), "{audit}");
    plant.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_no_document_is_refused_with_a_sentence() {
    let plant = Plant::with_documents().await;
    let session = plant.login("technician").await;
    let key = form_key(&plant, &session).await;
    let large = vec![b'a'; 70 * 1024 * 1024];
    let refused: [(&str, &[u8], StatusCode, &str); 7] = [
        ("x.hwp", b"HWP", StatusCode::UNPROCESSABLE_ENTITY, "PDF로 저장해 올리십시오"),
        ("x.pdf", b"no pdf", StatusCode::UNPROCESSABLE_ENTITY, "읽을 수 없는 PDF"),
        ("x.md", b"   \n", StatusCode::UNPROCESSABLE_ENTITY, "글이 들어 있지 않습니다"),
        ("x.md", b"PK\x03\x04\0\0", StatusCode::UNPROCESSABLE_ENTITY, "x.md"),
        ("x.md", b"", StatusCode::UNPROCESSABLE_ENTITY, "고르지 않았습니다"),
        (
            "x.md",
            b"+++\nid = \"EM-06\"\ncollection = \"equipment_manual\"\ndoc_type = \"procedure\"\n\
              title = { ko = \"a\", en = \"b\" }\n+++\n# a\n\ntext\n",
            StatusCode::UNPROCESSABLE_ENTITY,
            "x.md",
        ),
        ("x.pdf", &large, StatusCode::PAYLOAD_TOO_LARGE, "64 MB까지"),
    ];
    for (name, content, status, told) in refused {
        let answer = send(&plant, &session, &key, (name, content)).await;
        assert_eq!(answer.status(), status, "{name} {told}");
        let text = answer.text().await.expect("text");
        assert!(text.contains(told), "{told}: {text}");
    }
    let forged = send(&plant, &session, &"0".repeat(64), ("V.md", MANUAL.as_bytes())).await;
    assert_eq!(forged.status(), StatusCode::FORBIDDEN, "the form's own key is wanted");
    assert!(!page(&plant, &session, "/library").await.contains("V-77"), "nothing was kept");
    plant.stop().await;
}

/// R-UI-1.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_of_documents_is_used_on_a_phone_and_keeps_nobody_out() {
    let name = "the_page_of_documents_is_used_on_a_phone_and_keeps_nobody_out";
    let Some(browser) = Browser::start(name).await else { return };
    let Some(axe) = axe(name) else { return };
    let plant = Plant::with_documents().await;
    enter(&browser, &plant, "/library").await;
    browser.until("the page", "return document.querySelector('input[type=file]') !== null").await;
    let path = plant.folder().join("V-77.md");
    until("written", 5, || std::fs::write(&path, MANUAL).ok());
    browser.choose_file("input[type=file]", &path).await;
    browser.click("form[enctype] button.main").await;
    browser.until("what was read", "return document.querySelector('#read li') !== null").await;
    let mut wrong = Vec::new();
    for language in ["ko", "en"] {
        browser.run(&format!("document.cookie = 'pdm_language={language}; path=/'")).await;
        for (width, dark) in [(320, false), (1280, true)] {
            browser.look(width, dark).await;
            browser.open(&format!("{}/library?read=V-77", plant.url)).await;
            browser.run(&axe).await;
            let found = browser.run(RULES).await.as_array().cloned().unwrap_or_default();
            wrong.extend(found.iter().map(|one| format!("{language} {width} {one}")));
            let small = browser.run(TOO_SMALL).await;
            assert!(width > 1000 || small == json!([]), "{language} {width} {small}");
            browser.picture(&format!("library-{language}-{width}.png")).await;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    plant.stop().await;
}
