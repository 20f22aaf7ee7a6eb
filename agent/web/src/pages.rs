//! The pages: templates filled with the rows of [`crate::plant`].
//!
//! `captures` a captured waveform, whose curves `capture_plot` draws and `curves` hands to a
//! script, `demands` the wish for one; `fleet` every bearing, worst first; `bearing` one of them
//! with its plots and its alarm, `trend` the windows of its trend; `analysis` a judgement in five
//! thoughts; `equipment` a machine with its graph; `episodes` and `episode` what stands and what is
//! done about it, `forms` the forms that stand on several pages, `history` what happened to a
//! bearing, `relearning` repairs that a gateway has to learn; `work` the actions that wait,
//! `work_order` those of a judgement as a sheet to print, `reports` what people report of them;
//! `ack` an alarm by its link; `lists` notifications and gateways; `channels` the ways to staff;
//! `people` users and their acts, `tokens` those of a user; `templates` how a page is rendered;
//! `removal` taking out, renaming, replacing; `chat` questions and answers; `documents` reports and
//! work orders as files; `library` the documents of the knowledge base; `refused` refusals in the
//! reader's language; `installed` what a phone needs; `show` what templates use, `matching` the
//! search of lists, `suppressed` the mark of a bearing that staff is not told of; `table_file`
//! lists as files for spreadsheets, `windows_file` that of a bearing's windows.

mod ack;
mod acted;
mod analysis;
mod bearing;
mod capture_plot;
mod captures;
mod channels;
mod chat;
mod curves;
mod demands;
mod documents;
mod duty;
mod episode;
mod episodes;
mod equipment;
mod fleet;
mod forms;
mod history;
mod installed;
mod knowledge;
mod labels;
mod library;
mod lists;
mod matching;
mod people;
mod photos;
mod places;
mod refused;
mod relearning;
mod removal;
mod reports;
mod settings;
mod settings_fields;
mod settings_tables;
mod settings_told;
mod several;
pub(crate) mod show;
mod spectrum;
mod statistics;
mod suppressed;
mod table_file;
mod templates;
mod tokens;
mod trend;
mod windows_file;
mod work;
mod work_order;

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Extension, Form, Request};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use minijinja::context;
use minijinja::value::Value;
use pdm_service::clock::{Clock as _, SystemClock};
use pdm_service::http::callers::Role;
use pdm_shared::text::Language;
use serde::Deserialize;

use demands::DemandForm;
use forms::{AckForm, ShelfForm};
pub(crate) use installed::missing;

use crate::access::{Refused, Viewer, inner};
use crate::problem::Problem;
use crate::{Shared, assets, language, times};

/// The pages of users, their tokens and what they did.
fn accounts() -> Router<Arc<Shared>> {
    Router::new()
        .route("/users", get(people::users).post(people::add))
        .route("/users/{name}", post(people::change))
        .route("/users/{name}/tokens", get(tokens::page).post(tokens::change))
        .route("/audit", get(people::audit))
}

pub(crate) fn router() -> Router<Arc<Shared>> {
    Router::new()
        .route("/", get(fleet::page))
        .route("/bearings/{site}/{equipment}/{bearing}", get(bearing::page))
        .route(
            "/bearings/{site}/{equipment}/{bearing}/acknowledge",
            post(forms::on_bearing::<AckForm>),
        )
        .route(
            "/bearings/{site}/{equipment}/{bearing}/shelve",
            post(forms::on_bearing::<ShelfForm>),
        )
        .route("/bearings/{site}/{equipment}/{bearing}/trend.json", get(trend::json))
        .route("/bearings/{site}/{equipment}/{bearing}/spectrum.json", get(spectrum::json))
        .route("/bearings/{site}/{equipment}/{bearing}/found", post(reports::on_bearing))
        .route("/bearings/{site}/{equipment}/{bearing}/note", post(history::note))
        .route("/relearning", get(relearning::page))
        .route("/bearings/{site}/{equipment}/{bearing}/relearn", post(relearning::ask))
        .route("/bearings/{site}/{equipment}/{bearing}/relearn.json", get(relearning::json))
        .merge(captured())
        .merge(listed())
        .route("/equipment/{equipment}", get(equipment::page))
        .route("/equipment/{site}/{equipment}", get(equipment::page_of_site))
        .route("/analyses/{event_id}", get(analysis::page))
        .route("/episodes", get(episodes::page))
        .route("/episodes/several", post(several::act))
        .route("/statistics", get(statistics::page))
        .route("/episodes/{id}", get(episode::page))
        .route("/episodes/{id}/acknowledge", post(forms::on_episode::<AckForm>))
        .route("/episodes/{id}/unacknowledge", post(episode::unacknowledge))
        .route("/episodes/{id}/note", post(episode::remark))
        .route("/episodes/{id}/shelve", get(episode::preview).post(forms::on_episode::<ShelfForm>))
        .route("/episodes/{id}/found", post(reports::on_episode))
        .route("/documents/{name}", get(documents::serve))
        .route("/reports/{id}/undo", post(reports::undo))
        .route("/work", get(work::page))
        .route("/work/{event_id}", get(work_order::page).post(work::report))
        .route("/work/{event_id}/photos", post(photos::add).layer(DefaultBodyLimit::disable()))
        .route("/photos/{id}", get(photos::serve))
        .route("/photos/{id}/remove", post(photos::remove))
        .route(
            "/library",
            get(library::page).post(library::bring).layer(DefaultBodyLimit::disable()),
        )
        .route("/library/remove", post(library::remove))
        .route("/labels", get(labels::page))
        .route("/duty", get(duty::page))
        .route("/search", get(knowledge::search))
        .route("/knowledge", get(knowledge::search))
        .route("/knowledge/{id}", get(knowledge::page))
        .merge(accounts())
        .route("/settings", get(settings::page).post(settings::act))
        .route("/removal", get(removal::page).post(removal::act))
        .route("/notifications", get(lists::notifications))
        .route("/gateways", get(lists::gateways))
        .route("/chat", get(chat::page).post(chat::ask))
        .route("/language", post(choose))
        .route_layer(middleware::from_fn(show_refusals))
}

