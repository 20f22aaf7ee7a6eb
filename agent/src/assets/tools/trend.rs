//! Trends of a bearing and of a machine: a summary, and one row a day. A day's row holds the last
//! window of the day as the edge measured it; nothing is computed from signals here.

use std::collections::BTreeMap;

use chrono::{Days, NaiveTime};
use futures_util::future::try_join_all;
use pdm_shared::event::Event;
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use pdm_tools::exec::Failure;
use serde_json::{Value as Json, json};

use super::{AssetTools, away, bearing_key};

pub(super) const DAY_MS: i64 = 86_400_000;

/// The periods of a trend.
const PERIODS: [&str; 5] = ["1w", "1m", "3m", "6m", "1y"];

/// The days of a period.
///
/// # Errors
/// [`Failure::Permanent`] with the periods that there are.
pub(super) fn days_of(period: &str, allowed: &[&str]) -> Result<i64, Failure> {
    let days = match period {
        "1d" => 1,
        "1w" => 7,
        "1m" => 30,
        "3m" => 91,
        "6m" => 182,
        "1y" => 365,
        _ => 0,
    };
    if days > 0 && allowed.contains(&period) {
        return Ok(days);
    }
    Err(Failure::Permanent(format!("period: is {period}, allowed are {}", allowed.join(", "))))
}

/// A day of a bearing.
struct Day {
    begin_ms: i64,
    windows: u64,
    last: Event,
}

/// A row of the answer with what the summary is made of.
struct Row {
    date: String,
    windows: u64,
    level: Option<f64>,
    json: Json,
}

/// The features of a bearing over its days: name, unit, and the values in the order of the days.
#[derive(Default)]
struct FeatureTrends([Vec<f64>; 3]);

impl FeatureTrends {
    const NAMES: [(&'static str, &'static str); 3] =
        [("velocity_rms", "mm/s"), ("acceleration_rms", "g"), ("kurtosis", "1")];

    fn add(&mut self, event: &Event) {
        let domain = &event.time_domain;
        let values = [domain.velocity_rms_mm_s, domain.rms_g, domain.kurtosis];
        for (kept, value) in self.0.iter_mut().zip(values) {
            kept.extend(value);
        }
    }

    fn rows(&self) -> Vec<Json> {
        let rows = Self::NAMES.iter().zip(&self.0).filter(|(_, values)| !values.is_empty());
        rows.map(|((name, unit), values)| {
            json!({
                "feature": name,
                "unit": unit,
                "start": values.first(),
                "end": values.last(),
                "high": values.iter().copied().reduce(f64::max),
                "low": values.iter().copied().reduce(f64::min),
                "change_percent": rate(values),
            })
        })
        .collect()
    }
}

/// The units of a summary's fields whose names do not say them.
fn units() -> Json {
    json!({ "high": "mm/s", "low": "mm/s", "change_rate": "%" })
}

/// A day of a machine.
#[derive(Default)]
struct MachineDay {
    windows: u64,
    worst: Option<(f64, String)>,
    anomalies: u64,
}

impl AssetTools {
    /// The first moments of the last days of the plant's clock, oldest first. A day is 24 hours
    /// long from there on: on the two days a year on which a clock is set, one hour counts twice or
    /// not.
    fn begins_of(&self, days: i64) -> Vec<i64> {
        let today = self.zone.local(self.clock.now()).date();
        let begin = |back: i64| {
            let day = today.checked_sub_days(Days::new(back.unsigned_abs()))?;
            Some(self.zone.instant(day.and_time(NaiveTime::MIN))?.unix_ms())
        };
        (0..days).rev().filter_map(begin).collect()
    }

    /// The day of the plant's clock that begins at a moment.
    fn date_of(&self, begin_ms: i64) -> String {
        let begin = Timestamp::from_unix_ms(begin_ms);
        begin.map(|begin| self.zone.local(begin).date().to_string()).unwrap_or_default()
    }

    async fn days(&self, key: &BearingKey, days: i64) -> Result<Vec<Day>, Failure> {
        let begins = self.begins_of(days);
        let found = self.store.graph().last_of_days(key, &begins).await.map_err(away)?;
        let days = found.into_iter();
        Ok(days.map(|(begin_ms, windows, last)| Day { begin_ms, windows, last }).collect())
    }

    /// The trend of a bearing.
    pub(super) async fn bearing_trend(&self, id: &str, period: &str) -> Result<Json, Failure> {
        let days = days_of(period, &PERIODS)?;
        let key = self.bearing_named(id).await?;
        let (mut rows, mut features) = (Vec::new(), FeatureTrends::default());
        for Day { begin_ms, windows, last } in self.days(&key, days).await? {
            let level = last.time_domain.velocity_rms_mm_s;
            let date = self.date_of(begin_ms);
            features.add(&last);
            let json = json!({
                "date": date,
                "windows": windows,
                "velocity_rms_mm_s": level,
                "rms_g": last.time_domain.rms_g,
                "kurtosis": last.time_domain.kurtosis,
                "anomaly_score": last.anomaly.score,
                "anomaly_detected": last.anomaly_detected,
                "shaft_speed_rpm": last.operating.shaft_speed_rpm,
            });
            rows.push(Row { date, windows, level, json });
        }
        let also = json!({ "features": features.rows(), "units": units() });
        Ok(told("bearing_id", &key.to_string(), period, rows, also))
    }

