//! The work that judgements ask for: what waits, the urgent first, one card a work order; what was
//! done, and what was found.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{Extension, Form, Path, Query, State};
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use minijinja::context;
use minijinja::value::Value;
use pdm_shared::fault::Fault;
use pdm_shared::follow_up::{FOLLOW_UP_SCHEMA, FollowUpReport, FollowUpState, WorkFound};
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use serde::Deserialize;
use uuid::Uuid;

use super::episode::word;
use super::places::{Places, element_of};
use super::reports::{self, RecordedAsked, recorded_at};
use super::table_file::{FileKind, ListFile, or_empty, workbook_address};
use super::{Reader, fleet, matching, refusal, show, suppressed};
use crate::access::{Technician, Viewer};
use crate::api::{event_id_of, place_of_work};
use crate::plant::{BearingRow, WorkRow};
use crate::problem::Problem;
use crate::{Shared, acts, cursor};

/// Actions of a page of the past.
const ROWS: u32 = 100;
/// Work orders of a page.
const CARDS: usize = 50;
/// Actions that wait and are put in order; a plant with more is told that there are more.
const MOST: u32 = 5000;

/// Which work is asked for, and the report that was made before.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WorkPageAsked {
    #[serde(default)]
    state: Option<String>,
    #[serde(default)]
    cursor: Option<String>,
    #[serde(default)]
    q: String,
    #[serde(default)]
    risk: String,
    #[serde(default)]
    site: String,
    #[serde(default)]
    late: String,
    #[serde(default)]
    line: String,
    #[serde(default)]
    element: String,
    /// Work on bearings whose alarm the reader has acknowledged.
    #[serde(default)]
    mine: String,
    #[serde(default)]
    page: Option<usize>,
    #[serde(default)]
    recorded: String,
}

impl WorkPageAsked {
    fn is_open(&self) -> Result<bool, Problem> {
        match self.state.as_deref().unwrap_or("open") {
            "open" => Ok(true),
            "all" => Ok(false),
            other => Err(Problem::parameter("state", other, "open, all")),
        }
    }

    fn risk(&self) -> Result<Option<RiskLevel>, Problem> {
        fleet::risk_of(&self.risk)
    }

    /// The address of the list with these filters.
    fn address(&self, risk: &str, late: &str) -> String {
        self.address_of("/work", risk, late, &self.mine)
    }

    fn address_of(&self, path: &str, risk: &str, late: &str, mine: &str) -> String {
        let fields = [
            ("q", self.q.as_str()),
            ("risk", risk),
            ("site", &self.site),
            ("late", late),
            ("line", &self.line),
            ("element", &self.element),
            ("mine", mine),
        ];
        fleet::address(path, &fields)
    }

    /// Whether a work order is one of the filters' own.
    fn takes(
        &self,
        card: &Card<'_>,
        (risk, element): (Option<RiskLevel>, Option<Fault>),
        places: &Places<'_>,
        user: Option<&str>,
    ) -> bool {
        let fault = card.bearing.and_then(|bearing| bearing.fault_type);
        let is_mine = card.bearing.is_some_and(|bearing| fleet::is_of(bearing, user));
        risk.is_none_or(|risk| card.risk() == risk && card.bearing.is_some())
            && (self.late.is_empty() || card.is_late())
            && (self.site.is_empty() || card.key.site.as_str() == self.site)
            && element.is_none_or(|element| fault == Some(element))
            && places.is_on(card.key, &self.line)
            && (self.mine.is_empty() || is_mine)
            && fits(card, places, &self.q)
    }

    fn own_address(&self) -> String {
        self.address(&self.risk, &self.late)
    }
}

pub(super) async fn page(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    Query(asked): Query<WorkPageAsked>,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    super::answer("work.html", &reader, gather(&shared, &asked, &reader).await)
}

/// The order of work orders, the most urgent first: not overdue and Critical, risk, not overdue,
/// due time, name.
type Urgency = (bool, Reverse<RiskLevel>, bool, i64, String);

/// The actions of one judgement.
struct Card<'a> {
    key: &'a BearingKey,
    bearing: Option<&'a BearingRow>,
    actions: Vec<&'a WorkRow>,
    now: Timestamp,
}

