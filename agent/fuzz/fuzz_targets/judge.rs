//! Any bytes as an event, judged twice and written up: a valid one has a judgement and documents in
//! both languages, never a panic. Pages of a PDF are left to the layout's property test: one takes
//! longer than all the rest.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pdm_expert::case::{Case, Memory, PastEvent};
use pdm_expert::grounding::{Grounds, withhold};
use pdm_expert::research::Inquiry;
use pdm_expert::rules::Rules;
use pdm_report::settings::ReportSettings;
use pdm_report::{compose, gather, html, report, work_order};
use pdm_shared::event::Event;
use pdm_shared::text::Language;

fuzz_target!(|data: &[u8]| {
    let Ok(event) = serde_json::from_slice::<Event>(data) else { return };
    if event.check().is_err() {
        return;
    }
    let rules = Rules::default();
    let mut memory = Memory::default();
    let now = event.measured_at;
    let first = pdm_expert::judge(&Case { event: &event, memory: &memory, now }, &rules);
    memory.recall(&event, &first);
    let mut diagnosis =
        pdm_expert::judge(&Case { event: &event, memory: &memory, now }, &rules).diagnosis;
    let inquiry = Inquiry::default();
    let grounds = Grounds { event: &event, memory: &memory, inquiry: &inquiry };
    let _ = withhold(&mut diagnosis, &grounds, &rules);
    let past = [PastEvent { event: event.clone(), judged: None }];
    let settings = ReportSettings::default();
    let case = gather::fresh(event, diagnosis, &past, &settings, &rules.lead_time);
    let report = report(&case);
    let order = work_order::work_order(&case);
    for language in [Language::Ko, Language::En] {
        let order = order.as_ref().map(|order| work_order::document(order, language));
        for document in [Some(compose::document(&report, language)), order].into_iter().flatten() {
            html::html(&document).expect("a page");
        }
    }
});
