//! Every secret and certificate that the configuration names, wherever it is named.

use std::sync::Arc;

use pdm_service::broker::TlsFiles;
use pdm_service::clock::{SharedClock, SystemClock};
use pdm_service::error_chain::error_chain;
use pdm_service::exit::Exit;
use pdm_service::secret::SecretSource;

use super::Finding;
use crate::settings::EdgeSettings;

/// A line for each secret that cannot be read, else one for all of them.
pub(super) fn findings(settings: &EdgeSettings) -> Vec<Finding> {
    let secrets = named_secrets(settings);
    let mut findings = Vec::new();
    for (key, source) in &secrets {
        if let Err(error) = source.fetch() {
            findings.push(Finding::bad(format!("secret {key}"), Exit::Config, &error));
        }
    }
    for (key, files) in named_certificates(settings) {
        if let Err(error) = files.client_config() {
            let text = error_chain(&error);
            let outcome = Err((Exit::Config, text));
            findings.push(Finding { what: format!("certificates {key}"), outcome });
        }
    }
    let clock: SharedClock = Arc::new(SystemClock);
    for source in &settings.sources {
        if let Err(why) = source.input.check_certificates(&clock) {
            let what = format!("certificates source {}", source.name);
            findings.push(Finding { what, outcome: Err((Exit::Config, why)) });
        }
    }
    if findings.is_empty()
        && let Some(admin) = &settings.admin
        && let Err(error) = admin.access()
    {
        findings.push(Finding::bad("admin", Exit::Config, &error));
    }
    if findings.is_empty() {
        findings.push(Finding::good("secrets", format!("{} can be read", secrets.len())));
    }
    findings
}

/// The secrets with their keys. Every part is named, so that a new one is decided on here.
fn named_secrets(settings: &EdgeSettings) -> Vec<(String, &SecretSource)> {
    let EdgeSettings {
        broker,
        sources,
        admin,
        capture,
        gateway: _,
        site: _,
        prefix: _,
        spool: _,
        shutdown_grace: _,
        until_done: _,
    } = settings;
    let mut secrets = Vec::new();
    let login = broker.login.as_ref();
    secrets.extend(login.map(|login| ("broker.password".to_owned(), &login.password)));
    let token = admin.as_ref().and_then(|admin| admin.token.as_ref());
    secrets.extend(token.map(|token| ("admin.token".to_owned(), token)));
    let upload = capture.as_ref().and_then(|capture| capture.upload.as_ref());
    secrets.extend(upload.map(|upload| ("capture.upload.token".to_owned(), &upload.token)));
    for source in sources {
        let key = |name: &str| format!("source {}: {name}", source.name);
        let own = source.input.secret();
        secrets.extend(own.map(|(name, secret)| (key(name), secret)));
        let tag = source.speed_tag.as_ref().and_then(|tag| tag.topic.login.as_ref());
        secrets.extend(tag.map(|login| (key("speed_tag.password"), &login.password)));
    }
    secrets
}

/// The certificates of connections that this command does not make itself to their end.
fn named_certificates(settings: &EdgeSettings) -> Vec<(String, &TlsFiles)> {
    let mut all = Vec::new();
    let broker = settings.broker.tls.as_ref();
    all.extend(broker.map(|tls| ("broker.tls".to_owned(), tls)));
    for source in &settings.sources {
        let key = |name: &str| format!("source {}: {name}", source.name);
        all.extend(source.input.tls().map(|tls| (key("stream.tls"), tls)));
        let tag = source.speed_tag.as_ref().and_then(|tag| tag.topic.tls.as_ref());
        all.extend(tag.map(|tls| (key("speed_tag.tls"), tls)));
    }
    all
}
