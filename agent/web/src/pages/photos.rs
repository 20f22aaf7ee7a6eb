//! Photos of a work order: added from the phone's own file field, shown at the order, taken away
//! again.
//!
//! A photo is taken by its content ([`crate::photo`]) and served as the picture that it is: with
//! its own media type, which browsers may not guess, under a policy that runs nothing. Whoever may
//! see the order may see them.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use axum::body::Body;
use axum::extract::{Extension, Form, Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use minijinja::value::Value;
use pdm_shared::id::EventId;
use serde::Deserialize;
use tokio::sync::Semaphore;
use uuid::Uuid;

use super::{Reader, refusal, show};
use crate::access::{Technician, Viewer};
use crate::api::event_id_of;
use crate::photo::{self, NoPhoto};
use crate::plant::{PhotoKept, PhotoKind};
use crate::problem::Problem;
use crate::upload::{self, UploadError};
use crate::{Shared, acts};

/// Most bytes of a form: three photos of the largest size.
const MOST_FORM: usize = 40 * 1024 * 1024;
/// Forms that are read at once, as each may take [`MOST_FORM`] of memory.
const AT_ONCE: usize = 4;
/// Forms of one user among them, so that nobody's slow line holds up the others.
const OF_ONE: usize = 1;

/// A picture shows itself, as itself, and nothing runs in it.
const POLICY: &str = "sandbox; default-src 'none'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";
/// A photo never changes, and a bad line brings it once.
const KEPT: &str = "private, max-age=86400, immutable";

/// Places of forms that are read.
static PLACES: LazyLock<Semaphore> = LazyLock::new(|| Semaphore::new(AT_ONCE));

/// How many forms of each user are on their way.
static OF_USERS: LazyLock<Mutex<HashMap<String, usize>>> = LazyLock::new(Mutex::default);

/// A form of a user that is on its way; it is no more where this is dropped.
struct OnTheWay(String);

impl OnTheWay {
    /// Counts another form of this user; `None` if the user may have no further one.
    fn of(user: String) -> Option<Self> {
        let mut users = OF_USERS.lock().unwrap_or_else(PoisonError::into_inner);
        let count = users.entry(user.clone()).or_default();
        if *count >= OF_ONE {
            return None;
        }
        *count += 1;
        Some(Self(user))
    }
}

impl Drop for OnTheWay {
    fn drop(&mut self) {
        let mut users = OF_USERS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = users.get_mut(&self.0) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                users.remove(&self.0);
            }
        }
    }
}

pub(super) async fn add(
    State(shared): State<Arc<Shared>>,
    Technician(viewer): Technician,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    match added(&shared, &viewer, &id, &headers, body).await {
        Ok(event_id) => Redirect::to(&format!("/work/{event_id}#photos")).into_response(),
        Err(problem) => refusal(&Reader::of(&viewer, &headers), &problem),
    }
}

async fn added(
    shared: &Shared,
    viewer: &Viewer,
    id: &str,
    headers: &HeaderMap,
    body: Body,
) -> Result<EventId, Problem> {
    let event_id = event_id_of(id)?;
    let on_the_way = OnTheWay::of(viewer.asker()).ok_or(UploadError::Another)?;
    let place = PLACES.acquire().await;
    let place = place.map_err(|_closed| Problem::from(UploadError::Broken))?;
    let bytes = upload::body(body, MOST_FORM).await?;
    let boundary = upload::boundary(headers).ok_or(UploadError::Broken)?;
    let parts = upload::parts(&bytes, &boundary)?;
    let text = |name: &str| {
        let part = parts.iter().find(|part| part.name == name && !part.is_file);
        part.map(|part| String::from_utf8_lossy(part.content).into_owned()).unwrap_or_default()
    };
    viewer.check_form(&text("form_key"))?;
    // a file field that nobody used is sent as a file without a name and content
    let files = parts.iter().filter(|part| part.is_file && !part.content.is_empty());
    let photos: Vec<(PhotoKind, &[u8])> =
        files.map(|part| photo::check(part.content)).collect::<Result<_, NoPhoto>>()?;
    if photos.is_empty() {
        return Err(NoPhoto::Empty.into());
    }
    let rows = shared.site.plant.work_of(event_id).await?;
    let row = rows.first().ok_or_else(|| Problem::unknown("work of this judgement"))?;
    for (kind, content) in photos {
        acts::add_photo(shared, viewer, (&row.key, event_id), &text("by"), kind, content).await?;
    }
    drop((place, on_the_way));
    Ok(event_id)
}

