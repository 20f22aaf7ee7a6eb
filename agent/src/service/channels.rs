//! The channels of a configuration: one for each that stands for itself, and one for each way to each
//! person.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use pdm_hook::{Address, Hook};
use pdm_report::settings::ReportSettings;
use pdm_service::clock::SharedClock;
use pdm_service::secret::Secret;

use super::StartError;
use crate::notify::attached::Attached;
use crate::notify::email::Email;
use crate::notify::lanes::Channel;
use crate::notify::templated::Templated;
use crate::notify::webhook::{Webhook, WebhookError};
use crate::settings::{NotifySettings, WebhookSettings};
use crate::store::{person_lane, webhook_lane};

/// Makes the configured channels: e-mail and web hooks, with those to people.
pub(crate) fn channels(
    settings: &NotifySettings,
    reports: &ReportSettings,
    clock: &SharedClock,
) -> Result<Vec<Arc<dyn Channel>>, StartError> {
    let attached = || {
        let folder = reports.folder.clone().filter(|_| !reports.off);
        folder.map(|folder| Attached { folder })
    };
    let mut channels: Vec<Arc<dyn Channel>> = Vec::new();
    if let Some(email) = &settings.email {
        if !email.to.is_empty() {
            channels.push(Arc::new(Email::new(email, attached())?));
        }
        for person in &settings.recipient {
            if let Some(address) = &person.email {
                let name = &person.name;
                channels.push(Arc::new(Email::to_person(email, name, address, attached())?));
            }
        }
    }
    for hook in &settings.webhook {
        match templated(hook, clock)? {
            None => channels.push(Arc::new(Webhook::new(hook)?)),
            Some(set_up) => {
                let lanes = lanes(settings, hook, &Arc::new(set_up));
                channels.extend(lanes.into_iter().map(|lane| Arc::new(lane) as Arc<dyn Channel>));
            }
        }
    }
    Ok(channels)
}

/// A hook that has a file, set up.
pub(crate) fn templated(
    settings: &WebhookSettings,
    clock: &SharedClock,
) -> Result<Option<Hook>, StartError> {
    let name = || settings.name.clone();
    let wrong = |reason: String| WebhookError::Template { name: name(), reason };
    let Some(file) = settings.compiled(Path::new("")) else { return Ok(None) };
    let file = file.map_err(|error| wrong(error.to_string()))?;
    let mut secrets: BTreeMap<String, Secret> = BTreeMap::new();
    for (secret, source) in &settings.secrets {
        let fetched = source.fetch().map_err(|source| WebhookError::TemplateSecret {
            name: name(),
            secret: secret.clone(),
            source,
        })?;
        secrets.insert(secret.clone(), fetched);
    }
    let address = Address { url: settings.url.clone(), tls: settings.tls.clone() };
    let hook = Hook::new(file, &settings.values, secrets, address, Arc::clone(clock));
    Ok(Some(hook.map_err(wrong)?))
}

/// The lanes of a hook: its own where it stands for itself, and one for each person behind it.
fn lanes(settings: &NotifySettings, hook: &WebhookSettings, set_up: &Arc<Hook>) -> Vec<Templated> {
    let lane = |lane: String, to: Option<String>| Templated {
        lane,
        hook: Arc::clone(set_up),
        to,
        languages: hook.language.list(),
        beside: 1,
    };
    let mut lanes = Vec::new();
    if !set_up.needs_to() || hook.to.is_some() {
        lanes.push(lane(webhook_lane(&hook.name), hook.to.clone()));
    }
    for person in &settings.recipient {
        for contact in person.hooks.iter().filter(|contact| contact.hook == hook.name) {
            lanes.push(lane(person_lane(&person.name, &hook.name), Some(contact.to.clone())));
        }
    }
    let beside = u32::try_from(lanes.len()).unwrap_or(u32::MAX);
    for lane in &mut lanes {
        lane.beside = beside;
    }
    lanes
}
