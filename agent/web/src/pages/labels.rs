//! Labels for machines: sheets of 24 with a QR code each, which leads to the page of a bearing.
//!
//! A code holds the public address of the pages, without which a phone in the plant could not
//! follow it.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::extract::{Extension, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use minijinja::context;
use minijinja::value::Value;
use qrcode::{Color, EcLevel, QrCode};
use serde::Deserialize;

use super::places::Places;
use super::{Reader, fleet, matching, show};
use crate::Shared;
use crate::access::Viewer;
use crate::plant::BearingRow;
use crate::problem::Problem;

/// Labels of a sheet of A4: three columns of eight.
const OF_SHEET: usize = 24;
/// Sheets of a page of the browser.
const SHEETS: usize = 10;
/// Empty modules around a code, which scanners need (ISO/IEC 18004, 4).
const QUIET: usize = 4;

/// Which bearings get labels.
#[derive(Debug, Default, Deserialize)]
pub(super) struct LabelsAsked {
    #[serde(default)]
    q: String,
    #[serde(default)]
    page: Option<usize>,
}

pub(super) async fn page(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    Query(asked): Query<LabelsAsked>,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    super::answer("labels.html", &reader, gather(&shared, &asked, &reader).await)
}

async fn gather(shared: &Shared, asked: &LabelsAsked, reader: &Reader) -> Result<Value, Problem> {
    let plant = &shared.site.plant;
    let (mut rows, places) =
        (plant.fleet().await?, Places::of_plant(shared, reader.language).await?);
    rows.sort_by(|a, b| a.key.cmp(&b.key));
    let found: Vec<&BearingRow> =
        rows.iter().filter(|row| matching::fits(&fleet::words(row, &places), &asked.q)).collect();
    let of_page = OF_SHEET * SHEETS;
    let pages = found.len().div_ceil(of_page).max(1);
    let number = asked.page.unwrap_or(1).clamp(1, pages);
    let base = shared.site.public_url.as_deref().map(|base| base.trim_end_matches('/'));
    let labels = found.iter().skip((number - 1) * of_page).take(of_page).map(|row| {
        let address = show::address(&row.key);
        let url = base.map(|base| format!("{base}{address}"));
        let code = url.as_deref().map(path_of).transpose()?;
        Ok(context! {
            machine_name => places.name(&row.key),
            address,
            width => code.as_ref().map(|code| code.0),
            path => code.map(|code| code.1),
            ..show::value(&row.key)
        })
    });
    let labels = labels.collect::<Result<Vec<Value>, Problem>>()?;
    let sheets: Vec<Vec<Value>> = labels.chunks(OF_SHEET).map(<[Value]>::to_vec).collect();
    let at =
        |page: usize| fleet::address("/labels", &[("q", &asked.q), ("page", &page.to_string())]);
    Ok(context! {
        sheets, number, pages,
        q => &asked.q,
        found => found.len(),
        has_address => base.is_some(),
        before => (number > 1).then(|| at(number - 1)),
        after => (number < pages).then(|| at(number + 1)),
    })
}

/// A code as the path of an SVG, and its width with the empty modules around it.
pub(super) fn path_of(url: &str) -> Result<(usize, String), Problem> {
    // a quarter of a label may be scratched or greasy
    let code = QrCode::with_error_correction_level(url, EcLevel::Q);
    let code = code.map_err(|error| {
        let told = format!("no label can hold an address of {} characters: {error}", url.len());
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, told)
    })?;
    let width = code.width();
    let mut path = String::new();
    for (index, colour) in code.to_colors().into_iter().enumerate() {
        if colour == Color::Dark {
            let (x, y) = (index % width + QUIET, index / width + QUIET);
            let _written = write!(path, "M{x} {y}h1v1h-1z");
        }
    }
    Ok((width + 2 * QUIET, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Version and finder patterns as ISO/IEC 18004 lays them out: three corners of 7 by 7.
    #[test]
    fn a_code_has_its_three_corners_and_room_around_it() {
        let (width, path) = path_of("https://pdm.example/bearings/ulsan-1/P-101/DE").expect("fits");
        assert_eq!((width - 2 * QUIET - 17) % 4, 0, "a version's width");
        let last = width - QUIET - 7;
        for (x, y) in [(QUIET, QUIET), (last, QUIET), (QUIET, last)] {
            assert!(path.contains(&format!("M{x} {y}h1v1h-1z")), "{x} {y}");
            assert!(!path.contains(&format!("M{} {}h1v1h-1z", x + 1, y + 1)), "the ring is open");
        }
        assert!(!path.contains(&format!("M{} ", QUIET - 1)) && !path.contains("M0 "));
        assert!(path_of(&"x".repeat(3000)).is_err());
    }
}
