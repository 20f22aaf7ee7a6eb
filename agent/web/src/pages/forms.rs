//! The forms that stand on more than one page: by which a person acknowledges an alarm, and shelves a
//! bearing or ends its shelf.

use pdm_shared::episode::LONGEST_SHELF_S;
use pdm_shared::id::BearingKey;
use serde::Deserialize;
use uuid::Uuid;

use crate::access::Viewer;
use crate::problem::Problem;
use crate::{Shared, acts};

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

impl AckForm {
    /// Acknowledges the alarm of this bearing.
    pub(super) async fn act(
        self,
        shared: &Shared,
        viewer: &Viewer,
        key: &BearingKey,
    ) -> Result<(), Problem> {
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

impl ShelfForm {
    /// Shelves this bearing, or ends its shelf.
    pub(super) async fn act(
        self,
        shared: &Shared,
        viewer: &Viewer,
        key: &BearingKey,
    ) -> Result<(), Problem> {
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
