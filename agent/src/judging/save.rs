//! `save_memory`: puts together what is written of a run, and reports what was written.

use pdm_expert::Judgement;
use pdm_expert::case::{Case, Memory};
use pdm_expert::grounding::{Grounds, Sources};
use pdm_routes::Zone;
use pdm_shared::delivery::NotificationReason;
use pdm_shared::risk::RiskLevel;
use pdm_store::{Announcement, BearingJudged, EpisodeChange, EpisodeRecord, FollowUp, Judged};
use serde_json::Value;

use super::bearing::Bearing;
use super::{Judging, log, outcome};
use crate::notify::policy::{Followed, JudgedWindow};
use crate::progress::Standing;
use crate::workflow::documents::Written;
use crate::workflow::held::is_asked_about;
use crate::workflow::{Node, Run, WorkflowError};

/// An announcement, and the figures that were withheld from it.
type Grounded = (Announcement, Vec<String>);

impl Judging {
    /// The judgement of a run with everything that leaves because of it. Its last step is noted in
    /// the run.
    pub(super) async fn judged(
        &self,
        bearing: &mut Bearing,
        run: &mut Run,
        arrival: i64,
    ) -> Option<Judged> {
        let (judged, detail) = self.concluded(bearing, run, arrival).await?;
        run.note(Node::SaveMemory, self.clock.now(), detail);
        Some(Judged { trace: std::mem::take(&mut run.steps), ..judged })
    }

    /// The judgement of a run whose documents are left, with the checkpoint from which they are
    /// written.
    ///
    /// # Errors
    /// [`WorkflowError`] if the state of the run cannot be written as JSON.
    pub(super) async fn judged_unwritten(
        &self,
        bearing: &mut Bearing,
        run: &mut Run,
        arrival: i64,
    ) -> Result<Option<Judged>, WorkflowError> {
        let judgement = run.state.diagnosis_result.clone();
        let concluded = self.concluded(bearing, run, arrival).await;
        let Some((judged, detail)) = concluded else { return Ok(None) };
        run.state.diagnosis_result = judgement;
        run.state.saved = Some(detail);
        let unwritten = Some(run.checkpoint(self.clock.now())?);
        Ok(Some(Judged { trace: std::mem::take(&mut run.steps), unwritten, ..judged }))
    }

    /// The judgement of a run, and the detail of its last step.
    async fn concluded(
        &self,
        bearing: &mut Bearing,
        run: &mut Run,
        arrival: i64,
    ) -> Option<(Judged, Value)> {
        // `parse_diagnosis`, which every run passes, sets the judgement
        let promised = self.workflow.promised(&run.state);
        let mut judgement = *run.state.diagnosis_result.take()?;
        let follow_up = outcome::follow_up(&judgement, &run.state, self.workflow.has_documents());
        let announced = self.announcement(bearing, run, &judgement, &follow_up, &promised);
        let (told, quiet) = announced.await;
        if let Some(change) = &quiet {
            bearing.changed(change);
        }
        if let Some((announcement, _)) = &told {
            if let Some(staff_tool) = &self.staff_tool {
                judgement.diagnosis.tools.extend(staff_tool.call(announcement).await);
            }
            outcome::note_telling(&mut judgement.diagnosis, announcement);
            if let Some(change) = &announcement.episode {
                bearing.changed(change);
            }
        }
        let mut outgoing = vec![self.policy.publication(&bearing.key, &judgement.diagnosis)];
        outgoing.extend(self.remembers.then(|| outcome::vectors(&judgement.diagnosis)));
        let measured_at = run.state.event_payload.measured_at;
        log::judged(&judgement.diagnosis);
        if let Some(hours) = lead_time_h(&judgement) {
            log::lead_time(hours);
        }
        if judgement.ahead {
            log::event_ahead(&bearing.key, measured_at);
        }
        let before = bearing.memory.state.repaired_at;
        let supersedes = judgement.state.repaired_at != before;
        bearing.memory.recall(&run.state.event_payload, &judgement);
        outcome::note_work(&mut bearing.memory, &judgement.diagnosis, &follow_up, supersedes);
        let detail = outcome::detail(&judgement, told.as_ref(), &follow_up);
        let opinion_on = self.opinion_on(run, &judgement);
        let judged = Judged {
            arrival,
            measured_at,
            late: judgement.late,
            outgoing,
            diagnosis: judgement.diagnosis,
            announcement: told.map(|(announcement, _)| announcement),
            quiet,
            follow_up,
            supersedes,
            trace: Vec::new(),
            unwritten: None,
            opinion_on,
            was_held: run.state.held,
        };
        Some((judged, detail))
    }

    /// The memory that a second opinion starts from, if one is asked for after the judgement.
    fn opinion_on(&self, run: &Run, judgement: &Judgement) -> Option<Box<Memory>> {
        let from = self.opinions_from.filter(|_| !run.state.held)?;
        let memory = &run.state.memory_context;
        is_asked_about(judgement, memory, from).then(|| Box::new(memory.clone()))
    }

