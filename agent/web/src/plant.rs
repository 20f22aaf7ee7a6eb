//! The interface from which pages and API read ([`Plant`]), and its rows.
//!
//! Rows are the API's answers as they stand, so a field here is a promise to callers.

use async_trait::async_trait;
use pdm_shared::delivery::{Notification, Presence};
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::event::Event;
use pdm_shared::follow_up::FollowUpReport;
use pdm_shared::id::{BearingKey, EventId, GatewayId, SiteId};
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use pdm_shared::trace::TraceStep;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

mod acts;
mod bearing;
mod capture;
mod demand;
mod desk;
mod episode;
mod machine;
mod order;
mod relearn;
mod removal;
mod window;
mod work;

pub use acts::{Acknowledged, Acknowledgement, ShelfEnd, ShelfRequest, Shelved};
pub use bearing::{AlarmRow, BearingRow, Blind, EpisodeRow};
pub use capture::{
    CaptureAsked, CaptureCurve, CaptureCurveKind, CaptureDrawn, CaptureFound, CaptureMark,
    CaptureNpy, CaptureRow,
};
pub use demand::{
    CaptureDemandRow, CaptureDemanded, DEMAND_LIFE_S, DEMAND_PATIENCE_S, DemandState,
};
pub use desk::{Article, ArticleRow, ArticleSection, DutyGap, DutyOverride, DutyRow};
pub use episode::{EpisodeAlarm, EpisodeDetail, EpisodeFilter};
pub use machine::{MachineAround, MachinePlace, MachinePlaces, Neighbour, Surroundings};
pub use order::{
    PhotoFile, PhotoKept, PhotoKind, PhotoRow, SheetPart, SheetPassage, SheetResource,
    SheetSchedule, SheetSubject, WorkSheet,
};
pub use relearn::{RelearnAsked, RelearnRow, RelearnState};
pub use removal::{
    Admission, ChangeRequest, Changed, PlantChange, PlantPart, RefusedRow, TakenOut,
};
pub use window::{SHOWN_FEATURES, SpectrumRow, WindowRow};
pub use work::{
    DocumentFile, DocumentKind, DocumentRow, RepairRow, ReportRow, UNDO_S, Withdrawn, WorkFigures,
    WorkRow,
};

/// The plant gave no answer. The caller logs the reason.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlantError {
    /// The store could not be asked. The caller answers 503, and trying again may help.
    #[error("the store cannot be asked: {0}")]
    Unavailable(String),
    /// The store answered with an entry that this version cannot read. The caller answers 500, as
    /// trying again does not help.
    #[error("an entry of the store cannot be read: {0}")]
    Unreadable(String),
}

/// A way to staff, and how it does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChannelRow {
    /// `mqtt`, `email`, `webhook:<name>` or `to:<person>:<channel>`.
    pub lane: String,
    /// Messages fail now, or one was given up within a day.
    pub is_failing: bool,
    /// Messages that wait, whether they were tried or not.
    pub waiting: u64,
    /// When the oldest of the messages was made that were tried in vain and wait for another try.
    pub failing_since: Option<Timestamp>,
    /// When the last of them is tried next.
    pub next_try_at: Option<Timestamp>,
    /// Why the last try failed.
    pub last_error: Option<String>,
    /// Messages that were given up within a week.
    pub given_up: u64,
    /// When the last of them was given up.
    pub given_up_at: Option<Timestamp>,
}

impl ChannelRow {
    /// A way on which nothing waits.
    pub const fn sound(lane: String) -> Self {
        Self {
            lane,
            is_failing: false,
            waiting: 0,
            failing_since: None,
            next_try_at: None,
            last_error: None,
            given_up: 0,
            given_up_at: None,
        }
    }
}

/// The person and the channel of a way that leads to a person; `None` of any other.
pub fn person_way(lane: &str) -> Option<(&str, &str)> {
    lane.strip_prefix("to:").and_then(|rest| rest.rsplit_once(':'))
}

/// The hooks that several people share and that fail for more than one of them now, with how many.
pub fn shared_hooks_failing(channels: &[ChannelRow]) -> Vec<(String, usize)> {
    let mut hooks: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    for way in channels.iter().filter(|way| way.is_failing) {
        if let Some((_, channel)) = person_way(&way.lane) {
            *hooks.entry(channel).or_default() += 1;
        }
    }
    let shared = hooks.into_iter().filter(|(_, people)| *people > 1);
    shared.map(|(hook, people)| (hook.to_owned(), people)).collect()
}

