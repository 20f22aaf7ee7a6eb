//! The fleet: every bearing, the urgent first, a page at a time: with a thousand rows a browser on
//! a weak machine would be busy for seconds at every live update.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::{Extension, Query, State};
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use minijinja::context;
use minijinja::value::Value;
use pdm_shared::episode::Suppression;
use pdm_shared::fault::Fault;
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use serde::Deserialize;

use super::places::{Places, element_of};
use super::table_file::{FileKind, ListFile, or_empty, workbook_address};
use super::{Reader, matching, refusal, show, suppressed};
use crate::Shared;
use crate::access::{Viewer, encoded};
use crate::plant::{BearingRow, Blind};
use crate::problem::Problem;

/// Bearings of a page.
const ROWS: usize = 100;

/// Which bearings are asked for.
#[derive(Debug, Default, Deserialize)]
pub(super) struct FleetAsked {
    /// Words that the row holds.
    #[serde(default)]
    q: String,
    /// The page, from 1.
    #[serde(default)]
    page: Option<usize>,
    /// A risk.
    #[serde(default)]
    risk: String,
    /// `waits`: an alarm that nobody has acknowledged; `suppressed`: staff is not told; `blind`:
    /// its last window says nothing of it; `mine`: the reader has acknowledged its alarm.
    #[serde(default)]
    state: String,
    /// A site.
    #[serde(default)]
    site: String,
    /// A line of the asset graph.
    #[serde(default)]
    line: String,
    /// A faulty element.
    #[serde(default)]
    element: String,
}

impl FleetAsked {
    fn address(&self, risk: &str, state: &str) -> String {
        self.address_of("/", risk, state)
    }

    /// The address of a list with these filters.
    fn address_of(&self, path: &str, risk: &str, state: &str) -> String {
        let fields = [
            ("q", self.q.as_str()),
            ("risk", risk),
            ("state", state),
            ("site", &self.site),
            ("line", &self.line),
            ("element", &self.element),
        ];
        address(path, &fields)
    }

    /// The address of a page of the list, with the search in front as it always was.
    fn page(&self, number: usize) -> String {
        let more = [
            ("risk", self.risk.as_str()),
            ("state", &self.state),
            ("site", &self.site),
            ("line", &self.line),
            ("element", &self.element),
        ];
        let start = format!("/?q={}&page={number}", encoded(&self.q));
        more.iter()
            .filter(|(_, value)| !value.is_empty())
            .fold(start, |at, (name, value)| with(&at, &format!("{name}={}", encoded(value))))
    }

    /// Whether a row is one of the filters' own.
    fn takes(&self, row: &BearingRow, places: &Places<'_>, user: Option<&str>) -> bool {
        let is_state = match self.state.as_str() {
            "waits" => waits(row),
            "suppressed" => is_suppressed(row),
            "blind" => row.blind.is_some(),
            "mine" => is_of(row, user),
            _ => true,
        };
        let is_element =
            self.element.is_empty() || row.fault_type.map(Fault::as_str) == Some(&self.element);
        if !is_element || !places.is_on(&row.key, &self.line) {
            return false;
        }
        let is_risk = self.risk.is_empty() || (self.risk == row.risk_level.as_str() && tells(row));
        is_state && is_risk && (self.site.is_empty() || row.key.site.as_str() == self.site)
    }
}

/// An alarm that nobody has acknowledged and that staff is told of.
fn waits(row: &BearingRow) -> bool {
    row.alarm.as_ref().is_some_and(|alarm| alarm.acknowledged_at.is_none()) && !is_suppressed(row)
}

/// Whether the last judgement tells of the bearing as it is now: one of which nothing is known is
/// not Normal, whatever it was.
fn tells(row: &BearingRow) -> bool {
    row.risk_level > RiskLevel::Normal || row.blind.is_none()
}

fn is_suppressed(row: &BearingRow) -> bool {
    row.episode.as_ref().is_some_and(|episode| episode.suppression != Suppression::None)
}

