//! A row of `episodes` as an episode.

use pdm_episode::Episode;
use pdm_episode::course::{Course, LevelCourse};
use pdm_shared::delivery::Notification;
use pdm_shared::episode::{AcknowledgementState, Condition, Suppression, Transition};
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use uuid::Uuid;

use crate::database::Row;
use crate::encoding::{count_of, json_of, time_of, word_of};
use crate::{Alarm, Beside, EpisodeRecord, StoreError, log};

/// A select of the columns of an episode, with its condition.
macro_rules! columns {
    ($($condition:literal)+) => {
        concat!(
            "SELECT site, equipment_id, bearing_id, episode_id, sequence, opened_at_ms,
                    changed_at_ms, closed_at_ms, transition, course, acknowledgement, suppression,
                    risk_level, repeats, repeat_at_ms, notification, telling, beside,
                    beside_level
             FROM episodes",
            $($condition),+
        )
    };
}
pub(in crate::sql) use columns;

/// The columns of an alarm.
pub(in crate::sql) struct AlarmColumns {
    pub(in crate::sql) risk: RiskLevel,
    pub(in crate::sql) notification: Notification,
}

impl AlarmColumns {
    /// The alarm of a row that has one.
    pub(in crate::sql) fn of(row: &Row, level: &str) -> Result<Option<Self>, StoreError> {
        let told = row.get::<Option<&str>>("notification")?;
        let level = row.get::<Option<&str>>(level)?;
        let (Some(told), Some(level)) = (told, level) else { return Ok(None) };
        let notification = json_of("a notification", told)?;
        Ok(Some(Self { risk: word_of("a risk", level)?, notification }))
    }
}

/// The episode of a row.
pub(in crate::sql) fn record_of(row: &Row) -> Result<EpisodeRecord, StoreError> {
    let opened_at = time_of(row.get("opened_at_ms")?)?;
    let told = AlarmColumns::of(row, "risk_level")?;
    let course = match row.get::<Option<&str>>("course")? {
        Some(course) => json_of("the course of an episode", course)?,
        None => carried_over(told.as_ref().map(|told| told.risk), opened_at),
    };
    let episode = Episode {
        id: row.get::<Uuid>("episode_id")?,
        sequence: row.get::<i64>("sequence")?.unsigned_abs(),
        opened_at,
        changed_at: time_of(row.get("changed_at_ms")?)?,
        closed_at: row.get::<Option<i64>>("closed_at_ms")?.map(time_of).transpose()?,
        transition: json_of("a transition", &format!("\"{}\"", row.get::<&str>("transition")?))?,
        course,
        acknowledgement: json_of("an acknowledgement", row.get("acknowledgement")?)?,
        suppression: json_of("a suppression", row.get("suppression")?)?,
    };
    let repeats = count_of(row.get("repeats")?);
    let repeat_at = row.get::<Option<i64>>("repeat_at_ms")?.map(time_of).transpose()?;
    let telling = row.get::<Option<&str>>("telling")?;
    let telling = telling.map(|text| json_of("how far an alarm was told", text)).transpose()?;
    let alarm = told.map(|told| Alarm {
        risk: told.risk,
        repeats,
        repeat_at,
        notification: told.notification,
        telling,
    });
    Ok(EpisodeRecord { episode, alarm, beside: beside_of(row)? })
}

/// The episode of a row for its bearing's next judgement and for what staff does: a part that
/// cannot be read is left out, so that neither stops. What is missing errs on the side of telling
/// staff once more: an alarm that cannot be read was not told, an acknowledgement was not made, a
/// suppression has ended.
pub(in crate::sql) fn record_as_readable(
    key: &BearingKey,
    row: &Row,
) -> Result<EpisodeRecord, StoreError> {
    if let Ok(record) = record_of(row) {
        return Ok(record);
    }
    let opened_at = time_of(row.get("opened_at_ms")?)?;
    let risk = row.get::<Option<&str>>("risk_level")?;
    let risk = risk.and_then(|word| part(key, "level", word_of("a risk", word)));
    let told = part(key, "alarm", AlarmColumns::of(row, "risk_level")).flatten();
    let course = row.get::<Option<&str>>("course")?;
    let course = course.and_then(|text| part(key, "course", json_of("a course", text)));
    let mut course = course.unwrap_or_else(|| carried_over(risk, opened_at));
    if told.is_none() {
        (course.told, course.is_announced) = (None, false);
    }
    let acknowledgement = json_of("an acknowledgement", row.get("acknowledgement")?);
    let suppression = json_of("a suppression", row.get("suppression")?);
    let transition = format!("\"{}\"", row.get::<&str>("transition")?);
    let transition = json_of("a transition", &transition);
    let episode = Episode {
        id: row.get::<Uuid>("episode_id")?,
        sequence: row.get::<i64>("sequence")?.unsigned_abs(),
        opened_at,
        changed_at: time_of(row.get("changed_at_ms")?)?,
        closed_at: row.get::<Option<i64>>("closed_at_ms")?.map(time_of).transpose()?,
        transition: part(key, "transition", transition).unwrap_or(Transition::Changed),
        course,
        acknowledgement: part(key, "acknowledgement", acknowledgement)
            .unwrap_or(AcknowledgementState::Unacknowledged),
        suppression: part(key, "suppression", suppression).unwrap_or(Suppression::None),
    };
    let repeats = count_of(row.get("repeats")?);
    let repeat_at = row.get::<Option<i64>>("repeat_at_ms")?.map(time_of).transpose()?;
    let telling = row.get::<Option<&str>>("telling")?;
    let telling = telling.and_then(|text| part(key, "telling", json_of("a telling", text)));
    let alarm = told.map(|told| Alarm {
        risk: told.risk,
        repeats,
        repeat_at,
        notification: told.notification,
        telling,
    });
    let beside = part(key, "neighbour", beside_of(row)).flatten();
    Ok(EpisodeRecord { episode, alarm, beside })
}

/// Returns a part of an episode; `None` if it cannot be read, which is logged with the bearing's
/// name.
fn part<T>(key: &BearingKey, name: &'static str, read: Result<T, StoreError>) -> Option<T> {
    read.inspect_err(|error| log::episode_part_lost(key, name, error)).ok()
}

/// The alarm that an episode is told with.
fn beside_of(row: &Row) -> Result<Option<Beside>, StoreError> {
    let Some(name) = row.get::<Option<&str>>("beside")? else { return Ok(None) };
    let mut parts = name.splitn(3, '/');
    let mut part = || parts.next().unwrap_or_default();
    let Ok(source) = BearingKey::parse(part(), part(), part()) else { return Ok(None) };
    let level = row.get::<Option<&str>>("beside_level")?.unwrap_or_default();
    Ok(Some(Beside { source, level: word_of("a risk", level)? }))
}

/// The course of an alarm of an earlier version, which knew its level and when it was told alone.
fn carried_over(risk: Option<RiskLevel>, at: Timestamp) -> Course {
    let mut course = Course::normal(at);
    let Some(risk) = risk else { return course };
    course.condition = Condition::Active { level: risk, since: at };
    course.told = Some(risk);
    course.is_announced = true;
    let reached = RiskLevel::ALL.into_iter().filter(|one| *one > RiskLevel::Normal && *one <= risk);
    for level in reached {
        let tellings = if level == risk { vec![at] } else { Vec::new() };
        course.levels.insert(level, LevelCourse { tellings, ..LevelCourse::default() });
    }
    course
}
