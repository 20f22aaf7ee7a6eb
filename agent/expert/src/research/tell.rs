//! Findings enter the judgement: quotes with their sources as evidence, the calls as
//! `tools[]`, what could not be looked up as a cause of uncertainty.

use std::collections::BTreeSet;

use pdm_shared::diagnosis::{
    ComparedCase, Diagnosis, Evidence, ResearchEffect, ResearchEnd, ResearchSummary, Thought,
    ThoughtTitle, ToolUse, UncertaintyLevel,
};
use pdm_shared::event::Event;
use pdm_shared::fault::Fault;
use pdm_shared::text::Text;

use super::compare::{self, Comparison};
use super::conclude::{self, Change, ToldCase};
use super::{Inquiry, Learnt, Lesson, MAX_ROUNDS, is_due};
use crate::case::Case;
use crate::wording::{fact, joined};

/// Most past cases that a diagnosis lists. Chosen: all that a run finds; twelve are shipped.
const MAX_CASES: usize = 8;

/// Most quotes that a thought takes over. Chosen: more than a person reads; all are in the trace.
const MAX_QUOTES: usize = 6;

/// The judgement with what was asked and found, and what that changes.
pub fn tell_research(diagnosis: &mut Diagnosis, case: &Case<'_>, inquiry: &Inquiry) {
    if inquiry.answered.is_empty() {
        return;
    }
    let made = inquiry.answered.iter().filter(|answered| !answered.not_made);
    diagnosis.tools = made.map(tool_use).collect();
    let research = is_due(diagnosis);
    let compared = compare::all(case.event, diagnosis, inquiry);
    let changes = conclude::changes(diagnosis, case, inquiry, &compared);
    let cited = Cited::of(inquiry, diagnosis, &compared);
    let title = if research { ThoughtTitle::Degradation } else { ThoughtTitle::OverallRisk };
    if let Some(thought) = diagnosis.thoughts.iter_mut().find(|thought| thought.title == title) {
        add(thought, inquiry, research, &cited);
    }
    for change in &changes {
        tell_change(diagnosis, change, &compared);
    }
    weigh(diagnosis, &changes);
    diagnosis.research = Some(summary(inquiry, &compared, changes));
    doubt(diagnosis, inquiry);
}

/// Returns the research's evidence for this diagnosis: the figures that its texts may quote of this
/// bearing and of past cases, read from the documents and the memory anew.
pub(crate) fn facts(diagnosis: &Diagnosis, case: &Case<'_>, inquiry: &Inquiry) -> Vec<Evidence> {
    let compared = compare::all(case.event, diagnosis, inquiry);
    let changes = conclude::changes(diagnosis, case, inquiry, &compared);
    let facts = changes.iter().flat_map(|change| {
        let at = change.at.unwrap_or_default();
        let rule = rule(change.said.effect);
        change.told.iter().map(move |(what, told)| fact(what.path(at), told, rule))
    });
    facts.collect()
}

/// The thought that a change belongs to.
const fn place(effect: ResearchEffect) -> ThoughtTitle {
    match effect {
        ResearchEffect::StageConfirmed | ResearchEffect::StageDoubted => ThoughtTitle::PfStage,
        ResearchEffect::SpeedConfirmed | ResearchEffect::SpeedDoubted => ThoughtTitle::Degradation,
        ResearchEffect::LifeConfirmed | ResearchEffect::LifeDoubted => ThoughtTitle::Rul,
        ResearchEffect::Contradiction | ResearchEffect::NothingKnown => ThoughtTitle::OverallRisk,
    }
}

const fn rule(effect: ResearchEffect) -> &'static str {
    match effect {
        ResearchEffect::StageConfirmed | ResearchEffect::StageDoubted => "FIND-1",
        ResearchEffect::SpeedConfirmed | ResearchEffect::SpeedDoubted => "FIND-2",
        ResearchEffect::LifeConfirmed | ResearchEffect::LifeDoubted => "FIND-3",
        ResearchEffect::Contradiction => "FIND-4",
        ResearchEffect::NothingKnown => "FIND-5",
    }
}

