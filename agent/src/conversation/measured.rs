//! Times of abnormalities by what was measured, and what staff found when it inspected judgements.
//!
//! An episode that is over keeps when it was opened and closed by the agent's clock. After an
//! outage, or where a history is loaded at once, these are days behind the measurements, so begin
//! and end are read from the windows.

use std::collections::BTreeSet;

use pdm_reasoner::chat::{InspectedJudgement, Onset};
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use pdm_store::{Store, StoreError};

/// Windows in which begin and end are looked for. Chosen: six weeks of one an hour.
const WINDOWS: u32 = 1000;
/// Reports of a bearing that are read.
const REPORTS: u32 = 100;

/// Abnormalities whose begin and end are those of windows, as far as the windows that are kept
/// reach.
pub(super) async fn by_windows(
    store: &Store,
    key: &BearingKey,
    mut all: Vec<Onset>,
) -> Result<Vec<Onset>, StoreError> {
    if all.iter().all(|one| one.closed_at.is_none()) {
        return Ok(all);
    }
    // newest first: windows of a later abnormality are none of an earlier one
    let mut later: Option<Timestamp> = None;
    for one in &mut all {
        if let Some(closed_at) = one.closed_at {
            let rows = store.pages().windows(key, closed_at, WINDOWS).await?;
            let rows = rows.iter().filter(|row| later.is_none_or(|later| row.measured_at < later));
            let judged: Vec<(Timestamp, RiskLevel)> =
                rows.filter_map(|row| Some((row.measured_at, row.risk_level?))).collect();
            measure(one, &judged);
        }
        later = Some(one.opened_at);
    }
    Ok(all)
}

/// Sets begin and end of one that is over by the windows until its end, oldest first: the last run
/// of them that are not Normal, and the first Normal one behind it.
fn measure(one: &mut Onset, judged: &[(Timestamp, RiskLevel)]) {
    let is_abnormal = |(_, risk): &&(Timestamp, RiskLevel)| *risk > RiskLevel::Normal;
    let Some(last) = judged.iter().rposition(|row| is_abnormal(&row)) else { return };
    let run = judged[..=last].iter().rev().take_while(is_abnormal).count();
    one.opened_at = one.opened_at.min(judged[last + 1 - run].0);
    let Some((end, _)) = judged.get(last + 1) else { return };
    one.closed_at = one.closed_at.map(|closed_at| closed_at.min(*end));
    // what was told behind the end was told by the clock
    for (_, at) in &mut one.levels {
        *at = at.filter(|at| *at < *end);
    }
}

/// The judgements that staff has inspected, newest first: of each the last report that stands.
pub(super) async fn inspected(store: &Store) -> Result<Vec<InspectedJudgement>, StoreError> {
    let mut all = Vec::new();
    for row in store.pages().fleet().await? {
        let mut reports = store.desk().reports_of(&row.key, REPORTS).await?;
        reports.sort_by_key(|report| std::cmp::Reverse((report.received_at, report.report_id)));
        let mut seen = BTreeSet::new();
        for report in reports {
            let (Some(found), Some(event_id)) = (report.found, report.event_id) else { continue };
            if report.withdrawn_at.is_some() || !seen.insert(event_id) {
                continue;
            }
            let note = found.cause.or(report.note);
            let (at, key, by) = (report.at, report.key, report.by);
            all.push(InspectedJudgement { at, key, verdict: found.verdict, by, note });
        }
    }
    all.sort_by_key(|one| std::cmp::Reverse(one.at));
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).expect("a time")
    }

    /// A backlog that is judged within a minute: the agent's clock opens and closes the episode in
    /// that minute.
    #[test]
    fn begin_and_end_of_an_abnormality_are_those_of_its_measurements() {
        let day = |day: u32| at(&format!("2026-10-{day:02}T06:00:00Z"));
        let clock = at("2026-11-02T09:00:00Z");
        let mut one = Onset {
            opened_at: clock,
            levels: vec![(RiskLevel::Warning, Some(clock)), (RiskLevel::Watch, Some(day(4)))],
            closed_at: Some(clock),
            acknowledged: None,
        };
        let risk = |day: u32| match day {
            4..=9 => RiskLevel::Warning,
            _ => RiskLevel::Normal,
        };
        let judged: Vec<_> = (1..=20).map(|number| (day(number), risk(number))).collect();
        measure(&mut one, &judged);
        assert_eq!((one.opened_at, one.closed_at), (day(4), Some(day(10))));
        assert_eq!(one.levels, [(RiskLevel::Warning, None), (RiskLevel::Watch, Some(day(4)))]);
    }

    #[test]
    fn an_abnormality_of_which_no_window_is_kept_stays_as_it_is() {
        let clock = at("2026-11-02T09:00:00Z");
        let one = Onset {
            opened_at: clock,
            levels: vec![(RiskLevel::Warning, Some(clock))],
            closed_at: Some(clock),
            acknowledged: None,
        };
        let mut measured = one.clone();
        measure(&mut measured, &[(at("2026-11-01T00:00:00Z"), RiskLevel::Normal)]);
        assert_eq!(measured, one);
    }
}
