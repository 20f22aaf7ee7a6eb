//! The agent's store as what pages and API read.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use pdm_routes::RouteTable;
use pdm_service::clock::SharedClock;
use pdm_shared::delivery::{ACK_SCHEMA, Acknowledgement as Ack, Notification};
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::event::Event;
use pdm_shared::follow_up::FollowUpReport;
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use pdm_shared::topic::Prefix;
use pdm_shared::trace::TraceStep;
use pdm_store::{EpisodeRecord, Incoming, Reported, Store, StoreError};
use pdm_web::plant::{
    Acknowledged, Acknowledgement, Article, ArticleRow, BearingRow, CaptureAsked, CaptureDemandRow,
    CaptureDemanded, CaptureDrawn, CaptureFound, CaptureNpy, CaptureRow, ChangeRequest, Changed,
    ChannelRow, DocumentFile, DocumentRow, DutyRow, EpisodeDetail, EpisodeFilter, GatewayRow,
    ListPlace, MachineAround, MachinePlaces, PhotoFile, PhotoKept, PhotoKind, PhotoRow, Plant,
    PlantError, RefusedRow, RelearnAsked, RelearnRow, Remark, RepairRow, ReportRow, ShelfEnd,
    ShelfRequest, Shelved, WindowRow, Withdrawn, WorkFigures, WorkRow, WorkSheet,
};
use uuid::Uuid;

use super::orders::Orders;
use super::rows::{detail_of, gateway_of};
use super::{articles, demanded, documents, duty, orders, shelf, surroundings, unacknowledged};
use crate::captures::Captures;
use crate::intake::parse::episode_topic;
use crate::photos::Photos;
use crate::removal::{self, Ground};

/// A plant whose pages read the store.
#[derive(Debug)]
pub(crate) struct StoredPlant {
    pub(crate) store: Store,
    pub(crate) clock: SharedClock,
    /// The topic of refused messages; an acknowledgement is never refused.
    pub(crate) dead_letters: String,
    /// The first levels of every topic.
    pub(crate) prefix: Prefix,
    /// The topics and owners that changes of the plant need.
    pub(crate) ground: Ground,
    /// The configured ways to staff.
    pub(crate) lanes: Arc<[String]>,
    /// Where documents are written, if they are.
    pub(crate) documents: Option<PathBuf>,
    /// Photos, where documents are written.
    pub(crate) photos: Option<Photos>,
    /// Captured waveforms, where they are kept.
    pub(crate) captures: Option<Captures>,
    /// The settings and sources from which work orders are built.
    pub(crate) orders: Orders,
    /// The lowest risk that is repeated while nobody acknowledges it, and after how many hours;
    /// `None` if none is.
    pub(crate) repeats: Option<(RiskLevel, f64)>,
    /// The plant's clock, and who is on duty when.
    pub(crate) table: Arc<RouteTable>,
}

pub(super) fn away(error: StoreError) -> PlantError {
    PlantError::from(error)
}

impl StoredPlant {
    /// The time from which on everything is read: far enough ahead for a clock that was ahead.
    fn end(&self) -> Timestamp {
        self.clock.now().ten_years_on()
    }

    /// The time up to which windows are the bearing's last ones: `intake.ahead_s` is a day at most,
    /// and what lies beyond was measured by a wrong clock.
    fn last(&self) -> Timestamp {
        self.clock.now().plus_seconds(86_400.0)
    }
}

#[async_trait]
impl Plant for StoredPlant {
    async fn surroundings(&self, site: &str, equipment: &str) -> Result<MachineAround, PlantError> {
        surroundings::surroundings_of(&self.store, site, equipment).await.map_err(away)
    }

    async fn machine_sites(&self, equipment: &str) -> Result<Vec<String>, PlantError> {
        surroundings::sites_of_id(&self.store, equipment).await.map_err(away)
    }

    async fn machine_places(&self) -> Result<MachinePlaces, PlantError> {
        surroundings::places(&self.store).await.map_err(away)
    }

    fn designation(&self, key: &BearingKey) -> Option<String> {
        self.orders.settings.asset_of_bearing(key).designation
    }

    fn machine_name(&self, key: &BearingKey) -> Option<Text> {
        self.orders.settings.asset_of_bearing(key).equipment
    }

    async fn fleet(&self) -> Result<Vec<BearingRow>, PlantError> {
        let now = self.clock.now();
        let rows = self.store.pages().fleet().await.map_err(away)?;
        Ok(rows.into_iter().map(|row| row.at(now)).collect())
    }

    async fn machine(&self, equipment: &str) -> Result<Vec<BearingRow>, PlantError> {
        let now = self.clock.now();
        let rows = self.store.pages().machine(equipment).await.map_err(away)?;
        Ok(rows.into_iter().map(|row| row.at(now)).collect())
    }