    /// Returns the message to staff because of a judgement, with the figures that were withheld
    /// from it because they stand in no source; and a change of the episode that staff is not told
    /// of.
    async fn announcement(
        &self,
        bearing: &Bearing,
        run: &Run,
        judgement: &Judgement,
        follow_up: &[FollowUp],
        promised: &[Written],
    ) -> (Option<Grounded>, Option<Box<EpisodeChange>>) {
        let record = bearing.episode.as_ref();
        let now = self.clock.now();
        let key = &bearing.key;
        let case = Case { event: &run.state.event_payload, memory: &run.state.memory_context, now };
        let is_repaired = judgement.state.repaired_at != bearing.memory.state.repaired_at;
        let window =
            JudgedWindow { event: case.event, judgement, point: case.point(), is_repaired };
        let (followed, quiet) = match self.followed(key, &window, record, now).await {
            Some(Followed::Told(announcement)) => (Some(*announcement), None),
            Some(Followed::Quiet(change)) => (None, Some(change)),
            None => (None, None),
        };
        let told = followed.or_else(|| self.policy.beside_risk(key, &window, now));
        let told = told.map(|announcement| {
            let zone = self.policy.zone();
            grounded(announcement, record, run, judgement, follow_up, promised, zone)
        });
        (told, quiet)
    }

    /// Reports judgements that were saved, and wakes the lanes of the outbox.
    pub(super) fn report(&self, judged: Vec<BearingJudged>) {
        let all = || judged.iter().flat_map(|bearing| &bearing.judgements);
        let count = all().count() as u64;
        if count == 0 {
            return;
        }
        let announcements: Vec<_> = all().filter_map(|one| one.announcement.clone()).collect();
        let rows: usize = announcements.iter().map(Announcement::rows).sum::<usize>()
            + all().map(|one| one.outgoing.len() + usize::from(one.quiet.is_some())).sum::<usize>();
        let tool_uses = all().map(|judgement| judgement.diagnosis.tools.len()).sum();
        log::saved(count, announcements.len(), tool_uses);
        self.reporter.update(|progress| {
            progress.judged += count;
            progress.unjudged = progress.unjudged.saturating_sub(count);
            progress.notified += announcements.len() as u64;
            progress.unsent += rows as u64;
        });
        for bearing in judged {
            for judgement in bearing.judgements {
                let standing = Standing {
                    at: judgement.measured_at,
                    risk: judgement.diagnosis.risk_level,
                    stage: judgement.diagnosis.fault_stage,
                    fault: judgement.diagnosis.fault_type,
                };
                self.reporter.stands(&bearing.key, standing);
            }
        }
        for announcement in announcements {
            self.reporter.notified(announcement.notification);
        }
        self.wake_lanes();
    }

    /// Wakes every lane of the outbox: rows may wait for it.
    pub(super) fn wake_lanes(&self) {
        for lane in self.written.iter() {
            lane.notify_one();
        }
    }
}

/// An announcement with the places of its documents, and held to its sources.
fn grounded(
    mut announcement: Announcement,
    record: Option<&EpisodeRecord>,
    run: &Run,
    judgement: &Judgement,
    follow_up: &[FollowUp],
    promised: &[Written],
    zone: Zone,
) -> Grounded {
    let grounds = Grounds {
        event: &run.state.event_payload,
        memory: &run.state.memory_context,
        inquiry: &run.state.inquiry,
    };
    let mut sources = Sources::of(&judgement.diagnosis, &grounds);
    outcome::name_superseded(&mut announcement, &mut sources, &run.state, follow_up);
    match announcement.notification.reason {
        NotificationReason::Raised => {
            outcome::name_documents(&mut announcement, &mut sources, promised);
        }
        // what has changed is looked at on the page; its documents are those of the alarm
        NotificationReason::Message => {
            outcome::name_documents(&mut announcement, &mut sources, &[]);
        }
        NotificationReason::Repeated | NotificationReason::Silent | NotificationReason::Cleared => {
        }
    }
    if let Some(told) = record.and_then(|one| one.episode.course.told_finding.as_ref()) {
        // "P-F stage 2 to 3" names the stage that staff was told before
        sources.add_stage(told.stage);
    }
    let alarm = record.and_then(|record| record.alarm.as_ref());
    let withheld =
        outcome::hold_to_sources(&mut announcement, &mut sources, judgement, alarm, zone);
    if announcement.notification.reason == NotificationReason::Raised && run.state.held {
        outcome::name_model(&mut announcement, &judgement.diagnosis);
    }
    (announcement, withheld)
}

/// Hours from the first Watch to this judgement, if the bearing becomes Critical with it.
fn lead_time_h(judgement: &Judgement) -> Option<f64> {
    let standing = &judgement.state.standing;
    let critical = standing.begun(RiskLevel::Critical)?;
    let watch = standing.levels.get(&RiskLevel::Watch)?;
    Some(critical.since.seconds_since(watch.since) / 3600.0)
}
