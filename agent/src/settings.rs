//! `agent.toml`: what was typed, checked, with a default for every key but the store's path.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pdm_expert::rules::Rules;
use pdm_shared::config::{self, ConfigError};
use pdm_shared::risk::RiskLevel;
use pdm_shared::secret::SecretSource;
use pdm_shared::text::Language;
use pdm_shared::topic::Prefix;
use serde::Deserialize;

use crate::tools::settings::ToolSettings;

/// Everything an agent needs to know.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentSettings {
    /// Where events come from and judgements go.
    pub broker: BrokerSettings,
    /// Where everything is kept.
    pub store: StoreSettings,
    /// Batches, receipts, gaps.
    pub intake: IntakeSettings,
    /// The expert's thresholds.
    pub rules: Rules,
    /// Who is told what, when.
    pub notify: NotifySettings,
    /// When a gateway counts as silent.
    pub silence: SilenceSettings,
    /// Tools and who may call them.
    pub tools: ToolSettings,
    /// Health and metrics; `None` serves neither.
    pub http: Option<SocketAddr>,
    /// How long stopping may take.
    pub shutdown_grace: Duration,
}

impl AgentSettings {
    /// Settings for an agent beside its broker on one machine: plain TCP, SQLite, notifications to
    /// MQTT only, no HTTP.
    pub fn embedded(host: impl Into<String>, port: u16, store: impl Into<PathBuf>) -> Self {
        let broker = BrokerSettings { host: host.into(), port, ..BrokerSettings::default() };
        Self {
            broker,
            store: StoreSettings::Sqlite(store.into()),
            intake: IntakeSettings::default(),
            rules: Rules::default(),
            notify: NotifySettings::default(),
            silence: SilenceSettings::default(),
            tools: ToolSettings::default(),
            http: None,
            shutdown_grace: DEFAULT_GRACE,
        }
    }

    /// Reads `agent.toml`. Relative paths in it are taken from its folder.
    ///
    /// # Errors
    /// [`ConfigError`] with file, line, key, value and what is allowed.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let file: File = config::read(path)?;
        file.meant(path)
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

const DEFAULT_GRACE: Duration = Duration::from_secs(10);

/// The file as it is typed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    broker: BrokerSettings,
    store: StoreSettings,
    #[serde(default)]
    intake: IntakeSettings,
    #[serde(default)]
    rules: RulesFile,
    #[serde(default)]
    notify: NotifySettings,
    #[serde(default)]
    silence: SilenceSettings,
    #[serde(default)]
    tools: ToolSettings,
    #[serde(default)]
    http: HttpFile,
    #[serde(default)]
    shutdown_grace_s: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesFile {
    file: Option<PathBuf>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct HttpFile {
    listen: Option<SocketAddr>,
}

impl File {
    fn meant(self, path: &Path) -> Result<AgentSettings, ConfigError> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let rules = match &self.rules.file {
            Some(file) => Rules::read(&folder.join(file))?,
            None => Rules::default(),
        };
        let store = match self.store {
            StoreSettings::Sqlite(file) => StoreSettings::Sqlite(folder.join(file)),
        };
        let shutdown_grace = match self.shutdown_grace_s {
            None => DEFAULT_GRACE,
            Some(seconds) => seconds_of(path, "shutdown_grace_s", seconds)?,
        };
        self.broker.check(path)?;
        self.intake.check(path)?;
        self.notify.check(path)?;
        self.silence.check(path)?;
        self.tools.check(path)?;
        Ok(AgentSettings {
            broker: self.broker.rooted(folder),
            store,
            intake: self.intake,
            rules,
            notify: self.notify,
            silence: self.silence,
            tools: self.tools.rooted(folder),
            http: self.http.listen,
            shutdown_grace,
        })
    }
}

fn seconds_of(path: &Path, key: &str, seconds: f64) -> Result<Duration, ConfigError> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_range| ConfigError::value(path, key, seconds, "seconds, 0 or more"))
}

fn above_zero(path: &Path, key: &str, value: u64) -> Result<(), ConfigError> {
    if value == 0 { Err(ConfigError::value(path, key, value, "1 or more")) } else { Ok(()) }
}

