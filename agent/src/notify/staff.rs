//! `notify_maintenance_staff`: the message of a tool's call leaves through the outbox, as every
//! notification does.
//!
//! Invariants: an accepted message is written; the same call again writes nothing; a message about
//! a machine that was never measured is refused, so that staff is not sent to a machine that does
//! not exist.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use pdm_reasoner::links::without_links;
use pdm_service::clock::SharedClock;
use pdm_shared::id::{BearingKey, EquipmentId};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use pdm_store::{MessageStore, Outgoing, StoreError};
use pdm_tools::exec::Failure;
use pdm_tools::exec::builtin::{Accepted, Notifier, StaffMessage};

use super::escape::one_line;
use super::policy::Policy;
use crate::progress::Reporter;

/// Longest message of a tool, characters: a page of text.
const MOST: usize = 2000;
/// Messages of all callers in an hour: a sixth of what a channel tells in an hour by default, so
/// that no program uses up what alarms need.
const PER_HOUR: u32 = 20;

/// Writes messages to staff into the outbox.
#[derive(Debug)]
pub(crate) struct OutboxNotifier {
    pub(crate) store: MessageStore,
    pub(crate) clock: SharedClock,
    pub(crate) policy: Policy,
    pub(crate) reporter: Reporter,
    pub(crate) told: Hourly,
}

/// How many messages have left by the tool in this hour.
#[derive(Debug, Default)]
pub(crate) struct Hourly(Mutex<(i64, u32)>);

impl Hourly {
    /// Counts one; false if the hour's messages are used up.
    fn take(&self, now: Timestamp) -> bool {
        let hour = now.unix_ms().div_euclid(3_600_000);
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if told.0 != hour {
            *told = (hour, 0);
        }
        if told.1 >= PER_HOUR {
            return false;
        }
        told.1 += 1;
        true
    }
}

/// The words around a caller's, which say that a program has sent them and that nobody has checked
/// them. Links are taken out: a program has none to send, and a stranger's would look like the
/// plant's.
fn words(message: &str) -> Text {
    let text = |mark: &str| without_links(message, mark);
    Text::new(
        format!("프로그램이 보낸 메시지, 사람이 확인하지 않음: {}", text("[링크 삭제]")),
        format!("Sent by a program, not checked by a person: {}", text("[link removed]")),
    )
}

impl OutboxNotifier {
    /// The worst bearing of the machine: a message names a machine, a notification a bearing.
    async fn bearing(&self, named: &str) -> Result<BearingKey, Failure> {
        let (site, name) = match named.split_once('/') {
            Some((site, name)) => (Some(site), name),
            None => (None, named),
        };
        let equipment = EquipmentId::new(name)
            .map_err(|error| Failure::Permanent(format!("equipment_id: {error}")))?;
        let mut bearings = self.store.bearings_of(&equipment).await.map_err(away)?;
        bearings.retain(|(key, _)| site.is_none_or(|site| key.site.as_str() == site));
        let sites: std::collections::BTreeSet<&str> =
            bearings.iter().map(|(key, _)| key.site.as_str()).collect();
        if sites.len() > 1 {
            let sites: Vec<String> = sites.iter().map(|site| format!("{site}/{name}")).collect();
            let told =
                format!("equipment_id: {name} stands on several sites: {}", sites.join(", "));
            return Err(Failure::Permanent(told));
        }
        let worst = bearings.into_iter().reduce(|a, b| if b.1 > a.1 { b } else { a });
        let unknown = || format!("equipment_id: no machine {named} has ever been measured");
        Ok(worst.ok_or_else(|| Failure::Permanent(unknown()))?.0)
    }
}

fn away(error: StoreError) -> Failure {
    match error {
        StoreError::Content { .. } => Failure::Permanent(error.to_string()),
        StoreError::Unavailable(_)
        | StoreError::Open { .. }
        | StoreError::Missing { .. }
        | StoreError::Moved { .. }
        | StoreError::LogMoved { .. }
        | StoreError::Swallowed { .. }
        | StoreError::Way(_)
        | StoreError::Migrate(_)
        | StoreError::Unfit { .. }
        | StoreError::Newer { .. } => Failure::Transient(error.to_string()),
    }
}

fn channels(rows: &[Outgoing]) -> Vec<String> {
    rows.iter()
        .map(|row| row.lane.strip_prefix("webhook:").unwrap_or(&row.lane).to_owned())
        .collect()
}

#[async_trait]
impl Notifier for OutboxNotifier {
    async fn notify(&self, message: StaffMessage) -> Result<Accepted, Failure> {
        let key = self.bearing(&message.equipment_id).await?;
        let now = self.clock.now();
        if !self.told.take(now) {
            let why = format!("message: at most {PER_HOUR} messages an hour leave by this tool");
            return Err(Failure::Permanent(why));
        }
        let words = words(&one_line(&message.message, MOST));
        let (call, risk): (&str, RiskLevel) = (&message.idempotency_key, message.risk_level);
        let (notification, rows) = self.policy.message(call, &key, risk, words, now);
        let notification_id = notification.notification_id.to_string();
        let channels = channels(&rows);
        if !rows.is_empty() && self.store.tell(&notification, &rows).await.map_err(away)? {
            self.reporter.update(|progress| {
                progress.notified += 1;
                progress.unsent += rows.len() as u64;
            });
            self.reporter.notified(notification);
        }
        Ok(Accepted { notification_id, channels })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stranger's link would come to staff as the plant's own message.
    #[test]
    fn a_programs_message_says_so_and_carries_no_link() {
        let told =
            words("Sign in at http://evil.example/a or evil.example/login, P-101/DE at 3.5/4 mm/s");
        assert!(told.en.starts_with("Sent by a program, not checked by a person: "), "{}", told.en);
        assert!(!told.en.contains("evil"), "{}", told.en);
        assert!(told.en.ends_with("P-101/DE at 3.5/4 mm/s"), "{}", told.en);
        assert!(told.ko.contains("[링크 삭제]"), "{}", told.ko);
    }

    #[test]
    fn an_hour_has_so_many_messages_of_programs() {
        let (told, now) = (Hourly::default(), Timestamp::from_unix_ms(0).expect("epoch"));
        assert_eq!((0..100).filter(|_| told.take(now)).count(), PER_HOUR as usize);
        assert!(told.take(now.plus_seconds(3600.0)), "the next hour");
    }
}
