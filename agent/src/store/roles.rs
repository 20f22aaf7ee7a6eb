//! What the store does, one trait for each task that uses it. A task holds the trait it needs, so its
//! type says what it may read and write.
//!
//! Every method is one transaction. Methods fail with [`StoreError`]; its variants say whether trying
//! again can help.

use async_trait::async_trait;
use pdm_decision::table::SeriesValue;
use pdm_decision::{Case, Sample, Window};
use pdm_expert::case::PastEvent;
use pdm_routes::ToldLately;
use pdm_shared::delivery::{Notification, Receipt};
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::event::Event;
use pdm_shared::follow_up::FollowUpReport;
use pdm_shared::id::{BearingKey, EquipmentId, EventId, GatewayKey, SiteId};
use pdm_shared::time::Timestamp;
use pdm_shared::trace::TraceStep;
use pdm_web::accounts::AccountStore;
use pdm_web::plant::{BearingRow, WindowRow};
use uuid::Uuid;

use super::{
    Announcement, Backlog, BearingJudged, Checkpoint, Delivery, EpisodeChange, EpisodeRecord,
    EpisodeVersion, Finished, FollowUp, Forget, Forgotten, GatewayState, Incoming, IntakeTerms,
    Pulse, Recall, RefusedEvents, Reported, RoomMade, RoomStage, StoreError, StoreSize, Stored,
    Unjudged, WorkCounts,
};

mod captures;
mod desk;
mod graph;
mod held;
mod messages;
mod opinion;
mod photos;
mod removal;

pub use captures::{CaptureNote, CaptureRoom, CaptureStore};
pub use desk::DeskStore;
pub use graph::{GraphStore, ReviseAssets};
pub use held::HeldStore;
pub use messages::{CeilingStore, ChannelStore, MessageStore, OutboxStore};
pub use opinion::OpinionStore;
pub use photos::{PhotoBounds, PhotoNoted, PhotoStore};
pub use removal::{History, PlantPart, Removal, RemovalStore, TakenOut};

/// Starting and ending the store; used by the program that opens it.
#[async_trait]
pub trait LifecycleStore: Send + Sync + std::fmt::Debug {
    /// Installs or updates the schema.
    async fn migrate(&self) -> Result<(), StoreError>;

    /// Frees the claims of an earlier process of the same replica name, which has ended.
    async fn take_over(&self) -> Result<(), StoreError>;

    /// Reads the password of the server again, for connections that are made from now on.
    async fn renew_login(&self) -> Result<(), StoreError>;

    /// Looks through the file for damage, which takes about a minute for 10 GB; tells what is damaged. A
    /// server checks its pages itself.
    async fn damage(&self) -> Result<Vec<String>, StoreError>;

    /// Writes what is buffered and closes the connections.
    async fn close(&self);
}

/// Whether the store answers and how much waits; used by `/healthz`, `/metrics` and the start.
#[async_trait]
pub trait StatusStore: Send + Sync + std::fmt::Debug {
    /// Succeeds if the store answers.
    async fn ping(&self) -> Result<(), StoreError>;

    /// Writes this agent's row of `heartbeats` and looks at the events that wait. It fails where any
    /// other write would.
    async fn beat(&self, now: Timestamp) -> Result<Pulse, StoreError>;

    /// Asks over a new connection why the store does not answer. An answer means that it does.
    async fn diagnose(&self) -> Result<(), StoreError>;

    /// How much waits.
    async fn backlog(&self) -> Result<Backlog, StoreError>;
}

/// Storing what comes in; used by the intake.
#[async_trait]
pub trait IntakeStore: Send + Sync + std::fmt::Debug {
    /// Stores a batch; only after this returns may its messages be acknowledged. Events are held to
    /// `terms`. A refused message that is new leaves on `dead_letter_topic`.
    async fn store_under(
        &self,
        terms: &IntakeTerms,
        batch: &[Incoming],
        now: Timestamp,
        dead_letter_topic: &str,
    ) -> Result<Stored, StoreError>;

    /// Stores a batch under the default terms.
    async fn store(
        &self,
        batch: &[Incoming],
        now: Timestamp,
        dead_letter_topic: &str,
    ) -> Result<Stored, StoreError> {
        self.store_under(&IntakeTerms::default(), batch, now, dead_letter_topic).await
    }
}

/// Gateways and their sequences; used by the receipts and by the watch for silent gateways.
#[async_trait]
pub trait GatewayStore: Send + Sync + std::fmt::Debug {
    /// What each gateway may forget and must send again.
    async fn receipts(
        &self,
        gateways: &[GatewayKey],
        now: Timestamp,
    ) -> Result<Vec<(SiteId, Receipt)>, StoreError>;

