//! The capture of a judgement as its documents show it.

use pdm_expert::wording::frequency;
use pdm_report::waveform::{Waveform, WaveformCurve, WaveformMark, WaveformPlot};
use pdm_shared::capture::CaptureReason;
use pdm_shared::event::Event;
use pdm_shared::fault::Fault;
use pdm_shared::id::EventId;
use pdm_web::plant::{
    CaptureAsked, CaptureCurve, CaptureCurveKind, CaptureDrawn, CaptureMark, CaptureRow, PlantError,
};

use super::Captures;

/// Columns of a curve on paper: one for each 2 pt of a page.
const COLUMNS: usize = 240;
/// Captures among which that of a judgement is looked for.
const LOOKED_AT: u32 = 100;
/// How far after a judgement's window a capture may begin that shows it, s: the longest time before
/// a window that a gateway captures.
const AFTER_S: f64 = 60.0;

impl Captures {
    /// Returns the entry on the waveform in the documents of a judgement: its picture, or that it
    /// follows.
    pub(crate) async fn waveform(
        &self,
        event: &Event,
        named: Option<Fault>,
        address: Option<&str>,
    ) -> Result<Waveform, PlantError> {
        let base = address.unwrap_or_default().trim_end_matches('/');
        let key = event.key();
        let before = event.measured_at.plus_seconds(AFTER_S);
        let rows = self.store.captures().captures_of(&key, before, LOOKED_AT).await?;
        let rows: Vec<CaptureRow> =
            rows.into_iter().filter(|row| row.measuring_point == event.measuring_point).collect();
        let Some(own) = of_event(&rows, event) else {
            let page = format!("{base}/analyses/{}", event.event_id);
            return Ok(Waveform { page, capture: None });
        };
        let is_reference = |row: &&CaptureRow| {
            row.capture_id != own.capture_id && row.reasons.contains(&CaptureReason::Reference)
        };
        let reference = rows.iter().find(is_reference);
        let asked = CaptureAsked {
            columns: COLUMNS,
            is_whole: false,
            over: reference.map(|row| row.capture_id),
            zoom: None,
        };
        let drawn = self.drawn(own.capture_id, asked).await?;
        let page = format!("{base}{}/captures/{}", pdm_web::bearing_path(&key), own.capture_id);
        Ok(Waveform { page, capture: drawn.map(|drawn| plot(own, reference, &drawn, named)) })
    }
}

/// The capture that names an event, else one that holds its window; the captures are the newest
/// first.
fn of_event<'r>(rows: &'r [CaptureRow], event: &Event) -> Option<&'r CaptureRow> {
    let holds = |row: &&CaptureRow| {
        (0.0..row.duration_s).contains(&event.measured_at.seconds_since(row.started_at))
    };
    rows.iter()
        .find(|row| row.event_ids.contains(&event.event_id))
        .or_else(|| rows.iter().find(holds))
}

fn plot(
    own: &CaptureRow,
    reference: Option<&CaptureRow>,
    drawn: &CaptureDrawn,
    named: Option<Fault>,
) -> WaveformPlot {
    let curve = |kind| curve(drawn.curves.iter().find(|curve| curve.kind == kind));
    WaveformPlot {
        capture_id: EventId(own.capture_id),
        started_at: own.started_at,
        duration_s: rounded(own.duration_s),
        acceleration_m_s2: curve(CaptureCurveKind::Waveform),
        envelope: curve(CaptureCurveKind::Envelope),
        band_hz: drawn.band_hz.map(|band| band.map(rounded)),
        reference_at: reference.map(|row| row.started_at),
        marks: drawn.marks.iter().flat_map(|mark| marks(mark, drawn.shaft_hz, named)).collect(),
    }
}

fn curve(drawn: Option<&CaptureCurve>) -> WaveformCurve {
    let points = |points: &[[f64; 3]]| points.iter().map(|point| point.map(rounded)).collect();
    WaveformCurve {
        range: drawn.map_or([0.0, 1.0], |curve| [rounded(curve.range.0), rounded(curve.range.1)]),
        points: drawn.map(|curve| points(&curve.points)).unwrap_or_default(),
        reference: drawn.and_then(|curve| curve.over.as_deref()).map(points).unwrap_or_default(),
    }
}

/// The harmonics of a line of the bearing.
fn marks(mark: &CaptureMark, shaft_hz: f64, named: Option<Fault>) -> Vec<WaveformMark> {
    let is_named = named.is_some_and(|fault| mark.name.ends_with(frequency(fault)));
    let of = |harmonic: u32| WaveformMark {
        label: if harmonic == 1 { mark.name.clone() } else { format!("{harmonic}×{}", mark.name) },
        frequency_hz: rounded(mark.order * shaft_hz * f64::from(harmonic)),
        named: is_named,
    };
    // beside the named fault, where others would show
    let harmonics = if is_named { mark.harmonics } else { 1 };
    (1..=harmonics).map(of).collect()
}

/// Five significant digits: a picture shows no more, and the document stays small.
fn rounded(number: f64) -> f64 {
    if number == 0.0 || !number.is_finite() {
        return 0.0;
    }
    let scale = 10_f64.powf(4.0 - number.abs().log10().floor());
    (number * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_five_digits() {
        for (number, expected) in
            [(123.456_78, 123.46), (-0.001_234_567, -0.001_234_6), (0.0, 0.0), (f64::NAN, 0.0)]
        {
            assert!((rounded(number) - expected).abs() <= 1e-12, "{number}");
        }
    }
}
