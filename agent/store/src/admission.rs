//! Decides which events are taken: whether an event comes from the gateway that it names, whether
//! its bearing belongs to that gateway, and whether its sequence number can be true. No database
//! here.
//!
//! ```text
//! event ─► identity ─► owner of the bearing ─► number ─► counted, or kept without counting
//!             └────────────┴────────────────────┴──────► refused: dead letter
//! ```
//!
//! **Identity.** A gateway proves itself in two ways: by the identity of its count of sequence
//! numbers ([`Epoch`]), which its status has named on a topic that only it may write, and by a
//! topic that names it (the broker's access rules let nobody else write there). Neither is a secret
//! where a broker has no access rules: the count stands in the retained status and in every event.
//! So no message makes a demand of a gateway: that its topic names it is demanded by the
//! configuration alone (`intake.gateway_in_topic`, `topic` in `[[gateways]]`), and a status with
//! another count while events of the gateway's own still come names a *rival*. The events of both
//! are kept then, those of the first are counted, staff is told, and the rival is followed when the
//! first has been silent for [`IntakeTerms::rival_silent_s`]. So no message of another can end a
//! gateway's intake.
//!
//! **Owner.** A bearing belongs to the gateway that the configuration names, else to that of its
//! first event.
//!
//! **Number.** A receipt is moved by events of the gateway's present count only, and by at most
//! [`IntakeTerms::largest_jump`] at once, unless the gateway's status has named a higher number: a
//! gateway whose full spool dropped events has one. Events of the count before are kept and not
//! counted.
//!
//! **A refused event** moves no receipt, neither of the gateway that it names nor of the one that
//! sent it. A gateway that was refused by mistake is asked for the number again until it counts as
//! lost, so an honest event is stored as soon as the mistake is put right.

use std::collections::BTreeMap;
use std::time::Duration;

use pdm_shared::event::Event;
use pdm_shared::id::{BearingKey, Epoch, EventId, GatewayKey};

use crate::owners::BearingOwners;

/// Highest number of events by which a sequence may jump ahead by default: the edge's default spool
/// of 1 GiB holds at most 2^20 events of 1 KiB, which is less than any event has.
pub const LARGEST_JUMP: u64 = 1 << 20;
/// Most bearings that begin to belong to one gateway in an hour by default: the 64 channels of a
/// gateway and half as many again may be new, fewer than the messages that a recipient gets in it.
pub const NEW_BEARINGS_PER_HOUR: u64 = 100;

/// Time without an event of a gateway's count after which another one is followed by default, s.
/// Chosen: ten windows of a minute. A gateway whose spool is new is followed after it; until then
/// its events are judged, and it keeps them.
pub const RIVAL_SILENT_S: f64 = 600.0;

/// The limits and owners against which the store checks incoming events.
#[derive(Debug, Clone, PartialEq)]
pub struct IntakeTerms {
    /// The configured gateways of bearings.
    pub owners: BearingOwners,
    /// Highest number of events by which a sequence may jump ahead.
    pub largest_jump: u64,
    /// Most bearings that begin to belong to one gateway in an hour.
    pub new_bearings_per_hour: u64,
    /// Time without an event of a gateway's count after which another count that its status names
    /// is followed, s.
    pub rival_silent_s: f64,
}

impl Default for IntakeTerms {
    fn default() -> Self {
        Self {
            owners: BearingOwners::default(),
            largest_jump: LARGEST_JUMP,
            new_bearings_per_hour: NEW_BEARINGS_PER_HOUR,
            rival_silent_s: RIVAL_SILENT_S,
        }
    }
}

/// The state of a gateway's sequence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct GatewayRecord {
    pub(super) highest: u64,
    /// The count that the gateway's status names.
    pub(super) epoch: Option<Epoch>,
    /// The count before.
    pub(super) epoch_before: Option<Epoch>,
    /// Highest number that the gateway's status has named.
    pub(super) told_through: u64,
    /// Another count, which a status has named while events of the present one came.
    pub(super) rival: Option<Epoch>,
    /// When an event of the present count came last, ms.
    pub(super) heard_at_ms: Option<i64>,
    /// Events of the gateway's own count have come under a topic that names it.
    pub(super) proven: bool,
}

