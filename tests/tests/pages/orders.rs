//! The work order as a page: what it tells, the photos that are added to it, and what else is made
//! for people on the floor: ends of shelves, several alarms at once, files of lists, duty, labels
//! and knowledge.

use pdm_harness::until;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use pdm_web::link::AckClaim;
use reqwest::header::{
    CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, COOKIE, LOCATION,
    X_CONTENT_TYPE_OPTIONS,
};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};

use crate::plant::{Plant, TOKEN, client, token_of};
use crate::roles::{form_key, row};

/// A user of a plant.
pub(crate) struct User<'a> {
    plant: &'a Plant,
    session: String,
    key: String,
}

impl<'a> User<'a> {
    pub(crate) async fn of(plant: &'a Plant, name: &str) -> Self {
        let session = plant.login(name).await;
        let key = form_key(plant, &session).await;
        Self { plant, session, key }
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        let asked = client().get(format!("{}{path}", self.plant.url)).header(COOKIE, &self.session);
        asked.send().await.expect("answers")
    }

    pub(crate) async fn page(&self, path: &str) -> String {
        let answer = self.get(path).await;
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        answer.text().await.expect("text").replace("&#x2f;", "/")
    }

    async fn english(&self, path: &str) -> String {
        let cookies = format!("{}; pdm_language=en", self.session);
        let asked = client().get(format!("{}{path}", self.plant.url)).header(COOKIE, cookies);
        let text = asked.send().await.expect("answers").text().await.expect("text");
        text.replace("&#x2f;", "/")
    }

    pub(crate) async fn send(&self, path: &str, fields: &[(&str, &str)]) -> Response {
        let form = [&[("form_key", self.key.as_str())][..], fields].concat();
        let sent = client().post(format!("{}{path}", self.plant.url)).form(&form);
        sent.header(COOKIE, &self.session).send().await.expect("answers")
    }

    /// Sends photos as a browser does.
    async fn photos(&self, event: &str, key: &str, files: &[&[u8]]) -> Response {
        let mut body = Vec::new();
        let head = "--line\r\nContent-Disposition: form-data; name=\"form_key\"\r\n\r\n";
        body.extend_from_slice(format!("{head}{key}\r\n").as_bytes());
        for file in files {
            let head = "--line\r\nContent-Disposition: form-data; name=\"photo\"; \
                        filename=\"../x.php\"\r\n\
                        Content-Type: text/html\r\n\r\n";
            body.extend_from_slice(head.as_bytes());
            body.extend_from_slice(file);
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(b"--line--\r\n");
        let sent = client().post(format!("{}/work/{event}/photos", self.plant.url)).body(body);
        let sent = sent.header(CONTENT_TYPE, "multipart/form-data; boundary=line");
        sent.header(COOKIE, &self.session).send().await.expect("answers")
    }
}

/// The structure of a small JPEG.
fn jpeg() -> Vec<u8> {
    let mut bytes = vec![0xff, 0xd8, 0xff, 0xc0, 0, 11, 8, 0, 20, 0, 30, 1, 1, 0x11, 0];
    bytes.extend_from_slice(&[0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0x12, 0x34, 0xff, 0xd9]);
    bytes
}

fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    text.split(from).nth(1)?.split(to).next()
}

/// The work order that waits, once its document is written.
pub(crate) async fn order(user: &User<'_>) -> (String, Value) {
    let list = user.page("/work").await;
    let event = between(&list, "href=\"/work/", "\"").expect("work waits");
    let event = event.split('#').next().expect("an event").to_owned();
    let folder = user.plant.folder().join("reports");
    let order = until("the work order", 60, || {
        let files = std::fs::read_dir(&folder).ok()?.filter_map(Result::ok);
        let mut paths = files.map(|file| file.path());
        let ending = format!("{event}-work-order.json");
        let path = paths.find(|path| path.to_str().is_some_and(|path| path.ends_with(&ending)))?;
        serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()
    });
    (event, order)
}