/// Lists as files for spreadsheets.
fn listed() -> Router<Arc<Shared>> {
    Router::new()
        .route("/bearings/{site}/{equipment}/{bearing}/windows.csv", get(windows_file::listed))
        .route("/bearings/{site}/{equipment}/{bearing}/windows.xlsx", get(windows_file::listed))
        .route("/episodes.csv", get(episodes::listed))
        .route("/episodes.xlsx", get(episodes::listed))
        .route("/bearings.csv", get(fleet::listed))
        .route("/bearings.xlsx", get(fleet::listed))
        .route("/work.csv", get(work::listed))
        .route("/work.xlsx", get(work::listed))
}

/// The page of a captured waveform and its files.
fn captured() -> Router<Arc<Shared>> {
    Router::new()
        .route(
            "/bearings/{site}/{equipment}/{bearing}/captures",
            post(forms::on_bearing::<DemandForm>),
        )
        .route("/bearings/{site}/{equipment}/{bearing}/captures/demand.json", get(demands::json))
        .route("/bearings/{site}/{equipment}/{bearing}/captures/{id}", get(captures::page))
        .route(
            "/bearings/{site}/{equipment}/{bearing}/captures/{id}/capture.wav",
            get(captures::wav),
        )
        .route(
            "/bearings/{site}/{equipment}/{bearing}/captures/{id}/capture.json",
            get(captures::json),
        )
        .route(
            "/bearings/{site}/{equipment}/{bearing}/captures/{id}/curves.json",
            get(curves::json),
        )
        .route(
            "/bearings/{site}/{equipment}/{bearing}/captures/{id}/capture.npy",
            get(captures::npy),
        )
        .route(
            "/bearings/{site}/{equipment}/{bearing}/captures/{id}/capture.npy.json",
            get(captures::npy_document),
        )
        .route(
            "/bearings/{site}/{equipment}/{bearing}/captures/{id}/sound.wav",
            get(captures::sound),
        )
}

/// Pages that are open to whoever has their link, and what a browser asks for without a login.
pub(crate) fn open_router() -> Router<Arc<Shared>> {
    Router::new()
        .route("/ack/{link}", get(ack::page).post(ack::acknowledge))
        .route("/ack/{link}/shelve", post(ack::shelve))
        .route("/favicon.ico", get(installed::icon))
        .route("/manifest.webmanifest", get(installed::manifest))
        .route("/worker.js", get(installed::worker))
        .route("/offline", get(installed::offline))
}

/// The reader of a page: language and login.
#[derive(Debug)]
pub(crate) struct Reader {
    language: Language,
    form_key: String,
    has_session: bool,
    /// The user's name; `None` for the token and for this machine, where people type their names.
    user: Option<String>,
    role: Option<Role>,
    /// The path of the page that the reader comes from, of this server.
    came_from: Option<String>,
}

impl Reader {
    fn of(viewer: &Viewer, headers: &HeaderMap) -> Self {
        Self {
            form_key: viewer.form_key(),
            has_session: viewer.has_session(),
            user: viewer.user().map(str::to_owned),
            role: Some(viewer.role()),
            came_from: came_from(headers),
            ..Self::nobody(language::language_of(headers))
        }
    }

    /// Somebody who has not entered.
    const fn nobody(language: Language) -> Self {
        Self {
            language,
            form_key: String::new(),
            has_session: false,
            user: None,
            role: None,
            came_from: None,
        }
    }
}

/// The page that a request comes from, by its path alone: the host may be anything.
fn came_from(headers: &HeaderMap) -> Option<String> {
    let from = headers.get(header::REFERER)?.to_str().ok()?;
    let from: axum::http::Uri = from.parse().ok()?;
    Some(inner(from.path_and_query()?.as_str()).to_owned())
}

