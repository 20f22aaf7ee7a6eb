//! Taking out, renaming, replacing and releasing by API and page: administrators alone, after a
//! look that changes nothing, once, and written down. Issue 33, point 7.

use pdm_agent::service::open_store;
use pdm_agent::settings::{AgentSettings, StorePlace};
use pdm_harness::Postgres;
use pdm_service::clock::{Clock as _, SystemClock};
use pdm_service::postgres::PostgresSettings;
use pdm_shared::event::Event;
use pdm_shared::id::EventId;
use pdm_store::Incoming;
use reqwest::StatusCode;
use reqwest::header::COOKIE;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::phone::TOO_SMALL;
use crate::plant::{PASSWORD, Plant, TOKEN, client, token_of};
use crate::roles::form_key;
use crate::seen::{RULES, axe};

const BEARING: &str = "ulsan-1/P-101/DE";

/// Sends a request of a user's program to the API; returns its answer.
async fn send(plant: &Plant, user: &str, path: &str, body: &Value) -> (u16, Value) {
    let url = format!("{}/api/v1{path}", plant.url);
    let sent = client().post(url).bearer_auth(token_of(user)).json(body).send().await;
    let answer = sent.expect("answers");
    (answer.status().as_u16(), answer.json().await.unwrap_or(Value::Null))
}

/// Returns the items that the API lists.
async fn items(plant: &Plant, path: &str) -> Vec<Value> {
    let asked = client().get(format!("{}/api/v1{path}", plant.url)).bearer_auth(TOKEN);
    let answer: Value = asked.send().await.expect("answers").json().await.expect("json");
    answer["items"].as_array().expect("items").clone()
}

