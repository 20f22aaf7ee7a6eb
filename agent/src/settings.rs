//! `agent.toml`, read and checked, with a default for every key but the store's path.
//!
//! One file a section, each with its type, its defaults and its checks; here they are put together.
//! Sections of a part with settings of its own stand there: `[tools]` in
//! [`pdm_tools::settings`], `[knowledge]` in [`pdm_knowledge::settings`], `[reports]` in
//! [`pdm_report::settings`], `[reasoner]` in [`pdm_reasoner::settings`], `[store]` in
//! [`pdm_store::settings`].
//! Invariant: what [`AgentSettings::read`] returns has been checked, and its paths start at the
//! file's folder.

mod broker;
mod captures;
mod email;
mod http;
mod intake;
mod judging;
mod notify;
mod recipient;
pub mod rules;
mod secrets;
mod silence;
mod telemetry;
#[cfg(test)]
mod tests;
mod torn;
mod webhook;

use std::path::{Path, PathBuf};
use std::time::Duration;

use pdm_expert::rules::Rules;
use pdm_service::config::{self, ConfigError, within};
use serde::Deserialize;

pub use broker::{BrokerAddress, BrokerSettings, Login, TlsFiles};
pub use captures::CapturesSettings;
pub use email::{EmailSecurity, EmailSettings};
pub use http::{FirstAdmin, HttpSettings};
pub use intake::{IntakeSettings, QuotaSettings, TopicProof};
pub use judging::JudgingSettings;
pub use notify::{Languages, NotifySettings};
pub(crate) use recipient::EMAIL;
pub use recipient::{PersonHook, RecipientSettings};
pub use silence::SilenceSettings;
pub use telemetry::TelemetrySettings;
pub use webhook::{WebhookFormat, WebhookSettings};

use pdm_knowledge::settings::StoreChoice;
use pdm_knowledge::{KnowledgeFile, KnowledgeSettings};
use pdm_reasoner::settings::ReasonerSettings;
pub use pdm_report::files::Format as DocumentFormat;
use pdm_report::settings::ReportSettings;
pub use pdm_store::BearingOwners;
use pdm_store::GatewaySettings;
pub use pdm_store::settings::{RetentionSettings, StorePlace, StoreSettings};
use pdm_tools::settings::ToolSettings;

use broker::BrokerFile;

/// The settings of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentSettings {
    /// The broker.
    pub broker: BrokerSettings,
    /// The store, and how long it keeps what.
    pub store: StoreSettings,
    /// Batches, receipts, gaps, quotas.
    pub intake: IntakeSettings,
    /// Which gateway measures which bearings.
    pub gateways: BearingOwners,
    /// The settings of judging: by rules alone, or with a language model.
    pub judging: JudgingSettings,
    /// The expert's thresholds.
    pub rules: Rules,
    /// Notifications to staff.
    pub notify: NotifySettings,
    /// When a gateway counts as silent.
    pub silence: SilenceSettings,
    /// The knowledge base.
    pub knowledge: KnowledgeSettings,
    /// The tools, and the databases and servers that they name.
    pub tools: ToolSettings,
    /// Where reports and work orders go.
    pub reports: ReportSettings,
    /// Where waveforms of gateways are kept; `None` without `[captures]`, and then none are taken.
    pub captures: Option<CapturesSettings>,
    /// The language model; `None` without `[reasoner]`.
    pub reasoner: Option<ReasonerSettings>,
    /// The HTTP server.
    pub http: HttpSettings,
    /// The export of traces.
    pub telemetry: TelemetrySettings,
    /// How long stopping may take.
    pub shutdown_grace: Duration,
}

impl AgentSettings {
    /// The address under which people reach the pages, where one is configured.
    pub(crate) fn page_address(&self) -> Option<String> {
        self.notify.page_url.clone().or_else(|| self.http.public_url.clone())
    }

    /// Settings for an agent beside its broker on one machine: plain TCP, SQLite, notifications to
    /// MQTT only, no HTTP.
    pub fn embedded(host: impl Into<String>, port: u16, store: impl Into<PathBuf>) -> Self {
        let addresses = vec![BrokerAddress { host: host.into(), port }];
        let broker = BrokerSettings { addresses, ..BrokerSettings::default() };
        let mut store = StoreSettings::sqlite(store);
        store.replica.clone_from(&broker.client_id);
        let beside = store.folder().unwrap_or(Path::new(""));
        Self {
            broker,
            knowledge: KnowledgeSettings::embedded_in(beside),
            store,
            intake: IntakeSettings::default(),
            gateways: BearingOwners::default(),
            judging: JudgingSettings::default(),
            rules: Rules::default(),
            notify: NotifySettings::default(),
            silence: SilenceSettings::default(),
            tools: ToolSettings::default(),
            reports: ReportSettings::default(),
            captures: None,
            reasoner: None,
            http: HttpSettings::default(),
            telemetry: TelemetrySettings::default(),
            shutdown_grace: DEFAULT_GRACE,
        }
    }

