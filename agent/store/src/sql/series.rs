//! Series of measuring stations, past cases, and bearings as stations.

use pdm_decision::series::MOST_VALUES;
use pdm_decision::table::SeriesValue;
use pdm_decision::{Case, Sample, Window};
use pdm_shared::id::BearingKey;
use pdm_shared::text::Text;
use serde_json::Value;

use super::Database;
use crate::StoreError;
use crate::database::Row;
use crate::encoding::json_of;

/// Rows that one read may give: the values of a series and one more, so that too many are seen.
const MOST_ROWS: i64 = MOST_VALUES as i64 + 1;

/// Series of measuring stations and past cases; used by imports and by `abnormal_decision`.
#[derive(Debug, Clone)]
pub struct SeriesStore {
    pub(crate) database: Database,
}

impl SeriesStore {
    /// Writes values, all or none; tells how many are new or have changed.
    pub async fn put_series(&self, values: &[SeriesValue]) -> Result<u64, StoreError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        let mut changed = 0;
        for one in values {
            let query = connection.query(
                "INSERT INTO series_values (station_id, element, at_s, value) VALUES ($1, $2, $3, \
                 $4)
                 ON CONFLICT (station_id, element, at_s) DO UPDATE SET value = excluded.value
                 WHERE series_values.value IS DISTINCT FROM excluded.value",
            );
            let query = query.bind(one.station_id).bind(one.element.as_str());
            changed += query.bind(one.sample.at_s).bind(one.sample.value).execute().await?;
        }
        transaction.commit().await?;
        Ok(changed)
    }

    /// Writes past cases, all or none; one of the same id is replaced.
    pub async fn put_cases(&self, cases: &[Case]) -> Result<u64, StoreError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        let mut changed = 0;
        for case in cases {
            let Window { station_id, element, from_s, to_s } = &case.window;
            let query = connection.query(
                "INSERT INTO series_cases (id, station_id, element, from_s, to_s, what_ko, what_en,
                                           outcome_ko, outcome_en)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
                 ON CONFLICT (id) DO UPDATE SET station_id = excluded.station_id,
                     element = excluded.element, from_s = excluded.from_s, to_s = excluded.to_s,
                     what_ko = excluded.what_ko, what_en = excluded.what_en,
                     outcome_ko = excluded.outcome_ko, outcome_en = excluded.outcome_en",
            );
            let query = query.bind(case.id.as_str()).bind(*station_id).bind(element.as_str());
            let query = query.bind(*from_s).bind(*to_s);
            let query = query.bind(case.what.ko.as_str()).bind(case.what.en.as_str());
            let query = query.bind(case.outcome.ko.as_str()).bind(case.outcome.en.as_str());
            changed += query.execute().await?;
        }
        transaction.commit().await?;
        Ok(changed)
    }

    /// Gives a bearing a station number; false if either is taken.
    pub async fn name_station(
        &self,
        station_id: i64,
        bearing: &BearingKey,
    ) -> Result<bool, StoreError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        let query = connection.query(
            "INSERT INTO series_stations (station_id, site, equipment_id, bearing_id)
             SELECT $1, $2, $3, $4
             WHERE NOT EXISTS (SELECT 1 FROM series_values v WHERE v.station_id = $1)
             ON CONFLICT DO NOTHING",
        );
        let is_new = query.bind(station_id).bind_key(bearing).execute().await? > 0;
        transaction.commit().await?;
        Ok(is_new || self.bearing_of_station(station_id).await?.as_ref() == Some(bearing))
    }

    /// The bearing that a station number stands for.
    pub async fn bearing_of_station(
        &self,
        station_id: i64,
    ) -> Result<Option<BearingKey>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(
            "SELECT site, equipment_id, bearing_id FROM series_stations WHERE station_id = $1",
        );
        query.bind(station_id).fetch_optional().await?.as_ref().map(Row::key).transpose()
    }

    /// The values of a window in order of time, bounded; those of a bearing are the feature of that
    /// name in its events.
    pub async fn series(&self, window: &Window) -> Result<Vec<Sample>, StoreError> {
        if let Some(bearing) = self.bearing_of_station(window.station_id).await? {
            return self.features(&bearing, window).await;
        }
        let mut reader = self.database.read().await?;
        let query = reader.query(
            "SELECT at_s, value FROM series_values
             WHERE station_id = $1 AND element = $2 AND at_s >= $3 AND at_s <= $4
             ORDER BY at_s LIMIT $5",
        );
        let query = query.bind(window.station_id).bind(window.element.as_str());
        let rows = query.bind(window.from_s).bind(window.to_s).bind(MOST_ROWS).fetch_all().await?;
        let of = |row: &Row| Ok(Sample { at_s: row.get(0)?, value: row.get(1)? });
        rows.iter().map(of).collect()
    }

    /// Cases that ended at `before_s` or earlier with their values, the newest first.
    pub async fn series_cases(&self, before_s: i64, most: usize) -> Result<Vec<Case>, StoreError> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let rows = {
            let mut reader = self.database.read().await?;
            let query = reader.query(
                "SELECT id, station_id, element, from_s, to_s, what_ko, what_en, outcome_ko, \
                 outcome_en
                 FROM series_cases WHERE to_s <= $1 ORDER BY to_s DESC, id LIMIT $2",
            );
            query.bind(before_s).bind(most).fetch_all().await?
        };
        let mut cases = Vec::with_capacity(rows.len());
        for row in &rows {
            let mut case = case_of(row)?;
            case.samples = self.series(&case.window).await?;
            case.samples.truncate(usize::from(MOST_VALUES));
            cases.push(case);
        }
        Ok(cases)
    }

    /// Stations with their elements, or with their bearing in brackets.
    pub async fn stations(&self, most: usize) -> Result<Vec<(i64, String)>, StoreError> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let mut reader = self.database.read().await?;
        let query = reader.query(
            "SELECT station_id, element FROM (
                 SELECT DISTINCT station_id, element FROM series_values
                 UNION ALL
                 SELECT station_id, '(' || site || '/' || equipment_id || '/' || bearing_id || ')'
                 FROM series_stations) AS known
             ORDER BY station_id, element LIMIT $1",
        );
        let rows = query.bind(most).fetch_all().await?;
        rows.iter().map(|row| Ok((row.get(0)?, row.get::<String>(1)?))).collect()
    }
}

