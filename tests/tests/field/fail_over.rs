//! Fail-overs to a second server that `docs/operations.md` promises: brokers by `addresses`. A
//! standby of PostgreSQL is `blind::a_standby_is_named_and_its_promotion_goes_on`. R-AGENT-10.

use pdm_harness::{Mosquitto, Persistence};
use pdm_service::broker::BrokerAddress;

use crate::open_plant::{Client, until};
use crate::suppression::Field;

/// Issue 33: the first broker stops while the agent runs; what comes to the second one is told.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_whose_broker_stops_goes_on_at_its_second_one() {
    let test = "an_agent_whose_broker_stops_goes_on_at_its_second_one";
    let Some(second) = Mosquitto::start(test, Persistence::Memory) else { return };
    let Some(mut field) = Field::new(test).await else { return };
    let address = BrokerAddress { host: "127.0.0.1".to_owned(), port: second.port() };
    field.settings.broker.addresses.push(address);
    let agent = field.start().await;
    field.warning("gw-01", "P-101", "DE").await;
    field.until_told("[Warning] P-101 DE").await;
    field.stop_broker();
    let progress = agent.progress();
    until("the first one is away", 60, || (!progress.borrow().subscribed).then_some(())).await;
    until("the second one", 60, || progress.borrow().subscribed.then_some(())).await;
    field.client = Client::connect(second.port()).await;
    field.warning("gw-01", "P-102", "DE").await;
    field.until_told("[Warning] P-102 DE").await;
    agent.stop().await.expect("no part failed");
}