/// Whether the reader has taken the alarm over by acknowledging it.
pub(super) fn is_of(row: &BearingRow, user: Option<&str>) -> bool {
    let by = row.alarm.as_ref().and_then(|alarm| alarm.acknowledged_by.as_deref());
    user.is_some() && by == user
}

/// Returns the risk of a filter; `None` where it is empty.
pub(super) fn risk_of(word: &str) -> Result<Option<RiskLevel>, Problem> {
    if word.is_empty() {
        return Ok(None);
    }
    let allowed = "Critical, Warning, Watch, Normal";
    word.parse().map(Some).map_err(|_other| Problem::parameter("risk", word, allowed))
}

/// An address with the fields that have a value.
pub(super) fn address(path: &str, fields: &[(&str, &str)]) -> String {
    let fields = fields.iter().filter(|(_, value)| !value.is_empty());
    fields
        .fold(path.to_owned(), |at, (name, value)| with(&at, &format!("{name}={}", encoded(value))))
}

/// An address with one more field.
pub(super) fn with(address: &str, field: &str) -> String {
    let mark = if address.contains('?') { '&' } else { '?' };
    format!("{address}{mark}{field}")
}

/// Returns the sites of bearings, each once; empty where there is nothing to choose.
pub(super) fn sites<'a>(keys: impl Iterator<Item = &'a BearingKey>) -> Vec<String> {
    let sites: BTreeSet<&str> = keys.map(|key| key.site.as_str()).collect();
    if sites.len() < 2 { Vec::new() } else { sites.into_iter().map(str::to_owned).collect() }
}

/// Everything by which a person may search for a bearing: tag, site, the machine's name and line,
/// the bearing's designation, risk, element and suppression, in both languages.
pub(super) fn words(row: &BearingRow, places: &Places<'_>) -> String {
    let key = &row.key;
    let both = |text: Text| format!("{} {}", text.ko, text.en);
    let name = places.words(key);
    let fault = row.fault_type.map(|fault| format!("{} {}", both(fault.name()), also(fault)));
    let fault = fault.unwrap_or_default();
    let risk = both(row.risk_level.label());
    let state = match row.episode.as_ref().map(|episode| &episode.suppression) {
        None | Some(Suppression::None) => "",
        Some(Suppression::Shelved { .. }) => "보류 shelved",
        Some(Suppression::ByDesign { .. }) => "함께 알림 suppressed",
        Some(Suppression::OutOfService { .. }) => "정비 중 out of service",
    };
    let blind = match row.blind {
        None => "",
        Some(Blind::Sensor) => "센서 이상 sensor fault",
        Some(Blind::Standing) => "정지 중 standing",
        Some(Blind::Silent) => "측정 없음 silent",
    };
    format!(
        "{} · {} {} {name} {risk} {fault} {state} {blind}",
        key.equipment, key.bearing, key.site
    )
}

/// Other words that people use for an element.
const fn also(fault: Fault) -> &'static str {
    match fault {
        Fault::OuterRace => "BPFO outer ring",
        Fault::InnerRace => "BPFI inner ring",
        Fault::Ball => "볼 롤러 BSF ball roller",
        Fault::Cage => "케이지 리테이너 FTF retainer",
    }
}

/// Worst first; of one risk the alarms that wait for a person, then the later stage, then those of
/// which a faulty sensor says nothing, the shorter life.
fn by_urgency(fleet: &mut [BearingRow]) {
    let life = |row: &BearingRow| row.rul_hours.unwrap_or(f64::INFINITY);
    fleet.sort_by(|a, b| {
        let key = |row: &BearingRow| {
            let is_blind = matches!(row.blind, Some(Blind::Sensor | Blind::Silent));
            let stage = Reverse(row.fault_stage);
            (Reverse(row.risk_level), Reverse(waits(row)), stage, Reverse(is_blind))
        };
        let order = key(a).cmp(&key(b)).then_with(|| life(a).total_cmp(&life(b)));
        order.then_with(|| a.key.cmp(&b.key))
    });
}

