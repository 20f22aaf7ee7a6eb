//! The evidence that a person is shown: the lines, their levels, the band, the two spectra.

use pdm_shared::fault::Fault;
use pdm_shared::units::{Band, Order, Rpm};

use super::foreign::{KnownSpeed, Scene};
use super::levels::log_levels;
use super::speed::FoundSpeed;
use super::verdict::{Judged, Ranked};
use super::views::{limit_hz, whole_band};
use super::{ElementLine, Findings, ForeignCause, Harmonic, Request, Sidebands};
use crate::band::kurtogram;
use crate::envelope::{RecordLines, SquaredEnvelope, envelope_spectrum, squared_envelope};
use crate::part::Part;
use crate::spectrum::{Spectrum, amplitude_spectrum};
use crate::transform::Transforms;

/// Level from which a harmonic or sideband is said to stand out, dB over the local floor (chosen:
/// Rayleigh noise exceeds its median by 10 dB once in a thousand lines).
pub const STANDS_OUT_DB: f64 = 10.0;

/// Everything known of one record.
#[derive(Debug, Clone, Copy)]
pub struct Material<'a> {
    /// Samples, m/s².
    pub accel_m_s2: &'a [f64],
    /// The request.
    pub request: &'a Request,
    /// Speed used.
    pub speed: FoundSpeed,
    /// Shaft turns in the record.
    pub turns: f64,
}

/// The band that is shown, its envelope and its spectrum at whole-record resolution.
#[derive(Debug)]
pub struct Shown {
    band: Option<Band>,
    envelope: Option<SquaredEnvelope>,
    spectrum: Spectrum,
    leading: Fault,
    leading_order: Option<f64>,
    speed: FoundSpeed,
}

impl Shown {
    /// Demodulates the band that [`shown_band`] chose.
    pub fn new(
        record: &RecordLines,
        request: &Request,
        speed: FoundSpeed,
        (band, ranked): (Option<Band>, &Ranked),
        transforms: &mut Transforms,
    ) -> Self {
        let leading = ranked.leading();
        let envelope = band.map(|b| squared_envelope(record, b, transforms));
        let limit = limit_hz(request, speed.speed);
        let spectrum = envelope
            .as_ref()
            .map_or_else(Spectrum::default, |e| envelope_spectrum(e, limit, transforms));
        let leading_order = ranked.order_at(leading, speed.speed.shaft_hz());
        Self { band, envelope, spectrum, leading: leading.fault(), leading_order, speed }
    }

    /// The cause other than the leading part that explains the lines, see [`super::foreign`].
    pub fn foreign_cause(&self, request: &Request) -> Option<ForeignCause> {
        let orders = &request.orders;
        let elements = (orders.bpfo.get() + orders.bpfi.get()).round();
        let known = self.known(request);
        let order = self.leading_order?;
        let cause = Scene::new(&self.spectrum, known).cause(order, (self.leading, elements))?;
        let cage_hz = orders.ftf.get() * known.shaft_hz;
        let cage_turns = order / orders.ftf.get();
        Some(self.own_rhythm(cause, cage_hz, cage_turns))
    }

    /// The mains, where the lines of the named part are locked to it.
    pub fn locked_to_mains(&self, request: &Request) -> Option<ForeignCause> {
        Scene::new(&self.spectrum, self.known(request)).locked_to_mains(self.leading_order?)
    }

    fn known(&self, request: &Request) -> KnownSpeed {
        KnownSpeed {
            shaft_hz: self.speed.speed.shaft_hz(),
            tolerance: request.speed_tolerance,
            by_record: self.speed.estimated,
            fine_hz: self.speed.fine_hz,
        }
    }

    /// A comb at the cage's frequency or its double beside the lines of a rolling element is no
    /// belt: the element passes the load zone once a turn of the cage, with both sides of it twice.
    fn own_rhythm(&self, cause: ForeignCause, cage_hz: f64, cage_turns: f64) -> ForeignCause {
        if let ForeignCause::Comb(hz) = cause
            && self.leading == Fault::Ball
            && is_of_cage(hz, cage_hz)
        {
            return ForeignCause::CageHarmonic(cage_turns.round().max(1.0) as u32);
        }
        cause
    }
}

