//! Users and their roles: what each may do, walked over every route that acts, and how a session
//! ends.

use std::collections::BTreeSet;

use pdm_shared::risk::RiskLevel;
use pdm_web::link::AckClaim;
use reqwest::header::{COOKIE, LOCATION};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::plant::{PASSWORD, Plant, TOKEN, client, token_of};

/// Returns the text of a page for a session.
async fn page(plant: &Plant, session: &str, path: &str) -> String {
    let asked = client().get(format!("{}{path}", plant.url)).header(COOKIE, session);
    unescaped(&asked.send().await.expect("answers").text().await.expect("text"))
}

/// A page with the slashes that its template escapes.
fn unescaped(text: &str) -> String {
    text.replace("&#x2f;", "/")
}

/// The part of a text between two others.
fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    text.split(from).nth(1)?.split(to).next()
}

/// The bearing's row as the API tells it.
pub(crate) async fn row(plant: &Plant) -> Value {
    let asked = client().get(format!("{}/api/v1/bearings", plant.url)).bearer_auth(TOKEN);
    let answer: Value = asked.send().await.expect("answers").json().await.expect("json");
    answer["items"][0].clone()
}

/// The key of the forms of a session.
pub(crate) async fn form_key(plant: &Plant, session: &str) -> String {
    let text = page(plant, session, "/chat").await;
    between(&text, "name=\"form_key\" value=\"", "\"").expect("the chat has a form").to_owned()
}

/// Every address that a form of a page posts to, as an administrator sees the pages.
pub(crate) async fn forms(plant: &Plant, admin: &str) -> BTreeSet<String> {
    let row = row(plant).await;
    let episode = row["episode"]["episode_id"].as_str().expect("an episode");
    let event = row["event_id"].as_str().expect("an event");
    let pages = [
        "/".to_owned(),
        "/episodes".to_owned(),
        format!("/work/{event}"),
        "/bearings/ulsan-1/P-101/DE".to_owned(),
        format!("/episodes/{episode}"),
        format!("/episodes/{episode}/shelve?hours=8&reason=x"),
        "/work".to_owned(),
        "/users".to_owned(),
        "/users/viewer/tokens".to_owned(),
        "/removal?act=forget&part=ulsan-1%2FP-101&by=Kim&reason=x".to_owned(),
        "/chat".to_owned(),
        "/settings".to_owned(),
    ];
    let mut found = BTreeSet::new();
    for path in pages {
        let text = page(plant, admin, &path).await;
        let forms = text.split("<form").skip(1).filter(|form| form.contains("method=\"post\""));
        found.extend(forms.filter_map(|form| between(form, "action=\"", "\"")).map(str::to_owned));
    }
    found
}

/// Returns the document's summary of a method of a path.
fn summary<'a>(methods: &'a Value, name: &str) -> &'a str {
    methods[name]["summary"].as_str().expect("a summary")
}