    /// The bearing of a full name, or of `equipment/bearing` where one site alone has it.
    async fn bearing_named(&self, id: &str) -> Result<BearingKey, Failure> {
        let parts: Vec<&str> = id.split('/').map(str::trim).collect();
        let [equipment, bearing] = parts.as_slice() else { return bearing_key(id) };
        let rows = self.store.pages().machine(equipment).await.map_err(away)?;
        let mut of_name = rows.into_iter().filter(|row| row.key.bearing.as_str() == *bearing);
        match (of_name.next(), of_name.next()) {
            (Some(one), None) => Ok(one.key),
            _ => bearing_key(id),
        }
    }

    /// The trend of a machine: the worst bearing of each day stands for it.
    pub(super) async fn equipment_trend(&self, id: &str, period: &str) -> Result<Json, Failure> {
        let days = days_of(period, &PERIODS)?;
        let machine = self.equipment(id).await?;
        let bearings = self.bearings(&machine).await?;
        let now_ms = self.clock.now().unix_ms();
        let keys = bearings.iter().filter_map(|one| bearing_key(one["bearing_id"].as_str()?).ok());
        let risks = keys
            .map(|key| async move { self.store.graph().risk_at(&key, now_ms).await.map_err(away) });
        let (risks, by_day) = tokio::try_join!(try_join_all(risks), self.by_day(&bearings, days))?;
        let worst_risk = risks.into_iter().max().flatten();
        let rows =
            by_day.into_iter().map(|(begin_ms, day)| day.row(self.date_of(begin_ms))).collect();
        let also = json!({
            "units": units(),
            "bearings": bearings.len(),
            "worst_risk": worst_risk.map(RiskLevel::as_str),
        });
        Ok(told("equipment_id", id, period, rows, also))
    }
}

impl AssetTools {
    /// The change of the level of a machine over a week, a month and three months, percent.
    pub(super) async fn changes_of_level(&self, bearings: &[Json]) -> Result<Json, Failure> {
        let by_day = self.by_day(bearings, 91).await?;
        let mut changes = json!({});
        for (period, days) in [("1w", 7), ("1m", 30), ("3m", 91)] {
            let begin = self.begins_of(days).first().copied().unwrap_or_default();
            let levels = by_day.range(begin..).filter_map(|(_, day)| day.worst.as_ref());
            let levels: Vec<f64> = levels.map(|(level, _)| *level).collect();
            changes[period] = rate(&levels).into();
        }
        Ok(changes)
    }

    /// The days of a machine: its bearings together.
    async fn by_day(
        &self,
        bearings: &[Json],
        days: i64,
    ) -> Result<BTreeMap<i64, MachineDay>, Failure> {
        let keys = bearings.iter().filter_map(|one| bearing_key(one["bearing_id"].as_str()?).ok());
        let found = keys.map(|key| async move {
            let days = self.days(&key, days).await?;
            Ok::<_, Failure>((key, days))
        });
        let mut by_day: BTreeMap<i64, MachineDay> = BTreeMap::new();
        for (key, days) in try_join_all(found).await? {
            for day in days {
                by_day.entry(day.begin_ms).or_default().add(&day, &key);
            }
        }
        Ok(by_day)
    }
}

/// The change from the first to the last level, percent.
fn rate(levels: &[f64]) -> Option<f64> {
    let ends = levels.first().zip(levels.last()).filter(|(start, _)| **start > 0.0);
    ends.map(|(start, end)| ((end / start - 1.0) * 10_000.0).round() / 100.0)
}

impl MachineDay {
    fn add(&mut self, day: &Day, key: &BearingKey) {
        self.windows += day.windows;
        self.anomalies += u64::from(day.last.anomaly_detected);
        if let Some(level) = day.last.time_domain.velocity_rms_mm_s
            && self.worst.as_ref().is_none_or(|(known, _)| level > *known)
        {
            self.worst = Some((level, key.to_string()));
        }
    }

    fn row(self, date: String) -> Row {
        let (level, bearing) = self.worst.unzip();
        let json = json!({
            "date": date,
            "windows": self.windows,
            "velocity_rms_mm_s": level,
            "worst_bearing_id": bearing,
            "bearings_with_anomaly": self.anomalies,
        });
        Row { date, windows: self.windows, level, json }
    }
}

/// The summary, and the rows with the newest first.
fn told(key: &str, id: &str, period: &str, mut rows: Vec<Row>, also: Json) -> Json {
    let levels: Vec<f64> = rows.iter().filter_map(|row| row.level).collect();
    let (start, end) = (levels.first().copied(), levels.last().copied());
    let mut summary = json!({
        key: id,
        "period": period,
        "data_count": rows.len(),
        "windows": rows.iter().map(|row| row.windows).sum::<u64>(),
        "start_date": rows.first().map(|row| row.date.clone()),
        "end_date": rows.last().map(|row| row.date.clone()),
        "start_velocity_rms_mm_s": start,
        "end_velocity_rms_mm_s": end,
        "high": levels.iter().copied().reduce(f64::max),
        "low": levels.iter().copied().reduce(f64::min),
        "change_rate": rate(&levels),
    });
    if let (Some(summary), Json::Object(also)) = (summary.as_object_mut(), also) {
        summary.extend(also);
    }
    rows.reverse();
    json!({ "summary": summary, "daily": rows.into_iter().map(|row| row.json).collect::<Vec<_>>() })
}
