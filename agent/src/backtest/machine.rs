//! The events of one machine through the expert and, for each configuration, episodes, routes and
//! telling.
//!
//! Time is the events' own: a window is judged at its end, at the earliest after the one before it.
//! What time brings about between two windows is done at its instant before the second one is
//! judged.

use std::collections::{BTreeMap, VecDeque};

use pdm_expert::Judgement;
use pdm_expert::case::{Case, Memory, RECALLED_WORK, Work};
use pdm_shared::event::Event;
use pdm_shared::follow_up::{FollowUpState, Verdict};
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;

use super::course::Course;
use super::names::MachineKey;
use super::played::{BearingPlayed, MachinePlayed, Message, ReportPlayed, SidePlayed};
use super::{Side, Terms};
use crate::notify::policy::JudgedWindow;
use crate::preview::Preview;

/// A report of staff on a bearing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reported {
    /// The bearing.
    pub(crate) bearing: BearingKey,
    /// The time of the report.
    pub(crate) at: Timestamp,
    /// The finding, if somebody looked.
    pub(crate) verdict: Option<Verdict>,
    /// Whether the bearing was repaired or replaced.
    pub(crate) repaired: bool,
}

/// A machine that is being played.
#[derive(Debug)]
pub(crate) struct MachinePlay<'a> {
    terms: &'a Terms,
    machine: MachineKey,
    courses: BTreeMap<BearingKey, Course>,
    /// Judged once where the configurations have the same rules.
    experts: Vec<Expert<'a>>,
    tellers: Vec<Teller>,
    now: Timestamp,
    reported: Vec<Reported>,
    /// Repairs that are still to come.
    repairs: VecDeque<Reported>,
}

/// The expert with its memory of each bearing.
#[derive(Debug)]
struct Expert<'a> {
    side: &'a Side,
    memories: BTreeMap<BearingKey, Memory>,
}

/// The episodes and messages of one configuration.
#[derive(Debug)]
struct Teller {
    expert: usize,
    preview: Preview,
    messages: BTreeMap<BearingKey, Vec<Message>>,
}

/// A window's judgement, with whether a repair ends the former ones.
struct Judged {
    judgement: Judgement,
    is_repaired: bool,
}

impl<'a> MachinePlay<'a> {
    /// A machine of which nothing was played. `reported` is what staff has said of its bearings.
    pub(crate) fn new(terms: &'a Terms, machine: MachineKey, mut reported: Vec<Reported>) -> Self {
        let mut experts: Vec<Expert<'a>> = Vec::new();
        let mut tellers = Vec::new();
        for side in &terms.sides {
            let same = experts.iter().position(|expert| expert.side.rules == side.rules);
            let expert = same.unwrap_or_else(|| {
                experts.push(Expert { side, memories: BTreeMap::new() });
                experts.len() - 1
            });
            let preview = Preview::new(side.notify.clone(), side.rules.clone());
            tellers.push(Teller { expert, preview, messages: BTreeMap::new() });
        }
        reported.sort_by_key(|one| one.at);
        let repairs = reported.iter().filter(|one| one.repaired).cloned().collect();
        Self {
            terms,
            machine,
            courses: BTreeMap::new(),
            experts,
            tellers,
            now: Timestamp::EPOCH,
            reported,
            repairs,
        }
    }

    /// Plays the next event of the machine, in the order of their arrival.
    pub(crate) fn event(&mut self, event: &Event) {
        let key = event.key();
        self.now = event.measured_at.plus_seconds(event.window.duration_s).max(self.now);
        self.repair();
        for teller in &mut self.tellers {
            teller.preview.advance(self.now, self.terms.acknowledged_after_s);
            teller.take(None);
        }
        let now = self.now;
        let judged: Vec<Judged> =
            self.experts.iter_mut().map(|expert| expert.judge(&key, event, now)).collect();
        let point = {
            let memory = Memory::default();
            Case { event, memory: &memory, now }.point().to_owned()
        };
        let mut risks = Vec::with_capacity(self.tellers.len());
        for teller in &mut self.tellers {
            let Some(Judged { judgement, is_repaired }) = judged.get(teller.expert) else {
                continue;
            };
            let window =
                JudgedWindow { event, judgement, point: &point, is_repaired: *is_repaired };
            teller.preview.follow(&window, now);
            teller.take(Some((event.event_id, judgement)));
            risks.push(judgement.state.risk());
        }
        let is_late = judged.first().is_some_and(|one| one.judgement.late);
        self.courses.entry(key).or_default().take(event, is_late, &risks);
    }

