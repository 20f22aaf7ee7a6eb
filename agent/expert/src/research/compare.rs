//! Compares a past case with this one, sign by sign.

use pdm_shared::diagnosis::{Diagnosis, Sign, SignSide};
use pdm_shared::event::Event;

use super::record::{CaseRecord, CaseStep};
use super::signs::{self, Measured, SignKind};
use super::{HISTORY, Inquiry, SURE_CONFIDENCE};

/// A past case with its place beside this one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Comparison {
    /// The number of the call that found it, from 0.
    pub call: usize,
    /// The past case.
    pub record: CaseRecord,
    /// The step of its course that is most like this case, if any has a sign in common with it.
    pub step: Option<CaseStep>,
    /// The signs that both have.
    pub signs: Vec<(SignKind, Sign)>,
}

impl Comparison {
    /// The measured signs that agree, and all that both cases have.
    pub(super) fn measured(&self) -> (usize, usize) {
        let measured = || self.signs.iter().filter(|(kind, _)| kind.is_measured());
        (measured().filter(|(_, sign)| sign.side == SignSide::Agrees).count(), measured().count())
    }

    /// At least half of the measured signs that both have agree, and at least one does.
    pub(super) fn is_alike(&self) -> bool {
        let (agree, all) = self.measured();
        agree > 0 && 2 * agree >= all
    }

    /// Both cases have the same element, or one names none.
    pub(super) fn is_same_element(&self, diagnosis: &Diagnosis) -> bool {
        match (self.record.element, diagnosis.fault_type) {
            (Some(there), Some(here)) => there == here,
            (None, _) | (_, None) => true,
        }
    }

    /// The case has at least two signs like this one, a line among them, and the bearing was whole,
    /// or another element was damaged where this one's name is not sure: a line at its own
    /// frequency is not outweighed by signs that every element gives.
    pub(super) fn is_against(&self, event: &Event, diagnosis: &Diagnosis) -> bool {
        let (agree, _) = self.measured();
        let is_sure = event.frequency_domain.confidence >= SURE_CONFIDENCE;
        let is_other = !self.is_same_element(diagnosis) && !is_sure;
        let has_line = self
            .signs
            .iter()
            .any(|(kind, sign)| *kind == SignKind::LineSnr && sign.side == SignSide::Agrees);
        self.is_alike() && has_line && agree >= 2 && (self.record.is_benign || is_other)
    }

    /// The case is of the same element, was damaged, and has signs like this one.
    /// Where this case names no element, at least two signs are.
    pub(super) fn is_for(&self, diagnosis: &Diagnosis) -> bool {
        let is_enough = diagnosis.fault_type.is_some() || self.measured().0 >= 2;
        !self.record.is_benign && self.is_same_element(diagnosis) && self.is_alike() && is_enough
    }
}

/// Every past case that the history has given, most alike first; each document once.
pub(super) fn all(event: &Event, diagnosis: &Diagnosis, inquiry: &Inquiry) -> Vec<Comparison> {
    let here = signs::of_case(event, diagnosis);
    let mut all: Vec<Comparison> = Vec::new();
    for (call, answered) in inquiry.answered.iter().enumerate() {
        if answered.question.tool != HISTORY {
            continue;
        }
        for document in answered.documents.iter().filter_map(|id| inquiry.documents.get(id)) {
            if all.iter().any(|known| known.record.document == document.id) {
                continue;
            }
            if let Some(record) = CaseRecord::read(document) {
                all.push(compare(call, record, &here));
            }
        }
    }
    all.sort_by_key(|one| {
        let (agree, all) = one.measured();
        (std::cmp::Reverse(one.is_for(diagnosis)), std::cmp::Reverse(agree), all - agree)
    });
    all
}

/// The step with the most signs alike and the fewest unlike; of equal ones the last, which leaves
/// the least time.
fn compare(call: usize, record: CaseRecord, here: &[Measured]) -> Comparison {
    let mut best: Option<(usize, usize, &CaseStep)> = None;
    for step in &record.steps {
        let signs = in_common(step, here);
        let measured = || signs.iter().filter(|(kind, _)| kind.is_measured());
        let agree = measured().filter(|(_, sign)| sign.side == SignSide::Agrees).count();
        let differ = measured().count() - agree;
        let is_better = best
            .is_none_or(|(most, fewest, _)| agree > most || (agree == most && differ <= fewest));
        if agree > 0 && is_better {
            best = Some((agree, differ, step));
        }
    }
    let step = best.map(|(_, _, step)| step.clone());
    let signs = step.as_ref().map(|step| in_common(step, here)).unwrap_or_default();
    Comparison { call, record, step, signs }
}

fn in_common(step: &CaseStep, here: &[Measured]) -> Vec<(SignKind, Sign)> {
    let both = here.iter().filter_map(|(kind, here)| {
        let (_, there) = step.signs.iter().rev().find(|(other, _)| other == kind)?;
        let side = if kind.is_alike(*here, *there) {
            SignSide::Agrees
        } else if here > there {
            SignSide::Further
        } else {
            SignSide::LessFar
        };
        let name = kind.as_str().to_owned();
        Some((*kind, Sign { name, here: *here, there: *there, side }))
    });
    both.collect()
}