/// How far a comb may be off the cage's frequency or its double, as a ratio (chosen: slip of
/// rolling elements is 1 to 2 %).
const CAGE_SLIP: f64 = 0.02;

fn is_of_cage(hz: f64, cage_hz: f64) -> bool {
    [1.0, 2.0].iter().any(|turns| (hz / (turns * cage_hz) - 1.0).abs() <= CAGE_SLIP)
}

/// Gathers the findings.
pub fn gather(
    material: &Material<'_>,
    shown: Shown,
    judged: Judged,
    transforms: &mut Transforms,
) -> Findings {
    let speed = material.speed.speed;
    let limit = limit_hz(material.request, speed);
    let rooted = shown.envelope.as_ref().map_or_else(Spectrum::default, |e| {
        amplitude_spectrum(&e.rooted(), e.rate_hz, transforms).up_to(limit)
    });
    let full = amplitude_spectrum(material.accel_m_s2, material.request.rate.get(), transforms);
    let lines = lines(material, &judged, &shown.spectrum, &rooted, &full);
    Findings {
        speed,
        speed_estimated: material.speed.estimated,
        turns: material.turns,
        band: shown.band,
        noise_floor_m_s2: floor(&full, shown.band),
        envelope_rms_m_s2: shown.envelope.as_ref().map_or(0.0, SquaredEnvelope::variation_rms),
        lines,
        dominant: judged.dominant,
        confidence: judged.confidence,
        second: judged.second,
        new_comb_db: judged.new_comb_db,
        damaged: judged.damaged,
        stranger: judged.stranger,
        undetermined: judged.undetermined,
        stood: Vec::new(),
        acceleration_spectrum: full.up_to(limit),
        envelope_spectrum: shown.spectrum,
    }
}

/// The band that a person is shown: the configured one; else the one in which the leading part
/// stands out most; else, where no part is worth mentioning, the most impulsive one (kurtogram).
pub fn shown_band(
    random: &RecordLines,
    request: &Request,
    ranked: &Ranked,
    transforms: &mut Transforms,
) -> Option<Band> {
    if request.envelope_band.is_some() {
        return request.envelope_band;
    }
    let whole = whole_band(random.rate_hz);
    if ranked.spin.is_some() {
        return whole;
    }
    if ranked.is_worth_mentioning() {
        return ranked.figures().band.or(whole);
    }
    let least = 2.2 * request.orders.bpfi.at(request.speed);
    let impulsive = kurtogram(random, 4, least, transforms);
    impulsive.first().map(|best| best.band).or(whole)
}

fn floor(full: &Spectrum, band: Option<Band>) -> f64 {
    let Some(band) = band else { return 0.0 };
    if full.df_hz <= 0.0 {
        return 0.0;
    }
    let low = (band.low_hz() / full.df_hz) as usize;
    let high = ((band.high_hz() / full.df_hz) as usize + 1).min(full.amplitude.len());
    full.amplitude.get(low..high).and_then(crate::robust::median).unwrap_or(0.0)
}

fn lines(
    material: &Material<'_>,
    judged: &Judged,
    squared: &Spectrum,
    rooted: &Spectrum,
    full: &Spectrum,
) -> [ElementLine; 4] {
    let shaft_hz = material.speed.speed.shaft_hz();
    let levels = log_levels(squared, shaft_hz);
    let finder = Finder { squared, levels: &levels, shaft_hz, request: material.request };
    Fault::ALL.map(|fault| {
        let part = Part::of(fault);
        let order = part.and_then(|p| judged.ranked.order_at(p, shaft_hz));
        let shown = order.unwrap_or_else(|| material.request.orders.of(fault).get());
        let mut line = finder.line(fault, shown, material.speed.speed);
        let reach = 1.5 * squared.df_hz;
        let at = shown * shaft_hz;
        line.amplitude_m_s2 = full.peak_near(at, reach).map_or(0.0, |p| p.1);
        line.envelope_amplitude_m_s2 = rooted.peak_near(at, reach).map_or(0.0, |p| p.1);
        line.score = part.map_or(judged.cage_score, |p| judged.scores[p]);
        line.evidence = part.map_or(0.0, |p| judged.ranked.evidence.parts[p].excess);
        line
    })
}

