//! The end of an episode by a repair.
//!
//! Rule: REPAIR-1 a bearing whose repair staff has reported and whose baseline the edge learns anew
//! is another bearing than the one that was judged: the point's stage and risk begin again. Neither
//! alone is enough: a report may be of the wrong bearing, and a baseline may be begun anew for
//! another reason.

use pdm_shared::diagnosis::ThoughtTitle;
use pdm_shared::event::{BaselineState, Event};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;

use crate::Judgement;
use crate::case::{Case, Memory, PointState};
use crate::rules::Rules;
use crate::wording::{ago, fact, joined};

/// A repair that ends an episode.
pub(crate) struct Closing {
    /// The memory in which the measuring point begins again.
    pub(crate) memory: Memory,
    /// When the repair was reported.
    reported_at: Timestamp,
}

/// The repair that ends the episode of the event's measuring point, if both of its halves are
/// there.
pub(crate) fn closing(case: &Case<'_>, rules: &Rules) -> Option<Closing> {
    let before = case.before().filter(|point| point.risk > RiskLevel::Normal)?;
    if case.is_late() || case.is_ahead(rules) {
        return None;
    }
    relearning_since(before, case.event)?;
    let since = case.memory.state.since?;
    let repairs = case.memory.work.iter().filter(|work| work.repaired);
    let reported_at =
        repairs.filter_map(|work| work.at).filter(|at| at.seconds_since(since) > 0.0).max()?;
    let mut memory = case.memory.clone();
    memory.state.points.remove(case.point());
    if memory.state.risk() == RiskLevel::Normal {
        memory.state.since = None;
        memory.state.reached.clear();
    }
    Some(Closing { memory, reported_at })
}

/// Returns the time since which the baseline of a point is being learnt anew, or has been since the
/// risk rose.
fn relearning_since(before: &PointState, event: &Event) -> Option<Timestamp> {
    let learning = event.anomaly.baseline.state == BaselineState::Learning;
    before.relearning_since.or_else(|| (learning && before.learnt).then_some(event.measured_at))
}

/// Notes in the state of a point the signs of a repair in its baseline.
pub(crate) fn note_baseline(point: &mut PointState, before: Option<&PointState>, event: &Event) {
    point.relearning_since = before
        .filter(|_| point.risk > RiskLevel::Normal)
        .and_then(|before| relearning_since(before, event));
    point.learnt = event.anomaly.baseline.state == BaselineState::Ready;
}

/// Tells in the last thought that the episode has ended, and remembers it.
pub(crate) fn tell_repair(judgement: &mut Judgement, closing: &Closing, case: &Case<'_>) {
    judgement.state.repaired_at = Some(closing.reported_at);
    let title = ThoughtTitle::OverallRisk;
    let thoughts = &mut judgement.diagnosis.thoughts;
    let Some(thought) = thoughts.iter_mut().find(|thought| thought.title == title) else { return };
    let told = ago(case.now.seconds_since(closing.reported_at));
    let note = Text::new(
        format!("· 정비 기록({})과 기준선 재학습으로 이전 판정을 종결", told.ko),
        format!("· the repair ({}) and a baseline begun anew end the former judgements", told.en),
    );
    thought.conclusion = joined(&[thought.conclusion.clone(), note]);
    thought.evidence.push(fact(
        "anomaly.baseline.state",
        case.event.anomaly.baseline.state,
        "REPAIR-1",
    ));
}
