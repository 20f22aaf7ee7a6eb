//! Pictures and sound of a capture for its page. What is computed here is looked at: nothing of it
//! goes into a judgement, a memory or a message (R-AGENT-2).

use pdm_shared::capture::CaptureDocument;
use pdm_shared::units::Band;
use pdm_waveform::{Curve, DrawingOptions, Pictures, Ranges, draw_pictures, pcm_sound, samples_of};
use pdm_web::plant::{
    CaptureAsked, CaptureCurve, CaptureCurveKind, CaptureDrawn, CaptureMark, PlantError,
};
use uuid::Uuid;

use super::Captures;

impl Captures {
    /// Returns the pictures of a capture, drawn over by another one where that is asked for; `None`
    /// if it is gone.
    pub(crate) async fn drawn(
        &self,
        id: Uuid,
        asked: CaptureAsked,
    ) -> Result<Option<CaptureDrawn>, PlantError> {
        let Some((document, samples, band)) = self.opened(id).await? else { return Ok(None) };
        let over = match asked.over {
            Some(over) => self.opened(over).await?,
            None => None,
        };
        self.computed(move || {
            let ranges = asked.zoom.map(|zoom| zoomed(&document, zoom));
            let (columns, is_whole) = (asked.columns, asked.is_whole);
            let asked = DrawingOptions { columns, band, is_whole, ranges };
            let pictures = draw_pictures(&samples, &document, &asked);
            drop(samples);
            let over = over.map(|(document, samples, _)| {
                let asked =
                    DrawingOptions { band: pictures.band, ranges: Some(pictures.ranges), ..asked };
                draw_pictures(&samples, &document, &asked)
            });
            drawn_of(&pictures, over.as_ref(), &document)
        })
        .await
        .map(Some)
    }

    /// Returns the capture as 16-bit WAV, all of it or the band in which it is demodulated; `None`
    /// if it is gone.
    pub(crate) async fn sound(
        &self,
        id: Uuid,
        is_filtered: bool,
    ) -> Result<Option<Vec<u8>>, PlantError> {
        let Some((document, samples, band)) = self.opened(id).await? else { return Ok(None) };
        self.computed(move || {
            let asked = DrawingOptions { columns: 1, band, is_whole: false, ranges: None };
            let ringing = || band.or_else(|| draw_pictures(&samples, &document, &asked).band);
            let band = is_filtered.then(ringing).flatten();
            pcm_sound(&samples, document.sampling_rate_hz, band)
        })
        .await
        .map(Some)
    }

    /// Document, samples, and the band in which the gateway demodulated the trigger's window.
    async fn opened(
        &self,
        id: Uuid,
    ) -> Result<Option<(CaptureDocument, Vec<f32>, Option<Band>)>, PlantError> {
        let Some(found) = self.store.captures().capture_by_id(id).await? else { return Ok(None) };
        let Some(content) = self.wav(id).await? else { return Ok(None) };
        let document = found.document;
        let event_id = document.triggers.iter().find_map(|trigger| trigger.event_id);
        let event = match event_id {
            Some(event_id) => self.store.history().event(event_id).await?,
            None => None,
        };
        let band = event.and_then(|event| event.frequency_domain.envelope_band_hz);
        let band = band.and_then(|[low, high]| Band::new(low, high).ok());
        let samples = samples_of(&content, &document);
        let samples = samples.map_err(|error| PlantError::Unreadable(error.to_string()))?;
        Ok(Some((document, samples, band)))
    }

    /// Computes off the async threads, one after the other.
    async fn computed<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, PlantError> {
        let turn = self.drawing.clone().acquire_owned().await;
        let done = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            work()
        });
        done.await.map_err(|error| PlantError::Unreadable(error.to_string()))
    }
}

/// The axes of a capture, one of them in part: what lies outside of the whole is left out.
fn zoomed(document: &CaptureDocument, (kind, [from, to]): (CaptureCurveKind, [f64; 2])) -> Ranges {
    let mut ranges = Ranges::of_document(document);
    let range = match kind {
        CaptureCurveKind::Waveform => &mut ranges.waveform_s,
        CaptureCurveKind::Spectrum => &mut ranges.spectrum_hz,
        CaptureCurveKind::Envelope => &mut ranges.envelope_hz,
        CaptureCurveKind::Cepstrum => &mut ranges.cepstrum_s,
        CaptureCurveKind::Orders => &mut ranges.orders,
    };
    *range = (from.max(range.0), to.min(range.1));
    ranges
}

fn drawn_of(
    pictures: &Pictures,
    over: Option<&Pictures>,
    document: &CaptureDocument,
) -> CaptureDrawn {
    let points = |curve: &Curve| {
        curve.points.iter().map(|point| [point.x, point.low, point.high]).collect::<Vec<_>>()
    };
    let ranges = &pictures.ranges;
    let curve = |kind, range, of: fn(&Pictures) -> &Curve| CaptureCurve {
        kind,
        range,
        points: points(of(pictures)),
        over: over.map(|over| points(of(over))),
    };
    let rate_hz = document.sampling_rate_hz;
    let from = pictures.stretch.first_sample as f64 - document.window.first_sample as f64;
    CaptureDrawn {
        curves: vec![
            curve(CaptureCurveKind::Waveform, ranges.waveform_s, |of| &of.waveform),
            curve(CaptureCurveKind::Spectrum, ranges.spectrum_hz, |of| &of.spectrum),
            curve(CaptureCurveKind::Envelope, ranges.envelope_hz, |of| &of.envelope),
            curve(CaptureCurveKind::Cepstrum, ranges.cepstrum_s, |of| &of.cepstrum),
            curve(CaptureCurveKind::Orders, ranges.orders, |of| &of.orders),
        ],
        band_hz: pictures.band.map(|band| [band.low_hz(), band.high_hz()]),
        stretch_s: [from / rate_hz, pictures.stretch.samples as f64 / rate_hz],
        window_s: document.window.samples as f64 / rate_hz,
        shaft_hz: pictures.shaft_hz,
        is_tracked: pictures.is_tracked,
        not_finite: pictures.not_finite as u64,
        marks: pictures
            .marks
            .iter()
            .map(|mark| CaptureMark {
                name: mark.name.to_owned(),
                order: mark.order,
                harmonics: mark.harmonics,
            })
            .collect(),
    }
}
