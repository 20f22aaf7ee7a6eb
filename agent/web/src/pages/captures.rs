//! A captured waveform: its pictures, its sound, another one over it, its files; and the lists of
//! captures on other pages.
//!
//! The agent computes and thins the curves; the page draws them without a script
//! ([`super::capture_plot`]). Whoever may see documents may see captures.

use std::sync::Arc;

use axum::extract::{Extension, Path, Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use minijinja::context;
use minijinja::value::Value;
use pdm_shared::capture::{CaptureCut, CaptureDocument, CaptureReason};
use pdm_shared::event::SpeedSource;
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::text::{Language, Text};
use pdm_shared::time::Timestamp;
use serde::Deserialize;
use uuid::Uuid;

use super::{Reader, capture_plot, demands, refusal, show};
use crate::Shared;
use crate::access::Viewer;
use crate::api::key_of;
use crate::capture_files::{self, named_file};
use crate::plant::{CaptureAsked, CaptureDrawn, CaptureFound, CaptureMark, CaptureRow};
use crate::problem::Problem;

/// Columns of a plot: one for each 1.2 px of the widest page.
const COLUMNS: usize = 900;
/// Captures in a list.
const IN_LIST: u32 = 10;
/// Captures that another one may be laid over.
const TO_COMPARE: u32 = 100;
/// How far after a judgement's window a capture may begin that shows it, s: the longest time before
/// a window that a gateway captures.
const AFTER_S: f64 = 60.0;

/// Site, machine, bearing and capture of an address.
pub(super) type CaptureNames = (String, String, String, String);

/// The query of the page.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PageAsked {
    /// The capture that lies over this one.
    #[serde(default)]
    over: String,
    /// `window` or `all`.
    #[serde(default)]
    part: String,
}

/// The query of the sound.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SoundAsked {
    /// `band` or `all`.
    #[serde(default)]
    part: String,
}

pub(super) fn is_part(asked: &str, usual: &str, other: &str) -> Result<bool, Problem> {
    match asked {
        "" => Ok(false),
        one if one == usual => Ok(false),
        one if one == other => Ok(true),
        wrong => Err(Problem::parameter("part", wrong, &format!("{usual}, {other}"))),
    }
}

/// The capture of an address, which names its bearing too.
pub(super) async fn capture_found(
    shared: &Shared,
    names: &CaptureNames,
) -> Result<CaptureFound, Problem> {
    let (site, equipment, bearing, id) = names;
    let key = key_of(&(site.clone(), equipment.clone(), bearing.clone()))?;
    let id = Uuid::parse_str(id).map_err(|_other| Problem::unknown("capture"))?;
    let found = shared.site.plant.capture(id).await?;
    found.filter(|found| found.row.key == key).ok_or_else(|| Problem::unknown("capture"))
}

pub(super) async fn page(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    Path(names): Path<CaptureNames>,
    Query(asked): Query<PageAsked>,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    super::answer("capture.html", &reader, gather(&shared, &names, &asked, &reader).await)
}

async fn gather(
    shared: &Shared,
    names: &CaptureNames,
    asked: &PageAsked,
    reader: &Reader,
) -> Result<Value, Problem> {
    let plant = &shared.site.plant;
    let CaptureFound { row, document, .. } = capture_found(shared, names).await?;
    let is_whole = is_part(&asked.part, "window", "all")?;
    let others = plant.captures(&row.key, None, TO_COMPARE).await?;
    let others: Vec<&CaptureRow> =
        others.iter().filter(|other| other.capture_id != row.capture_id).collect();
    let over = match asked.over.as_str() {
        "" => None,
        id => {
            let one = others.iter().find(|other| other.capture_id.to_string() == id);
            Some(*one.ok_or_else(|| Problem::unknown("capture"))?)
        }
    };
    let over_id = over.map(|over| over.capture_id);
    let drawn = CaptureAsked { columns: COLUMNS, is_whole, over: over_id, zoom: None };
    let drawn = plant.capture_drawn(row.capture_id, drawn).await?;
    let reference = |other: &&&CaptureRow| other.reasons.contains(&CaptureReason::Reference);
    let address = address_of(&row);
    Ok(context! {
        capture => listed(&row, reader),
        over => over.map(|over| listed(over, reader)),
        others => others.iter().map(|other| listed(other, reader)).collect::<Vec<_>>(),
        reference => others.iter().find(reference).map(|other| listed(other, reader)),
        plots => drawn.as_ref().map(|drawn| capture_plot::plots(drawn, reader.language)),
        facts => drawn.as_ref().map(|drawn| facts(drawn, reader.language)),
        speed => speed(&document, drawn.as_ref(), reader.language),
        bearing_of => document.bearing.estimated_for.clone(),
        missing => document.gaps.len(),
        cut => document.cut.map(|cut| cut_short(cut, reader.language)),
        not_finite => document.not_finite,
        is_exact => document.steps.is_exact,
        is_whole,
        curves => curves_address(&address, over_id, is_whole),
        lines => drawn.as_ref().map(lines),
        bearing_address => show::address(&row.key),
        demand => demands::demand_shown(shared, &row.key, reader).await?,
        name => row.key.to_string(),
        file => document.file.name.clone(),
        megabytes => format!("{:.1}", row.bytes as f64 / 1e6),
        address,
    })
}