pub(super) async fn page(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    Query(asked): Query<FleetAsked>,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    super::answer("fleet.html", &reader, gather(&shared, &asked, &reader).await)
}

async fn gather(shared: &Shared, asked: &FleetAsked, reader: &Reader) -> Result<Value, Problem> {
    let plant = &shared.site.plant;
    let (mut fleet, places) =
        (plant.fleet().await?, Places::of_plant(shared, reader.language).await?);
    by_urgency(&mut fleet);
    let now = shared.site.clock.now();
    let found = filtered(&fleet, asked, &places, reader)?;
    let pages = found.len().div_ceil(ROWS).max(1);
    let number = asked.page.unwrap_or(1).clamp(1, pages);
    let of_page = found.iter().skip((number - 1) * ROWS).take(ROWS);
    let rows: Vec<Value> = of_page
        .map(|row| {
            let machine_name = places.name(&row.key);
            context! { machine_name, ..bearing_shown(row, now, reader) }
        })
        .collect();
    let talk = shared.site.talk.as_ref().filter(|talk| talk.judges());
    let trouble = talk.and_then(|talk| talk.trouble());
    Ok(context! {
        trouble => trouble.map(|word| format!("chat_trouble_{word}")),
        counts => counts(&fleet, asked, reader),
        states => states(&fleet, asked, reader),
        to_learn => shared.site.plant.repairs_to_learn().await?.len(),
        lines => places.lines(fleet.iter().map(|row| &row.key)),
        line => &asked.line, element => &asked.element,
        workbook => workbook_address(&asked.address_of("/bearings.csv", &asked.risk, &asked.state)),
        file => asked.address_of("/bearings.csv", &asked.risk, &asked.state),
        sites => sites(fleet.iter().map(|row| &row.key)),
        rows, number, pages,
        is_empty => fleet.is_empty(),
        found => found.len(),
        q => &asked.q, risk => &asked.risk, state => &asked.state, site => &asked.site,
        before => (number > 1).then(|| asked.page(number - 1)),
        after => (number < pages).then(|| asked.page(number + 1)),
    })
}

/// The bearings that filters and search leave.
fn filtered<'a>(
    fleet: &'a [BearingRow],
    asked: &FleetAsked,
    places: &Places<'_>,
    reader: &Reader,
) -> Result<Vec<&'a BearingRow>, Problem> {
    element_of(&asked.element)?;
    let user = reader.user.as_deref();
    let found = fleet.iter().filter(|row| {
        asked.takes(row, places, user) && matching::fits(&words(row, places), &asked.q)
    });
    Ok(found.collect())
}

