//! R-AGENT-10: logging in by the plant's own provider. The provider is a certified one
//! (oidc-provider, of the registry of npm) on another site than the pages, as `localhost` is for a
//! browser that is on `127.0.0.1`.

use std::io::{BufRead as _, BufReader, Lines};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use pdm_harness::{free_port, not_run, program};
use pdm_oidc::{OidcSettings, Provider, RoleGroups};
use pdm_service::secret::SecretSource;
use reqwest::header::{COOKIE, LOCATION, SET_COOKIE};
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::plant::{Plant, TOKEN, client};

/// A running provider; it ends with this value.
struct Logins {
    process: Child,
    settings: OidcSettings,
    folder: tempfile::TempDir,
    /// Kept open: the provider ends where nobody reads what it prints.
    _lines: Lines<BufReader<ChildStdout>>,
}

impl Drop for Logins {
    fn drop(&mut self) {
        let _gone = self.process.kill();
        let _reaped = self.process.wait();
    }
}

impl Logins {
    /// Starts the provider for pages on `port`; `None` (noted as not run) without node or the
    /// provider.
    fn start(test: &str, port: u16) -> Option<Self> {
        let node = program(test, "node")?;
        let place = std::env::var_os("PDM_OIDC").map(PathBuf::from);
        let Some(place) = place.filter(|place| place.join("node_modules/oidc-provider").is_dir())
        else {
            not_run(test, "PDM_OIDC names no folder with oidc-provider: tests/run fetches it");
            return None;
        };
        let folder = tempfile::tempdir().expect("a folder");
        let own = free_port();
        let mut process = Command::new(node)
            .args(["--input-type=module", "-e", include_str!("../../data/oidc/provider.mjs"), "--"])
            .arg(own.to_string())
            .arg(format!("http://127.0.0.1:{port}{}", pdm_web::provided::BACK))
            .arg(folder.path().join("groups.json"))
            .current_dir(place)
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the provider starts");
        let mut lines = BufReader::new(process.stdout.take().expect("its output")).lines();
        let is_ready = lines.by_ref().map_while(Result::ok).any(|line| line == "ready");
        assert!(is_ready, "the provider ended before it was ready");
        let secret = folder.path().join("secret");
        std::fs::write(&secret, "a secret: of the test").expect("written");
        let settings = settings(own, Some(SecretSource::File(secret)));
        let logins = Self { process, settings, folder, _lines: lines };
        logins.groups(&json!({}));
        Some(logins)
    }

    /// Writes down who is in which group.
    fn groups(&self, of: &Value) {
        std::fs::write(self.folder.path().join("groups.json"), of.to_string()).expect("written");
    }
}

fn settings(port: u16, client_secret: Option<SecretSource>) -> OidcSettings {
    let groups = |name: &str| vec![name.to_owned()];
    OidcSettings {
        issuer: format!("http://localhost:{port}"),
        client_id: "pdm".to_owned(),
        client_secret,
        name: "Plant login".to_owned(),
        scopes: vec!["profile".to_owned()],
        user_claim: "preferred_username".to_owned(),
        role_claim: "groups".to_owned(),
        roles: RoleGroups {
            admin: groups("pdm-admins"),
            technician: groups("maintenance"),
            viewer: groups("staff"),
        },
        tls: None,
    }
}

/// Logs in at the provider's own form as this person, and agrees that the pages see name and
/// groups.
async fn log_in(browser: &Browser, name: &str) {
    browser.until("the provider's form", "return !!document.querySelector('[name=login]')").await;
    let fill = format!(
        "document.querySelector('[name=login]').value = {name:?};
         document.querySelector('[name=password]').value = 'any';
         document.querySelector('form').submit(); return true;"
    );
    browser.run(&fill).await;
    let agree = "const form = document.querySelector('form');
                 const asks = form && form.textContent.includes('Continue')
                     && !document.querySelector('[name=login]');
                 return asks || location.pathname.startsWith('/login/provider/back');";
    browser.until("the provider's question", agree).await;
    browser
        .run("const form = document.querySelector('form'); if (form) form.submit(); return true;")
        .await;
}

