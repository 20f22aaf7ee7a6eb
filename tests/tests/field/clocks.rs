//! Clocks that go wrong and are set right: that of a gateway by an hour, and that of the agent's
//! host beside the gateways'. R-AGENT-10.

use pdm_shared::event::Event;

use crate::open_plant::{begin, until};
use crate::suppression::Field;

const HEALTHY: &str = include_str!("../../../config/examples/event-healthy.json");

/// A window of a bearing that is well, measured `after_s` after the begin.
fn healthy(field: &Field, after_s: f64) -> Event {
    let of = field.event("gw-01", "P-101", "DE");
    let text: Event = serde_json::from_str(HEALTHY).expect("the example");
    Event {
        gateway_id: of.gateway_id,
        equipment_id: of.equipment_id,
        bearing_id: of.bearing_id,
        site: of.site,
        sequence: of.sequence,
        event_id: of.event_id,
        epoch: of.epoch,
        measured_at: begin().plus_seconds(after_s),
        ..text
    }
}

/// Sends windows of a bearing whose life ends within a day, a minute apart.
async fn critical(field: &Field, after_s: f64) {
    for number in 0..3 {
        let mut event = field.event("gw-01", "P-101", "DE");
        event.rul.hours = Some(20.0);
        event.rul.ci_low_hours = Some(5.0);
        event.rul.ci_high_hours = Some(30.0);
        event.trend.acceleration_detected = true;
        event.measured_at = begin().plus_seconds(after_s + 60.0 * f64::from(number));
        field.client.send(&event).await;
    }
}

/// A gateway whose clock was an hour ahead and is right again sends windows that are older than its
/// last for an hour. A Critical that was told, was over and is there again was told to nobody.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_critical_is_told_again_while_a_gateways_clock_that_was_ahead_is_right_again() {
    let test = "a_critical_is_told_again_while_a_gateways_clock_that_was_ahead_is_right_again";
    let Some(mut field) = Field::new(test).await else { return };
    (field.settings.notify.hold_h, field.settings.notify.over_h) = (0.01, 0.01);
    field.settings.rules.risk.downgrade_after = 3;
    let agent = field.start().await;
    critical(&field, 0.0).await;
    field.until_told("[Critical] P-101 DE").await;
    // ahead by less than the hour from which on nothing is remembered (`intake.ahead_s`)
    for number in 0..20 {
        field.client.send(&healthy(&field, 1800.0 + 60.0 * f64::from(number))).await;
    }
    field.until_told("[Cleared] P-101 DE").await;
    critical(&field, 300.0).await;
    until("the second message", 60, || (field.count("[Critical] P-101 DE") >= 2).then_some(()))
        .await;
    assert_eq!(field.count("[Critical] P-101 DE"), 2, "{:?}", field.told());
    // what a spool brings of that time is old news
    let mut old = field.event("gw-01", "P-101", "DE");
    (old.replayed, old.delayed_s) = (true, 600.0);
    old.measured_at = begin().plus_seconds(600.0);
    field.client.send(&old).await;
    // the clock has caught up, and the alarm ends as every other one
    for number in 0..20 {
        field.client.send(&healthy(&field, 3000.0 + 30.0 * f64::from(number))).await;
    }
    until("its end", 60, || (field.count("[Cleared] P-101 DE") >= 2).then_some(())).await;
    assert_eq!(field.count("[Silent]"), 0, "{:?}", field.told());
    agent.stop().await.expect("no part failed");
}

/// A clock that is behind by an hour and right again: what it brings is late, and told.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_critical_is_told_while_a_gateways_clock_is_an_hour_behind() {
    let test = "a_critical_is_told_while_a_gateways_clock_is_an_hour_behind";
    let Some(field) = Field::new(test).await else { return };
    let agent = field.start().await;
    field.client.send(&healthy(&field, 0.0)).await;
    critical(&field, -3590.0).await;
    field.until_told("[Critical] P-101 DE").await;
    critical(&field, 1.0).await;
    let progress = agent.progress();
    until("all judged", 60, || (progress.borrow().judged >= 7).then_some(())).await;
    assert_eq!(field.count("[Critical] P-101 DE"), 1, "once: {:?}", field.told());
    assert_eq!(field.count("[Silent]"), 0, "{:?}", field.told());
    agent.stop().await.expect("no part failed");
}

/// The agent's host is ten minutes behind its gateways: alarms rise and end, no gateway is silent,
/// and one that falls silent is told in its time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_whose_clock_is_ten_minutes_behind_tells_rise_end_and_silence() {
    let test = "an_agent_whose_clock_is_ten_minutes_behind_tells_rise_end_and_silence";
    let Some(mut field) = Field::new(test).await else { return };
    (field.settings.notify.hold_h, field.settings.notify.over_h) = (0.001, 0.001);
    field.settings.rules.risk.downgrade_after = 3;
    field.settings.silence.silent_after_s = 8.0;
    let agent = field.start().await;
    critical(&field, 600.0).await;
    field.until_told("[Critical] P-101 DE").await;
    for number in 0..20 {
        field.client.send(&healthy(&field, 800.0 + 10.0 * f64::from(number))).await;
    }
    field.until_told("[Cleared] P-101 DE").await;
    assert_eq!(field.count("[Silent]"), 0, "{:?}", field.told());
    assert_eq!(field.count("[Clock]"), 0, "within `intake.ahead_s`: {:?}", field.told());
    field.until_told("[Silent] gateway gw-01").await;
    agent.stop().await.expect("no part failed");
}
