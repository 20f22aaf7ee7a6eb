//! Computes figures of one configuration: episodes, messages a person, and their agreement with the
//! truth.
//!
//! Invariant: a figure without a base is `null`. A rate over no bearing-year, a lead time without a
//! failure and a judgement of an episode that nobody checked are not 0.

use std::collections::{BTreeMap, BTreeSet};

use pdm_shared::delivery::NotificationReason;
use pdm_shared::follow_up::Verdict;
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use serde::Serialize;

use super::played::{BearingPlayed, EpisodePlayed, MachinePlayed, Message, SidePlayed};
use super::truth::Truth;

/// The span below which nothing is told a week, s: a day.
const LEAST_SPAN_S: f64 = 86_400.0;
/// A week, s.
const WEEK_S: f64 = 7.0 * 86_400.0;
/// The name of the broker's topic among the people.
const BROKER: &str = "mqtt";

/// The figures of one configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct SideFigures {
    /// The configuration.
    pub(crate) name: String,
    /// Episodes that staff was told of.
    pub(crate) episodes_told: u64,
    /// Episodes that were told with another bearing's alarm, or held back.
    pub(crate) episodes_not_told: u64,
    /// Messages by reason: `raised`, `repeated`, `cleared`, `message`.
    pub(crate) messages: BTreeMap<String, u64>,
    /// The messages that each person or channel would have got.
    pub(crate) people: Vec<PersonFigures>,
    /// The figures by the known failures; `None` where no bearing's truth is known.
    pub(crate) truth: Option<TruthFigures>,
    /// The figures by the findings of staff.
    pub(crate) checked: CheckedFigures,
}

/// The messages that a person or a channel would have got.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct PersonFigures {
    /// The person or the channel; `mqtt` is the broker's topic.
    pub(crate) name: String,
    /// Messages; what leaves together is one.
    pub(crate) messages: u64,
    /// Messages a week; `None` if the events span less than a day.
    pub(crate) per_week: Option<f64>,
    /// Most messages of one hour.
    pub(crate) busiest_hour: u64,
}

/// Figures over the bearings whose truth is known.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct TruthFigures {
    /// The bearings.
    pub(crate) bearings: u64,
    /// Their years, without holes.
    pub(crate) bearing_years: f64,
    /// Told episodes that no failure followed.
    pub(crate) false_episodes: u64,
    /// False episodes a bearing-year; `None` if the bearing-years are 0.
    pub(crate) false_per_bearing_year: Option<f64>,
    /// Failures within the events.
    pub(crate) failures: u64,
    /// Failures before which staff was not told.
    pub(crate) failures_not_told: u64,
    /// The remaining life that was told, against the true one; `None` where none was told before a
    /// failure.
    pub(crate) life: Option<LifeFigures>,
}

/// The remaining life that alarms planned with, over the one that came.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct LifeFigures {
    /// Alarms with a life before a failure.
    pub(crate) alarms: u64,
    /// The median of told over true: below 1 is cautious.
    pub(crate) median_ratio: f64,
    /// The median distance, h.
    pub(crate) median_error_h: f64,
}

/// Episodes by what staff found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct CheckedFigures {
    /// The judgement was right.
    pub(crate) right: u64,
    /// Nothing was wrong.
    pub(crate) wrong: u64,
    /// Another cause.
    pub(crate) other_cause: u64,
    /// Nobody has said anything.
    pub(crate) not_checked: u64,
}

/// A failure and when staff would have been told before it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct FailureRow {
    /// The bearing.
    pub(crate) bearing: BearingKey,
    /// When it failed.
    pub(crate) failed_at: Timestamp,
    /// Whether it lies within the events; what lies outside is counted nowhere.
    pub(crate) is_within_events: bool,
    /// For each configuration, hours from the first alarm; `None` if staff was not told.
    pub(crate) lead_h: Vec<Option<f64>>,
    /// The same from the first alarm of Warning or above.
    pub(crate) lead_warning_h: Vec<Option<f64>>,
}

/// All figures of one configuration.
pub(super) fn side(
    name: &str,
    place: usize,
    machines: &[MachinePlayed],
    truth: &Truth,
    horizon_s: f64,
) -> SideFigures {
    let bearings = || machines.iter().flat_map(|machine| &machine.bearings);
    let sides = || bearings().filter_map(move |one| one.sides.get(place));
    let others = machines.iter().filter_map(|machine| machine.others.get(place)).flatten();
    let all: Vec<&Message> = sides().flat_map(|side| &side.messages).chain(others).collect();
    let mut messages = BTreeMap::new();
    for message in &all {
        *messages.entry(reason(message.reason).to_owned()).or_insert(0) += 1;
    }
    let told = |side: &SidePlayed| {
        side.episodes.iter().filter(|one| side.first_told(one).is_some()).count() as u64
    };
    let episodes: u64 = sides().map(|side| side.episodes.len() as u64).sum();
    let episodes_told = sides().map(told).sum();
    SideFigures {
        name: name.to_owned(),
        episodes_told,
        episodes_not_told: episodes - episodes_told,
        messages,
        people: people(&all, span_s(machines)),
        truth: of_truth(place, machines, truth, horizon_s),
        checked: checked(place, machines),
    }
}

