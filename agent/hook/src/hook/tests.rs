//! Hooks against stand-ins: small servers that answer in the shape of NHN Cloud's, Aligo's and a
//! token server's documents. None of the services themselves is asked.

use std::sync::{Arc, Mutex};

use pdm_harness::{header, whole_request};
use pdm_service::clock::SystemClock;
use serde_json::{Value as Json, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;
use crate::presets::preset;

/// One request: its first line and headers, and its body.
type Requests = Arc<Mutex<Vec<(String, String)>>>;

/// A server that answers each request by a function of it.
async fn stand_in(
    answer: impl Fn(usize, &str, &str) -> (u16, String) + Send + 'static,
) -> (String, Requests) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let url = format!("http://{}", listener.local_addr().expect("address"));
    let requests = Requests::default();
    let seen = Arc::clone(&requests);
    tokio::spawn(async move {
        for count in 0_usize.. {
            let (mut stream, _) = listener.accept().await.expect("accept");
            let mut bytes = Vec::new();
            let (head, body) = loop {
                let mut part = [0; 4096];
                let read = stream.read(&mut part).await.expect("read");
                bytes.extend_from_slice(&part[..read]);
                if let Some(whole) = whole_request(&bytes) {
                    break whole;
                }
            };
            let (status, text) = answer(count, &head, &body);
            seen.lock().expect("lock").push((head, body));
            let length = text.len();
            let answer = format!(
                "HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{text}"
            );
            stream.write_all(answer.as_bytes()).await.expect("answer");
        }
    });
    (url, requests)
}

fn hook(name: &str, url: &str, values: &[(&str, &str)], secrets: &[(&str, &str)]) -> Hook {
    let _installed = rustls::crypto::ring::default_provider().install_default();
    let text = preset(name).expect("a preset");
    let template = HookTemplate::parse(name, text).expect("compiles");
    let values = values.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    let secret = |(a, b): &(&str, &str)| ((*a).to_owned(), Secret::new((*b).to_owned()));
    let secrets = secrets.iter().map(secret).collect();
    let address = Address { url: Some(url.to_owned()), tls: None };
    Hook::new(template, &values, secrets, address, Arc::new(SystemClock)).expect("set up")
}

fn nhn(url: &str) -> Hook {
    let values = [("app_key", "app"), ("sender_key", "sk"), ("template_code", "alarm")];
    hook("nhn-alimtalk", url, &values, &[("secret_key", "s3cret")])
}

async fn sent(hook: &Hook, key: u128, title: &str) -> Result<Sent, HookError> {
    let mut notification = sample().expect("sample");
    notification.title.ko = title.to_owned();
    let message = Message {
        key: Uuid::from_u128(key),
        to: Some("01012345678"),
        languages: &[Language::Ko],
        notifications: &[&notification],
    };
    hook.send(&message).await
}

/// A stand-in of NHN Cloud's AlimTalk: it refuses a key that it has seen.
#[tokio::test]
async fn a_key_that_the_stand_in_of_nhn_refuses_was_delivered() {
    let keys = Mutex::new(Vec::new());
    let (url, requests) = stand_in(move |_, head, _| {
        let key = header(head, "x-nc-api-idempotency-key").expect("a key");
        let mut keys = keys.lock().expect("lock");
        let is_known = keys.contains(&key);
        keys.push(key);
        let code = if is_known { -1005 } else { 0 };
        let header = json!({ "isSuccessful": !is_known, "resultCode": code });
        (200, json!({ "header": header }).to_string())
    })
    .await;
    let hook = nhn(&format!("{url}/alimtalk/v2.3/appkeys/{{{{ values.app_key }}}}/messages"));
    assert!(!sent(&hook, 1, "가").await.expect("sent").is_duplicate);
    assert!(sent(&hook, 1, "가").await.expect("known").is_duplicate);
    assert!(!sent(&hook, 2, "나").await.expect("sent").is_duplicate);
    let requests = requests.lock().expect("lock").clone();
    let (head, body) = &requests[0];
    assert!(head.starts_with("POST /alimtalk/v2.3/appkeys/app/messages "), "{head}");
    assert_eq!(header(head, "x-secret-key").as_deref(), Some("s3cret"));
    let body: Json = serde_json::from_str(body).expect("JSON");
    assert_eq!(body["recipientList"][0]["recipientNo"], "01012345678");
    assert_eq!(body["recipientList"][0]["templateParameter"]["title"], "가");
}

/// A stand-in of Aligo: it answers 200 and writes the failure into the body.
#[tokio::test]
async fn a_failure_that_the_stand_in_of_aligo_writes_into_its_body_is_tried_again() {
    let (url, requests) = stand_in(|count, _, _| {
        let code = if count == 0 { json!(-101) } else { json!("1") };
        (200, json!({ "result_code": code, "message": "x" }).to_string())
    })
    .await;
    let hook = hook("aligo", &url, &[("user_id", "pdm"), ("sender", "021")], &[("key", "k")]);
    let refused = sent(&hook, 1, "가").await;
    assert!(
        matches!(&refused, Err(HookError::Refused(why)) if why.contains("-101")),
        "{refused:?}"
    );
    sent(&hook, 1, &"가".repeat(60)).await.expect("sent");
    let (head, body) = requests.lock().expect("lock")[1].clone();
    let kind = header(&head, "content-type");
    assert_eq!(kind.as_deref(), Some("application/x-www-form-urlencoded"));
    let fields = reqwest::Url::parse(&format!("http://form/?{body}")).expect("a form");
    let fields: BTreeMap<_, _> = fields.query_pairs().into_owned().collect();
    assert_eq!(fields["receiver"], "01012345678");
    assert_eq!(fields["msg"], format!("{}..", "가".repeat(44)));
}

