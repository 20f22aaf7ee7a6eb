//! Tests the files served beside the pages: documents of judgements, compressed text, the past of a
//! trend, and honest answers to addresses that do not exist.

use pdm_harness::until;
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, COOKIE,
};
use reqwest::{Response, StatusCode};
use serde_json::Value;

use crate::plant::{Plant, client};

async fn get(plant: &Plant, session: &str, path: &str) -> Response {
    let asked = client().get(format!("{}{path}", plant.url)).header(COOKIE, session);
    asked.send().await.expect("answers")
}

async fn text(plant: &Plant, session: &str, path: &str) -> String {
    let answer = get(plant, session, path).await;
    answer.text().await.expect("text").replace("&#x2f;", "/")
}

fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    text.split(from).nth(1)?.split(to).next()
}

/// Report and work order of an alarm open from its pages, for whoever may see these and for nobody
/// else; no request reaches another file.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::too_many_lines, reason = "one course of documents from the alarm to the page")]
async fn documents_are_served_by_the_pages_and_no_other_file_is() {
    let plant = Plant::with_documents().await;
    let session = plant.login("viewer").await;
    let list = text(&plant, &session, "/work").await;
    let event = between(&list, "href=\"/work/", "\"").expect("work waits").to_owned();
    let sheet = format!("/work/{event}");
    let folder = plant.folder().join("reports");
    until("both documents", 60, || {
        let files = std::fs::read_dir(&folder).ok()?.filter_map(Result::ok);
        let names: Vec<String> =
            files.filter_map(|file| file.file_name().into_string().ok()).collect();
        let has =
            |ending: &str| names.iter().any(|name| name.ends_with(&format!("{event}-{ending}")));
        (has("report.en.pdf") && has("report.ko.pdf") && has("work-order.en.pdf")).then_some(())
    });
    let page = text(&plant, &session, &sheet).await;
    let links: Vec<&str> = page
        .split("href=\"/documents/")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    assert_eq!(links.len(), 2, "{links:?}");
    for link in &links {
        let answer = get(&plant, &session, &format!("/documents/{link}")).await;
        assert_eq!(answer.status(), StatusCode::OK, "{link}");
        assert_eq!(answer.headers()[CONTENT_TYPE], "application/pdf");
        let policy = answer.headers()[CONTENT_SECURITY_POLICY].to_str().expect("text").to_owned();
        assert!(policy.starts_with("sandbox; default-src 'none'"), "{policy}");
        assert!(answer.bytes().await.expect("bytes").starts_with(b"%PDF"));
        assert!(link.ends_with(".ko.pdf"), "the reader's language: {link}");
    }
    let bearing = text(&plant, &session, "/bearings/ulsan-1/P-101/DE").await;
    let analysis = text(&plant, &session, &format!("/analyses/{event}")).await;
    assert!(bearing.contains(links[0]) && analysis.contains(links[1]));
    let stranger = client().get(format!("{}/documents/{}", plant.url, links[0])).send().await;
    assert_eq!(stranger.expect("answers").status(), StatusCode::SEE_OTHER, "to the login");
    let time = &links[0][..16];
    for document in ["report", "work-order"] {
        let name = format!("{time}-{event}-{document}.en.html");
        let html = std::fs::read_to_string(folder.join(&name)).expect("was written");
        let html = html.replace("&#x2f;", "/");
        // R-AGENT-8: the picture where the capture was there, else that it follows; always where it
        // is looked at
        let is_there = html.contains("Captured waveform") && html.contains("/captures/");
        let follows = html.contains("The waveform follows") && html.contains("/analyses/");
        assert!(is_there != follows, "{name}");
        assert!(html.contains(crate::plant::PUBLIC), "{name}");
    }
    let own = format!("{time}-{event}-report.en.html");
    std::fs::remove_file(folder.join(&own)).expect("was written");
    std::os::unix::fs::symlink("/etc/passwd", folder.join(&own)).expect("linked");
    let foreign = format!("{time}-{event}-secret.ko.pdf");
    std::fs::write(folder.join(&foreign), "secret").expect("written");
    let other = links[0].replace(&event, "01936f3e-7c1a-7b52-9a6e-000000000099");
    let fused = format!("{}%00.html", links[0]);
    let upper = links[0].to_uppercase();
    for name in [
        own.as_str(),
        &foreign,
        &other,
        &fused,
        &upper,
        "..%2Fagent.db",
        "..%2F..%2Fetc%2Fpasswd",
        "..%5Cagent.db",
        "%252e%252e%252fagent.db",
        "%EF%BC%8E%EF%BC%8E%2Fagent.db",
        "C:%5Cwin.ini",
        "x",
        "%00",
    ] {
        let answer = get(&plant, &session, &format!("/documents/{name}")).await;
        assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{name}");
    }
    plant.stop().await;
}