impl GatewayRecord {
    /// Whether an event of the present count came within `within_s` seconds of this time.
    pub(super) fn is_heard(&self, now_ms: i64, within_s: f64) -> bool {
        let since_ms = |at: i64| now_ms.saturating_sub(at).unsigned_abs();
        self.heard_at_ms
            .is_some_and(|at| Duration::from_millis(since_ms(at)).as_secs_f64() < within_s)
    }
}

/// Why an event is refused. The order of the words in `told` does not change: dead letters, metrics
/// and logs carry them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RefusalCause {
    /// The topic does not name the gateway, as the configuration demands of its events.
    Topic,
    /// The event is not of the gateway's count of sequence numbers.
    Epoch,
    /// The bearing belongs to another gateway.
    Owner,
    /// The gateway has brought too many new bearings in this hour.
    NewBearing,
    /// The sequence number is too far ahead.
    Jump,
    /// Another event has this identity.
    EventId,
    /// What came under the topic of a bearing's events cannot be read as one: another version of
    /// the schema, another form, a name that differs from the topic's.
    Unreadable,
}

impl RefusalCause {
    /// Every cause.
    pub const ALL: [Self; 7] = [
        Self::Topic,
        Self::Epoch,
        Self::Owner,
        Self::NewBearing,
        Self::Jump,
        Self::EventId,
        Self::Unreadable,
    ];

    /// The cause as a word, for metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Topic => "topic",
            Self::Epoch => "epoch",
            Self::Owner => "owner",
            Self::NewBearing => "new_bearing",
            Self::Jump => "jump",
            Self::EventId => "event_id",
            Self::Unreadable => "unreadable",
        }
    }
}

/// A word that names no cause of a refusal.
#[derive(Debug, thiserror::Error)]
#[error("{0:?} names no cause of a refusal")]
pub struct UnknownCause(String);

impl std::str::FromStr for RefusalCause {
    type Err = UnknownCause;

    fn from_str(word: &str) -> Result<Self, UnknownCause> {
        let named = Self::ALL.into_iter().find(|cause| cause.as_str() == word);
        named.ok_or_else(|| UnknownCause(word.to_owned()))
    }
}

/// A refused event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The cause of the refusal.
    pub cause: RefusalCause,
    /// The gateway that the event names.
    pub gateway: GatewayKey,
    /// The bearing that the event names.
    pub bearing: BearingKey,
    /// The event.
    pub event_id: EventId,
    /// Field, expectation and value.
    pub reason: String,
}

/// How an event that is taken is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admitted {
    /// Its number moves the receipt.
    Counted,
    /// It is stored, but its number belongs to no present count.
    Kept,
}

/// The state that a batch of events is admitted by.
#[derive(Debug)]
pub(super) struct Desk<'a> {
    pub(super) terms: &'a IntakeTerms,
    pub(super) gateways: BTreeMap<GatewayKey, GatewayRecord>,
    /// The gateways of the bearings of this batch that have one already.
    pub(super) owners: BTreeMap<BearingKey, GatewayKey>,
    /// Bearings that began to belong to a gateway in the last hour.
    pub(super) new_bearings: BTreeMap<GatewayKey, u64>,
}

