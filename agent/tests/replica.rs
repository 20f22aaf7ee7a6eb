//! `PDM_CLIENT_ID`: one name of a replica, at the broker and in the store that replicas share.

mod support;

use std::process::{Command, Stdio};

use pdm_harness::{Child, Mosquitto, Persistence, Postgres};
use sqlx::{Connection as _, PgConnection};

use support::until;

/// It named the session at the broker alone. In the store all replicas had one name, so each that
/// started took what another was about to send for its own, and sent it too.
#[tokio::test(flavor = "multi_thread")]
async fn the_name_from_the_environment_is_the_replicas_at_the_broker_and_in_the_store() {
    let test = "the_name_from_the_environment_is_the_replicas_at_the_broker_and_in_the_store";
    let Some(broker) = Mosquitto::start(test, Persistence::Memory) else { return };
    let Some(database) = Postgres::start(test) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let config = folder.path().join("agent.toml");
    let text = format!(
        "[store.postgres]\nurl = \"{}\"\n[broker]\naddresses = [\"127.0.0.1:{}\"]\n\
         shared_group = \"pdm\"\n[knowledge]\nstore = {{ sqlite = \"knowledge.db\" }}\n",
        database.url(),
        broker.port()
    );
    std::fs::write(&config, text).expect("writes");
    let mut command = Command::new(env!("CARGO_BIN_EXE_pdm-agent"));
    command.args(["run", "--config"]).arg(&config).env("PDM_CLIENT_ID", "replica-7");
    let mut agent = Child::start(command.stdout(Stdio::null()).stderr(Stdio::null()));
    until("its sessions at the broker", 30, || {
        let log = broker.log();
        log.contains("as replica-7 ") && log.contains("as replica-7-out ")
    })
    .await;
    let mut connection = PgConnection::connect(&database.url()).await.expect("connects");
    let names: Vec<String> = sqlx::query_scalar(
        "SELECT DISTINCT application_name FROM pg_stat_activity
         WHERE application_name LIKE 'pdm-agent%'",
    )
    .fetch_all(&mut connection)
    .await
    .expect("answers");
    assert_eq!(names, ["pdm-agent replica-7"]);
    assert!(agent.terminate().success());
}
