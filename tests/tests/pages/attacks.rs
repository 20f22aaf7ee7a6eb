//! The list of attacks on pages and API: each is tried against the running agent, and none
//! succeeds.
//!
//! An attempt says what it would be to succeed, and a few right requests at the end show that the
//! same things can be done by whoever may: a list that nothing could pass would prove nothing.
//! Every attempt comes from an address of its own on loopback, since wrong credentials of one
//! address are slowed.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use pdm_web::link::{AckClaim, AckLinks};
use reqwest::header::{COOKIE, HOST, LOCATION, ORIGIN, SET_COOKIE};
use reqwest::{Client, RequestBuilder, Response};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::plant::{MARKUP, PASSWORD, Plant, TOKEN, token_of};
use crate::roles::{form_key, forms, row};

/// The attempts with their results.
struct List {
    plant: Plant,
    tried: Vec<(String, bool)>,
    row: Value,
    links: AckLinks,
}

/// The answer to an attack.
struct Got {
    status: u16,
    to: String,
    cookie: String,
    text: String,
}

impl Got {
    /// Whether something was done or shown: neither a refusal nor the way to the login.
    fn is_taken(&self) -> bool {
        matches!(self.status, 200 | 204 | 303) && !self.to.starts_with("/login")
    }
}

/// A client at an address of its own.
fn attacker() -> Client {
    static NEXT: AtomicU8 = AtomicU8::new(10);
    let own = Ipv4Addr::new(127, 0, 7, NEXT.fetch_add(1, Ordering::Relaxed));
    Client::builder()
        .local_address(IpAddr::V4(own))
        .redirect(reqwest::redirect::Policy::none())
        .timeout(Duration::from_secs(20))
        .build()
        .expect("a client")
}

async fn got(request: RequestBuilder) -> Got {
    let answer: Response = request.send().await.expect("answers");
    let header = |name| {
        let value = answer.headers().get(name).and_then(|value| value.to_str().ok());
        value.unwrap_or_default().to_owned()
    };
    let (to, cookie) = (header(LOCATION), header(SET_COOKIE));
    Got { status: answer.status().as_u16(), to, cookie, text: answer.text().await.expect("text") }
}