    /// Counts gaps noticed before `before` as lost; tells how many events that are.
    async fn lose_gaps(&self, before: Timestamp) -> Result<u64, StoreError>;

    /// Every gateway that has ever sent something, in the order of their names.
    async fn gateways(&self) -> Result<Vec<GatewayState>, StoreError>;

    /// Every bearing that belongs to the gateway of its first event, in the order of their names.
    async fn bearing_owners(&self) -> Result<Vec<(BearingKey, GatewayKey)>, StoreError>;

    /// Lets the next event decide which gateway a bearing belongs to. False if it belongs to none.
    async fn release_bearing(&self, bearing: &BearingKey) -> Result<bool, StoreError>;

    /// Forgets how a gateway has proven itself: the topic and the count of sequence numbers of its next
    /// events and status are taken as they are. False if the gateway is not known.
    async fn release_gateway(&self, gateway: &GatewayKey) -> Result<bool, StoreError>;

    /// Events that are refused, by gateway, bearing and cause, in this order.
    async fn refused(&self) -> Result<Vec<RefusedEvents>, StoreError>;

    /// Notes that staff was told of these refused events at `now`.
    async fn note_refusals_told(
        &self,
        told: &[RefusedEvents],
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Notes that staff was told of so many lost events of a gateway; true if it had been told of `before`.
    async fn note_lost_told(
        &self,
        gateway: &GatewayKey,
        before: u64,
        now: u64,
    ) -> Result<bool, StoreError>;

    /// Forgets refused events: they are taken now, or came no more for long.
    async fn forget_refused(&self, over: &[RefusedEvents]) -> Result<(), StoreError>;
}

/// Reading what waits and writing judgements; used by the judging task.
#[async_trait]
pub trait JudgementStore: HeldStore + Send + Sync + std::fmt::Debug {
    /// The next events to be judged, at most `limit`, in the order of arrival. No other replica gets
    /// an event of their bearings until this agent calls again.
    async fn unjudged(&self, limit: u32) -> Result<Vec<Unjudged>, StoreError>;

    /// What a judgement of this bearing starts from. Judgements of windows that were measured after
    /// `until` are left out: their clock was ahead.
    async fn recall(&self, key: &BearingKey, until: Timestamp) -> Result<Recall, StoreError>;

    /// Alarms of a site that stand and were told at `since` or later, at most `limit`.
    async fn told_lately(
        &self,
        site: &SiteId,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<ToldLately>, StoreError>;

    /// Writes judgements with everything that leaves because of them. The steps of their runs stay;
    /// their checkpoints are deleted, or become those of their documents. An event that was judged
    /// before is left as it stands.
    async fn save(&self, judged: &[BearingJudged]) -> Result<(), StoreError>;

    /// Writes the state of an unfinished run, together with the `steps` that led to it. A step that is
    /// stored already stays as it is.
    async fn checkpoint(
        &self,
        event_id: EventId,
        checkpoint: &Checkpoint,
        steps: &[TraceStep],
    ) -> Result<(), StoreError>;

    /// Runs of judged events whose documents are left, at most `limit`, oldest first: those of `own`,
    /// and those that have not moved since `idle_since`; in a file, which has one agent, all.
    async fn unwritten(
        &self,
        own: &[EventId],
        idle_since: Timestamp,
        limit: u32,
    ) -> Result<Vec<(EventId, Checkpoint)>, StoreError>;

    /// Ends a run whose judgement was saved before: its last steps, and what staff is told of documents
    /// that could not be written. True if staff is told, false if not or if it was told before.
    async fn finish(&self, finished: &Finished) -> Result<bool, StoreError>;

    /// How many steps of an event's run are stored.
    async fn noted_steps(&self, event_id: EventId) -> Result<u32, StoreError>;
}

/// Looking back at events and judgements; used by documents, pages and the command line.
#[async_trait]
pub trait HistoryStore: Send + Sync + std::fmt::Debug {
    /// A stored event.
    async fn event(&self, event_id: EventId) -> Result<Option<Event>, StoreError>;

    /// The stored judgement of an event.
    async fn diagnosis(&self, event_id: EventId) -> Result<Option<Diagnosis>, StoreError>;