/// `[broker]`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BrokerSettings {
    /// Name or address.
    pub host: String,
    /// Port: 1883 plain, 8883 with TLS.
    pub port: u16,
    /// First levels of every topic.
    pub prefix: Prefix,
    /// The persistent session's name; one for each replica.
    pub client_id: String,
    /// Replicas of one group share the events.
    pub shared_group: Option<String>,
    /// How long the broker keeps events for an agent that is away, s.
    pub session_expiry_s: u32,
    /// Seconds between signs of life.
    pub keep_alive_s: u16,
    /// Events in flight that are not acknowledged yet.
    pub receive_maximum: u16,
    /// Largest message accepted, bytes.
    pub max_packet_bytes: u32,
    /// User and password.
    pub login: Option<Login>,
    /// TLS; absent is plain TCP.
    pub tls: Option<Tls>,
}

impl Default for BrokerSettings {
    fn default() -> Self {
        Self {
            host: "127.0.0.1".to_owned(),
            port: 1883,
            prefix: Prefix::default(),
            client_id: "pdm-agent".to_owned(),
            shared_group: None,
            session_expiry_s: 7 * 24 * 3600,
            keep_alive_s: 30,
            receive_maximum: 1024,
            max_packet_bytes: 1024 * 1024,
            login: None,
            tls: None,
        }
    }
}

impl BrokerSettings {
    fn check(&self, path: &Path) -> Result<(), ConfigError> {
        if self.client_id.is_empty() || self.client_id.len() > 64 {
            return Err(ConfigError::value(
                path,
                "broker.client_id",
                &self.client_id,
                "1 to 64 bytes",
            ));
        }
        if let Some(group) = &self.shared_group
            && (group.is_empty() || group.contains(['/', '+', '#']))
        {
            let allowed = "a name without '/', '+', '#'";
            return Err(ConfigError::value(path, "broker.shared_group", group, allowed));
        }
        if self.keep_alive_s < 5 {
            return Err(ConfigError::value(
                path,
                "broker.keep_alive_s",
                self.keep_alive_s,
                "5 or more",
            ));
        }
        above_zero(path, "broker.receive_maximum", self.receive_maximum.into())?;
        if self.max_packet_bytes < 16 * 1024 {
            let allowed = "16384 or more: an event with spectra needs it";
            return Err(ConfigError::value(
                path,
                "broker.max_packet_bytes",
                self.max_packet_bytes,
                allowed,
            ));
        }
        Ok(())
    }

    fn rooted(mut self, folder: &Path) -> Self {
        if let Some(tls) = &mut self.tls {
            for file in [Some(&mut tls.ca_file), tls.cert_file.as_mut(), tls.key_file.as_mut()]
                .into_iter()
                .flatten()
            {
                *file = folder.join(&file);
            }
        }
        self
    }
}

/// `[broker.login]`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Login {
    /// User.
    pub user: String,
    /// Where the password stands.
    pub password: SecretSource,
}

/// `[broker.tls]`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// Who signed the broker's certificate, PEM.
    pub ca_file: PathBuf,
    /// Own certificate for mutual TLS, PEM.
    pub cert_file: Option<PathBuf>,
    /// Its key, PEM.
    pub key_file: Option<PathBuf>,
}

/// `[store]`: `sqlite = "agent.db"`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum StoreSettings {
    /// One file, for one agent.
    Sqlite(PathBuf),
}

/// `[intake]`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IntakeSettings {
    /// Most messages of one transaction.
    pub batch: usize,
    /// Longest time between a commit and its receipt, s.
    pub receipt_after_s: f64,
    /// Most events of a gateway before its receipt.
    pub receipt_after_events: u64,
    /// Hours after which a gap in a gateway's sequence counts as lost.
    pub gap_lost_after_h: f64,
}

impl Default for IntakeSettings {
    fn default() -> Self {
        Self {
            batch: 512,
            receipt_after_s: 1.0,
            receipt_after_events: 100,
            gap_lost_after_h: 7.0 * 24.0,
        }
    }
}

impl IntakeSettings {
    fn check(&self, path: &Path) -> Result<(), ConfigError> {
        above_zero(path, "intake.batch", self.batch as u64)?;
        above_zero(path, "intake.receipt_after_events", self.receipt_after_events)?;
        seconds_of(path, "intake.receipt_after_s", self.receipt_after_s)?;
        seconds_of(path, "intake.gap_lost_after_h", self.gap_lost_after_h)?;
        Ok(())
    }
}