/// Every step of lockout and procedure of the written order stands on its page, in both languages;
/// where the order has no designation, the page says so in its words; no path of the server leaves.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_of_a_work_order_tells_what_its_document_tells() {
    let plant = Plant::with_documents().await;
    let user = User::of(&plant, "technician").await;
    let (event, order) = order(&user).await;
    let path = format!("/work/{event}");
    // the knowledge base is filled while the agent runs already
    for _ in 0..600 {
        if user.page(&path).await.contains("loto-head") {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    let pages = [("ko", user.page(&path).await), ("en", user.english(&path).await)];
    let folder = plant.folder().display().to_string();
    for (language, page) in &pages {
        let plain = page.replace("&quot;", "\"").replace("&#x27;", "'").replace("&amp;", "&");
        let plain = plain.replace("&lt;", "<").replace("&gt;", ">");
        for part in ["safety", "preparation", "procedure", "acceptance"] {
            for passage in order[part].as_array().expect("passages") {
                for item in passage["items"].as_array().expect("items") {
                    let item = item[language].as_str().expect("text");
                    assert!(plain.contains(item), "{language} {part}: {item}");
                }
            }
        }
        assert!(plain.contains("25 N·m"), "{language}: torques stand on the page");
        let note = order["parts"][0]["note"][language].as_str().expect("a note");
        assert!(plain.contains(note), "what the document says of the designation: {note}");
        assert!(
            !plain.contains(&folder) && !plain.contains("/reports/photos"),
            "no path of the server"
        );
        assert!(plain.contains("href=\"/knowledge/EM-"), "the sources lead to their pages");
        let loto = between(page, "id=\"loto-head\"", "</section>").expect("lockout");
        let steps = loto.matches("type=\"checkbox\"").count();
        assert!(steps >= 5, "{language}: {steps} steps of lockout to tick");
    }
    plant.stop().await;
}

/// Done, found and parts used are recorded from the order's page and taken back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_done_and_which_parts_were_used_is_recorded_and_taken_back() {
    let plant = Plant::with_documents().await;
    let user = User::of(&plant, "technician").await;
    let (event, _) = order(&user).await;
    let page = user.page(&format!("/work/{event}")).await;
    let action = between(&page, "class=\"act report\"", "").is_some();
    assert!(action, "the form of a report");
    let fields = [
        ("event_id", event.as_str()),
        ("back", &format!("/work/{event}")),
        ("verdict", "right"),
        ("element", "outer_race"),
        ("parts", "6205-2RS/C3 1개"),
        ("note", "박리 확인"),
        ("repaired", "yes"),
        ("state", "done"),
    ];
    let answer = user.send("/bearings/ulsan-1/P-101/DE/found", &fields).await;
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    let to = answer.headers()[LOCATION].to_str().expect("text").to_owned();
    let told = user.page(&to).await;
    assert!(told.contains("박리 확인") && told.contains("사용한 부품: 6205-2RS/C3 1개"), "{told}");
    let undo = between(&told, "action=\"/reports/", "/undo").expect("undo is offered");
    let undone = user.send(&format!("/reports/{undo}/undo"), &[("back", "/work")]).await;
    assert_eq!(undone.status(), StatusCode::SEE_OTHER);
    let work = user.page(&format!("/work/{event}")).await;
    assert!(work.contains("id=\"report\""), "the work waits again");
    plant.stop().await;
}

