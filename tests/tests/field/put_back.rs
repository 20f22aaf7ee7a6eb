//! A database server that is put back to an earlier state takes it as it takes any other rows:
//! staff is told that alarms which stood are not known. Issue 33, point 9.

use pdm_harness::{Postgres, until};
use sqlx::{Connection as _, PgConnection};

use crate::watched::{PATIENCE, Watched};

const LOST: &str = "[Agent] the store has lost its latest rows";

/// R-AGENT-10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_put_back_or_emptied_is_told_while_the_agent_runs_and_at_its_start() {
    let test =
        "a_database_that_is_put_back_or_emptied_is_told_while_the_agent_runs_and_at_its_start";
    let Some(server) = Postgres::start(test) else { return };
    let store = format!("[store.postgres]\nurl = {:?}", server.url());
    let Some(mut plant) = Watched::new(test, &store, "") else { return };
    plant.start();
    plant.works();
    plant.fault("P-501");
    plant.hears("P-501");
    let marker = plant.path().join("store-pdm-agent.last");
    until("the marker", PATIENCE, || marker.exists().then_some(()));
    assert_eq!(plant.count(LOST), 0, "nothing is missing");

    // what a backup of an hour ago holds of the agent's own rows
    let mut database = PgConnection::connect(&server.url()).await.expect("connects");
    let put_back = "UPDATE heartbeats SET at_ms = at_ms - 3600000";
    sqlx::raw_sql(put_back).execute(&mut database).await.expect("put back");
    plant.hears(LOST);
    plant.hears("a replica that was behind has taken over");
    until("health", PATIENCE, || {
        plant.status("/healthz")?.1.contains("degraded: the store").then_some(())
    });

    plant.agent().terminate();
    plant.stop();
    let emptied = "DROP SCHEMA public CASCADE; CREATE SCHEMA public";
    sqlx::raw_sql(emptied).execute(&mut database).await.expect("emptied");
    plant.start();
    plant.hears_times(LOST, 2);
    until("health", PATIENCE, || plant.status("/healthz")?.1.contains("is empty").then_some(()));
    plant.works();
    plant.fault("P-502");
    plant.hears("P-502");
}