/// A gateway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GatewayRow {
    /// The gateway's site.
    pub site: SiteId,
    /// The gateway.
    pub gateway_id: GatewayId,
    /// Online or offline, by its last status.
    pub presence: Option<Presence>,
    /// When that status was given.
    pub presence_at: Option<Timestamp>,
    /// When the last event came in.
    pub last_event_at: Option<Timestamp>,
    /// The highest sequence number stored.
    pub highest_sequence: u64,
    /// Events that were asked for and never came.
    pub lost_events: u64,
    /// Whether the broker vouches for its name.
    pub proven: bool,
}

/// A remark of a person on an episode, with an acknowledgement or after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Remark {
    /// The person.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// What the person wrote.
    pub note: Option<String>,
    /// Whether it acknowledges an alarm.
    pub acknowledges: bool,
}

/// A row's place in a list that is ordered by time: the time and what tells rows of one time apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListPlace {
    /// The row's time, milliseconds since 1970.
    pub at_ms: i64,
    /// The row's identity.
    pub id: Uuid,
    /// The row's number within its identity.
    pub number: u32,
}

/// A plant as pages and API read it.
#[async_trait]
pub trait Plant: Send + Sync + std::fmt::Debug {
    /// Every bearing that was ever judged, worst first: risk, then stage, then name.
    async fn fleet(&self) -> Result<Vec<BearingRow>, PlantError>;

    /// The bearings of the machines of this name, in the same order.
    async fn machine(&self, equipment: &str) -> Result<Vec<BearingRow>, PlantError>;

    /// One bearing.
    async fn bearing(&self, key: &BearingKey) -> Result<Option<BearingRow>, PlantError>;

    /// The last `limit` windows of a bearing measured at or before `until`, oldest first.
    async fn windows(
        &self,
        key: &BearingKey,
        until: Option<Timestamp>,
        limit: u32,
    ) -> Result<Vec<WindowRow>, PlantError>;

    /// The last `limit` events of a bearing that carry spectra, measured at or before `until`,
    /// newest first.
    async fn spectra(
        &self,
        key: &BearingKey,
        until: Option<Timestamp>,
        limit: u32,
    ) -> Result<Vec<Event>, PlantError>;

    /// The first `limit` events of a bearing that carry spectra and are kept, oldest first.
    async fn first_spectra(&self, key: &BearingKey, limit: u32) -> Result<Vec<Event>, PlantError>;

    /// An event.
    async fn event(&self, event_id: EventId) -> Result<Option<Event>, PlantError>;

    /// The judgement of an event.
    async fn diagnosis(&self, event_id: EventId) -> Result<Option<Diagnosis>, PlantError>;

    /// The steps of the run that judged an event.
    async fn trace(&self, event_id: EventId) -> Result<Vec<TraceStep>, PlantError>;

    /// The last `limit` notifications made before `before`, newest first; of one bearing, or of
    /// all.
    async fn notifications(
        &self,
        of: Option<&BearingKey>,
        before: Option<Timestamp>,
        limit: u32,
    ) -> Result<Vec<Notification>, PlantError>;

    /// Every configured way to staff, and those on which something still waits.
    async fn channels(&self) -> Result<Vec<ChannelRow>, PlantError>;

    /// Every gateway, by name.
    async fn gateways(&self) -> Result<Vec<GatewayRow>, PlantError>;

    /// Events that are refused, by gateway, bearing and cause, with what admits them.
    async fn refused(&self) -> Result<Vec<RefusedRow>, PlantError>;

    /// Takes a part of the plant or a gateway out, renames, replaces or releases it, or says what
    /// that would change.
    async fn change(&self, request: ChangeRequest) -> Result<Changed, PlantError>;

    /// A machine of a site with its neighbours in the asset graph; an empty site asks for a machine
    /// that the graph knows and no site has.
    async fn surroundings(&self, site: &str, equipment: &str) -> Result<MachineAround, PlantError>;

    /// The sites that have a machine of this id.
    async fn machine_sites(&self, equipment: &str) -> Result<Vec<String>, PlantError>;

    /// Returns the asset graph's names and lines of machines, and the designations of bearings, for
    /// lists.
    async fn machine_places(&self) -> Result<MachinePlaces, PlantError>;

