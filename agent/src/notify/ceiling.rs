//! The most messages that a recipient gets in an hour, and the one summary of what is above it.
//!
//! A recipient is a lane: the e-mail list, one web hook, or the topics `notification` of the
//! broker. The hour is shared by gateway, so that the flood of one holds no other's alarm back; a
//! quarter of it is for the first Critical of a bearing, and the first Criticals of a gateway that
//! has told little leave above the ceiling too ([`super::share`]). A notification above the ceiling
//! is held back in the outbox; the hour's summary counts what was held back by level and names the
//! bearings of the worst level. The first summary of an hour leaves as soon as something is held
//! back, so that a Critical alarm is told within seconds also then; what comes after it waits for
//! the next hour, or with a Critical among it for [`CRITICAL_AFTER_S`]. A summary covers no more
//! Criticals than it names in its title; the next ones follow after [`NEXT_PART_AFTER_S`]. What was
//! delivered is counted in the store, so a restart begins no new hour.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use pdm_shared::delivery::{NOTIFICATION_SCHEMA, Notification, NotificationReason};
use pdm_shared::id::{BearingId, BearingKey, EquipmentId};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use pdm_store::{CeilingStore, Claimed, HeldBack, StoreError};
use tokio::time::Instant;

use super::lanes::{Channel, Lane, SendError};
use super::share::{Room, Share};
use super::unsent::{FailingSummary, LateLooks, NotSummed};
use super::{log, policy};
use crate::settings::BearingOwners;

const HOUR_MS: i64 = 3_600_000;
/// The interval of looks for a due summary, and the time in which what is held back gathers for the
/// first summary of an hour.
const LOOK: Duration = Duration::from_secs(2);

/// Seconds after a summary from which on a Critical that is held back leaves in another one of the
/// same hour. Chosen: a storm of alarms is twelve messages an hour more, and no Critical waits
/// longer than an alarm that a receiver does not take.
const CRITICAL_AFTER_S: f64 = 300.0;

/// Seconds after a summary that could not name every Critical from which on the next one leaves.
/// Chosen: a person has read the first twenty names.
const NEXT_PART_AFTER_S: f64 = 60.0;

/// The ceiling of a lane.
#[derive(Debug)]
pub(crate) struct Ceiling {
    store: CeilingStore,
    lane: String,
    per_hour: u32,
    owners: BearingOwners,
    /// The hour in which the log was last told that the ceiling is reached.
    logged_ms: AtomicI64,
    /// When the last summary of this run left, ms.
    summed_ms: AtomicI64,
    /// That summary could not name every Critical.
    is_part: AtomicBool,
}

impl Ceiling {
    /// At most `per_hour` messages of this lane, shared by the gateways of bearings.
    pub(crate) fn new(
        store: CeilingStore,
        lane: &str,
        per_hour: u32,
        owners: BearingOwners,
    ) -> Self {
        let (logged_ms, summed_ms) = (AtomicI64::new(0), AtomicI64::new(0));
        let is_part = AtomicBool::new(false);
        Self { store, lane: lane.to_owned(), per_hour, owners, logged_ms, summed_ms, is_part }
    }

    /// Returns the room that is left in this hour. While the store does not answer, any message may
    /// leave: an alarm matters more than a count.
    pub(super) async fn room(&self, now: Timestamp) -> Room {
        let hour = hour_of(now);
        let known = async {
            let told = self.store.told_in(&self.lane, hour).await?;
            let shares = self.store.shares_told(&self.lane, hour).await?;
            let gateways = self.store.gateway_count().await?;
            Ok::<_, StoreError>(Room::new(self.per_hour, told.messages, shares, gateways))
        };
        known.await.unwrap_or_else(|error| {
            log::ceiling_unknown(&self.lane, &error);
            Room::unbounded()
        })
    }

    /// Returns the share of the hour to which a message belongs, by its most urgent row.
    pub(super) async fn share_of(&self, rows: &[Claimed]) -> Share {
        let told =
            rows.iter().filter_map(|row| serde_json::from_str::<Notification>(&row.payload).ok());
        let Some(told) = told.max_by_key(|told| told.risk_level) else { return Share::of_nobody() };
        let key = BearingKey {
            site: told.site.clone(),
            equipment: told.equipment_id.clone(),
            bearing: told.bearing_id.clone(),
        };
        let owner = match self.owners.of(&key) {
            Some(owner) => Some(owner),
            None => self.store.gateway_of(&key).await.ok().flatten(),
        };
        Share::of_message(&told, owner.as_ref())
    }

    /// A message was delivered.
    pub(super) async fn delivered(&self, share: &Share, now: Timestamp) {
        let noted = self.store.note_message(&self.lane, share.name(), hour_of(now)).await;
        if let Err(error) = noted {
            log::ceiling_unknown(&self.lane, &error);
        }
    }

