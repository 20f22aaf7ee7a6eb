//! Derives the results of a judgement: checks the figures of its notification against their
//! sources, derives actions, and makes a row for the knowledge base and the step of the trace.

use pdm_expert::Judgement;
use pdm_expert::case::{Case, Memory, PointState, RECALLED_WORK, Work};
use pdm_expert::grounding::Sources;
use pdm_report::files::DocumentKind;
use pdm_routes::Zone;
use pdm_shared::diagnosis::{Diagnosis, ToldMessage};
use pdm_shared::event::Event;
use pdm_shared::id::EventId;
use pdm_shared::particle::{Particle, with_particle};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use pdm_store::{Alarm, Announcement, FollowUp, FollowUpState, Outgoing, Payload, VECTORS_LANE};
use serde_json::{Value, json};

use crate::workflow::documents::Written;
use crate::workflow::{State, figures_withheld};

/// Adds the page of the bearing, where one is configured, and at most two documents to a
/// notification, so that staff finds them. The documents are written after it.
pub(super) fn name_documents(
    announcement: &mut Announcement,
    sources: &mut Sources,
    documents: &[Written],
) {
    let page = announcement.notification.ack_url.clone();
    for place in documents.iter().map(|document| &document.place).chain(&page) {
        sources.add_name(place);
    }
    let page = page.map_or_else(String::new, |page| format!("\n{page}"));
    let body = &mut announcement.notification.body;
    for (text, language, words) in [
        (&mut body.ko, "ko", ["분석 리포트", "작업지시서"]),
        (&mut body.en, "en", ["Report", "Work order"]),
    ] {
        let lines = document_lines(documents, language, words);
        *text = format!("{text}{page}{lines}");
    }
    if !(documents.is_empty() && page.is_empty()) {
        retell(announcement);
    }
}

/// One line for the report and one for the work order, each with one place, in the language of the
/// text where it was written; each begins with a line feed.
fn document_lines(documents: &[Written], language: &str, words: [&str; 2]) -> String {
    let kinds = [DocumentKind::Report, DocumentKind::WorkOrder].into_iter().zip(words);
    let lines = kinds.filter_map(|(kind, word)| {
        let all = documents.iter().filter(|document| document.kind == kind);
        let best = all.min_by_key(|document| rank(&document.place, language))?;
        Some(format!("\n{word}: {}", best.place))
    });
    lines.collect()
}

/// Returns the order in which a person opens the documents: the own language, then what prints;
/// data last.
fn rank(place: &str, language: &str) -> (bool, bool, bool) {
    let mut endings = place.rsplit('.');
    let format = endings.next().unwrap_or_default();
    (format == "json", endings.next() != Some(language), format != "pdf")
}

/// Removes figures that stand in no source from the notification; returns them. Its times are those
/// of the plant's clock.
pub(super) fn hold_to_sources(
    announcement: &mut Announcement,
    sources: &mut Sources,
    judgement: &Judgement,
    alarm: Option<&Alarm>,
    zone: Zone,
) -> Vec<String> {
    if let Some(since) = judgement.state.since {
        sources.add_time(since);
    }
    if let Some(alarm) = alarm {
        sources.add_time(alarm.notification.created_at);
    }
    sources.add_local_times(|at| zone.local_as_utc(at));
    sources.add_name(&zone.abbreviation(announcement.notification.created_at));
    if let Some(site) = &judgement.diagnosis.site {
        sources.add_name(site.as_str());
    }
    sources.add_name(judgement.diagnosis.equipment_id.as_str());
    sources.add_name(judgement.diagnosis.bearing_id.as_str());
    let notification = &mut announcement.notification;
    let mut withheld = sources.withhold(&mut notification.title);
    withheld.extend(sources.withhold(&mut notification.body));
    if !withheld.is_empty() {
        figures_withheld(&withheld, judgement.diagnosis.event_id);
        retell(announcement);
    }
    withheld
}

/// Adds what the language model said of a judgement that waited for it, or why it said nothing, to
/// the notification. The figures of its words are the event's: [`pdm_reasoner::verdict`] has put
/// them in.
pub(super) fn name_model(announcement: &mut Announcement, diagnosis: &Diagnosis) {
    let Some(opinion) = &diagnosis.second_opinion else { return };
    let Some(said) = opinion.reason.as_ref().or(opinion.failure.as_ref()) else { return };
    let body = &mut announcement.notification.body;
    let difference = diagnosis.disagreement.clone().unwrap_or_else(|| Text::new("", ""));
    for (body, said, difference, whose) in [
        (&mut body.ko, &said.ko, &difference.ko, "언어 모델"),
        (&mut body.en, &said.en, &difference.en, "Language model"),
    ] {
        if !difference.is_empty() {
            *body = format!("{body}\n{difference}");
        }
        *body = format!("{body}\n{whose} {}: {said}", opinion.model);
    }
    retell(announcement);
}