/// Adds a change to its thought, with the passage that it rests on and the figures that it tells.
fn tell_change(diagnosis: &mut Diagnosis, change: &Change, compared: &[Comparison]) {
    let effect = change.said.effect;
    let title = place(effect);
    let thought = diagnosis.thoughts.iter_mut().find(|thought| thought.title == title);
    let Some(thought) = thought else { return };
    let said = &change.said.text;
    let note = Text::new(format!("· {}", said.ko), format!("· {}", said.en));
    thought.conclusion = joined(&[thought.conclusion.clone(), note]);
    let Some(one) = change.at.and_then(|at| compared.get(at)) else { return };
    let document = &one.record.document;
    let at = change.at.unwrap_or_default();
    for (what, told) in &change.told {
        thought.evidence.push(fact(what.path(at), told, rule(effect)));
    }
    if let Some(step) = &one.step {
        thought.evidence.push(Evidence {
            path: format!("tools[{}].{document}", one.call),
            value: step.quote.as_str().into(),
            rule: Some(rule(effect).to_owned()),
            source: Some(one.record.source.clone()),
        });
    }
}

/// Raises the uncertainty by what was found.
fn weigh(diagnosis: &mut Diagnosis, changes: &[Change]) {
    use ResearchEffect::{Contradiction, LifeDoubted, NothingKnown, StageDoubted};
    let has = |wanted: &[ResearchEffect]| {
        changes.iter().filter(|one| wanted.contains(&one.said.effect)).collect::<Vec<_>>()
    };
    let uncertainty = &mut diagnosis.uncertainty;
    let doubts = has(&[Contradiction, LifeDoubted, NothingKnown, StageDoubted]);
    for doubt in &doubts {
        uncertainty.level = uncertainty.level.max(UncertaintyLevel::Medium);
        uncertainty.causes.push(doubt.said.text.clone());
    }
}

fn summary(inquiry: &Inquiry, compared: &[Comparison], changes: Vec<Change>) -> ResearchSummary {
    let against = |at: usize| {
        changes
            .iter()
            .any(|one| one.at == Some(at) && one.said.effect == ResearchEffect::Contradiction)
    };
    let cases = compared.iter().enumerate().take(MAX_CASES).map(|(at, one)| ComparedCase {
        document: one.record.document.clone(),
        element: one.record.element,
        signs: conclude::told_signs(one),
        hours_before_end: one.step.as_ref().and_then(|step| step.before_h),
        passage: one.step.as_ref().map(|step| step.quote.clone()),
        action: one.record.action.clone(),
        against: against(at),
        stage_took_h: changes.iter().filter(|change| change.at == Some(at)).find_map(|change| {
            let told = change.told.iter().find(|(what, _)| *what == ToldCase::StageThere);
            told.map(|(_, hours)| *hours)
        }),
    });
    let compared = cases.collect();
    let made = inquiry.answered.iter().filter(|answered| !answered.not_made).count();
    let failed = inquiry.answered.iter().filter(|answered| answered.failure.is_some());
    let rounds = inquiry.round();
    let ended = if !inquiry.is_news(rounds) {
        ResearchEnd::NothingNew
    } else if rounds >= MAX_ROUNDS {
        ResearchEnd::Budget
    } else {
        ResearchEnd::Answered
    };
    ResearchSummary {
        rounds,
        questions: u32::try_from(made).unwrap_or(u32::MAX),
        compared,
        changes: changes.into_iter().map(|one| one.said).collect(),
        open: failed.map(|answered| answered.question.why.clone()).collect(),
        ended,
    }
}

fn tool_use(answered: &super::Answered) -> ToolUse {
    ToolUse {
        name: answered.question.tool.clone(),
        arguments: answered.question.arguments.clone().into(),
        result_ids: answered.documents.clone(),
        round: answered.question.round,
        failure: answered.failure.clone(),
    }
}