/// Answers with the same list as a file.
pub(super) async fn listed(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    Query(asked): Query<FleetAsked>,
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
const HEAD: [&str; 21] = [
    "site",
    "equipment",
    "bearing",
    "machine_name",
    "line",
    "risk",
    "stage",
    "element",
    "rul_hours",
    "measured_at",
    "judged_at",
    "alarm_since",
    "acknowledged_at",
    "acknowledged_by",
    "suppression",
    "blind",
    "page",
    // `rul_hours` is the figure to plan with; it goes with the version after 0.1
    "rul_plan_h",
    "rul_low_h",
    "rul_median_h",
    "rul_high_h",
];

async fn file(
    shared: &Shared,
    asked: &FleetAsked,
    reader: &Reader,
    kind: FileKind,
) -> Result<Response, Problem> {
    let (mut fleet, places) =
        (shared.site.plant.fleet().await?, Places::of_plant(shared, reader.language).await?);
    by_urgency(&mut fleet);
    let found = filtered(&fleet, asked, &places, reader)?;
    let rows = found.into_iter().map(|row| {
        let (key, alarm) = (&row.key, row.alarm.as_ref());
        let suppression = row.episode.as_ref().map(|one| one.suppression.as_str());
        vec![
            key.site.to_string(),
            key.equipment.to_string(),
            key.bearing.to_string(),
            or_empty(places.name(key)),
            or_empty(places.line(key)),
            row.risk_level.as_str().to_owned(),
            row.fault_stage.to_string(),
            or_empty(row.fault_type.map(Fault::as_str)),
            or_empty(row.rul_hours),
            or_empty(row.measured_at),
            row.judged_at.to_string(),
            or_empty(alarm.map(|alarm| alarm.since)),
            or_empty(alarm.and_then(|alarm| alarm.acknowledged_at)),
            or_empty(alarm.and_then(|alarm| alarm.acknowledged_by.as_deref())),
            or_empty(suppression),
            or_empty(row.blind.map(Blind::as_str)),
            show::address(key),
            or_empty(row.rul_hours),
            or_empty(row.rul_low_hours),
            or_empty(row.rul_median_hours),
            or_empty(row.rul_high_hours),
        ]
    });
    ListFile { name: "bearings", file: None, head: &HEAD, rows }.answer(kind, reader)
}

/// Counts the bearings of each risk; a tile filters, and ends its filter.
fn counts(fleet: &[BearingRow], asked: &FleetAsked, reader: &Reader) -> Vec<Value> {
    let levels = [RiskLevel::Critical, RiskLevel::Warning, RiskLevel::Watch, RiskLevel::Normal];
    let counted = levels.into_iter().map(|level| {
        let is_on = asked.risk == level.as_str();
        context! {
            level => level.as_str(),
            label => level.label().in_language(reader.language),
            count => fleet.iter().filter(|row| row.risk_level == level && tells(row)).count(),
            address => asked.address(if is_on { "" } else { level.as_str() }, &asked.state),
            is_on,
        }
    });
    counted.collect()
}

/// Counts the alarms that wait for a person, and the bearings of which staff is not told.
fn states(fleet: &[BearingRow], asked: &FleetAsked, reader: &Reader) -> Vec<Value> {
    let of = |word: &str, count: usize| {
        let is_on = asked.state == word;
        let address = asked.address(&asked.risk, if is_on { "" } else { word });
        context! { word => format!("fleet_{word}"), count, address, is_on }
    };
    let count = |is: fn(&BearingRow) -> bool| fleet.iter().filter(|row| is(row)).count();
    let blind = count(|row| row.blind.is_some());
    let mut states = vec![of("waits", count(waits)), of("suppressed", count(is_suppressed))];
    if blind > 0 || asked.state == "blind" {
        states.push(of("blind", blind));
    }
    if let Some(user) = reader.user.as_deref() {
        let mine = fleet.iter().filter(|row| is_of(row, Some(user))).count();
        states.push(of("mine", mine));
    }
    states
}

/// A bearing as templates show it.
pub(super) fn bearing_shown(row: &BearingRow, now: Timestamp, reader: &Reader) -> Value {
    let (age, is_old) = show::age(row.measured_at, now, reader.language);
    let episode = row.episode.as_ref();
    let unknown = row.blind.filter(|_| !tells(row)).map(|blind| format!("is_{}", blind.as_str()));
    let words = crate::language::words(reader.language);
    let unknown = unknown.and_then(|word| words.get(word.as_str()).copied());
    context! {
        age, is_old,
        address => show::address(&row.key),
        // a level of which nothing is known is grey, and says so in the place of the level
        label => unknown.map_or_else(
            || row.risk_level.label().in_language(reader.language).to_owned(),
            str::to_owned,
        ),
        risk_level => unknown.map_or_else(|| row.risk_level.as_str(), |_| "Unknown"),
        is_unknown => unknown.is_some(),
        mark => episode.and_then(|one| suppressed::mark(&one.suppression, reader.language)),
        // what was told is told as it was: the judgement of now may be of another stage
        told_title => row.alarm.as_ref().filter(|alarm| alarm.title != row.standing_title()).map(
            |alarm| alarm.title.in_language(reader.language).to_owned(),
        ),
        alarm_title => row.alarm.is_some().then(|| {
            row.standing_title().in_language(reader.language).to_owned()
        }),
        ..show::value(row)
    }
}