/// Copies the changed notification into every row of the outbox and into the alarm.
fn retell(announcement: &mut Announcement) {
    let notification = &announcement.notification;
    if let Ok(payload) = serde_json::to_string(notification) {
        for row in &mut announcement.outgoing {
            row.payload = Payload::Text(payload.clone());
        }
    }
    let change = announcement.episode.as_mut();
    if let Some(alarm) = change.and_then(|change| change.alarm.as_mut()) {
        alarm.notification = notification.clone();
    }
}

/// Notes in the diagnosis what staff is told because of it. The message leaves by the outbox,
/// written in the same transaction as the judgement.
pub(super) fn note_telling(diagnosis: &mut Diagnosis, announcement: &Announcement) {
    let notification = &announcement.notification;
    diagnosis.notification = Some(ToldMessage {
        notification_id: notification.notification_id,
        reason: notification.reason,
        channels: announcement.outgoing.iter().map(|row| row.lane.clone()).collect(),
    });
}

/// The row of the outbox that adds a judgement to the knowledge base.
pub(super) fn vectors(diagnosis: &Diagnosis) -> Outgoing {
    Outgoing {
        key: EventId::at(diagnosis.judged_at.unix_ms()).0,
        lane: VECTORS_LANE.to_owned(),
        topic: None,
        retain: false,
        notification_id: None,
        group: None,
        payload: Payload::Judgement(diagnosis.event_id),
        due_at: diagnosis.judged_at,
    }
}

/// Returns the actions that follow from a judgement; empty if it repeats the bearing's last one,
/// unless a repair was reported since and has not helped. They replace the actions of earlier
/// judgements; an action that was asked for before keeps its due time, unless that is over: nothing
/// is due before it is asked for.
pub(super) fn follow_up(judgement: &Judgement, state: &State, has_orders: bool) -> Vec<FollowUp> {
    let (diagnosis, recent) = (&judgement.diagnosis, &state.memory_context.recent);
    if !pdm_expert::research::is_news(diagnosis, recent)
        && !has_outlived_repair(judgement, &state.event_payload, &state.memory_context)
    {
        return Vec::new();
    }
    let mut actions = asked_actions(diagnosis, &state.memory_context);
    if has_orders
        && diagnosis.risk_level >= RiskLevel::Warning
        && let Some(first) = actions.first_mut()
    {
        first.work_order = Some(pdm_report::work_order::number(&state.event_payload));
    }
    actions
}

/// Whether damage has outlived a repair: the last work was reported as a repair, none is open, and
/// this window and the one before it, both measured after the report, ask for Warning or more by
/// themselves, so that no latched level speaks. Two windows (chosen): one may have been measured
/// while the machine was run in.
fn has_outlived_repair(judgement: &Judgement, event: &Event, memory: &Memory) -> bool {
    let is_open = |work: &Work| work.state == FollowUpState::Open;
    let is_told = judgement.diagnosis.risk_level >= RiskLevel::Warning;
    if !is_told || judgement.late || judgement.ahead || memory.work.iter().any(is_open) {
        return false;
    }
    let closed = memory.work.iter().filter(|work| work.state == FollowUpState::Done);
    let last = closed.filter_map(|work| Some((work.at?, work.repaired)));
    let last = last.max_by_key(|(at, repaired)| (at.unix_ms(), *repaired));
    let Some((repaired_at, true)) = last else { return false };
    let case = Case { event, memory, now: judgement.diagnosis.judged_at };
    let asks = |point: Option<&PointState>| {
        point.is_some_and(|point| {
            let [_normal, no_more_than_watch, _warning] = point.calm;
            no_more_than_watch == 0 && point.measured_at > repaired_at
        })
    };
    asks(memory.state.points.get(case.point())) && asks(judgement.state.points.get(case.point()))
}