fn span_s(machines: &[MachinePlayed]) -> f64 {
    let bearings = || machines.iter().flat_map(|machine| &machine.bearings);
    let first = bearings().map(|one| one.first).min();
    let last = bearings().map(|one| one.last).max();
    first.zip(last).map_or(0.0, |(first, last)| last.seconds_since(first))
}

/// The word of a reason, as in `pdm.notification/1`.
fn reason(reason: NotificationReason) -> &'static str {
    match reason {
        NotificationReason::Raised => "raised",
        NotificationReason::Repeated => "repeated",
        NotificationReason::Cleared => "cleared",
        NotificationReason::Silent => "silent",
        NotificationReason::Message => "message",
    }
}

/// Messages a person: this is what crosses machines.
fn people(messages: &[&Message], span_s: f64) -> Vec<PersonFigures> {
    let mut by_person: BTreeMap<String, Vec<Timestamp>> = BTreeMap::new();
    let mut seen: BTreeSet<(String, String)> = BTreeSet::new();
    for message in messages {
        by_person.entry(BROKER.to_owned()).or_default().push(message.at);
        for lane in &message.lanes {
            let group = message.group.clone();
            if group.is_some_and(|group| !seen.insert((lane.clone(), group))) {
                continue;
            }
            let at = message.leaves_at.unwrap_or(message.at);
            by_person.entry(person(lane)).or_default().push(at);
        }
    }
    let figures = by_person.into_iter().map(|(name, times)| {
        let mut hours: BTreeMap<i64, u64> = BTreeMap::new();
        for at in &times {
            *hours.entry(at.unix_ms().div_euclid(3_600_000)).or_default() += 1;
        }
        let count = times.len() as u64;
        let per_week = (span_s >= LEAST_SPAN_S).then(|| count as f64 * WEEK_S / span_s);
        let busiest_hour = hours.into_values().max().unwrap_or(0);
        PersonFigures { name, messages: count, per_week, busiest_hour }
    });
    figures.collect()
}

/// The person behind a lane; a channel that stands for itself by its own name.
fn person(lane: &str) -> String {
    let own = lane.strip_prefix("to:").and_then(|rest| rest.rsplit_once(':'));
    own.map_or(lane, |(person, _)| person).to_owned()
}

/// The figures over the bearings whose truth is known; `None` if it is known of none.
pub(super) fn of_truth(
    place: usize,
    machines: &[MachinePlayed],
    truth: &Truth,
    horizon_s: f64,
) -> Option<TruthFigures> {
    let bearings = machines.iter().flat_map(|machine| &machine.bearings);
    let known: Vec<(&BearingPlayed, &Vec<Timestamp>)> =
        bearings.filter_map(|one| Some((one, truth.0.get(&one.bearing)?))).collect();
    if known.is_empty() {
        return None;
    }
    let bearing_years: f64 = known.iter().map(|(one, _)| one.years()).sum();
    let (mut false_episodes, mut failed, mut not_told) = (0, 0, 0);
    let mut lives: Vec<(f64, f64)> = Vec::new();
    for (bearing, failures) in &known {
        let Some(side) = bearing.sides.get(place) else { continue };
        for episode in &side.episodes {
            let Some(first) = side.first_told(episode) else { continue };
            let is_right = failures
                .iter()
                .any(|failed_at| precedes(episode, first.at, *failed_at, bearing.last, horizon_s));
            false_episodes += u64::from(!is_right);
        }
        for (before, failed_at) in with_before(failures) {
            let told = before_failure(bearing, side, before, failed_at, horizon_s);
            // of a failure that the events do not reach nothing can be said, unless it was told
            // before
            if told.is_none() && !is_within(bearing, failed_at, horizon_s) {
                continue;
            }
            failed += 1;
            let Some(episode) = told else {
                not_told += 1;
                continue;
            };
            let alarms = side.of(episode).filter(|one| one.at < failed_at);
            let told = alarms
                .filter_map(|one| Some((one.life_h?, failed_at.seconds_since(one.at) / 3600.0)));
            lives.extend(told);
        }
    }
    Some(TruthFigures {
        bearings: known.len() as u64,
        bearing_years,
        false_episodes,
        false_per_bearing_year: (bearing_years > 0.0)
            .then(|| false_episodes as f64 / bearing_years),
        failures: failed,
        failures_not_told: not_told,
        life: life(&lives),
    })
}