/// `[notify]`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NotifySettings {
    /// Lowest risk that is told.
    pub from: RiskLevel,
    /// Hours after which a risk that nobody acknowledged is told again; 0 never.
    pub repeat_after_h: f64,
    /// Most repeats of one alarm.
    pub repeat_limit: u32,
    /// Seconds that notifications of one machine wait to go out together; Critical never waits.
    pub group_wait_s: f64,
    /// Hours after which an undeliverable notification is given up (kept, counted, shown).
    pub give_up_after_h: f64,
    /// The `notification` topic.
    pub mqtt: bool,
    /// E-mail.
    pub email: Option<EmailSettings>,
    /// Web hooks.
    pub webhook: Vec<WebhookSettings>,
}

impl Default for NotifySettings {
    fn default() -> Self {
        Self {
            from: RiskLevel::Watch,
            repeat_after_h: 8.0,
            repeat_limit: 5,
            group_wait_s: 5.0,
            give_up_after_h: 24.0,
            mqtt: true,
            email: None,
            webhook: Vec::new(),
        }
    }
}

impl NotifySettings {
    fn check(&self, path: &Path) -> Result<(), ConfigError> {
        seconds_of(path, "notify.repeat_after_h", self.repeat_after_h)?;
        seconds_of(path, "notify.group_wait_s", self.group_wait_s)?;
        seconds_of(path, "notify.give_up_after_h", self.give_up_after_h)?;
        let mut names: Vec<&str> = self.webhook.iter().map(|hook| hook.name.as_str()).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(ConfigError::value(path, "notify.webhook.name", pair[0], "unique names"));
        }
        for hook in &self.webhook {
            hook.check(path)?;
        }
        self.email.as_ref().map_or(Ok(()), |email| email.check(path))
    }
}

/// Languages of a notification.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Languages {
    /// Korean.
    Ko,
    /// English.
    En,
    /// Korean, then English.
    #[default]
    Both,
}

impl Languages {
    /// The languages, in their order.
    pub const fn list(self) -> &'static [Language] {
        match self {
            Self::Ko => &[Language::Ko],
            Self::En => &[Language::En],
            Self::Both => &[Language::Ko, Language::En],
        }
    }
}

/// `[[notify.webhook]]`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebhookSettings {
    /// Its name in logs and in the outbox.
    pub name: String,
    /// Where to; for addresses that are no secret.
    #[serde(default)]
    pub url: Option<String>,
    /// Where to; for addresses that are (Slack, Teams).
    #[serde(default)]
    pub url_secret: Option<SecretSource>,
    /// What the receiver understands.
    #[serde(default)]
    pub format: WebhookFormat,
    /// Languages.
    #[serde(default)]
    pub language: Languages,
    /// Lowest risk that goes here.
    #[serde(default = "watch")]
    pub from: RiskLevel,
}

const fn watch() -> RiskLevel {
    RiskLevel::Watch
}

impl WebhookSettings {
    fn check(&self, path: &Path) -> Result<(), ConfigError> {
        let key = format!("notify.webhook.{}", self.name);
        if self.name.is_empty() {
            return Err(ConfigError::value(path, "notify.webhook.name", "empty", "a name"));
        }
        match (&self.url, &self.url_secret) {
            (Some(url), None) => {
                if reqwest::Url::parse(url)
                    .is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
                {
                    Ok(())
                } else {
                    Err(ConfigError::value(path, key + ".url", url, "an http or https address"))
                }
            }
            (None, Some(_)) => Ok(()),
            (None, None) | (Some(_), Some(_)) => {
                let got = if self.url.is_some() { "both" } else { "neither" };
                Err(ConfigError::value(path, key, got, "either url or url_secret"))
            }
        }
    }
}

/// What a web hook's receiver understands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WebhookFormat {
    /// The notification's own JSON (`pdm.notification/1`).
    #[default]
    Generic,
    /// Slack's incoming web hook.
    Slack,
    /// Teams' workflow web hook (adaptive card).
    Teams,
}

/// `[notify.email]`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmailSettings {
    /// The SMTP server.
    pub host: String,
    /// Its port; by default 465 with TLS, 587 with STARTTLS, 25 without.
    #[serde(default)]
    pub port: Option<u16>,
    /// How the connection is protected.
    #[serde(default)]
    pub security: EmailSecurity,
    /// User; absent is no login.
    #[serde(default)]
    pub user: Option<String>,
    /// Where the password stands.
    #[serde(default)]
    pub password: Option<SecretSource>,
    /// Sender, such as `PdM <pdm@plant.example>`.
    pub from_address: String,
    /// Receivers.
    pub to: Vec<String>,
    /// Languages.
    #[serde(default)]
    pub language: Languages,
    /// Lowest risk that goes here.
    #[serde(default = "watch")]
    pub from: RiskLevel,
}

