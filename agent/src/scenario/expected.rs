//! Compares the judgements of a played scenario with the expected ones.

use super::Expect;
use super::play::{Files, PlayedEvent};

/// The differences of a phase from what is expected, in words.
pub(super) fn differs(phase: usize, expect: &Expect, events: &[PlayedEvent]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut hold = |what: &str, is: &dyn std::fmt::Debug, should: &dyn std::fmt::Debug| {
        let (is, should) = (format!("{is:?}"), format!("{should:?}"));
        if is != should {
            wrong.push(format!("phase {phase}: {what} is {is}, expected {should}"));
        }
    };
    let own = || events.iter().filter(|event| event.phase == phase);
    if let Some(last) = own().find(|event| event.is_checked) {
        let diagnosis = &last.diagnosis;
        hold("risk", &diagnosis.risk_level, &expect.risk);
        hold("stage", &diagnosis.fault_stage, &expect.stage);
        if let Some(fault) = expect.fault {
            hold("fault", &diagnosis.fault_type, &fault.fault());
        }
        if let Some(speed) = expect.speed {
            hold("speed", &diagnosis.degradation.speed, &speed);
        }
        if let Some(conservative) = expect.conservative {
            hold("conservative", &diagnosis.rul_assessment.conservative, &conservative);
        }
    }
    for event in own() {
        hold("research due", &event.research_due, &expect.research);
    }
    // documents are written once in a phase and complete: a bearing whose state does not change
    // gets no second work order
    let written: Vec<Files> =
        own().map(|event| event.documents).filter(|files| *files != Files::NONE).collect();
    let due: &[Files] = if expect.documents { &[Files::WHOLE] } else { &[] };
    hold("documents", &written, &due);
    wrong
}