/// Returns the recorded acts, newest first.
async fn audit(plant: &Plant) -> Vec<String> {
    let asked = client().get(format!("{}/api/v1/audit", plant.url)).bearer_auth(TOKEN);
    let answer: Value = asked.send().await.expect("answers").json().await.expect("json");
    let acts = answer["items"].as_array().expect("acts");
    let told = |act: &Value| {
        format!("{}: {} {}", text(&act["who"]), text(&act["action"]), text(&act["what"]))
    };
    acts.iter().map(told).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_of_the_plant_logs_in_with_the_role_that_the_provider_gives_today() {
    let test = "a_person_of_the_plant_logs_in_with_the_role_that_the_provider_gives_today";
    let port = free_port();
    let Some(logins) = Logins::start(test, port) else { return };
    let Some(browser) = Browser::start(test).await else { return };
    logins.groups(&json!({ "kim": ["maintenance", "football"] }));
    let plant = Plant::with_provider(logins.settings.clone(), port).await;
    browser.open(&format!("{}/work", plant.url)).await;
    browser.click("a[href^='/login/provider']").await;
    log_in(&browser, "kim").await;
    browser.until("the page that was asked for", "return location.pathname === '/work'").await;
    let page = browser.run("return document.querySelector('header').textContent").await;
    assert!(text(&page).contains("kim"), "{page}");
    let acts = audit(&plant).await;
    assert_eq!(acts[..2], ["kim: login Plant login", "kim: user add kim technician"]);

    logins.groups(&json!({ "kim": ["staff"] }));
    browser.click("form[action='/logout'] button").await;
    browser.until("the login page", "return location.pathname === '/login'").await;
    // the provider knows the browser and asks nothing
    browser.click("a[href^='/login/provider']").await;
    browser.until("the first page", "return location.pathname === '/'").await;
    let acts = audit(&plant).await;
    assert_eq!(acts[..2], ["kim: login Plant login", "kim: user change kim role viewer"]);
    // the provider's page asks for a font of another machine
    let complaints = browser.complaints().await;
    let ours: Vec<&String> =
        complaints.iter().filter(|one| !one.contains("fonts.googleapis")).collect();
    assert!(ours.is_empty(), "{ours:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_enters_without_a_role_or_by_taking_the_name_of_a_user() {
    let test = "nobody_enters_without_a_role_or_by_taking_the_name_of_a_user";
    let port = free_port();
    let Some(logins) = Logins::start(test, port) else { return };
    logins.groups(&json!({ "lee": ["football"], "viewer": ["pdm-admins"], "a b": ["staff"] }));
    let plant = Plant::with_provider(logins.settings.clone(), port).await;
    for (name, told) in [
        ("lee", "역할이 없습니다"),
        // a local user; the name alone makes nobody that user
        ("viewer", "같은 이름의 사용자"),
        ("a b", "형식이 맞지 않습니다"),
    ] {
        let Some(browser) = Browser::start(test).await else { return };
        browser.open(&format!("{}/login?to=/work", plant.url)).await;
        browser.click("a[href^='/login/provider']").await;
        log_in(&browser, name).await;
        browser.until("an answer", "return !!document.querySelector('[role=alert]')").await;
        let alert = browser.run("return document.querySelector('[role=alert]').textContent").await;
        assert!(text(&alert).contains(told), "{name}: {alert}");
        browser.open(&format!("{}/work", plant.url)).await;
        assert_eq!(browser.run("return location.pathname").await, "/login", "{name}");
    }
    assert!(audit(&plant).await.is_empty());
}

/// The status of an answer, and the text of its page.
async fn asked(plant: &Plant, path: &str, cookie: Option<&str>) -> (StatusCode, String) {
    let request = client().get(format!("{}{path}", plant.url)).header("accept-language", "en");
    let request = match cookie {
        Some(cookie) => request.header(COOKIE, cookie),
        None => request,
    };
    let answer = request.send().await.expect("answers");
    (answer.status(), answer.text().await.expect("text"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_code_of_another_browser_another_attempt_or_another_provider_opens_nothing() {
    let test = "a_code_of_another_browser_another_attempt_or_another_provider_opens_nothing";
    let port = free_port();
    let Some(logins) = Logins::start(test, port) else { return };
    let plant = Plant::with_provider(logins.settings.clone(), port).await;
    let direct =
        Client::builder().redirect(reqwest::redirect::Policy::none()).build().expect("a client");
    let begun = direct.get(format!("{}/login/provider?to=//evil.example", plant.url));
    let begun = begun.send().await.expect("answers");
    let to = begun.headers()[LOCATION].to_str().expect("text").to_owned();
    let set = begun.headers()[SET_COOKIE].to_str().expect("text").to_owned();
    assert!(to.contains("code_challenge_method=S256") && to.contains("&nonce="), "{to}");
    assert!(set.contains("HttpOnly") && set.contains("SameSite=Lax"), "{set}");
    let cookie = set.split(';').next().expect("a cookie");
    let state = to.split("state=").nth(1).and_then(|rest| rest.split('&').next()).expect("a state");
    let issuer = &logins.settings.issuer;
    for (query, cookie) in [
        (format!("code=x&state={state}&iss={issuer}"), None),
        (format!("code=x&state=other&iss={issuer}"), Some(cookie)),
        (format!("code=x&iss={issuer}"), Some(cookie)),
        (format!("code=x&state={state}&iss=http://localhost:1"), Some(cookie)),
        (format!("code=x&state={state}"), Some(cookie)),
        (format!("code=x&state={state}&iss={issuer}"), Some(cookie)),
        (format!("error=access_denied&state={state}&iss={issuer}"), Some(cookie)),
        (String::new(), Some("pdm_login=...")),
    ] {
        let path = format!("{}?{query}", pdm_web::provided::BACK);
        let (status, page) = asked(&plant, &path, cookie).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{query}: {page}");
        assert!(page.contains("role=\"alert\""), "{query}");
    }
    assert!(audit(&plant).await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_its_provider_the_login_page_says_so_and_passwords_go_on() {
    let port = free_port();
    let away = settings(free_port(), None);
    let probed = Provider::new(away.clone(), String::new()).expect("a provider").probe().await;
    assert!(probed.expect_err("nobody is there").is_away());
    let plant = Plant::with_provider(away, port).await;
    let (status, page) = asked(&plant, "/login/provider?to=/work", None).await;
    assert_eq!(status, StatusCode::BAD_GATEWAY);
    assert!(page.contains("cannot be used") && page.contains("name=\"password\""), "{page}");
    plant.login("technician").await;
}

/// Issue 33: the client secret is read at each login. What the provider took away lets nobody in,
/// and the new one does without a restart.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_client_secret_is_used_by_the_next_login() {
    let test = "a_changed_client_secret_is_used_by_the_next_login";
    let port = free_port();
    let Some(logins) = Logins::start(test, port) else { return };
    let Some(browser) = Browser::start(test).await else { return };
    logins.groups(&json!({ "kim": ["maintenance"] }));
    let secret = logins.folder.path().join("secret");
    std::fs::write(&secret, "the one of before").expect("written");
    let plant = Plant::with_provider(logins.settings.clone(), port).await;
    browser.open(&format!("{}/login?to=/work", plant.url)).await;
    browser.click("a[href^='/login/provider']").await;
    log_in(&browser, "kim").await;
    browser.until("a refusal", "return !!document.querySelector('[role=alert]')").await;
    assert!(audit(&plant).await.is_empty());
    std::fs::write(&secret, "a secret: of the test\n").expect("written");
    browser.open(&format!("{}/login?to=/work", plant.url)).await;
    // the provider knows the browser and asks nothing
    browser.click("a[href^='/login/provider']").await;
    browser.until("the page that was asked for", "return location.pathname === '/work'").await;
    assert_eq!(audit(&plant).await[..1], ["kim: login Plant login"]);
    plant.stop().await;
}
