//! Records of the plant that a conversation may use; the agent implements [`Desk`] on its store.

use async_trait::async_trait;
use pdm_shared::fault::Fault;
use pdm_shared::follow_up::FollowUpState;
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::{Language, Text};
use pdm_shared::time::Timestamp;

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
    /// The alarm that stands, and whether it is acknowledged.
    pub alarm: Option<(Text, bool)>,
}

/// A piece of work that a judgement asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkLine {
    /// The action.
    pub action: Text,
    /// What became of it.
    pub state: FollowUpState,
    /// Until when.
    pub due_at: Option<Timestamp>,
    /// The work order.
    pub work_order: Option<String>,
}

/// The last abnormality of a bearing, by its last episode.
#[derive(Debug, Clone, PartialEq)]
pub struct Onset {
    /// When it began.
    pub opened_at: Timestamp,
    /// The levels that it has reached, and when staff was first told of each.
    pub levels: Vec<(RiskLevel, Option<Timestamp>)>,
    /// When it was over.
    pub closed_at: Option<Timestamp>,
    /// Who has acknowledged it, and when.
    pub acknowledged: Option<(String, Timestamp)>,
}

/// A figure of the last window.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredLevel {
    /// What it is.
    pub name: Text,
    /// The value.
    pub value: f64,
    /// Its unit; empty for one without.
    pub unit: &'static str,
}

/// What is recorded of a bearing beside its last judgement.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FocusRecord {
    /// The last abnormality.
    pub onset: Option<Onset>,
    /// Figures of the last window.
    pub levels: Vec<MeasuredLevel>,
    /// Where the last message went.
    pub told_to: Vec<String>,
}

/// A gateway.
#[derive(Debug, Clone, PartialEq)]
pub struct GatewayLine {
    /// Its site and name.
    pub name: String,
    /// Online or offline, by its last status.
    pub is_online: Option<bool>,
    /// Since when.
    pub since: Option<Timestamp>,
    /// When its last event came in.
    pub last_event_at: Option<Timestamp>,
}

/// Who is on duty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DutyRoster {
    /// Each rota with the people who are on duty now.
    pub rotas: Vec<(String, Vec<String>)>,
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
    /// What staff was told, newest first.
    pub told: Vec<(Timestamp, Text)>,
    /// What is recorded beside the judgement.
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

    /// One bearing; none if it was never judged.
    ///
    /// # Errors
    /// The reason in words.
    async fn focus(&self, key: &BearingKey) -> Result<Option<Focus>, String>;

    /// Every gateway, by name.
    ///
    /// # Errors
    /// The reason in words.
    async fn gateways(&self) -> Result<Vec<GatewayLine>, String> {
        Ok(Vec::new())
    }

    /// Who is on duty; none where that is not known.
    ///
    /// # Errors
    /// The reason in words.
    async fn duty(&self) -> Result<Option<DutyRoster>, String> {
        Ok(None)
    }
}

/// A time as a conversation tells it.
pub(super) fn told_time(at: Timestamp) -> String {
    at.date_time().format("%Y-%m-%d %H:%M UTC").to_string()
}

impl CoreFields {
    /// `P-101 · DE`
    pub(super) fn name(&self) -> String {
        format!("{} · {}", self.key.equipment, self.key.bearing)
    }

    /// One line: risk, fault, stage, remaining life, alarm.
    pub(super) fn line(&self, language: Language) -> String {
        let is_korean = language == Language::Ko;
        let label = self.risk.label();
        let mut parts = vec![label.in_language(language).to_owned()];
        if let Some(fault) = self.fault {
            parts.push(pdm_expert::wording::element(fault).in_language(language).to_owned());
        }
        let (stage, hours) = (self.stage, self.rul_hours);
        parts.push(if is_korean {
            format!("P-F {stage}단계")
        } else {
            format!("P-F stage {stage}")
        });
        parts.push(match (hours, is_korean) {
            (Some(hours), true) => format!("잔여수명 {hours:.0}시간"),
            (Some(hours), false) => format!("remaining life {hours:.0} h"),
            (None, true) => "잔여수명 미상".to_owned(),
            (None, false) => "remaining life unknown".to_owned(),
        });
        if let Some((title, is_acknowledged)) = &self.alarm {
            let state = match (is_acknowledged, is_korean) {
                (true, true) => "확인됨",
                (true, false) => "acknowledged",
                (false, true) => "미확인",
                (false, false) => "not acknowledged",
            };
            parts.push(format!("{} ({state})", title.in_language(language)));
        }
        format!("{}: {}", self.name(), parts.join(", "))
    }
}
