//! An agent with judged events of one failing bearing, without a broker: what is stored is judged.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use crate::captured::put_captures;
use pdm_agent::service::{Agent, Handle, open_store};
use pdm_agent::settings::{AgentSettings, CapturesSettings, StorePlace};
use pdm_graph::assets::{Assets, check, difference, read_assets};
use pdm_harness::{ModelStandIn, Postgres, free_port};
use pdm_oidc::OidcSettings;
use pdm_reasoner::settings::{DialectChoice, OpinionSettings, ReasonerSettings};
use pdm_service::clock::{Clock as _, SystemClock};
use pdm_service::http::callers::Role;
use pdm_service::postgres::PostgresSettings;
use pdm_service::secret::SecretSource;
use pdm_shared::event::{Event, Spectra, SpectrumLines};
use pdm_shared::id::EventId;
use pdm_shared::time::Timestamp;
use pdm_store::Incoming;
use pdm_web::accounts::{AccountStore as _, User, UserToken, token_digest};
use pdm_web::link::AckLinks;
use pdm_web::password;

/// The token of [`Plant::with_token`].
pub(crate) const TOKEN: &str = "sixteen letters and more";
/// Text of a foreign origin that a page must show and never run.
pub(crate) const MARKUP: &str = "<img src=x onerror=alert(1)>\"'{{7*7}}";

/// The password of every user of [`Plant::with_users`]: `viewer`, `technician`, `admin`, `gone`.
pub(crate) const PASSWORD: &str = "a password of some length";
/// Its hash, made once.
static HASH: LazyLock<String> = LazyLock::new(|| password::hash(PASSWORD).expect("hashed"));

/// A running agent and its folder.
pub(crate) struct Plant {
    agent: Handle,
    /// `http://…`, without a slash at the end.
    pub(crate) url: String,
    folder: tempfile::TempDir,
}

/// The access to the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    /// Everybody on this machine.
    Open,
    /// Whoever has the token.
    Token,
    /// Users, and whoever has the token.
    Users,
}

impl Plant {
    /// Starts the plant on loopback, without a token.
    pub(crate) async fn open() -> Self {
        Self::start(Entry::Open, None, None).await
    }

    /// Starts the plant on loopback, with a language model for the chat alone.
    pub(crate) async fn with_model(model: &ModelStandIn) -> Self {
        Self::start(Entry::Open, None, Some(model)).await
    }

    /// Starts the plant with [`TOKEN`], which every page asks for.
    pub(crate) async fn with_token() -> Self {
        Self::start(Entry::Token, None, None).await
    }

    /// Starts the plant with a user of each role and one who is disabled, beside [`TOKEN`]; links
    /// are signed.
    pub(crate) async fn with_users() -> Self {
        Self::with_users_on(None).await
    }

    /// Starts the same with a store on a server.
    pub(crate) async fn with_users_on(server: Option<&Postgres>) -> Self {
        Self::start(Entry::Users, server, None).await
    }