impl Card<'_> {
    fn risk(&self) -> RiskLevel {
        self.bearing.map_or(RiskLevel::Normal, |bearing| bearing.risk_level)
    }

    fn open(&self) -> impl Iterator<Item = &&WorkRow> {
        self.actions.iter().filter(|row| row.state == FollowUpState::Open)
    }

    /// Until when the open work is to be done: the earliest date of the order, or the end of the
    /// bearing's least remaining life as it is now, if that is earlier.
    fn due_at(&self) -> Option<Timestamp> {
        let asked = self.open().filter_map(|row| row.due_at).min();
        let ends = asked.and(self.bearing).and_then(BearingRow::act_by);
        asked.into_iter().chain(ends).min()
    }

    /// Whether the least remaining life ends before the date of the order.
    fn is_sooner(&self) -> bool {
        self.due_at() < self.open().filter_map(|row| row.due_at).min()
    }

    /// Whether open work was due when it was asked for.
    fn is_at_once(&self) -> bool {
        self.open().any(|row| row.due_at.is_some_and(|due| due <= row.asked_at))
    }

    fn is_late(&self) -> bool {
        self.due_at().is_some_and(|due| due < self.now)
    }

    /// Critical work that is overdue, then by risk, then overdue work, then what is due first.
    fn urgency(&self) -> Urgency {
        let (risk, is_late) = (self.risk(), self.is_late());
        let due_ms = self.due_at().map_or(i64::MAX, Timestamp::unix_ms);
        let is_first = is_late && risk == RiskLevel::Critical;
        let name = self.key.to_string();
        (!is_first, Reverse(risk), !is_late, due_ms, name)
    }

    fn shown(&self, places: &Places<'_>, reader: &Reader) -> Value {
        let language = reader.language;
        let first = self.actions.first();
        let actions: Vec<Value> = self.actions.iter().map(|row| self.action(row, reader)).collect();
        let suppression = self.bearing.and_then(|bearing| bearing.episode.as_ref());
        context! {
            name => self.key.to_string(),
            key => show::value(self.key),
            machine_name => places.name(self.key),
            address => show::address(self.key),
            level => self.bearing.map(|bearing| bearing.risk_level.as_str()),
            label => self.bearing.map(|bearing| {
                bearing.risk_level.label().in_language(language).to_owned()
            }),
            fault_type => self.bearing.map(|bearing| show::value(bearing.fault_type)),
            mark => suppression.and_then(|one| suppressed::mark(&one.suppression, language)),
            event_id => first.map(|row| row.event_id.to_string()),
            number => first.and_then(|row| row.work_order.as_deref()),
            due_at => self.due_at().map(show::value),
            is_late => self.is_late(),
            is_sooner => self.is_sooner(),
            is_at_once => self.is_at_once(),
            asked_at => first.map(|row| show::value(row.asked_at)),
            is_open => self.open().next().is_some(),
            actions,
        }
    }

    fn action(&self, row: &WorkRow, reader: &Reader) -> Value {
        let is_open = row.state == FollowUpState::Open;
        context! {
            text => row.action.in_language(reader.language),
            is_late => is_open && row.due_at.is_some_and(|due| due < self.now),
            is_open,
            report_id => EventId::at(self.now.unix_ms()).to_string(),
            ..show::value(row)
        }
    }
}

/// The actions by their judgement, in the order in which the judgements come.
fn cards<'a>(
    list: &'a [WorkRow],
    fleet: &'a HashMap<&BearingKey, &BearingRow>,
    now: Timestamp,
) -> Vec<Card<'a>> {
    let mut cards: Vec<Card<'a>> = Vec::new();
    let mut places: HashMap<EventId, usize> = HashMap::new();
    for row in list {
        let place = *places.entry(row.event_id).or_insert(cards.len());
        if let Some(card) = cards.get_mut(place) {
            card.actions.push(row);
        } else {
            let bearing = fleet.get(&row.key).copied();
            cards.push(Card { key: &row.key, bearing, actions: vec![row], now });
        }
    }
    cards
}

