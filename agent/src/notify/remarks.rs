//! Tells staff of faults that the broker, the gateways' connections and the agent's own files show:
//! events that are larger than the broker takes, a client id that two use, a configuration that is
//! refused. Each is told once a day, through the outbox, so by every way that works; the topic of
//! the broker is only one of them.

use std::time::Duration;

use pdm_service::clock::SharedClock;
use pdm_shared::delivery::{GatewayStatus, GatewayTooLarge};
use pdm_shared::id::{BearingKey, GatewayId, GatewayKey, SiteId};
use pdm_shared::risk::RiskLevel;
use pdm_store::gateway_alarm::{refusals_alarm, silence_alarm};
use pdm_store::{MessageStore, MissingRows, StoreError};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::policy::Policy;
use super::{log, wording};
use crate::mqtt::{BrokerTrouble, ThrownOut};
use crate::progress::Reporter;

/// Remarks that wait; what does not fit is remarked again at the next status or loss.
const WAITING: usize = 64;
/// The time between tries while the store does not answer.
const RETRY: Duration = Duration::from_secs(2);

/// Something that staff should know.
#[derive(Debug, Clone)]
pub(crate) enum Remark {
    /// Events of a gateway are larger than its broker takes.
    TooLarge(SiteId, GatewayId, GatewayTooLarge),
    /// The broker ends a gateway's connection again and again.
    GatewayThrownOut(SiteId, GatewayId),
    /// A gateway sends more than its share for long.
    Flood(SiteId, GatewayId),
    /// Events of a gateway lie this many seconds ahead of the agent's clock.
    Ahead(SiteId, GatewayId, f64),
    /// Live events of a gateway lie this many seconds behind the agent's clock.
    Behind(SiteId, GatewayId, f64),
    /// Events that are judged Critical are refused, because their gateway has brought too many new
    /// bearings.
    RefusedAlarms(GatewayKey, Vec<BearingKey>),
    /// The store comes near `[store] max_bytes`.
    StoreFull {
        /// How much of the ceiling is used.
        percent: u64,
        /// The ceiling.
        max_bytes: u64,
    },
    /// The broker ends a connection of the agent again and again.
    ThrownOut(ThrownOut),
    /// A configuration that was read again is refused, with the reason.
    Configuration(String),
    /// The store lacks what the agent wrote last.
    MissingRows(MissingRows),
    /// Events of a gateway that were confirmed are gone from the store, first and last number.
    ConfirmedGone(GatewayKey, [u64; 2]),
}

/// Takes remarks from the tasks that make them; never waits.
#[derive(Debug, Clone)]
pub(crate) struct Remarks(mpsc::Sender<Remark>);

impl Remarks {
    /// Remarks and the end that tells them.
    pub(crate) fn channel() -> (Self, mpsc::Receiver<Remark>) {
        let (sender, receiver) = mpsc::channel(WAITING);
        (Self(sender), receiver)
    }

    /// Notes a remark; one that has no room is made again.
    pub(crate) fn note(&self, remark: Remark) {
        let _full_or_stopped = self.0.try_send(remark);
    }

    /// Notes the remarks in a gateway's status.
    pub(crate) fn status(&self, site: &SiteId, status: &GatewayStatus) {
        let gateway = || (site.clone(), status.gateway_id.clone());
        if let Some(large) = status.too_large {
            let (site, gateway) = gateway();
            self.note(Remark::TooLarge(site, gateway, large));
        }
        if status.thrown_out {
            let (site, gateway) = gateway();
            self.note(Remark::GatewayThrownOut(site, gateway));
        }
    }
}

/// Tells remarks to staff.
#[derive(Debug)]
pub(crate) struct Remarker {
    pub(crate) store: MessageStore,
    pub(crate) clock: SharedClock,
    pub(crate) policy: Policy,
    pub(crate) reporter: Reporter,
}

impl Remarker {
    /// Tells until `stop`.
    pub(crate) async fn run(
        self,
        mut remarks: mpsc::Receiver<Remark>,
        mut thrown: mpsc::Receiver<ThrownOut>,
        stop: CancellationToken,
    ) {
        loop {
            let remark = tokio::select! {
                Some(remark) = remarks.recv() => remark,
                Some(thrown) = thrown.recv() => Remark::ThrownOut(thrown),
                () = stop.cancelled() => return,
                else => return,
            };
            while let Err(error) = self.tell(&remark).await {
                log::remark_waits(&error);
                tokio::select! {
                    () = tokio::time::sleep(RETRY) => {}
                    () = stop.cancelled() => return,
                }
            }
        }
    }

