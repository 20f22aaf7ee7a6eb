//! Tests who may enter, and that a browser of somebody else cannot act.

use reqwest::StatusCode;
use reqwest::header::{
    AUTHORIZATION, CONTENT_SECURITY_POLICY, COOKIE, HOST, HeaderMap, LOCATION, ORIGIN, SET_COOKIE,
};
use serde_json::{Value, json};

use crate::plant::{MARKUP, Plant, TOKEN, client};

const PAGES: [&str; 4] = ["/", "/notifications", "/gateways", "/bearings/ulsan-1/P-101/DE"];
const ROUTES: [&str; 5] = [
    "/api/v1/bearings",
    "/api/v1/notifications",
    "/api/v1/gateways",
    "/api/v1/openapi.json",
    "/live",
];

fn header(headers: &HeaderMap, name: impl reqwest::header::AsHeaderName) -> String {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}

/// The first bearing of the API.
async fn bearing(url: &str, token: Option<&str>) -> Value {
    let mut request = client().get(format!("{url}/api/v1/bearings"));
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    let answer: Value = request.send().await.expect("answers").json().await.expect("json");
    answer["items"][0].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_a_token_no_page_and_no_route_answers_without_it() {
    let plant = Plant::with_token().await;
    let client = client();
    for page in PAGES {
        let answer = client.get(format!("{}{page}", plant.url)).send().await.expect("answers");
        assert_eq!(answer.status(), StatusCode::SEE_OTHER, "{page}");
        assert!(header(answer.headers(), LOCATION).starts_with("/login?to="), "{page}");
    }
    for route in ROUTES {
        for token in [None, Some("a wrong token of some length")] {
            let mut request = client.get(format!("{}{route}", plant.url));
            if let Some(token) = token {
                request = request.header(AUTHORIZATION, format!("Bearer {token}"));
            }
            let status = request.send().await.expect("answers").status();
            assert_eq!(status, StatusCode::UNAUTHORIZED, "{route} {token:?}");
        }
    }
    for route in &ROUTES[..4] {
        let request = client.get(format!("{}{route}", plant.url)).bearer_auth(TOKEN);
        assert_eq!(request.send().await.expect("answers").status(), StatusCode::OK, "{route}");
    }
    plant.stop().await;
}

/// A technician whose login ends over a form reads what to do, in words; a program gets its
/// refusal.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_form_that_is_sent_after_the_login_has_ended_leads_to_the_login_and_says_that_nothing_was_recorded()
 {
    let plant = Plant::with_token().await;
    let page = format!("{}/bearings/ulsan-1/P-101/DE", plant.url);
    let form = client().post(format!("{page}/acknowledge")).header("referer", &page);
    let form = form.header("accept-language", "ko").form(&[("note", "x")]);
    let answer = form.send().await.expect("answers");
    assert_eq!(answer.status(), StatusCode::UNAUTHORIZED);
    let shown = answer.text().await.expect("text").replace("&#x2f;", "/");
    assert!(shown.contains("기록되지 않았습니다"), "{shown}");
    assert!(shown.contains("value=\"/bearings/ulsan-1/P-101/DE\""), "{shown}");
    let program = client().post(format!("{}/api/v1/forget", plant.url)).form(&[("a", "b")]);
    let refused = program.send().await.expect("answers");
    assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);
    let told = refused.text().await.expect("text");
    assert!(told.contains("a bearer token or a login is required"), "{told}");
    plant.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_login_opens_the_pages_until_the_logout_and_leads_to_no_other_server() {
    let plant = Plant::with_token().await;
    let (client, url) = (client(), plant.url.clone());
    let login = |token: &'static str, to: &'static str| {
        let form = client.post(format!("{url}/login")).form(&[("token", token), ("to", to)]);
        async move { form.send().await.expect("answers") }
    };
    assert_eq!(login("wrong", "/").await.status(), StatusCode::UNAUTHORIZED);
    let away = login(TOKEN, "//evil.example/x").await;
    assert_eq!(header(away.headers(), LOCATION), "/");
    let entered = login(TOKEN, "/gateways").await;
    assert_eq!(header(entered.headers(), LOCATION), "/gateways");
    let cookie = header(entered.headers(), SET_COOKIE);
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let session = cookie.split(';').next().expect("a cookie").to_owned();
    let page = |path: &str, method: reqwest::Method| {
        let request = client.request(method, format!("{url}{path}")).header(COOKIE, &session);
        async move { request.send().await.expect("answers").status() }
    };
    assert_eq!(page("/gateways", reqwest::Method::GET).await, StatusCode::OK);
    assert_eq!(page("/logout", reqwest::Method::POST).await, StatusCode::SEE_OTHER);
    assert_eq!(page("/gateways", reqwest::Method::GET).await, StatusCode::SEE_OTHER);
    plant.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_of_another_server_can_neither_read_nor_act() {
    let plant = Plant::open().await;
    let (client, row) = (client(), bearing(&plant.url, None).await);
    let id = row["alarm"]["notification_id"].as_str().expect("an alarm stands").to_owned();
    // a host name that an attacker's name server points at loopback
    let foreign =
        client.get(&plant.url).header(HOST, "evil.example").send().await.expect("answers");
    assert_eq!(foreign.status(), StatusCode::FORBIDDEN);
    let act = format!("{}/bearings/ulsan-1/P-101/DE/acknowledge", plant.url);
    let form = [("form_key", ""), ("notification_id", id.as_str()), ("by", "x")];
    let sent = client.post(&act).header(ORIGIN, "http://evil.example").form(&form).send().await;
    assert_eq!(sent.expect("answers").status(), StatusCode::FORBIDDEN);
    assert_eq!(bearing(&plant.url, None).await["alarm"]["acknowledged_at"], Value::Null);
    plant.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sessions_form_without_its_key_acknowledges_nothing() {
    let plant = Plant::with_token().await;
    let (client, row) = (client(), bearing(&plant.url, Some(TOKEN)).await);
    let id = row["alarm"]["notification_id"].as_str().expect("an alarm stands").to_owned();
    let login = client.post(format!("{}/login", plant.url)).form(&[("token", TOKEN)]);
    let login = login.send().await.expect("answers");
    let session = header(login.headers(), SET_COOKIE);
    let session = session.split(';').next().expect("a cookie");
    let page = format!("{}/bearings/ulsan-1/P-101/DE", plant.url);
    let send = |key: String| {
        let form = [("form_key", key), ("notification_id", id.clone()), ("by", "Kim".to_owned())];
        let sent = client.post(format!("{page}/acknowledge")).header(COOKIE, session).form(&form);
        async move { sent.send().await.expect("answers").status() }
    };
    assert_eq!(send(String::new()).await, StatusCode::FORBIDDEN);
    assert_eq!(send("0".repeat(64)).await, StatusCode::FORBIDDEN);
    let text = client.get(&page).header(COOKIE, session).send().await.expect("answers");
    let text = text.text().await.expect("text");
    let key =
        text.split("name=\"form_key\" value=\"").nth(1).and_then(|rest| rest.split('"').next());
    assert_eq!(send(key.expect("the form has a key").to_owned()).await, StatusCode::SEE_OTHER);
    let row = bearing(&plant.url, Some(TOKEN)).await;
    assert_eq!(row["alarm"]["acknowledged_by"], json!("Kim"));
    plant.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn foreign_texts_are_shown_and_never_run() {
    let plant = Plant::open().await;
    let (client, row) = (client(), bearing(&plant.url, None).await);
    let id = row["alarm"]["notification_id"].as_str().expect("an alarm stands");
    let body = json!({ "notification_id": id, "by": MARKUP, "note": MARKUP });
    let act = format!("{}/api/v1/bearings/ulsan-1/P-101/DE/acknowledgements", plant.url);
    let done = client.post(act).json(&body).send().await.expect("answers");
    assert_eq!(done.status(), StatusCode::NO_CONTENT);
    let analysis = format!("/analyses/{}", row["event_id"].as_str().expect("an event"));
    let mut seen = 0;
    for page in PAGES.into_iter().chain([analysis.as_str()]) {
        let answer = client.get(format!("{}{page}", plant.url)).send().await.expect("answers");
        let policy = header(answer.headers(), CONTENT_SECURITY_POLICY);
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        let text = answer.text().await.expect("text");
        assert!(!text.contains("<img"), "{page}");
        assert!(!text.contains(" onclick=") && !text.contains("style="), "{page}");
        seen += usize::from(text.contains("&lt;img src=x"));
    }
    assert!(seen >= 1, "the bearing's page shows who acknowledged");
    plant.stop().await;
}

/// R-AGENT-10: a bearing is shelved and told of again on its page; a shelf that does not fit is
/// refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bearing_is_shelved_and_told_of_again_on_its_page() {
    let plant = Plant::open().await;
    let client = client();
    let page = format!("{}/bearings/ulsan-1/P-101/DE", plant.url);
    let key = async || {
        let text = client.get(&page).send().await.expect("answers").text().await.expect("text");
        let key = text.split("name=\"form_key\" value=\"").nth(1);
        key.and_then(|rest| rest.split('"').next()).expect("a form has a key").to_owned()
    };
    let send = async |hours: &str, by: &str| {
        let key = key().await;
        let mut form = vec![("form_key", key.as_str()), ("by", by), ("reason", "<b>spare</b>")];
        form.extend((!hours.is_empty()).then_some(("hours", hours)));
        client.post(format!("{page}/shelve")).form(&form).send().await.expect("answers").status()
    };
    assert_eq!(send("", "Kim").await, StatusCode::UNPROCESSABLE_ENTITY, "nothing is shelved");
    assert_eq!(send("200", "Kim").await, StatusCode::UNPROCESSABLE_ENTITY, "beyond a week");
    assert_eq!(send("8", " ").await, StatusCode::UNPROCESSABLE_ENTITY, "by nobody");
    assert_eq!(send("8", "Kim").await, StatusCode::SEE_OTHER);
    let row = bearing(&plant.url, None).await;
    assert_eq!(row["episode"]["state"], json!("shelved"));
    let text = client.get(&page).send().await.expect("answers").text().await.expect("text");
    assert!(text.contains("Kim: &lt;b&gt;spare&lt;"), "a reason is text");
    assert_eq!(send("", "Kim").await, StatusCode::SEE_OTHER);
    plant.stop().await;
}

/// Issue 33: the token of programs, of MCP too, is read again without a restart.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_token_opens_api_and_mcp_and_the_one_of_before_no_longer_does() {
    let plant = Plant::with_token().await;
    let ask = async |token: &str| {
        let api = client().get(format!("{}/api/v1/gateways", plant.url)).bearer_auth(token);
        let mcp = client().post(format!("{}/mcp", plant.url)).bearer_auth(token);
        let mcp = mcp.header("accept", "application/json, text/event-stream").json(&json!({
            "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": { "name": "test", "version": "1" },
            },
        }));
        let status = async |request: reqwest::RequestBuilder| {
            request.send().await.expect("answers").status()
        };
        (status(api).await, status(mcp).await)
    };
    let (taken, refused) = (StatusCode::OK, StatusCode::UNAUTHORIZED);
    assert_eq!(ask(TOKEN).await, (taken, taken));
    let file = plant.folder().join("token");
    // a file that is being written is no new secret
    std::fs::write(&file, "").expect("written");
    assert_eq!(ask(TOKEN).await, (taken, taken));
    let new = "another token of some length";
    std::fs::write(&file, new).expect("written");
    assert_eq!(ask(new).await, (taken, taken));
    assert_eq!(ask(TOKEN).await, (refused, refused));
    plant.stop().await;
}
