//! One bearing: its state, its alarm with the form to acknowledge it, its plots and the same
//! figures as a table.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Extension, Path, Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use minijinja::context;
use minijinja::value::Value;
use pdm_shared::delivery::Notification;
use pdm_shared::episode::Suppression;
use pdm_shared::feature::Feature;
use pdm_shared::follow_up::FollowUpState;
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::{Language, Text};

use super::places::Places;
use super::reports::{self, RecordedAsked};
use super::{
    Reader, captures, demands, documents, episode, equipment, fleet, forms, history, relearning,
    show, spectrum, suppressed,
};
use crate::Shared;
use crate::access::Viewer;
use crate::api::{Names, key_of};
use crate::plant::{BearingRow, SHOWN_FEATURES, WindowRow, WorkRow};
use crate::problem::Problem;

/// Windows in the table: as many as a person scrolls through.
const IN_TABLE: u32 = 60;
/// Reports that are looked through for one of a repair.
const LOOKED_AT: u32 = 20;
/// Notifications beside the plots.
const TOLD: u32 = 20;

pub(super) async fn page(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    Path(names): Path<Names>,
    Query(asked): Query<RecordedAsked>,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    super::answer("bearing.html", &reader, gather(&shared, &names, &asked, &reader).await)
}

async fn gather(
    shared: &Shared,
    names: &Names,
    asked: &RecordedAsked,
    reader: &Reader,
) -> Result<Value, Problem> {
    let (plant, key) = (&shared.site.plant, key_of(names)?);
    let row = plant.bearing(&key).await?.ok_or_else(|| Problem::unknown("bearing"))?;
    let mut windows = plant.windows(&key, None, IN_TABLE).await?;
    windows.reverse();
    let told = plant.notifications(Some(&key), None, TOLD).await?;
    let diagnosis = if let Some(id) = row.event_id { plant.diagnosis(id).await? } else { None };
    let advice = diagnosis.as_ref().map(|found| found.recommendation.in_language(reader.language));
    let told: Vec<Value> = told.iter().map(|told| notice(told, reader)).collect();
    let (site, equipment) = (key.site.as_str(), key.equipment.as_str());
    let around = plant.surroundings(site, equipment).await?;
    let [parts, manuals] =
        ["Part", "Document"].map(|kind| equipment::of_kind(around.known(), kind));
    let equipment_page = around.known().map(|_| equipment::address(site, equipment));
    let unclear_sites = around.unclear_sites().join(", ");
    let address = show::address(&key);
    let work = plant.open_work_of(&key).await?;
    let of_work = work.first().map(|row| row.event_id);
    let of_work = of_work.or(diagnosis.as_ref().map(|found| found.event_id));
    let files = documents::links(shared, of_work, reader).await?;
    let actions = work.iter().map(|row| {
        context! { text => row.action.in_language(reader.language), ..show::value(row) }
    });
    Ok(context! {
        levels => levels(reader),
        machine_name => Places::of_plant(shared, reader.language).await?.name(&key),
        contradicted => contradicted(shared, &key, &row, &work).await?,
        to_learn => to_learn(shared, &key).await?,
        relearning => relearning::request_shown(shared, &key, &address).await?,
        history => history::marks(shared, &key, reader.language).await?.iter().map(show::value)
            .collect::<Vec<_>>(),
        files,
        captures => captures::rows(shared, &key, reader).await?,
        demand => demands::demand_shown(shared, &key, reader).await?,
        work => actions.collect::<Vec<_>>(),
        recorded => asked.shown(shared, &address).await?,
        reports => reports::rows(shared, &key).await?,
        report => reports::form(shared, &key, None, &address, None),
        bearing => fleet::bearing_shown(&row, shared.site.clock.now(), reader),
        episode_page => row.episode.as_ref().map(|one| format!("/episodes/{}", one.episode_id)),
        ack_undo_until => episode::undo_until(
            row.alarm.as_ref().and_then(|alarm| alarm.acknowledged_at),
            shared.site.clock.now(),
        ),
        others => spectrum::others(shared, &key, reader.language).await?,
        low_band => windows.iter().any(|window| window.low_band_rms_g.is_some()),
        life => windows.first().map(|newest| life(newest, reader.language)),
        windows => windows.iter().map(|one| window_shown(one, reader)).collect::<Vec<_>>(),
        features => SHOWN_FEATURES.iter().map(|one| label(one, reader)).collect::<Vec<_>>(),
        shelf => shelf(row.episode.as_ref().map(|episode| &episode.suppression), reader.language),
        shelf_ends => forms::shelf_ends(shared),
        told, advice, parts, equipment_page, unclear_sites,
        documents => manuals,
        api => format!("/api/v1{address}"),
        address,
    })
}

/// A window as the table shows it.
fn window_shown(one: &WindowRow, reader: &Reader) -> Value {
    context! {
        life => life(one, reader.language),
        label => one.risk_level.map(|level| level.label().in_language(reader.language).to_owned()),
        ..show::value(one)
    }
}

