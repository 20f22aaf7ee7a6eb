//! Units as people write them in headers, labels and comments.
//!
//! A spelling becomes a kind of quantity and a factor to the kind's base unit. Invariant: a
//! spelling that is not known is `None`, never a guess.

use pdm_shared::units::M_S2_PER_G;

use super::ChannelRole;
use crate::tabular::width::half_width;

mod factor;
mod joined;
mod unknown;

pub(crate) use unknown::unknown_unit_of;

/// The quantity that a unit measures, with the factor from the unit to the quantity's base unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum UnitKind {
    /// Acceleration; the factor leads to m/s².
    Acceleration(f64),
    /// Voltage; the factor leads to mV.
    Voltage(f64),
    /// Numbers of a converter without a physical unit.
    Counts,
    /// Time; the factor leads to s.
    Time(f64),
    /// Any other quantity, by its name: a channel in such a unit is no acceleration.
    Other(&'static str),
}

/// A unit as a file spells it.
#[derive(Debug, Clone, PartialEq)]
pub struct StatedUnit {
    /// The spelling of the file.
    pub spelling: String,
    /// Its meaning.
    pub kind: UnitKind,
}

/// Spellings without spaces, in lower case after `²` became `2`, `µ` became `u` and `·*` were
/// removed.
const SPELLINGS: &[(&[&str], UnitKind)] = &[
    (
        &[
            "g",
            "gn",
            "g0",
            "grav",
            "gravity",
            "gforce",
            "g-force",
            "gs",
            "gpk",
            "gpeak",
            "grms",
            "gee",
            "g's",
            "g-s",
            "중력가속도",
        ],
        UnitKind::Acceleration(M_S2_PER_G),
    ),
    (&["mg", "milli-g", "millig", "mgn"], UnitKind::Acceleration(M_S2_PER_G / 1000.0)),
    (&["ug", "microg"], UnitKind::Acceleration(M_S2_PER_G / 1e6)),
    (
        &[
            "m/s2",
            "m/s^2",
            "m/s/s",
            "m/sec2",
            "m/sec^2",
            "m/ss",
            "ms-2",
            "ms^-2",
            "m.s-2",
            "m.s^-2",
            "ms2",
            "mps2",
            "mpss",
            "m/(s2)",
            "m/(s^2)",
            "m/s2rms",
            "m/sek2",
            "m/sec/sec",
            "meter/sec2",
            "metre/sec2",
            "미터/초2",
            "meterpersecondsquared",
            "meterspersecondsquared",
            "metrepersecondsquared",
            "metrespersecondsquared",
            "mss",
            "ms^2",
            "mps^2",
            "м/с2",
            "м/с^2",
            "м/сек2",
            "米/秒2",
            "米/秒^2",
        ],
        UnitKind::Acceleration(1.0),
    ),
    (
        &[
            "mm/s2",
            "mm/s^2",
            "mm/s/s",
            "mm/sec2",
            "mms2",
            "mms^2",
            "mms-2",
            "mmps2",
            "мм/с2",
            "мм/с^2",
        ],
        UnitKind::Acceleration(0.001),
    ),
    (&["cm/s2", "cm/s^2", "gal"], UnitKind::Acceleration(0.01)),
    (&["mgal"], UnitKind::Acceleration(1e-5)),
    (&["ft/s2", "ft/s^2"], UnitKind::Acceleration(0.3048)),
    (&["in/s2", "in/s^2"], UnitKind::Acceleration(0.0254)),
    (&["mv", "millivolt", "millivolts", "밀리볼트", "мв"], UnitKind::Voltage(1.0)),
    (&["v", "volt", "volts", "vdc", "볼트", "в"], UnitKind::Voltage(1000.0)),
    (&["uv", "microvolt", "microvolts"], UnitKind::Voltage(0.001)),
    (
        &[
            "counts",
            "count",
            "cnt",
            "cts",
            "lsb",
            "adc",
            "adccounts",
            "adu",
            "raw",
            "digits",
            "digit",
            "bits",
        ],
        UnitKind::Counts,
    ),
    (
        &[
            "s", "sec", "secs", "second", "seconds", "sek", "sekunde", "sekunden", "seconde",
            "secondes", "segundo", "segundos", "초", "秒", "с", "сек",
        ],
        UnitKind::Time(1.0),
    ),
    (
        &[
            "ms",
            "msec",
            "msecs",
            "millisecond",
            "milliseconds",
            "millis",
            "millisekunde",
            "millisekunden",
            "밀리초",
            "毫秒",
            "мс",
        ],
        UnitKind::Time(1e-3),
    ),
    (
        &[
            "us",
            "usec",
            "usecs",
            "microsecond",
            "microseconds",
            "micros",
            "mikrosekunde",
            "mikrosekunden",
            "마이크로초",
        ],
        UnitKind::Time(1e-6),
    ),
    (
        &[
            "ns",
            "nsec",
            "nsecs",
            "nanosec",
            "nanosecond",
            "nanoseconds",
            "nanos",
            "nanosekunde",
            "nanosekunden",
        ],
        UnitKind::Time(1e-9),
    ),
    (&["min", "mins", "minute", "minutes", "minuten", "분", "分"], UnitKind::Time(60.0)),
    (
        &["h", "hr", "hrs", "hour", "hours", "std", "stunde", "stunden", "시간"],
        UnitKind::Time(3600.0),
    ),
    (&["d", "day", "days", "tag", "tage", "일"], UnitKind::Time(86_400.0)),
    (
        &[
            "mm/s",
            "mm/sec",
            "mm/sek",
            "mm/srms",
            "mm/s(rms)",
            "mms",
            "mms-1",
            "mmps",
            "in/s",
            "ips",
            "in/sec",
            "inps",
            "m/s",
            "m/sec",
            "ms-1",
            "mps",
            "cm/s",
            "um/s",
            "мм/с",
            "м/с",
        ],
        UnitKind::Other("velocity"),
    ),
    (
        &[
            "mm", "um", "mil", "mils", "inch", "cm", "m", "meter", "metre", "km", "ft", "feet",
            "мм", "мкм",
        ],
        UnitKind::Other("displacement"),
    ),
    (&["km/h", "kmh", "kph", "mph", "knots"], UnitKind::Other("velocity")),
    (&["pc", "pcb", "picocoulomb"], UnitKind::Other("charge")),
    (&["lx", "lux"], UnitKind::Other("light")),
    (&["kg", "lb", "lbs"], UnitKind::Other("mass")),
    (&["l", "ml", "l/min", "m3/h", "m^3/h"], UnitKind::Other("volume or flow")),
    (&["ohm", "kohm", "ω", "kω"], UnitKind::Other("resistance")),
    (&["bpm", "ppm"], UnitKind::Other("a count")),
    (
        &["rpm", "1/min", "min-1", "min^-1", "u/min", "r/min", "rev/min", "upm", "회전/분"],
        UnitKind::Other("shaft speed"),
    ),
    (&["hz", "khz", "cpm"], UnitKind::Other("frequency")),
    (
        &["degc", "°c", "℃", "degf", "°f", "℉", "kelvin", "celsius", "c", "f", "도"],
        UnitKind::Other("temperature"),
    ),
    (&["a", "ma", "amps", "ampere", "암페어"], UnitKind::Other("current")),
    (&["n", "kn", "newton", "lbf", "뉴턴"], UnitKind::Other("force")),
    (&["nm", "knm", "n.m"], UnitKind::Other("torque")),
    (&["deg/s", "°/s", "dps", "rad/s", "mdps"], UnitKind::Other("rate of turn")),
    (&["deg/s2", "deg/s^2", "°/s2", "rad/s2", "rad/s^2"], UnitKind::Other("angular acceleration")),
    (
        &[
            "g2/hz",
            "g^2/hz",
            "g/rthz",
            "g/sqrthz",
            "g/√hz",
            "m2/s3",
            "m/s2)2/hz",
            "m/s^2)^2/hz",
            "m2/s4/hz",
            "v2/hz",
            "v^2/hz",
            "db/hz",
        ],
        UnitKind::Other("a spectral density"),
    ),
    (&["ge"], UnitKind::Other("an envelope")),
    (&["deg", "°", "rad"], UnitKind::Other("angle")),
    (&["pa", "kpa", "mpa", "bar", "mbar", "psi", "hpa"], UnitKind::Other("pressure")),
    (&["w", "kw", "kwh", "va"], UnitKind::Other("power")),
    (&["%", "percent", "%rh", "prozent"], UnitKind::Other("share")),
    (
        &["ut", "mt", "nt", "mga", "ga", "mgauss", "gauss", "tesla", "microtesla"],
        UnitKind::Other("magnetic field"),
    ),
    (&["ue", "ustrain", "strain", "um/m"], UnitKind::Other("strain")),
    (&["db", "dba"], UnitKind::Other("level")),
];