/// R-AGENT-10: every route of the document that acts refuses a viewer and takes a technician.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_viewer_cannot_act_on_any_route_of_the_document_or_by_any_form_of_a_page() {
    let plant = Plant::with_users().await;
    let row = row(&plant).await;
    let event = row["event_id"].as_str().expect("an event").to_owned();
    let document = client().get(format!("{}/api/v1/openapi.json", plant.url)).bearer_auth(TOKEN);
    let document: Value = document.send().await.expect("answers").json().await.expect("json");
    let mut walked = 0;
    let paths = document["paths"].as_object().expect("paths");
    // the chat only reads, though by POST
    for (path, methods) in paths.iter().filter(|(path, _)| !path.starts_with("/chat/")) {
        let path = path
            .replace("{site}", "ulsan-1")
            .replace("{equipment}", "P-101")
            .replace("{bearing}", "DE")
            .replace("{gateway}", "gw-01")
            .replace("{event_id}", &event);
        let acting = methods.as_object().expect("methods").keys().filter(|name| *name != "get");
        for name in acting {
            let method = Method::from_bytes(name.to_uppercase().as_bytes()).expect("a method");
            let send = async |user: &str| {
                let url = format!("{}/api/v1{path}", plant.url);
                let asked = client().request(method.clone(), url).bearer_auth(token_of(user));
                asked.json(&json!({})).send().await.expect("answers").status()
            };
            assert_eq!(send("viewer").await, StatusCode::FORBIDDEN, "{name} {path}");
            let is_admins = summary(methods, name).ends_with("for administrators");
            let taken = send("technician").await;
            assert_eq!(taken == StatusCode::FORBIDDEN, is_admins, "{name} {path} {taken}");
            let taken = send(if is_admins { "admin" } else { "technician" }).await;
            assert!(taken != StatusCode::FORBIDDEN && !taken.is_server_error(), "{path} {taken}");
            walked += 1;
        }
    }
    assert_eq!(walked, 12, "routes of the document that act");
    let (viewer, admin) = (plant.login("viewer").await, plant.login("admin").await);
    let (key, forms) = (form_key(&plant, &viewer).await, forms(&plant, &admin).await);
    assert!(forms.len() >= 15, "{forms:?}");
    // a viewer chooses a language, asks the chat, which only reads, and logs out
    let harmless = ["/language", "/chat", "/logout"];
    for action in forms.iter().filter(|action| !harmless.contains(&action.as_str())) {
        let asked = client().post(format!("{}{action}", plant.url)).header(COOKIE, &viewer);
        let answer = asked.form(&[("form_key", key.as_str())]).send().await.expect("answers");
        assert_eq!(answer.status(), StatusCode::FORBIDDEN, "{action}");
    }
    for path in ["/users", "/audit", "/users/viewer/tokens", "/removal", "/settings"] {
        let asked = client().get(format!("{}{path}", plant.url)).header(COOKIE, &viewer);
        assert_eq!(asked.send().await.expect("answers").status(), StatusCode::FORBIDDEN, "{path}");
    }
    let text = page(&plant, &viewer, "/bearings/ulsan-1/P-101/DE").await;
    assert!(!text.contains("/acknowledge\""), "a viewer is shown no form");
    plant.stop().await;
}

/// R-AGENT-10: a token is shown once where it is made, opens the API, and opens nothing once it is
/// revoked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_administrator_makes_a_token_and_takes_it_away() {
    let plant = Plant::with_users().await;
    let session = plant.login("admin").await;
    let key = form_key(&plant, &session).await;
    let send = async |more: &[(&str, &str)]| {
        let form = [&[("form_key", key.as_str())][..], more].concat();
        let url = format!("{}/users/viewer/tokens", plant.url);
        let sent = client().post(url).header(COOKIE, &session).form(&form).send().await;
        let answer = sent.expect("answers");
        (answer.status(), answer.text().await.expect("text"))
    };
    let (status, text) = send(&[("label", "line-1"), ("days", "30")]).await;
    assert_eq!(status, StatusCode::OK, "{text}");
    let token = between(&text, "<code>", "</code>").expect("the value").to_owned();
    let enters = async || {
        let asked = client().get(format!("{}/api/v1/gateways", plant.url)).bearer_auth(&token);
        asked.send().await.expect("answers").status()
    };
    assert_eq!(enters().await, StatusCode::OK);
    let shown = page(&plant, &session, "/users/viewer/tokens").await;
    assert!(shown.contains("line-1") && !shown.contains(&token), "{shown}");
    assert_eq!(send(&[("label", "line-1")]).await.0, StatusCode::CONFLICT, "no silent replacement");
    assert_eq!(send(&[("label", "x"), ("days", "0")]).await.0, StatusCode::BAD_REQUEST);
    let revoked = [("label", "line-1"), ("revoke", "yes")];
    assert_eq!(send(&revoked).await.0, StatusCode::SEE_OTHER);
    assert_eq!(enters().await, StatusCode::UNAUTHORIZED);
    assert_eq!(send(&revoked).await.0, StatusCode::NOT_FOUND);
    let acts = page(&plant, &session, "/audit").await;
    assert!(acts.contains("토큰 발급") && acts.contains("토큰 폐기"), "{acts}");
    plant.stop().await;
}