/// A photo is what its content says, is served as nothing else, and stands beside the documents;
/// everything else is refused with a sentence in the reader's language, and keeps nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::too_many_lines, reason = "one course of a photo from the phone to its removal")]
async fn a_photo_is_added_shown_and_removed_and_what_is_none_is_refused() {
    let plant = Plant::with_documents().await;
    let user = User::of(&plant, "technician").await;
    let (event, _) = order(&user).await;
    let folder = plant.folder().join("reports/photos");
    let files = || std::fs::read_dir(&folder).map_or(0, Iterator::count);
    let archive = [&jpeg()[..], b"PK\x03\x04 an archive PK\x05\x06"].concat();
    let large = [&jpeg()[..], &vec![0; 13 * 1024 * 1024]].concat();
    let refused: [(&[&[u8]], StatusCode, &str); 6] = [
        (
            &[b"<html><script>alert(1)</script>"],
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "사진이 아닌 파일",
        ),
        (&[&archive], StatusCode::UNPROCESSABLE_ENTITY, "다른 내용이 들어 있어"),
        (&[&jpeg()[..20]], StatusCode::UNPROCESSABLE_ENTITY, "손상되었습니다"),
        (&[&large], StatusCode::PAYLOAD_TOO_LARGE, "12 MB까지"),
        (&[b""], StatusCode::UNPROCESSABLE_ENTITY, "고르지 않았습니다"),
        // a good one beside a bad one: none is kept
        (&[&jpeg(), b"x"], StatusCode::UNSUPPORTED_MEDIA_TYPE, "사진이 아닌 파일"),
    ];
    for (files, status, told) in refused {
        let answer = user.photos(&event, &user.key, files).await;
        assert_eq!(answer.status(), status, "{told}");
        let text = answer.text().await.expect("text");
        assert!(text.contains(told), "{told}: {text}");
    }
    // a film by mistake: read to its end, so that the browser reads the sentence
    let film = vec![7; 200 * 1024 * 1024];
    let answer = user.photos(&event, &user.key, &[&film]).await;
    assert_eq!(answer.status(), StatusCode::PAYLOAD_TOO_LARGE);
    assert!(answer.text().await.expect("text").contains("나누어 보내 주십시오"));
    drop(film);
    let forged = user.photos(&event, &"0".repeat(64), &[&jpeg()]).await;
    assert_eq!(forged.status(), StatusCode::FORBIDDEN, "the form's own key is wanted");
    let viewer = User::of(&plant, "viewer").await;
    let answer = viewer.photos(&event, &viewer.key, &[&jpeg()]).await;
    assert_eq!(answer.status(), StatusCode::FORBIDDEN, "a viewer adds nothing");
    let unknown = "01936f3e-7c1a-7b52-9a6e-000000000099";
    let answer = user.photos(unknown, &user.key, &[&jpeg()]).await;
    assert_eq!(answer.status(), StatusCode::NOT_FOUND);
    assert_eq!(files(), 0, "nothing of it is kept");

    let answer = user.photos(&event, &user.key, &[&jpeg(), &jpeg()]).await;
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    assert_eq!(answer.headers()[LOCATION], format!("/work/{event}#photos").as_str());
    assert_eq!(files(), 2);
    let page = viewer.page(&format!("/work/{event}")).await;
    let id = between(&page, "src=\"/photos/", "\"").expect("a photo is shown").to_owned();
    assert!(!page.contains("x.php"), "a file's name is nobody's");
    let answer = viewer.get(&format!("/photos/{id}")).await;
    assert_eq!(answer.status(), StatusCode::OK);
    let header = |name: &str| answer.headers()[name].to_str().expect("text").to_owned();
    assert_eq!(header(CONTENT_TYPE.as_str()), "image/jpeg");
    assert_eq!(header(X_CONTENT_TYPE_OPTIONS.as_str()), "nosniff");
    assert_eq!(
        header(CONTENT_DISPOSITION.as_str()),
        format!("inline; filename=\"photo-{id}.jpeg\"")
    );
    assert!(header(CONTENT_SECURITY_POLICY.as_str()).starts_with("sandbox; default-src 'none'"));
    assert_eq!(answer.bytes().await.expect("bytes"), jpeg());
    let stranger = client().get(format!("{}/photos/{id}", plant.url)).send().await;
    assert_eq!(stranger.expect("answers").status(), StatusCode::SEE_OTHER, "to the login");
    for wrong in ["x", unknown, "..%2F..%2Fagent.db", "%00"] {
        assert_eq!(viewer.get(&format!("/photos/{wrong}")).await.status(), StatusCode::NOT_FOUND);
    }
    for _ in 0..5 {
        let answer = user.photos(&event, &user.key, &[&jpeg(), &jpeg()]).await;
        assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    }
    let answer = user.photos(&event, &user.key, &[&jpeg()]).await;
    assert_eq!(answer.status(), StatusCode::CONFLICT, "twelve are the most");
    assert!(answer.text().await.expect("text").contains("이미 12장"));
    assert_eq!(files(), 12);
    let remove = format!("/photos/{id}/remove");
    assert_eq!(viewer.send(&remove, &[]).await.status(), StatusCode::FORBIDDEN);
    assert_eq!(user.send(&remove, &[]).await.status(), StatusCode::SEE_OTHER);
    assert_eq!(user.send(&remove, &[]).await.status(), StatusCode::NOT_FOUND, "once");
    assert_eq!(
        (files(), viewer.get(&format!("/photos/{id}")).await.status()),
        (11, StatusCode::NOT_FOUND)
    );
    let acts = client().get(format!("{}/api/v1/audit", plant.url)).bearer_auth(token_of("admin"));
    let acts = acts.send().await.expect("answers").text().await.expect("text");
    assert!(acts.contains("add photo") && acts.contains("remove photo"), "{acts}");
    let listed = client().get(format!("{}/api/v1/events/{event}/photos", plant.url));
    let listed: Value =
        listed.bearer_auth(TOKEN).send().await.expect("answers").json().await.expect("json");
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(11));
    plant.stop().await;
}

