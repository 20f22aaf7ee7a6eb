//! The thorough path: which part of the bearing is damaged, and how sure is that?
//!
//! One record goes through: the speeds to try ([`speed`]) → logarithmic envelopes of many bands, of
//! the record as it is and with its steady lines clipped ([`spectra`]) → the comb level of each
//! defect order against unrelated ones ([`comb`]) → four figures for each part ([`figures`]) → one
//! fitted rule ([`rule`], constants in [`fitted`]); beside it what turns with the cage ([`views`],
//! [`cage`], [`spin`]) → one verdict with a calibrated confidence ([`verdict`]) → what else
//! explains lines without a name ([`foreign`]) → the evidence that a person is shown
//! ([`evidence`]).
//!
//! Invariants: a fault is named only if its lines stand out where unrelated orders do not; a name
//! never comes with less confidence than [`verdict::NAMING_CONFIDENCE`]; without a name
//! [`Findings::undetermined`] says whether and why a fault cannot be excluded.

use pdm_shared::fault::Fault;
use pdm_shared::units::{Band, Order, Rpm, SampleRate};

use crate::bearing::DefectOrders;
use crate::envelope::RecordLines;
use crate::separate::separate;
use crate::spectrum::{Spectrum, amplitude_spectrum};
use crate::transform::Transforms;

pub mod cage;
pub mod cage_comb;
pub mod comb;
pub mod evidence;
pub mod figures;
pub mod fitted;
pub mod foreign;
pub mod levels;
pub mod past;
pub mod reason;
pub mod rule;
mod slow_comb;
pub mod spectra;
pub mod speed;
pub mod spin;
pub mod verdict;
pub mod views;

pub use figures::{Against, Evidence};
pub use past::Past;
pub use reason::{ForeignCause, Undetermined};

/// Shaft turns that a verdict needs: below, the defect lines are not resolved from each other and
/// from shaft harmonics (chosen; the issue of resolution is Smith & Randall 2015, section 3).
pub const LEAST_TURNS: f64 = 15.0;

/// Fewest samples that are looked at at all.
pub const LEAST_SAMPLES: usize = 256;

/// The request for one record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Request {
    /// Sampling rate.
    pub rate: SampleRate,
    /// Nominal shaft speed.
    pub speed: Rpm,
    /// How far the true speed may be off, as a ratio; 0.05 is usual.
    pub speed_tolerance: f64,
    /// Defect orders of the bearing.
    pub orders: DefectOrders,
    /// How far a defect line may be off its order by slip, contact angle and wear, as a ratio;
    /// 0.015 is usual (Randall & Antoni 2011, section 2: 1–2 %).
    pub order_tolerance: f64,
    /// Envelope band if the person who configured it knows the resonance; else it is searched.
    pub envelope_band: Option<Band>,
}

/// Speed tolerance where nothing is configured: the slip of a small induction motor whose
/// synchronous speed was typed in is 3 %. A wider one declares the speed uncertain, see
/// [`speed::tried`].
pub const DEFAULT_SPEED_TOLERANCE: f64 = 0.05;

/// Order tolerance where nothing is configured.
pub const DEFAULT_ORDER_TOLERANCE: f64 = 0.02;

impl Request {
    /// A request with the default tolerances and no fixed band.
    pub const fn new(rate: SampleRate, speed: Rpm, orders: DefectOrders) -> Self {
        Self {
            rate,
            speed,
            speed_tolerance: DEFAULT_SPEED_TOLERANCE,
            orders,
            order_tolerance: DEFAULT_ORDER_TOLERANCE,
            envelope_band: None,
        }
    }

    fn check(&self, accel_m_s2: &[f64]) -> Result<(), DiagnoseError> {
        let samples = accel_m_s2.len();
        if samples < LEAST_SAMPLES {
            return Err(DiagnoseError::TooFewSamples { samples });
        }
        if let Some(index) = accel_m_s2.iter().position(|x| !x.is_finite()) {
            return Err(DiagnoseError::NotFinite { index, value: accel_m_s2[index] });
        }
        for (what, got, most) in [
            ("speed tolerance", self.speed_tolerance, 0.2),
            ("order tolerance", self.order_tolerance, 0.1),
        ] {
            if !(0.0..=most).contains(&got) {
                return Err(DiagnoseError::Tolerance { what, got, most });
            }
        }
        let nyquist_hz = self.rate.nyquist_hz();
        if let Some(band) = self.envelope_band
            && band.high_hz() > nyquist_hz
        {
            return Err(DiagnoseError::BandAboveNyquist { band, nyquist_hz });
        }
        let highest_hz = self.orders.bpfi.at(self.speed).max(self.orders.bpfo.at(self.speed));
        if highest_hz * 2.0 > nyquist_hz {
            return Err(DiagnoseError::RateTooLow { defect_hz: highest_hz, nyquist_hz });
        }
        Ok(())
    }
}