/// A technician's form signs as the technician, whatever else it says, and is written down.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_technician_acts_under_the_own_name_and_the_act_is_written_down() {
    let plant = Plant::with_users().await;
    let session = plant.login("technician").await;
    let (key, row) = (form_key(&plant, &session).await, row(&plant).await);
    let episode = row["episode"]["episode_id"].as_str().expect("an episode").to_owned();
    let id = row["alarm"]["notification_id"].as_str().expect("an alarm").to_owned();
    let send = async |action: &str, more: &[(&str, &str)]| {
        let form = [&[("form_key", key.as_str()), ("by", "somebody else")][..], more].concat();
        let url = format!("{}/episodes/{episode}{action}", plant.url);
        let sent = client().post(url).header(COOKIE, &session).form(&form).send().await;
        sent.expect("answers").status()
    };
    assert_eq!(send("/note", &[("note", "heard it too")]).await, StatusCode::SEE_OTHER);
    let told = [("notification_id", id.as_str()), ("note", "seen")];
    assert_eq!(send("/acknowledge", &told).await, StatusCode::SEE_OTHER);
    let preview = format!("/episodes/{episode}/shelve?hours=24&reason=spare");
    let preview = page(&plant, &session, &preview).await;
    let until = between(&preview, "name=\"until\" value=\"", "\"").expect("an instant");
    assert!(until.ends_with('Z'), "{preview}");
    let shelf = [("hours", "24"), ("reason", "spare arrives")];
    assert_eq!(send("/shelve", &shelf).await, StatusCode::SEE_OTHER);
    assert_eq!(
        send("/shelve", &[("hours", "169"), ("reason", "x")]).await,
        StatusCode::UNPROCESSABLE_ENTITY,
        "as on the bearing's page"
    );
    assert_eq!(
        send("/shelve", &[("hours", "long"), ("reason", "x")]).await,
        StatusCode::BAD_REQUEST
    );
    assert_eq!(send("/shelve", &[]).await, StatusCode::SEE_OTHER, "the shelf ends");
    let found = [("verdict", "right"), ("element", "outer_race"), ("cause", "misaligned")];
    assert_eq!(send("/found", &found).await, StatusCode::SEE_OTHER);
    assert_eq!(send("/found", &[("verdict", "perhaps")]).await, StatusCode::BAD_REQUEST);
    let text = page(&plant, &session, &format!("/episodes/{episode}")).await;
    assert!(text.contains("heard it too") && text.contains("misaligned"), "{text}");
    assert!(!text.contains("somebody else"), "{text}");
    let admin = client().get(format!("{}/api/v1/audit", plant.url)).bearer_auth(token_of("admin"));
    let acts: Value = admin.send().await.expect("answers").json().await.expect("json");
    let acts = acts["items"].as_array().expect("items");
    let of =
        |action: &str| acts.iter().any(|act| act["action"] == action && act["who"] == "technician");
    for action in ["login", "note", "acknowledge", "shelve", "end shelf", "follow-up"] {
        assert!(of(action), "{action}: {acts:?}");
    }
    let audit = page(&plant, &plant.login("admin").await, "/audit").await;
    assert!(audit.contains("경보 확인") && audit.contains("technician"), "{audit}");
    plant.stop().await;
}

/// A changed password, a disabled user and a lower role hold from the next request on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_administrator_changes_of_a_user_holds_at_once() {
    let plant = Plant::with_users().await;
    let (admin, viewer) = (plant.login("admin").await, plant.login("viewer").await);
    let technician = plant.login("technician").await;
    let key = form_key(&plant, &admin).await;
    let change = async |path: &str, field: &str, value: &str| {
        let form = [("form_key", key.as_str()), (field, value)];
        let url = format!("{}{path}", plant.url);
        let sent = client().post(url).header(COOKIE, &admin).form(&form).send().await;
        sent.expect("answers").status()
    };
    let get = async |session: &str, path: &str| {
        let asked = client().get(format!("{}{path}", plant.url)).header(COOKIE, session);
        let answer = asked.send().await.expect("answers");
        let to = answer.headers().get(LOCATION).and_then(|to| to.to_str().ok());
        (answer.status(), to.unwrap_or_default().to_owned())
    };
    assert_eq!(get(&viewer, "/users").await.0, StatusCode::FORBIDDEN);
    assert_eq!(change("/users/viewer", "role", "admin").await, StatusCode::SEE_OTHER);
    assert_eq!(get(&viewer, "/users").await.0, StatusCode::OK, "the role holds at once");
    let to_login = (StatusCode::SEE_OTHER, "/login?to=/".to_owned());
    let new = "another password of some length";
    assert_eq!(change("/users/viewer", "password", new).await, StatusCode::SEE_OTHER);
    assert_eq!(get(&viewer, "/").await, to_login, "a changed password ends the session");
    assert_eq!(change("/users/technician", "disabled", "yes").await, StatusCode::SEE_OTHER);
    assert_eq!(get(&technician, "/").await, to_login, "a disabled user is out");
    let api = client().get(format!("{}/api/v1/bearings", plant.url));
    let api = api.bearer_auth(token_of("technician")).send().await.expect("answers").status();
    assert_eq!(api, StatusCode::UNAUTHORIZED, "and so are the tokens");
    let oneself = change("/users/admin", "role", "viewer").await;
    assert_eq!(oneself, StatusCode::UNPROCESSABLE_ENTITY, "nobody locks themselves out");
    assert_eq!(change("/users/nobody", "role", "viewer").await, StatusCode::NOT_FOUND);
    assert_eq!(change("/users/admin", "password", "short").await, StatusCode::UNPROCESSABLE_ENTITY);
    plant.stop().await;
}

