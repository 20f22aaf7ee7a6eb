//! Words of a name for what is no vibration over time: a spectrum, an envelope, a figure computed
//! of samples, and the velocity or displacement of a vibration.
//!
//! They count although the name also speaks of vibration: `vibration velocity`, `acc_kurtosis`,
//! `acc psd`.

/// Words for values over a frequency.
const SPECTRUM: &[&str] = &[
    "psd",
    "psds",
    "pxx",
    "asd",
    "srs",
    "spl",
    "fft",
    "spectrum",
    "spectra",
    "spectral",
    "spektrum",
    "autospectrum",
    "periodogram",
];

const ENVELOPE: &[&str] = &["envelope", "envelopes", "hüllkurve"];

/// Words for a figure of many samples, whatever stands beside them.
const FIGURE: &[&str] = &[
    "kurtosis",
    "kurt",
    "skewness",
    "skew",
    "crest",
    "crestfactor",
    "entropy",
    "impulsefactor",
    "shapefactor",
    "wölbung",
    "schiefe",
];

/// Words for such a figure where the name has no other word than these.
const FIGURE_ALONE: &[&str] = &[
    "rms", "peak", "pk", "mean", "median", "stdev", "stddev", "variance", "factor", "overall",
    "value", "max", "min", "to",
];

/// The words among these of which such a name must have one.
const FIGURE_CORE: &[&str] =
    &["rms", "peak", "pk", "mean", "median", "stdev", "stddev", "variance"];

/// Words beside a figure that say of what, where or in which unit it is: `Acc RMS (g)`,
/// `acc_x_rms_g`.
const BESIDE_FIGURE: &[&str] = &[
    "acc",
    "accel",
    "acceleration",
    "vib",
    "vibration",
    "beschleunigung",
    "schwingung",
    "x",
    "y",
    "z",
    "axis",
    "g",
    "mg",
    "m",
    "s",
    "ms",
    "mms",
    "de",
    "nde",
    "h",
    "v",
    "a",
    "sensor",
    "ch",
    "channel",
    "bearing",
];

/// Words for what a vibration is measured as, where the name says nothing of an acceleration.
const OF_VIBRATION: &[(&[&str], &str)] = &[
    (
        &[
            "velocity",
            "velocities",
            "vel",
            "geschwindigkeit",
            "schwinggeschwindigkeit",
            "schnelle",
            "schwingschnelle",
        ],
        "velocity",
    ),
    (
        &["displacement", "displacements", "disp", "displ", "schwingweg", "auslenkung"],
        "displacement",
    ),
    (&["strain", "dehnung"], "strain"),
    (&["temp", "temperature", "temperatur"], "temperature"),
];

/// Words of vibration that do not say that it is measured as an acceleration.
const VIBRATION: &[&str] = &[
    "vib",
    "vibration",
    "vibrations",
    "vibe",
    "schwingung",
    "вибрация",
    "horizontalvibration",
    "verticalvibration",
];

/// Words for the voltage of a sensor.
const VOLTAGE: &[&str] = &["voltage", "voltages", "volts", "spannung", "напряжение"];

/// Returns the kind of data that the words of a name state and that is no vibration over time,
/// whatever other words the name has.
pub(super) fn no_samples(words: &[String]) -> Option<&'static str> {
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let is_beside = |word: &&str| FIGURE_ALONE.contains(word) || BESIDE_FIGURE.contains(word);
    let is_alone = || has(FIGURE_CORE) && words.iter().map(String::as_str).all(|w| is_beside(&w));
    if has(SPECTRUM) {
        Some("a spectrum")
    } else if has(ENVELOPE) {
        Some("an envelope")
    } else if has(FIGURE) || is_alone() {
        Some("a figure of many samples")
    } else {
        None
    }
}

/// Whether this kind of data, by its name, is no sample of a vibration: such a channel is none even
/// in a unit of acceleration.
pub(super) fn is_no_sample(what: &str) -> bool {
    ["a spectrum", "an envelope", "a figure of many samples", "magnitude"].contains(&what)
}

/// The quantity as which a vibration is measured, if a name speaks of both and of no acceleration.
pub(super) fn of_vibration(words: &[String]) -> Option<&'static str> {
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    OF_VIBRATION.iter().find(|(list, _)| has(list)).map(|(_, what)| *what)
}

/// Whether a word speaks of vibration alone.
pub(super) fn is_vibration(word: &str) -> bool {
    VIBRATION.contains(&word)
}

/// Whether a name says voltage, in no unit that it states.
pub(crate) fn says_voltage(name: &str) -> bool {
    let words = super::words_of(name);
    words.iter().any(|word| VOLTAGE.contains(&word.as_str()))
        || ["전압", "电压", "電圧"].iter().any(|word| name.contains(word))
}

/// Returns the quantity that the name of a file states of all its contents, by a word anywhere in
/// it; a voltage by the last word alone (`low voltage motor`).
pub(super) fn of_file(words: &[String]) -> Option<&'static str> {
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let accelerations = ["acc", "accel", "acceleration", "beschleunigung"];
    if has(&accelerations) {
        return None;
    }
    // an envelope or a crest may be that of a machine
    let what = if has(SPECTRUM) { Some("a spectrum") } else { None };
    let what = what
        .or_else(|| of_vibration(words).filter(|what| ["velocity", "displacement"].contains(what)));
    what.or_else(|| {
        let last = words.last().map(String::as_str)?;
        VOLTAGE.contains(&last).then_some("voltage")
    })
}
