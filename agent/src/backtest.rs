//! Plays past events under a configuration, on a virtual clock, and reports what the service would
//! have told.
//!
//! The flow: events of one machine → [`MachinePlay`] (the expert, then for each configuration the
//! episodes, routes and telling of [`crate::preview`]) → [`MachinePlayed`], one line of a part
//! ([`parts`]) → [`Summary`] (figures, the episodes that differ) → [`report`].
//!
//! A machine is the smallest piece that can be played by itself: alarms of one cause are told
//! together within a machine, and no rule looks further. So machines are played side by side, in
//! slices and on several computers, with the same result. What crosses machines (messages that
//! leave together, messages a person) is counted afterwards.
//!
//! Invariants: nothing is sent, no network and no model is asked; this module holds no rules of its
//! own, the same code judges and tells as in service; the result depends on the events and the
//! configurations alone, not on the number of threads or slices; what cannot be known is `null` and
//! "cannot say", never 0.

mod compare;
mod course;
mod figures;
mod machine;
mod names;
pub(crate) mod parts;
mod played;
mod plot;
pub(crate) mod report;
pub(crate) mod summary;
pub(crate) mod truth;
pub(crate) mod tune;

#[cfg(test)]
mod tests;

use pdm_expert::rules::Rules;
use sha2::{Digest as _, Sha256};

use crate::settings::{AgentSettings, NotifySettings};

pub(crate) use machine::{MachinePlay, Reported};
pub(crate) use names::MachineKey;
pub(crate) use played::MachinePlayed;
pub(crate) use summary::Summary;

/// A configuration that is played.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Side {
    /// The name in the report: the file's, or `shipped`.
    pub(crate) name: String,
    /// The thresholds of the expert.
    pub(crate) rules: Rules,
    /// Levels, times, channels, people and routes.
    pub(crate) notify: NotifySettings,
}

impl Side {
    /// The configuration of a file.
    pub(crate) fn of(name: String, settings: &AgentSettings) -> Self {
        Self { name, rules: settings.rules.clone(), notify: settings.notify.clone() }
    }

    /// The shipped thresholds, levels and times, with the channels, people and routes of `with`:
    /// who is told is the plant's own, and messages a person could not be compared without.
    pub(crate) fn shipped(with: Option<&Self>) -> Self {
        let notify = with.map_or_else(NotifySettings::default, |with| {
            let own = with.notify.clone();
            NotifySettings {
                mqtt: own.mqtt,
                email: own.email,
                webhook: own.webhook,
                zone: own.zone,
                quiet: own.quiet,
                recipient: own.recipient,
                group: own.group,
                rota: own.rota,
                route: own.route,
                page_url: own.page_url,
                ..NotifySettings::default()
            }
        });
        Self { name: "shipped".to_owned(), rules: Rules::default(), notify }
    }

    /// Returns a digest of all settings that decide what is told: parts of different ones are not
    /// put together.
    pub(crate) fn digest(&self) -> String {
        let digest = Sha256::digest(format!("{:?}", (&self.rules, &self.notify)));
        let number =
            digest.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        format!("{number:016x}")
    }
}

/// The settings of a back-test.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Terms {
    /// One or two configurations.
    pub(crate) sides: Vec<Side>,
    /// Seconds after which somebody is assumed to acknowledge what he was told; nobody without it.
    pub(crate) acknowledged_after_s: Option<f64>,
}