/// Told and true remaining life, h.
fn life(lives: &[(f64, f64)]) -> Option<LifeFigures> {
    let ratios = lives.iter().filter(|(_, came)| *came > 0.0).map(|(told, came)| told / came);
    let errors = lives.iter().map(|(told, came)| (told - came).abs());
    Some(LifeFigures {
        alarms: lives.len() as u64,
        median_ratio: median(ratios.collect())?,
        median_error_h: median(errors.collect())?,
    })
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = values.get(values.len() / 2).copied()?;
    let lower = values.get((values.len() - 1) / 2).copied()?;
    Some(f64::midpoint(lower, upper))
}

/// Each failure with the one before it.
fn with_before(failures: &[Timestamp]) -> impl Iterator<Item = (Option<Timestamp>, Timestamp)> {
    let before = std::iter::once(None).chain(failures.iter().copied().map(Some));
    before.zip(failures.iter().copied())
}

/// Whether the events reach to a failure: it came within the horizon of an alarm that they could
/// have raised, and in no hole of them.
fn is_within(bearing: &BearingPlayed, failed_at: Timestamp, horizon_s: f64) -> bool {
    let is_in_hole =
        bearing.holes.iter().any(|hole| failed_at > hole.from && failed_at < hole.until);
    let behind_s = horizon_s.min(bearing.period_s.map_or(86_400.0, |s| (10.0 * s).max(86_400.0)));
    failed_at >= bearing.first && !is_in_hole && failed_at.seconds_since(bearing.last) <= behind_s
}

/// Whether a failure is what an episode told of: it came while the episode stood, or within the
/// horizon.
fn precedes(
    episode: &EpisodePlayed,
    first_told: Timestamp,
    failed_at: Timestamp,
    last: Timestamp,
    horizon_s: f64,
) -> bool {
    let ended = episode.closed_at.unwrap_or(last);
    first_told <= failed_at && failed_at.seconds_since(ended) <= horizon_s
}

/// The last told episode before a failure and after the one before it.
fn before_failure<'a>(
    bearing: &BearingPlayed,
    side: &'a SidePlayed,
    before: Option<Timestamp>,
    failed_at: Timestamp,
    horizon_s: f64,
) -> Option<&'a EpisodePlayed> {
    let is_it = |episode: &&EpisodePlayed| {
        side.first_told(episode).is_some_and(|first| {
            before.is_none_or(|before| first.at > before)
                && precedes(episode, first.at, failed_at, bearing.last, horizon_s)
        })
    };
    side.episodes.iter().rfind(is_it)
}

/// Every failure of the truth, with what each configuration told before it.
pub(super) fn failures(
    sides: usize,
    machines: &[MachinePlayed],
    truth: &Truth,
    horizon_s: f64,
) -> Vec<FailureRow> {
    let bearings = machines.iter().flat_map(|machine| &machine.bearings);
    let known = bearings.filter_map(|one| Some((one, truth.0.get(&one.bearing)?)));
    let rows = known.flat_map(|(bearing, failures)| {
        with_before(failures).map(move |(before, failed_at)| {
            let lead = |place: usize, from: RiskLevel| {
                let side = bearing.sides.get(place)?;
                let episode = before_failure(bearing, side, before, failed_at, horizon_s)?;
                let mut alarms = side.of(episode);
                let is_alarm =
                    |one: &&Message| one.reason == NotificationReason::Raised && one.level >= from;
                let first = alarms.find(is_alarm).filter(|one| one.at <= failed_at)?;
                Some(failed_at.seconds_since(first.at) / 3600.0)
            };
            let leads = |from| (0..sides).map(|place| lead(place, from)).collect();
            FailureRow {
                bearing: bearing.bearing.clone(),
                failed_at,
                is_within_events: is_within(bearing, failed_at, horizon_s),
                lead_h: leads(RiskLevel::Watch),
                lead_warning_h: leads(RiskLevel::Warning),
            }
        })
    });
    rows.collect()
}

/// Told episodes by the report of staff that came while they stood or next after them.
fn checked(place: usize, machines: &[MachinePlayed]) -> CheckedFigures {
    let mut figures = CheckedFigures::default();
    for bearing in machines.iter().flat_map(|machine| &machine.bearings) {
        let Some(side) = bearing.sides.get(place) else { continue };
        let told: Vec<(&EpisodePlayed, Timestamp)> =
            side.episodes.iter().filter_map(|one| Some((one, side.first_told(one)?.at))).collect();
        for (number, (_, first)) in told.iter().enumerate() {
            let next = told.get(number + 1).map(|(_, next)| *next);
            let is_of_it = |at: Timestamp| at >= *first && next.is_none_or(|next| at < next);
            let verdicts = bearing.reported.iter().filter(|report| is_of_it(report.at));
            match verdicts.filter_map(|report| report.verdict).next_back() {
                None => figures.not_checked += 1,
                Some(Verdict::Right) => figures.right += 1,
                Some(Verdict::Wrong) => figures.wrong += 1,
                Some(Verdict::OtherCause) => figures.other_cause += 1,
            }
        }
    }
    figures
}
