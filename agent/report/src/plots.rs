//! The data of the plots, taken from the case file. Only times are computed: the window's time plus
//! hours of the remaining life.

use pdm_expert::wording::frequency;
use pdm_shared::event::Rul;
use pdm_shared::fault::Fault;
use pdm_shared::feature::Feature;
use pdm_shared::time::Timestamp;

use super::case_file::{CaseFile, features};
use super::data::{
    EndOfLife, EnvelopePlot, Plots, RiskPlot, RiskPoint, SpectrumMark, TrendPlot, TrendPoint,
};
use super::words;

/// The plots of a case.
pub(super) fn plots(case: &CaseFile) -> Plots {
    Plots { trend: trend(case), envelope: envelope(case), risk: risk(case) }
}

fn trend(case: &CaseFile) -> Option<TrendPlot> {
    let event = &case.event;
    let leads = case.event.trend.feature.as_str();
    // the acceleration's RMS stands in for a trend without a leading feature
    let usual = Feature::Rms.key();
    let feature = if features(event).contains_key(leads) { leads } else { &usual };
    let point = event.measuring_point.as_ref().map(ToString::to_string);
    let points: Vec<TrendPoint> = case
        .history
        .iter()
        .filter(|past| past.valid && past.measuring_point == point)
        .filter_map(|past| {
            let value = *past.features.get(feature)?;
            Some(TrendPoint { at: past.measured_at, value, anomaly: past.anomaly_detected })
        })
        .collect();
    // the baseline belongs to the leading feature only
    let baseline = (feature == leads).then_some(&event.trend);
    (points.len() > 1).then(|| TrendPlot {
        feature: feature.to_owned(),
        unit: words::unit(feature).to_owned(),
        points,
        end: end_of_life(event.measured_at, &event.rul),
        baseline_level: baseline.and_then(|trend| trend.baseline_level),
        baseline_limit: baseline.and_then(|trend| trend.baseline_limit),
    })
}

/// The remaining life as times.
pub(crate) fn end_of_life(at: Timestamp, rul: &Rul) -> Option<EndOfLife> {
    let after = |hours: f64| at.plus_seconds(hours * 3600.0);
    Some(EndOfLife {
        low_at: after(rul.ci_low_hours?),
        median_at: after(rul.hours?),
        high_at: after(rul.ci_high_hours?),
    })
}

fn envelope(case: &CaseFile) -> Option<EnvelopePlot> {
    let lines = &case.event.spectra.as_ref()?.envelope;
    if lines.amplitude.is_empty() || lines.df_hz <= 0.0 {
        return None;
    }
    Some(EnvelopePlot {
        df_hz: lines.df_hz,
        unit: lines.unit.clone(),
        amplitude: lines.amplitude.clone(),
        marks: Fault::ALL.into_iter().flat_map(|fault| marks(case, fault)).collect(),
    })
}

/// The multiples of the named fault that exceed the floor; for the other faults the first only.
fn marks(case: &CaseFile, fault: Fault) -> Vec<SpectrumMark> {
    let line = case.event.frequency_domain.line(fault);
    let named = case.diagnosis.fault_type == Some(fault);
    let mark = |label: String, frequency_hz: f64, snr_db: Option<f64>| SpectrumMark {
        label,
        fault,
        frequency_hz,
        snr_db,
        named,
    };
    // for the rolling element 1×BSF is measured; its harmonics count multiples of 2×BSF
    let plain = if fault == Fault::Ball { "BSF" } else { frequency(fault) };
    if named && !line.harmonics.is_empty() {
        let told = line.harmonics.iter().map(|harmonic| {
            let times = if fault == Fault::Ball { 2 * harmonic.n } else { harmonic.n };
            let label = if times == 1 { plain.to_owned() } else { format!("{times}×{plain}") };
            mark(label, harmonic.frequency_hz, Some(harmonic.snr_db))
        });
        return told.collect();
    }
    line.frequency_hz.map(|hz| mark(plain.to_owned(), hz, line.snr_db)).into_iter().collect()
}

fn risk(case: &CaseFile) -> Option<RiskPlot> {
    let mut points: Vec<RiskPoint> = case
        .history
        .iter()
        .filter(|past| past.event_id != case.event.event_id)
        .filter_map(|past| {
            Some(RiskPoint {
                at: past.measured_at,
                risk_level: past.risk?,
                fault_stage: past.stage?,
            })
        })
        .collect();
    points.push(RiskPoint {
        at: case.event.measured_at,
        risk_level: case.diagnosis.risk_level,
        fault_stage: case.diagnosis.fault_stage,
    });
    points.sort_by_key(|point| point.at);
    (points.len() > 1).then_some(RiskPlot { points })
}