    async fn bearing(&self, key: &BearingKey) -> Result<Option<BearingRow>, PlantError> {
        let row = self.store.pages().standing(key).await.map_err(away)?;
        Ok(row.map(|row| row.at(self.clock.now())))
    }

    async fn windows(
        &self,
        key: &BearingKey,
        until: Option<Timestamp>,
        limit: u32,
    ) -> Result<Vec<WindowRow>, PlantError> {
        let until = until.unwrap_or_else(|| self.last());
        self.store.pages().windows(key, until, limit).await.map_err(away)
    }

    async fn spectra(
        &self,
        key: &BearingKey,
        until: Option<Timestamp>,
        limit: u32,
    ) -> Result<Vec<Event>, PlantError> {
        let until = until.unwrap_or_else(|| self.last());
        self.store.pages().last_spectra(key, until, limit).await.map_err(away)
    }

    async fn first_spectra(&self, key: &BearingKey, limit: u32) -> Result<Vec<Event>, PlantError> {
        self.store.pages().first_spectra(key, limit).await.map_err(away)
    }

    async fn event(&self, event_id: EventId) -> Result<Option<Event>, PlantError> {
        self.store.history().event(event_id).await.map_err(away)
    }

    async fn diagnosis(&self, event_id: EventId) -> Result<Option<Diagnosis>, PlantError> {
        self.store.history().diagnosis(event_id).await.map_err(away)
    }

    async fn trace(&self, event_id: EventId) -> Result<Vec<TraceStep>, PlantError> {
        self.store.history().trace(event_id).await.map_err(away)
    }

    async fn notifications(
        &self,
        of: Option<&BearingKey>,
        before: Option<Timestamp>,
        limit: u32,
    ) -> Result<Vec<Notification>, PlantError> {
        let before = before.unwrap_or_else(|| self.end());
        self.store.pages().notifications(of, before, limit).await.map_err(away)
    }

    async fn channels(&self) -> Result<Vec<ChannelRow>, PlantError> {
        let mut rows = self.store.outbox().channels(self.clock.now()).await.map_err(away)?;
        for lane in &*self.lanes {
            if !rows.iter().any(|row| row.lane == *lane) {
                rows.push(ChannelRow::sound(lane.clone()));
            }
        }
        rows.sort_by(|a, b| b.is_failing.cmp(&a.is_failing).then_with(|| a.lane.cmp(&b.lane)));
        Ok(rows)
    }

    async fn gateways(&self) -> Result<Vec<GatewayRow>, PlantError> {
        let gateways = self.store.gateways().gateways().await.map_err(away)?;
        Ok(gateways.into_iter().map(gateway_of).collect())
    }

    async fn refused(&self) -> Result<Vec<RefusedRow>, PlantError> {
        let refused = self.store.gateways().refused().await.map_err(away)?;
        Ok(refused.into_iter().map(|one| self.ground.refused(one)).collect())
    }

    async fn change(&self, request: ChangeRequest) -> Result<Changed, PlantError> {
        let (store, now) = (&self.store, self.clock.now());
        let changed = removal::change(store, &self.ground, &request, now).await.map_err(away)?;
        if !request.is_dry {
            let ChangeRequest { change, who, via, .. } = &request;
            tracing::info!(?change, who, via, ?changed, "a change of the plant was asked for");
        }
        Ok(changed)
    }

    async fn episodes(
        &self,
        filter: EpisodeFilter,
        before: Option<ListPlace>,
        limit: u32,
    ) -> Result<Vec<EpisodeDetail>, PlantError> {
        let page = self.store.desk().episode_page(filter, before, limit).await?;
        let rows = self.store.pages().fleet().await?;
        let rows: HashMap<_, _> = rows.iter().map(|row| (row.key.clone(), row)).collect();
        let detail = |(key, record): (BearingKey, _)| {
            let row = rows.get(&key).copied();
            detail_of((key, record), row)
        };
        Ok(page.into_iter().map(detail).collect())
    }

    async fn episode(&self, id: Uuid) -> Result<Option<EpisodeDetail>, PlantError> {
        let Some((key, record)) = self.store.desk().episode_by_id(id).await? else {
            return Ok(None);
        };
        let row = self.store.pages().standing(&key).await?;
        Ok(Some(detail_of((key, record), row.as_ref())))
    }

    async fn remarks(
        &self,
        key: &BearingKey,
        opened_at: Timestamp,
    ) -> Result<Vec<Remark>, PlantError> {
        Ok(self.store.desk().remarks(key, opened_at).await?)
    }

    async fn remark(&self, key: &BearingKey, by: &str, note: &str) -> Result<(), PlantError> {
        Ok(self.store.desk().remark(key, by, note, self.clock.now()).await?)
    }