    /// The designation of a bearing, such as `6205-2RS/C3`, where the configuration tells it. Where
    /// it does not, the asset graph may ([`MachinePlaces::designations`]).
    fn designation(&self, key: &BearingKey) -> Option<String>;

    /// The name of a bearing's machine in both languages, where the configuration tells it.
    fn machine_name(&self, key: &BearingKey) -> Option<Text>;

    /// The last `limit` episodes of a filter before the place `before`, newest change first.
    async fn episodes(
        &self,
        filter: EpisodeFilter,
        before: Option<ListPlace>,
        limit: u32,
    ) -> Result<Vec<EpisodeDetail>, PlantError>;

    /// An episode.
    async fn episode(&self, id: Uuid) -> Result<Option<EpisodeDetail>, PlantError>;

    /// The last remarks on a bearing's episode that opened at a time, oldest first: up to the
    /// opening of the next one.
    async fn remarks(
        &self,
        key: &BearingKey,
        opened_at: Timestamp,
    ) -> Result<Vec<Remark>, PlantError>;

    /// Writes a remark on a bearing down; it acknowledges nothing.
    async fn remark(&self, key: &BearingKey, by: &str, note: &str) -> Result<(), PlantError>;

    /// Writes a note on a bearing down, of something that was done at a time.
    async fn note(
        &self,
        key: &BearingKey,
        by: &str,
        note: &str,
        at: Timestamp,
    ) -> Result<(), PlantError>;

    /// The last `limit` acknowledgements and notes of a bearing, newest first.
    async fn remarks_of(&self, key: &BearingKey, limit: u32) -> Result<Vec<Remark>, PlantError>;

    /// The bearings that were reported repaired or replaced while their episode stood, and that are
    /// still judged as the bearing of before; the last report of each, newest first.
    async fn repairs_to_learn(&self) -> Result<Vec<RepairRow>, PlantError>;

    /// Asks the gateway of a bearing to forget what it has learnt and to learn the bearing anew. A
    /// request of an identity that is known asks nothing.
    async fn request_relearning(
        &self,
        key: &BearingKey,
        by: &str,
        id: Uuid,
    ) -> Result<RelearnAsked, PlantError>;

    /// The newest request to learn a bearing anew.
    async fn relearning(&self, key: &BearingKey) -> Result<Option<RelearnRow>, PlantError>;

    /// Counts the work of the plant: what waits, what was done since a time, and what was found.
    async fn work_figures(&self, since: Timestamp) -> Result<WorkFigures, PlantError>;

    /// The last `limit` actions before the place `before`, newest first: those that wait, or all.
    async fn work(
        &self,
        is_open: bool,
        before: Option<ListPlace>,
        limit: u32,
    ) -> Result<Vec<WorkRow>, PlantError>;

    /// The actions that the judgement of an event asks for.
    async fn work_of(&self, event_id: EventId) -> Result<Vec<WorkRow>, PlantError>;

    /// Keeps a report on the work of a bearing and sets the bearing's open work by it; false if the
    /// bearing is not known or has no such work.
    async fn report(&self, key: &BearingKey, report: FollowUpReport) -> Result<bool, PlantError>;

    /// Does the same as [`Plant::report`] for a program: a report that names no action sets the
    /// work that is open. Where several judgements have any, it is kept, sets none, and they are
    /// returned; `None` if the bearing has no such work.
    async fn report_one(
        &self,
        key: &BearingKey,
        report: FollowUpReport,
    ) -> Result<Option<Vec<WorkRow>>, PlantError>;

    /// The actions of a bearing that wait, in their order.
    async fn open_work_of(&self, key: &BearingKey) -> Result<Vec<WorkRow>, PlantError>;

    /// A report by its identity.
    async fn report_by_id(&self, id: Uuid) -> Result<Option<ReportRow>, PlantError>;

    /// The last `limit` reports on a bearing, newest first.
    async fn reports(&self, key: &BearingKey, limit: u32) -> Result<Vec<ReportRow>, PlantError>;

    /// Takes the acknowledgement of an episode back that is not older than [`UNDO_S`]: the alarm is
    /// told on as if nobody had acknowledged it.
    async fn unacknowledge(&self, key: &BearingKey, episode: Uuid)
    -> Result<Withdrawn, PlantError>;