impl Desk<'_> {
    /// The gateway that a bearing belongs to, if it belongs to one.
    fn owner(&self, key: &BearingKey) -> Option<GatewayKey> {
        self.terms.owners.of(key).or_else(|| self.owners.get(key).cloned())
    }

    /// Whether the event's bearing is new and the event may make it its gateway's.
    pub(super) fn claims(&mut self, event: &Event, proven: bool) -> bool {
        let key = event.key();
        if self.owner(&key).is_some() || self.identity(event, proven).is_err() {
            return false;
        }
        let gateway = event.gateway();
        let number = self.gateways.get(&gateway).copied().unwrap_or_default();
        if self.plausible(event, &number).is_err() {
            return false;
        }
        let new = self.new_bearings.entry(gateway).or_default();
        let fits = *new < self.terms.new_bearings_per_hour;
        *new += u64::from(fits);
        fits
    }

    /// Admits or refuses one event; moves the highest number of its gateway.
    pub(super) fn admit(&mut self, event: &Event, proven: bool) -> Result<Admitted, Box<Refusal>> {
        let refused = |(cause, reason)| Refusal {
            cause,
            gateway: event.gateway(),
            bearing: event.key(),
            event_id: event.event_id,
            reason,
        };
        let admitted = self.judge(event, proven).map_err(refused).map_err(Box::new)?;
        let record = self.gateways.entry(event.gateway()).or_default();
        let is_of_its_count = record.epoch.is_some() && record.epoch == event.epoch;
        record.proven |= proven && is_of_its_count;
        if admitted == Admitted::Counted {
            record.highest = record.highest.max(event.sequence);
        }
        Ok(admitted)
    }

    fn judge(&self, event: &Event, proven: bool) -> Result<Admitted, (RefusalCause, String)> {
        let admitted = self.identity(event, proven)?;
        let (key, gateway) = (event.key(), event.gateway());
        match self.owner(&key) {
            Some(owner) if owner == gateway => {}
            Some(owner) => {
                let reason = format!(
                    "gateway_id is {}, expected {}, the gateway of bearing {key}",
                    event.gateway_id, owner.gateway
                );
                return Err((RefusalCause::Owner, reason));
            }
            None => {
                let reason = format!(
                    "bearing {key} is new, and gateway {gateway} has brought {} new ones in this \
                     hour (intake.quota.new_bearings_per_hour)",
                    self.terms.new_bearings_per_hour
                );
                return Err((RefusalCause::NewBearing, reason));
            }
        }
        if admitted == Admitted::Counted {
            self.plausible(event, &self.gateways.get(&gateway).copied().unwrap_or_default())?;
        }
        Ok(admitted)
    }

    fn identity(&self, event: &Event, proven: bool) -> Result<Admitted, (RefusalCause, String)> {
        if !proven && self.terms.owners.requires_topic(&event.gateway()) {
            let reason = format!(
                "the topic names no gateway, expected …/event/{} (topic = \"required\" in \
                 [[gateways]])",
                event.gateway_id
            );
            return Err((RefusalCause::Topic, reason));
        }
        let Some(record) = self.gateways.get(&event.gateway()) else {
            return Ok(Admitted::Counted);
        };
        match (record.epoch, event.epoch) {
            (None, _) => Ok(Admitted::Counted),
            (Some(known), Some(named)) if known == named => Ok(Admitted::Counted),
            (Some(_), Some(named))
                if [record.epoch_before, record.rival].contains(&Some(named)) =>
            {
                Ok(Admitted::Kept)
            }
            (Some(_), _) if proven => Ok(Admitted::Kept),
            // the expected value stays out of the reason: it is what the gateway is known by
            (Some(_), named) => {
                let got = named.map_or_else(|| "absent".to_owned(), |epoch| epoch.to_string());
                let reason = format!(
                    "epoch is {got}, expected the one that the status of gateway {} names",
                    event.gateway()
                );
                Err((RefusalCause::Epoch, reason))
            }
        }
    }

    fn plausible(
        &self,
        event: &Event,
        record: &GatewayRecord,
    ) -> Result<(), (RefusalCause, String)> {
        let most = record.highest.saturating_add(self.terms.largest_jump).max(record.told_through);
        if event.sequence <= most {
            return Ok(());
        }
        let reason = format!(
            "sequence is {}, allowed is up to {most}: {} is the highest of gateway {}, a jump of \
             {} the largest (intake.largest_jump)",
            event.sequence,
            record.highest,
            event.gateway(),
            self.terms.largest_jump
        );
        Err((RefusalCause::Jump, reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(gateway: &str, sequence: u64, epoch: Option<Epoch>) -> Event {
        let text = include_str!("../../../config/examples/event.json");
        let mut event: Event = serde_json::from_str(text).expect("event");
        event.gateway_id = gateway.parse().expect("name");
        (event.sequence, event.epoch) = (sequence, epoch);
        event
    }

    fn desk(terms: &IntakeTerms, record: GatewayRecord) -> Desk<'_> {
        let event = event("gw-01", 1, None);
        Desk {
            terms,
            gateways: BTreeMap::from([(event.gateway(), record)]),
            owners: BTreeMap::from([(event.key(), event.gateway())]),
            new_bearings: BTreeMap::new(),
        }
    }

    fn cause(outcome: Result<Admitted, Box<Refusal>>) -> Option<RefusalCause> {
        outcome.err().map(|refusal| refusal.cause)
    }

    #[test]
    fn an_event_that_names_a_gateway_without_its_epoch_is_refused_and_moves_nothing() {
        let (own, other) = (Epoch::at(1_000), Epoch::at(2_000));
        let terms = IntakeTerms::default();
        let record = GatewayRecord { highest: 10, epoch: Some(own), ..GatewayRecord::default() };
        let mut desk = desk(&terms, record);
        for epoch in [None, Some(other)] {
            let refused = cause(desk.admit(&event("gw-01", 11, epoch), false));
            assert_eq!(refused, Some(RefusalCause::Epoch));
        }
        assert_eq!(desk.gateways[&event("gw-01", 1, None).gateway()], record);
        assert_eq!(desk.admit(&event("gw-01", 11, Some(own)), false), Ok(Admitted::Counted));
    }

    #[test]
    fn a_reason_never_names_the_epoch_that_a_gateway_is_known_by() {
        let own = Epoch::at(1_000);
        let terms = IntakeTerms::default();
        let mut desk = desk(&terms, GatewayRecord { epoch: Some(own), ..GatewayRecord::default() });
        let refusal = desk.admit(&event("gw-01", 1, None), false).expect_err("refused");
        assert!(!refusal.reason.contains(&own.to_string()), "{}", refusal.reason);
    }

    #[test]
    fn events_of_the_count_before_are_kept_and_not_counted() {
        let (before, own) = (Epoch::at(1_000), Epoch::at(2_000));
        let terms = IntakeTerms::default();
        let record = GatewayRecord {
            epoch: Some(own),
            epoch_before: Some(before),
            ..GatewayRecord::default()
        };
        let mut desk = desk(&terms, record);
        assert_eq!(desk.admit(&event("gw-01", 900, Some(before)), false), Ok(Admitted::Kept));
        assert_eq!(desk.gateways[&event("gw-01", 1, None).gateway()].highest, 0);
    }

    #[test]
    fn a_topic_that_names_the_gateway_is_demanded_where_the_configuration_says_so() {
        let own = Some(Epoch::at(1_000));
        let entry = serde_json::json!({
            "site": "ulsan-1", "gateway": "gw-01", "topic": "required",
        });
        let entry = serde_json::from_value(entry).expect("an entry");
        let owners = BearingOwners::of_settings(std::path::Path::new("a"), vec![entry]);
        let terms = IntakeTerms { owners: owners.expect("valid"), ..IntakeTerms::default() };
        let mut desk = desk(&terms, GatewayRecord { epoch: own, ..GatewayRecord::default() });
        assert_eq!(desk.admit(&event("gw-01", 1, own), true), Ok(Admitted::Counted));
        let refused = cause(desk.admit(&event("gw-01", 2, own), false));
        assert_eq!(refused, Some(RefusalCause::Topic));
        // also of a gateway of which nothing is known yet
        desk.gateways.clear();
        assert_eq!(cause(desk.admit(&event("gw-01", 1, None), false)), Some(RefusalCause::Topic));
    }

    /// R-EDGE-10: a stranger who had read the retained status sent one event of the gateway's own
    /// count under the long topic, and the short one was refused from then on.
    #[test]
    fn an_event_of_the_public_count_demands_nothing_of_the_gateways_further_events() {
        let terms = IntakeTerms::default();
        let own = Some(Epoch::at(1_000));
        let mut desk = desk(&terms, GatewayRecord { epoch: own, ..GatewayRecord::default() });
        let _forged = desk.admit(&event("gw-01", 1, own), true);
        assert_eq!(desk.admit(&event("gw-01", 2, own), false), Ok(Admitted::Counted));
    }

    #[test]
    fn events_of_a_rival_count_are_kept_and_not_counted() {
        let (own, rival) = (Epoch::at(1_000), Epoch::at(2_000));
        let terms = IntakeTerms::default();
        let record =
            GatewayRecord { epoch: Some(own), rival: Some(rival), ..GatewayRecord::default() };
        let mut desk = desk(&terms, record);
        assert_eq!(desk.admit(&event("gw-01", 900, Some(rival)), false), Ok(Admitted::Kept));
        assert_eq!(desk.admit(&event("gw-01", 1, Some(own)), false), Ok(Admitted::Counted));
    }

    #[test]
    fn a_count_is_heard_while_its_last_event_is_near() {
        let record = GatewayRecord { heard_at_ms: Some(100_000), ..GatewayRecord::default() };
        assert!(record.is_heard(100_000, 1.0) && record.is_heard(100_900, 1.0));
        // a clock that was set back
        assert!(record.is_heard(99_500, 1.0) && !record.is_heard(101_000, 1.0));
        assert!(!GatewayRecord::default().is_heard(0, 600.0), "never heard");
    }

    /// Issue 34, H1: one message of a stranger under the long topic ended the intake of a gateway
    /// for good.
    #[test]
    fn a_claim_without_the_gateways_own_epoch_demands_nothing_of_its_events() {
        let terms = IntakeTerms::default();
        for known in [None, Some(Epoch::at(1_000))] {
            for claimed in [None, Some(Epoch::at(2_000))] {
                let mut desk =
                    desk(&terms, GatewayRecord { epoch: known, ..GatewayRecord::default() });
                let _taken = desk.admit(&event("gw-01", 1, claimed), true);
                let honest = desk.admit(&event("gw-01", 2, known), false);
                assert_eq!(honest, Ok(Admitted::Counted), "{known:?} {claimed:?}");
            }
        }
    }

    #[test]
    fn a_bearing_of_another_gateway_is_refused_unless_the_configuration_names_it() {
        let terms = IntakeTerms::default();
        let refused =
            cause(desk(&terms, GatewayRecord::default()).admit(&event("gw-02", 1, None), true));
        assert_eq!(refused, Some(RefusalCause::Owner));
        let entry = serde_json::json!({
            "site": "ulsan-1", "gateway": "gw-02", "bearings": ["P-101/*"],
        });
        let entry = serde_json::from_value(entry).expect("an entry");
        let path = std::path::Path::new("agent.toml");
        let owners = BearingOwners::of_settings(path, vec![entry]).expect("valid");
        let terms = IntakeTerms { owners, ..IntakeTerms::default() };
        let moved = desk(&terms, GatewayRecord::default()).admit(&event("gw-02", 1, None), true);
        assert_eq!(moved, Ok(Admitted::Counted));
    }

    #[test]
    fn a_jump_beyond_a_spool_is_refused_unless_the_status_has_named_the_number() {
        let terms = IntakeTerms { largest_jump: 100, ..IntakeTerms::default() };
        let record = GatewayRecord { highest: 50, told_through: 1_000, ..GatewayRecord::default() };
        let mut told = desk(&terms, record);
        assert_eq!(told.admit(&event("gw-01", 1_000, None), false), Ok(Admitted::Counted));
        let mut untold = desk(&terms, GatewayRecord { told_through: 0, ..record });
        let far = [151, u64::MAX];
        for number in far {
            let refused = cause(untold.admit(&event("gw-01", number, None), false));
            assert_eq!(refused, Some(RefusalCause::Jump));
        }
        assert_eq!(untold.admit(&event("gw-01", 150, None), false), Ok(Admitted::Counted));
    }

    #[test]
    fn a_gateway_brings_so_many_new_bearings_an_hour() {
        let terms = IntakeTerms { new_bearings_per_hour: 2, ..IntakeTerms::default() };
        let mut desk = desk(&terms, GatewayRecord::default());
        let of = |bearing: &str| Event {
            bearing_id: bearing.parse().expect("name"),
            ..event("gw-01", 1, None)
        };
        assert!(desk.claims(&of("A"), true) && desk.claims(&of("B"), true));
        assert!(!desk.claims(&of("C"), true));
        assert_eq!(cause(desk.admit(&of("C"), true)), Some(RefusalCause::NewBearing));
    }
}