/// Returns the address of the curves that the page draws, for the script.
fn curves_address(address: &str, over: Option<Uuid>, is_whole: bool) -> String {
    let part = if is_whole { "all" } else { "window" };
    let over = over.map_or_else(String::new, |over| format!("&over={over}"));
    format!("{address}/curves.json?part={part}{over}")
}

/// The lines of bearing and shaft with their frequencies, for the buttons of the cursors.
fn lines(drawn: &CaptureDrawn) -> Vec<Value> {
    let line = |mark: &CaptureMark| {
        context! { name => mark.name.clone(), hz => format!("{:.3}", mark.order * drawn.shaft_hz) }
    };
    drawn.marks.iter().map(line).collect()
}

/// The stretch of the spectra and the band of the envelope, in words.
fn facts(drawn: &CaptureDrawn, language: Language) -> Value {
    let [from, length] = drawn.stretch_s;
    let stretch = format!("{from:.2} … {:.2} s", from + length);
    let band = drawn.band_hz.map(|[low, high]| format!("{low:.0}–{high:.0} Hz"));
    let lost = (drawn.not_finite > 0).then(|| {
        let count = drawn.not_finite;
        Text::new(
            format!("이 구간의 표본 {count}개는 수가 아니어서 0으로 보았습니다."),
            format!("{count} samples of this stretch are no numbers and are taken as 0."),
        )
        .in_language(language)
        .to_owned()
    });
    context! { stretch, band, lost }
}

/// Says why the capture is shorter than was asked for.
fn cut_short(cut: CaptureCut, language: Language) -> String {
    let told = match cut {
        CaptureCut::Rate => Text::new(
            "표본화 주파수가 바뀐 곳에서 파형이 잘렸습니다.",
            "Cut short where the sampling rate changed.",
        ),
        CaptureCut::Clock => Text::new(
            "표본이 빠진 사이 게이트웨이 시계가 뒤로 가서 그곳에서 파형이 잘렸습니다.",
            "Cut short at a gap in which the gateway's clock was set back.",
        ),
        CaptureCut::Memory => Text::new(
            "앞부분이 게이트웨이 메모리에서 이미 지워져 잘렸습니다. edge.toml의 budget_mb를 올리면 됩니다.",
            "Its beginning had left the gateway's memory: raise budget_mb in edge.toml.",
        ),
    };
    told.in_language(language).to_owned()
}

/// The shaft's speed and where it is from.
fn speed(document: &CaptureDocument, drawn: Option<&CaptureDrawn>, language: Language) -> String {
    let from = match document.speed.speed_source {
        SpeedSource::Configured => Text::new("설정값", "configured"),
        SpeedSource::Tachometer => Text::new("회전계", "tachometer"),
        SpeedSource::Tag => Text::new("태그", "tag"),
        SpeedSource::Estimated => Text::new("추정", "estimated"),
    };
    let rpm = document.speed.shaft_speed_rpm;
    let told = format!("{rpm:.1} rpm ({})", from.in_language(language));
    match drawn.filter(|drawn| drawn.is_tracked) {
        Some(drawn) => {
            let found = Text::new("파형에서 따라간 값", "followed in the waveform");
            format!("{told}, {:.1} rpm ({})", 60.0 * drawn.shaft_hz, found.in_language(language))
        }
        None => told,
    }
}

fn address_of(row: &CaptureRow) -> String {
    format!("{}/captures/{}", show::address(&row.key), row.capture_id)
}

/// A capture for a list.
fn listed(row: &CaptureRow, reader: &Reader) -> Value {
    let reasons: Vec<&str> =
        row.reasons.iter().map(|&reason| reason_in_words(reason, reader.language)).collect();
    context! {
        id => row.capture_id.to_string(),
        address => address_of(row),
        reasons => reasons.join(", "),
        is_reference => row.reasons.contains(&CaptureReason::Reference),
        is_own => false,
        started_at => show::value(row.started_at),
        seconds => format!("{:.1}", row.duration_s),
        rate => format!("{:.0}", row.sampling_rate_hz),
        point => row.measuring_point.as_ref().map(ToString::to_string),
        gateway => row.gateway_id.to_string(),
    }
}

