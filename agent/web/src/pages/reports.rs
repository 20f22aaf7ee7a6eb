//! Reports of people on the work on a bearing: the form, which stands on the pages of the bearing,
//! of its episode and of its work order, the reports that were made, and the answer of a page after
//! one.
//!
//! A report goes to the bearing's open work, whichever page it comes from; the page to which a
//! person returns says what was recorded, and takes it back for ten minutes.

use std::sync::Arc;

use axum::extract::{Form, Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use minijinja::context;
use minijinja::value::Value;
use pdm_shared::fault::Fault;
use pdm_shared::follow_up::{FOLLOW_UP_SCHEMA, FollowUpReport, FollowUpState, Verdict, WorkFound};
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::text::Language;
use pdm_shared::time::Timestamp;
use serde::Deserialize;
use uuid::Uuid;

use super::episode::word;
use super::{Reader, refusal, relearning, show};
use crate::access::{Technician, Viewer, inner};
use crate::api::{Names, event_id_of, key_of};
use crate::plant::{EpisodeDetail, ReportRow, UNDO_S, Withdrawn};
use crate::problem::Problem;
use crate::{Shared, acts, language};

/// Reports that a page lists.
const LISTED: u32 = 20;

/// The verdict of whoever cannot say yet: the report is kept, and counts in no share of right
/// judgements.
const NOT_YET: &str = "unknown";

/// The fields of the form for a finding on the machine.
#[derive(Debug, Deserialize)]
pub(super) struct FoundForm {
    form_key: String,
    #[serde(default)]
    report_id: String,
    #[serde(default)]
    event_id: String,
    #[serde(default)]
    back: String,
    #[serde(default)]
    by: String,
    #[serde(default)]
    verdict: String,
    #[serde(default)]
    element: String,
    #[serde(default)]
    cause: String,
    #[serde(default)]
    note: String,
    #[serde(default)]
    parts: String,
    #[serde(default)]
    repaired: Option<String>,
    /// The bearing is another one: the gateway learns it anew.
    #[serde(default)]
    relearn: Option<String>,
    #[serde(default)]
    state: String,
    #[serde(flatten)]
    kept: Kept,
}

/// What the browser adds to a report that it kept while the server was away.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Kept {
    /// When it was written; empty where it is sent at once.
    #[serde(default)]
    pub(super) written_at: String,
    /// The user whose page it was written on; empty where nobody had logged in.
    #[serde(default)]
    pub(super) written_by: String,
}

/// Longest time that a report may wait in a browser, s. Chosen: a month, longer than a phone lies
/// in a drawer.
const LONGEST_KEPT_S: f64 = 30.0 * 86_400.0;

impl Kept {
    /// Returns when the report was written, and refuses one of another user: a phone may have
    /// changed hands.
    pub(super) fn at(&self, shared: &Shared, viewer: &Viewer) -> Result<Timestamp, Problem> {
        let now = shared.site.clock.now();
        let is_own = viewer.user().is_none_or(|user| user == self.written_by);
        if !self.written_by.is_empty() && !is_own {
            let told =
                format!("the report was written by {:?}; log in as that user", self.written_by);
            return Err(Problem::new(StatusCode::CONFLICT, told));
        }
        if self.written_at.is_empty() {
            return Ok(now);
        }
        let allowed = "an instant of the last 30 days";
        let wrong = || Problem::parameter("written_at", &self.written_at, allowed);
        let at = Timestamp::parse(&self.written_at).map_err(|_other| wrong())?;
        if now.seconds_since(at) > LONGEST_KEPT_S {
            return Err(wrong());
        }
        // a phone's clock may be ahead; the report was not written after it came
        Ok(at.min(now))
    }
}

impl FoundForm {
    /// The report of the form on the work of a judgement.
    /// Parts that were used stand in its note, below what the person wrote.
    fn report(
        self,
        (shared, viewer): (&Shared, &Viewer),
        of: Option<EventId>,
        language: Language,
    ) -> Result<FollowUpReport, Problem> {
        let at = self.kept.at(shared, viewer)?;
        let element: Option<Fault> = match self.element.as_str() {
            "" => None,
            text => Some(word("element", text, "outer_race, inner_race, ball, cage")?),
        };
        let text = |text: String| Some(text).filter(|text| !text.trim().is_empty());
        let (mut note, cause) = (text(self.note), text(self.cause));
        let verdict = verdict(&self.verdict)?;
        let is_unknown = self.verdict == NOT_YET;
        // what the gateway learns anew was replaced
        let is_repaired = self.repaired.is_some() || self.relearn.is_some();
        let found = if is_unknown {
            // what is known already stays, as words
            let named = element.map(|element| element.name().ko);
            let known: Vec<String> = named.into_iter().chain(cause).chain(note.take()).collect();
            note = Some(known.join("; ")).filter(|note| !note.is_empty());
            None
        } else {
            let wrong = || Problem::parameter("verdict", &self.verdict, VERDICTS);
            Some(WorkFound { verdict: verdict.ok_or_else(wrong)?, element, cause })
        };
        if let Some(parts) = text(self.parts) {
            let word =
                crate::language::words(language).get("parts_used").copied().unwrap_or_default();
            let line = format!("{word}: {}", parts.trim());
            note = Some(note.map_or_else(|| line.clone(), |note| format!("{note}\n{line}")));
        }
        let state = match self.state.as_str() {
            // a cause that nobody knows yet is work that stays, unless the bearing was replaced
            "" if is_unknown && !is_repaired => FollowUpState::Open,
            "" => FollowUpState::Done,
            text => word("state", text, "open, done, dropped")?,
        };
        if state == FollowUpState::Superseded {
            return Err(Problem::parameter("state", &self.state, "open, done, dropped"));
        }
        Ok(FollowUpReport {
            schema: FOLLOW_UP_SCHEMA.to_owned(),
            report_id: identity(&self.report_id)?,
            event_id: of,
            number: None,
            state,
            by: self.by,
            at,
            note,
            repaired: is_repaired,
            found,
        })
    }
}