    /// The last `limit` windows of a bearing that were measured at or before `until`, oldest first,
    /// without their spectra.
    async fn history(
        &self,
        key: &BearingKey,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<PastEvent>, StoreError>;

    /// The bearings of which events are kept.
    async fn measured(&self) -> Result<Vec<BearingKey>, StoreError>;

    /// The next events of a machine in the order of their arrival, with their places in it, without their
    /// spectra; at most `limit` behind the place `after`.
    async fn arrivals(
        &self,
        site: &SiteId,
        equipment: &EquipmentId,
        after: i64,
        limit: u32,
    ) -> Result<Vec<(i64, Event)>, StoreError>;

    /// The steps of an event's run, in their order.
    async fn trace(&self, event_id: EventId) -> Result<Vec<TraceStep>, StoreError>;

    /// What became of a notification, by lane.
    async fn deliveries(&self, notification_id: Uuid) -> Result<Vec<Delivery>, StoreError>;
}

/// What pages and API show; used by the HTTP server.
#[async_trait]
pub trait PageStore: Send + Sync + std::fmt::Debug {
    /// Every bearing that was ever judged, worst first: risk, then stage, then name.
    async fn fleet(&self) -> Result<Vec<BearingRow>, StoreError>;

    /// The bearings of the machines of this name, in the same order.
    async fn machine(&self, equipment: &str) -> Result<Vec<BearingRow>, StoreError>;

    /// One bearing.
    async fn standing(&self, key: &BearingKey) -> Result<Option<BearingRow>, StoreError>;