async fn gather(shared: &Shared, asked: &WorkPageAsked, reader: &Reader) -> Result<Value, Problem> {
    let (plant, now) = (&shared.site.plant, shared.site.clock.now());
    let is_open = asked.is_open()?;
    let (risk, element) = (asked.risk()?, element_of(&asked.element)?);
    let before = asked.cursor.as_deref().map(cursor::read_cursor).transpose()?;
    let limit = if is_open { MOST } else { ROWS };
    let list = plant.work(is_open, before.filter(|_| !is_open), limit).await?;
    let is_full = list.len() >= limit as usize;
    let older = list.last().filter(|_| is_full && !is_open);
    let older = older.map(|last| cursor::write(place_of_work(last)));
    let (fleet, places) = (plant.fleet().await?, Places::of_plant(shared, reader.language).await?);
    let of_key: HashMap<&BearingKey, &BearingRow> =
        fleet.iter().map(|row| (&row.key, row)).collect();
    let mut all = cards(&list, &of_key, now);
    if is_open {
        all.sort_by_cached_key(Card::urgency);
    }
    let tiles = tiles(&all, asked, reader);
    let sites: Vec<String> = fleet::sites(all.iter().map(|card| card.key));
    let found: Vec<&Card<'_>> = all
        .iter()
        .filter(|card| asked.takes(card, (risk, element), &places, reader.user.as_deref()))
        .collect();
    // the past comes by a cursor, so a page of it is shown whole
    let on_page = if is_open { CARDS } else { usize::MAX };
    let pages = found.len().div_ceil(on_page).max(1);
    let number = asked.page.unwrap_or(1).clamp(1, pages);
    let of_page = found.iter().skip((number - 1) * on_page).take(on_page);
    let rows: Vec<Value> = of_page.map(|card| card.shown(&places, reader)).collect();
    let own = asked.own_address();
    let at = |page: usize| fleet::with(&own, &format!("page={page}"));
    let recorded = RecordedAsked::new(&asked.recorded).shown(shared, &own).await?;
    Ok(context! {
        lines => places.lines(all.iter().map(|card| card.key)),
        line => &asked.line, element => &asked.element, mine => &asked.mine,
        workbook => workbook_address(
            &asked.address_of("/work.csv", &asked.risk, &asked.late, &asked.mine),
        ),
        file => asked.address_of("/work.csv", &asked.risk, &asked.late, &asked.mine),
        rows, older, recorded, tiles, sites, number, pages,
        is_all => !is_open,
        has_more => is_open && is_full,
        found => found.len(),
        is_filtered => found.len() < all.len(),
        q => &asked.q, risk => &asked.risk, site => &asked.site, late => &asked.late,
        back => &own,
        before => (number > 1).then(|| at(number - 1)),
        after => (number < pages).then(|| at(number + 1)),
    })
}

/// Counts the overdue work orders and those of each risk; a tile filters, and ends its filter.
fn tiles(all: &[Card<'_>], asked: &WorkPageAsked, reader: &Reader) -> Vec<Value> {
    let late = all.iter().filter(|card| card.is_late()).count();
    let is_late = !asked.late.is_empty();
    let address = asked.address(&asked.risk, if is_late { "" } else { "yes" });
    let none = None::<&str>;
    let late = context! {
        count => late, word => "work_late", level => none, label => none, address, is_on => is_late
    };
    let levels = [RiskLevel::Critical, RiskLevel::Warning, RiskLevel::Watch];
    let levels = levels.into_iter().map(|level| {
        let is_on = asked.risk == level.as_str();
        context! {
            count => all.iter().filter(|card| card.risk() == level).count(),
            word => none,
            level => level.as_str(),
            label => level.label().in_language(reader.language),
            address => asked.address(if is_on { "" } else { level.as_str() }, &asked.late),
            is_on,
        }
    });
    let mine = reader.user.as_deref().map(|user| {
        let is_on = !asked.mine.is_empty();
        let of_user = |card: &&Card<'_>| {
            card.bearing.is_some_and(|bearing| fleet::is_of(bearing, Some(user)))
        };
        let address =
            asked.address_of("/work", &asked.risk, &asked.late, if is_on { "" } else { "yes" });
        let count = all.iter().filter(of_user).count();
        context! { count, word => "fleet_mine", level => none, label => none, address, is_on }
    });
    std::iter::once(late).chain(levels).chain(mine).collect()
}