/// A record or a request that cannot be measured at all. The caller tells the person; the record is
/// not judged.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DiagnoseError {
    /// Not even a short spectrum.
    #[error("{samples} samples, at least {LEAST_SAMPLES} are needed")]
    TooFewSamples {
        /// The value that was given.
        samples: usize,
    },
    /// A sample that is NaN or infinite.
    #[error("sample {index} is {value}; every sample must be finite")]
    NotFinite {
        /// The index of the value, from 0.
        index: usize,
        /// The value.
        value: f64,
    },
    /// A tolerance outside what makes sense.
    #[error("{what} must be from 0 to {most} (a ratio), got {got}")]
    Tolerance {
        /// The name of the tolerance.
        what: &'static str,
        /// The value that was given.
        got: f64,
        /// The largest allowed.
        most: f64,
    },
    /// The configured band does not fit the sampling rate.
    #[error("envelope band {band} reaches above the Nyquist frequency {nyquist_hz} Hz")]
    BandAboveNyquist {
        /// The band.
        band: Band,
        /// Half the sampling rate, Hz.
        nyquist_hz: f64,
    },
    /// The sampling rate cannot hold the defect frequencies.
    #[error(
        "the highest defect frequency, {defect_hz:.1} Hz, is more than half the Nyquist frequency \
         {nyquist_hz} Hz and cannot be seen; sample faster, or measure a slower shaft"
    )]
    RateTooLow {
        /// Highest defect frequency, Hz.
        defect_hz: f64,
        /// Half the sampling rate, Hz.
        nyquist_hz: f64,
    },
    /// All samples equal.
    #[error("the signal does not move: all samples are equal")]
    Flat,
}

/// A multiple of a defect line that stands out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Harmonic {
    /// Which multiple, from 1.
    pub n: u32,
    /// Where it was found, Hz.
    pub frequency_hz: f64,
    /// Level above the local floor, dB.
    pub snr_db: f64,
}

/// Modulation around a defect line.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sidebands {
    /// Distance: shaft frequency (races) or FTF (ball); `None` for the cage.
    pub spacing_hz: Option<f64>,
    /// How many of those around the first two harmonics stand out.
    pub count: u32,
    /// Their mean level above the local floor, dB; `None` without any.
    pub snr_db: Option<f64>,
}

/// The finding at one defect frequency.
#[derive(Debug, Clone, PartialEq)]
pub struct ElementLine {
    /// Which part.
    pub fault: Fault,
    /// Where its line was found, or its nominal place, Hz. For the ball: the spin frequency 1×BSF.
    pub frequency_hz: f64,
    /// The order of the line, a multiple of the shaft speed.
    pub order: Order,
    /// Amplitude of the acceleration spectrum where the defect shows, m/s².
    pub amplitude_m_s2: f64,
    /// Amplitude of the envelope spectrum where the defect shows, m/s².
    pub envelope_amplitude_m_s2: f64,
    /// Level of the envelope line above the local floor, dB.
    pub snr_db: f64,
    /// The multiples of the line that stand out, the first included.
    pub harmonics: Vec<Harmonic>,
    /// Modulation around it.
    pub sidebands: Sidebands,
    /// 0 nothing … 1 certain that its lines are there.
    pub score: f64,
    /// The evidence before calibration: comb level above unrelated orders, mean of all bands, in
    /// units of 2 dB.
    pub evidence: f64,
}

/// The verdict on one record.
#[derive(Debug, Clone, PartialEq)]
pub struct Findings {
    /// Shaft speed used.
    pub speed: Rpm,
    /// True if the record itself gave it, within the tolerance around the nominal one.
    pub speed_estimated: bool,
    /// Shaft turns in the record.
    pub turns: f64,
    /// Band whose envelope is shown.
    pub band: Option<Band>,
    /// Median amplitude of the acceleration spectrum in that band, m/s².
    pub noise_floor_m_s2: f64,
    /// RMS of the envelope's variation in that band, m/s².
    pub envelope_rms_m_s2: f64,
    /// The four lines in the order of [`Fault::ALL`].
    pub lines: [ElementLine; 4],
    /// The fault that is named, or none.
    pub dominant: Option<Fault>,
    /// How sure the name is; without a name, how likely the leading candidate is.
    pub confidence: f64,
    /// A second fault whose own lines stand beside those of the named one, with its confidence.
    pub second: Option<(Fault, f64)>,
    /// The rise of the cage's comb since the baseline, dB, where the name rests on that alone: a
    /// rolling element, or the cage itself.
    pub new_comb_db: Option<f64>,
    /// Damage is seen, its part is open: the part that leads and the one after it.
    pub damaged: Option<(Fault, Fault)>,
    /// The order of lines that no part of the bearing has, where they stand as a named part's
    /// would: of another bearing than the configured one, perhaps.
    pub stranger: Option<f64>,
    /// Why a fault can neither be named nor excluded.
    pub undetermined: Option<Undetermined>,
    /// Elements whose lines stood already while the baseline was learnt, with the level of their
    /// comb above unrelated ones, dB; empty without a past.
    pub stood: Vec<(Fault, f64)>,
    /// Spectrum of the squared envelope in that band, (m/s²)².
    pub envelope_spectrum: Spectrum,
    /// Acceleration spectrum, m/s².
    pub acceleration_spectrum: Spectrum,
}