    /// Takes a report back that is not older than [`UNDO_S`].
    async fn withdraw_report(&self, id: Uuid, by: &str) -> Result<Withdrawn, PlantError>;

    /// The documents of a judgement that are there.
    async fn documents(&self, event_id: EventId) -> Result<Vec<DocumentRow>, PlantError>;

    /// A document by the name of its file; `None` for every other file.
    async fn document(&self, name: &str) -> Result<Option<DocumentFile>, PlantError>;

    /// The work order of a judgement as its document tells it; `None` where the judgement asks for
    /// none.
    async fn work_sheet(&self, event_id: EventId) -> Result<Option<WorkSheet>, PlantError>;

    /// Keeps a photo of a judgement's work. `bytes` are those of a checked picture of the kind.
    async fn keep_photo(
        &self,
        event_id: EventId,
        by: &str,
        kind: PhotoKind,
        bytes: Vec<u8>,
    ) -> Result<PhotoKept, PlantError>;

    /// The photos of a judgement's work, oldest first.
    async fn photos(&self, event_id: EventId) -> Result<Vec<PhotoRow>, PlantError>;

    /// A photo by its identity.
    async fn photo(&self, id: Uuid) -> Result<Option<PhotoFile>, PlantError>;

    /// Deletes a photo; the row that it had, `None` if it is not known.
    async fn remove_photo(&self, id: Uuid) -> Result<Option<PhotoRow>, PlantError>;

    /// The last `limit` captured waveforms of a bearing that began before `before`, newest first.
    async fn captures(
        &self,
        key: &BearingKey,
        before: Option<Timestamp>,
        limit: u32,
    ) -> Result<Vec<CaptureRow>, PlantError>;

    /// A captured waveform by its identity.
    async fn capture(&self, id: Uuid) -> Result<Option<CaptureFound>, PlantError>;

    /// Returns the WAV file of a capture.
    async fn capture_wav(&self, id: Uuid) -> Result<Option<Vec<u8>>, PlantError>;

    /// Returns the samples of a capture as a NumPy file, with the document of that file.
    async fn capture_npy(&self, id: Uuid) -> Result<Option<CaptureNpy>, PlantError>;

    /// Whether the agent takes captures of gateways.
    fn takes_captures(&self) -> bool;

    /// Asks the gateway of a bearing for a capture.
    async fn demand_capture(
        &self,
        key: &BearingKey,
        by: &str,
    ) -> Result<CaptureDemanded, PlantError>;

    /// The newest demand for the waveform of a bearing.
    async fn capture_demand(
        &self,
        key: &BearingKey,
    ) -> Result<Option<CaptureDemandRow>, PlantError>;

    /// Returns the pictures of a capture.
    async fn capture_drawn(
        &self,
        id: Uuid,
        asked: CaptureAsked,
    ) -> Result<Option<CaptureDrawn>, PlantError>;

    /// Returns the sound of a capture as 16-bit WAV: all of it, or the band in which it is
    /// demodulated.
    async fn capture_sound(
        &self,
        id: Uuid,
        is_filtered: bool,
    ) -> Result<Option<Vec<u8>>, PlantError>;

    /// Returns how many notifications of a bearing staff was told in the hours before now.
    async fn told_within(&self, key: &BearingKey, hours: f64) -> Result<u64, PlantError>;

    /// Acknowledges the alarm that a person saw.
    async fn acknowledge(&self, ack: Acknowledgement) -> Result<Acknowledged, PlantError>;

    /// The rotas: who is on duty now and next, and the gaps of the next two weeks.
    async fn duty(&self) -> Result<Vec<DutyRow>, PlantError>;

    /// A document of the knowledge base by its identity.
    async fn article(&self, id: &str) -> Result<Option<Article>, PlantError>;

    /// The documents of the knowledge base that answer these words, the best first.
    async fn articles(&self, words: &str) -> Result<Vec<ArticleRow>, PlantError>;

    /// Returns the instant of an end as people name it; `None` for a text that is no time.
    fn shelf_end(&self, end: &ShelfEnd) -> Option<Timestamp>;

    /// The name of the zone of the plant's clock.
    fn zone(&self) -> &'static str;

    /// Shelves a bearing, or ends its shelf.
    async fn shelve(&self, request: ShelfRequest) -> Result<Shelved, PlantError>;
}