/// Returns the actions that a judgement asks of staff: on the bearing, or on the machine where
/// nothing points to the bearing.
fn asked_actions(diagnosis: &Diagnosis, memory: &Memory) -> Vec<FollowUp> {
    let at = diagnosis.judged_at;
    let lead = diagnosis.lead_time_h().map(|hours| at.plus_seconds(hours * 3600.0));
    let open = |(ko, en): (&str, &str), due_at| {
        let due_at = kept_due(memory, en, due_at);
        open_action(ko, en, due_at.map(|due| due.max(at)))
    };
    let measure = ("측정 주기를 단축해 추세 확인", "Measure more often, follow the trend");
    let apart = ("접근 제한과 부하 저감", "Keep people away, reduce load");
    let stop = |then: (&str, &str)| vec![open(then, Some(at)), open(apart, Some(at))];
    match (diagnosis.risk_level, diagnosis.is_of_machine()) {
        (RiskLevel::Normal, _) => Vec::new(),
        (RiskLevel::Watch, true) => {
            let check = ("설비의 부하·정렬·체결 상태 점검", "Check load, alignment and fastening");
            vec![open(measure, None), open(check, None)]
        }
        (RiskLevel::Watch, false) => {
            let spare = ("예비품 재고 점검", "Check that a spare is in stock");
            vec![open(measure, None), open(spare, None)]
        }
        (RiskLevel::Warning, true) => {
            let check = ("설비 정밀 점검 계획과 실시", "Plan and make a check of the machine");
            vec![open(check, lead), open(measure, None)]
        }
        (RiskLevel::Warning, false) => {
            let plan = ("교체 계획 수립과 부품 발주", "Plan the replacement, order the parts");
            vec![open(plan, lead), open(measure, None)]
        }
        (RiskLevel::Critical, true) => stop((
            "안전한 시점에 정지하고 LOTO 후 점검",
            "Stop as soon as it is safe, lock out, inspect",
        )),
        (RiskLevel::Critical, false) => stop((
            "안전한 시점에 정지하고 LOTO 후 교체",
            "Stop as soon as it is safe, lock out, replace",
        )),
    }
}

/// The earlier one of the time until which an action is due now, and of that of the same action
/// that waits.
fn kept_due(memory: &Memory, en: &str, due_at: Option<Timestamp>) -> Option<Timestamp> {
    let work = memory.work.iter();
    let before = work.filter(|work| work.state == FollowUpState::Open && work.action.en == en);
    before.filter_map(|work| work.due_at).chain(due_at).min()
}

/// An action that waits.
fn open_action(ko: &str, en: &str, due_at: Option<Timestamp>) -> FollowUp {
    FollowUp {
        action: Text::new(ko, en),
        due_at,
        work_order: None,
        state: FollowUpState::Open,
        by: None,
        at: None,
        note: None,
        repaired: false,
        found: None,
    }
}

/// Follows the work of a bearing in its memory as the store will, for the next event of the batch.
pub(super) fn note_work(
    memory: &mut Memory,
    diagnosis: &Diagnosis,
    actions: &[FollowUp],
    supersedes: bool,
) {
    let asked_at = diagnosis.judged_at;
    if supersedes || !actions.is_empty() {
        for work in memory.work.iter_mut().filter(|work| work.state == FollowUpState::Open) {
            (work.state, work.at) = (FollowUpState::Superseded, Some(asked_at));
        }
    }
    let new = actions.iter().cloned().map(|action| Work {
        event_id: diagnosis.event_id,
        asked_at,
        action: action.action,
        due_at: action.due_at,
        work_order: action.work_order,
        state: action.state,
        at: action.at,
        repaired: action.repaired,
        found: action.found,
    });
    memory.work.splice(0..0, new);
    memory.work.truncate(RECALLED_WORK);
}

/// Tells in a notification which open work orders of the bearing a new one replaces.
pub(super) fn name_superseded(
    announcement: &mut Announcement,
    sources: &mut Sources,
    state: &State,
    actions: &[FollowUp],
) {
    let Some(new) = actions.iter().find_map(|action| action.work_order.as_deref()) else { return };
    let open = state.memory_context.work.iter().filter(|work| work.state == FollowUpState::Open);
    let old: Vec<&str> = open.filter_map(|work| work.work_order.as_deref()).collect();
    if old.is_empty() || old.contains(&new) {
        return;
    }
    let body = &mut announcement.notification.body;
    let by_new = with_particle(new, Particle::Towards);
    body.ko = format!("{}\n작업지시 {}: 새 작업지시 {by_new} 대체", body.ko, old.join(", "));
    body.en = format!("{}\nWork order {}: superseded by {new}", body.en, old.join(", "));
    for name in old.iter().chain([&new]) {
        sources.add_name(name);
    }
    retell(announcement);
}

/// The detail of the step `save_memory` in the trace.
pub(super) fn detail(
    judgement: &Judgement,
    announcement: Option<&(Announcement, Vec<String>)>,
    follow_up: &[FollowUp],
) -> Value {
    let mut detail = json!({
        "risk_level": judgement.diagnosis.risk_level,
        "fault_stage": judgement.diagnosis.fault_stage,
        "late": judgement.late,
        "ahead": judgement.ahead,
    });
    if let Some((announcement, withheld)) = announcement {
        detail["ungrounded"] = json!(withheld);
        detail["notification"] = json!({
            "id": announcement.notification.notification_id,
            "reason": announcement.notification.reason,
            "channels": announcement.outgoing.iter().map(|row| &row.lane).collect::<Vec<_>>(),
        });
    }
    if !follow_up.is_empty() {
        detail["follow_up"] = json!(follow_up);
    }
    detail
}

#[cfg(test)]
mod tests;
