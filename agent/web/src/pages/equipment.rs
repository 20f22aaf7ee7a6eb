//! A machine with its graph: a plain picture of its neighbours, the same as a table, spare parts
//! and documents.

use std::sync::Arc;

use axum::extract::{Extension, Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use minijinja::context;
use minijinja::value::Value;
use pdm_shared::id::BearingKey;
use pdm_shared::text::{Language, Text};

use super::{Reader, show};
use crate::Shared;
use crate::access::{Viewer, encoded};
use crate::plant::{MachineAround, Neighbour, Surroundings};
use crate::problem::Problem;

/// Neighbours in the picture: as many as stay readable on a page. The table holds all that were
/// read.
const DRAWN: usize = 24;
/// Height of a line of the picture, and the longest label, characters.
const LINE: usize = 26;
const LABEL: usize = 40;

pub(super) async fn page(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    Path(equipment): Path<String>,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    super::answer(
        "equipment.html",
        &reader,
        of_any_site(&shared, &equipment, reader.language).await,
    )
}

/// The page of a machine of a site.
pub(super) async fn page_of_site(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    Path((site, equipment)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    super::answer(
        "equipment.html",
        &reader,
        gather(&shared, (&site, &equipment), reader.language).await,
    )
}

/// The machine of an id alone: that of the one site that has it, or the choice between several.
async fn of_any_site(
    shared: &Shared,
    equipment: &str,
    language: Language,
) -> Result<Value, Problem> {
    let sites = shared.site.plant.machine_sites(equipment).await?;
    match sites.as_slice() {
        [] => gather(shared, ("", equipment), language).await,
        [site] => gather(shared, (site, equipment), language).await,
        several => Ok(without_machine(equipment, several, &[])),
    }
}

/// The page without a machine: the sites of which one may be chosen, or the sites of which it may
/// be.
fn without_machine(equipment: &str, choice: &[String], unclear: &[String]) -> Value {
    let nothing = Vec::<Value>::new();
    let choice = choice.iter().map(|site| {
        context! { site, address => address(site, equipment) }
    });
    context! {
        machine => context! { id => equipment, name => "", site => "" },
        choice => choice.collect::<Vec<_>>(),
        unclear => unclear.join(", "),
        short => "", parts => &nothing, documents => &nothing, more => false, middle => 0,
        rows => &nothing, drawn => &nothing, height => 0,
    }
}

async fn gather(
    shared: &Shared,
    (site, equipment): (&str, &str),
    language: Language,
) -> Result<Value, Problem> {
    let around = match shared.site.plant.surroundings(site, equipment).await? {
        MachineAround::Known(around) => around,
        MachineAround::Unclear(sites) => return Ok(without_machine(equipment, &[], &sites)),
        MachineAround::Unknown => return Err(Problem::unknown("machine")),
    };
    let neighbours = around.neighbours.iter().enumerate();
    let shown = neighbours.map(|(index, one)| neighbour(index, one, language));
    let rows: Vec<Value> = shown.collect();
    let drawn: Vec<Value> = rows.iter().take(DRAWN).cloned().collect();
    let height = (drawn.len() * LINE + 20).max(80);
    Ok(context! {
        machine => show::value(&around),
        short => short(&around.id, 16),
        parts => of_kind(Some(&around), "Part"),
        documents => of_kind(Some(&around), "Document"),
        more => around.has_more || rows.len() > drawn.len(),
        middle => height / 2,
        choice => Vec::<Value>::new(),
        unclear => "",
        rows, drawn, height,
    })
}

fn neighbour(index: usize, one: &Neighbour, language: Language) -> Value {
    let label =
        if one.name == one.id { one.id.clone() } else { format!("{} · {}", one.id, one.name) };
    let relation = word_of(&one.relation, language);
    let arrow = if one.outgoing { format!("→ {relation}") } else { format!("← {relation}") };
    let to = match one.kind.as_str() {
        "Equipment" => Some(match one.id.split_once('/') {
            Some((site, equipment)) => address(site, equipment),
            None => format!("/equipment/{}", encoded(&one.id)),
        }),
        "Bearing" => bearing(&one.id),
        _ => None,
    };
    context! {
        y => index * LINE + 24,
        label => short(&label, LABEL),
        kind => word_of(&one.kind, language),
        address => to,
        arrow,
    }
}

/// A type of the graph in the reader's words; a type that is not known stands as it is.
fn word_of(kind: &str, language: Language) -> String {
    let words = match kind {
        "HAS_PART" => Text::new("구성품", "has part"),
        "INSTALLED_IN" => Text::new("설치됨", "installed in"),
        "FED_BY" => Text::new("공급받음", "fed by"),
        "SAME_MODEL" => Text::new("같은 모델", "same model"),
        "MAINTAINED_BY" => Text::new("정비 담당", "maintained by"),
        "DOCUMENTED_IN" => Text::new("문서", "documented in"),
        "TAGGED" => Text::new("태그", "tagged"),
        "Site" => Text::new("사업장", "site"),
        "Line" => Text::new("라인", "line"),
        "Equipment" => Text::new("설비", "machine"),
        "Bearing" => Text::new("베어링", "bearing"),
        "Part" => Text::new("부품", "part"),
        "Document" => Text::new("문서", "document"),
        "Technician" => Text::new("담당자", "technician"),
        "Tag" => Text::new("태그", "tag"),
        other => return other.to_owned(),
    };
    words.in_language(language).to_owned()
}

fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

fn bearing(id: &str) -> Option<String> {
    let parts: Vec<&str> = id.split('/').collect();
    let [site, equipment, bearing] = parts.as_slice() else { return None };
    BearingKey::parse(site, equipment, bearing).ok().map(|key| show::address(&key))
}

/// The address of a machine's page.
pub(super) fn address(site: &str, equipment: &str) -> String {
    let part = |text: &str| encoded(text).replace('/', "%2F");
    format!("/equipment/{}/{}", part(site), part(equipment))
}

/// The neighbours of one type that are there now.
pub(super) fn of_kind(around: Option<&Surroundings>, kind: &str) -> Vec<Value> {
    let neighbours = around.map_or(&[][..], |around| around.neighbours.as_slice());
    let wanted = neighbours.iter().filter(|one| one.kind == kind && !one.ended);
    wanted.map(show::value).collect()
}
