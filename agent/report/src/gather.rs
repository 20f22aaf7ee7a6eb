//! Fills a case file with the known data of an event, before any look-up.

use std::collections::BTreeMap;

use pdm_expert::case::{PastEvent, RECALLED, Remembered, remember};
use pdm_expert::rules::LeadTime;
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::event::Event;

use super::case_file::{CaseFile, HistoryPoint};
use super::settings::ReportSettings;

/// The case of an event without research and passages; `past` is the bearing's, oldest first.
pub fn fresh(
    event: Event,
    diagnosis: Diagnosis,
    past: &[PastEvent],
    settings: &ReportSettings,
    lead_time: &LeadTime,
) -> CaseFile {
    let before = past.iter().rev().filter(|past| past.event.event_id != event.event_id);
    let mut memory: Vec<Remembered> = Vec::with_capacity(RECALLED);
    // oldest first, so that equal judgements of a day are one entry
    for judged in
        before.filter_map(|past| past.judged.clone()).collect::<Vec<_>>().into_iter().rev()
    {
        remember(&mut memory, judged);
    }
    CaseFile {
        memory,
        work: Vec::new(),
        history: past.iter().map(HistoryPoint::of).collect(),
        research: Vec::new(),
        steps: Vec::new(),
        grounds: Vec::new(),
        english: BTreeMap::new(),
        asset: settings.asset_of(&event),
        planning: settings.planning(lead_time),
        waveform: None,
        event,
        diagnosis,
    }
}