    /// Reads `agent.toml`. Relative paths in it are taken from its folder.
    ///
    /// # Errors
    /// [`ConfigError`] with file, line, key, value and what is allowed.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let file: File = config::read_config(path)?;
        file.meant(path)
    }

    /// Sets the name of this replica, for its session at the broker and for its claims in a store
    /// that replicas share.
    pub fn name_replica(&mut self, name: &str) {
        name.clone_into(&mut self.broker.client_id);
        name.clone_into(&mut self.store.replica);
    }

    /// Lets messages link the pages where browsers reach them: the bearing's page and the
    /// documents, unless addresses of their own are configured for these.
    pub(crate) fn link_to_pages(&mut self) {
        let Some(public) = self.http.public_url.as_deref() else { return };
        let public = public.trim_end_matches('/');
        self.notify.page_url.get_or_insert_with(|| public.to_owned());
        self.reports.url_base.get_or_insert_with(|| format!("{public}/documents"));
    }

    /// Reads `text` as if it stood in `path`.
    ///
    /// # Errors
    /// As [`AgentSettings::read`].
    pub fn parse(path: &Path, text: &str) -> Result<Self, ConfigError> {
        let file: File = config::parse(path, text)?;
        file.meant(path)
    }
}

/// How long stopping may take by default: below the 30 s of Kubernetes and the 90 s of systemd
/// after which the process is killed.
const DEFAULT_GRACE: Duration = Duration::from_secs(10);

/// The file as it is typed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    broker: BrokerFile,
    store: StoreSettings,
    #[serde(default)]
    intake: IntakeSettings,
    #[serde(default)]
    gateways: Vec<GatewaySettings>,
    #[serde(default)]
    judging: JudgingSettings,
    #[serde(default)]
    rules: RulesFile,
    #[serde(default)]
    notify: NotifySettings,
    #[serde(default)]
    silence: SilenceSettings,
    #[serde(default)]
    knowledge: KnowledgeFile,
    #[serde(default)]
    tools: ToolSettings,
    #[serde(default)]
    reports: ReportSettings,
    #[serde(default)]
    captures: Option<CapturesSettings>,
    #[serde(default)]
    reasoner: Option<ReasonerSettings>,
    #[serde(default)]
    http: HttpSettings,
    #[serde(default)]
    telemetry: TelemetrySettings,
    #[serde(default)]
    shutdown_grace_s: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesFile {
    file: Option<PathBuf>,
}

impl File {
    #[expect(clippy::too_many_lines, reason = "a list: one entry a table of the file")]
    fn meant(self, path: &Path) -> Result<AgentSettings, ConfigError> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut rules = match &self.rules.file {
            Some(file) => rules::read_rules(&folder.join(file))?,
            None => Rules::default(),
        };
        let shutdown_grace = match self.shutdown_grace_s {
            None => DEFAULT_GRACE,
            Some(seconds) => {
                within(path, "shutdown_grace_s", seconds, 86_400.0, "seconds")?;
                Duration::from_secs_f64(seconds)
            }
        };
        self.store.check(path)?;
        self.intake.check(path)?;
        rules.ahead_s = self.intake.ahead_s;
        self.notify.check(path)?;
        self.silence.check(path)?;
        self.tools.check(path)?;
        self.reports.check(path)?;
        if let Some(captures) = &self.captures {
            captures.check(path)?;
        }
        if let Some(reasoner) = &self.reasoner {
            reasoner.check(path)?;
        }
        self.judging.check(path, self.reasoner.as_ref())?;
        self.http.check(path)?;
        self.telemetry.check(path)?;
        let broker = self.broker.meant(path)?;
        let mut store = self.store.rooted(folder);
        store.replica.clone_from(&broker.client_id);
        let knowledge = self.knowledge.meant(path, store.folder())?;
        if let (None, StoreChoice::Sqlite(file)) = (store.folder(), &knowledge.store) {
            store.marker_folder = file.parent().map(Path::to_owned);
        }
        if knowledge.filter_by_model && self.reasoner.is_none() {
            let allowed = "false, or true with a model in [reasoner]";
            return Err(ConfigError::value(path, "knowledge.filter_by_model", true, allowed));
        }
        let captures = self.captures.map(|captures| captures.rooted(folder, store.folder()));
        let mut reports = self.reports.rooted(folder).beside(store.folder());
        reports.zone = self.notify.zone;
        let mut settings = AgentSettings {
            broker,
            store,
            intake: self.intake,
            gateways: BearingOwners::of_settings(path, self.gateways)?,
            judging: self.judging,
            rules,
            notify: self.notify.rooted(folder),
            silence: self.silence,
            knowledge,
            tools: self.tools.rooted(folder),
            reports,
            captures,
            reasoner: self.reasoner.map(|reasoner| reasoner.rooted(folder)),
            http: self.http.rooted(folder),
            telemetry: self.telemetry,
            shutdown_grace,
        };
        settings.link_to_pages();
        Ok(settings)
    }
}

/// The longest time that a setting may name, h: a year.
const YEAR_H: f64 = 8760.0;
