//! `notify_maintenance_staff` as the workflow itself calls it: the tool is called with the
//! notification that the judgement raises, and its effect is the rows of the outbox that are
//! written in the same transaction as the judgement.
//!
//! A call before that transaction would send the message again after a crash between the two; so
//! the tool's own schemas check the call, and the function behind it answers for rows that are
//! prepared and not yet written. Invariant: a call that is recorded in a judgement has its rows in
//! the outbox, as both are written together or not at all.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use pdm_shared::delivery::NotificationReason;
use pdm_shared::diagnosis::ToolUse;
use pdm_store::Announcement;
use pdm_tools::exec::Failure;
use pdm_tools::exec::builtin::{Accepted, Builtins, Notifier, NotifyStaff, StaffMessage};
use pdm_tools::runtime::{Call, ExecutorResources};
use pdm_tools::{Catalogue, Runtime};
use serde_json::json;

/// The tool by which staff is told, by its name in the requirements.
const NOTIFY: &str = "notify_maintenance_staff";

/// Calls the tool for notifications of judgements.
#[derive(Debug)]
pub(crate) struct StaffTool {
    runtime: Runtime,
    prepared: Arc<Prepared>,
}

/// Notifications whose rows are prepared, by the id of their call.
#[derive(Debug, Default)]
struct Prepared(Mutex<BTreeMap<String, Accepted>>);

impl StaffTool {
    /// The tool of this catalogue.
    pub(crate) fn new(catalogue: Arc<Catalogue>) -> Self {
        let prepared = Arc::new(Prepared::default());
        let notify = NotifyStaff::new(Arc::clone(&prepared) as Arc<dyn Notifier>);
        let builtins = Builtins::default().with(NOTIFY, notify);
        let runtime =
            Runtime::new(catalogue, ExecutorResources { builtins, ..ExecutorResources::default() });
        Self { runtime, prepared }
    }

    /// Calls the tool for an announcement that raises an alarm; its use, for the judgement.
    pub(crate) async fn call(&self, announcement: &Announcement) -> Option<ToolUse> {
        let notification = &announcement.notification;
        if notification.reason != NotificationReason::Raised {
            return None;
        }
        let id = notification.notification_id.to_string();
        let lanes = announcement.outgoing.iter().map(|row| row.lane.clone());
        let accepted = Accepted { notification_id: id.clone(), channels: lanes.collect() };
        self.prepared.put(&id, accepted);
        let arguments = json!({
            "message": notification.title.ko,
            "risk_level": notification.risk_level,
            "equipment_id": notification.equipment_id,
        });
        let call = Call { id: id.clone(), tool: NOTIFY.to_owned(), arguments: arguments.clone() };
        let outcome = self.runtime.call(&call).await;
        self.prepared.take(&id);
        let failure = outcome.err().map(|error| error.to_string());
        let result_ids = if failure.is_none() { vec![id] } else { Vec::new() };
        Some(ToolUse { name: NOTIFY.to_owned(), arguments, result_ids, round: 0, failure })
    }
}

impl Prepared {
    fn put(&self, id: &str, accepted: Accepted) {
        let mut prepared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        prepared.insert(id.to_owned(), accepted);
    }

    fn take(&self, id: &str) -> Option<Accepted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(id)
    }
}

#[async_trait]
impl Notifier for Prepared {
    async fn notify(&self, message: StaffMessage) -> Result<Accepted, Failure> {
        let unknown = || Failure::Permanent("no notification was prepared for this call".into());
        self.take(&message.idempotency_key).ok_or_else(unknown)
    }
}