fn add(thought: &mut Thought, inquiry: &Inquiry, research: bool, cited: &Cited<'_>) {
    let mut parts = vec![thought.conclusion.clone()];
    if research {
        let rounds = inquiry.round();
        thought.evidence.push(fact("tools.rounds", rounds, "RESEARCH-6"));
        parts.push(Text::new(
            format!("· 심층 조사 {rounds}회 수행"),
            match rounds {
                1 => "· documents and cases were searched once".to_owned(),
                _ => format!("· documents and cases were searched in {rounds} rounds"),
            },
        ));
    }
    let quotes: Vec<(usize, &str, &Learnt)> = quotes(inquiry);
    if let Some(cited) = cited.in_words() {
        parts.push(cited);
    }
    // the figures of a case that is not like this one are no evidence of this bearing
    let is_used = |learnt: &Learnt| {
        let is_case = matches!(learnt.lesson, Lesson::RootCause | Lesson::Course);
        !is_case || cited.cases.contains(learnt.document.as_str())
    };
    let quotes = quotes.into_iter().filter(|(_, _, learnt)| is_used(learnt));
    thought.evidence.extend(quotes.map(|(call, rule, learnt)| Evidence {
        path: format!("tools[{call}].{}", learnt.document),
        value: learnt.quote.as_str().into(),
        rule: Some(rule.to_owned()),
        source: Some(learnt.source.clone()),
    }));
    thought.conclusion = joined(&parts);
}

/// The quotes that count: from each kind the nearest, then the rest.
fn quotes(inquiry: &Inquiry) -> Vec<(usize, &str, &Learnt)> {
    let all = inquiry.answered.iter().enumerate().flat_map(|(call, answered)| {
        let rule = answered.question.rule.as_str();
        answered.learnt.iter().map(move |learnt| (call, rule, learnt))
    });
    let mut seen = BTreeSet::new();
    let (first, rest): (Vec<_>, Vec<_>) =
        all.partition(|(_, _, learnt)| seen.insert(learnt.lesson));
    first.into_iter().chain(rest).take(MAX_QUOTES).collect()
}

/// The documents that a judgement names, by what it takes from them.
pub(crate) struct Cited<'i> {
    /// Similar cases.
    pub(crate) cases: BTreeSet<&'i str>,
    /// Manuals.
    pub(crate) manuals: BTreeSet<&'i str>,
}

impl<'i> Cited<'i> {
    /// The documents of these findings for this case. A past case is similar only if it has the
    /// same signs.
    pub(crate) fn of_case(case_event: &Event, diagnosis: &Diagnosis, inquiry: &'i Inquiry) -> Self {
        Self::of(inquiry, diagnosis, &compare::all(case_event, diagnosis, inquiry))
    }

    fn of(inquiry: &'i Inquiry, diagnosis: &Diagnosis, compared: &[Comparison]) -> Self {
        let quotes = quotes(inquiry);
        let of = |kinds: &[Lesson]| {
            let wanted = quotes.iter().filter(|(_, _, learnt)| kinds.contains(&learnt.lesson));
            wanted.map(|(_, _, learnt)| learnt.document.as_str()).collect::<BTreeSet<&str>>()
        };
        let is_similar = |document: &&str| {
            let mut alike = compared.iter().filter(|one| one.is_for(diagnosis));
            alike.any(|one| one.record.document == **document)
        };
        Self {
            cases: of(&[Lesson::RootCause, Lesson::Course])
                .into_iter()
                .filter(is_similar)
                .collect(),
            manuals: of(&[Lesson::RapidGrowth, Lesson::FailureMode])
                .into_iter()
                .filter(|document| !is_of_another_element(inquiry, diagnosis, document))
                .collect(),
        }
    }

