//! Spectra with marked defect frequencies, for the terminal and as PNG, and a station's series as
//! PNG.

use pdm_dsp::{Findings, Spectrum};
use pdm_shared::fault::Fault;
use pdm_shared::units::SampleRate;

mod png;
mod station;
mod terminal;

pub use png::{PlotError, write_png};
pub use station::{MarkedStretch, StationPicture, station_png};
pub use terminal::terminal_spectrum;

/// The content of a picture of one recording.
#[derive(Debug)]
pub struct Picture<'a> {
    /// Title: file, channel and snapshot.
    pub title: String,
    /// The verdict in words.
    pub verdict: String,
    /// The samples, m/s².
    pub accel_m_s2: &'a [f64],
    /// Their rate.
    pub rate: SampleRate,
    /// The findings of the thorough path.
    pub findings: &'a Findings,
}

/// A multiple of a defect frequency to be marked.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Mark {
    fault: Fault,
    /// The multiple, from 1.
    n: u32,
    frequency_hz: f64,
    /// True if the line stands out of the noise floor.
    is_found: bool,
}

impl Picture<'_> {
    /// Upper limit of the envelope spectrum, Hz: four multiples of BPFI, as in the event, or the
    /// end of the spectrum.
    fn envelope_limit_hz(&self) -> f64 {
        let spectrum = &self.findings.envelope_spectrum;
        let reach = spectrum.df_hz * spectrum.amplitude.len().saturating_sub(1) as f64;
        (4.3 * self.findings.line(Fault::InnerRace).frequency_hz).min(reach)
    }

    /// The multiples of the four defect frequencies up to a limit, at most four each. A defect of
    /// the ball shows at multiples of twice the spin frequency.
    fn marks(&self, limit_hz: f64) -> Vec<Mark> {
        let mut marks = Vec::new();
        for fault in Fault::ALL {
            let line = self.findings.line(fault);
            let first_hz =
                if fault == Fault::Ball { 2.0 * line.frequency_hz } else { line.frequency_hz };
            for n in 1..=4u32 {
                let found = line.harmonics.iter().find(|h| h.n == n);
                let frequency_hz = found.map_or(first_hz * f64::from(n), |h| h.frequency_hz);
                if frequency_hz > 0.0 && frequency_hz <= limit_hz {
                    marks.push(Mark { fault, n, frequency_hz, is_found: found.is_some() });
                }
            }
        }
        marks
    }
}

/// The largest amplitude within each of `columns` equal parts up to `limit_hz`, so that a narrow
/// line keeps its height.
fn columns_of(spectrum: &Spectrum, limit_hz: f64, columns: usize) -> Vec<f64> {
    let mut heights = vec![0.0f64; columns];
    for (line, &amplitude) in spectrum.amplitude.iter().enumerate().skip(1) {
        let frequency_hz = line as f64 * spectrum.df_hz;
        if frequency_hz > limit_hz {
            break;
        }
        let column = ((frequency_hz / limit_hz) * columns as f64) as usize;
        let column = column.min(columns.saturating_sub(1));
        if let Some(height) = heights.get_mut(column) {
            *height = height.max(amplitude);
        }
    }
    heights
}

/// The step of an axis: 1, 2 or 5 times a power of ten, with at most `most` steps up to `limit`.
fn round_step(limit: f64, most: usize) -> f64 {
    let raw = limit / most.max(1) as f64;
    if !(raw.is_finite() && raw > 0.0) {
        return 1.0;
    }
    let power = 10f64.powf(raw.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|s| s * power).find(|&s| s >= raw).unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_an_axis_are_round() {
        for (limit, most, expected) in [(700.0, 7, 100.0), (701.0, 7, 200.0), (0.09, 5, 0.02)] {
            assert!((round_step(limit, most) - expected).abs() < 1e-12 * expected, "{limit}");
        }
        assert!(round_step(0.0, 5) > 0.0 && round_step(f64::NAN, 0) > 0.0);
    }

    #[test]
    fn a_narrow_line_keeps_its_height() {
        let mut amplitude = vec![0.1; 10_001];
        amplitude[5000] = 7.0;
        let heights = columns_of(&Spectrum { df_hz: 0.1, amplitude }, 1000.0, 50);
        assert!((heights[25] - 7.0).abs() < 1e-12 && heights.len() == 50);
    }
}