/// A shelf ends at the morning that people name, from the page and from a message's link; what is
/// too far away is refused with a sentence.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::too_many_lines, reason = "one story")]
async fn a_shelf_ends_at_the_morning_that_people_name() {
    const PATH: &str = "/bearings/ulsan-1/P-101/DE/shelve";
    let plant = Plant::with_users().await;
    let user = User::of(&plant, "technician").await;
    let suppression = async || row(&plant).await["episode"]["suppression"].clone();
    for word in ["tomorrow", "monday"] {
        let fields = [("until", word), ("reason", "예비품 대기"), ("hours", "8")];
        assert_eq!(user.send(PATH, &fields).await.status(), StatusCode::SEE_OTHER, "{word}");
        let until = suppression().await["until"].as_str().expect("shelved").to_owned();
        assert!(until.contains("T07:00:00"), "{word}: {until}");
        assert_eq!(user.send(PATH, &[]).await.status(), StatusCode::SEE_OTHER, "the shelf ends");
    }
    for (date, status, told) in [
        ("2028-01-01T07:00", StatusCode::UNPROCESSABLE_ENTITY, "최대 7일"),
        ("2020-01-01T07:00", StatusCode::UNPROCESSABLE_ENTITY, "이미 지났습니다"),
        ("", StatusCode::BAD_REQUEST, "날짜와 시각"),
        ("soon", StatusCode::BAD_REQUEST, "날짜와 시각"),
    ] {
        let fields = [("until", "date"), ("date", date), ("reason", "x")];
        let answer = user.send(PATH, &fields).await;
        assert_eq!(answer.status(), status, "{date}");
        assert!(answer.text().await.expect("text").contains(told), "{date}");
    }
    let api = format!("{}/api/v1/bearings/ulsan-1/P-101/DE/shelf", plant.url);
    let days = json!({ "hours": 9600, "by": "x", "reason": "x" });
    let sent = client().post(&api).bearer_auth(token_of("technician")).json(&days).send().await;
    let answer = sent.expect("answers");
    assert_eq!(answer.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert!(answer.text().await.expect("text").contains("7 days at most"));

    // the watch ends a shelf, and tells what it withheld, at its next look
    for _ in 0..200 {
        if suppression().await["state"] == json!("none") {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    let claim = AckClaim {
        episode_id: row(&plant).await["episode"]["episode_id"]
            .as_str()
            .expect("one")
            .parse()
            .expect("an id"),
        level: RiskLevel::Critical,
        recipient: "email".to_owned(),
        expires_at: Timestamp::parse("2100-01-01T00:00:00Z").expect("a time"),
    };
    let text = plant.links().await.text(&claim);
    let by_link = async |text: &str, until: &str, reason: &str| {
        let url = format!("{}/ack/{text}/shelve", plant.url);
        let form = [("until", until), ("reason", reason), ("by", "박")];
        client().post(url).form(&form).send().await.expect("answers")
    };
    let forged = format!("B{}", &text[1..]);
    assert_eq!(by_link(&forged, "monday", "x").await.status(), StatusCode::FORBIDDEN);
    assert_eq!(by_link(&text, "never", "x").await.status(), StatusCode::BAD_REQUEST);
    assert_eq!(by_link(&text, "monday", " ").await.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(suppression().await["state"], json!("none"), "nothing of it has shelved");
    let done = by_link(&text, "monday", "부품 대기").await;
    assert_eq!(done.status(), StatusCode::OK);
    assert!(done.text().await.expect("text").contains("부품 대기"));
    let standing = suppression().await;
    assert_eq!(standing["by"], json!("박 (email)"));
    let listed = user.page("/episodes?state=shelved").await;
    assert!(listed.contains("부품 대기"), "what is shelved is listed: {listed}");
    plant.stop().await;
}

/// Lists are filtered, searched by line, chosen from and taken along as files; what has changed
/// since it was seen is left as it is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_are_filtered_acted_on_together_and_taken_along() {
    let plant = Plant::with_users().await;
    let user = User::of(&plant, "technician").await;
    for (path, is_there) in [
        ("/?q=1%20%EB%9D%BC%EC%9D%B8", true),
        ("/?line=1%20%EB%9D%BC%EC%9D%B8", true),
        ("/?line=x", false),
        ("/?element=outer_race", true),
        ("/?element=cage", false),
        ("/?state=mine", false),
        ("/episodes?ack=waits", true),
        ("/episodes?ack=mine", false),
        ("/work?element=outer_race", true),
        ("/work?mine=yes", false),
    ] {
        let page = user.page(path).await;
        let main = between(&page, "<main", "</main>").expect("a page");
        let found = main.contains("href=\"/bearings/ulsan-1/P-101/DE")
            || main.contains("ulsan-1/P-101/DE</a>");
        assert_eq!(found, is_there, "{path}");
    }
    assert_eq!(user.get("/?element=belt").await.status(), StatusCode::BAD_REQUEST);
    let page = user.page("/episodes").await;
    let chosen =
        between(&page, "name=\"chosen\" value=\"", "\"").expect("it can be chosen").to_owned();
    let (episode, _) = chosen.split_once(':').expect("two identities");
    let stale = format!("{episode}:01936f3e-7c1a-7b52-9a6e-000000000099");
    let none = user.send("/episodes/several", &[("act", "acknowledge")]).await;
    assert_eq!(none.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let fields =
        [("act", "acknowledge"), ("chosen", &chosen), ("chosen", &stale), ("reason", "나쁜 밤")];
    let answer = user.send("/episodes/several", &fields).await;
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    let to = answer.headers()[LOCATION].to_str().expect("text").to_owned();
    assert_eq!(to, "/episodes?done=1&left=1");
    assert!(user.page(&to).await.contains("처리한 경보: 1"));
    assert_eq!(row(&plant).await["alarm"]["acknowledged_by"], json!("technician"));
    assert!(user.page("/episodes?ack=mine").await.contains("P-101"), "it is mine now");
    let fields =
        [("act", "shelve"), ("chosen", chosen.as_str()), ("until", "tomorrow"), ("reason", "x")];
    assert_eq!(user.send("/episodes/several", &fields).await.status(), StatusCode::SEE_OTHER);
    assert_eq!(row(&plant).await["episode"]["suppression"]["state"], json!("shelved"));
    for (path, head) in [
        ("/bearings.csv?element=outer_race", "site,equipment,bearing,machine_name,line,"),
        ("/episodes.csv?state=open", "episode_id,site,equipment,bearing,"),
        ("/work.csv", "work_order,event_id,number,site,equipment,bearing,"),
    ] {
        let answer = user.get(path).await;
        assert_eq!(answer.headers()[CONTENT_TYPE], "text/csv; charset=utf-8", "{path}");
        let text = answer.text().await.expect("text");
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        assert!(text.starts_with(head), "{path}: {text}");
        assert!(text.lines().count() >= 2 && text.contains("P-101"), "{path}: {text}");
    }
    crate::workbooks::are_workbooks(&user).await;
    let statistics = user.page("/statistics").await;
    assert!(
        statistics.contains("ulsan-1/P-101/DE") && statistics.contains("100 %"),
        "{statistics}"
    );
    plant.stop().await;
}

/// Duty, labels and knowledge are pages.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn duty_labels_and_knowledge_are_pages() {
    let plant = Plant::with_documents().await;
    let user = User::of(&plant, "viewer").await;
    let duty = user.page("/duty").await;
    assert!(duty.contains("정비반") && duty.contains("박기사"), "{duty}");
    assert!(
        duty.contains("당직자 없음") || duty.contains("이 시간에는 경보가"),
        "the nights are gaps"
    );
    let labels = user.page("/labels").await;
    assert_eq!(labels.matches("<svg viewBox").count(), 1, "one bearing has one code");
    assert!(labels.contains("급수 펌프 1") && !labels.contains("public_url"), "{labels}");
    // the knowledge base is filled while the agent runs already
    for _ in 0..600 {
        if user.get("/knowledge/EM-06").await.status() == StatusCode::OK {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    let procedure = user.page("/knowledge/EM-06").await;
    assert!(procedure.contains("N·m") && !procedure.contains("config/knowledge"), "{procedure}");
    assert!(user.english("/knowledge/EM-06").await.contains("Bearing replacement"));
    assert_eq!(user.get("/knowledge/EM-99").await.status(), StatusCode::NOT_FOUND);
    let found = user.page("/search?q=6205").await;
    assert!(found.contains("href=\"/knowledge/"), "{found}");
    assert!(user.page("/search?q=P101").await.contains("href=\"/bearings/ulsan-1/P-101/DE\""));
    assert!(user.page("/knowledge").await.contains("action=\"/search\""));
    plant.stop().await;
}

/// The text that a page shows.
fn shown(page: &str) -> String {
    let body = page.split("<body").nth(1).unwrap_or_default();
    let mut text = String::new();
    for piece in body.split('<').skip(1) {
        text.push_str(piece.split_once('>').map_or("", |(_, shown)| shown));
        text.push('\n');
    }
    text
}

/// R-UI-1: no English word of the pages stands on a Korean page; what is data (names, notes,
/// documents) may be in any language.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_english_word_of_ours_stands_on_a_korean_page() {
    let plant = Plant::with_documents().await;
    let user = User::of(&plant, "admin").await;
    let (event, _) = order(&user).await;
    let texts = include_str!("../../../agent/web/src/texts.toml");
    let texts: toml::Table = texts.parse().expect("texts");
    let of = |language: &str| {
        let words = texts.values().filter_map(|pair| pair.get(language)?.as_str());
        words.map(str::to_owned).collect::<Vec<String>>()
    };
    let korean = of("ko");
    // words that Korean texts use as they are (CSV, FMEA), and short ones that names may hold
    let foreign =
        |text: &&String| text.len() >= 5 && !korean.iter().any(|ko| ko.contains(text.as_str()));
    let english: Vec<String> = of("en").iter().filter(foreign).cloned().collect();
    assert!(english.len() > 200, "{}", english.len());
    let episode = row(&plant).await["episode"]["episode_id"].as_str().expect("one").to_owned();
    let mut wrong = Vec::new();
    for path in [
        "/".to_owned(),
        "/bearings/ulsan-1/P-101/DE".to_owned(),
        "/episodes?state=all".to_owned(),
        format!("/episodes/{episode}"),
        format!("/episodes/{episode}/shelve?until=monday&reason=x"),
        "/work".to_owned(),
        format!("/work/{event}"),
        format!("/analyses/{event}"),
        "/notifications".to_owned(),
        "/gateways".to_owned(),
        "/chat".to_owned(),
        "/users".to_owned(),
        "/users/viewer/tokens".to_owned(),
        "/audit".to_owned(),
        "/removal".to_owned(),
        "/removal?act=forget&part=ulsan-1%2FP-101&by=Kim&reason=x".to_owned(),
        "/duty".to_owned(),
        "/labels".to_owned(),
        "/statistics".to_owned(),
        "/search?q=6205".to_owned(),
    ] {
        let text = shown(&user.page(&path).await);
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let found = english.iter().filter(|word| lines.contains(&word.as_str()));
        wrong.extend(found.map(|word| format!("{path}: {word}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    plant.stop().await;
}