    /// What is stored of the ceiling.
    pub(super) const fn store(&self) -> &CeilingStore {
        &self.store
    }

    /// Notifications are held back.
    pub(super) fn hold(&self, notifications: usize, now: Timestamp) {
        let hour = hour_of(now).unix_ms();
        let is_first = self.logged_ms.swap(hour, Ordering::Relaxed) != hour;
        log::held_back(&self.lane, notifications, self.per_hour, is_first);
    }

    /// Returns the rows that the next summary has to tell, and its number in this hour; `None` if
    /// nothing is held back or the summary waits.
    async fn due(&self, now: Timestamp) -> Result<Option<(HeldBack, u32)>, StoreError> {
        let held = self.store.held_back(&self.lane).await?;
        if held.levels.is_empty() {
            return Ok(None);
        }
        let told = self.store.told_in(&self.lane, hour_of(now)).await?;
        let waited_ms = now.unix_ms().abs_diff(self.summed_ms.load(Ordering::Relaxed));
        let is_critical = held.levels.iter().any(|(level, _)| *level == RiskLevel::Critical);
        let is_part = self.is_part.load(Ordering::Relaxed);
        let pause_s = if is_part { NEXT_PART_AFTER_S } else { CRITICAL_AFTER_S };
        let is_due = told.summaries == 0 || (is_critical && waited_ms as f64 >= 1000.0 * pause_s);
        Ok(is_due.then_some((held, told.summaries)))
    }
}

impl Lane {
    /// Sends the summaries of a lane until it is stopped. What is held back then stays in the
    /// outbox.
    pub(crate) async fn run_summaries(self, channel: Arc<dyn Channel>, ceiling: Arc<Ceiling>) {
        let (mut failing, mut looks) = (FailingSummary::default(), LateLooks::new());
        let mut next = Instant::now() + LOOK;
        loop {
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                () = self.stop.cancelled() => return,
            }
            self.look_at_late(channel.lane(), &mut looks).await;
            if Instant::now() < next {
                continue;
            }
            match self.summary(channel.as_ref(), &ceiling, &mut failing).await {
                Ok(()) => (failing, next) = (FailingSummary::default(), Instant::now()),
                Err(NotSummed { reason, pause }) => {
                    let (failures, pause_s) = (failing.failures(), pause.as_secs_f64());
                    log::not_delivered(channel.lane(), &reason, failures, pause_s);
                    next = Instant::now() + pause;
                }
            }
        }
    }

    /// Sends the summary that is due, if one is.
    async fn summary(
        &self,
        channel: &dyn Channel,
        ceiling: &Ceiling,
        failing: &mut FailingSummary,
    ) -> Result<(), NotSummed> {
        let of_store = |error: StoreError| NotSummed { reason: error.to_string(), pause: LOOK };
        let now = self.clock.now();
        let lane = channel.lane();
        let due = ceiling.due(now).await.map_err(of_store)?;
        let Some((held, number)) = due else { return Ok(()) };
        let hour = hour_of(now);
        let Some(summary) = summary(lane, &held, ceiling.per_hour, (hour, number), now) else {
            return Ok(());
        };
        let begun = Instant::now();
        match channel.send(summary.notification_id, std::slice::from_ref(&summary)).await {
            // some of the lane's recipients have it
            Ok(()) | Err(SendError::Partly(_) | SendError::Rest(_)) => {}
            Err(error) => {
                failing.failed(begun);
                return self.not_summed((lane, ceiling), &held, error, failing).await;
            }
        }
        ceiling.summed_ms.store(now.unix_ms(), Ordering::Relaxed);
        ceiling.is_part.store(held.criticals_behind > 0, Ordering::Relaxed);
        let told = ceiling.store.settle_held(lane, held.through, hour, now).await;
        self.elsewhere.have_reached(told.map_err(of_store)?.into_iter());
        Ok(())
    }
}

/// The hour that `now` lies in, counted from 1970.
fn hour_of(now: Timestamp) -> Timestamp {
    let begun_ms = now.unix_ms() - now.unix_ms().rem_euclid(HOUR_MS);
    Timestamp::from_unix_ms(begun_ms).unwrap_or(now)
}

/// The summary of what is held back, under the machine `notifications`. Its identity is made of
/// lane, hour and its number in the hour, so a summary that is sent twice is recognised.
fn summary(
    lane: &str,
    held: &HeldBack,
    per_hour: u32,
    (hour, number): (Timestamp, u32),
    now: Timestamp,
) -> Option<Notification> {
    let worst = held.levels.first().map(|(level, _)| *level)?;
    let site = held.worst.first()?.site.clone();
    let words = words(held, per_hour, worst);
    Some(Notification {
        schema: NOTIFICATION_SCHEMA.to_owned(),
        notification_id: policy::id_of(&["summary", lane, &hour.to_string(), &number.to_string()]),
        event_id: None,
        site,
        equipment_id: EquipmentId::new("notifications").ok()?,
        bearing_id: BearingId::new("held-back").ok()?,
        risk_level: worst,
        reason: NotificationReason::Message,
        title: words.0,
        body: words.1,
        created_at: now,
        episode_id: None,
        episode_sequence: None,
        transition: None,
        episode_state: None,
        related: Vec::new(),
        ack_url: None,
    })
}