impl StatedUnit {
    /// The unit of a spelling, with or without brackets; `None` if the spelling is not known.
    pub fn parse(text: &str) -> Option<Self> {
        let text = half_width(text);
        let spelling = text.trim().trim_matches(['[', ']', '(', ')', '{', '}', '"', '\'', ' ']);
        // `Sek.`, `min.`: a word that is cut short ends in a point
        let kind = kind_of(spelling)
            .or_else(|| kind_of(spelling.strip_suffix('.')?))
            .or_else(|| joined::kind_of_text(spelling))
            .or_else(|| factor::kind_with_factor(spelling))?;
        Some(Self { spelling: spelling.to_owned(), kind })
    }

    /// The unit in a column's header: in brackets (`Acc X (m/s^2)`), after a comma, a slash with
    /// spaces, or an underscore (`time_ms`, `acc_g`, `acc_m_s2`).
    pub fn in_header(header: &str) -> Option<Self> {
        let header = half_width(header);
        let header = &*header;
        // `Acc % of 16 g`, `Acc 1/16 g`: what stands before the last word changes it
        let is_altered = factor::altered(header).is_some();
        let behind = |header: &str| {
            // what stands in brackets is a unit as a whole: a factor before it counts
            if header.trim_end().ends_with([')', ']', '}']) || is_altered {
                return None;
            }
            let tail = header.rsplit([',', '_', ' ', ':']).next()?;
            // a single letter at the end is an axis or a number of a channel more often than a unit
            let is_unit = tail.len() < header.trim().len()
                && (tail.chars().count() > 1 || tail == "g" || tail == "s" || tail == "V");
            is_unit.then(|| Self::parse(tail)).flatten()
        };
        // `Accel X, g (S/N: 7)`: the brackets say something else
        let in_front = || header.find(['(', '[', '{']).and_then(|at| header.get(..at));
        let joined = |header: &str| {
            let (spelling, kind) = joined::at_end(header)?;
            Some(Self { spelling: spelling.to_owned(), kind })
        };
        label_of_unit(header)
            .and_then(Self::parse)
            .or_else(|| bracketed(header).and_then(Self::parse))
            .or_else(|| last_bracketed(header).and_then(Self::parse))
            .or_else(|| bracketed(header).and_then(factor::unit_among_words).and_then(Self::parse))
            .or_else(|| joined(header))
            .or_else(|| behind(header))
            .or_else(|| in_front().and_then(|front| behind(front.trim_end())))
            // `accelerometer_m_s2[0]`: the number of an axis
            .or_else(|| in_front().and_then(|front| joined(front.trim_end())))
    }

