//! The forms that stand on the page of a bearing and on that of its episode: by which a person
//! acknowledges an alarm, and shelves a bearing or ends its shelf.

use std::sync::Arc;

use axum::extract::{Form, Path, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use minijinja::context;
use minijinja::value::Value;
use pdm_shared::id::BearingKey;
use pdm_shared::time::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::{Reader, episode, refusal, show};
use crate::access::{Technician, Viewer};
use crate::api::{Names, key_of};
use crate::plant::ShelfEnd;
use crate::problem::Problem;
use crate::{Shared, acts};

/// A form by which a person acts on a bearing.
pub(super) trait BearingForm: DeserializeOwned + Send + 'static {
    /// The part of the bearing's page that shows what was done.
    const PART: &'static str = "";

    /// Performs the act of the form.
    fn act(
        self,
        shared: &Shared,
        viewer: &Viewer,
        key: &BearingKey,
    ) -> impl Future<Output = Result<(), Problem>> + Send;
}

/// Takes a form of a bearing's page.
pub(super) async fn on_bearing<F: BearingForm>(
    State(shared): State<Arc<Shared>>,
    Technician(viewer): Technician,
    Path(names): Path<Names>,
    headers: HeaderMap,
    Form(form): Form<F>,
) -> Response {
    let done = match key_of(&names) {
        Ok(key) => form.act(&shared, &viewer, &key).await.map(|()| key),
        Err(problem) => Err(problem),
    };
    match done {
        Ok(key) => Redirect::to(&format!("{}{}", show::address(&key), F::PART)).into_response(),
        Err(problem) => refusal(&Reader::of(&viewer, &headers), &problem),
    }
}

/// Takes a form of an episode's page.
pub(super) async fn on_episode<F: BearingForm>(
    State(shared): State<Arc<Shared>>,
    Technician(viewer): Technician,
    Path(id): Path<String>,
    headers: HeaderMap,
    Form(form): Form<F>,
) -> Response {
    let done = match shared.episode(&id).await {
        Ok(one) => form.act(&shared, &viewer, &one.key()).await,
        Err(problem) => Err(problem),
    };
    episode::back(&viewer, &headers, &id, done)
}

/// The form beside an alarm.
#[derive(Debug, Deserialize)]
pub(super) struct AckForm {
    form_key: String,
    notification_id: String,
    #[serde(default)]
    by: String,
    #[serde(default)]
    note: String,
}

impl BearingForm for AckForm {
    /// Acknowledges the alarm of this bearing.
    async fn act(self, shared: &Shared, viewer: &Viewer, key: &BearingKey) -> Result<(), Problem> {
        viewer.check_form(&self.form_key)?;
        let told = &self.notification_id;
        let told = Uuid::parse_str(told)
            .map_err(|_other| Problem::parameter("notification_id", told, "a UUID"))?;
        acts::acknowledge(shared, viewer, "page", key, told, &self.by, self.note).await
    }
}

/// The end of a shelf as it is asked for: a word (`tomorrow`, `monday`, `date` with `date`, `hours`
/// with `hours`), an instant, or hours alone.
#[derive(Debug, Default, Deserialize)]
pub(super) struct ShelfUntil {
    #[serde(default)]
    until: Option<String>,
    #[serde(default)]
    hours: Option<String>,
    #[serde(default)]
    date: Option<String>,
}

impl ShelfUntil {
    /// The fields of a form that is read by hand.
    pub(super) fn of(until: String, hours: String, date: String) -> Self {
        let field = |text: String| Some(text).filter(|text| !text.is_empty());
        Self { until: field(until), hours: field(hours), date: field(date) }
    }

    /// Returns the instant that is asked for; `None` where none is.
    pub(super) fn instant(&self, shared: &Shared) -> Result<Option<Timestamp>, Problem> {
        let hours = || self.hours.as_deref().map(typed_hours).transpose();
        let of = |end: ShelfEnd, got: &str| {
            let allowed = "a day and an hour such as 2026-11-30T07:00";
            let at = shared.site.plant.shelf_end(&end);
            at.map(Some).ok_or_else(|| Problem::parameter("until", got, allowed))
        };
        let until = match self.until.as_deref().filter(|word| !word.is_empty()) {
            None | Some("hours") => match hours()? {
                Some(hours) => Some(acts::shelf_end_of_hours(shared, hours)?),
                None => None,
            },
            Some(word @ "tomorrow") => of(ShelfEnd::Tomorrow, word)?,
            Some(word @ "monday") => of(ShelfEnd::Monday, word)?,
            Some("date") => {
                let date = self.date.clone().unwrap_or_default();
                of(ShelfEnd::Written(date.clone()), &date)?
            }
            Some(instant) => {
                let allowed = "tomorrow, monday, date, hours, or an instant";
                let at = Timestamp::parse(instant);
                Some(at.map_err(|_other| Problem::parameter("until", instant, allowed))?)
            }
        };
        if let Some(until) = until {
            acts::check_shelf_end(shared, until)?;
        }
        Ok(until)
    }
}

/// Returns the choices of a shelf's form: the ends that people name, as instants.
pub(super) fn shelf_ends(shared: &Shared) -> Value {
    let plant = &shared.site.plant;
    context! {
        tomorrow => show::value(plant.shelf_end(&ShelfEnd::Tomorrow)),
        monday => show::value(plant.shelf_end(&ShelfEnd::Monday)),
        zone => plant.zone(),
    }
}

/// The form of a shelf; without an end the shelf ends.
#[derive(Debug, Deserialize)]
pub(super) struct ShelfForm {
    form_key: String,
    #[serde(flatten)]
    until: ShelfUntil,
    #[serde(default)]
    by: String,
    #[serde(default)]
    reason: String,
}

impl BearingForm for ShelfForm {
    /// Shelves this bearing, or ends its shelf.
    async fn act(self, shared: &Shared, viewer: &Viewer, key: &BearingKey) -> Result<(), Problem> {
        viewer.check_form(&self.form_key)?;
        let until = self.until.instant(shared)?;
        acts::shelve(shared, viewer, "page", key, until, &self.by, self.reason).await
    }
}

/// Hours as a person types them. What acts on them says how many are allowed.
fn typed_hours(text: &str) -> Result<f64, Problem> {
    text.trim().parse().map_err(|_other| wrong_hours(text))
}

fn wrong_hours(text: &str) -> Problem {
    Problem::parameter("hours", text, "a number above 0 and up to 168")
}
