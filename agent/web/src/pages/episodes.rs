//! The list of episodes: what stands, the urgent first; what is put off; what is over.

use std::cmp::Reverse;
use std::sync::Arc;

use axum::extract::{Extension, Query, State};
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use minijinja::context;
use minijinja::value::Value;
use pdm_shared::episode::{AcknowledgementState, Suppression};
use pdm_shared::fault::Fault;
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use serde::Deserialize;

use super::places::{Places, element_of};
use super::table_file::{FileKind, ListFile, or_empty, workbook_address};
use super::{Reader, fleet, forms, matching, refusal, show, suppressed};
use crate::Shared;
use crate::access::Viewer;
use crate::api::place_of;
use crate::cursor;
use crate::plant::{EpisodeDetail, EpisodeFilter};
use crate::problem::Problem;

/// Episodes of a page.
const ROWS: u32 = 100;
/// Episodes that stand and are put in order; a plant with more is told that there are more.
const MOST: u32 = 5000;

/// Which episodes are asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EpisodePageAsked {
    #[serde(default)]
    state: Option<String>,
    #[serde(default)]
    cursor: Option<String>,
    #[serde(default)]
    q: String,
    #[serde(default)]
    page: Option<usize>,
    /// A risk.
    #[serde(default)]
    risk: String,
    /// `waits`: nobody has acknowledged it; `mine`: the reader has.
    #[serde(default)]
    ack: String,
    #[serde(default)]
    site: String,
    #[serde(default)]
    line: String,
    #[serde(default)]
    element: String,
    /// How many of a selection were acted on, and how many were not.
    #[serde(default)]
    done: Option<u32>,
    #[serde(default)]
    left: Option<u32>,
}

impl EpisodePageAsked {
    fn filter(&self) -> Result<EpisodeFilter, Problem> {
        crate::api::episode_filter(self.word())
    }

    /// The address of a list with these filters.
    pub(super) fn address(&self, path: &str, ack: &str) -> String {
        let fields = [
            ("state", self.word()),
            ("q", self.q.as_str()),
            ("risk", &self.risk),
            ("ack", ack),
            ("site", &self.site),
            ("line", &self.line),
            ("element", &self.element),
        ];
        fleet::address(path, &fields)
    }

    fn takes(
        &self,
        one: &EpisodeDetail,
        (risk, element): (Option<RiskLevel>, Option<Fault>),
        places: &Places<'_>,
        user: Option<&str>,
    ) -> bool {
        let (document, key) = (&one.document, one.key());
        let by = match &document.acknowledgement {
            AcknowledgementState::Acknowledged { by, .. } => Some(by.as_str()),
            AcknowledgementState::Unacknowledged => None,
        };
        let is_ack = match self.ack.as_str() {
            "waits" => by.is_none() && one.alarm.is_some(),
            "mine" => user.is_some() && by == user,
            _ => true,
        };
        let label = level(one).label();
        let fault = document.fault_type.map(Fault::name);
        let fault = fault.map(|text| format!("{} {}", text.ko, text.en)).unwrap_or_default();
        let words = || format!("{key} {} {} {} {fault}", places.words(&key), label.ko, label.en);
        is_ack
            && risk.is_none_or(|risk| level(one) == risk)
            && (self.site.is_empty() || document.site.as_str() == self.site)
            && element.is_none_or(|element| document.fault_type == Some(element))
            && places.is_on(&key, &self.line)
            && matching::fits(&words(), &self.q)
    }

    /// The word of the filter.
    fn word(&self) -> &str {
        self.state.as_deref().unwrap_or("open")
    }
}

pub(super) async fn page(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    Query(asked): Query<EpisodePageAsked>,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    super::answer("episodes.html", &reader, gather(&shared, &asked, &reader).await)
}

async fn gather(
    shared: &Shared,
    asked: &EpisodePageAsked,
    reader: &Reader,
) -> Result<Value, Problem> {
    let filter = asked.filter()?;
    // what stands is put in order as a whole; the past comes by its time
    let stands = matches!(filter, EpisodeFilter::Open | EpisodeFilter::Shelved);
    let before = asked.cursor.as_deref().map(cursor::read_cursor).transpose()?;
    let limit = if stands { MOST } else { ROWS };
    let plant = &shared.site.plant;
    let mut list = plant.episodes(filter, before.filter(|_| !stands), limit).await?;
    let is_full = list.len() >= limit as usize;
    let older =
        list.last().filter(|_| is_full && !stands).map(|last| cursor::write(place_of(last)));
    let places = Places::of_plant(shared, reader.language).await?;
    if stands {
        list.sort_by_cached_key(urgency);
    }
    let keys: Vec<BearingKey> = list.iter().map(EpisodeDetail::key).collect();
    let (sites, lines) = (fleet::sites(keys.iter()), places.lines(keys.iter()));
    let (risk, element) = (fleet::risk_of(&asked.risk)?, element_of(&asked.element)?);
    let user = reader.user.as_deref();
    list.retain(|one| asked.takes(one, (risk, element), &places, user));
    let rows_of_page = ROWS as usize;
    let pages = list.len().div_ceil(rows_of_page).max(1);
    let number = asked.page.unwrap_or(1).clamp(1, pages);
    let of_page = list.iter().skip((number - 1) * rows_of_page).take(rows_of_page);
    let rows: Vec<Value> = of_page
        .map(|one| {
            let key = one.key();
            let machine_name = places.name(&key);
            // what a selection acts on: this episode, at the alarm that is seen here
            let chosen = one.alarm.as_ref().filter(|_| one.document.closed_at.is_none());
            let chosen = chosen
                .map(|alarm| format!("{}:{}", one.document.episode_id, alarm.notification_id));
            context! { machine_name, chosen, ..episode_card(one, reader) }
        })
        .collect();
    let own = asked.address("/episodes", &asked.ack);
    let at = |page: usize| fleet::with(&own, &format!("page={page}"));
    Ok(context! {
        rows, older, number, pages, sites, lines,
        risk => &asked.risk, ack => &asked.ack, site => &asked.site,
        line => &asked.line, element => &asked.element,
        levels => levels(reader),
        acks => acks(asked, reader),
        workbook => workbook_address(&asked.address("/episodes.csv", &asked.ack)),
        file => asked.address("/episodes.csv", &asked.ack),
        back => &own,
        can_choose => stands,
        shelf_ends => forms::shelf_ends(shared),
        done => asked.done, left => asked.left.filter(|left| *left > 0),
        state => asked.word(),
        q => &asked.q,
        found => list.len(),
        has_more => stands && is_full,
        before => (number > 1).then(|| at(number - 1)),
        after => (number < pages).then(|| at(number + 1)),
    })
}