/// Title and body. The title names every Critical that the summary is about: some ways carry the
/// title alone, and a Critical counts as told only where its name was.
fn words(held: &HeldBack, per_hour: u32, worst: RiskLevel) -> (Text, Text) {
    let count: u64 = held.levels.iter().map(|(_, count)| count).sum();
    let label = worst.label();
    let is_critical = worst == RiskLevel::Critical;
    let named = if is_critical { in_short(&held.worst) } else { String::new() };
    let title = Text::new(
        format!("[{}] 알림 {count}건 보류: 시간당 한도 {per_hour}건 초과{named}", label.ko),
        format!("[{}] {count} notifications held back: above {per_hour} an hour{named}", label.en),
    );
    let by_level = |pick: fn(&Text) -> &str| {
        let levels = held.levels.iter();
        levels.map(|(level, count)| format!("{} {count}", pick(&level.label()))).collect::<Vec<_>>()
    };
    let names: Vec<String> = held.worst.iter().map(BearingKey::to_string).collect();
    let of_worst = held.levels.first().map_or(0, |(_, count)| *count);
    // of Criticals each bearing is named, and one may have several notifications
    let more = if is_critical { 0 } else { of_worst.saturating_sub(names.len() as u64) };
    let names = names.join(", ");
    let (more_ko, more_en) = match more {
        0 => (String::new(), String::new()),
        more => (format!(" 외 {more}건"), format!(" and {more} more")),
    };
    let (next_ko, next_en) = match held.criticals_behind {
        0 => (String::new(), String::new()),
        behind => (
            format!("위험 알림 {behind}건이 더 있으며 1분 안에 이어서 전송됨\n"),
            format!("{behind} more Critical notifications follow within a minute\n"),
        ),
    };
    let body = Text::new(
        format!(
            "위험도별: {}\n{} 베어링: {names}{more_ko}\n{next_ko}조치: 각 베어링의 상태를 확인. 이후 보류되는 \
             위험 알림은 5분 안에, 나머지는 다음 시간에 한 번에 전송됨",
            by_level(|text| &text.ko).join(", "),
            label.ko
        ),
        format!(
            "By level: {}\n{} bearings: {names}{more_en}\n{next_en}Action: look at each of these \
             bearings. A Critical that is held back from now on follows within five minutes, \
             everything else in one message in the next hour",
            by_level(|text| &text.en).join(", "),
            label.en
        ),
    );
    (title, body)
}

/// The bearings in a title, with their site only where they are of several.
fn in_short(keys: &[BearingKey]) -> String {
    let is_of_one_site = keys.windows(2).all(|pair| matches!(pair, [a, b] if a.site == b.site));
    let names = keys.iter().map(|key| {
        let site = if is_of_one_site { String::new() } else { format!("{} ", key.site) };
        format!("{site}{} {}", key.equipment, key.bearing)
    });
    format!(": {}", names.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_counts_what_was_held_back_and_names_the_worst_bearings() {
        let now = Timestamp::from_unix_ms(1_795_238_000_000).expect("in range");
        let held = HeldBack {
            levels: vec![(RiskLevel::Critical, 2), (RiskLevel::Watch, 1400)],
            worst: vec![BearingKey::parse("s", "P-1", "DE").expect("names")],
            through: 9,
            criticals_behind: 3,
        };
        let told = summary("email", &held, 120, (hour_of(now), 0), now).expect("a summary");
        assert_eq!(told.risk_level, RiskLevel::Critical);
        assert_eq!(
            told.title.en,
            "[Critical] 1402 notifications held back: above 120 an hour: P-1 DE"
        );
        assert!(told.body.en.contains("Critical 2, Watch 1400"), "{}", told.body.en);
        assert!(told.body.en.contains("bearings: s/P-1/DE\n3 more Critical"), "{}", told.body.en);
        let milder = HeldBack { levels: vec![(RiskLevel::Watch, 1400)], ..held.clone() };
        let milder = summary("email", &milder, 120, (hour_of(now), 0), now).expect("a summary");
        assert!(milder.body.en.contains("s/P-1/DE and 1399 more"), "{}", milder.body.en);
        let again = summary("email", &held, 120, (hour_of(now), 0), now.plus_seconds(60.0));
        assert_eq!(again.map(|again| again.notification_id), Some(told.notification_id));
        let next = summary("email", &held, 120, (hour_of(now), 1), now).expect("another one");
        assert_ne!(next.notification_id, told.notification_id);
    }
}