    /// The last `limit` windows of a bearing measured at or before `until`, oldest first.
    async fn windows(
        &self,
        key: &BearingKey,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<WindowRow>, StoreError>;

    /// The bearing's last events with spectra that were measured at or before `until`, newest first.
    async fn last_spectra(
        &self,
        key: &BearingKey,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<Event>, StoreError>;

    /// The last `limit` notifications made before `before`, newest first; of one bearing, or of all.
    async fn notifications(
        &self,
        of: Option<&BearingKey>,
        before: Timestamp,
        limit: u32,
    ) -> Result<Vec<Notification>, StoreError>;
}

/// Actions that follow from judgements; used by the command line and the metrics.
#[async_trait]
pub trait FollowUpStore: Send + Sync + std::fmt::Debug {
    /// The actions that a judgement asks for; none if this event has no judgement.
    async fn follow_up(&self, event_id: EventId) -> Result<Vec<FollowUp>, StoreError>;

    /// Applies a report of staff on the work of a bearing. What was found goes into the bearing's memory
    /// and, with the judgement, into the knowledge base.
    async fn report(
        &self,
        key: &BearingKey,
        report: &FollowUpReport,
        now: Timestamp,
    ) -> Result<Reported, StoreError>;

    /// As [`FollowUpStore::report`] for a program: a report that names no action sets the work that is
    /// open. Where several judgements have any, it is kept and sets none ([`Reported::Undecided`]).
    async fn report_one(
        &self,
        key: &BearingKey,
        report: &FollowUpReport,
        now: Timestamp,
    ) -> Result<Reported, StoreError>;

    /// The bearing whose event was judged; none if this event has no judgement.
    async fn bearing_of(&self, event_id: EventId) -> Result<Option<BearingKey>, StoreError>;

    /// Counts of all work that is kept.
    async fn work_counts(&self, now: Timestamp) -> Result<WorkCounts, StoreError>;
}

/// Episodes; used by the watch over time, by pages and by the command line.
#[async_trait]
pub trait EpisodeStore: Send + Sync + std::fmt::Debug {
    /// Episodes that stand, that nobody has acknowledged and whose repetition is due, at most `limit`,
    /// where one is repeated every `every_s` seconds.
    async fn episodes_to_repeat(
        &self,
        now: Timestamp,
        every_s: f64,
        limit: u32,
    ) -> Result<Vec<(BearingKey, EpisodeRecord)>, StoreError>;

    /// Episodes that stand and that nobody has acknowledged whose next step of telling is due, at most
    /// `limit`.
    async fn episodes_to_tell(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<(BearingKey, EpisodeRecord)>, StoreError>;

    /// Episodes that are told with another alarm of their cause, at most `limit` after the episode `after`,
    /// in the order of their identities.
    async fn told_beside(
        &self,
        after: Uuid,
        limit: u32,
    ) -> Result<Vec<(BearingKey, EpisodeRecord)>, StoreError>;

    /// Open episodes under a suppression, and those of which one has withheld something, at most `limit`
    /// after the episode `after`, in the order of their identities.
    async fn suppressed(
        &self,
        after: Uuid,
        limit: u32,
    ) -> Result<Vec<(BearingKey, EpisodeRecord)>, StoreError>;

    /// Episodes whose suppression has ended by time, at most `limit`.
    async fn suppressions_over(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<(BearingKey, EpisodeRecord)>, StoreError>;

    /// The last episode of a bearing or gateway: the open one, or the one that changed last.
    async fn episode(&self, key: &BearingKey) -> Result<Option<EpisodeRecord>, StoreError>;

    /// The last `limit` episodes that changed before `before`, newest first: the open ones, or all.
    async fn episodes(
        &self,
        before: Timestamp,
        is_open: bool,
        limit: u32,
    ) -> Result<Vec<(BearingKey, EpisodeRecord)>, StoreError>;

    /// Writes a notification that no event caused, unless the open episode has changed since it was
    /// read: `expected` is what it was then, or none. True if the notification was written.
    async fn announce(
        &self,
        key: &BearingKey,
        expected: Option<EpisodeVersion>,
        announcement: &Announcement,
    ) -> Result<bool, StoreError>;

    /// Writes a change of an episode that staff is not told of, under the same condition.
    async fn change(
        &self,
        key: &BearingKey,
        expected: Option<EpisodeVersion>,
        change: &EpisodeChange,
    ) -> Result<bool, StoreError>;
}

/// Sending judgements to a knowledge base that has lost them; used by the task that fills it.
#[async_trait]
pub trait RecollectionStore: Send + Sync + std::fmt::Debug {
    /// Writes a row of `lane` for each of the last `most` judgements, unless rows of it wait already;
    /// tells how many.
    async fn send_again(&self, lane: &str, most: u32, now: Timestamp) -> Result<u64, StoreError>;
}

/// Series of measuring stations and past cases; used by imports and by `abnormal_decision`.
#[async_trait]
pub trait SeriesStore: Send + Sync + std::fmt::Debug {
    /// Writes values, all or none; tells how many are new or have changed.
    async fn put_series(&self, values: &[SeriesValue]) -> Result<u64, StoreError>;

    /// Writes past cases, all or none; one of the same id is replaced.
    async fn put_cases(&self, cases: &[Case]) -> Result<u64, StoreError>;

    /// Gives a bearing a station number; false if either is taken.
    async fn name_station(&self, station_id: i64, bearing: &BearingKey)
    -> Result<bool, StoreError>;

    /// The bearing that a station number stands for.
    async fn bearing_of_station(&self, station_id: i64) -> Result<Option<BearingKey>, StoreError>;

    /// The values of a window in order of time, bounded; those of a bearing are the feature of that
    /// name in its events.
    async fn series(&self, window: &Window) -> Result<Vec<Sample>, StoreError>;

    /// Cases that ended at `before_s` or earlier with their values, the newest first.
    async fn series_cases(&self, before_s: i64, most: usize) -> Result<Vec<Case>, StoreError>;

    /// Stations with their elements, or with their bearing in brackets.
    async fn stations(&self, most: usize) -> Result<Vec<(i64, String)>, StoreError>;
}

/// Deleting what is no longer kept; used by the retention task.
#[async_trait]
pub trait RetentionStore: Send + Sync + std::fmt::Debug {
    /// Deletes what is older than it is kept, a bounded amount at a time, and prepares the partitions
    /// of the coming weeks.
    async fn forget(&self, forget: &Forget, now: Timestamp) -> Result<Forgotten, StoreError>;

    /// How much room the store takes.
    async fn size(&self) -> Result<StoreSize, StoreError>;

    /// Deletes one amount of a stage. What waits for a judgement, has still to leave, is the last window of
    /// a bearing, or has a run or a document under way stays; so do episodes, notifications, open work and
    /// users. For spectra the look begins behind `after`.
    async fn make_room(
        &self,
        stage: RoomStage,
        after: Option<EventId>,
        limit: u32,
    ) -> Result<RoomMade, StoreError>;

    /// Gives the room of deleted rows to new ones, which a server does by itself only in time.
    async fn reuse_room(&self) -> Result<(), StoreError>;
}

/// Everything the store does, for the program that opens it and hands its tasks their roles.
pub trait Store:
    LifecycleStore
    + StatusStore
    + IntakeStore
    + GatewayStore
    + JudgementStore
    + HistoryStore
    + PageStore
    + FollowUpStore
    + EpisodeStore
    + MessageStore
    + OpinionStore
    + OutboxStore
    + ChannelStore
    + CeilingStore
    + RemovalStore
    + RecollectionStore
    + RetentionStore
    + SeriesStore
    + GraphStore
    + DeskStore
    + PhotoStore
    + CaptureStore
    + AccountStore
{
}

impl<S> Store for S where
    S: LifecycleStore
        + StatusStore
        + IntakeStore
        + GatewayStore
        + JudgementStore
        + HistoryStore
        + PageStore
        + PageStore
        + FollowUpStore
        + EpisodeStore
        + MessageStore
        + OpinionStore
        + OutboxStore
        + ChannelStore
        + CeilingStore
        + RemovalStore
        + RecollectionStore
        + RetentionStore
        + SeriesStore
        + GraphStore
        + DeskStore
        + PhotoStore
        + CaptureStore
        + AccountStore
{
}