const fn reason_in_words(reason: CaptureReason, language: Language) -> &'static str {
    let (ko, en) = match reason {
        CaptureReason::Alarm => ("이상 발생", "anomaly"),
        CaptureReason::Stage => ("진동 등급 상승", "zone rose"),
        CaptureReason::Name => ("결함 판별", "fault named"),
        CaptureReason::NoName => ("결함 미판별", "no fault named"),
        CaptureReason::Demand => ("요청", "on demand"),
        CaptureReason::Reference => ("정상 기준", "sound reference"),
    };
    match language {
        Language::Ko => ko,
        Language::En => en,
    }
}

/// The last captures of a bearing.
pub(super) async fn rows(
    shared: &Shared,
    key: &BearingKey,
    reader: &Reader,
) -> Result<Vec<Value>, Problem> {
    let rows = shared.site.plant.captures(key, None, IN_LIST).await?;
    Ok(rows.iter().map(|row| listed(row, reader)).collect())
}

/// The captures that show the window of a judgement, and the bearing's newest reference before it.
pub(super) async fn rows_of_judgement(
    shared: &Shared,
    key: &BearingKey,
    (event_id, measured_at): (EventId, Timestamp),
    reader: &Reader,
) -> Result<Vec<Value>, Problem> {
    let before = measured_at.plus_seconds(AFTER_S);
    let rows = shared.site.plant.captures(key, Some(before), TO_COMPARE).await?;
    let shows = |row: &&CaptureRow| {
        let since = measured_at.seconds_since(row.started_at);
        row.event_ids.contains(&event_id) || (0.0..row.duration_s).contains(&since)
    };
    let reference = rows.iter().find(|row| row.reasons.contains(&CaptureReason::Reference));
    let of_judgement = rows.iter().filter(shows);
    let of_judgement = of_judgement.chain(reference.filter(|row| !shows(row)));
    Ok(of_judgement.map(|row| listed(row, reader)).collect())
}

/// The captures of a bearing for the work of a judgement: those that show its window first, marked
/// as such, then the reference and the others.
pub(super) async fn rows_for_work(
    shared: &Shared,
    key: &BearingKey,
    event_id: EventId,
    reader: &Reader,
) -> Result<Vec<Value>, Problem> {
    let rows = shared.site.plant.captures(key, None, TO_COMPARE).await?;
    let event = shared.site.plant.event(event_id).await?;
    let shows = |row: &CaptureRow| {
        let measured_at = event.as_ref().map(|event| event.measured_at);
        let holds = measured_at
            .is_some_and(|at| (0.0..row.duration_s).contains(&at.seconds_since(row.started_at)));
        row.event_ids.contains(&event_id) || holds
    };
    let (own, others): (Vec<&CaptureRow>, Vec<&CaptureRow>) =
        rows.iter().partition(|row| shows(row));
    let own = own.into_iter().map(|row| context! { is_own => true, ..listed(row, reader) });
    let others = others.into_iter().map(|row| listed(row, reader));
    Ok(own.chain(others).take(IN_LIST as usize).collect())
}

pub(super) async fn wav(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    Path(names): Path<CaptureNames>,
    headers: HeaderMap,
) -> Response {
    let content = async { capture_files::wav(&shared, id_of(&shared, &names).await?).await };
    answered(content.await, &viewer, &headers)
}

pub(super) async fn json(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    Path(names): Path<CaptureNames>,
    headers: HeaderMap,
) -> Response {
    let content = async { capture_files::document(&shared, id_of(&shared, &names).await?).await };
    answered(content.await, &viewer, &headers)
}

pub(super) async fn npy(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    Path(names): Path<CaptureNames>,
    headers: HeaderMap,
) -> Response {
    let content = async { capture_files::npy(&shared, id_of(&shared, &names).await?).await };
    answered(content.await, &viewer, &headers)
}

pub(super) async fn npy_document(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    Path(names): Path<CaptureNames>,
    headers: HeaderMap,
) -> Response {
    let content =
        async { capture_files::npy_document(&shared, id_of(&shared, &names).await?).await };
    answered(content.await, &viewer, &headers)
}

/// The capture of an address, where it is one of that bearing.
async fn id_of(shared: &Shared, names: &CaptureNames) -> Result<Uuid, Problem> {
    Ok(capture_found(shared, names).await?.row.capture_id)
}

fn answered(answer: Result<Response, Problem>, viewer: &Viewer, headers: &HeaderMap) -> Response {
    answer.unwrap_or_else(|problem| refusal(&Reader::of(viewer, headers), &problem))
}

pub(super) async fn sound(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    Path(names): Path<CaptureNames>,
    Query(asked): Query<SoundAsked>,
    headers: HeaderMap,
) -> Response {
    let content = async {
        let is_all = is_part(&asked.part, "band", "all")?;
        let found = capture_found(&shared, &names).await?;
        let content = shared.site.plant.capture_sound(found.row.capture_id, !is_all).await?;
        content.ok_or_else(|| Problem::unknown("capture"))
    };
    match content.await {
        Ok(content) => named_file(content.into_response(), "audio/wav", None),
        Err(problem) => refusal(&Reader::of(&viewer, &headers), &problem),
    }
}