/// The risks of a filter.
fn levels(reader: &Reader) -> Vec<Value> {
    let levels = [RiskLevel::Critical, RiskLevel::Warning, RiskLevel::Watch];
    let levels = levels.into_iter().map(|level| {
        context! {
            word => level.as_str(),
            label => level.label().in_language(reader.language),
        }
    });
    levels.collect()
}

/// The filters by acknowledgement; each ends its filter where it is on.
fn acks(asked: &EpisodePageAsked, reader: &Reader) -> Vec<Value> {
    let words =
        ["waits", "mine"].into_iter().filter(|word| *word == "waits" || reader.user.is_some());
    let words = words.map(|word| {
        let is_on = asked.ack == word;
        let address = asked.address("/episodes", if is_on { "" } else { word });
        context! { text => format!("fleet_{word}"), address, is_on }
    });
    words.collect()
}

/// Answers with the same list as a file.
pub(super) async fn listed(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    Query(asked): Query<EpisodePageAsked>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    match file(&shared, &asked, &reader, FileKind::of_address(&uri)).await {
        Ok(file) => file,
        Err(problem) => refusal(&reader, &problem),
    }
}

/// The columns of the file.
const HEAD: [&str; 16] = [
    "episode_id",
    "site",
    "equipment",
    "bearing",
    "machine_name",
    "line",
    "risk",
    "state",
    "element",
    "opened_at",
    "changed_at",
    "closed_at",
    "acknowledged_by",
    "suppression",
    "repeats",
    "title",
];

async fn file(
    shared: &Shared,
    asked: &EpisodePageAsked,
    reader: &Reader,
    kind: FileKind,
) -> Result<Response, Problem> {
    let mut list = shared.site.plant.episodes(asked.filter()?, None, MOST).await?;
    let places = Places::of_plant(shared, reader.language).await?;
    let (risk, element) = (fleet::risk_of(&asked.risk)?, element_of(&asked.element)?);
    let user = reader.user.as_deref();
    list.retain(|one| asked.takes(one, (risk, element), &places, user));
    list.sort_by_cached_key(urgency);
    let rows = list.iter().map(|one| {
        let (document, key) = (&one.document, one.key());
        let by = match &document.acknowledgement {
            AcknowledgementState::Acknowledged { by, .. } => Some(by.as_str()),
            AcknowledgementState::Unacknowledged => None,
        };
        let alarm = one.alarm.as_ref();
        vec![
            document.episode_id.to_string(),
            key.site.to_string(),
            key.equipment.to_string(),
            key.bearing.to_string(),
            or_empty(places.name(&key)),
            or_empty(places.line(&key)),
            level(one).as_str().to_owned(),
            document.episode_state.as_str().to_owned(),
            or_empty(document.fault_type.map(Fault::as_str)),
            document.opened_at.to_string(),
            document.changed_at.to_string(),
            or_empty(document.closed_at),
            or_empty(by),
            document.suppression.as_str().to_owned(),
            or_empty(alarm.map(|alarm| alarm.repeats)),
            or_empty(one.title.as_ref().map(|title| title.in_language(reader.language))),
        ]
    });
    ListFile { name: "episodes", file: None, head: &HEAD, rows }.answer(kind, reader)
}

/// The level that staff was told, or that stands where it was told nothing.
fn level(one: &EpisodeDetail) -> RiskLevel {
    one.document.told.unwrap_or(one.document.condition.level())
}

/// Worst first; of one level those that nobody has acknowledged, those that staff is told of, the
/// last changed.
fn urgency(one: &EpisodeDetail) -> (Reverse<RiskLevel>, bool, bool, Reverse<i64>) {
    let document = &one.document;
    let is_known = document.acknowledgement != AcknowledgementState::Unacknowledged;
    let is_suppressed = document.suppression != Suppression::None;
    let changed = Reverse(document.changed_at.unix_ms());
    (Reverse(level(one)), is_known, is_suppressed, changed)
}

/// An episode as templates show it.
pub(super) fn episode_card(one: &EpisodeDetail, reader: &Reader) -> Value {
    let (key, document) = (one.key(), &one.document);
    let label = |level: RiskLevel| level.label().in_language(reader.language).to_owned();
    context! {
        page => format!("/episodes/{}", document.episode_id),
        address => show::address(&key),
        name => key.to_string(),
        level => level(one).as_str(),
        label => label(level(one)),
        standing => label(document.condition.level()),
        mark => suppressed::mark(&document.suppression, reader.language),
        title => one.title.as_ref().map(|title| title.in_language(reader.language)),
        ..show::value(one)
    }
}