impl SeriesStore {
    /// The feature of that name in the events of a bearing.
    async fn features(
        &self,
        bearing: &BearingKey,
        window: &Window,
    ) -> Result<Vec<Sample>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(
            "SELECT measured_at_ms, payload FROM events
             WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3
               AND measured_at_ms >= $4 AND measured_at_ms <= $5
             ORDER BY measured_at_ms LIMIT $6",
        );
        let query = query.bind_key(bearing).bind(window.from_s.saturating_mul(1000));
        let rows = query.bind(window.to_s.saturating_mul(1000)).bind(MOST_ROWS).fetch_all().await?;
        let mut samples: Vec<Sample> = Vec::with_capacity(rows.len());
        for row in &rows {
            let at_ms: i64 = row.get(0)?;
            let event: Value = json_of("an event", row.get(1)?)?;
            let sample =
                Sample { at_s: at_ms.div_euclid(1000), value: feature(&event, &window.element) };
            // two events of one second: the later one stands
            match samples.last_mut().filter(|last| last.at_s == sample.at_s) {
                Some(last) => *last = sample,
                None => samples.push(sample),
            }
        }
        // a name that no event has is no series of missing values
        let is_known = samples.iter().any(|sample| sample.value.is_some());
        Ok(if is_known { samples } else { Vec::new() })
    }
}

/// A feature by its name (`rms_g`) or its path (`frequency_domain.bpfo.amplitude_g`).
fn feature(event: &Value, name: &str) -> Option<f64> {
    let path = |from: &Value| {
        name.split('.').try_fold(from, |value, step| value.get(step)).and_then(Value::as_f64)
    };
    let groups = ["time_domain", "frequency_domain", "anomaly", "trend", "operating"];
    path(event).or_else(|| groups.iter().find_map(|group| path(event.get(*group)?)))
}

fn case_of(row: &Row) -> Result<Case, StoreError> {
    let text = |ko: usize, en: usize| {
        Ok::<_, StoreError>(Text::new(row.get::<String>(ko)?, row.get::<String>(en)?))
    };
    Ok(Case {
        id: row.get(0)?,
        window: Window {
            station_id: row.get(1)?,
            element: row.get(2)?,
            from_s: row.get(3)?,
            to_s: row.get(4)?,
        },
        what: text(5, 6)?,
        outcome: text(7, 8)?,
        samples: Vec::new(),
    })
}
