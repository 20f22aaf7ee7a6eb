//! TLS and mutual TLS against a real Mosquitto: faults are logged with their reason, attempts are
//! few, and no event is lost.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pdm_edge::publish::{Down, probe};
use pdm_edge::settings::{BrokerSettings, TlsFiles};
use pdm_harness::{Authority, Mosquitto, Persistence};

use crate::stage::{Stage, local};

/// The certificates of the tests.
struct Certified(Authority);

impl Certified {
    fn found(test: &str) -> Option<Self> {
        let authority = Authority::found(test)?;
        authority.issue("broker");
        authority.issue_expired("expired");
        authority.issue("gateway");
        Some(Self(authority))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    fn broker(&self, test: &str, certificate: &str, acl: Option<&Path>) -> Option<Mosquitto> {
        let place = |name: &str| self.path(name).display().to_string();
        let acl = acl.map_or_else(String::new, |acl| format!("acl_file {}\n", acl.display()));
        let lines = format!(
            "allow_anonymous true\ncafile {}\ncertfile {}\nkeyfile {}\nrequire_certificate true\n\
             use_identity_as_username true\n{acl}",
            place("ca.pem"),
            place(&format!("{certificate}.pem")),
            place(&format!("{certificate}.key")),
        );
        Mosquitto::start_with(test, Persistence::Memory, &lines)
    }

    fn settings(&self, port: u16, ca: &str, client: Option<&str>) -> BrokerSettings {
        let tls = TlsFiles {
            ca: self.path(ca),
            certificate: client.map(|name| self.path(&format!("{name}.pem"))),
            key: client.map(|name| self.path(&format!("{name}.key"))),
            crl: None,
        };
        BrokerSettings {
            tls: Some(tls),
            reconnect: (Duration::from_millis(20), Duration::from_secs(30)),
            ..local(port)
        }
    }
}

async fn refusal(settings: &BrokerSettings) -> String {
    match probe(settings, &settings.addresses[0], "gw-01").await {
        Err(Down::Refused(text)) => text,
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn mutual_tls_delivers() {
    let name = "mutual_tls_delivers";
    let Some(authority) = Certified::found(name) else { return };
    let Some(broker) = authority.broker(name, "broker", None) else { return };
    let settings = authority.settings(broker.port(), "ca.pem", Some("gateway"));
    probe(&settings, &settings.addresses[0], "gw-01").await.expect("taken");
    let folder = tempfile::tempdir().expect("folder");
    let mut stage = Stage::open(folder.path()).await;
    let mut running = stage.publish(settings);
    stage.commit(20).await;
    let taken = running.progress.wait_for(|progress| progress.acknowledged == 20);
    tokio::time::timeout(Duration::from_secs(10), taken).await.expect("in time").expect("runs");
    running.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_authority_expired_certificate_and_missing_certificate_are_told_apart() {
    let name = "wrong_authority_expired_certificate";
    let Some(authority) = Certified::found(name) else { return };
    let Some(broker) = authority.broker(name, "broker", None) else { return };
    let wrong = authority.settings(broker.port(), "other-ca.pem", Some("gateway"));
    let text = refusal(&wrong).await;
    assert!(text.contains("UnknownIssuer"), "{text}");
    let without = authority.settings(broker.port(), "ca.pem", None);
    let text = refusal(&without).await;
    assert!(text.contains("alert"), "{text}");

    let Some(expired) = authority.broker(name, "expired", None) else { return };
    let settings = authority.settings(expired.port(), "ca.pem", Some("gateway"));
    let text = refusal(&settings).await;
    assert!(text.to_lowercase().contains("expired"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusing_broker_sees_no_storm_and_nothing_is_lost() {
    let name = "a_refusing_broker_sees_no_storm";
    let Some(authority) = Certified::found(name) else { return };
    let Some(broker) = authority.broker(name, "broker", None) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let mut stage = Stage::open(folder.path()).await;
    let running = stage.publish(authority.settings(broker.port(), "other-ca.pem", Some("gateway")));
    stage.commit(5).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let attempts = broker.log().matches("New connection").count();
    assert!(attempts <= 3, "{attempts} attempts in two seconds");
    assert_eq!(stage.spool.tally().await.expect("reads").waiting, 5);
    running.crash().await;
}

/// With a revocation list a broker whose certificate is on it is refused, and another is not.
#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_broker_is_refused_by_name() {
    let name = "a_revoked_broker_is_refused_by_name";
    let Some(authority) = Certified::found(name) else { return };
    authority.0.issue("stolen");
    authority.0.revoke("stolen");
    for (certificate, is_revoked) in [("stolen", true), ("broker", false)] {
        let Some(broker) = authority.broker(name, certificate, None) else { return };
        let mut settings = authority.settings(broker.port(), "ca.pem", Some("gateway"));
        let probed = probe(&settings, &settings.addresses[0], "gw-01").await;
        assert!(probed.is_ok(), "without a list nothing counts as revoked: {probed:?}");
        if let Some(tls) = &mut settings.tls {
            tls.crl = Some(authority.path("ca.crl"));
        }
        if is_revoked {
            let text = refusal(&settings).await;
            assert!(text.contains("Revoked"), "{text}");
        } else {
            probe(&settings, &settings.addresses[0], "gw-01").await.expect("taken");
        }
    }
    let mut settings = authority.settings(1, "ca.pem", None);
    if let Some(tls) = &mut settings.tls {
        tls.crl = Some(authority.path("ca.pem"));
    }
    let text = refusal(&settings).await;
    assert!(text.contains("ca.pem") && text.contains("revocation list"), "{text}");
}

/// A certificate is renewed under the same name: the next connection uses it.
#[tokio::test(flavor = "multi_thread")]
async fn a_renewed_certificate_is_used_without_a_restart() {
    let name = "a_renewed_certificate_is_used";
    let Some(authority) = Certified::found(name) else { return };
    let Some(broker) = authority.broker(name, "broker", None) else { return };
    let mut settings = authority.settings(broker.port(), "used-ca.pem", Some("gateway"));
    settings.reconnect.1 = Duration::from_millis(200);
    std::fs::copy(authority.path("other-ca.pem"), authority.path("used-ca.pem")).expect("copies");
    let folder = tempfile::tempdir().expect("folder");
    let mut stage = Stage::open(folder.path()).await;
    let mut running = stage.publish(settings);
    stage.commit(5).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(stage.spool.tally().await.expect("reads").waiting, 5);
    std::fs::copy(authority.path("ca.pem"), authority.path("used-ca.pem")).expect("copies");
    running.connected().await;
    running.close().await;
    assert_eq!(stage.spool.tally().await.expect("reads").waiting, 0);
}

/// With the right to publish revoked, MQTT 5 declines events; they are held and sent when the right
/// is back.
#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_right_to_publish_holds_the_events_until_it_is_back() {
    let name = "a_revoked_right_to_publish";
    let folder = tempfile::tempdir().expect("folder");
    let acl = folder.path().join("acl");
    std::fs::write(&acl, "topic readwrite pdm/v1/ulsan-1/gateway/#\n").expect("writes");
    let lines = format!("allow_anonymous true\nacl_file {}\n", acl.display());
    let Some(mut broker) = Mosquitto::start_with(name, Persistence::Memory, &lines) else { return };
    let mut stage = Stage::open(folder.path()).await;
    // Mosquitto 2.0.11 drops the connection instead of declining: the waits in between must grow
    let reconnect = BrokerSettings::default().reconnect;
    let mut running = stage.publish(BrokerSettings { reconnect, ..local(broker.port()) });
    running.connected().await;
    stage.commit(5).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let (waiting, published) =
        (stage.spool.tally().await.expect("reads").waiting, running.progress.borrow().published);
    assert_eq!(waiting, 5, "nothing is lost");
    assert!(published <= 20, "{published} attempts: a storm\n{}", broker.log());
    std::fs::write(&acl, "topic readwrite #\n").expect("writes");
    broker.kill();
    broker.restart();
    let taken = running.progress.wait_for(|progress| progress.acknowledged == 5);
    tokio::time::timeout(Duration::from_secs(20), taken).await.expect("in time").expect("runs");
    running.close().await;
}
