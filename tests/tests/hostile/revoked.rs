//! Certificates that an authority has revoked, and lists that it has not renewed.

use std::time::Duration;

use pdm_harness::{Authority, Https, Mosquitto, Persistence};
use pdm_service::broker::TlsFiles;

use crate::open_plant::{Client, FromBegin, event, hook, settings, started, until};

/// A stolen key of a web hook's server reads no alarm, and a list that nobody renews is no list.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_web_hook_with_a_revoked_certificate_or_an_expired_list_gets_no_alarm() {
    let name = "a_web_hook_with_a_revoked_certificate_or_an_expired_list_gets_no_alarm";
    let Some(authority) = Authority::found(name) else { return };
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    for certificate in ["good", "stolen"] {
        authority.issue(certificate);
    }
    authority.revoke("stolen");
    authority.list_of_2020();
    let folder = tempfile::tempdir().expect("folder");
    let mut settings = settings(broker.port(), folder.path());
    let mut servers = Vec::new();
    for (hook_name, certificate, list) in
        [("stolen", "stolen", "ca.crl"), ("past", "good", "past.crl"), ("good", "good", "ca.crl")]
    {
        let file = |end: &str| authority.path(&format!("{certificate}.{end}"));
        let Some(server) = Https::start(name, &file("pem"), &file("key")) else { return };
        let mut hook = hook(hook_name, format!("https://127.0.0.1:{}/hook", server.port()));
        hook.tls = Some(TlsFiles {
            ca: authority.path("ca.pem"),
            certificate: None,
            key: None,
            crl: Some(authority.path(list)),
        });
        settings.notify.webhook.push(hook);
        servers.push(server);
    }
    let agent = started(settings, FromBegin::new()).await;
    let client = Client::connect(broker.port()).await;
    client.send(&event(1, 0.0)).await;
    until("the good one", 60, || (!servers[2].posts().is_empty()).then_some(())).await;
    // the first pause after a failure is two seconds
    tokio::time::sleep(Duration::from_secs(3)).await;
    let posts: Vec<usize> = servers.iter().map(|server| server.posts().len()).collect();
    assert_eq!(posts, [0, 0, 1]);
    // with a renewed list the one that was refused gets its alarm
    std::fs::copy(authority.path("ca.crl"), authority.path("past.crl")).expect("renewed");
    until("the renewed list", 60, || (!servers[1].posts().is_empty()).then_some(())).await;
    assert_eq!(servers[0].posts().len(), 0);
    agent.stop().await.expect("no part failed");
}