/// R-AGENT-10: GET shows, POST acts, once and for what the link was made; again it changes nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_acknowledges_once_by_post_and_shows_what_stands_ever_after() {
    let plant = Plant::with_users().await;
    let before = row(&plant).await;
    let links = plant.links().await;
    let claim = AckClaim {
        episode_id: before["episode"]["episode_id"].as_str().expect("one").parse().expect("id"),
        level: RiskLevel::Critical,
        recipient: "webhook ops".to_owned(),
        expires_at: "2100-01-01T00:00:00Z".parse_time(),
    };
    let url = format!("{}/ack/{}", plant.url, links.text(&claim));
    for _ in 0..3 {
        let shown = client().get(&url).send().await.expect("answers");
        assert_eq!(shown.status(), StatusCode::OK);
        let text = unescaped(&shown.text().await.expect("text"));
        assert!(text.contains("ulsan-1/P-101/DE") && text.contains("method=\"post\""), "{text}");
    }
    assert_eq!(row(&plant).await["alarm"]["acknowledged_at"], Value::Null, "a GET changes nothing");
    let act = async |by: &str| {
        let sent = client().post(&url).form(&[("by", by), ("note", "on my way")]).send().await;
        let answer = sent.expect("answers");
        (answer.status(), answer.text().await.expect("text"))
    };
    let (status, text) = act("Kim").await;
    assert_eq!(status, StatusCode::OK);
    assert!(text.contains("Kim (webhook ops)"), "{text}");
    let after = row(&plant).await;
    assert_eq!(after["alarm"]["acknowledged_by"], json!("Kim (webhook ops)"));
    let (status, text) = act("Lee").await;
    assert_eq!(status, StatusCode::OK, "harmless");
    assert!(text.contains("Kim (webhook ops)") && !text.contains("Lee"), "{text}");
    assert_eq!(row(&plant).await["alarm"], after["alarm"], "again it changes nothing");
    let shown = client().get(&url).send().await.expect("answers").text().await.expect("text");
    assert!(!shown.contains("name=\"note\""), "nothing is left to acknowledge");
    let episode = format!("{}/api/v1/episodes/{}", plant.url, claim.episode_id);
    let episode = client().get(episode).bearer_auth(TOKEN).send().await.expect("answers");
    let episode: Value = episode.json().await.expect("json");
    assert_eq!(episode["acknowledgement"]["via"], json!("link"));
    plant.stop().await;
}

/// A user logs in by name and password alone; names are no matter of case.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn users_log_in_by_password_and_out_again() {
    let plant = Plant::with_users().await;
    let session = plant.login(" Technician ").await;
    let text = page(&plant, &session, "/").await;
    assert!(text.contains("technician") && !text.contains("href=\"/users\""), "{text}");
    let out = client().post(format!("{}/logout", plant.url)).header(COOKIE, &session);
    assert_eq!(out.send().await.expect("answers").status(), StatusCode::SEE_OTHER);
    let again = client().get(&plant.url).header(COOKIE, &session).send().await.expect("answers");
    assert_eq!(again.status(), StatusCode::SEE_OTHER, "the session has ended");
    let form = [("name", "gone"), ("password", PASSWORD)];
    let gone = client().post(format!("{}/login", plant.url)).form(&form).send().await;
    assert_eq!(gone.expect("answers").status(), StatusCode::UNAUTHORIZED);
    plant.stop().await;
}

/// A time of a test.
trait Timed {
    fn parse_time(&self) -> pdm_shared::time::Timestamp;
}

impl Timed for str {
    fn parse_time(&self) -> pdm_shared::time::Timestamp {
        pdm_shared::time::Timestamp::parse(self).expect("a time")
    }
}
