//! Records of the plant that a conversation may use; the agent implements [`Desk`] on its store.

use async_trait::async_trait;
use chrono::NaiveDateTime;
use pdm_expert::rules::Rules;
use pdm_routes::Zone;
use pdm_shared::delivery::NotificationReason;
use pdm_shared::episode::Suppression;
use pdm_shared::event::{IsoZone, QualityFlag};
use pdm_shared::fault::Fault;
use pdm_shared::follow_up::{FollowUpState, Verdict};
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;

pub use routing::{AlarmRoute, AlarmStep};

mod in_words;
mod routing;

/// The core fields of a bearing: what goes into the context in place of the whole analysis.
#[derive(Debug, Clone, PartialEq)]
pub struct CoreFields {
    /// The bearing.
    pub key: BearingKey,
    /// Risk of the last judgement.
    pub risk: RiskLevel,
    /// Stage on the P–F curve, 0–4.
    pub stage: u8,
    /// The named element.
    pub fault: Option<Fault>,
    /// Remaining life to plan with, h.
    pub rul_hours: Option<f64>,
    /// The last judged event.
    pub event_id: Option<EventId>,
    /// When its window was measured.
    pub measured_at: Option<Timestamp>,
    /// The alarm that stands.
    pub alarm: Option<StandingAlarm>,
    /// The machine's name, as people call it.
    pub machine_name: Option<Text>,
    /// Where the bearing sits on the machine.
    pub location: Option<Text>,
    /// Whether and why staff is not told of its alarm.
    pub suppression: Suppression,
    /// The start of its abnormality, by its measurements; `None` if it is not abnormal.
    pub abnormal_since: Option<Timestamp>,
    /// The levels that it has reached since then, each with the measurement that first reached it.
    pub risen: Vec<(RiskLevel, Timestamp)>,
    /// Whether its last windows can be judged.
    pub watch: Watch,
    /// The plant has several sites, so a name alone does not say which machine is meant.
    pub is_of_many_sites: bool,
}

/// Whether the last windows of a bearing can be judged. An earlier risk level says nothing about a
/// machine that stands still or whose sensor is dead.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Watch {
    /// The last window could be judged, or nothing is known of it.
    #[default]
    Judged,
    /// The machine stands still.
    Standing {
        /// The measurement since which it stands still; earlier where `is_longer`.
        since: Timestamp,
        /// The records that were read do not reach to its begin.
        is_longer: bool,
    },
    /// Nothing is measured of it: its gateway is offline, or its measuring stopped.
    Silent {
        /// The time of its last measurement; `None` if it has none.
        since: Option<Timestamp>,
        /// The gateway that is offline, with its site; `None` where only this bearing's measuring
        /// stopped.
        gateway: Option<String>,
    },
    /// The machine runs, but its windows cannot be judged.
    Invalid {
        /// The measurement since which they are invalid; earlier where `is_longer`.
        since: Timestamp,
        /// The records that were read do not reach to its begin.
        is_longer: bool,
        /// The quality flags of the last window.
        flags: Vec<QualityFlag>,
    },
}

/// A window of a bearing, as a question for a day or an hour is answered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasuredWindow {
    /// When it was measured.
    pub at: Timestamp,
    /// The machine ran.
    pub is_running: bool,
    /// It could be judged.
    pub is_valid: bool,
    /// RMS of the velocity, mm/s.
    pub velocity_rms_mm_s: Option<f64>,
    /// RMS of the acceleration, g.
    pub rms_g: Option<f64>,
    /// Kurtosis of the acceleration.
    pub kurtosis: Option<f64>,
}

/// The grounds of an earlier judgement.
#[derive(Debug, Clone, PartialEq)]
pub struct EarlierGrounds {
    /// When its window was measured.
    pub at: Timestamp,
    /// Its risk.
    pub risk: RiskLevel,
    /// The conclusions of its thoughts.
    pub grounds: Vec<Text>,
}

/// An alarm that stands.
#[derive(Debug, Clone, PartialEq)]
pub struct StandingAlarm {
    /// The title of the message that staff was sent.
    pub title: Text,
    /// When staff was told first.
    pub since: Timestamp,
    /// Who has acknowledged it.
    pub acknowledged_by: Option<String>,
}

/// A piece of work that a judgement asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkLine {
    /// The action.
    pub action: Text,
    /// The state of the work.
    pub state: FollowUpState,
    /// The due time.
    pub due_at: Option<Timestamp>,
    /// The work order.
    pub work_order: Option<String>,
}

/// The last abnormality of a bearing, by its last episode.
#[derive(Debug, Clone, PartialEq)]
pub struct Onset {
    /// When it began, by its measurements.
    pub opened_at: Timestamp,
    /// The levels that it has reached, and when the window was measured with which staff was first
    /// told of each.
    pub levels: Vec<(RiskLevel, Option<Timestamp>)>,
    /// When it was over.
    pub closed_at: Option<Timestamp>,
    /// Who has acknowledged it, and when.
    pub acknowledged: Option<(String, Timestamp)>,
}

