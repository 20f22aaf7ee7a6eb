//! `[[notify.recipient]]`: people and how they are reached, and the table of routes that names
//! them.

use std::collections::BTreeSet;
use std::path::Path;

use pdm_routes::RouteTable;
use pdm_service::config::ConfigError;
use pdm_shared::bounds;
use pdm_shared::risk::RiskLevel;
use serde::Deserialize;

use super::notify::{NotifySettings, watch};

/// The name of the channel of `[notify.email]` in routes.
pub(crate) const EMAIL: &str = "email";
/// Longest name of a person, a group, a rota or a route.
const NAME: usize = 64;

/// `[[notify.recipient]]`: a person, or a phone that goes from hand to hand.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecipientSettings {
    /// The name in routes, groups and rotas.
    pub name: String,
    /// The address, by the server of `[notify.email]`.
    #[serde(default)]
    pub email: Option<String>,
    /// The lowest risk that is sent by e-mail.
    #[serde(default = "watch")]
    pub email_from: RiskLevel,
    /// Web hooks.
    #[serde(default)]
    pub hooks: Vec<PersonHook>,
}

/// A person behind a web hook.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PersonHook {
    /// The name of the hook; one that is missing is refused as an empty one, by its key.
    #[serde(default)]
    pub hook: String,
    /// The person's number, chat or topic there; required as `hook` is.
    #[serde(default)]
    pub to: String,
    /// The lowest risk that is sent.
    #[serde(default = "watch")]
    pub from: RiskLevel,
}

impl NotifySettings {
    /// The routes with everything that they name. `folder` is that of the configuration, where
    /// templates are named relative to it.
    pub(crate) fn table(&self, folder: &Path) -> RouteTable {
        let mut names: BTreeSet<String> =
            self.recipient.iter().map(|one| one.name.clone()).collect();
        names.extend(self.email.iter().filter(|one| !one.to.is_empty()).map(|_| EMAIL.to_owned()));
        let hooks = self.webhook.iter().filter(|hook| hook.stands_alone(folder));
        names.extend(hooks.map(|hook| hook.name.clone()));
        RouteTable {
            zone: self.zone,
            routes: self.route.clone(),
            rotas: self.rota.clone(),
            groups: self.group.clone(),
            quiet: self.quiet.clone(),
            names,
        }
    }

    pub(super) fn check_people(&self, path: &Path) -> Result<(), ConfigError> {
        let mut known: BTreeSet<&str> =
            self.webhook.iter().map(|hook| hook.name.as_str()).collect();
        known.insert(EMAIL);
        for one in &self.recipient {
            let name = one.name.as_str();
            let is_right = !name.is_empty() && !name.contains(':');
            let is_right = is_right && bounds::line(name, NAME).is_ok();
            if !is_right || !known.insert(name) {
                let allowed = format!(
                    "a name that no other recipient or channel has, 1 to {NAME} characters, no \
                     colon"
                );
                return Err(ConfigError::value(path, "notify.recipient.name", name, allowed));
            }
            self.check_person(path, one)?;
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        self.table(folder).check().map_err(|problem| {
            let key = format!("notify.{}", problem.key);
            ConfigError::value(path, key, problem.value, problem.allowed)
        })
    }

    fn check_person(&self, path: &Path, one: &RecipientSettings) -> Result<(), ConfigError> {
        let key = |key: &str| format!("notify.recipient.{}.{key}", one.name);
        if let Some(address) = &one.email {
            if address.parse::<lettre::message::Mailbox>().is_err() {
                let allowed = "an address such as \"김철수 <kim@plant.example>\"";
                return Err(ConfigError::value(path, key("email"), address, allowed));
            }
            if self.email.is_none() {
                let allowed = "an address with [notify.email], which names the server";
                return Err(ConfigError::value(path, key("email"), address, allowed));
            }
        }
        if one.email.is_none() && one.hooks.is_empty() {
            return Err(ConfigError::value(path, key("hooks"), "[]", "email or one hook or more"));
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        for contact in &one.hooks {
            let hook = self.webhook.iter().find(|hook| hook.name == contact.hook);
            let file = hook.and_then(|hook| hook.compiled(folder));
            if !file.is_some_and(|file| file.is_ok_and(|file| file.needs_to())) {
                let takes = |hook: &&super::WebhookSettings| {
                    let file = hook.compiled(folder);
                    file.is_some_and(|file| file.is_ok_and(|file| file.needs_to()))
                };
                let allowed: Vec<&str> =
                    self.webhook.iter().filter(takes).map(|hook| hook.name.as_str()).collect();
                let allowed = if allowed.is_empty() {
                    "a hook whose file has `to`; none of the configured hooks has one".to_owned()
                } else {
                    format!("a hook whose file has `to`: {}", allowed.join(", "))
                };
                return Err(ConfigError::value(path, key("hooks.hook"), &contact.hook, allowed));
            }
            if contact.to.trim().is_empty() || bounds::line(&contact.to, 256).is_err() {
                let allowed = "a number, a chat or a topic on one line";
                return Err(ConfigError::value(path, key("hooks.to"), &contact.to, allowed));
            }
        }
        let mut hooks: Vec<&str> = one.hooks.iter().map(|contact| contact.hook.as_str()).collect();
        hooks.sort_unstable();
        hooks.windows(2).find(|pair| pair[0] == pair[1]).map_or(Ok(()), |pair| {
            Err(ConfigError::value(path, key("hooks.hook"), pair[0], "each hook once"))
        })
    }
}
