//! Executor `builtin`: functions of the program, by name. One function is defined here:
//! `notify_maintenance_staff`.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use pdm_shared::risk::RiskLevel;
use serde_json::{Value, json};

use super::{Failure, Invocation};
use crate::pack::PackData;

/// A function that tools can name.
#[async_trait]
pub trait Builtin: Send + Sync {
    /// One attempt.
    ///
    /// # Errors
    /// [`Failure`], which says whether another attempt makes sense.
    async fn call(&self, invocation: Invocation<'_>) -> Result<Value, Failure>;

    /// Whether the function only reads, whatever its arguments are: then a model may call it.
    fn only_reads(&self) -> bool {
        false
    }

    /// One attempt of a function that also reads the data of the packs that are turned on.
    ///
    /// # Errors
    /// As [`Builtin::call`].
    async fn call_with(
        &self,
        _packs: &[Arc<PackData>],
        invocation: Invocation<'_>,
    ) -> Result<Value, Failure> {
        self.call(invocation).await
    }
}

/// The functions that tools can name.
#[derive(Clone, Default)]
pub struct Builtins(BTreeMap<String, Arc<dyn Builtin>>);

impl std::fmt::Debug for Builtins {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Builtins {
    /// Adds `function` under `name`.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, function: impl Builtin + 'static) -> Self {
        self.0.insert(name.into(), Arc::new(function));
        self
    }

    /// The names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Whether there is such a function, and it only reads.
    pub fn only_reads(&self, function: &str) -> bool {
        self.0.get(function).is_some_and(|builtin| builtin.only_reads())
    }

    pub(crate) async fn run(
        &self,
        function: &str,
        packs: &[Arc<PackData>],
        invocation: Invocation<'_>,
    ) -> Result<Value, Failure> {
        let Some(builtin) = self.0.get(function) else {
            let names = self.0.keys().cloned().collect::<Vec<_>>().join(", ");
            let message = format!("this program has no function {function}; it has: {names}");
            return Err(Failure::Permanent(message));
        };
        builtin.call_with(packs, invocation).await
    }
}

/// A message to the maintenance staff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaffMessage {
    /// The key, the same for every attempt of one call.
    pub idempotency_key: String,
    /// The text.
    pub message: String,
    /// The risk level of the message.
    pub risk_level: RiskLevel,
    /// The machine.
    pub equipment_id: String,
}

/// A message that the notifier has accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// Identity of the notification.
    pub notification_id: String,
    /// Channels of the notification (`mqtt`, `email`, names of web hooks); empty if the risk is
    /// below the level that staff is told.
    pub channels: Vec<String>,
}

/// Passes messages to staff through a durable outbox: an accepted message is not yet delivered.
#[async_trait]
pub trait Notifier: Send + Sync {
    /// Accepts a message; a repeated `idempotency_key` changes nothing.
    ///
    /// # Errors
    /// [`Failure`] if the message could not be stored.
    async fn notify(&self, message: StaffMessage) -> Result<Accepted, Failure>;
}

/// The function `notify_maintenance_staff`.
pub struct NotifyStaff(Arc<dyn Notifier>);

impl std::fmt::Debug for NotifyStaff {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("NotifyStaff")
    }
}

impl NotifyStaff {
    /// The function on `notifier`, which passes the messages on.
    pub fn new(notifier: Arc<dyn Notifier>) -> Self {
        Self(notifier)
    }
}

#[async_trait]
impl Builtin for NotifyStaff {
    async fn call(&self, invocation: Invocation<'_>) -> Result<Value, Failure> {
        let text = |name: &str| {
            let given = invocation.text(name).map(str::trim).filter(|text| !text.is_empty());
            given.ok_or_else(|| Failure::Permanent(format!("{name}: is required, a text")))
        };
        let level = text("risk_level")?;
        let risk_level: RiskLevel = serde_json::from_value(level.into())
            .map_err(|error| Failure::Permanent(format!("risk_level: {error}")))?;
        let message = StaffMessage {
            idempotency_key: invocation.call_id.to_owned(),
            message: text("message")?.to_owned(),
            risk_level,
            equipment_id: text("equipment_id")?.to_owned(),
        };
        let accepted = self.0.notify(message).await?;
        let status = if accepted.channels.is_empty() { "not_sent" } else { "accepted" };
        Ok(json!({
            "status": status,
            "notification_id": accepted.notification_id,
            "channels": accepted.channels,
        }))
    }
}