/// No text of a notification can become part of a request's syntax.
#[tokio::test]
async fn a_forged_text_stays_within_its_value() {
    let (url, requests) =
        stand_in(|_, _, _| (200, r#"{"header":{"isSuccessful":true}}"#.into())).await;
    let hook = nhn(&url);
    let forged = "\",\"senderKey\":\"x\r\nX-Evil: 1 {{ secrets.secret_key }}";
    sent(&hook, 1, forged).await.expect("sent");
    let (head, body) = requests.lock().expect("lock")[0].clone();
    assert!(header(&head, "x-evil").is_none(), "{head}");
    let body: Json = serde_json::from_str(&body).expect("JSON");
    assert_eq!(body["senderKey"], "sk");
    let title = body["recipientList"][0]["templateParameter"]["title"].as_str().expect("text");
    assert!(title.contains("{{ secrets.secret_key }}") && !title.contains('\n'), "{title}");
}

#[tokio::test]
async fn statuses_say_whether_trying_again_can_help() {
    let (url, _) = stand_in(|count, _, _| ([500, 429, 401, 404][count], String::new())).await;
    let hook = nhn(&url);
    for _ in 0..2 {
        assert!(matches!(sent(&hook, 1, "가").await, Err(HookError::Later(_))));
    }
    // people may let us in again, or bring the address back
    for _ in 0..2 {
        assert!(matches!(sent(&hook, 1, "가").await, Err(HookError::Refused(_))));
    }
}

const OAUTH: &str = r#"
source = "https://example.com/"
values = ["client"]
secrets = ["client_secret"]
url = "https://example.com/"
text = "{{ message }}"
token = { kind = "oauth2", url = "TOKENS", client_id = "client", client_secret = "client_secret" }
"#;

/// A hook whose tokens come from a server.
fn oauth(tokens: &str, url: String) -> Hook {
    let _installed = rustls::crypto::ring::default_provider().install_default();
    let template = HookTemplate::parse("oauth", &OAUTH.replace("TOKENS", tokens)).expect("right");
    let values = BTreeMap::from([("client".to_owned(), "pdm".to_owned())]);
    let secrets = BTreeMap::from([("client_secret".to_owned(), Secret::new("s".to_owned()))]);
    let address = Address { url: Some(url), tls: None };
    Hook::new(template, &values, secrets, address, Arc::new(SystemClock)).expect("up")
}

/// A stand-in of a token server: each token holds for an hour, until the receiver refuses it.
#[tokio::test]
async fn a_token_is_kept_until_it_is_refused() {
    let (tokens, asked) = stand_in(|count, _, _| {
        (200, json!({ "access_token": format!("t{count}"), "expires_in": 3600 }).to_string())
    })
    .await;
    let (url, requests) =
        stand_in(|count, _, _| (if count == 2 { 401 } else { 200 }, String::new())).await;
    let hook = oauth(&tokens, url);
    for n in 0..3 {
        sent(&hook, n, "가").await.expect("sent");
    }
    let used: Vec<String> = requests
        .lock()
        .expect("lock")
        .iter()
        .filter_map(|(head, _)| header(head, "authorization"))
        .collect();
    assert_eq!(used, ["Bearer t0", "Bearer t0", "Bearer t0", "Bearer t1"]);
    let asked = asked.lock().expect("lock").clone();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0].1, "grant_type=client_credentials&client_id=pdm&client_secret=s");
}

#[tokio::test]
async fn a_token_that_is_to_hold_for_ever_is_kept_for_a_day() {
    let (tokens, _) = stand_in(|_, _, _| {
        (200, json!({ "access_token": "t", "expires_in": u64::MAX }).to_string())
    })
    .await;
    let (url, _) = stand_in(|_, _, _| (200, String::new())).await;
    sent(&oauth(&tokens, url), 1, "가").await.expect("sent");
}

#[test]
fn what_a_hook_lacks_is_named() {
    let _installed = rustls::crypto::ring::default_provider().install_default();
    let made = |values: &[(&str, &str)]| {
        let text = preset("nhn-sms").expect("a preset");
        let template = HookTemplate::parse("nhn-sms", text).expect("compiles");
        let values = values.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        let secrets = BTreeMap::from([("secret_key".to_owned(), Secret::new("s".to_owned()))]);
        Hook::new(template, &values, secrets, Address::default(), Arc::new(SystemClock))
    };
    let why = made(&[("app_key", "a")]).expect_err("no sender");
    assert_eq!(why, "values.sender is missing");
    let why = made(&[("app_key", "a"), ("sender", "b"), ("sneder", "c")]).expect_err("unknown");
    assert_eq!(why, "values.sneder is unknown, allowed are app_key, sender");
    assert!(made(&[("app_key", "a"), ("sender", "b")]).is_ok());
}
