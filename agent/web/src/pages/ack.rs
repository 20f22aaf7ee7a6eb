//! An alarm by its signed link: GET shows what is acknowledged, POST acknowledges it or puts its
//! bearing off until the next morning or the next Monday. Mail gateways follow links, so a GET
//! changes nothing.
//!
//! Whoever has the link sees the bearing's and the machine's name, the level, the title and what to
//! do, and nothing else. A link that went to a channel of many is signed with a name.

use std::sync::Arc;

use axum::extract::{Extension, Form, Path, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::Response;
use minijinja::context;
use pdm_service::http::server::Peer;
use pdm_shared::episode::AcknowledgementState;
use serde::Deserialize;

use super::places::Places;
use super::{Reader, forms, refusal, show, suppressed};
use crate::access::is_of_this_server;
use crate::link::{AckClaim, LinkError};
use crate::plant::{EpisodeDetail, ShelfEnd};
use crate::problem::Problem;
use crate::{Shared, acts, audit, language};

/// The state of the alarm that a link is for.
enum Standing {
    /// It can be acknowledged.
    Waits,
    /// Somebody has done that.
    Acknowledged { by: String, at: String },
    /// The episode is over.
    Over,
    /// The level has risen since the link was sent.
    Risen,
}

pub(super) async fn page(
    State(shared): State<Arc<Shared>>,
    peer: Option<Extension<Peer>>,
    Path(link): Path<String>,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::nobody(language::language_of(&headers));
    let peer = peer.map(|Extension(peer)| peer);
    match read(&shared, peer, &link).await {
        Ok((claim, one)) => shown(&shared, &reader, &link, &claim, &one, false).await,
        Err(problem) => refusal(&reader, &problem),
    }
}

/// The fields of the form.
#[derive(Debug, Deserialize)]
pub(super) struct LinkForm {
    #[serde(default)]
    by: String,
    #[serde(default)]
    note: String,
}

pub(super) async fn acknowledge(
    State(shared): State<Arc<Shared>>,
    peer: Option<Extension<Peer>>,
    Path(link): Path<String>,
    headers: HeaderMap,
    Form(form): Form<LinkForm>,
) -> Response {
    let reader = Reader::nobody(language::language_of(&headers));
    let peer = peer.map(|Extension(peer)| peer);
    if !is_of_this_server(&shared.site, &Method::POST, &headers) {
        let told = "a page of another server sent this request";
        return refusal(&reader, &Problem::new(StatusCode::FORBIDDEN, told));
    }
    match acknowledged(&shared, peer, &link, form).await {
        Ok((claim, one)) => shown(&shared, &reader, &link, &claim, &one, true).await,
        Err(problem) => refusal(&reader, &problem),
    }
}

/// The fields of the form of a shelf.
#[derive(Debug, Deserialize)]
pub(super) struct LinkShelfForm {
    #[serde(default)]
    by: String,
    #[serde(default)]
    until: String,
    #[serde(default)]
    reason: String,
}

pub(super) async fn shelve(
    State(shared): State<Arc<Shared>>,
    peer: Option<Extension<Peer>>,
    Path(link): Path<String>,
    headers: HeaderMap,
    Form(form): Form<LinkShelfForm>,
) -> Response {
    let reader = Reader::nobody(language::language_of(&headers));
    let peer = peer.map(|Extension(peer)| peer);
    if !is_of_this_server(&shared.site, &Method::POST, &headers) {
        let told = "a page of another server sent this request";
        return refusal(&reader, &Problem::new(StatusCode::FORBIDDEN, told));
    }
    match put_off(&shared, peer, &link, form).await {
        Ok((claim, one)) => shown(&shared, &reader, &link, &claim, &one, false).await,
        Err(problem) => refusal(&reader, &problem),
    }
}

/// Puts a bearing off whose episode stands at the level that the link was sent for, or lower.
async fn put_off(
    shared: &Shared,
    peer: Option<Peer>,
    link: &str,
    form: LinkShelfForm,
) -> Result<(AckClaim, EpisodeDetail), Problem> {
    let (claim, one) = read(shared, peer, link).await?;
    let end = match form.until.as_str() {
        "tomorrow" => ShelfEnd::Tomorrow,
        "monday" => ShelfEnd::Monday,
        other => return Err(Problem::parameter("until", other, "tomorrow, monday")),
    };
    let until = shared.site.plant.shelf_end(&end);
    let until = until.ok_or_else(|| Problem::parameter("until", &form.until, "a time"))?;
    match standing(&claim, &one) {
        Standing::Waits | Standing::Acknowledged { .. } => {
            let by = signed(&form.by, &claim)?;
            let what = format!("{} by {by:?} until {until}: {:?}", one.key(), form.reason);
            acts::shelve_by_link(shared, &one.key(), until, by, form.reason).await?;
            audit::note(shared, &claim.recipient, "link", peer, "shelve", what).await;
        }
        // the page says what stands, and nothing is put off
        Standing::Over | Standing::Risen => {}
    }
    let found = shared.site.plant.episode(claim.episode_id).await?;
    Ok((claim, found.ok_or_else(|| Problem::unknown("episode"))?))
}

/// Returns the signature of an act by a link: its recipient, with the name that was typed; refuses
/// one of a channel without a name, since nobody would have acted.
fn signed(typed: &str, claim: &AckClaim) -> Result<String, Problem> {
    match typed.trim() {
        "" if is_person(&claim.recipient) => Ok(claim.recipient.clone()),
        "" => Err(Problem::unfit("by is empty, allowed is the name of a person")),
        typed => Ok(format!("{typed} ({})", claim.recipient)),
    }
}

async fn acknowledged(
    shared: &Shared,
    peer: Option<Peer>,
    link: &str,
    form: LinkForm,
) -> Result<(AckClaim, EpisodeDetail), Problem> {
    let (claim, one) = read(shared, peer, link).await?;
    if let (Standing::Waits, Some(alarm)) = (standing(&claim, &one), &one.alarm) {
        let by = signed(&form.by, &claim)?;
        let what = format!("{} by {by:?}", one.key());
        acts::acknowledge_by_link(shared, &one.key(), alarm.notification_id, by, form.note).await?;
        audit::note(shared, &claim.recipient, "link", peer, "acknowledge", what).await;
    }
    // the same link again, or one of an episode that is over, shows what stands and changes nothing
    let found = shared.site.plant.episode(claim.episode_id).await?;
    Ok((claim, found.ok_or_else(|| Problem::unknown("episode"))?))
}

/// Reads a link; returns its content and its episode.
async fn read(
    shared: &Shared,
    peer: Option<Peer>,
    link: &str,
) -> Result<(AckClaim, EpisodeDetail), Problem> {
    let links = shared.site.links.as_ref().ok_or_else(|| Problem::unknown("page"))?;
    match links.read(link, shared.site.clock.now()) {
        Ok(claim) => {
            let found = shared.site.plant.episode(claim.episode_id).await?;
            Ok((claim, found.ok_or_else(|| Problem::unknown("episode"))?))
        }
        Err(LinkError::Expired(at)) => {
            Err(Problem::new(StatusCode::GONE, LinkError::Expired(at).to_string()))
        }
        Err(LinkError::Forged) => {
            shared.site.access.refuse(peer, "/ack").await;
            Err(Problem::new(StatusCode::FORBIDDEN, LinkError::Forged.to_string()))
        }
    }
}

fn standing(claim: &AckClaim, one: &EpisodeDetail) -> Standing {
    let document = &one.document;
    if document.closed_at.is_some() {
        return Standing::Over;
    }
    if let AcknowledgementState::Acknowledged { by, at, .. } = &document.acknowledgement {
        return Standing::Acknowledged { by: by.clone(), at: at.to_string() };
    }
    match &one.alarm {
        Some(alarm) if alarm.risk_level <= claim.level => Standing::Waits,
        Some(_) => Standing::Risen,
        None => Standing::Over,
    }
}

/// Whether a link was sent to a person, who signs by having it; others type a name.
fn is_person(recipient: &str) -> bool {
    !(["email", "mqtt"].contains(&recipient) || recipient.starts_with("webhook"))
}

async fn shown(
    shared: &Shared,
    reader: &Reader,
    link: &str,
    claim: &AckClaim,
    one: &EpisodeDetail,
    is_done: bool,
) -> Response {
    let (word, by, at) = match standing(claim, one) {
        Standing::Waits => ("waits", None, None),
        Standing::Acknowledged { by, at } => ("acknowledged", Some(by), Some(at)),
        Standing::Over => ("over", None, None),
        Standing::Risen => ("risen", None, None),
    };
    let level = claim.level;
    let places = Places::of_plant(shared, reader.language).await.ok();
    let key = one.key();
    let machine_name = places.as_ref().and_then(|places| places.name(&key));
    // what to do stands in the judgement of the alarm; a link without it still acknowledges
    let advice = match one.alarm.as_ref().and_then(|alarm| alarm.event_id) {
        Some(event_id) => shared.site.plant.diagnosis(event_id).await.ok().flatten(),
        None => None,
    };
    let of = context! {
        machine_name,
        advice => advice.map(|one| one.recommendation.in_language(reader.language).to_owned()),
        page => show::address(&key),
        is_person => is_person(&claim.recipient),
        name => one.key().to_string(),
        level => level.as_str(),
        label => level.label().in_language(reader.language),
        title => one.title.as_ref().map(|title| title.in_language(reader.language)),
        since => show::value(one.document.opened_at),
        ends => show::value(claim.expires_at),
        recipient => &claim.recipient,
        action => format!("/ack/{link}"),
        standing => word,
        mark => suppressed::mark(&one.document.suppression, reader.language),
        shelf_ends => forms::shelf_ends(shared),
        is_done => is_done && word == "acknowledged",
        by, at,
    };
    super::page("ack.html", reader, StatusCode::OK, of)
}
