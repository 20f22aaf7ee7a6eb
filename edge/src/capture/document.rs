//! The document of a capture, from what was taken out of the ring and what the trigger's event
//! says.

use pdm_shared::capture::{
    CAPTURE_SCHEMA, CaptureBearing, CaptureDocument, CaptureFile, CaptureSensor, CaptureSpeed,
    CaptureSteps, CaptureStretch, CaptureTrigger,
};
use pdm_shared::event::SpeedSource;
use pdm_shared::id::{EventId, GatewayId, SiteId};
use pdm_shared::time::Timestamp;

use super::CapturePoint;
use super::recorder::Judged;
use super::ring::Waveform;

/// A captured waveform, and the reasons for it.
pub(super) struct Taken<'a> {
    pub(super) triggers: Vec<CaptureTrigger>,
    pub(super) is_in_alarm: bool,
    pub(super) judged: Option<&'a Judged>,
    pub(super) waveform: &'a Waveform,
}

/// The document, which lacks only its file.
pub(super) fn document_of(
    (gateway, site): &(GatewayId, SiteId),
    point: &CapturePoint,
    taken: Taken<'_>,
    now: Timestamp,
) -> CaptureDocument {
    let Taken { triggers, is_in_alarm, judged, waveform } = taken;
    let samples = waveform.accel_m_s2.len() as u64;
    // the rate with which the window was judged: the measured one moves from block to block
    let judged_rate = judged.map(|judged| {
        let window = &judged.event.window;
        window.measured_rate_hz.unwrap_or(window.sampling_rate_hz)
    });
    let orders = &point.orders;
    CaptureDocument {
        schema: CAPTURE_SCHEMA.to_owned(),
        capture_id: EventId::at(now.unix_ms()),
        gateway_id: gateway.clone(),
        site: site.clone(),
        equipment_id: point.equipment.clone(),
        bearing_id: point.bearing.clone(),
        measuring_point: point.measuring_point.clone(),
        started_at: waveform.started_at,
        triggers,
        window: window(judged, waveform),
        is_in_alarm,
        dominant_fault: judged.and_then(|judged| judged.event.frequency_domain.dominant_fault),
        samples,
        sampling_rate_hz: judged_rate.unwrap_or(waveform.rate_hz),
        unit: "m/s2".to_owned(),
        not_finite: waveform.not_finite,
        gaps: waveform.gaps.clone(),
        cut: waveform.cut,
        steps: CaptureSteps { step_m_s2: waveform.step_m_s2, is_exact: waveform.is_exact },
        sensor: CaptureSensor { sensitivity_mv_per_g: point.sensitivity_mv_per_g },
        speed: speed(point, judged),
        bearing: CaptureBearing {
            bpfo: orders.bpfo.get(),
            bpfi: orders.bpfi.get(),
            bsf: orders.bsf.get(),
            ftf: orders.ftf.get(),
            order_tolerance: point.order_tolerance,
            estimated_for: point.estimated_for.clone(),
        },
        file: CaptureFile { name: String::new(), bytes: 0, sha256: String::new() },
    }
}

/// The trigger's window, as far as it is in the capture; without one all of the capture.
fn window(judged: Option<&Judged>, waveform: &Waveform) -> CaptureStretch {
    let samples = waveform.accel_m_s2.len() as u64;
    let of_window = judged.and_then(|judged| {
        let first_sample = waveform.anchor as u64;
        let is_whole = first_sample + judged.samples <= samples;
        // a demand's anchor may be another sample than its window's first
        let is_its = waveform.first + first_sample == judged.first || !waveform.gaps.is_empty();
        (is_whole && is_its).then_some(CaptureStretch { first_sample, samples: judged.samples })
    });
    of_window.unwrap_or(CaptureStretch { first_sample: 0, samples })
}

/// The speed around which the live judgement searched.
fn speed(point: &CapturePoint, judged: Option<&Judged>) -> CaptureSpeed {
    let measured = judged.and_then(|judged| {
        let operating = &judged.event.operating;
        let is_measured =
            matches!(operating.speed_source, SpeedSource::Tachometer | SpeedSource::Tag);
        Some((operating.shaft_speed_rpm.filter(|_| is_measured)?, operating.speed_source))
    });
    let (shaft_speed_rpm, speed_source) =
        measured.unwrap_or((point.speed_rpm, SpeedSource::Configured));
    CaptureSpeed { shaft_speed_rpm, speed_source, tolerance: point.speed_tolerance }
}
