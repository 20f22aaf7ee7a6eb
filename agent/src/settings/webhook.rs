//! `[[notify.webhook]]`: receivers of notifications by HTTP.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pdm_hook::{HookTemplate, PRESETS, TemplateError, preset};
use pdm_service::broker::TlsFiles;
use pdm_service::config::ConfigError;
use pdm_service::secret::SecretSource;
use pdm_shared::risk::RiskLevel;
use serde::Deserialize;

use super::notify::{Languages, watch};

/// `[[notify.webhook]]`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebhookSettings {
    /// The hook's name in logs and in the outbox.
    pub name: String,
    /// The address, if it is no secret.
    #[serde(default)]
    pub url: Option<String>,
    /// The source of the address, if it is a secret (Slack, Teams).
    #[serde(default)]
    pub url_secret: Option<SecretSource>,
    /// Certificates, where they are not those of the operating system: the receiver's authority,
    /// its revocation list, and this program's own for mutual TLS.
    #[serde(default)]
    pub tls: Option<TlsFiles>,
    /// The form of the message.
    #[serde(default)]
    pub format: WebhookFormat,
    /// Languages.
    #[serde(default)]
    pub language: Languages,
    /// The lowest risk that is sent to this hook.
    #[serde(default = "watch")]
    pub from: RiskLevel,
    /// A file that comes with the program and says how its receiver is asked, in place of `format`.
    #[serde(default)]
    pub preset: Option<String>,
    /// The path of the plant's own file of this form.
    #[serde(default)]
    pub template: Option<PathBuf>,
    /// The number, chat or topic that is told, where the file asks for one. Without it the hook
    /// tells people alone (`[[notify.recipient]]`).
    #[serde(default)]
    pub to: Option<String>,
    /// The values that the file asks for.
    #[serde(default)]
    pub values: BTreeMap<String, String>,
    /// The sources of the secrets that the file asks for.
    #[serde(default)]
    pub secrets: BTreeMap<String, SecretSource>,
}

impl Default for WebhookSettings {
    fn default() -> Self {
        Self {
            name: String::new(),
            url: None,
            url_secret: None,
            tls: None,
            format: WebhookFormat::default(),
            language: Languages::default(),
            from: watch(),
            preset: None,
            template: None,
            to: None,
            values: BTreeMap::new(),
            secrets: BTreeMap::new(),
        }
    }
}

impl WebhookSettings {
    /// The compiled file of a hook that has one.
    ///
    /// # Errors
    /// [`TemplateError`] with file, line and key.
    pub(crate) fn compiled(&self, folder: &Path) -> Option<Result<HookTemplate, TemplateError>> {
        if let Some(name) = &self.preset {
            return Some(HookTemplate::parse(name, preset(name).unwrap_or_default()));
        }
        let file = folder.join(self.template.as_ref()?);
        let name = file.display().to_string();
        Some(match std::fs::read_to_string(&file) {
            Ok(text) => HookTemplate::parse(&name, &text),
            Err(error) => {
                Err(TemplateError { file: name, line: 1, message: format!("unreadable: {error}") })
            }
        })
    }

    /// Whether the hook tells somebody by itself, and not people alone.
    pub(crate) fn stands_alone(&self, folder: &Path) -> bool {
        let needs_to =
            self.compiled(folder).is_some_and(|file| file.is_ok_and(|one| one.needs_to()));
        !needs_to || self.to.is_some()
    }

    /// Whether a file says how the receiver is asked.
    pub(crate) const fn is_templated(&self) -> bool {
        self.preset.is_some() || self.template.is_some()
    }

    fn check_file(&self, path: &Path) -> Result<(), ConfigError> {
        let key = |key: &str| format!("notify.webhook.{}.{key}", self.name);
        if self.preset.is_some() && self.template.is_some() {
            return Err(ConfigError::value(path, key("template"), "both", "preset or template"));
        }
        if let Some(name) = self.preset.as_ref().filter(|name| preset(name).is_none()) {
            let allowed = PRESETS.map(|(name, _)| name).join(", ");
            return Err(ConfigError::value(path, key("preset"), name, allowed));
        }
        if self.url_secret.is_some() {
            let allowed = "secrets, which the file names";
            return Err(ConfigError::value(path, key("url_secret"), "set", allowed));
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        match self.compiled(folder) {
            Some(Err(error)) => {
                let what = if self.preset.is_some() { "preset" } else { "template" };
                let allowed = "a file of the form that docs/connect.md describes";
                Err(ConfigError::value(path, key(what), error, allowed))
            }
            Some(Ok(file)) if self.to.is_some() && !file.needs_to() => {
                let allowed = "none: every message of this hook goes to one place";
                Err(ConfigError::value(path, key("to"), "set", allowed))
            }
            Some(Ok(_)) | None => Ok(()),
        }
    }

    pub(super) fn check(&self, path: &Path) -> Result<(), ConfigError> {
        let key = format!("notify.webhook.{}", self.name);
        if self.name.is_empty() {
            return Err(ConfigError::value(path, "notify.webhook.name", "empty", "a name"));
        }
        if self.is_templated() {
            return self.check_file(path);
        }
        if self.to.is_some() || !self.values.is_empty() || !self.secrets.is_empty() {
            let allowed = "to, values and secrets with preset or template";
            return Err(ConfigError::value(path, key, "neither preset nor template", allowed));
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

/// The form of a web hook's message.
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