/// The work that waits as a file, one action a row.
pub(super) async fn listed(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    Query(asked): Query<WorkPageAsked>,
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
const HEAD: [&str; 18] = [
    "work_order",
    "event_id",
    "number",
    "site",
    "equipment",
    "bearing",
    "machine_name",
    "line",
    "risk",
    "action",
    "asked_at",
    "due_at",
    "is_late",
    "state",
    "by",
    "at",
    "note",
    "act_by",
];

async fn file(
    shared: &Shared,
    asked: &WorkPageAsked,
    reader: &Reader,
    kind: FileKind,
) -> Result<Response, Problem> {
    let (plant, now) = (&shared.site.plant, shared.site.clock.now());
    let (risk, element) = (asked.risk()?, element_of(&asked.element)?);
    let list = plant.work(asked.is_open()?, None, MOST).await?;
    let (fleet, places) = (plant.fleet().await?, Places::of_plant(shared, reader.language).await?);
    let of_key: HashMap<&BearingKey, &BearingRow> =
        fleet.iter().map(|row| (&row.key, row)).collect();
    let mut all = cards(&list, &of_key, now);
    all.sort_by_cached_key(Card::urgency);
    let user = reader.user.as_deref();
    let found = all.iter().filter(|card| asked.takes(card, (risk, element), &places, user));
    let rows = found.flat_map(|card| card.actions.iter().map(move |row| (card, *row)));
    let rows = rows.map(|(card, row)| {
        vec![
            or_empty(row.work_order.as_deref()),
            row.event_id.to_string(),
            row.number.to_string(),
            row.key.site.to_string(),
            row.key.equipment.to_string(),
            row.key.bearing.to_string(),
            or_empty(places.name(&row.key)),
            or_empty(places.line(&row.key)),
            or_empty(card.bearing.map(|bearing| bearing.risk_level.as_str())),
            row.action.in_language(reader.language).to_owned(),
            row.asked_at.to_string(),
            or_empty(row.due_at),
            (row.state == FollowUpState::Open && row.due_at.is_some_and(|due| due < now))
                .to_string(),
            row.state.as_str().to_owned(),
            or_empty(row.by.as_deref()),
            or_empty(row.at),
            or_empty(row.note.as_deref()),
            or_empty(card.bearing.and_then(BearingRow::act_by)),
        ]
    });
    ListFile { name: "work", file: None, head: &HEAD, rows }.answer(kind, reader)
}

fn fits(card: &Card<'_>, places: &Places<'_>, asked: &str) -> bool {
    let actions: Vec<&str> = card
        .actions
        .iter()
        .flat_map(|row| [row.action.ko.as_str(), row.action.en.as_str()])
        .collect();
    let bearing = card.bearing.map(|row| fleet::words(row, places)).unwrap_or_default();
    let order = card.actions.first().and_then(|row| row.work_order.as_deref()).unwrap_or_default();
    matching::fits(&format!("{} {bearing} {order} {}", card.key, actions.join(" ")), asked)
}

/// The fields of the form that sets the state of an action.
#[derive(Debug, Deserialize)]
pub(super) struct WorkForm {
    form_key: String,
    number: u32,
    state: String,
    #[serde(default)]
    report_id: String,
    #[serde(default)]
    by: String,
    #[serde(default)]
    note: String,
    #[serde(default)]
    verdict: String,
    #[serde(default)]
    repaired: Option<String>,
    #[serde(default)]
    back: String,
    // not flattened: a number beside flattened fields is not read from a form
    #[serde(default)]
    written_at: String,
    #[serde(default)]
    written_by: String,
}

pub(super) async fn report(
    State(shared): State<Arc<Shared>>,
    Technician(viewer): Technician,
    Path(id): Path<String>,
    headers: HeaderMap,
    Form(form): Form<WorkForm>,
) -> Response {
    let back = if form.back.is_empty() { "/work".to_owned() } else { form.back.clone() };
    match reported(&shared, &viewer, &id, form).await {
        Ok(id) => recorded_at(&back, id),
        Err(problem) => refusal(&Reader::of(&viewer, &headers), &problem),
    }
}

async fn reported(
    shared: &Shared,
    viewer: &Viewer,
    id: &str,
    form: WorkForm,
) -> Result<Uuid, Problem> {
    viewer.check_form(&form.form_key)?;
    let kept = reports::Kept { written_at: form.written_at, written_by: form.written_by };
    let at = kept.at(shared, viewer)?;
    let event_id: EventId = event_id_of(id)?;
    let allowed = "open, done, dropped";
    let state: FollowUpState = word("state", &form.state, allowed)?;
    if state == FollowUpState::Superseded {
        return Err(Problem::parameter("state", &form.state, allowed));
    }
    let rows = shared.site.plant.work_of(event_id).await?;
    let row = rows.iter().find(|row| row.number == form.number);
    let row = row.ok_or_else(|| Problem::unknown("action"))?;
    let report = FollowUpReport {
        schema: FOLLOW_UP_SCHEMA.to_owned(),
        report_id: reports::identity(&form.report_id)?,
        event_id: Some(event_id),
        number: Some(form.number),
        state,
        by: form.by,
        at,
        note: Some(form.note).filter(|note| !note.trim().is_empty()),
        repaired: form.repaired.is_some(),
        found: reports::verdict(&form.verdict)?.map(|verdict| WorkFound {
            verdict,
            element: None,
            cause: None,
        }),
    };
    acts::report(shared, viewer, "page", &row.key, report).await
}

#[cfg(test)]
mod tests;
