//! A real browser: Debian's headless Chromium, driven over the WebDriver protocol (W3C), which is
//! JSON over HTTP.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pdm_harness::program;
use serde_json::{Value, json};

/// The key of an element's reference (W3C WebDriver, 12.2).
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A browser with one window; driver and browser end with it.
pub(crate) struct Browser {
    driver: Child,
    client: reqwest::Client,
    session: String,
}

impl Drop for Browser {
    fn drop(&mut self) {
        // the driver leads a group of its own, which the browser's processes belong to
        let group = format!("-{}", self.driver.id());
        let _gone = Command::new("kill").args(["-KILL", "--", &group]).status();
        let _reaped = self.driver.wait();
    }
}

impl Browser {
    /// Starts the browser; `None` (noted as not run) where it is not installed.
    pub(crate) async fn start(test: &str) -> Option<Self> {
        let driver = program(test, "chromedriver")?;
        let shell = program(test, "chromium-headless-shell")?;
        let mut driver = Command::new(driver)
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .expect("chromedriver starts");
        let mut lines = BufReader::new(driver.stdout.take().expect("its output")).lines();
        let port = lines.find_map(|line| {
            let line = line.expect("text");
            line.split("started successfully on port ").nth(1)?.trim_end_matches('.').parse().ok()
        });
        let port: u16 = port.expect("chromedriver tells its port");
        pdm_agent::service::install_cryptography();
        let client = reqwest::Client::new();
        // root needs --no-sandbox; pages are those of this test, and no other machine is asked for
        // anything
        let here_alone =
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1";
        let arguments = ["--no-sandbox", "--headless", "--disable-dev-shm-usage", here_alone];
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "goog:chromeOptions": { "binary": shell, "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
        } } });
        let url = format!("http://127.0.0.1:{port}/session");
        let answer = client.post(&url).json(&wanted).send().await.expect("chromedriver answers");
        let answer: Value = answer.json().await.expect("json");
        let id = answer["value"]["sessionId"].as_str();
        let session = format!("{url}/{}", id.unwrap_or_else(|| panic!("no session: {answer}")));
        Some(Self { driver, client, session })
    }

    async fn post(&self, path: &str, body: &Value) -> Value {
        let url = format!("{}/{path}", self.session);
        let answer = self.client.post(url).json(body).send().await.expect("chromedriver answers");
        let answer: Value = answer.json().await.expect("json");
        assert!(
            answer["value"]["error"].is_null(),
            "{path} {body}: {}",
            answer["value"]["message"]
        );
        answer["value"].clone()
    }

    /// Opens an address and waits until it is loaded.
    pub(crate) async fn open(&self, url: &str) {
        self.post("url", &json!({ "url": url })).await;
    }

    /// The value of a script's `return`.
    pub(crate) async fn run(&self, script: &str) -> Value {
        self.post("execute/sync", &json!({ "script": script, "args": [] })).await
    }

    /// Waits until a script returns something true.
    pub(crate) async fn until(&self, what: &str, script: &str) -> Value {
        let end = Instant::now() + Duration::from_mins(1) * pdm_harness::PATIENCE;
        loop {
            let value = self.run(script).await;
            if !matches!(value, Value::Null | Value::Bool(false)) {
                return value;
            }
            if Instant::now() >= end {
                let seen = self.run("return location.href + ': ' + document.body.innerText").await;
                panic!("waited in vain for {what} at {seen}");
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Presses keys, as a person at a keyboard does.
    pub(crate) async fn press(&self, keys: &str) {
        let actions: Vec<Value> = keys
            .chars()
            .flat_map(|key| {
                [
                    json!({ "type": "keyDown", "value": key }),
                    json!({ "type": "keyUp", "value": key }),
                ]
            })
            .collect();
        let body = json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": actions }] });
        self.post("actions", &body).await;
    }

    /// Clicks the element of a CSS selector.
    pub(crate) async fn click(&self, selector: &str) {
        let found = json!({ "using": "css selector", "value": selector });
        let element = self.post("element", &found).await;
        let id = element[ELEMENT].as_str().expect("an element").to_owned();
        self.post(&format!("element/{id}/click"), &json!({})).await;
    }

    /// Chooses a file in a file field.
    pub(crate) async fn choose_file(&self, selector: &str, path: &std::path::Path) {
        let found = json!({ "using": "css selector", "value": selector });
        let element = self.post("element", &found).await;
        let id = element[ELEMENT].as_str().expect("an element").to_owned();
        self.post(&format!("element/{id}/value"), &json!({ "text": path })).await;
    }

    /// Sets the size of the page, CSS pixels, and the theme.
    pub(crate) async fn look(&self, width: u32, dark: bool) {
        let theme = if dark { "dark" } else { "light" };
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": theme }] });
        self.tools("Emulation.setEmulatedMedia", &media).await;
        let size =
            json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.tools("Emulation.setDeviceMetricsOverride", &size).await;
    }

    /// Sets the size of the page, CSS pixels, and how many pixels of the screen one of them takes:
    /// a window of 1280 px that is zoomed to 200 % has 640 of them, each twice as large.
    pub(crate) async fn zoom(&self, width: u32, scale: f64) {
        let size =
            json!({ "width": width, "height": 900, "deviceScaleFactor": scale, "mobile": false });
        self.tools("Emulation.setDeviceMetricsOverride", &size).await;
    }

    /// Shows the page as it is printed on a sheet of A4, whose text is 182 mm wide (688 px).
    pub(crate) async fn paper(&self) {
        self.tools("Emulation.setEmulatedMedia", &json!({ "media": "print" })).await;
        self.zoom(688, 1.0).await;
    }

    /// Slows the line down: kbit/s in both directions, ms from a request to its answer; and forgets
    /// what was loaded before.
    pub(crate) async fn slow_line(&self, kbit_s: f64, latency_ms: f64) {
        self.tools("Network.enable", &json!({})).await;
        self.tools("Network.clearBrowserCache", &json!({})).await;
        // the requests of a service worker are not slowed down
        self.tools("Network.setBypassServiceWorker", &json!({ "bypass": true })).await;
        let bytes_s = kbit_s * 1000.0 / 8.0;
        let line = json!({ "offline": false, "latency": latency_ms,
            "downloadThroughput": bytes_s, "uploadThroughput": bytes_s });
        self.tools("Network.emulateNetworkConditions", &line).await;
    }

    /// Slows the CPU down by the factor `times`.
    pub(crate) async fn throttle(&self, times: f64) {
        self.tools("Emulation.setCPUThrottlingRate", &json!({ "rate": times })).await;
    }

    /// The window or tab that is driven.
    pub(crate) async fn window(&self) -> String {
        let answer = self.client.get(format!("{}/window", self.session)).send().await;
        let answer: Value = answer.expect("chromedriver answers").json().await.expect("json");
        answer["value"].as_str().expect("a window").to_owned()
    }

    /// Opens a tab and drives it.
    pub(crate) async fn tab(&self) -> String {
        let answer = self.post("window/new", &json!({ "type": "tab" })).await;
        let window = answer["handle"].as_str().expect("a window").to_owned();
        self.turn_to(&window).await;
        window
    }

    /// Drives another window or tab.
    pub(crate) async fn turn_to(&self, window: &str) {
        self.post("window", &json!({ "handle": window })).await;
    }

    /// Closes the window or tab that is driven.
    pub(crate) async fn close(&self) {
        let closed = self.client.delete(format!("{}/window", self.session)).send().await;
        closed.expect("chromedriver answers");
    }

    /// A command of Chromium's developer tools.
    async fn tools(&self, command: &str, parameters: &Value) -> Value {
        self.post("goog/cdp/execute", &json!({ "cmd": command, "params": parameters })).await
    }

    /// Keeps a picture of the page as a PNG file where the environment asks for one: the command
    /// that makes the pictures of the README sets `PDM_SCREENS` to a folder.
    pub(crate) async fn picture(&self, name: &str) {
        let Some(folder) = std::env::var_os("PDM_SCREENS") else { return };
        let parameters = json!({ "format": "png", "captureBeyondViewport": true });
        let answer = self.tools("Page.captureScreenshot", &parameters).await;
        let data = answer["data"].as_str().expect("a picture");
        let bytes = STANDARD.decode(data).expect("Base64");
        std::fs::write(std::path::Path::new(&folder).join(name), bytes).expect("written");
    }

    /// Returns the messages of the console since the last call: warnings and errors, refused loads
    /// included.
    pub(crate) async fn complaints(&self) -> Vec<String> {
        let entries = self.post("se/log", &json!({ "type": "browser" })).await;
        let entries = entries.as_array().cloned().unwrap_or_default();
        let bad =
            entries.iter().filter(|entry| entry["level"] != "INFO" && entry["level"] != "DEBUG");
        bad.map(|entry| entry["message"].to_string()).collect()
    }
}