impl Findings {
    /// The line of one fault.
    pub fn line(&self, fault: Fault) -> &ElementLine {
        let at = Fault::ALL.iter().position(|f| *f == fault).unwrap_or(0);
        &self.lines[at]
    }
}

/// The figures of one record that the naming rule weighs, without a verdict: for fitting the rule.
///
/// **Input** as [`diagnose()`]. **Output** the figures of every part.
///
/// # Errors
/// As [`diagnose()`].
pub fn weigh(accel_m_s2: &[f64], request: &Request) -> Result<Evidence, DiagnoseError> {
    Ok(weigh_against(accel_m_s2, request, Against::Nothing)?.0)
}

/// [`weigh`] against a past, or to learn one.
///
/// # Errors
/// As [`diagnose()`].
pub fn weigh_against(
    accel_m_s2: &[f64],
    request: &Request,
    against: Against<'_>,
) -> Result<(Evidence, Option<Past>), DiagnoseError> {
    request.check(accel_m_s2)?;
    let mut transforms = Transforms::new();
    let record = RecordLines::of(accel_m_s2, request.rate.get(), &mut transforms);
    let separated = separate(accel_m_s2, request.rate.get(), &mut transforms);
    let sources = figures::Sources { record: &record, separated: &separated };
    Ok(measured(accel_m_s2, sources, (request, against), &mut transforms).0)
}

/// Returns the past of one sound record, with which other records of the same measuring point are
/// compared.
///
/// **Input** acceleration, m/s², at `rate`, which is that of the request or a higher one; the
/// request of the records that will be judged. **Output** the verdict on the record itself, and its
/// past; `None` where no spectrum could be taken. A record that names a part is no past.
///
/// # Errors
/// As [`diagnose()`].
pub fn past_of(
    accel_m_s2: &[f64],
    rate: SampleRate,
    request: &Request,
) -> Result<(Findings, Option<Past>), DiagnoseError> {
    let mut transforms = Transforms::new();
    let same = transforms.at_lower_rate(accel_m_s2, rate.get(), request.rate.get());
    diagnose_against(&same, request, Against::Learning)
}

/// The lesson of a sound record of a measuring point.
#[derive(Debug, Clone, PartialEq)]
pub struct Taught {
    /// The verdict on the record itself.
    pub findings: Findings,
    /// What stood in it; as of [`past_of`].
    pub past: Option<Past>,
    /// Its speed as a multiple of the stated one, where it shows another.
    pub speed_ratio: Option<f64>,
}

/// Returns what a sound record teaches: its past, and its speed where that is another than the
/// stated one.
///
/// The whole record is asked first, then the mean of its windows. **Input** as [`past_of`].
///
/// # Errors
/// As [`diagnose()`].
pub fn taught_by(
    accel_m_s2: &[f64],
    rate: SampleRate,
    request: &Request,
) -> Result<Taught, DiagnoseError> {
    let (findings, past) = past_of(accel_m_s2, rate, request)?;
    let shown = past.as_ref().map(|past| past.shaft_hz() / request.speed.shaft_hz());
    let shown = shown.filter(|ratio| (ratio - 1.0).abs() > speed::DIFFERS);
    if shown.is_some() {
        return Ok(Taught { findings, past, speed_ratio: shown });
    }
    let own = Request { rate, ..*request };
    let mean = speed::SpeedMean::of_record(accel_m_s2, &own).other(&own);
    let Some((ratio, speed)) =
        mean.and_then(|ratio| Some((ratio, Rpm::new(request.speed.get() * ratio).ok()?)))
    else {
        return Ok(Taught { findings, past, speed_ratio: None });
    };
    let (findings, past) = past_of(accel_m_s2, rate, &Request { speed, ..*request })?;
    Ok(Taught { findings, past, speed_ratio: Some(ratio) })
}