    async fn note(
        &self,
        key: &BearingKey,
        by: &str,
        note: &str,
        at: Timestamp,
    ) -> Result<(), PlantError> {
        Ok(self.store.desk().note(key, by, note, at, self.clock.now()).await?)
    }

    async fn remarks_of(&self, key: &BearingKey, limit: u32) -> Result<Vec<Remark>, PlantError> {
        Ok(self.store.desk().remarks_of(key, limit).await?)
    }

    async fn request_relearning(
        &self,
        key: &BearingKey,
        by: &str,
        id: Uuid,
    ) -> Result<RelearnAsked, PlantError> {
        demanded::relearning(self, key, by, id).await
    }

    async fn relearning(&self, key: &BearingKey) -> Result<Option<RelearnRow>, PlantError> {
        Ok(self.store.desk().relearning_of(key, self.clock.now()).await?)
    }

    async fn repairs_to_learn(&self) -> Result<Vec<RepairRow>, PlantError> {
        Ok(self.store.desk().repairs_to_learn().await?)
    }

    async fn work_figures(&self, since: Timestamp) -> Result<WorkFigures, PlantError> {
        orders::work_figures(&self.store, since, self.clock.now()).await.map_err(away)
    }

    async fn work(
        &self,
        is_open: bool,
        before: Option<ListPlace>,
        limit: u32,
    ) -> Result<Vec<WorkRow>, PlantError> {
        Ok(self.store.desk().work_page(is_open, before, limit).await?)
    }

    async fn work_of(&self, event_id: EventId) -> Result<Vec<WorkRow>, PlantError> {
        Ok(self.store.desk().work_of(event_id).await?)
    }

    async fn report(&self, key: &BearingKey, report: FollowUpReport) -> Result<bool, PlantError> {
        let reported = self.store.follow_ups().report(key, &report, self.clock.now()).await?;
        Ok(reported != Reported::Unknown)
    }

    async fn report_one(
        &self,
        key: &BearingKey,
        report: FollowUpReport,
    ) -> Result<Option<Vec<WorkRow>>, PlantError> {
        match self.store.follow_ups().report_one(key, &report, self.clock.now()).await? {
            Reported::Unknown => Ok(None),
            Reported::Taken(_) | Reported::Kept => Ok(Some(Vec::new())),
            Reported::Undecided => Ok(Some(self.store.desk().open_work_of(key).await?)),
        }
    }

    async fn open_work_of(&self, key: &BearingKey) -> Result<Vec<WorkRow>, PlantError> {
        Ok(self.store.desk().open_work_of(key).await?)
    }

    async fn report_by_id(&self, id: Uuid) -> Result<Option<ReportRow>, PlantError> {
        Ok(self.store.desk().report_by_id(id).await?)
    }

    async fn reports(&self, key: &BearingKey, limit: u32) -> Result<Vec<ReportRow>, PlantError> {
        Ok(self.store.desk().reports_of(key, limit).await?)
    }

    async fn withdraw_report(&self, id: Uuid, by: &str) -> Result<Withdrawn, PlantError> {
        Ok(self.store.desk().withdraw_report(id, by, self.clock.now()).await?)
    }

    async fn documents(&self, event_id: EventId) -> Result<Vec<DocumentRow>, PlantError> {
        let Some(folder) = &self.documents else { return Ok(Vec::new()) };
        Ok(documents::documents_of_event(&self.store, folder, event_id).await?)
    }

    async fn document(&self, name: &str) -> Result<Option<DocumentFile>, PlantError> {
        let Some(folder) = &self.documents else { return Ok(None) };
        Ok(documents::document_by_name(&self.store, folder, name).await?)
    }

    async fn work_sheet(&self, event_id: EventId) -> Result<Option<WorkSheet>, PlantError> {
        self.orders.sheet(&self.store, event_id).await
    }

    async fn keep_photo(
        &self,
        event_id: EventId,
        by: &str,
        kind: PhotoKind,
        bytes: Vec<u8>,
    ) -> Result<PhotoKept, PlantError> {
        match &self.photos {
            Some(photos) => photos.keep(event_id, by, kind, bytes).await,
            None => Ok(PhotoKept::NoPlace),
        }
    }

    async fn photos(&self, event_id: EventId) -> Result<Vec<PhotoRow>, PlantError> {
        Ok(self.store.photos().photos_of(event_id).await?)
    }

    async fn photo(&self, id: Uuid) -> Result<Option<PhotoFile>, PlantError> {
        match &self.photos {
            Some(photos) => photos.read(id).await,
            None => Ok(None),
        }
    }

    async fn remove_photo(&self, id: Uuid) -> Result<Option<PhotoRow>, PlantError> {
        match &self.photos {
            Some(photos) => photos.remove(id).await,
            None => Ok(None),
        }
    }