/// A figure of the last window.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredLevel {
    /// The name of the figure.
    pub name: Text,
    /// The value.
    pub value: f64,
    /// Its unit; empty for one without.
    pub unit: &'static str,
}

/// The state of the machine in a window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Operation {
    /// The machine ran.
    pub is_running: bool,
    /// Its speed, rpm.
    pub speed_rpm: Option<f64>,
    /// The zone of its vibration velocity.
    pub zone: Option<IsoZone>,
}

/// A message that staff was told, of any bearing or gateway.
#[derive(Debug, Clone, PartialEq)]
pub struct ToldLine {
    /// The time of the message.
    pub at: Timestamp,
    /// The bearing or gateway.
    pub key: BearingKey,
    /// Why it was sent.
    pub reason: NotificationReason,
    /// The title.
    pub title: Text,
    /// The people and channels that it went to.
    pub told_to: Vec<Text>,
}

/// An alarm that staff was told of: it was raised, or rose.
#[derive(Debug, Clone, PartialEq)]
pub struct RaisedAlarm {
    /// When staff was told.
    pub at: Timestamp,
    /// The bearing.
    pub key: BearingKey,
    /// The level that was told.
    pub level: RiskLevel,
}

/// The alarms of some time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RaisedAlarms {
    /// Newest first.
    pub alarms: Vec<RaisedAlarm>,
    /// There are more than were read.
    pub is_cut: bool,
}

/// A note on a bearing: written with an acknowledgement, with a report of work, or as a remark.
#[derive(Debug, Clone, PartialEq)]
pub struct NoteLine {
    /// The time of the note.
    pub at: Timestamp,
    /// The person.
    pub by: String,
    /// The finding on the machine, if the person reports one.
    pub found: Option<Text>,
    /// The note.
    pub note: Option<String>,
}

/// A line of a bearing's element in the last spectrum.
#[derive(Debug, Clone, PartialEq)]
pub struct DefectLine {
    /// `BPFO`, `BPFI`, `BSF` or `FTF`.
    pub name: &'static str,
    /// Its frequency, Hz.
    pub frequency_hz: f64,
    /// Its height above the noise floor, dB; `None` if it was not looked for.
    pub snr_db: Option<f64>,
}

/// The records of a bearing besides its last judgement.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FocusRecord {
    /// The last abnormality.
    pub onset: Option<Onset>,
    /// Figures of the last window.
    pub levels: Vec<MeasuredLevel>,
    /// Temperature in the last window, °C.
    pub temperature_c: Option<f64>,
    /// The state of the machine in the last window.
    pub operation: Option<Operation>,
    /// The lines of its elements in the last spectrum.
    pub lines: Vec<DefectLine>,
    /// The bearing's designation.
    pub designation: Option<String>,
    /// The people and channels that the last message went to.
    pub told_to: Vec<Text>,
    /// The notes on it, newest first.
    pub notes: Vec<NoteLine>,
    /// The time that parts and planning take, h, by which its last judgement planned.
    pub lead_time_h: Option<f64>,
}

/// A gateway.
#[derive(Debug, Clone, PartialEq)]
pub struct GatewayLine {
    /// Its site and name.
    pub name: String,
    /// Online or offline, by its last status.
    pub is_online: Option<bool>,
    /// The time since which the state holds.
    pub since: Option<Timestamp>,
    /// When its last event came in.
    pub last_event_at: Option<Timestamp>,
    /// The bearings that it measures, as `P-101 · DE`.
    pub bearings: Vec<String>,
}

/// A judgement and the finding of staff that inspected it.
#[derive(Debug, Clone, PartialEq)]
pub struct InspectedJudgement {
    /// When it was reported.
    pub at: Timestamp,
    /// The bearing.
    pub key: BearingKey,
    /// The verdict of the inspection.
    pub verdict: Verdict,
    /// Who reported it.
    pub by: String,
    /// The cause or the note.
    pub note: Option<String>,
}

/// Days ahead of which the people on duty are told.
pub const DUTY_DAYS: u32 = 15;
/// The days behind of which the chat says who was on duty.
pub const PAST_DUTY_DAYS: u32 = 31;

/// Who is on duty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DutyRoster {
    /// Each rota with the people who are on duty now.
    pub rotas: Vec<(String, Vec<String>)>,
    /// Changes of the people on duty in the next [`DUTY_DAYS`]: the rota, its clock's time, the
    /// people.
    pub changes: Vec<(String, NaiveDateTime, Vec<String>)>,
    /// Changes of the people on duty in the last [`PAST_DUTY_DAYS`], the first one who was on duty
    /// at their begin, by the rota as it is configured now.
    pub past: Vec<(String, NaiveDateTime, Vec<String>)>,
    /// Who is on duty in each of the next hours: the hour of the plant's clock, the rota, the
    /// people.
    pub hours: Vec<(u32, String, Vec<String>)>,
    /// People and channels that are told where no rota decides.
    pub everybody: Vec<String>,
}

