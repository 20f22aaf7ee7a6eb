//! A machine with its graph: a plain picture of what stands beside it, the same as a table, spare parts
//! and documents.

use std::sync::Arc;

use axum::extract::{Extension, Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use minijinja::context;
use minijinja::value::Value;
use pdm_shared::id::BearingKey;

use super::{Reader, show};
use crate::Shared;
use crate::access::{Viewer, encoded};
use crate::plant::{Neighbour, Surroundings};
use crate::problem::Problem;

/// Neighbours in the picture: as many as stay readable on a page. The table holds all that were read.
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
    super::answer("equipment.html", &reader, gather(&shared, &equipment).await)
}

async fn gather(shared: &Shared, equipment: &str) -> Result<Value, Problem> {
    let around = shared.site.plant.surroundings(equipment).await?;
    let around = around.ok_or_else(|| Problem::unknown("machine"))?;
    let shown = around.neighbours.iter().enumerate().map(|(index, one)| neighbour(index, one));
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
        rows, drawn, height,
    })
}

fn neighbour(index: usize, one: &Neighbour) -> Value {
    let label =
        if one.name == one.id { one.id.clone() } else { format!("{} · {}", one.id, one.name) };
    let arrow = if one.outgoing {
        format!("→ {}", one.relation)
    } else {
        format!("← {}", one.relation)
    };
    let to = match one.kind.as_str() {
        "Equipment" => Some(address(&one.id)),
        "Bearing" => bearing(&one.id),
        _ => None,
    };
    context! {
        y => index * LINE + 24,
        label => short(&label, LABEL),
        kind => one.kind.clone(),
        address => to,
        arrow,
    }
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
pub(super) fn address(equipment: &str) -> String {
    format!("/equipment/{}", encoded(equipment).replace('/', "%2F"))
}

/// The neighbours of one type that are there now.
pub(super) fn of_kind(around: Option<&Surroundings>, kind: &str) -> Vec<Value> {
    let neighbours = around.map_or(&[][..], |around| around.neighbours.as_slice());
    let wanted = neighbours.iter().filter(|one| one.kind == kind && !one.ended);
    wanted.map(show::value).collect()
}
