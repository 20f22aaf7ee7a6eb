//! Compares a configuration that is read again while the agent runs with the present one: a file
//! that is cut off in the middle of its writing can still be a valid one.
//!
//! A reload is refused if it takes away the last way to staff, the broker, or the address that
//! health is asked at. Whoever means it restarts the program.

use super::{AgentSettings, BrokerSettings, NotifySettings};

impl NotifySettings {
    /// Whether any way leads to staff, the broker's topic among them.
    pub(crate) fn has_a_way(&self) -> bool {
        self.mqtt || self.has_an_address()
    }

    /// Whether a way leads to staff that has an address: mail, a web hook.
    fn has_an_address(&self) -> bool {
        let people = || self.recipient.iter().any(|one| one.email.is_some());
        !self.webhook.is_empty()
            || self.email.as_ref().is_some_and(|email| !email.to.is_empty() || people())
    }
}

impl AgentSettings {
    /// Returns what `renewed` lacks that no reload may take away, in words; `None` if it may be
    /// taken over.
    pub fn torn_off_in(&self, renewed: &Self) -> Option<String> {
        let (before, after) = (&self.notify, &renewed.notify);
        let lost = if before.has_a_way() && !after.has_a_way() {
            "every way to staff ([notify])"
        } else if before.has_an_address() && !after.has_an_address() {
            "every address of staff ([notify.email], [[notify.webhook]], [[notify.recipient]])"
        } else if is_named(&self.broker) && !is_named(&renewed.broker) {
            "the broker ([broker])"
        } else if self.http.listen.is_some() && renewed.http.listen.is_none() {
            "the address of pages and health ([http])"
        } else {
            return None;
        };
        Some(format!(
            "it lacks {lost}, which the agent has now: a file that was cut off while it was \
             written looks like this. Complete it and send SIGHUP again, or start the program anew \
             if this is meant"
        ))
    }
}

/// Whether the configuration names its broker.
fn is_named(broker: &BrokerSettings) -> bool {
    broker.addresses != BrokerSettings::default().addresses
}
