//! The forms that stand on the page of a bearing and on that of its episode: by which a person acknowledges
//! an alarm, and shelves a bearing or ends its shelf.

use std::sync::Arc;

use axum::extract::{Form, Path, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use pdm_shared::episode::LONGEST_SHELF_S;
use pdm_shared::id::BearingKey;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::{Reader, episode, refusal, show};
use crate::access::{Technician, Viewer};
use crate::api::{Names, key_of};
use crate::problem::Problem;
use crate::{Shared, acts};

/// A form by which a person acts on a bearing.
pub(super) trait BearingForm: DeserializeOwned + Send + 'static {
    /// Does what the form says.
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
        Ok(key) => Redirect::to(&show::address(&key)).into_response(),
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

/// The form of a shelf; without `hours` the shelf ends.
#[derive(Debug, Deserialize)]
pub(super) struct ShelfForm {
    form_key: String,
    #[serde(default)]
    hours: Option<String>,
    #[serde(default)]
    by: String,
    #[serde(default)]
    reason: String,
}

impl BearingForm for ShelfForm {
    /// Shelves this bearing, or ends its shelf.
    async fn act(self, shared: &Shared, viewer: &Viewer, key: &BearingKey) -> Result<(), Problem> {
        viewer.check_form(&self.form_key)?;
        let hours = self.hours.as_deref().map(typed_hours).transpose()?;
        acts::shelve(shared, viewer, "page", key, hours, &self.by, self.reason).await
    }
}

/// The hours of a shelf that a page shows before it is put up.
pub(super) fn hours_of(text: &str) -> Result<f64, Problem> {
    let most = LONGEST_SHELF_S / 3600.0;
    let hours = typed_hours(text)?;
    let is_allowed = hours > 0.0 && hours <= most;
    if is_allowed { Ok(hours) } else { Err(wrong_hours(text)) }
}

/// Hours as a person types them. What acts on them says how many are allowed.
fn typed_hours(text: &str) -> Result<f64, Problem> {
    text.trim().parse().map_err(|_other| wrong_hours(text))
}

fn wrong_hours(text: &str) -> Problem {
    Problem::parameter("hours", text, "a number above 0 and up to 168")
}