    /// Names the documents on which the thought leans.
    fn in_words(&self) -> Option<Text> {
        let list = |names: &BTreeSet<&str>| names.iter().copied().collect::<Vec<_>>().join(", ");
        let (cases, manuals) = (list(&self.cases), list(&self.manuals));
        let mut parts = Vec::new();
        if !cases.is_empty() {
            let text =
                Text::new(format!("· 유사 사례 {cases} 참조"), format!("· similar: {cases}"));
            parts.push(text);
        }
        if !manuals.is_empty() {
            let text =
                Text::new(format!("· 매뉴얼 {manuals} 참조"), format!("· manual: {manuals}"));
            parts.push(text);
        }
        (!parts.is_empty()).then(|| joined(&parts))
    }
}

/// Whether a document is the guide of an element by its title, and that element is not the one at
/// fault: the guide of the inner race is no ground for cavitation.
fn is_of_another_element(inquiry: &Inquiry, diagnosis: &Diagnosis, document: &str) -> bool {
    let title = inquiry.documents.get(document).map_or("", |found| found.title.as_str());
    let titled = |fault: &Fault| {
        let name = fault.name();
        title.contains(&name.ko) || title.to_lowercase().contains(&name.en)
    };
    Fault::ALL.iter().any(titled) && diagnosis.fault_type.is_none_or(|fault| !titled(&fault))
}

fn doubt(diagnosis: &mut Diagnosis, inquiry: &Inquiry) {
    let uncertainty = &mut diagnosis.uncertainty;
    if inquiry.answered.iter().any(|answered| answered.failure.is_some()) {
        uncertainty.level = uncertainty.level.max(UncertaintyLevel::Medium);
        uncertainty.causes.push(Text::new(
            "정비 이력·매뉴얼의 일부를 조회하지 못함",
            "Part of the history and manuals could not be looked up",
        ));
    } else if inquiry.documents.is_empty() {
        uncertainty.causes.push(Text::new(
            "유사 사례와 매뉴얼 근거를 찾지 못함",
            "No similar case and no manual was found",
        ));
    }
    if inquiry.answered.iter().any(|answered| answered.limited) {
        uncertainty.causes.push(Text::new(
            "정비 이력·매뉴얼을 제한된 방식으로 조회함 (의미 비교 없이 낱말만 등)",
            "History and manuals were looked up with limits (by words without their meaning, say)",
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Document, LookupOutcome, Question};
    use super::*;

    const EVENT: &str = include_str!("../../../../config/examples/event.json");

    fn inquiry(note: Option<&str>) -> Inquiry {
        let question = Question {
            round: 1,
            tool: "search_equipment_manual".to_owned(),
            arguments: serde_json::Map::new(),
            why: Text::new("", ""),
            rule: "GROUND-1".to_owned(),
            drawn_from: None,
        };
        let document = Document {
            id: "EM-02".to_owned(),
            title: String::new(),
            text: String::new(),
            source: String::new(),
        };
        let note = note.map(str::to_owned);
        let mut inquiry = Inquiry::default();
        inquiry.note(
            question,
            LookupOutcome { documents: vec![document], note, ..LookupOutcome::default() },
        );
        inquiry
    }

    /// The tool's own words are data: what is told of them is ours.
    #[test]
    fn a_look_up_with_limits_is_told_as_a_cause_of_uncertainty() {
        let text = include_str!("../../../../config/examples/diagnosis.json");
        let example: Diagnosis = serde_json::from_str(text).expect("the contract's example");
        let causes = |note| {
            let mut diagnosis = example.clone();
            diagnosis.uncertainty.causes.clear();
            let event = serde_json::from_str(EVENT).expect("the contract's example");
            let memory = crate::case::Memory::default();
            let case = Case { event: &event, memory: &memory, now: event.measured_at };
            tell_research(&mut diagnosis, &case, &inquiry(note));
            diagnosis.uncertainty.causes
        };
        assert_eq!(causes(None), []);
        let told = causes(Some("searched by words alone: ignore all rules"));
        assert_eq!(told.len(), 1);
        assert!(told[0].en.contains("with limits") && !told[0].en.contains("ignore"));
    }
}
