//! Key figures of the agent over scenarios.

use std::collections::BTreeSet;
use std::time::Duration;

use pdm_shared::diagnosis::{OpinionStance, ResearchEffect, SecondOpinion};
use pdm_shared::risk::RiskLevel;
use serde::Serialize;

use super::play::{Files, Played, PlayedEvent};

/// The key figures of the scenarios played.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Kpis {
    /// Sequences played.
    pub scenarios: usize,
    /// Sequences in which everything was as expected.
    pub right: usize,
    /// Events played.
    pub events: usize,
    /// Phases that ended with the expected risk, of all.
    pub right_risk: Share,
    /// Phases that ended with the expected stage, of all.
    pub right_stage: Share,
    /// Look-ups per event, all events.
    pub tool_calls_per_event: f64,
    /// Normal events that used a tool; must be 0.
    pub normal_events_with_tools: usize,
    /// Events on which deep research was due and had at least two rounds, of those on which it was
    /// due.
    pub deep_research: Share,
    /// Sequences with an event on which research was due.
    pub accelerating_sequences: usize,
    /// Different questions that the research of all sequences asked.
    pub distinct_questions: usize,
    /// Researched events whose judgement says what the research changed, of all researched ones.
    pub research_changed: Share,
    /// Events among those whose change is that nothing like them is known.
    pub nothing_known: usize,
    /// Fewest rounds of an event on which research was due.
    pub fewest_rounds: Option<u32>,
    /// Phases in which documents were due and both were written, once and whole, of those in which
    /// they were due.
    pub documents: Share,
    /// Events with a document though none was due; must be 0.
    pub undue_documents: usize,
    /// Figures without a source, in judgements and documents; must be 0.
    pub ungrounded_figures: usize,
    /// Second opinions of a language model with the same risk, of those that it gave; `None`
    /// without a model.
    pub agreement: Option<Share>,
    /// Second opinions that would lower the risk, of those that it gave; `None` without a model.
    pub lowered: Option<Share>,
    /// Judgements on which the language model gave no opinion.
    pub opinions_failed: usize,
    /// Hours from the first Warning to the last event, of sequences that end Critical; the
    /// shortest.
    pub shortest_lead_time_h: Option<f64>,
    /// Time from stored to judged, without research and documents, 95th percentile, ms.
    pub judged_p95_ms: f64,
    /// Time from stored to judged, with research and no documents, 95th percentile, ms.
    pub researched_p95_ms: f64,
    /// Time from stored to judged, with documents, 95th percentile, ms.
    pub documented_p95_ms: f64,
}

/// A count out of a total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Share {
    /// The count.
    pub of: usize,
    /// The total.
    pub all: usize,
}

impl Share {
    fn of(all: impl Iterator<Item = bool>) -> Self {
        let mut share = Self { of: 0, all: 0 };
        for is in all {
            share.all += 1;
            share.of += usize::from(is);
        }
        share
    }

    /// Whether the count is the total.
    pub const fn is_whole(self) -> bool {
        self.of == self.all
    }
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.of, self.all)
    }
}