pub(super) async fn serve(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    let found = async {
        let id = Uuid::parse_str(&id).map_err(|_other| Problem::unknown("photo"))?;
        shared.site.plant.photo(id).await?.ok_or_else(|| Problem::unknown("photo"))
    };
    match found.await {
        Ok(file) => {
            let kind = file.row.kind;
            let name =
                format!("inline; filename=\"photo-{}.{}\"", file.row.photo_id, kind.as_str());
            let mut answer = file.content.into_response();
            let headers = answer.headers_mut();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind.media_type()));
            headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(KEPT));
            // an identity and a kind have no character that a header does not take
            let name = HeaderValue::try_from(name).ok();
            answer.headers_mut().extend(name.map(|name| (header::CONTENT_DISPOSITION, name)));
            answer
        }
        Err(problem) => refusal(&Reader::of(&viewer, &headers), &problem),
    }
}

/// The fields of the form that removes a photo.
#[derive(Debug, Deserialize)]
pub(super) struct RemoveForm {
    form_key: String,
    #[serde(default)]
    by: String,
}

pub(super) async fn remove(
    State(shared): State<Arc<Shared>>,
    Technician(viewer): Technician,
    Path(id): Path<String>,
    headers: HeaderMap,
    Form(form): Form<RemoveForm>,
) -> Response {
    let done = async {
        viewer.check_form(&form.form_key)?;
        let id = Uuid::parse_str(&id).map_err(|_other| Problem::unknown("photo"))?;
        acts::remove_photo(&shared, &viewer, id, &form.by).await
    };
    match done.await {
        Ok(row) => Redirect::to(&format!("/work/{}#photos", row.event_id)).into_response(),
        Err(problem) => refusal(&Reader::of(&viewer, &headers), &problem),
    }
}

/// The photos of an order, for its page.
pub(super) async fn rows(shared: &Shared, event_id: EventId) -> Result<Vec<Value>, Problem> {
    let rows = shared.site.plant.photos(event_id).await?;
    Ok(rows.iter().map(show::value).collect())
}

impl From<UploadError> for Problem {
    fn from(error: UploadError) -> Self {
        let status = match error {
            UploadError::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            UploadError::Broken => StatusCode::BAD_REQUEST,
            UploadError::Another => StatusCode::TOO_MANY_REQUESTS,
        };
        Self::new(status, error.to_string())
    }
}

impl From<NoPhoto> for Problem {
    fn from(error: NoPhoto) -> Self {
        let status = match error {
            NoPhoto::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            NoPhoto::OtherKind => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            NoPhoto::Empty | NoPhoto::Damaged | NoPhoto::Polyglot | NoPhoto::TooManyPixels => {
                StatusCode::UNPROCESSABLE_ENTITY
            }
        };
        Self::new(status, error.to_string())
    }
}

impl PhotoKept {
    /// Returns why a photo is not kept.
    pub(crate) fn refusal(self) -> Option<Problem> {
        let told = match self {
            Self::Yes(_) => return None,
            Self::OrderFull => "the work order has 12 photos already: remove one first",
            Self::AllFull => "the room for photos is full: an administrator has to make some",
            Self::NoPlace => "photos are not kept here: the agent writes no documents",
        };
        Some(Problem::new(StatusCode::CONFLICT, told))
    }
}