    async fn captures(
        &self,
        key: &BearingKey,
        before: Option<Timestamp>,
        limit: u32,
    ) -> Result<Vec<CaptureRow>, PlantError> {
        Ok(self
            .store
            .captures()
            .captures_of(key, before.unwrap_or_else(|| self.end()), limit)
            .await?)
    }

    async fn capture(&self, id: Uuid) -> Result<Option<CaptureFound>, PlantError> {
        Ok(self.store.captures().capture_by_id(id).await?)
    }

    async fn capture_wav(&self, id: Uuid) -> Result<Option<Vec<u8>>, PlantError> {
        match &self.captures {
            Some(captures) => captures.wav(id).await,
            None => Ok(None),
        }
    }

    async fn capture_npy(&self, id: Uuid) -> Result<Option<CaptureNpy>, PlantError> {
        match &self.captures {
            Some(captures) => captures.npy(id).await,
            None => Ok(None),
        }
    }

    fn takes_captures(&self) -> bool {
        self.captures.is_some()
    }

    async fn demand_capture(
        &self,
        key: &BearingKey,
        by: &str,
    ) -> Result<CaptureDemanded, PlantError> {
        demanded::demand(self, key, by).await
    }

    async fn capture_demand(
        &self,
        key: &BearingKey,
    ) -> Result<Option<CaptureDemandRow>, PlantError> {
        Ok(self.store.captures().capture_demand_of(key, self.clock.now()).await?)
    }

    async fn capture_drawn(
        &self,
        id: Uuid,
        asked: CaptureAsked,
    ) -> Result<Option<CaptureDrawn>, PlantError> {
        match &self.captures {
            Some(captures) => captures.drawn(id, asked).await,
            None => Ok(None),
        }
    }

    async fn capture_sound(
        &self,
        id: Uuid,
        is_filtered: bool,
    ) -> Result<Option<Vec<u8>>, PlantError> {
        match &self.captures {
            Some(captures) => captures.sound(id, is_filtered).await,
            None => Ok(None),
        }
    }

    async fn told_within(&self, key: &BearingKey, hours: f64) -> Result<u64, PlantError> {
        let since = self.clock.now().plus_seconds(-3600.0 * hours);
        Ok(self.store.desk().told_since(key, since).await?)
    }

    async fn acknowledge(&self, ack: Acknowledgement) -> Result<Acknowledged, PlantError> {
        let Acknowledgement { key, notification_id, by, note, via } = ack;
        let record = self.store.episodes().episode(&key).await.map_err(away)?;
        let alarm = record.filter(EpisodeRecord::is_open).and_then(|record| record.alarm);
        if alarm.is_none_or(|alarm| alarm.notification.notification_id != notification_id) {
            return Ok(Acknowledged::Stale);
        }
        let now = self.clock.now();
        let ack = Ack {
            schema: ACK_SCHEMA.to_owned(),
            notification_id: Some(notification_id),
            by,
            at: now,
            note,
            episode_id: None,
            via: Some(via.to_owned()),
        };
        let topic = episode_topic(&self.prefix, &key);
        tracing::info!(bearing = %key, by = ack.by, via, "an alarm was acknowledged");
        // the store takes it as it takes one from the broker
        let batch = [Incoming::Ack { key, ack, topic }];
        self.store.intake().store(&batch, now, &self.dead_letters).await.map_err(away)?;
        Ok(Acknowledged::Yes)
    }

    async fn unacknowledge(&self, key: &BearingKey, id: Uuid) -> Result<Withdrawn, PlantError> {
        unacknowledged::take_back(self, key, id).await
    }

    async fn duty(&self) -> Result<Vec<DutyRow>, PlantError> {
        let (table, now) = (Arc::clone(&self.table), self.clock.now());
        // two weeks of minutes are computed: kept off the async threads
        let rows = tokio::task::spawn_blocking(move || duty::rows(&table, now)).await;
        rows.map_err(|error| PlantError::Unavailable(error.to_string()))
    }

    async fn article(&self, id: &str) -> Result<Option<Article>, PlantError> {
        articles::article(&self.orders.knowledge, id).await
    }

    async fn articles(&self, words: &str) -> Result<Vec<ArticleRow>, PlantError> {
        articles::search(&self.orders.knowledge, words).await
    }

    fn shelf_end(&self, end: &ShelfEnd) -> Option<Timestamp> {
        const MORNING: u32 = 7;
        let (zone, now) = (self.table.zone, self.clock.now());
        match end {
            ShelfEnd::Tomorrow => zone.morning(now, MORNING, false),
            ShelfEnd::Monday => zone.morning(now, MORNING, true),
            ShelfEnd::Written(text) => zone.written(text),
        }
    }

    fn zone(&self) -> &'static str {
        self.table.zone.name()
    }

    async fn shelve(&self, request: ShelfRequest) -> Result<Shelved, PlantError> {
        shelf::shelve(self, request).await
    }
}