    /// The users of [`Plant::with_users`], and a provider of logins whose browsers come back to
    /// `port`.
    pub(crate) async fn with_provider(oidc: OidcSettings, port: u16) -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let mut settings = Self::settings(folder.path());
        settings.http.listen = Some(SocketAddr::from(([127, 0, 0, 1], port)));
        settings.http.public_url = Some(format!("http://127.0.0.1:{port}"));
        settings.http.oidc = Some(Box::new(oidc));
        Box::pin(Self::run(Entry::Users, folder, settings)).await
    }

    /// Starts the plant on loopback, on the clock of a zone.
    pub(crate) async fn in_zone(zone: &str) -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let mut settings = Self::settings(folder.path());
        settings.notify.zone = serde_json::from_value(zone.into()).expect("a zone");
        Box::pin(Self::run(Entry::Open, folder, settings)).await
    }

    /// The users of [`Plant::with_users`], with reports and work orders in the folder `reports`.
    pub(crate) async fn with_documents() -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let mut settings = Self::settings(folder.path());
        settings.http.public_url = Some(PUBLIC.to_owned());
        settings.reports.folder = Some(folder.path().join("reports"));
        // beside the programs, not beside this one
        settings.knowledge.pdf_reader = Some(pdm_harness::binary("pdm-pdf"));
        settings.captures = Some(CapturesSettings {
            dir: Some(folder.path().join("captures")),
            ..CapturesSettings::default()
        });
        // by day alone: the nights are gaps
        let rota = "name = \"정비반\"\nzone = \"Asia/Seoul\"\n\
                    [[shift]]\nfrom = \"07:00\"\nto = \"19:00\"\nwho = [\"박기사\"]\n";
        settings.notify.rota = vec![toml::from_str(rota).expect("a rota")];
        Box::pin(Self::run(Entry::Users, folder, settings)).await
    }

    async fn start(entry: Entry, server: Option<&Postgres>, model: Option<&ModelStandIn>) -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let mut settings = Self::settings(folder.path());
        if entry == Entry::Users {
            settings.http.public_url = Some(PUBLIC.to_owned());
        }
        if let Some(server) = server {
            let place = PostgresSettings::at(server.url());
            settings.store.place = StorePlace::Postgres(Box::new(place));
        }
        settings.reasoner = model.map(|model| ReasonerSettings {
            base_url: model.base_url(),
            dialect: DialectChoice::Native,
            opinion: OpinionSettings { enabled: false, ..OpinionSettings::default() },
            ..ReasonerSettings::default()
        });
        Box::pin(Self::run(entry, folder, settings)).await
    }

    async fn run(entry: Entry, folder: tempfile::TempDir, mut settings: AgentSettings) -> Self {
        let token = folder.path().join("token");
        std::fs::write(&token, TOKEN).expect("written");
        settings.http.token = (entry != Entry::Open).then_some(SecretSource::File(token));
        let store = open_store(&settings.store).await.expect("opens");
        let now = SystemClock.now();
        let events: Vec<Incoming> = (1..=20).map(|sequence| incoming(sequence, now)).collect();
        store.intake().store(&events, now, "pdm/v1/dead-letter").await.expect("stored");
        if entry == Entry::Users {
            for (name, role) in USERS {
                let user = User {
                    name: name.to_owned(),
                    role,
                    password: Some(HASH.clone()),
                    provider: None,
                    is_disabled: name == "gone",
                    created_at: now,
                };
                assert!(store.accounts().add_user(&user, false).await.expect("added"));
                let token = UserToken { label: "t".into(), created_at: now, expires_at: None };
                let hash = token_digest(&token_of(name));
                store.accounts().put_token(name, &hash, &token).await.expect("written");
            }
        }
        let surroundings = surroundings(folder.path());
        let put = &mut |before: &Assets| Some(difference(before, &surroundings));
        store.graph().change_assets(put).await.expect("written");
        if let Some(captures) = &settings.captures {
            let event = events.last().and_then(|one| match one {
                Incoming::Event { event, .. } => Some(event.as_ref()),
                Incoming::Status { .. }
                | Incoming::Ack { .. }
                | Incoming::Shelve { .. }
                | Incoming::FollowUp { .. }
                | Incoming::Refused(_) => None,
            });
            let folder = captures.dir.as_deref().expect("a folder");
            put_captures(&store, folder, event.expect("an event"), now).await;
        }
        store.close().await;
        drop(store);
        let agent = Agent::start(settings, Arc::new(SystemClock)).await.expect("starts");
        let mut progress = agent.progress();
        let judged = progress.wait_for(|progress| progress.judged >= 20);
        tokio::time::timeout(Duration::from_mins(1), judged).await.expect("judged").expect("runs");
        let url = format!("http://{}", agent.address().expect("serves"));
        Self { agent, url, folder }
    }

    fn settings(folder: &Path) -> AgentSettings {
        let mut settings =
            AgentSettings::embedded("127.0.0.1", free_port(), folder.join("agent.db"));
        settings.notify.group_wait_s = 0.0;
        // each alarm of these plants is told by itself
        settings.notify.related_within_min = 0.0;
        settings.http.listen = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
        settings
    }

    /// The folder of the agent's store.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Stores a healthy window of each of these bearings of a machine, and waits until they are
    /// judged. `sequence` is that of the first window; the agent starts with 20.
    pub(crate) async fn measure(&self, machine: &str, bearings: &[&str], sequence: u64) {
        self.measure_at(SystemClock.now(), machine, bearings, sequence).await;
    }

    /// Does the same with windows that were measured at a time.
    pub(crate) async fn measure_at(
        &self,
        now: Timestamp,
        machine: &str,
        bearings: &[&str],
        sequence: u64,
    ) {
        let settings = Self::settings(self.folder.path());
        let store = open_store(&settings.store).await.expect("opens");
        let first = sequence;
        let windows: Vec<Incoming> = (sequence..)
            .zip(bearings)
            .map(|(sequence, bearing)| {
                let text = include_str!("../../../config/examples/event-healthy.json");
                let mut event: Event = serde_json::from_str(text).expect("event");
                event.sequence = sequence;
                event.spectra = None;
                event.measured_at = now;
                event.event_id = EventId::at(now.unix_ms());
                event.equipment_id = machine.parse().expect("a name");
                event.bearing_id = bearing.parse().expect("a name");
                // a gateway brings at most a hundred new bearings an hour
                if sequence - first >= 90 {
                    event.gateway_id = "gw-02".parse().expect("a name");
                }
                let payload = serde_json::to_string(&event).expect("json");
                Incoming::Event { event: Box::new(event), payload, proven: false }
            })
            .collect();
        let before = self.agent.progress().borrow().judged;
        store.intake().store(&windows, now, "pdm/v1/dead-letter").await.expect("stored");
        store.close().await;
        let mut progress = self.agent.progress();
        let judged =
            progress.wait_for(|progress| progress.judged >= before + bearings.len() as u64);
        tokio::time::timeout(Duration::from_mins(1), judged).await.expect("judged").expect("runs");
    }

    /// Returns the signer of the agent's links: the key is that of its store.
    pub(crate) async fn links(&self) -> AckLinks {
        let settings = Self::settings(self.folder.path());
        let store = open_store(&settings.store).await.expect("opens");
        let key = store.accounts().link_key([0; 32], SystemClock.now()).await.expect("the key");
        store.close().await;
        assert_ne!(key, [0; 32], "the agent has made its key");
        AckLinks::new(&key, PUBLIC)
    }

    /// The session's cookie of a user.
    pub(crate) async fn login(&self, name: &str) -> String {
        let form = [("name", name), ("password", PASSWORD)];
        let answer = client().post(format!("{}/login", self.url)).form(&form).send().await;
        let answer = answer.expect("answers");
        let cookie = answer.headers().get("set-cookie").expect("logged in").to_str().expect("text");
        cookie.split(';').next().expect("a cookie").to_owned()
    }

    /// Stops the agent.
    pub(crate) async fn stop(self) {
        self.agent.stop().await.expect("stops");
    }
}