impl List {
    async fn open() -> Self {
        pdm_agent::service::install_cryptography();
        let plant = Plant::with_users().await;
        let (row, links) = (row(&plant).await, plant.links().await);
        Self { plant, tried: Vec::new(), row, links }
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.plant.url)
    }

    fn note(&mut self, name: impl Into<String>, succeeded: bool) {
        self.tried.push((name.into(), succeeded));
    }

    fn claim(&self) -> AckClaim {
        AckClaim {
            episode_id: self.text("episode", "episode_id").parse().expect("an id"),
            level: RiskLevel::Critical,
            recipient: "email".to_owned(),
            expires_at: Timestamp::parse("2100-01-01T00:00:00Z").expect("a time"),
        }
    }

    fn text(&self, of: &str, field: &str) -> String {
        self.row[of][field].as_str().expect("text").to_owned()
    }

    /// Forms that another site makes a technician's browser send, or that lack the session's key.
    async fn forged_forms(&mut self) {
        let session = self.plant.login("admin").await;
        let key = form_key(&self.plant, &session).await;
        let id = self.text("alarm", "notification_id");
        let forms = forms(&self.plant, &session).await;
        let harmless = ["/language", "/chat"];
        for action in forms.iter().filter(|action| !harmless.contains(&action.as_str())) {
            let send = async |origin: Option<&str>, key: &str| {
                let form = [
                    ("form_key", key),
                    ("notification_id", id.as_str()),
                    ("by", "x"),
                    ("hours", "8"),
                    ("reason", "x"),
                    ("note", "x"),
                    ("verdict", "right"),
                    ("number", "1"),
                    ("state", "done"),
                    ("name", "mallory"),
                    ("role", "admin"),
                    ("password", PASSWORD),
                ];
                let sent = attacker().post(self.url(action)).header(COOKIE, &session);
                let sent = match origin {
                    Some(origin) => sent.header(ORIGIN, origin),
                    None => sent,
                };
                got(sent.form(&form)).await.is_taken()
            };
            let foreign = send(Some("https://evil.example"), &key).await;
            let opaque = send(Some("null"), &key).await;
            let keyless = action != "/logout" && send(None, "").await;
            self.note(format!("form of another site to {action}"), foreign);
            self.note(format!("form of a sandboxed frame to {action}"), opaque);
            self.note(format!("form without its key to {action}"), keyless);
        }
        // the session has outlived every forged log-out
        let still = got(attacker().get(self.url("/")).header(COOKIE, &session)).await;
        self.note("forged log-out", still.status != 200);
    }

    /// Links that were changed, have ended, or are used for something else.
    async fn links(&mut self) {
        let (claim, url) = (self.claim(), self.url("/ack/"));
        let right = self.links.text(&claim);
        let own = AckLinks::new(&[0; 32], "");
        let ended = Timestamp::parse("2020-01-01T00:00:00Z").expect("a time");
        let mut flipped = right.clone();
        flipped.replace_range(30..31, if &right[30..31] == "A" { "B" } else { "A" });
        let of = |claim: AckClaim| self.links.text(&claim);
        let wrong = [
            ("a link of another key", own.text(&claim)),
            ("a link with a changed letter", flipped),
            ("a link without its end", right[..right.len() - 2].to_owned()),
            ("a link with more at its end", format!("{right}AAAA")),
            ("a link that has ended", of(AckClaim { expires_at: ended, ..claim.clone() })),
            (
                "a link of another episode",
                of(AckClaim { episode_id: Uuid::nil(), ..claim.clone() }),
            ),
            ("a link of a lower level", of(AckClaim { level: RiskLevel::Normal, ..claim.clone() })),
            ("an empty link", "AA".to_owned()),
            ("a long link", "A".repeat(4000)),
            ("a link with a way out", "..%2Fusers".to_owned()),
            ("a link with a NUL", "%00".to_owned()),
        ];
        for (name, link) in wrong {
            let sent = attacker().post(format!("{url}{link}")).form(&[("by", "x")]);
            let _answer = got(sent).await;
            let succeeded = !row(&self.plant).await["alarm"]["acknowledged_at"].is_null();
            self.note(name, succeeded);
        }
        for (name, method) in
            [("GET", "GET"), ("HEAD", "HEAD"), ("PUT", "PUT"), ("OPTIONS", "OPTIONS")]
        {
            let method = reqwest::Method::from_bytes(method.as_bytes()).expect("a method");
            let _answer = got(attacker().request(method, format!("{url}{right}"))).await;
            let succeeded = !row(&self.plant).await["alarm"]["acknowledged_at"].is_null();
            self.note(format!("a mail gateway that follows a link by {name}"), succeeded);
        }
        let foreign =
            attacker().post(format!("{url}{right}")).header(ORIGIN, "http://evil.example");
        self.note(
            "a link's form of another site",
            got(foreign.form(&[("by", "x")])).await.is_taken(),
        );
        let bearer = attacker().get(self.url("/api/v1/bearings")).bearer_auth(&right);
        self.note("a link as a token", got(bearer).await.is_taken());
        let cookie = format!("pdm_session={right}");
        let session = attacker().get(self.url("/")).header(COOKIE, cookie);
        self.note("a link as a session", got(session).await.is_taken());
    }

    /// Callers who want more than their role has.
    async fn roles(&mut self) {
        let viewer = token_of("viewer");
        let (id, event) = (self.text("alarm", "notification_id"), self.row["event_id"].clone());
        let event = event.as_str().expect("an event").to_owned();
        let bearing = "/api/v1/bearings/ulsan-1/P-101/DE";
        let ack = json!({ "notification_id": id, "by": "x" });
        let shelf = json!({ "hours": 8, "by": "x", "reason": "x" });
        let done = json!({ "state": "done", "by": "x" });
        let posts = [
            ("acknowledges", format!("{bearing}/acknowledgements"), ack),
            ("shelves", format!("{bearing}/shelf"), shelf),
            ("reports work", format!("/api/v1/events/{event}/follow-ups"), done),
            ("uploads", "/knowledge?name=a.md".to_owned(), json!("# a\nb\n")),
            ("sends values", "/series".to_owned(), json!({ "values": [] })),
            ("calls tools", "/mcp".to_owned(), json!({})),
        ];
        for (name, path, body) in posts {
            let sent = attacker().post(self.url(&path)).bearer_auth(&viewer).json(&body);
            self.note(format!("a viewer {name}"), got(sent).await.is_taken());
        }
        let ends = attacker().delete(self.url(&format!("{bearing}/shelf"))).bearer_auth(&viewer);
        self.note("a viewer ends a shelf", got(ends).await.is_taken());
        for path in ["/users", "/audit", "/api/v1/audit"] {
            let asked = attacker().get(self.url(path)).bearer_auth(token_of("technician"));
            self.note(format!("a technician reads {path}"), got(asked).await.is_taken());
        }
        let user = [("form_key", ""), ("name", "m"), ("role", "admin"), ("password", PASSWORD)];
        let added = attacker().post(self.url("/users")).bearer_auth(token_of("technician"));
        self.note("a technician adds a user", got(added.form(&user)).await.is_taken());
        let raised = attacker().post(self.url("/users/technician"));
        let raised = raised.bearer_auth(token_of("technician")).form(&[("role", "admin")]);
        self.note("a technician takes a role", got(raised).await.is_taken());
        let headers = attacker().get(self.url("/users")).bearer_auth(&viewer);
        let headers = headers.header("x-role", "admin").header("x-forwarded-user", "admin");
        self.note("a viewer claims a role by headers", got(headers).await.is_taken());
        let method = attacker().post(self.url(&format!("{bearing}/shelf"))).bearer_auth(&viewer);
        let method = got(method.header("x-http-method-override", "DELETE")).await;
        self.note("a viewer overrides the method", method.is_taken());
        let gone = attacker().get(self.url("/api/v1/bearings")).bearer_auth(token_of("gone"));
        self.note("the token of a disabled user", got(gone).await.is_taken());
        let none = attacker().get(self.url("/api/v1/bearings"));
        self.note("no token", got(none).await.is_taken());
        let open = attacker().get(self.url("/live")).header(HOST, "localhost");
        self.note("no token under the name of this machine", got(open).await.is_taken());
    }

    /// Ways to a session.
    async fn logins(&mut self) {
        let guesses: [(&str, &[(&str, &str)]); 9] = [
            ("a wrong password", &[("name", "admin"), ("password", "password1234")]),
            ("no password", &[("name", "admin"), ("password", "")]),
            ("the password of a disabled user", &[("name", "gone"), ("password", PASSWORD)]),
            ("SQL in a name", &[("name", "admin'--"), ("password", "x")]),
            ("SQL in a password", &[("name", "admin"), ("password", "' OR '1'='1")]),
            ("a NUL in a name", &[("name", "admin\0x"), ("password", PASSWORD)]),
            ("a user's token at the page", &[("token", "token of admin, long enough")]),
            ("half of the token", &[("token", &TOKEN[..8])]),
            ("the name of the token", &[("name", "http.token"), ("password", PASSWORD)]),
        ];
        for (name, form) in guesses {
            let sent = got(attacker().post(self.url("/login")).form(form)).await;
            self.note(format!("login by {name}"), !sent.cookie.is_empty());
        }
        let long = "x".repeat(1 << 20);
        let sent =
            attacker().post(self.url("/login")).form(&[("name", "admin"), ("password", &long)]);
        self.note("login by a password of a megabyte", !got(sent).await.cookie.is_empty());
        let form = [("token", "guess"), ("name", "m"), ("password", PASSWORD)];
        let setup = got(attacker().post(self.url("/setup")).form(&form)).await;
        self.note("a first user where there are users", !setup.cookie.is_empty());
        let fixed = "pdm_session=0123456789abcdef";
        let sent = attacker().post(self.url("/login")).header(COOKIE, fixed);
        let sent = got(sent.form(&[("name", "viewer"), ("password", PASSWORD)])).await;
        self.note("a session of the attacker's choice", sent.cookie.contains("0123456789abcdef"));
        let foreign = attacker().post(self.url("/login")).header(ORIGIN, "http://evil.example");
        let foreign = got(foreign.form(&[("name", "viewer"), ("password", PASSWORD)])).await;
        self.note("a login that another site makes", !foreign.cookie.is_empty());
    }

    /// Ways out of an address, and headers within one.
    async fn addresses(&mut self) {
        let admin = token_of("admin");
        for path in [
            "/assets/../../../../etc/passwd",
            "/assets/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
            "/assets/..%2f..%2f..%2fetc%2fpasswd",
            "/bearings/..%2f..%2fetc/passwd/x",
            "/bearings/..%2f..%2fetc/passwd/x/windows.csv",
            "/analyses/..%2f..%2fetc%2fpasswd",
            "/equipment/..%2f..%2fetc%2fpasswd",
            "/episodes/..%2fusers",
            "/api/v1/events/..%2f..%2fusers",
            "/api/v1/episodes/%00",
        ] {
            let sent = got(attacker().get(self.url(path)).bearer_auth(&admin)).await;
            self.note(
                format!("the path {path}"),
                sent.text.contains("root:") || sent.status == 200,
            );
        }
        let name = "/knowledge?name=..%2F..%2Fescaped.md";
        let sent = attacker().post(self.url(name)).bearer_auth(&admin).body("# a\nb\n");
        let _answer = got(sent).await;
        let escaped = self.plant.folder().parent().is_some_and(|up| up.join("escaped.md").exists());
        self.note("a document's name with a way out", escaped);
        for to in
            ["//evil.example", "https://evil.example", "/\\evil.example", "/\r\nset-cookie: a=b"]
        {
            let form = [("name", "viewer"), ("password", PASSWORD), ("to", to)];
            let sent = got(attacker().post(self.url("/login")).form(&form)).await;
            let leads_away = sent.to != "/" || sent.cookie.contains("a=b");
            self.note(format!("a login that leads to {to:?}"), leads_away);
        }
        let session = self.plant.login("viewer").await;
        let sent = attacker().post(self.url("/language")).header(COOKIE, &session);
        let sent = sent.header("referer", "http://a//evil.example/x");
        let sent = got(sent.form(&[("language", "en")])).await;
        self.note("a language that leads away", sent.to.starts_with("//") || sent.to.contains(':'));
        let host = attacker().get(self.url("/")).header(HOST, "evil.example");
        self.note("a redirect to the host of a header", got(host).await.to.contains("evil"));
    }

    /// Markup and templates in every text that a page shows.
    async fn texts(&mut self) {
        let technician = token_of("technician");
        let bearing = "/api/v1/bearings/ulsan-1/P-101/DE";
        let post = async |path: &str, body: Value| {
            let sent = attacker().post(self.url(path)).bearer_auth(TOKEN).json(&body);
            got(sent).await.status
        };
        let event = self.row["event_id"].as_str().expect("an event").to_owned();
        let id = self.text("alarm", "notification_id");
        let shelf = json!({ "hours": 8, "by": MARKUP, "reason": MARKUP });
        assert_eq!(post(&format!("{bearing}/shelf"), shelf).await, 204);
        let ack = json!({ "notification_id": id, "by": MARKUP, "note": MARKUP });
        assert_eq!(post(&format!("{bearing}/acknowledgements"), ack).await, 204);
        let found = json!({ "verdict": "right", "cause": MARKUP });
        let done = json!({ "state": "done", "by": MARKUP, "note": MARKUP, "found": found });
        let work = attacker().get(self.url("/api/v1/work?state=all")).bearer_auth(TOKEN);
        let work: Value = serde_json::from_str(&got(work).await.text).expect("json");
        let asked = work["items"][0]["event_id"].as_str().expect("a judgement asks for work");
        assert_eq!(post(&format!("/api/v1/events/{asked}/follow-ups"), done).await, 204);
        let episode = self.text("episode", "episode_id");
        let note = attacker().post(self.url(&format!("/episodes/{episode}/note")));
        let note = note.bearer_auth(TOKEN);
        let note = got(note.form(&[("form_key", ""), ("by", MARKUP), ("note", MARKUP)])).await;
        assert_eq!(note.status, 303, "{}", note.text);
        let (pages, query) = (self.pages(&event, &episode), "%3Cimg%20src%3Dx%20onerror%3D1%3E");
        for page in pages {
            for page in [page.clone(), format!("{page}?state={query}&cursor={query}&hours={query}")]
            {
                let sent = got(attacker().get(self.url(&page)).bearer_auth(TOKEN)).await;
                let runs = sent.text.contains("<img") || sent.text.contains("onerror=alert(1)>\"");
                let evaluated = sent.text.contains("'49") || sent.text.contains("&#x27;49");
                self.note(format!("markup in the texts of {page}"), runs || evaluated);
            }
        }
        let chat = [("form_key", ""), ("message", MARKUP), ("history", "")];
        let chat = attacker().post(self.url("/chat")).bearer_auth(&technician).form(&chat);
        self.note("markup in a question", got(chat).await.text.contains("<img"));
        let user =
            [("form_key", ""), ("name", "<img>"), ("role", "viewer"), ("password", PASSWORD)];
        let user = attacker().post(self.url("/users")).bearer_auth(token_of("admin")).form(&user);
        self.note("markup as a user's name", got(user).await.text.contains("<img>"));
    }

    fn pages(&self, event: &str, episode: &str) -> Vec<String> {
        let pages = ["/", "/episodes", "/work?state=all", "/notifications", "/users", "/audit"];
        let mut pages: Vec<String> = pages.iter().map(ToString::to_string).collect();
        pages.push("/bearings/ulsan-1/P-101/DE".to_owned());
        pages.push(format!("/episodes/{episode}"));
        pages.push(format!("/analyses/{event}"));
        pages.push(format!("/ack/{}", self.links.text(&self.claim())));
        pages
    }
}