/// Judges one record.
///
/// **Input** acceleration, m/s², at the request's rate: the whole record, mean not removed.
/// **Output** the verdict with its evidence. Fewer than [`LEAST_TURNS`] shaft turns give findings
/// without a name and [`Undetermined::TooFewTurns`].
///
/// # Errors
/// [`DiagnoseError`] for a record or a request that cannot be measured at all.
///
/// Half a second at 600 rpm are five turns, too few for a name:
///
/// ```
/// # use pdm_dsp::{DefectOrders, Request, Undetermined, diagnose};
/// # use pdm_dsp::units::{Rpm, SampleRate};
/// let accel_m_s2: Vec<f64> = (0..6000).map(|i| f64::from(i * 7919 % 101) - 50.0).collect();
/// let orders = DefectOrders::new(3.585, 5.415, 2.357, 0.398).expect("orders of a 6205");
/// let rate = SampleRate::new(12_000.0).expect("a rate");
/// let request = Request::new(rate, Rpm::new(600.0).expect("a speed"), orders);
/// let findings = diagnose(&accel_m_s2, &request).expect("measurable");
/// assert_eq!(findings.dominant, None);
/// assert!(matches!(findings.undetermined, Some(Undetermined::TooFewTurns { .. })));
/// ```
pub fn diagnose(accel_m_s2: &[f64], request: &Request) -> Result<Findings, DiagnoseError> {
    Ok(diagnose_against(accel_m_s2, request, Against::Nothing)?.0)
}

/// [`diagnose()`] against what stood at the measuring point while its baseline was learnt, or to
/// learn that.
///
/// **Input** as [`diagnose()`]; a past was learnt at the same point with the same rate, and a like
/// speed. **Output** the verdict, and for [`Against::Learning`] what this record shows. Without a
/// past the verdict is that of [`diagnose()`].
///
/// # Errors
/// As [`diagnose()`].
pub fn diagnose_against(
    accel_m_s2: &[f64],
    request: &Request,
    against: Against<'_>,
) -> Result<(Findings, Option<Past>), DiagnoseError> {
    request.check(accel_m_s2)?;
    let first = accel_m_s2.first().copied().unwrap_or(0.0);
    if accel_m_s2.iter().all(|x| (x - first).abs() <= 0.0) {
        return Err(DiagnoseError::Flat);
    }
    let mut transforms = Transforms::new();
    let record = RecordLines::of(accel_m_s2, request.rate.get(), &mut transforms);
    let separated = separate(accel_m_s2, request.rate.get(), &mut transforms);
    let sources = figures::Sources { record: &record, separated: &separated };
    let ((evidence, look), tried) =
        measured(accel_m_s2, sources, (request, against), &mut transforms);
    let speed = speed::search(accel_m_s2, &record, (request, &tried), &mut transforms);
    let random = &separated.random;
    let turns = accel_m_s2.len() as f64 / request.rate.get() * speed.speed.shaft_hz();
    let looks = views::looks(random, request, speed.speed, &mut transforms);
    let ranked = verdict::Ranked::new(evidence, &looks, turns);
    let speed = if ranked.is_named() { speed.or_at(ranked.figures().shaft_hz) } else { speed };
    let band = evidence::shown_band(random, request, &ranked, &mut transforms);
    let seen = (band, &ranked);
    let shown = evidence::Shown::new(&record, request, speed, seen, &mut transforms);
    let is_seen = ranked.is_worth_mentioning() || ranked.damaged.is_some();
    let cause = if ranked.is_named() {
        shown.locked_to_mains(request)
    } else if is_seen {
        shown.foreign_cause(request)
    } else {
        None
    };
    let judged = verdict::judge(&ranked, cause, (turns, request.orders.ftf.get()));
    let material = evidence::Material { accel_m_s2, request, speed, turns };
    let findings = evidence::gather(&material, shown, judged, &mut transforms);
    let stood = match against {
        Against::Past(past) => past.standing(),
        Against::Nothing | Against::Learning => Vec::new(),
    };
    Ok((Findings { stood, ..findings }, look))
}

fn measured(
    accel_m_s2: &[f64],
    sources: figures::Sources<'_>,
    (request, against): (&Request, Against<'_>),
    transforms: &mut Transforms,
) -> ((Evidence, Option<Past>), speed::Tried) {
    let acceleration = amplitude_spectrum(accel_m_s2, request.rate.get(), transforms);
    let tried = speed::tried(&acceleration, request);
    figures::measure(sources, tried, (request, against), transforms)
}
