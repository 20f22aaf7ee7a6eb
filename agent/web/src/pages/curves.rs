//! The curves of a capture as JSON, for the script that draws them with cursors: all five, or one
//! in a part of its axis, in more columns than the drawing of the page has.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::captures::{CaptureNames, capture_found, is_part};
use crate::Shared;
use crate::asking::{Path, Query};
use crate::plant::{CaptureAsked, CaptureCurve, CaptureCurveKind};
use crate::problem::Problem;

/// Columns of a curve: two for each pixel of a plot over the whole page, so that a first zoom is
/// drawn at once.
const COLUMNS: usize = 2000;

/// The query of the curves.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CurvesAsked {
    #[serde(default)]
    over: String,
    #[serde(default)]
    part: String,
    plot: Option<String>,
    from: Option<String>,
    to: Option<String>,
}

#[derive(Debug, Serialize)]
struct CurvesBody {
    shaft_hz: f64,
    window_s: f64,
    curves: Vec<Shown>,
}

#[derive(Debug, Serialize)]
struct Shown {
    plot: &'static str,
    range: (f64, f64),
    points: Vec<[f64; 3]>,
    over: Option<Vec<[f64; 3]>>,
}

pub(super) async fn json(
    State(shared): State<Arc<Shared>>,
    Path(names): Path<CaptureNames>,
    Query(asked): Query<CurvesAsked>,
) -> Result<Response, Problem> {
    let row = capture_found(&shared, &names).await?.row;
    let zoom = zoom_of(&asked)?;
    let over = match asked.over.as_str() {
        "" => None,
        id => Some(other_of(&shared, &names, id).await?),
    };
    let is_whole = is_part(&asked.part, "window", "all")?;
    let wanted = CaptureAsked { columns: COLUMNS, is_whole, over, zoom };
    let drawn = shared.site.plant.capture_drawn(row.capture_id, wanted).await?;
    let drawn = drawn.ok_or_else(|| Problem::unknown("capture"))?;
    let is_asked = |curve: &CaptureCurve| zoom.is_none_or(|(kind, _)| kind == curve.kind);
    let shown = |curve: CaptureCurve| {
        let CaptureCurve { kind, range, points, over } = curve;
        Shown { plot: kind.as_str(), range, points, over }
    };
    let (shaft_hz, window_s) = (drawn.shaft_hz, drawn.window_s);
    let curves = drawn.curves.into_iter().filter(is_asked).map(shown).collect();
    Ok(axum::Json(CurvesBody { shaft_hz, window_s, curves }).into_response())
}

/// Returns the identity of another capture of the same bearing.
async fn other_of(shared: &Shared, names: &CaptureNames, id: &str) -> Result<Uuid, Problem> {
    let (site, equipment, bearing, _) = names.clone();
    Ok(capture_found(shared, &(site, equipment, bearing, id.to_owned())).await?.row.capture_id)
}

/// The part of one curve.
fn zoom_of(asked: &CurvesAsked) -> Result<Option<(CaptureCurveKind, [f64; 2])>, Problem> {
    let CurvesAsked { plot, from, to, .. } = asked;
    let (plot, from, to) = match (plot, from, to) {
        (None, None, None) => return Ok(None),
        (Some(plot), Some(from), Some(to)) => (plot, from, to),
        _ => return Err(Problem::unfit("plot, from and to are wanted together, or none of them")),
    };
    let kind = CaptureCurveKind::ALL.into_iter().find(|kind| kind.as_str() == plot);
    let kind = kind.ok_or_else(|| {
        Problem::parameter("plot", plot, "waveform, spectrum, envelope, cepstrum, orders")
    })?;
    let number = |name, text: &str| {
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| Problem::parameter(name, text, "a number"))
    };
    let (low, high) = (number("from", from)?, number("to", to)?);
    if low >= high {
        return Err(Problem::parameter("to", to, "a number above from"));
    }
    Ok(Some((kind, [low, high])))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-UI-1: a part of a curve is named whole, or refused by name.
    #[test]
    fn a_part_of_a_curve_is_asked_for_whole() {
        let asked = |plot: &str, from: &str, to: &str| {
            let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
            zoom_of(&CurvesAsked {
                plot: text(plot),
                from: text(from),
                to: text(to),
                ..Default::default()
            })
        };
        let part = asked("envelope", "10", "20.5").expect("fits");
        assert_eq!(part, Some((CaptureCurveKind::Envelope, [10.0, 20.5])));
        assert_eq!(asked("", "", "").expect("fits"), None);
        for (plot, from, to) in [
            ("envelope", "", ""),
            ("", "1", "2"),
            ("kurtogram", "1", "2"),
            ("orders", "NaN", "2"),
            ("orders", "2", "1e999"),
            ("orders", "2", "2"),
        ] {
            assert!(asked(plot, from, to).is_err(), "{plot} {from} {to}");
        }
    }
}