/// R-AGENT-10: at least sixty attempts, none of which succeeds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_attack_of_the_list_succeeds() {
    let mut list = List::open().await;
    list.forged_forms().await;
    list.links().await;
    list.roles().await;
    list.logins().await;
    list.addresses().await;
    let before = row(&list.plant).await;
    assert_eq!(before["alarm"]["acknowledged_at"], Value::Null, "nobody has acknowledged");
    assert_eq!(before["episode"]["suppression"]["state"], json!("none"), "nobody has shelved");
    let users = got(attacker().get(list.url("/users")).bearer_auth(TOKEN)).await.text;
    assert!(!users.contains("mallory") && users.contains("technician"), "{users}");
    // the right requests: what was attempted above can be done by those who may
    list.texts().await;
    let after = row(&list.plant).await;
    assert_ne!(after["alarm"]["acknowledged_at"], Value::Null, "the control has acknowledged");
    let succeeded: Vec<&String> =
        list.tried.iter().filter(|(_, succeeded)| *succeeded).map(|(name, _)| name).collect();
    assert!(succeeded.is_empty(), "{} of {}: {succeeded:#?}", succeeded.len(), list.tried.len());
    println!("{} attempts, none of which succeeded", list.tried.len());
    assert!(list.tried.len() >= 60, "{} attempts", list.tried.len());
    list.plant.stop().await;
}