/// Text is compressed for who takes it, an address that does not exist says so in the reader's
/// language, and a phone finds what it needs to install the pages without a login.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_is_compressed_and_a_wrong_address_is_said_to_be_one() {
    let plant = Plant::with_users().await;
    let session = plant.login("viewer").await;
    for path in ["/", "/api/v1/bearings/ulsan-1/P-101/DE/windows", "/bearings/ulsan-1/P-101/DE"] {
        let plain = get(&plant, &session, path).await;
        assert!(!plain.headers().contains_key(CONTENT_ENCODING), "{path}");
        let whole = plain.bytes().await.expect("bytes").len();
        let asked = client().get(format!("{}{path}", plant.url)).header(COOKIE, &session);
        let packed = asked.header(ACCEPT_ENCODING, "br, gzip").send().await.expect("answers");
        assert_eq!(packed.headers()[CONTENT_ENCODING], "gzip", "{path}");
        let packed = packed.bytes().await.expect("bytes").len();
        assert!(packed * 3 < whole * 2, "{path}: {packed} of {whole}");
    }
    let wrong = client().get(format!("{}/no/such/page", plant.url));
    let page = wrong.header(ACCEPT, "text/html").send().await.expect("answers");
    assert_eq!(page.status(), StatusCode::NOT_FOUND);
    let page = page.text().await.expect("text");
    assert!(page.contains("페이지를 찾을 수 없습니다.") && page.contains("href=\"/\""), "{page}");
    let program = client().get(format!("{}/no/such/page", plant.url)).send().await;
    assert_eq!(program.expect("answers").headers()[CONTENT_TYPE], "application/problem+json");
    for (path, kind) in [
        ("/favicon.ico", "image/svg+xml"),
        ("/manifest.webmanifest", "application/manifest+json"),
        ("/worker.js", "text/javascript; charset=utf-8"),
        ("/offline", "text/html; charset=utf-8"),
    ] {
        let answer = client().get(format!("{}{path}", plant.url)).send().await.expect("answers");
        assert_eq!(
            (answer.status(), &answer.headers()[CONTENT_TYPE]),
            (StatusCode::OK, &kind.parse().expect("a kind"))
        );
    }
    // a refusal on a Korean page has no English sentence
    let refused = text(&plant, &session, "/analyses/xyz").await;
    assert!(
        refused.contains("쓸 수 없는 값입니다") && !refused.contains("allowed is"),
        "{refused}"
    );
    let refused = text(&plant, &session, "/users").await;
    assert!(refused.contains("관리자 역할이 필요합니다"), "{refused}");
    plant.stop().await;
}

/// The trend of each range, thinned by the server; another word is refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_trend_of_a_range_is_served_with_how_many_windows_it_has() {
    let plant = Plant::with_users().await;
    let session = plant.login("viewer").await;
    for range in ["day", "week", "month", "year", "all"] {
        let path = format!("/bearings/ulsan-1/P-101/DE/trend.json?range={range}");
        let trend: Value = get(&plant, &session, &path).await.json().await.expect("json");
        assert_eq!(trend["windows"], 20, "{range}");
        assert_eq!(trend["items"].as_array().map(Vec::len), Some(20), "{range}");
        assert_eq!(trend["cut_at"], Value::Null, "{range}");
    }
    for wrong in ["range=hour", "feature=x", "from=2026-01-01"] {
        let path = format!("/bearings/ulsan-1/P-101/DE/trend.json?{wrong}");
        assert_eq!(get(&plant, &session, &path).await.status(), StatusCode::BAD_REQUEST, "{wrong}");
    }
    plant.stop().await;
}
