//! The store's series as `abnormal_decision` sees them.

use async_trait::async_trait;
use pdm_decision::{Case, Sample, SeriesSource, Window};
use pdm_store::{SeriesStore, StoreError};
use pdm_tools::exec::Failure;

/// The series that the store keeps.
#[derive(Debug, Clone)]
pub(crate) struct StoredSeries(pub(crate) SeriesStore);

#[async_trait]
impl SeriesSource for StoredSeries {
    async fn values(&self, window: &Window) -> Result<Vec<Sample>, Failure> {
        self.0.series(window).await.map_err(away)
    }

    async fn cases(&self, before_s: i64, most: usize) -> Result<Vec<Case>, Failure> {
        self.0.series_cases(before_s, most).await.map_err(away)
    }

    async fn bearing(&self, station_id: i64) -> Result<Option<String>, Failure> {
        let key = self.0.bearing_of_station(station_id).await.map_err(away)?;
        Ok(key.map(|key| key.to_string()))
    }

    async fn known(&self, most: usize) -> Result<Vec<(i64, String)>, Failure> {
        self.0.stations(most).await.map_err(away)
    }
}

fn away(error: StoreError) -> Failure {
    Failure::Transient(error.to_string())
}