    /// Returns the next time at which something is due.
    #[cfg(test)]
    pub(super) fn next_at(&self) -> Option<Timestamp> {
        let after_s = self.terms.acknowledged_after_s;
        self.tellers.iter().filter_map(|teller| teller.preview.next_at(after_s)).min()
    }

    /// Lets time pass without an event.
    #[cfg(test)]
    pub(super) fn pass(&mut self, now: Timestamp) {
        self.now = now.max(self.now);
        for teller in &mut self.tellers {
            teller.preview.advance(self.now, self.terms.acknowledged_after_s);
            teller.take(None);
        }
    }

    /// Puts repairs that were reported by now into the memory of their bearings.
    fn repair(&mut self) {
        while let Some(repair) = self.repairs.pop_front_if(|one| one.at <= self.now) {
            for expert in &mut self.experts {
                let memory = expert.memories.entry(repair.bearing.clone()).or_default();
                memory.work.insert(0, work_of(&repair));
                memory.work.truncate(RECALLED_WORK);
            }
        }
    }

    /// Ends the play and returns the result of the machine.
    pub(crate) fn end(self) -> MachinePlayed {
        let Self { machine, courses, mut tellers, reported, .. } = self;
        let bearings = courses.into_iter().filter_map(|(bearing, course)| {
            let course = course.end()?;
            let of_bearing = reported.iter().filter(|one| one.bearing == bearing);
            let reported = of_bearing.map(|one| ReportPlayed {
                at: one.at,
                verdict: one.verdict,
                repaired: one.repaired,
            });
            Some(BearingPlayed {
                windows: course.windows,
                late: course.late,
                first: course.first,
                last: course.last,
                period_s: course.period_s,
                holes: course.holes,
                gateways: course.gateways,
                course: course.points,
                reported: reported.collect(),
                sides: tellers.iter_mut().map(|teller| teller.end(&bearing)).collect(),
                bearing,
            })
        });
        let bearings = bearings.collect();
        let others = tellers.into_iter().map(|teller| teller.messages.into_values().flatten());
        MachinePlayed { machine, bearings, others: others.map(Iterator::collect).collect() }
    }
}

impl Expert<'_> {
    fn judge(&mut self, key: &BearingKey, event: &Event, now: Timestamp) -> Judged {
        let memory = self.memories.entry(key.clone()).or_default();
        let judgement = {
            let case = Case { event, memory, now };
            pdm_expert::judge(&case, &self.side.rules)
        };
        let is_repaired = judgement.state.repaired_at != memory.state.repaired_at;
        memory.recall(event, &judgement);
        Judged { judgement, is_repaired }
    }
}

impl Teller {
    /// Takes what was told, with the life that the window's judgement plans with.
    fn take(&mut self, judged: Option<(EventId, &Judgement)>) {
        for (notification, way) in self.preview.take_told() {
            let key = BearingKey {
                site: notification.site.clone(),
                equipment: notification.equipment_id.clone(),
                bearing: notification.bearing_id.clone(),
            };
            let own = judged.filter(|(event_id, _)| notification.event_id == Some(*event_id));
            let life_h = own
                .filter(|(_, judgement)| judgement.state.risk() > RiskLevel::Normal)
                .and_then(|(_, judgement)| judgement.diagnosis.rul_assessment.hours);
            let message = Message::new(notification, way, life_h);
            self.messages.entry(key).or_default().push(message);
        }
    }

    fn end(&mut self, bearing: &BearingKey) -> SidePlayed {
        let episodes = self.preview.episodes_of(bearing).into_iter().map(Into::into).collect();
        SidePlayed { episodes, messages: self.messages.remove(bearing).unwrap_or_default() }
    }
}

/// A repair as the memory of a judgement has it.
fn work_of(repair: &Reported) -> Work {
    Work {
        event_id: EventId::at(repair.at.unix_ms()),
        asked_at: repair.at,
        action: Text::new("정비", "Repair"),
        due_at: None,
        work_order: None,
        state: FollowUpState::Done,
        at: Some(repair.at),
        repaired: true,
        found: None,
    }
}