/// One bearing in more detail.
#[derive(Debug, Clone, PartialEq)]
pub struct Focus {
    /// The core fields.
    pub core: CoreFields,
    /// The conclusions of the five thoughts: the key grounds.
    pub grounds: Vec<Text>,
    /// The recommendation.
    pub advice: Text,
    /// The earlier judgements, in a sentence.
    pub memory: Text,
    /// Causes of uncertainty.
    pub doubts: Vec<Text>,
    /// The difference between rules and model.
    pub disagreement: Option<Text>,
    /// The work that judgements ask for.
    pub work: Vec<WorkLine>,
    /// The messages that staff was sent, newest first.
    pub told: Vec<(Timestamp, Text)>,
    /// The other records of the bearing.
    pub record: FocusRecord,
}

/// Records of the plant.
#[async_trait]
pub trait Desk: Send + Sync + std::fmt::Debug {
    /// Every judged bearing, worst first.
    ///
    /// # Errors
    /// The reason in words.
    async fn fleet(&self) -> Result<Vec<CoreFields>, String>;

    /// Returns one bearing; `None` if it was never judged.
    ///
    /// # Errors
    /// The reason in words.
    async fn focus(&self, key: &BearingKey) -> Result<Option<Focus>, String>;

    /// What people call the site of a bearing; none where it has its id alone.
    fn site_name(&self, _key: &BearingKey) -> Option<Text> {
        None
    }

    /// The present instant, by which ages are told; none where there is no clock.
    fn now(&self) -> Option<Timestamp> {
        None
    }

    /// The zone of the plant's clock, by which times are told.
    fn zone(&self) -> Zone {
        Zone::default()
    }

    /// Returns the messages that staff was sent lately about any bearing, newest first.
    ///
    /// # Errors
    /// The reason in words.
    async fn told_lately(&self) -> Result<Vec<ToldLine>, String> {
        Ok(Vec::new())
    }

    /// Returns the alarms that were sent to staff since an instant; `None` if the desk cannot count
    /// them.
    ///
    /// # Errors
    /// The reason in words.
    async fn alarms_since(&self, _since: Timestamp) -> Result<Option<RaisedAlarms>, String> {
        Ok(None)
    }

    /// Returns the judgements that staff has inspected, newest first, by the last report on each;
    /// `None` if the desk does not keep them.
    ///
    /// # Errors
    /// The reason in words.
    async fn inspected(&self) -> Result<Option<Vec<InspectedJudgement>>, String> {
        Ok(None)
    }

    /// The rules by which bearings are judged; those that come with the program where the desk has
    /// no others.
    fn rules(&self) -> Rules {
        Rules::default()
    }

    /// Returns the last `limit` windows of a bearing that were measured at or before an instant,
    /// oldest first; `None` if the desk does not keep them.
    ///
    /// # Errors
    /// The reason in words.
    async fn windows(
        &self,
        _key: &BearingKey,
        _until: Timestamp,
        _limit: u32,
    ) -> Result<Option<Vec<MeasuredWindow>>, String> {
        Ok(None)
    }

    /// Returns the grounds of the last judgement of a bearing with this risk or a higher one;
    /// `None` if there is no such judgement.
    ///
    /// # Errors
    /// The reason in words.
    async fn earlier_grounds(
        &self,
        _key: &BearingKey,
        _least: RiskLevel,
    ) -> Result<Option<EarlierGrounds>, String> {
        Ok(None)
    }

    /// The abnormalities of a bearing, newest first.
    ///
    /// # Errors
    /// The reason in words.
    async fn abnormalities(&self, _key: &BearingKey) -> Result<Vec<Onset>, String> {
        Ok(Vec::new())
    }

    /// Every gateway, by name.
    ///
    /// # Errors
    /// The reason in words.
    async fn gateways(&self) -> Result<Vec<GatewayLine>, String> {
        Ok(Vec::new())
    }

    /// The names of the people and channels that routes, rotas and records know.
    ///
    /// # Errors
    /// The reason in words.
    async fn people(&self) -> Result<Vec<String>, String> {
        Ok(Vec::new())
    }

    /// The routes of alarms: the one that takes the alarms of a bearing of this level now, or all.
    ///
    /// # Errors
    /// The reason in words.
    async fn routes(
        &self,
        _of: Option<(&BearingKey, RiskLevel)>,
    ) -> Result<Vec<AlarmRoute>, String> {
        Ok(Vec::new())
    }

    /// Returns who is on duty; `None` if that is not known.
    ///
    /// # Errors
    /// The reason in words.
    async fn duty(&self) -> Result<Option<DutyRoster>, String> {
        Ok(None)
    }
}