    /// The unit in a column's name: as in a header, or the name is a unit of samples (`Volt`,
    /// `m/s^2`), or one stands behind the number of a channel (`CH1V`).
    pub fn of_name(name: &str) -> Option<Self> {
        Self::in_header(name).or_else(|| {
            let name = name.trim();
            let lower = name.to_lowercase();
            let numbered = ["channel", "kanal", "ch", "ai"].iter().find_map(|word| {
                let rest = lower.strip_prefix(word)?.trim_start_matches(['_', ' ', '-']);
                let unit = rest.trim_start_matches(|c: char| c.is_ascii_digit());
                let start = name.len().checked_sub(unit.len())?;
                (unit.len() < rest.len()).then(|| name.get(start..)).flatten()
            });
            let spelling = numbered.unwrap_or(name).trim();
            let unit = Self::parse(spelling)?;
            // `gravity` and `gs` are names of other columns as well
            let is_unit = match unit.kind {
                UnitKind::Acceleration(_) => {
                    ["g", "mg"].contains(&spelling) || spelling.contains(['/', '²', '^'])
                }
                UnitKind::Voltage(_) => spelling != "v",
                UnitKind::Other("velocity") => spelling.contains('/'),
                UnitKind::Counts | UnitKind::Time(_) | UnitKind::Other(_) => false,
            };
            is_unit.then_some(unit)
        })
    }
}

/// Endings of a plural that people write in brackets: `Sekunde(n)`, `second(s)`.
const PLURALS: [&str; 4] = ["(n)", "(en)", "(s)", "(e)"];