/// The repair of the bearing that its gateway has not learnt.
async fn to_learn(shared: &Shared, key: &BearingKey) -> Result<Option<Value>, Problem> {
    let repairs = shared.site.plant.repairs_to_learn().await?;
    Ok(repairs.iter().find(|repair| repair.key == *key).map(show::value))
}

/// A report that the bearing was repaired or replaced, while damage is measured after it and no
/// work is open: the report is mistaken, the repair did not help, or the new bearing was not
/// learned. Its work can be opened again. `None` where nothing speaks against it.
async fn contradicted(
    shared: &Shared,
    key: &BearingKey,
    row: &BearingRow,
    open: &[WorkRow],
) -> Result<Option<Value>, Problem> {
    if !open.is_empty() || row.risk_level < RiskLevel::Warning {
        return Ok(None);
    }
    let plant = &shared.site.plant;
    let reports = plant.reports(key, LOOKED_AT).await?;
    let mut standing = reports.into_iter().filter(|report| report.withdrawn_at.is_none());
    let Some(report) = standing.find(|report| report.repaired) else { return Ok(None) };
    if row.measured_at.is_none_or(|measured| measured <= report.at) {
        return Ok(None);
    }
    let actions = match report.event_id {
        Some(event_id) => plant.work_of(event_id).await?,
        None => Vec::new(),
    };
    let done = actions.into_iter().filter(|one| one.state == FollowUpState::Done);
    Ok(Some(context! {
        by => &report.by,
        at => show::value(report.at),
        event_id => show::value(report.event_id),
        numbers => done.map(|one| one.number).collect::<Vec<_>>(),
        report_id => EventId::at(shared.site.clock.now().unix_ms()).to_string(),
    }))
}

/// A notification of the bearing.
fn notice(told: &Notification, reader: &Reader) -> Value {
    context! {
        title => told.title.in_language(reader.language),
        at => show::value(told.created_at),
        risk_level => told.risk_level.as_str(),
        label => told.risk_level.label().in_language(reader.language),
        event_id => show::value(told.event_id),
    }
}

/// The names of the risks by their words, for the plots.
fn levels(reader: &Reader) -> BTreeMap<&'static str, String> {
    let name = |level: RiskLevel| level.label().in_language(reader.language).to_owned();
    RiskLevel::ALL.into_iter().map(|level| (level.as_str(), name(level))).collect()
}

/// The remaining life of a window as its interval with the median: one figure, said the same
/// wherever the page shows it.
fn life(window: &WindowRow, language: Language) -> String {
    let hours = |number: f64| show::life(number, language);
    let Some(median) = window.rul_hours.map(hours) else { return show::dash() };
    let (Some(low), Some(high)) = (window.rul_low_hours, window.rul_high_hours) else {
        return median;
    };
    let word = Text::new("중앙값", "median");
    let word = word.in_language(language);
    format!("{}–{} ({word} {median})", hours(low), hours(high))
}

/// The key of a feature and its name with the unit.
fn label(feature: &Feature, reader: &Reader) -> Value {
    let name = feature.name();
    let (name, unit) = (name.in_language(reader.language), feature.unit());
    let label = if unit.is_empty() { name.to_owned() } else { format!("{name} ({unit})") };
    context! { key => feature.key().into_owned(), label }
}

/// The suppression of the bearing's episode.
fn shelf(suppression: Option<&Suppression>, language: Language) -> Value {
    let (until, by, reason) = match suppression {
        None | Some(Suppression::None) => (None, None, None),
        Some(Suppression::ByDesign { reason }) => (None, None, Some(reason)),
        Some(
            Suppression::Shelved { until, by, reason }
            | Suppression::OutOfService { until, by, reason, .. },
        ) => (Some(until), Some(by), Some(reason)),
    };
    let reason = reason.map(|reason| suppressed::reason(reason, language));
    context! { until => show::value(until), by, reason }
}

#[cfg(test)]
pub(super) mod tests {
    use pdm_shared::id::EventId;
    use pdm_shared::time::Timestamp;

    use super::*;

    /// A window of which some figures are not known.
    pub(in crate::pages) fn window() -> WindowRow {
        WindowRow {
            event_id: EventId::at(0),
            measured_at: Timestamp::from_unix_ms(0).expect("in range"),
            running: true,
            valid: true,
            rms_g: Some(0.1),
            velocity_rms_mm_s: None,
            low_band_rms_g: Some(0.35),
            kurtosis: Some(3.5),
            envelope_rms_g: None,
            anomaly_score: Some(0.5),
            baseline_level: None,
            baseline_limit: None,
            feature: "low_band_rms_g".to_owned(),
            risk_level: None,
            fault_stage: None,
            fault_type: None,
            rul_hours: Some(90.0),
            rul_low_hours: Some(0.5),
            rul_high_hours: Some(300.0),
        }
    }

    #[test]
    fn the_life_is_told_as_its_interval_with_the_median() {
        assert_eq!(life(&window(), Language::En), "<1 h–12 d (median 90 h)");
        let bare = WindowRow { rul_low_hours: None, ..window() };
        assert_eq!(life(&bare, Language::Ko), "90시간");
        assert_eq!(life(&WindowRow { rul_hours: None, ..bare }, Language::Ko), "–");
    }
}