/// The verdicts of forms.
const VERDICTS: &str = "right, wrong, other_cause, unknown";

/// The verdict of a form; `None` for nothing and for one who cannot say yet.
pub(super) fn verdict(text: &str) -> Result<Option<Verdict>, Problem> {
    if text.is_empty() || text == NOT_YET {
        return Ok(None);
    }
    word("verdict", text, VERDICTS).map(Some)
}

/// The identity that a page gave to its form, so that a form which is sent twice is one report.
pub(super) fn identity(text: &str) -> Result<Option<Uuid>, Problem> {
    if text.is_empty() {
        return Ok(None);
    }
    let id = Uuid::parse_str(text);
    id.map(Some).map_err(|_other| Problem::parameter("report_id", text, "a UUID"))
}

/// Keeps a report and, where the bearing was replaced, asks its gateway to learn the new one:
/// the request has the identity of the report, so that one which is sent twice asks once.
async fn sent(
    shared: &Shared,
    viewer: &Viewer,
    key: &BearingKey,
    report: FollowUpReport,
    is_new: bool,
) -> Result<Uuid, Problem> {
    let by = report.by.clone();
    let id = acts::report(shared, viewer, "page", key, report).await?;
    if is_new {
        acts::request_relearning(shared, viewer, "page", key, (&by, Some(id))).await?;
    }
    Ok(id)
}

/// Takes a report on a bearing, from its page or from the sheet of a work order.
pub(super) async fn on_bearing(
    State(shared): State<Arc<Shared>>,
    Technician(viewer): Technician,
    Path(names): Path<Names>,
    headers: HeaderMap,
    Form(form): Form<FoundForm>,
) -> Response {
    let done = async {
        viewer.check_form(&form.form_key)?;
        let key = key_of(&names)?;
        let event_id = match form.event_id.as_str() {
            "" => None,
            text => Some(event_id_of(text)?),
        };
        let back = if form.back.is_empty() { show::address(&key) } else { form.back.clone() };
        let is_new = form.relearn.is_some();
        let report = form.report((&shared, &viewer), event_id, language::language_of(&headers))?;
        let id = sent(&shared, &viewer, &key, report, is_new).await?;
        Ok::<_, Problem>((back, id))
    };
    match done.await {
        Ok((back, id)) => recorded_at(&back, id),
        Err(problem) => refusal(&Reader::of(&viewer, &headers), &problem),
    }
}

/// Takes a report from the page of an episode. The judgement of its alarm is named where it is
/// still kept, so that the verdict is of this episode if nothing is open.
pub(super) async fn on_episode(
    State(shared): State<Arc<Shared>>,
    Technician(viewer): Technician,
    Path(id): Path<String>,
    headers: HeaderMap,
    Form(form): Form<FoundForm>,
) -> Response {
    let done = async {
        viewer.check_form(&form.form_key)?;
        let (one, is_new) = (shared.episode(&id).await?, form.relearn.is_some());
        let report = form.report(
            (&shared, &viewer),
            judgement_of(&shared, &one).await?,
            language::language_of(&headers),
        )?;
        let report_id = sent(&shared, &viewer, &one.key(), report, is_new).await?;
        Ok::<_, Problem>((format!("/episodes/{}", one.document.episode_id), report_id))
    };
    match done.await {
        Ok((back, id)) => recorded_at(&back, id),
        Err(problem) => refusal(&Reader::of(&viewer, &headers), &problem),
    }
}

/// The judgement that an episode's alarm was told of, if the store still has it.
async fn judgement_of(shared: &Shared, one: &EpisodeDetail) -> Result<Option<EventId>, Problem> {
    let Some(event_id) = one.alarm.as_ref().and_then(|alarm| alarm.event_id) else {
        return Ok(None);
    };
    let plant = &shared.site.plant;
    let is_kept =
        !plant.work_of(event_id).await?.is_empty() || plant.diagnosis(event_id).await?.is_some();
    Ok(is_kept.then_some(event_id))
}