struct Finder<'a> {
    squared: &'a Spectrum,
    levels: &'a [f64],
    shaft_hz: f64,
    request: &'a Request,
}

impl Finder<'_> {
    fn level_near(&self, hz: f64, k: f64) -> Option<(f64, f64)> {
        let df = self.squared.df_hz;
        if df <= 0.0 || hz < 0.0 {
            return None;
        }
        let reach = 1.0 + 0.0008 * k * hz / df;
        let low = (hz / df - reach).round().max(0.0) as usize;
        let high = ((hz / df + reach).round() as usize + 1).min(self.levels.len());
        (low..high)
            .max_by(|&a, &b| self.levels[a].total_cmp(&self.levels[b]))
            .map(|i| (i as f64 * df, self.levels[i]))
    }

    fn line(&self, fault: Fault, shown_order: f64, speed: Rpm) -> ElementLine {
        let at = shown_order * self.shaft_hz;
        let harmonics: Vec<Harmonic> = (1..=4_u32)
            .filter_map(|n| {
                let k = f64::from(n);
                let (frequency_hz, snr_db) = self.level_near(k * at, k)?;
                (snr_db >= STANDS_OUT_DB).then_some(Harmonic { n, frequency_hz, snr_db })
            })
            .collect();
        let snr_db = self.level_near(at, 1.0).map_or(0.0, |l| l.1);
        // The event prints the spin frequency 1×BSF; its defect shows at twice that.
        let shown = if fault == Fault::Ball { shown_order / 2.0 } else { shown_order };
        ElementLine {
            fault,
            frequency_hz: shown * speed.shaft_hz(),
            order: Order::new(shown).unwrap_or(self.request.orders.of(fault)),
            amplitude_m_s2: 0.0,
            envelope_amplitude_m_s2: 0.0,
            snr_db,
            harmonics,
            sidebands: self.sidebands(fault, at),
            score: 0.0,
            evidence: 0.0,
        }
    }

    fn sidebands(&self, fault: Fault, at: f64) -> Sidebands {
        let spacing = match fault {
            Fault::OuterRace | Fault::InnerRace => self.shaft_hz,
            Fault::Ball => self.request.orders.ftf.get() * self.shaft_hz,
            Fault::Cage => return Sidebands::default(),
        };
        let mut found = Vec::new();
        for k in [1.0, 2.0] {
            let stands = self.level_near(k * at, k).is_some_and(|l| l.1 >= STANDS_OUT_DB);
            if !stands {
                continue;
            }
            found.extend(
                [-1.0, 1.0]
                    .iter()
                    .filter_map(|side| self.level_near(k * at + side * spacing, k))
                    .map(|l| l.1)
                    .filter(|level| *level >= STANDS_OUT_DB),
            );
        }
        let count = u32::try_from(found.len()).unwrap_or(u32::MAX);
        let mean = found.iter().sum::<f64>() / found.len().max(1) as f64;
        Sidebands { spacing_hz: Some(spacing), count, snr_db: (!found.is_empty()).then_some(mean) }
    }
}

#[cfg(test)]
mod tests {
    use super::is_of_cage;

    /// A rolling element's own load modulation (19.5 Hz at a cage of 9.83 Hz) was told as a belt.
    #[test]
    fn the_cages_rhythm_and_its_double_are_no_belt() {
        for (hz, is) in [(9.7, true), (9.83, true), (19.5, true), (21.4, false), (14.7, false)] {
            assert_eq!(is_of_cage(hz, 9.83), is, "{hz}");
        }
    }
}
