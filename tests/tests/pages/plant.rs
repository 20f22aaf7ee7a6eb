//! An agent with judged events of one failing bearing, without a broker: what is stored is judged.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use pdm_agent::service::{Agent, Handle, open_store};
use pdm_agent::settings::AgentSettings;
use pdm_agent::store::Incoming;
use pdm_harness::free_port;
use pdm_service::clock::{Clock as _, SystemClock};
use pdm_service::secret::SecretSource;
use pdm_shared::event::{Event, Spectra, SpectrumLines};
use pdm_shared::id::EventId;
use pdm_shared::time::Timestamp;

/// The token of [`Plant::with_token`].
pub(crate) const TOKEN: &str = "sixteen letters and more";
/// Text of a foreign origin that a page must show and never run.
pub(crate) const MARKUP: &str = "<img src=x onerror=alert(1)>\"'{{7*7}}";

/// A running agent and its folder.
pub(crate) struct Plant {
    agent: Handle,
    /// `http://…`, without a slash at the end.
    pub(crate) url: String,
    _folder: tempfile::TempDir,
}

impl Plant {
    /// On loopback, without a token.
    pub(crate) async fn open() -> Self {
        Self::start(false).await
    }

    /// With [`TOKEN`], which every page asks for.
    pub(crate) async fn with_token() -> Self {
        Self::start(true).await
    }

    async fn start(has_token: bool) -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let token = folder.path().join("token");
        std::fs::write(&token, TOKEN).expect("written");
        let mut settings =
            AgentSettings::embedded("127.0.0.1", free_port(), folder.path().join("agent.db"));
        settings.notify.group_wait_s = 0.0;
        settings.http.listen = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
        settings.http.token = has_token.then_some(SecretSource::File(token));
        let store = open_store(&settings.store).await.expect("opens");
        let now = SystemClock.now();
        let events: Vec<Incoming> = (1..=20).map(|sequence| incoming(sequence, now)).collect();
        store.store(&events, now, "pdm/v1/dead-letter").await.expect("stored");
        store.close().await;
        drop(store);
        let agent = Agent::start(settings, Arc::new(SystemClock)).await.expect("starts");
        let mut progress = agent.progress();
        let judged = progress.wait_for(|progress| progress.judged >= 20);
        tokio::time::timeout(Duration::from_mins(1), judged).await.expect("judged").expect("runs");
        let url = format!("http://{}", agent.address().expect("serves"));
        Self { agent, url, _folder: folder }
    }

    /// Stops the agent.
    pub(crate) async fn stop(self) {
        self.agent.stop().await.expect("stops");
    }
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