/// Stores healthy windows of P-101/DE as a gateway sends them; the numbers begin at `first`.
async fn arrive(plant: &Plant, server: Option<&Postgres>, gateway: &str, first: u64) {
    let mut settings = AgentSettings::embedded("127.0.0.1", 1, plant.folder().join("agent.db"));
    if let Some(server) = server {
        let place = PostgresSettings::at(server.url());
        settings.store.place = StorePlace::Postgres(Box::new(place));
    }
    let store = open_store(&settings.store).await.expect("opens");
    let now = SystemClock.now();
    let windows: Vec<Incoming> = (first..first + 3)
        .map(|sequence| {
            let text = include_str!("../../../config/examples/event-healthy.json");
            let mut event: Event = serde_json::from_str(text).expect("event");
            (event.sequence, event.measured_at) = (sequence, now);
            event.event_id = EventId::at(now.unix_ms());
            event.gateway_id = gateway.parse().expect("a name");
            event.equipment_id = "P-101".parse().expect("a name");
            event.bearing_id = "DE".parse().expect("a name");
            let payload = serde_json::to_string(&event).expect("json");
            Incoming::Event { event: Box::new(event), payload, proven: false }
        })
        .collect();
    store.intake().store(&windows, now, "pdm/v1/dead-letter").await.expect("stored");
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_administrator_takes_out_what_is_gone_over_the_api() {
    taken_out(None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_administrator_takes_out_what_is_gone_over_the_api_from_postgres() {
    let name = "an_administrator_takes_out_what_is_gone_over_the_api_from_postgres";
    let Some(server) = Postgres::start(name) else { return };
    taken_out(Some(&server)).await;
}

async fn taken_out(server: Option<&Postgres>) {
    let plant = Plant::with_users_on(server).await;
    let dry = json!({ "part": "ulsan-1/P-101", "reason": "pump scrapped", "dry_run": true });
    let wet = json!({ "part": "ulsan-1/P-101", "reason": "pump scrapped", "by": "somebody else" });
    for user in ["viewer", "technician"] {
        let (status, problem) = send(&plant, user, "/forget", &wet).await;
        assert_eq!(status, 403, "{problem}");
        assert!(problem["detail"].as_str().is_some_and(|told| told.contains("role admin")));
    }
    let (status, would) = send(&plant, "admin", "/forget", &dry).await;
    assert_eq!(status, 200, "{would}");
    assert_eq!(would["bearings"][0]["bearing"], json!("DE"), "{would}");
    assert_eq!((&would["episodes"], &would["topics"]), (&json!(1), &json!(3)), "{would}");
    assert_eq!(items(&plant, "/bearings").await.len(), 1, "a dry run");
    let acts = items(&plant, "/audit").await;
    assert!(!acts.iter().any(|act| act["action"] == "forget"), "a dry run: {acts:?}");

    let no_reason = json!({ "part": "ulsan-1/P-101", "reason": " " });
    assert_eq!(send(&plant, "admin", "/forget", &no_reason).await.0, 422);
    let unknown = json!({ "part": "ulsan-1/P-999", "reason": "x" });
    let (status, problem) = send(&plant, "admin", "/forget", &unknown).await;
    assert_eq!(
        (status, problem["detail"].as_str()),
        (404, Some("nothing is known of ulsan-1/P-999"))
    );
    let no_name = json!({ "part": "ulsan-1/P+1", "reason": "x" });
    assert_eq!(send(&plant, "admin", "/forget", &no_name).await.0, 422);

    // of two administrators at once one does it, and the other hears that nothing is there
    let (one, other) = tokio::join!(
        send(&plant, "admin", "/forget", &wet),
        send(&plant, "admin", "/forget", &wet)
    );
    let mut statuses = [one.0, other.0];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 404], "{one:?} {other:?}");
    let done = if one.0 == 200 { one.1 } else { other.1 };
    assert_eq!(done, would, "as the look said");
    assert_eq!(items(&plant, "/bearings").await, Vec::<Value>::new());
    assert_eq!(items(&plant, "/episodes").await, Vec::<Value>::new());
    let acts = items(&plant, "/audit").await;
    let acts: Vec<&Value> = acts.iter().filter(|act| act["action"] == "forget").collect();
    assert_eq!(acts.len(), 1, "{acts:?}");
    assert_eq!((&acts[0]["who"], &acts[0]["via"]), (&json!("admin"), &json!("api")));
    let what = acts[0]["what"].as_str().expect("text");
    assert!(what.contains("ulsan-1/P-101: pump scrapped") && !what.contains("somebody"), "{what}");
    plant.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rename_onto_a_known_name_wants_a_word_of_its_own() {
    renamed(None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rename_onto_a_known_name_wants_a_word_of_its_own_on_postgres() {
    let name = "a_rename_onto_a_known_name_wants_a_word_of_its_own_on_postgres";
    let Some(server) = Postgres::start(name) else { return };
    renamed(Some(&server)).await;
}

async fn renamed(server: Option<&Postgres>) {
    let plant = Plant::with_users_on(server).await;
    let rename = |from: &str, to: &str, more: &[(&str, bool)]| {
        let mut body = json!({ "from": from, "to": to, "reason": "tag corrected" });
        for (word, value) in more {
            body[*word] = json!(value);
        }
        body
    };
    let ask = async |user: &str, body: Value| send(&plant, user, "/rename", &body).await;
    let history = [("with_history", true)];
    let to_new = rename("ulsan-1/P-101", "ulsan-1/P-201", &history);
    assert_eq!(ask("technician", to_new.clone()).await.0, 403);
    for wrong in ["ulsan-1", "ulsan-1/P-101"] {
        assert_eq!(ask("admin", rename("ulsan-1/P-101", wrong, &[])).await.0, 422, "{wrong}");
    }
    assert_eq!(ask("admin", rename("ulsan-1/P-9", "ulsan-1/P-8", &[])).await.0, 404);
    let (status, out) = ask("admin", to_new.clone()).await;
    assert_eq!((status, &out["joined"]), (200, &json!([])), "{out}");
    let windows = items(&plant, "/bearings/ulsan-1/P-201/DE/windows").await;
    assert_eq!(windows.len(), 20, "the history goes on");
    assert_eq!(ask("admin", to_new).await.0, 404, "the second one finds nothing");

    // the former name sends on, and is told apart from the new one
    arrive(&plant, server, "gw-01", 21).await;
    until_bearings(&plant, 2).await;
    let again = rename("ulsan-1/P-101", "ulsan-1/P-201", &history);
    let (status, problem) = ask("admin", again).await;
    assert_eq!(status, 409, "{problem}");
    assert!(problem["detail"].as_str().is_some_and(|told| told.starts_with("ulsan-1/P-201/DE")));
    assert_eq!(items(&plant, "/bearings").await.len(), 2, "nothing was changed");
    let joined = [("with_history", true), ("join", true)];
    let (status, out) = ask("admin", rename("ulsan-1/P-101", "ulsan-1/P-201", &joined)).await;
    assert_eq!((status, &out["joined"][0]["equipment"]), (200, &json!("P-201")), "{out}");
    assert_eq!(items(&plant, "/bearings").await.len(), 1);
    let windows = items(&plant, "/bearings/ulsan-1/P-201/DE/windows").await;
    assert_eq!(windows.len(), 23, "both histories");
    plant.stop().await;
}

/// Waits until `count` bearings are judged.
async fn until_bearings(plant: &Plant, count: usize) {
    for _ in 0..600 {
        if items(plant, "/bearings").await.len() == count {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("{count} bearings: not within a minute");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_is_released_replaced_and_taken_out_over_the_api() {
    gateways(None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_is_released_replaced_and_taken_out_over_the_api_on_postgres() {
    let name = "a_gateway_is_released_replaced_and_taken_out_over_the_api_on_postgres";
    let Some(server) = Postgres::start(name) else { return };
    gateways(Some(&server)).await;
}

async fn gateways(server: Option<&Postgres>) {
    let plant = Plant::with_users_on(server).await;
    let why = json!({ "reason": "board broken" });
    arrive(&plant, server, "gw-02", 1).await;
    let refused = items(&plant, "/refused").await;
    assert_eq!((refused.len(), &refused[0]["count"]), (1, &json!(3)), "{refused:?}");
    assert_eq!(refused[0]["admitted_by"]["release_bearing"]["equipment"], json!("P-101"));
    let release = format!("/bearings/{BEARING}/release");
    assert_eq!(send(&plant, "technician", &release, &why).await.0, 403);
    let (status, out) = send(&plant, "admin", &release, &why).await;
    assert_eq!((status, &out["released"][0]["bearing"]), (200, &json!("DE")), "{out}");
    assert_eq!(send(&plant, "admin", &release, &why).await.0, 404, "it belongs to none");
    arrive(&plant, server, "gw-02", 1).await;
    let path = "/gateways/ulsan-1/gw-02/release";
    assert_eq!(send(&plant, "admin", path, &why).await.0, 200);
    let mut replace = json!({ "new": "gw-02", "reason": "board broken" });
    let path = "/gateways/ulsan-1/gw-02/replace";
    assert_eq!(send(&plant, "admin", path, &replace).await.0, 422, "by itself");
    replace["new"] = json!("gw-03");
    replace["dry_run"] = json!(true);
    let (status, would) = send(&plant, "admin", path, &replace).await;
    assert_eq!((status, &would["released"][0]["equipment"]), (200, &json!("P-101")), "{would}");
    replace["dry_run"] = json!(false);
    let (one, other) =
        tokio::join!(send(&plant, "admin", path, &replace), send(&plant, "admin", path, &replace));
    let mut statuses = [one.0, other.0];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 404], "{one:?} {other:?}");
    let forget = |gateway: &str| format!("/gateways/ulsan-1/{gateway}/forget");
    assert_eq!(send(&plant, "technician", &forget("gw-01"), &why).await.0, 403);
    assert_eq!(send(&plant, "admin", &forget("gw-01"), &why).await.0, 200);
    assert_eq!(send(&plant, "admin", &forget("gw-01"), &why).await.0, 404);
    assert_eq!(send(&plant, "admin", &forget("gw-77"), &why).await.0, 404);
    assert_eq!(items(&plant, "/gateways").await, Vec::<Value>::new());
    let acts = items(&plant, "/audit").await;
    for action in ["release bearing", "release gateway", "replace gateway", "forget gateway"] {
        let count = acts.iter().filter(|act| act["action"] == action).count();
        assert_eq!(count, 1, "{action}: {acts:?}");
    }
    plant.stop().await;
}

/// As the neighbours' forms: no GET changes anything, a form of another login is refused, and so is
/// a session at the API.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_shows_what_would_change_and_changes_it_by_its_own_form_alone() {
    let plant = Plant::with_users().await;
    let (admin, technician) = (plant.login("admin").await, plant.login("technician").await);
    let get = async |session: &str, path: &str| {
        let asked = client().get(format!("{}{path}", plant.url)).header(COOKIE, session);
        let answer = asked.send().await.expect("answers");
        (answer.status(), answer.text().await.expect("text").replace("&#x2f;", "/"))
    };
    let look = "/removal?act=forget&part=ulsan-1%2FP-101&reason=pump+scrapped";
    for path in ["/removal", look] {
        assert_eq!(get(&technician, path).await.0, StatusCode::FORBIDDEN, "{path}");
    }
    let (status, text) = get(&admin, look).await;
    assert_eq!(status, StatusCode::OK);
    assert!(text.contains(BEARING) && text.contains("action=\"/removal\""), "{text}");
    assert_eq!(items(&plant, "/bearings").await.len(), 1, "a GET changes nothing");
    let key = form_key(&plant, &admin).await;
    let post = async |session: &str, key: &str| {
        let form = [
            ("form_key", key),
            ("act", "forget"),
            ("part", "ulsan-1/P-101"),
            ("reason", "pump scrapped"),
        ];
        let sent = client().post(format!("{}/removal", plant.url)).header(COOKIE, session);
        let answer = sent.form(&form).send().await.expect("answers");
        (answer.status(), answer.text().await.expect("text").replace("&#x2f;", "/"))
    };
    assert_eq!(post(&admin, "another").await.0, StatusCode::FORBIDDEN);
    let own = form_key(&plant, &technician).await;
    assert_eq!(post(&technician, &own).await.0, StatusCode::FORBIDDEN);
    let at_api = client().post(format!("{}/api/v1/forget", plant.url)).header(COOKIE, &admin);
    let at_api = at_api.json(&json!({ "part": "ulsan-1", "reason": "x" })).send().await;
    assert_eq!(at_api.expect("answers").status(), StatusCode::FORBIDDEN);
    assert_eq!(items(&plant, "/bearings").await.len(), 1, "nothing was changed");
    let (status, text) = post(&admin, &key).await;
    assert_eq!(status, StatusCode::OK, "{text}");
    assert!(text.contains("role=\"status\"") && text.contains(BEARING), "{text}");
    assert_eq!(items(&plant, "/bearings").await.len(), 0);
    let (status, text) = post(&admin, &key).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(text.contains("ulsan-1/P-101: 그런 이름이 없습니다"), "{text}");
    let acts = get(&admin, "/audit").await.1;
    assert!(acts.contains("pump scrapped") && acts.contains("page"), "{acts}");
    for wrong in
        ["act=explode&reason=x", "act=forget&part=&reason=x", "act=replace_gateway&reason=x"]
    {
        let (status, _) = get(&admin, &format!("/removal?{wrong}")).await;
        assert!(status.is_client_error(), "{wrong}: {status}");
    }
    plant.stop().await;
}

/// A gateway whose events are refused stands on its page with the act that admits it, which an
/// administrator does on a phone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_administrator_admits_a_refused_gateway_on_a_phone() {
    let name = "an_administrator_admits_a_refused_gateway_on_a_phone";
    let Some(browser) = Browser::start(name).await else { return };
    let Some(axe) = axe(name) else { return };
    let plant = Plant::with_users().await;
    arrive(&plant, None, "gw-02", 1).await;
    browser.look(390, false).await;
    browser.open(&format!("{}/login?to=/gateways", plant.url)).await;
    for (field, text) in [("name", "admin"), ("password", PASSWORD)] {
        browser.click(&format!("[name={field}]")).await;
        browser.press(text).await;
    }
    browser.click("form button.main").await;
    let listed = "return document.querySelector('#refused-head') !== null";
    browser.until("what is refused", listed).await;
    let clean = async |page: &str| {
        browser.run(&axe).await;
        let found = browser.run(RULES).await;
        assert_eq!(found, json!([]), "{page}: {found}");
        let small = browser.run(TOO_SMALL).await;
        assert_eq!(small, json!([]), "{page}: {small}");
    };
    clean("/gateways").await;
    browser.picture("gateways-refused.png").await;
    browser.click("section a[href^='/removal?part=']").await;
    let form = "return document.querySelector('#release_bearing') !== null
        && document.querySelector('#forget_gateway') === null";
    browser.until("the acts of a bearing", form).await;
    clean("/removal?part=").await;
    browser.click("section:has(#release_bearing) [name=reason]").await;
    browser.press("board broken").await;
    browser.click("section:has(#release_bearing) button").await;
    let look = "return document.querySelector('form[action=\"/removal\"][method=post]') !== null";
    browser.until("what would change", look).await;
    clean("what would change").await;
    browser.picture("removal-look.png").await;
    browser.click("form[method=post][action='/removal'] button.main").await;
    let done = "return document.querySelector('section[role=status]') !== null";
    browser.until("what was done", done).await;
    clean("what was done").await;
    for (number, page) in ["/removal", "/removal?gateway=ulsan-1%2Fgw-02"].into_iter().enumerate() {
        for language in ["ko", "en"] {
            browser.run(&format!("document.cookie = 'pdm_language={language}; path=/'")).await;
            browser.open(&format!("{}{page}", plant.url)).await;
            clean(page).await;
            browser.picture(&format!("removal-{number}-{language}.png")).await;
        }
    }
    let complaints = browser.complaints().await;
    assert!(complaints.is_empty(), "{complaints:?}");
    plant.stop().await;
}
