//! `notify_maintenance_staff`: the message of a tool's call leaves through the outbox, as every
//! notification does.
//!
//! Invariants: an accepted message is written; the same call again writes nothing; a message about a
//! machine that was never measured is refused, so that staff is not sent to a machine that does not
//! exist.

use std::sync::Arc;

use async_trait::async_trait;
use pdm_service::clock::SharedClock;
use pdm_shared::id::{BearingKey, EquipmentId};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_tools::exec::Failure;
use pdm_tools::exec::builtin::{Accepted, Notifier, StaffMessage};

use super::escape::one_line;
use super::policy::Policy;
use crate::progress::Reporter;
use crate::store::{MessageStore, Outgoing, StoreError};

/// Longest message of a tool, characters: a page of text.
const MOST: usize = 2000;

/// Writes messages to staff into the outbox.
#[derive(Debug)]
pub(crate) struct OutboxNotifier {
    pub(crate) store: Arc<dyn MessageStore>,
    pub(crate) clock: SharedClock,
    pub(crate) policy: Policy,
    pub(crate) reporter: Reporter,
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
        let told = one_line(&message.message, MOST);
        let words = Text::new(told.as_str(), told.as_str());
        let (call, risk): (&str, RiskLevel) = (&message.idempotency_key, message.risk_level);
        let (notification, rows) = self.policy.message(call, &key, risk, words, self.clock.now());
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