    async fn tell(&self, remark: &Remark) -> Result<(), StoreError> {
        let Some((key, what, words)) = worded(remark) else { return Ok(()) };
        let now = self.clock.now();
        // another reason is told although one was told on this day
        let subject = match remark {
            Remark::Configuration(why) => format!("{what} {why}"),
            Remark::MissingRows(missing) => format!("{what} {}", missing.written_at),
            Remark::ConfirmedGone(_, [first, last]) => format!("{what} {first} {last}"),
            Remark::RefusedAlarms(_, bearings) => {
                format!("{what} {}", bearings.iter().map(BearingKey::to_string).collect::<String>())
            }
            Remark::TooLarge(..)
            | Remark::GatewayThrownOut(..)
            | Remark::Flood(..)
            | Remark::Ahead(..)
            | Remark::Behind(..)
            | Remark::StoreFull { .. }
            | Remark::ThrownOut(_) => what.to_owned(),
        };
        let is_critical = matches!(remark, Remark::RefusedAlarms(..));
        let risk = if is_critical { RiskLevel::Critical } else { RiskLevel::Warning };
        let (notification, rows) = self.policy.remark_at(risk, &key, &subject, words, now);
        if self.store.tell(&notification, &rows).await? {
            log::remarked(&key, what);
            self.reporter.update(|progress| {
                progress.notified += 1;
                progress.unsent += rows.len() as u64;
            });
            self.reporter.notified(notification);
        }
        Ok(())
    }
}

type Worded = (BearingKey, &'static str, (pdm_shared::text::Text, pdm_shared::text::Text));

fn worded(remark: &Remark) -> Option<Worded> {
    Some(match remark {
        Remark::TooLarge(site, gateway, large) => {
            (silence_alarm(site, gateway)?, "too_large", wording::too_large(gateway, large))
        }
        Remark::GatewayThrownOut(site, gateway) => {
            (silence_alarm(site, gateway)?, "thrown_out", wording::gateway_thrown_out(gateway))
        }
        Remark::Flood(site, gateway) => {
            (silence_alarm(site, gateway)?, "flood", wording::flood(gateway))
        }
        Remark::Ahead(site, gateway, by_s) => {
            (silence_alarm(site, gateway)?, "ahead", wording::ahead(gateway, *by_s))
        }
        Remark::Behind(site, gateway, by_s) => {
            (silence_alarm(site, gateway)?, "behind", wording::behind(gateway, *by_s))
        }
        Remark::RefusedAlarms(gateway, bearings) => {
            let words = wording::refused_alarms(gateway, bearings);
            (refusals_alarm(gateway)?, "refused_alarms", words)
        }
        Remark::StoreFull { percent, max_bytes } => {
            let key = BearingKey::parse("pdm", "agent", "store").ok()?;
            (key, "store_full", wording::store_full(*percent, *max_bytes))
        }
        Remark::ConfirmedGone(GatewayKey { site, gateway }, gone) => {
            let words = wording::confirmed_gone(gateway, *gone);
            (silence_alarm(site, gateway)?, "confirmed_gone", words)
        }
        Remark::MissingRows(missing) => {
            let key = BearingKey::parse("pdm", "agent", "store").ok()?;
            (key, "rows_missing", wording::missing_rows(missing))
        }
        Remark::Configuration(why) => {
            let key = BearingKey::parse("pdm", "agent", "configuration").ok()?;
            (key, "configuration", wording::configuration_refused(why))
        }
        Remark::ThrownOut(ThrownOut { client_id, error, trouble }) => {
            let key = BearingKey::parse("pdm", "agent", "broker").ok()?;
            match trouble {
                BrokerTrouble::Away => (key, "broker_away", wording::broker_away(client_id, error)),
                BrokerTrouble::Mute => (key, "broker_mute", wording::broker_mute(client_id, error)),
                BrokerTrouble::ThrownOut => {
                    (key, "thrown_out", wording::thrown_out(client_id, error))
                }
                BrokerTrouble::Lacks(lack) => (key, "broker_lacks", wording::broker_lacks(*lack)),
            }
        }
    })
}
