//! What follows from a judgement: the figures of its notification are checked against their sources,
//! actions are derived, a row for the knowledge base and the step of the trace are made.

use pdm_expert::Judgement;
use pdm_expert::grounding::Sources;
use pdm_report::files::DocumentKind;
use pdm_shared::delivery::NotificationReason;
use pdm_shared::diagnosis::{Diagnosis, ToolUse};
use pdm_shared::id::EventId;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use serde_json::{Value, json};

use crate::store::{
    Alarm, AlarmChange, Announcement, FollowUp, FollowUpState, Outgoing, Payload, VECTORS_LANE,
};
use crate::workflow::documents::Written;
use crate::workflow::{State, figures_withheld};

/// The tool by which staff is told, by its name in the requirements.
const NOTIFY: &str = "notify_maintenance_staff";

/// Adds the places of the documents that were written to the notification, so that staff finds them.
pub(super) fn name_documents(
    announcement: &mut Announcement,
    sources: &mut Sources,
    documents: &[Written],
) {
    let body = &mut announcement.notification.body;
    for document in documents {
        let (ko, en) = match document.kind {
            DocumentKind::Report => ("분석 리포트", "Report"),
            DocumentKind::WorkOrder => ("작업지시서", "Work order"),
        };
        body.ko = format!("{}\n{ko}: {}", body.ko, document.place);
        body.en = format!("{}\n{en}: {}", body.en, document.place);
        sources.add_name(&document.place);
    }
    if !documents.is_empty() {
        retell(announcement);
    }
}

/// Removes figures that stand in no source from the notification; returns them.
pub(super) fn hold_to_sources(
    announcement: &mut Announcement,
    sources: &mut Sources,
    judgement: &Judgement,
    alarm: Option<&Alarm>,
) -> Vec<String> {
    if let Some(since) = judgement.state.since {
        sources.add_time(since);
    }
    if let Some(alarm) = alarm {
        sources.add_time(alarm.notification.created_at);
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

/// Copies the changed notification into every row of the outbox and into the alarm.
fn retell(announcement: &mut Announcement) {
    let notification = &announcement.notification;
    if let Ok(payload) = serde_json::to_string(notification) {
        for row in &mut announcement.outgoing {
            row.payload = Payload::Text(payload.clone());
        }
    }
    if let AlarmChange::Stands(alarm) = &mut announcement.alarm {
        alarm.notification = notification.clone();
    }
}

/// Notes in the diagnosis that staff was told, as a use of the tool. The message itself leaves by the
/// outbox, written in the same transaction as the judgement: a tool called before that transaction would
/// send the message again after a crash between the two.
pub(super) fn note_telling(diagnosis: &mut Diagnosis, announcement: &Announcement) {
    let notification = &announcement.notification;
    if notification.reason != NotificationReason::Raised {
        return;
    }
    diagnosis.tools.push(ToolUse {
        name: NOTIFY.to_owned(),
        arguments: json!({
            "message": notification.title.ko,
            "risk_level": notification.risk_level,
            "equipment_id": notification.equipment_id,
        }),
        result_ids: vec![notification.notification_id.to_string()],
        round: 0,
        failure: None,
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

/// The actions that follow from a judgement; none if it repeats the bearing's last one.
pub(super) fn follow_up(diagnosis: &Diagnosis, state: &State) -> Vec<FollowUp> {
    let recent = &state.memory_context.recent;
    if !pdm_expert::research::is_news(diagnosis, recent) {
        return Vec::new();
    }
    let at = diagnosis.judged_at;
    let lead = lead_time_h(diagnosis).map(|hours| at.plus_seconds(hours * 3600.0));
    let open = |ko: &str, en: &str, due_at: Option<Timestamp>| FollowUp {
        action: Text::new(ko, en),
        due_at,
        state: FollowUpState::Open,
        by: None,
        at: None,
        note: None,
    };
    let measure =
        open("측정 주기를 단축해 추세 확인", "Measure more often, follow the trend", None);
    let spare = open("예비품 재고 점검", "Check that a spare is in stock", None);
    match diagnosis.risk_level {
        RiskLevel::Normal => Vec::new(),
        RiskLevel::Watch => vec![measure, spare],
        RiskLevel::Warning => vec![
            open("교체 계획 수립과 부품 발주", "Plan the replacement, order the parts", lead),
            measure,
        ],
        RiskLevel::Critical => {
            let stop = "안전한 시점에 정지하고 LOTO 후 교체";
            let stop_en = "Stop as soon as it is safe, lock out, replace";
            vec![
                open(stop, stop_en, Some(at)),
                open("접근 제한과 부하 저감", "Keep people away, reduce load", Some(at)),
            ]
        }
    }
}

/// The configured lead time for parts, h, as the judgement quotes it in its evidence.
fn lead_time_h(diagnosis: &Diagnosis) -> Option<f64> {
    let evidence = diagnosis.thoughts.iter().flat_map(|thought| &thought.evidence);
    evidence.filter(|fact| fact.path == "config.lead_time_h").find_map(|fact| fact.value.as_f64())
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
mod tests {
    use pdm_expert::case::{Case, Memory};
    use pdm_expert::grounding::Grounds;
    use pdm_expert::research::Inquiry;
    use pdm_expert::rules::Rules;
    use pdm_shared::event::Event;
    use pdm_shared::topic::Prefix;

    use super::*;
    use crate::notify::policy::Policy;
    use crate::settings::NotifySettings;

    /// R-AGENT-2: what staff is told leans on the judgement's sources, on every way it leaves by.
    #[test]
    fn a_figure_without_a_source_is_withheld_from_every_copy_of_a_notification() {
        let event: Event =
            serde_json::from_str(include_str!("../../../config/examples/event.json"))
                .expect("event");
        let (memory, inquiry) = (Memory::default(), Inquiry::default());
        let case = Case { event: &event, memory: &memory, now: event.measured_at };
        let judgement = pdm_expert::judge(&case, &Rules::default());
        let policy = Policy::new(NotifySettings::default(), Prefix::default());
        let key = event.key();
        let told = policy.judged(&key, &judgement.diagnosis, &judgement.state, None, case.now);
        let mut told = told.expect("a Warning is told");
        let grounds = Grounds { event: &event, memory: &memory, inquiry: &inquiry };
        let sources = || Sources::of(&judgement.diagnosis, &grounds);
        let place = "reports/P-101-DE-20261121.pdf".to_owned();
        let written = [Written { kind: DocumentKind::WorkOrder, place: place.clone() }];
        let mut all = sources();
        name_documents(&mut told, &mut all, &written);
        let kept = hold_to_sources(&mut told, &mut all, &judgement, None);
        assert_eq!(kept, Vec::<String>::new(), "{}", told.notification.body.ko);
        assert!(told.outgoing.iter().all(|row| row.payload.text().contains(&place)));
        told.notification.body.en.push_str(" Fails in 33 hours.");
        let mut named = sources();
        named.add_name(&place);
        assert_eq!(hold_to_sources(&mut told, &mut named, &judgement, None), ["33"]);
        assert!(told.outgoing.iter().all(|row| !row.payload.text().contains("33 hours")));
        let AlarmChange::Stands(alarm) = &told.alarm else { panic!("stands") };
        assert_eq!(alarm.notification, told.notification);
    }
}