/// Brings a person to a page that says what was recorded.
pub(super) fn recorded_at(back: &str, id: Uuid) -> Response {
    let back = inner(back);
    let mark = if back.contains('?') { '&' } else { '?' };
    Redirect::to(&format!("{back}{mark}recorded={id}")).into_response()
}

/// The report that a page was opened with.
#[derive(Debug, Default, Deserialize)]
pub(super) struct RecordedAsked {
    #[serde(default)]
    recorded: String,
}

impl RecordedAsked {
    /// The word of an address.
    pub(super) fn new(word: &str) -> Self {
        Self { recorded: word.to_owned() }
    }

    /// Returns the values with which the page at the path `back` tells that the report was
    /// recorded; `None` if the word names no report.
    pub(super) async fn shown(
        &self,
        shared: &Shared,
        back: &str,
    ) -> Result<Option<Value>, Problem> {
        let Ok(id) = Uuid::parse_str(&self.recorded) else { return Ok(None) };
        let plant = &shared.site.plant;
        let Some(report) = plant.report_by_id(id).await? else { return Ok(None) };
        let now = shared.site.clock.now();
        let until = report.received_at.plus_seconds(UNDO_S);
        let is_undoable = now < until && report.withdrawn_at.is_none();
        let open = plant.open_work_of(&report.key).await?;
        let others = plant.reports(&report.key, LISTED).await?;
        let relearning = relearning::request_shown(shared, &report.key, back).await?;
        let newest = plant.relearning(&report.key).await?;
        let contrary = others.iter().filter(|other| is_contrary(&report, other));
        Ok(Some(context! {
            contrary => contrary.map(show::value).collect::<Vec<_>>(),
            name => report.key.to_string(),
            bearing_page => show::address(&report.key),
            undo_until => is_undoable.then(|| show::value(until)),
            still_open => open.len(),
            asked_anew => newest.is_some_and(|request| request.request_id == report.report_id),
            relearning,
            back,
            ..show::value(&report)
        }))
    }
}

/// Whether another report, sent at most a day before this one, says something else of the machine:
/// both stand, and whoever comes second is told, also of an own one that a second tab has sent. A
/// day (chosen): two people at one machine are of one shift or of the next one.
fn is_contrary(own: &ReportRow, other: &ReportRow) -> bool {
    let apart_s = own.received_at.seconds_since(other.received_at);
    let is_before = other.report_id != own.report_id && (0.0..=86_400.0).contains(&apart_s);
    let stand = own.withdrawn_at.is_none() && other.withdrawn_at.is_none();
    if !is_before || !stand {
        return false;
    }
    match (&own.found, &other.found) {
        (Some(own), Some(other)) => {
            let elements = own.element.zip(other.element);
            own.verdict != other.verdict || elements.is_some_and(|(own, other)| own != other)
        }
        _ => false,
    }
}

/// The reports on a bearing.
pub(super) async fn rows(shared: &Shared, key: &BearingKey) -> Result<Vec<Value>, Problem> {
    let list = shared.site.plant.reports(key, LISTED).await?;
    Ok(list.iter().map(show::value).collect())
}

/// Returns the values of a report's form: where it goes to, and the judgement that it names.
pub(super) fn form(
    shared: &Shared,
    key: &BearingKey,
    action: Option<String>,
    back: &str,
    event_id: Option<EventId>,
) -> Value {
    let now = shared.site.clock.now();
    context! {
        action => action.unwrap_or_else(|| format!("{}/found", show::address(key))),
        back,
        about => key.to_string(),
        event_id => event_id.map(|event| event.to_string()),
        report_id => EventId::at(now.unix_ms()).to_string(),
    }
}

/// The fields of the form that takes a report back.
#[derive(Debug, Deserialize)]
pub(super) struct UndoForm {
    form_key: String,
    #[serde(default)]
    by: String,
    #[serde(default)]
    back: String,
}

pub(super) async fn undo(
    State(shared): State<Arc<Shared>>,
    Technician(viewer): Technician,
    Path(id): Path<String>,
    headers: HeaderMap,
    Form(form): Form<UndoForm>,
) -> Response {
    let done = async {
        viewer.check_form(&form.form_key)?;
        let report = identity(&id)?.ok_or_else(|| Problem::unknown("report"))?;
        acts::withdraw(&shared, &viewer, report, &form.by).await.map(|done| (done, report))
    };
    match done.await {
        Ok((Withdrawn::Yes(key), id)) => {
            let back = if form.back.is_empty() { show::address(&key) } else { form.back };
            recorded_at(&back, id)
        }
        Ok((Withdrawn::Late(_), _)) => {
            let told = "the report is older than ten minutes and stands; send another one";
            let problem = Problem::new(StatusCode::CONFLICT, told);
            refusal(&Reader::of(&viewer, &headers), &problem)
        }
        Ok((Withdrawn::Unknown, _)) => {
            refusal(&Reader::of(&viewer, &headers), &Problem::unknown("report"))
        }
        Err(problem) => refusal(&Reader::of(&viewer, &headers), &problem),
    }
}