/// Words for a duration that end in a unit, where the whole word is no unit (`Betriebsstunden`,
/// `경과초`), with the seconds of the unit. The longer ending comes first.
const TIME_ENDINGS: [(&str, f64); 9] = [
    ("millisekunden", 1e-3),
    ("mikrosekunden", 1e-6),
    ("sekunden", 1.0),
    ("minuten", 60.0),
    ("stunden", 3600.0),
    ("밀리초", 1e-3),
    ("마이크로초", 1e-6),
    ("경과초", 1.0),
    ("시간초", 1.0),
];

/// The seconds of the unit of a column of time, by its name alone: the unit in its brackets or
/// behind it, the name itself (`Sek.`, `초`, `Sekunde(n)`), or its last word behind a word for a
/// time (`uptime_h`).
pub(crate) fn time_unit_of_name(name: &str) -> Option<f64> {
    let seconds = |unit: Option<StatedUnit>| match unit?.kind {
        UnitKind::Time(seconds) => Some(seconds),
        UnitKind::Acceleration(_)
        | UnitKind::Voltage(_)
        | UnitKind::Counts
        | UnitKind::Other(_) => None,
    };
    let name = name.trim();
    // the Korean word for time is that for an hour
    if name == "시간" {
        return None;
    }
    let singular = || PLURALS.iter().find_map(|plural| name.strip_suffix(plural));
    let last_word = || {
        let (front, last) = name.rsplit_once(['_', ' ', '.', '-', '/'])?;
        let is_time = ChannelRole::by_name(front) == ChannelRole::Time;
        is_time.then(|| StatedUnit::parse(last)).flatten()
    };
    let ending = || {
        let lower = name.to_lowercase();
        TIME_ENDINGS.into_iter().find_map(|(end, unit_s)| lower.ends_with(end).then_some(unit_s))
    };
    seconds(StatedUnit::in_header(name))
        .or_else(|| seconds(StatedUnit::parse(name)))
        .or_else(|| seconds(singular().and_then(StatedUnit::parse)))
        .or_else(|| seconds(last_word()))
        .or_else(ending)
}

/// The text in the last pair of brackets.
fn bracketed(header: &str) -> Option<&str> {
    let header = header.trim();
    for (open, close) in [('[', ']'), ('(', ')'), ('{', '}')] {
        if let (Some(from), Some(to)) = (header.find(open), header.rfind(close))
            && from < to
        {
            return header.get(from + open.len_utf8()..to);
        }
    }
    header.rsplit_once(" / ").map(|(_, unit)| unit)
}

/// The text in the last pair of brackets of several: `Acc (DE) (g)`.
fn last_bracketed(header: &str) -> Option<&str> {
    let header = header.trim();
    let inner = header.strip_suffix([')', ']', '}'])?;
    let open = inner.rfind(['(', '[', '{'])?;
    inner.get(open + 1..)
}

/// The unit among labels, as queries of time series write them: `acc {unit="m/s2", axis="x"}`.
fn label_of_unit(header: &str) -> Option<&str> {
    let (_, labels) = header.split_once('{')?;
    let labels = labels.trim_end().strip_suffix('}')?;
    labels.split(',').find_map(|label| {
        let (key, value) = label.split_once(['=', ':'])?;
        let key = key.trim_matches([' ', '"']).to_lowercase();
        ["unit", "units", "uom"].contains(&key.as_str()).then(|| value.trim_matches([' ', '"']))
    })
}

fn kind_of(spelling: &str) -> Option<UnitKind> {
    // upper and lower case differ only here: megagram and milligauss are no units of vibration
    let mut plain = String::with_capacity(spelling.len());
    for letter in spelling.replace("**", "^").chars().take(32) {
        match letter {
            '²' => plain.push('2'),
            'µ' | 'μ' => plain.push('u'),
            '㎨' => plain.push_str("m/s2"),
            '㎜' => plain.push_str("mm"),
            '·' | '*' | '⋅' | ' ' => {}
            '⁻' | '−' => plain.push('-'),
            '¹' => plain.push('1'),
            other => plain.extend(other.to_lowercase()),
        }
    }
    let known = SPELLINGS.iter().find(|(spellings, _)| spellings.contains(&plain.as_str()));
    known.map(|(_, kind)| *kind)
}

#[cfg(test)]
mod tests;
