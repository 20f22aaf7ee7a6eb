//! Brokers that refuse: the reason is logged, attempts are few, and no event is lost.

use std::time::Duration;

use pdm_edge::publish::{Down, probe};
use pdm_edge::settings::{BrokerSettings, Login};
use pdm_harness::{Mosquitto, Persistence, free_port};
use pdm_service::secret::SecretSource;

use crate::stage::{Stage, local};

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_password_is_a_refusal_and_no_storm() {
    let Some(broker) =
        Mosquitto::start_with("a_wrong_password", Persistence::Memory, "allow_anonymous false\n")
    else {
        return;
    };
    let folder = tempfile::tempdir().expect("folder");
    let password = folder.path().join("password");
    std::fs::write(&password, "wrong\n").expect("writes");
    let login = Some(Login { user: "gw".to_owned(), password: SecretSource::File(password) });
    let settings = BrokerSettings {
        login,
        reconnect: (Duration::from_millis(20), Duration::from_secs(30)),
        ..local(broker.port())
    };

    let refused = probe(&settings, &settings.addresses[0], "gw-01").await;
    assert!(matches!(&refused, Err(Down::Refused(_))), "{refused:?}");

    let mut stage = Stage::open(folder.path()).await;
    let running = stage.publish(settings);
    stage.commit(3).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let attempts = broker.log().matches("not authorised").count();
    assert!(attempts <= 3, "{attempts} attempts\n{}", broker.log());
    assert_eq!(stage.spool.tally().await.expect("reads").waiting, 3, "nothing is lost");
    running.crash().await;
}

#[tokio::test]
async fn a_broker_that_is_not_there_is_lost_not_refused() {
    let settings = local(free_port());
    let down = probe(&settings, &settings.addresses[0], "gw-01").await;
    assert!(matches!(&down, Err(Down::Lost(text)) if text.contains("refused")), "{down:?}");
}
