//! Tests the command that takes out the parts of the plant that are gone or have another name, and
//! the command that says why nobody was told.

use std::process::Command;

use pdm_harness::binary;
use pdm_web::accounts::AccountStore as _;

use crate::open_plant::until;
use crate::suppression::Field;

/// Runs the agent's program on the store of a field; exit code and what it prints.
fn run(field: &Field, arguments: &[&str]) -> (Option<i32>, String) {
    let config = field.folder.path().join("agent.toml");
    let hook = field.settings.notify.webhook[0].url.as_deref().expect("an address");
    let text = format!(
        "[store]\nsqlite = \"agent.db\"\n[broker]\naddresses = [\"127.0.0.1:{}\"]\n\
         [[notify.webhook]]\nname = \"ops\"\nurl = \"{hook}\"\n",
        field.port
    );
    std::fs::write(&config, text).expect("agent.toml");
    let mut command = Command::new(binary("pdm-agent"));
    let output = command.args(arguments).arg("--config").arg(&config).output().expect("runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), format!("{}{}", text(&output.stdout), text(&output.stderr)))
}

const WHO: [&str; 4] = ["--by", "kim", "--reason", "tag corrected"];

/// Issue 33, point 7.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_gone_is_taken_out_with_its_alarm_its_work_and_its_retained_topics() {
    let test = "what_is_gone_is_taken_out_with_its_alarm_its_work_and_its_retained_topics";
    let Some(field) = Field::new(test).await else { return };
    let agent = field.start().await;
    field.warning("gw-01", "P-101", "DE").await;
    field.until_told("[Warning] P-101 DE").await;
    until("the episode's topic", 60, || field.client.heard("/episode").last().cloned()).await;

    let (code, said) = run(&field, &[&["forget", "ulsan-1/P-101", "--dry-run"], &WHO[..]].concat());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("ulsan-1/P-101/DE would be taken out"), "{said}");
    let (_, listed) = run(&field, &["episodes", "list"]);
    assert!(listed.contains("ulsan-1/P-101/DE"), "a dry run changes nothing: {listed}");

    let (code, said) = run(&field, &[&["forget", "ulsan-1/P-101"], &WHO[..]].concat());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("1 alarm closed, of which staff is told"), "{said}");
    let told = field.until_told("[Taken out] P-101 DE: its alarm (Warning) ends with it").await;
    assert!(told.contains("kim"), "{told}");
    assert_eq!(field.count("[Taken out]"), 1, "the dry run tells nobody");
    let (_, listed) = run(&field, &["episodes", "list"]);
    assert!(!listed.contains("P-101"), "{listed}");
    let is_cleared = || field.client.heard("P-101/DE/episode").iter().any(String::is_empty);
    until("the retained topic is cleared", 60, || is_cleared().then_some(())).await;
    let (code, said) = run(&field, &[&["forget", "ulsan-1/P-101"], &WHO[..]].concat());
    assert_eq!(code, Some(66), "{said}");
    let store = pdm_store::open(&field.settings.store).await.expect("opens");
    let acts = store.accounts().acts(None, 9).await.expect("read");
    assert_eq!((acts.len(), acts[0].who.as_str()), (1, "kim"), "{acts:?}");
    assert!(acts[0].what.contains("ulsan-1/P-101"), "{acts:?}");
    agent.stop().await.expect("no part failed");
}

/// Issue 33, point 7: the history goes on under the new name, and the standing alarm is told anew.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_renamed_machine_keeps_its_history_and_is_told_under_its_new_name() {
    let test = "a_renamed_machine_keeps_its_history_and_is_told_under_its_new_name";
    let Some(field) = Field::new(test).await else { return };
    let agent = field.start().await;
    field.warning("gw-01", "P-101", "DE").await;
    field.until_told("[Warning] P-101 DE").await;
    let rename = ["rename", "ulsan-1/P-101", "ulsan-1/P-201", "--with-history"];
    let (code, said) = run(&field, &[&rename[..], &WHO[..]].concat());
    assert_eq!(code, Some(0), "{said}");
    field.until_told("[Renamed] P-101 DE is P-201 DE: the alarm (Warning)").await;
    let (_, why) = run(&field, &["why", "ulsan-1/P-201/DE"]);
    assert!(why.contains("none under this name: the bearing was renamed at Warning"), "{why}");
    let store = pdm_store::open(&field.settings.store).await.expect("opens");
    let fleet: Vec<String> =
        store.pages().fleet().await.expect("read").iter().map(|row| row.key.to_string()).collect();
    assert_eq!(fleet, ["ulsan-1/P-201/DE"]);
    field.warning("gw-01", "P-201", "DE").await;
    field.until_told("[Warning] P-201 DE").await;
    let (code, said) = run(&field, &[&["rename", "ulsan-1/P-101", "ulsan-1"], &WHO[..]].concat());
    assert_eq!(code, Some(64), "{said}");
    agent.stop().await.expect("no part failed");
}

/// Issue 33, points 1 and 7.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_that_was_replaced_has_no_alarm_and_does_not_come_back_by_what_the_broker_keeps()
{
    let test = "a_gateway_that_was_replaced_has_no_alarm_and_does_not_come_back";
    let Some(field) = Field::new(test).await else { return };
    let agent = field.start().await;
    field.status("gw-01", "online").await;
    field.warning("gw-01", "P-101", "DE").await;
    field.until_told("[Warning] P-101 DE").await;
    field.status("gw-01", "offline").await;
    field.until_told("[Silent] gateway gw-01").await;
    let replace = ["gateways", "replace", "ulsan-1/gw-01", "ulsan-1/gw-02"];
    let (code, said) = run(&field, &[&replace[..], &WHO[..]].concat());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("ulsan-1/P-101/DE belongs to ulsan-1/gw-02"), "{said}");
    field.status("gw-01", "offline").await;
    field.critical("gw-02", "P-101", "DE").await;
    field.until_told("[Critical] P-101 DE").await;
    let (_, listed) = run(&field, &["gateways", "list"]);
    assert!(!listed.contains("gw-01"), "{listed}");
    agent.stop().await.expect("no part failed");
}

/// Issue 33, point 11.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_says_why_staff_was_told_or_was_not() {
    let test = "a_command_says_why_staff_was_told_or_was_not";
    let Some(field) = Field::new(test).await else { return };
    let agent = field.start().await;
    let event = field.event("gw-01", "P-101", "DE");
    field.client.send(&event).await;
    field.until_told("[Warning] P-101 DE").await;
    let progress = agent.progress();
    until("the outbox is empty", 60, || (progress.borrow().unsent == 0).then_some(())).await;
    let (code, said) = run(&field, &["why", &event.event_id.to_string()]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("message          written, raised"), "{said}");
    assert!(said.contains("webhook:ops") && said.contains("delivered at"), "{said}");
    let again = field.event("gw-01", "P-101", "DE");
    field.client.send(&again).await;
    until("judged", 60, || (progress.borrow().judged >= 2).then_some(())).await;
    let (_, said) = run(&field, &["why", &again.event_id.to_string()]);
    assert!(said.contains("told             no"), "{said}");
    let (code, _) = run(&field, &["why", "ulsan-1/P-999/DE"]);
    assert_eq!(code, Some(66));
    agent.stop().await.expect("no part failed");
}