/// The base of the links of [`Plant::with_users`].
pub(crate) const PUBLIC: &str = "http://pdm.example";

/// The users of [`Plant::with_users`].
const USERS: [(&str, Role); 4] = [
    ("viewer", Role::Viewer),
    ("technician", Role::Technician),
    ("admin", Role::Admin),
    ("gone", Role::Admin),
];

/// The token of a user.
pub(crate) fn token_of(name: &str) -> String {
    format!("token of {name}, long enough")
}

/// Returns the surroundings of the machine of the events: every kind of neighbour, a text that
/// looks like markup among them.
fn surroundings(folder: &Path) -> Assets {
    let file = folder.join("plant.yaml");
    let text = include_str!("plant.yaml").replace("MARKUP", &serde_json::json!(MARKUP).to_string());
    std::fs::write(&file, text).expect("written");
    let (assets, origins) = read_assets(&[file]).expect("a plant");
    assert!(check(&assets, &origins).is_empty(), "the plant is right");
    assets
}

/// The contract's example, a minute each, with a text that looks like markup.
fn incoming(sequence: u64, now: Timestamp) -> Incoming {
    let text = include_str!("../../../config/examples/event.json");
    let mut event: Event = serde_json::from_str(text).expect("event");
    event.sequence = sequence;
    event.measured_at = now.plus_seconds((sequence as f64 - 30.0) * 60.0);
    event.event_id = EventId::at(event.measured_at.unix_ms());
    MARKUP.clone_into(&mut event.operating.state);
    event.rul.unknown = Some(MARKUP.to_owned());
    event.rul.hours = None;
    let line = |unit: &str| SpectrumLines {
        df_hz: 1.0,
        unit: unit.to_owned(),
        amplitude: (0..400).map(|hz| f64::from(hz % 90) * 1e-4).collect(),
    };
    event.spectra = Some(Spectra { envelope: line("g²"), acceleration: line("g") });
    let payload = serde_json::to_string(&event).expect("json");
    Incoming::Event { event: Box::new(event), payload, proven: false }
}

/// A client that follows no redirection, so that a test sees where it leads.
pub(crate) fn client() -> reqwest::Client {
    pdm_agent::service::install_cryptography();
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .timeout(Duration::from_secs(20))
        .build()
        .expect("a client")
}
