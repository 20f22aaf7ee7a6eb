//! The channels of a configuration: one for each that stands for itself, and one for each way to
//! each person.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use pdm_hook::{Address, Hook};
use pdm_report::settings::ReportSettings;
use pdm_service::clock::SharedClock;
use pdm_service::secret::{Secret, SecretSource};
use pdm_store::{person_lane, webhook_lane};

use super::{StartError, log};
use crate::notify::attached::Attached;
use crate::notify::email::Email;
use crate::notify::lanes::Channel;
use crate::notify::renewed::Renewed;
use crate::notify::templated::Templated;
use crate::notify::webhook::{Webhook, WebhookError};
use crate::settings::{NotifySettings, WebhookSettings};

/// Makes the configured channels: e-mail and web hooks, with those to people. Each reads its
/// secrets again when it sends.
pub(crate) fn channels(
    settings: &NotifySettings,
    reports: &ReportSettings,
    clock: &SharedClock,
) -> Result<Vec<Arc<dyn Channel>>, StartError> {
    let mut channels = Vec::new();
    for one in apart(settings) {
        let sources = secrets(&one);
        let made = made(&one, reports, clock)?;
        if sources.is_empty() {
            channels.extend(made);
            continue;
        }
        for channel in made {
            let lane = channel.lane().to_owned();
            let (one, reports, clock) = (one.clone(), reports.clone(), Arc::clone(clock));
            let make = move || match self::made(&one, &reports, &clock) {
                Ok(made) => made.into_iter().find(|channel| channel.lane() == lane),
                Err(error) => {
                    log::channel_left_out(&error);
                    None
                }
            };
            channels.push(Arc::new(Renewed::new(channel, sources.clone(), Box::new(make))) as _);
        }
    }
    Ok(channels)
}

/// Returns the same settings once for e-mail and once for each web hook.
fn apart(settings: &NotifySettings) -> Vec<NotifySettings> {
    let mail = NotifySettings { webhook: Vec::new(), ..settings.clone() };
    let hooks = settings.webhook.iter().map(|hook| NotifySettings {
        webhook: vec![hook.clone()],
        email: None,
        ..settings.clone()
    });
    std::iter::once(mail).chain(hooks).collect()
}

/// The secrets of e-mail and web hooks.
fn secrets(settings: &NotifySettings) -> Vec<SecretSource> {
    let mail = settings.email.as_ref().and_then(|email| email.password.clone());
    let hooks = settings.webhook.iter().flat_map(|hook| {
        hook.url_secret.iter().chain(hook.secrets.values()).cloned().collect::<Vec<_>>()
    });
    mail.into_iter().chain(hooks).collect()
}

/// Makes the channels out of what their secrets hold now.
fn made(
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

/// The configured channels that can be made now. One whose secret or file is not there is left out:
/// the others tell staff what the start waits for.
pub(super) fn present(
    settings: &NotifySettings,
    reports: &ReportSettings,
    clock: &SharedClock,
) -> Vec<Arc<dyn Channel>> {
    let made = apart(settings).into_iter().map(|one| channels(&one, reports, clock));
    let made = made.inspect(|made| {
        if let Err(error) = made {
            log::channel_left_out(error);
        }
    });
    made.filter_map(Result::ok).flatten().collect()
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