impl EmailSettings {
    fn check(&self, path: &Path) -> Result<(), ConfigError> {
        let allowed = "an address such as \"PdM <pdm@plant.example>\"";
        for (key, address) in std::iter::once(("notify.email.from_address", &self.from_address))
            .chain(self.to.iter().map(|to| ("notify.email.to", to)))
        {
            if address.parse::<lettre::message::Mailbox>().is_err() {
                return Err(ConfigError::value(path, key, address, allowed));
            }
        }
        if self.to.is_empty() {
            return Err(ConfigError::value(path, "notify.email.to", "[]", "one address or more"));
        }
        if self.user.is_some() != self.password.is_some() {
            let got = if self.user.is_some() { "user alone" } else { "password alone" };
            return Err(ConfigError::value(
                path,
                "notify.email",
                got,
                "user and password or neither",
            ));
        }
        Ok(())
    }
}

/// How an SMTP connection is protected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EmailSecurity {
    /// TLS after STARTTLS, required.
    #[default]
    Starttls,
    /// TLS from the first byte.
    Tls,
    /// None: for a relay on the same machine.
    None,
}

/// `[silence]`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SilenceSettings {
    /// Seconds after a gateway's last will (or goodbye) until staff is told.
    pub offline_after_s: f64,
    /// Seconds without any event until staff is told; 0 never.
    pub silent_after_s: f64,
    /// The level told.
    pub risk: RiskLevel,
}

impl Default for SilenceSettings {
    fn default() -> Self {
        Self { offline_after_s: 300.0, silent_after_s: 3.0 * 3600.0, risk: RiskLevel::Warning }
    }
}

impl SilenceSettings {
    fn check(&self, path: &Path) -> Result<(), ConfigError> {
        seconds_of(path, "silence.offline_after_s", self.offline_after_s)?;
        seconds_of(path, "silence.silent_after_s", self.silent_after_s)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHIPPED: &str = include_str!("../../config/agent.toml");

    fn parse(text: &str) -> Result<AgentSettings, ConfigError> {
        AgentSettings::parse(Path::new("/etc/pdm/agent.toml"), text)
    }

    #[test]
    fn the_shipped_file_says_what_the_defaults_are() {
        let settings = parse(SHIPPED).expect("valid");
        let mut defaults = AgentSettings::embedded("127.0.0.1", 1883, "/var/lib/pdm/agent.db");
        defaults.http = "127.0.0.1:9465".parse().ok();
        assert_eq!(settings, defaults);
    }

    #[test]
    fn what_the_shipped_file_shows_commented_out_is_valid_too() {
        let shown: String = SHIPPED
            .lines()
            .map(|line| match line.strip_prefix("# ") {
                Some(rest) if rest.contains(" = ") && !rest.starts_with('{') => rest,
                Some(rest) if rest.starts_with('[') => rest,
                _ => line,
            })
            .filter(|line| !line.starts_with("file ="))
            .fold(String::new(), |text, line| text + line + "\n");
        let settings = parse(&shown).expect("valid");
        assert_eq!(settings.notify.webhook.len(), 1);
        assert_eq!(settings.notify.email.as_ref().map(|email| email.to.len()), Some(1));
        assert!(settings.broker.tls.is_some() && settings.broker.login.is_some());
    }

    #[test]
    fn a_short_file_is_enough_and_paths_start_at_its_folder() {
        let settings = parse("[store]\nsqlite = \"agent.db\"\n").expect("valid");
        assert_eq!(settings.store, StoreSettings::Sqlite("/etc/pdm/agent.db".into()));
    }

    #[test]
    fn errors_name_line_key_value_and_what_is_allowed() {
        let error = |text: &str| {
            parse(&format!("[store]\nsqlite = \"a.db\"\n{text}")).expect_err("wrong").to_string()
        };
        let unknown = error("[broker]\nhots = \"x\"\n");
        assert!(unknown.starts_with("/etc/pdm/agent.toml:4:1: unknown field `hots`"), "{unknown}");
        assert_eq!(
            error("[intake]\nbatch = 0\n"),
            "/etc/pdm/agent.toml: intake.batch is 0, allowed is 1 or more"
        );
        let negative = error("[notify]\nrepeat_after_h = -1.0\n");
        assert!(negative.contains("notify.repeat_after_h is -1"), "{negative}");
        let neither = error("[[notify.webhook]]\nname = \"ops\"\n");
        assert!(neither.contains("either url or url_secret"), "{neither}");
    }
}