/// The page of a template.
fn page(name: &str, reader: &Reader, status: StatusCode, of: Value) -> Response {
    let now = SystemClock.now();
    let head = context! {
        t => language::words(reader.language),
        language => language::code(reader.language),
        assets => assets::folder(),
        form_key => &reader.form_key,
        has_session => reader.has_session,
        user => &reader.user,
        may_act => reader.role.is_some_and(|role| role >= Role::Technician),
        is_admin => reader.role == Some(Role::Admin),
        template => name,
        zone => times::plant_zone().name(),
        zone_name => times::zone_in_words(times::plant_zone(), now),
        made_at => now.to_string(),
    };
    match templates::render(name, &context! { ..of, ..head }) {
        Ok(text) => (status, Html(text)).into_response(),
        Err(error) => {
            tracing::error!(page = name, error, "a page could not be made");
            (StatusCode::INTERNAL_SERVER_ERROR, "the page could not be made\n").into_response()
        }
    }
}

/// The page of a template with what was gathered for it, or the refusal.
fn answer(name: &str, reader: &Reader, gathered: Result<Value, Problem>) -> Response {
    match gathered {
        Ok(of) => page(name, reader, StatusCode::OK, of),
        Err(problem) => refusal(reader, &problem),
    }
}

/// A refusal as a page.
fn refusal(reader: &Reader, problem: &Problem) -> Response {
    let told = refused::refusal_in_language(problem.detail(), reader.language);
    let of = context! {
        status => problem.status().as_u16(),
        heading => refused::heading(problem.status()),
        back => &reader.came_from,
        is_foreign => told.is_none(),
        detail => told.unwrap_or_else(|| problem.detail().to_owned()),
    };
    page("problem.html", reader, problem.status(), of)
}

/// Shows the refusal of somebody who has entered as a page. The address of a form that is opened as
/// a page, as by a reload after the server was away, leads to the page of its form.
pub(crate) async fn show_refusals(request: Request, next: Next) -> Response {
    let headers = request.headers().clone();
    let above = request.uri().path().rsplit_once('/').map(|(above, _)| above.to_owned());
    let is_opened = request.method() == Method::GET;
    let answer = next.run(request).await;
    if is_opened && answer.status() == StatusCode::METHOD_NOT_ALLOWED {
        let above = above.filter(|above| !above.is_empty()).unwrap_or_else(|| "/".to_owned());
        return Redirect::to(inner(&above)).into_response();
    }
    match answer.extensions().get::<Refused>() {
        Some(Refused { viewer, problem }) => refusal(&Reader::of(viewer, &headers), problem),
        None => answer,
    }
}

/// The ways to log in that the login page offers.
#[derive(Debug, Clone)]
pub(crate) struct LoginNote {
    /// Users log in by name and password.
    pub(crate) has_users: bool,
    /// The configured token logs in.
    pub(crate) has_token: bool,
    /// The name of the plant's own provider of logins.
    pub(crate) provider: Option<String>,
    /// Why the last attempt let nobody in.
    pub(crate) failed: Option<LoginFailure>,
}

/// Why an attempt to log in let nobody in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LoginFailure {
    /// The key of the text.
    pub(crate) text: &'static str,
    pub(crate) status: StatusCode,
}

impl LoginNote {
    /// The page after an attempt that let nobody in.
    pub(crate) fn because(self, failure: LoginFailure) -> Self {
        Self { failed: Some(failure), ..self }
    }
}

/// The login page.
pub(crate) fn login(language: Language, to: &str, note: LoginNote) -> Response {
    let LoginNote { has_users, has_token, provider, failed } = note;
    let status = failed.map_or(StatusCode::OK, |failure| failure.status);
    let failed = failed.map(|failure| failure.text);
    let of = context! { to, failed, has_users, has_token, provider };
    page("login.html", &Reader::nobody(language), status, of)
}

/// The page after a login by the provider, which goes on by itself.
pub(crate) fn entered(language: Language, to: &str) -> Response {
    page("entered.html", &Reader::nobody(language), StatusCode::OK, context! { to })
}

/// The page of the first user; `wrong` after a form that was not taken.
pub(crate) fn setup(language: Language, status: StatusCode, wrong: Option<&str>) -> Response {
    page("setup.html", &Reader::nobody(language), status, context! { wrong })
}

/// A viewer's choice of language.
#[derive(Debug, Deserialize)]
struct Choice {
    language: String,
}

async fn choose(
    Extension(_entered): Extension<Viewer>,
    headers: HeaderMap,
    Form(choice): Form<Choice>,
) -> Response {
    let Some(chosen) = language::parse(&choice.language) else {
        let told = Problem::parameter("language", &choice.language, "ko, en");
        return told.into_response();
    };
    let back = came_from(&headers).unwrap_or_else(|| "/".to_owned());
    let cookie = format!(
        "{}={}; Path=/; SameSite=Lax; Max-Age=31536000",
        language::COOKIE,
        language::code(chosen)
    );
    ([(header::SET_COOKIE, cookie)], Redirect::to(&back)).into_response()
}