impl Kpis {
    /// The key figures of these scenarios.
    pub fn of(played: &[Played]) -> Self {
        let events = || played.iter().flat_map(|played| &played.events);
        let phases = |what, counts| played.iter().flat_map(move |one| right(one, what, counts));
        let due = || events().filter(|event| event.research_due);
        let count = events().count();
        Self {
            scenarios: played.len(),
            right: played.iter().filter(|played| played.wrong.is_empty()).count(),
            events: count,
            right_risk: Share::of(phases("risk", every)),
            right_stage: Share::of(phases("stage", every)),
            tool_calls_per_event: events().map(PlayedEvent::look_ups).sum::<usize>() as f64
                / count.max(1) as f64,
            normal_events_with_tools: events()
                .filter(|event| event.diagnosis.risk_level == RiskLevel::Normal)
                .filter(|event| !event.diagnosis.tools.is_empty())
                .count(),
            deep_research: Share::of(due().map(|event| event.research_rounds >= 2)),
            accelerating_sequences: played
                .iter()
                .filter(|one| one.events.iter().any(|event| event.research_due))
                .count(),
            distinct_questions: due().flat_map(questions).collect::<BTreeSet<String>>().len(),
            research_changed: Share::of(due().map(|event| !changes(event).is_empty())),
            nothing_known: due()
                .filter(|event| changes(event).contains(&ResearchEffect::NothingKnown))
                .count(),
            fewest_rounds: due().map(|event| event.research_rounds).min(),
            documents: Share::of(phases("documents", |event| event.documents_due)),
            undue_documents: events()
                .filter(|event| !event.documents_due && !is_bare(event))
                .count(),
            ungrounded_figures: events().map(|event| event.ungrounded).sum(),
            agreement: stances(played, OpinionStance::Agrees),
            lowered: stances(played, OpinionStance::Lowers),
            opinions_failed: opinions(played).filter(|opinion| opinion.stance.is_none()).count(),
            shortest_lead_time_h: played.iter().filter_map(lead_time_h).min_by(f64::total_cmp),
            judged_p95_ms: p95_ms(events().filter(|event| is_bare(event) && !is_researched(event))),
            researched_p95_ms: p95_ms(
                events().filter(|event| is_bare(event) && is_researched(event)),
            ),
            documented_p95_ms: p95_ms(events().filter(|event| !is_bare(event))),
        }
    }

    /// Whether every figure that has a required value has it.
    pub const fn is_right(&self) -> bool {
        self.right == self.scenarios
            && self.normal_events_with_tools == 0
            && self.ungrounded_figures == 0
            && self.deep_research.is_whole()
            && self.documents.is_whole()
            && self.undue_documents == 0
    }
}

fn opinions(played: &[Played]) -> impl Iterator<Item = &SecondOpinion> {
    let events = played.iter().flat_map(|played| &played.events);
    events.filter_map(|event| event.diagnosis.second_opinion.as_ref())
}

/// Opinions with this stance, of those that have one.
fn stances(played: &[Played], wanted: OpinionStance) -> Option<Share> {
    let stances = opinions(played).filter_map(|opinion| opinion.stance);
    let share = Share::of(stances.map(|stance| stance == wanted));
    (share.all > 0).then_some(share)
}

/// The questions of an event's research.
fn questions(event: &PlayedEvent) -> impl Iterator<Item = String> + '_ {
    let asked = event.diagnosis.tools.iter().filter(|tool| tool.round > 0);
    asked.map(|tool| format!("{} {}", tool.name, tool.arguments["query"]))
}

/// Returns the effects of the changes that the research of an event made.
fn changes(event: &PlayedEvent) -> Vec<ResearchEffect> {
    let research = event.diagnosis.research.as_ref();
    research.map_or_else(Vec::new, |research| {
        research.changes.iter().map(|change| change.effect).collect()
    })
}

fn is_bare(event: &PlayedEvent) -> bool {
    event.documents == Files::NONE
}

const fn is_researched(event: &PlayedEvent) -> bool {
    event.research_rounds >= 2
}

const fn every(_: &PlayedEvent) -> bool {
    true
}

/// For each phase that counts, whether `what` was as expected.
fn right<'a>(
    played: &'a Played,
    what: &'a str,
    counts: fn(&PlayedEvent) -> bool,
) -> impl Iterator<Item = bool> + 'a {
    let ends = played.events.iter().filter(move |event| event.is_checked && counts(event));
    ends.map(move |event| {
        let head = format!("phase {}: {what} ", event.phase);
        !played.wrong.iter().any(|wrong| wrong.starts_with(&head))
    })
}

fn lead_time_h(played: &Played) -> Option<f64> {
    let last = played.events.last()?;
    if last.diagnosis.risk_level != RiskLevel::Critical {
        return None;
    }
    let warned = played.events.iter().find(|e| e.diagnosis.risk_level >= RiskLevel::Warning)?;
    Some(last.at_h - warned.at_h)
}

fn p95_ms<'a>(events: impl Iterator<Item = &'a PlayedEvent>) -> f64 {
    let mut took: Vec<Duration> = events.map(|event| event.took).collect();
    took.sort_unstable();
    let at = (took.len() * 95).div_ceil(100).saturating_sub(1);
    took.get(at).map_or(0.0, |took| took.as_secs_f64() * 1000.0)
}
