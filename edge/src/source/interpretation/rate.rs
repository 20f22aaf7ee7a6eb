//! The sampling rate from option, file and time column, and what happens where they differ.

use pdm_shared::event::StatementSource;
use pdm_shared::units::SampleRate;

use super::{Preferred, short};
use crate::source::time_axis::TimeAxis;

/// Difference of two statements of one rate up to which they agree, ratio.
const AGREEMENT: f64 = 0.01;

/// Rate from which on a time column without a unit is taken for seconds, Hz: chosen; vibration is
/// sampled faster, and a column of milliseconds would show a thousandth of it.
const LEAST_IN_SECONDS_HZ: f64 = 100.0;

/// Rate above which nothing is believed, whatever states it, Hz. Chosen: piezoelectric
/// accelerometers resonate at up to some 100 kHz and are useful to a third of that (ISO 5348:2021),
/// converters for them end at 204.8 kHz.
pub const MOST_HZ: f64 = 1e6;

/// Units in which a time column may be, with their seconds.
const UNITS: [(&str, f64); 7] = [
    ("s", 1.0),
    ("ms", 1e-3),
    ("us", 1e-6),
    ("ns", 1e-9),
    ("min", 60.0),
    ("h", 3600.0),
    ("days", 86_400.0),
];

/// The statements on one rate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RateStatements<'a> {
    /// The rate by the person, Hz.
    pub(crate) option_hz: Option<f64>,
    /// The rate by the file's header or metadata, Hz.
    pub(crate) file_hz: Option<f64>,
    /// The times of the time column.
    pub(crate) axis: Option<&'a TimeAxis>,
    /// Which side counts where they differ.
    pub(crate) prefer: Option<Preferred>,
}

/// The rate that a configuration, an option or a device states.
///
/// # Errors
/// It is no rate, or above [`MOST_HZ`]; in words.
pub fn believed_rate(hz: f64) -> Result<SampleRate, String> {
    let rate = SampleRate::new(hz).map_err(|error| error.to_string())?;
    if hz > MOST_HZ { Err(unbelieved(hz)) } else { Ok(rate) }
}

/// The words for a rate above [`MOST_HZ`].
pub(crate) fn unbelieved(hz: f64) -> String {
    format!("{} Hz: no vibration is sampled above {MOST_HZ} Hz", short(hz))
}

/// Returns the rate, its source, and notes for the person.
///
/// # Errors
/// The contradiction, the missing rate, or a rate above [`MOST_HZ`], in words.
pub(crate) fn decided_rate(
    all: RateStatements<'_>,
) -> Result<(f64, StatementSource, Vec<String>), String> {
    let (hz, source, notes) = stated_rate(all)?;
    if hz <= MOST_HZ {
        return Ok((hz, source, notes));
    }
    Err(match source {
        StatementSource::Option => format!("--rate: {}", unbelieved(hz)),
        StatementSource::File | StatementSource::TimeColumn | StatementSource::Assumed => format!(
            "the file states {}: the statement is in another unit, or the file is damaged; give \
             the rate in Hz (--rate with --prefer option)",
            unbelieved(hz)
        ),
    })
}

fn stated_rate(all: RateStatements<'_>) -> Result<(f64, StatementSource, Vec<String>), String> {
    let column = all.axis.and_then(|axis| column_rate(axis, all.option_hz.or(all.file_hz)));
    let slack = AGREEMENT + all.axis.map_or(0.0, |axis| axis.precision);
    let agree = |a: f64, b: f64| (a / b - 1.0).abs() <= slack;
    let (file, conflict) = match (all.file_hz, column) {
        (Some(file), Some(column)) if !agree(column, file) => {
            let said = format!("the header states {} Hz", short(file));
            (Some((file, StatementSource::File)), Some((said, column)))
        }
        (Some(file), _) => (Some((file, StatementSource::File)), None),
        (None, Some(column)) => (Some((column, StatementSource::TimeColumn)), None),
        (None, None) => (None, None),
    };
    let column_name = all.axis.map_or_else(String::new, |axis| axis.column.clone());
    let notes = notes_on_units(all, column)?;
    if let (Some((said, column)), None) = (&conflict, all.option_hz) {
        return Err(format!(
            "{said}, but the time column ({column_name}) gives {} Hz; --rate with --prefer option \
             decides",
            short(*column)
        ));
    }
    let is_column = |source: StatementSource| source == StatementSource::TimeColumn;
    if let (None, Some((hz, source)), Some(axis)) = (all.option_hz, file, all.axis)
        && is_column(source)
        && hz > MOST_HZ
    {
        return Err(too_fast(axis, hz));
    }
    match (all.option_hz, file) {
        (None, None) => Err(missing(all.axis)),
        (None, Some((hz, source))) => Ok((hz, source, notes)),
        (Some(hz), None) => Ok((hz, StatementSource::Option, notes)),
        (Some(hz), Some((other, source))) if agree(other, hz) && conflict.is_none() => {
            let _ = source;
            Ok((hz, StatementSource::Option, notes))
        }
        (Some(hz), Some((other, source))) => {
            let place = match source {
                StatementSource::TimeColumn => format!("the time column ({column_name}) gives"),
                StatementSource::File | StatementSource::Option | StatementSource::Assumed => {
                    "the file states".to_owned()
                }
            };
            let both = format!("{place} {} Hz, --rate says {} Hz", short(other), short(hz));
            match all.prefer {
                None => Err(format!(
                    "{both}: they differ by more than 1 %; leave out --rate, or decide with \
                     --prefer file or --prefer option"
                )),
                Some(Preferred::File) => {
                    Ok((other, source, vec![format!("{both}: the file is preferred")]))
                }
                Some(Preferred::Option) => Ok((
                    hz,
                    StatementSource::Option,
                    vec![format!("{both}: the option is preferred")],
                )),
            }
        }
    }
}

/// Returns notes on times without a unit that give no stated rate.
///
/// # Errors
/// The file alone states the rate; in words.
fn notes_on_units(all: RateStatements<'_>, column: Option<f64>) -> Result<Vec<String>, String> {
    let known = all.axis.zip(all.option_hz.or(all.file_hz)).filter(|_| column.is_none());
    match known.and_then(|(axis, known)| disagreement(axis, known)) {
        Some(what) if all.option_hz.is_none() => {
            Err(format!("{what}; --rate with --prefer option decides"))
        }
        what => Ok(what.into_iter().collect()),
    }
}

/// How far times without a unit may be from a stated rate in the nearest unit and still be meant
/// for it, ratio. Chosen: a chip's rate is within a fifth of what its data sheet says, ticks of
/// another clock are anywhere.
const NEAREST_UNIT: std::ops::Range<f64> = 0.5..2.0;

/// Returns how times without a unit contradict a rate: they give it in no unit, and in one of them
/// another one near it.
fn disagreement(axis: &TimeAxis, known_hz: f64) -> Option<String> {
    if axis.is_count || axis.unit_s.is_some() {
        return None;
    }
    let units = UNITS.iter().filter(|(_, unit_s)| *unit_s <= 1.0);
    let near = units
        .map(|(unit, unit_s)| (unit, axis.rate_hz(*unit_s)))
        .find(|(_, hz)| NEAREST_UNIT.contains(&(hz / known_hz)))?;
    Some(format!(
        "the times of {} give the stated {} Hz in no unit (in {} they are {} Hz)",
        axis.column,
        short(known_hz),
        near.0,
        short(near.1)
    ))
}

/// The rate of a time column: by its unit, or by the unit that agrees with a rate that is known.
fn column_rate(axis: &TimeAxis, known_hz: Option<f64>) -> Option<f64> {
    if axis.is_count {
        return None;
    }
    if let Some(unit_s) = axis.unit_s {
        return Some(axis.rate_hz(unit_s));
    }
    if let Some(known) = known_hz {
        let agrees = |unit_s: &f64| {
            (axis.rate_hz(*unit_s) / known - 1.0).abs() <= AGREEMENT + axis.uncertainty
        };
        if let Some(unit_s) = UNITS.into_iter().map(|(_, unit_s)| unit_s).find(agrees) {
            return Some(axis.rate_hz(unit_s));
        }
    }
    // whole numbers without a unit are ticks of any clock
    let is_seconds = axis.step < 1.0 && axis.rate_hz(1.0) >= LEAST_IN_SECONDS_HZ;
    is_seconds.then(|| axis.rate_hz(1.0))
}

/// Returns why a rate by a time column is not believed, with the units that would make it one.
fn too_fast(axis: &TimeAxis, hz: f64) -> String {
    let own_s = axis.unit_s.unwrap_or(1.0);
    let may_be = |(_, unit_s): &(&str, f64)| {
        *unit_s > own_s && (LEAST_IN_SECONDS_HZ..=MOST_HZ).contains(&axis.rate_hz(*unit_s))
    };
    let guesses: Vec<String> = UNITS
        .iter()
        .filter(|unit| may_be(unit))
        .map(|(unit, unit_s)| {
            format!("in {unit} they would be {} Hz", short(axis.rate_hz(*unit_s)))
        })
        .collect();
    let guesses =
        if guesses.is_empty() { String::new() } else { format!("; {}", guesses.join(", ")) };
    format!(
        "the times of {} would be {} Hz, and no vibration is sampled above {MOST_HZ} Hz: their \
         unit is another{guesses}; give the rate (--rate, with --prefer option where the file \
         states the unit)",
        axis.column,
        short(hz)
    )
}

fn missing(axis: Option<&TimeAxis>) -> String {
    match axis {
        Some(axis) if !axis.is_count => format!(
            "the time column ({}) rises by {} a row, but nothing states its unit; give the rate in \
             Hz (--rate)",
            axis.column,
            short(axis.step)
        ),
        _ => "no sampling rate was found in the file; give it in Hz (--rate)".to_owned(),
    }
}
