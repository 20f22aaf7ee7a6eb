//! The conversion of one channel, from the unit of its file and the calibration that a person
//! states.

use pdm_shared::event::StatementSource;
use pdm_shared::units::M_S2_PER_G;

use super::{
    ChannelRole, InterpretedChannel, Preferred, StatedUnit, UnitKind, role, says_voltage, short,
    unknown_unit_of,
};
use crate::source::recording::{NumberEncoding, StatedChannel};
use crate::source::{AccelUnit, Calibration};

/// The calibration of a channel, and how it came about.
pub(crate) struct DecidedScale {
    pub(crate) calibration: Calibration,
    pub(crate) channel: InterpretedChannel,
    pub(crate) note: Option<String>,
}

/// Decides the conversion of a channel. `label`: the channel as an error names it.
///
/// # Errors
/// The contradiction or the missing statement, in words.
#[expect(clippy::too_many_lines, reason = "one branch for each source of a scale")]
pub(crate) fn decided_scale(
    label: &str,
    stated: &StatedChannel,
    given: Calibration,
    prefer: Option<Preferred>,
) -> Result<DecidedScale, String> {
    let told = beside_factor(label, stated, given)?;
    let (given, encoding) = with_scale_of_file(label, stated, given, prefer)?;
    let unit = stated.unit.as_deref().and_then(StatedUnit::parse);
    let spelling = unit.as_ref().map_or("", |unit| unit.spelling.as_str());
    let done = |calibration, unit: String, unit_source, note: Option<String>| {
        let note = match (told.clone(), note) {
            (Some(told), Some(note)) => Some(format!("{note}; {told}")),
            (told, note) => told.or(note),
        };
        let channel = InterpretedChannel { name: stated.name.clone(), unit, unit_source };
        Ok(DecidedScale { calibration, channel, note })
    };
    let by_option = |note| done(given, option_words(given), StatementSource::Option, note);
    match (unit.as_ref().map(|unit| unit.kind), given.unit()) {
        (Some(UnitKind::Acceleration(factor)), None) => {
            let words = scaled_words(spelling, given);
            done(given.in_acceleration(factor), words, StatementSource::File, None)
        }
        (Some(UnitKind::Acceleration(factor)), Some(asked)) => {
            if same_unit(asked, factor) {
                return by_option(None);
            }
            let both = format!("{label} is in {spelling} by the file, the option says {asked}");
            match prefer {
                Some(Preferred::File) => {
                    let plain = Calibration::default().in_acceleration(factor);
                    let note = Some(format!("{both}: the file is preferred"));
                    done(plain, spelling.to_owned(), StatementSource::File, note)
                }
                Some(Preferred::Option) => {
                    by_option(Some(format!("{both}: the option is preferred")))
                }
                // a scale other than 1 is a conversion that a person has thought of
                None if given.states_scale() && (given.scale() - 1.0).abs() > 1e-12 => {
                    by_option(Some(both))
                }
                None => Err(format!(
                    "{both}; leave out --unit and --sensitivity, or decide with --prefer file or \
                     --prefer option"
                )),
            }
        }
        (Some(UnitKind::Voltage(millivolts)), Some(AccelUnit::Millivolt { .. })) => {
            let factor = if given.states_scale() { 1.0 } else { millivolts };
            let words = format!("{spelling}, {}", option_words(given));
            done(given.in_voltage(factor), words, StatementSource::File, None)
        }
        (Some(UnitKind::Voltage(_)), _) if !given.states_scale() => Err(format!(
            "{label} is in {spelling}, which is no acceleration; give the sensor's sensitivity in \
             mV/g (--sensitivity), or the g of one {spelling} (--scale)"
        )),
        (Some(UnitKind::Other(what)), _) if !given.states_scale() => Err(format!(
            "{label} is {what} in {spelling}, which is no acceleration; name another column \
             (--variable), or give the acceleration of one {spelling} (--scale)"
        )),
        (Some(UnitKind::Time(_)), _) if !given.states_scale() => {
            Err(format!("{label} is a time in {spelling}; name another column (--variable)"))
        }
        (Some(UnitKind::Counts), _) if !describes_counts(given) => Err(counts_refused(label, None)),
        (None, _) => match encoding {
            NumberEncoding::Counts { bits } if !describes_counts(given) => {
                Err(counts_refused(label, Some(bits)))
            }
            _ if given.unit().is_some() || given.states_scale() => by_option(None),
            NumberEncoding::Real | NumberEncoding::Counts { .. } => {
                if let Some(unknown) = unknown_unit(stated) {
                    return Err(format!(
                        "{label} is in {unknown:?}, which is no unit that is known; name another \
                         column (--variable), or state the unit (--unit) or the g of one {unknown} \
                         (--scale)"
                    ));
                }
                if let Some(refusal) = other_by_name(label, stated) {
                    return Err(refusal);
                }
                done(given, scaled_words("g", given), StatementSource::Assumed, None)
            }
        },
        _ => by_option(None),
    }
}

/// Returns the note on a field beside the numbers that may be their scale.
///
/// # Errors
/// The numbers are integers, and nothing tells whether they are to be multiplied; in words.
fn beside_factor(
    label: &str,
    stated: &StatedChannel,
    given: Calibration,
) -> Result<Option<String>, String> {
    let Some((field, number)) = stated.factor.as_ref() else { return Ok(None) };
    let is_one = (number - 1.0).abs() < 1e-12;
    if is_one || stated.scale.is_some() || given.states_scale() {
        return Ok(None);
    }
    let NumberEncoding::Counts { bits } = stated.encoding else {
        return Ok(Some(format!(
            "{label}: the field {field:?} ({number}) stands beside it and is not applied"
        )));
    };
    let counts = words_of_counts(Some(bits));
    let unit = stated.unit.as_deref().unwrap_or("g");
    let of_unit = stated.unit.as_deref().map_or_else(String::new, |unit| format!(" in {unit}"));
    let plain = field.to_lowercase().replace(['_', '-', ' '], "");
    let is_inverse =
        ["lsbper", "countsper", "countper", "digitsper"].iter().any(|w| plain.contains(w));
    let each = if is_inverse { 1.0 / number } else { *number };
    Err(format!(
        "{label} holds {counts}{of_unit}, and the field {field:?} is {number}: one count may be \
         {each} {unit}, or the field says what an amplifier has done before the converter; give \
         the {unit} of one count (--scale {each}, or another), or --scale 1 where the numbers are \
         {unit} as they are"
    ))
}

/// The calibration with the scale that the file states, and what the numbers are with it.
///
/// # Errors
/// The scale of the file and that of the option differ; or the numbers are no counts, and nothing
/// tells whether the scale is in them; in words.
fn with_scale_of_file(
    label: &str,
    stated: &StatedChannel,
    given: Calibration,
    prefer: Option<Preferred>,
) -> Result<(Calibration, NumberEncoding), String> {
    let Some(scale) = stated.scale else { return Ok((given, stated.encoding)) };
    if !given.states_scale() {
        return match stated.encoding {
            NumberEncoding::Counts { .. } => Ok((given.with_scale(scale), NumberEncoding::Real)),
            NumberEncoding::Real if (scale - 1.0).abs() < 1e-12 => Ok((given, stated.encoding)),
            NumberEncoding::Real => Err(format!(
                "{label} has a scale of {scale} beside it, and its numbers are no counts: it may \
                 be in them or not; decide with --scale 1 or --scale {scale}"
            )),
        };
    }
    let is_same = (given.scale() / scale - 1.0).abs() < 1e-6;
    let is_counts = matches!(stated.encoding, NumberEncoding::Counts { .. });
    match prefer {
        _ if is_same || !is_counts => Ok((given, stated.encoding)),
        Some(Preferred::Option) => Ok((given, stated.encoding)),
        Some(Preferred::File) => Ok((given.with_scale(scale), NumberEncoding::Real)),
        None => Err(format!(
            "{label} has a scale of {scale} by the file, the option says {}; leave out --scale, or \
             decide with --prefer file or --prefer option",
            given.scale()
        )),
    }
}

/// Returns why a channel without a unit is not taken for g: its name says another quantity.
fn other_by_name(label: &str, stated: &StatedChannel) -> Option<String> {
    let says_volts = stated.name.as_deref().is_some_and(says_voltage);
    match role(stated) {
        // a person may name the length of the vector of three axes
        ChannelRole::Other("magnitude") => None,
        ChannelRole::Other(what) => Some(format!(
            "{label} is {what} by its name, which is no acceleration; name another column \
             (--variable), or state the unit of the acceleration that it is (--unit) or the g of \
             one (--scale)"
        )),
        ChannelRole::Unknown if says_volts => Some(format!(
            "{label} is a voltage by its name, and nothing states its unit; give the sensor's \
             sensitivity in mV/g (--sensitivity, with --scale 1000 where the numbers are V), or \
             the g of one (--scale)"
        )),
        ChannelRole::Acceleration
        | ChannelRole::Time
        | ChannelRole::Count
        | ChannelRole::Unknown => None,
    }
}

/// The unit that is not known: the one that the file states, or in the brackets of a name that says
/// nothing else.
fn unknown_unit(stated: &StatedChannel) -> Option<&str> {
    if let Some(own) = stated.unit.as_deref().map(str::trim).filter(|own| !states_no_unit(own)) {
        return StatedUnit::parse(own).is_none().then_some(own);
    }
    let is_open = matches!(role(stated), ChannelRole::Unknown | ChannelRole::Acceleration);
    let name = stated.name.as_deref().filter(|_| is_open)?;
    unknown_unit_of(name)
}

/// Words with which a file says that there is no unit.
fn states_no_unit(text: &str) -> bool {
    const WORDS: [&str; 13] = [
        "", "-", "--", "none", "n/a", "na", "null", "unknown", "no unit", "no units", "unitless",
        "1", "-/-",
    ];
    WORDS.contains(&text.to_lowercase().as_str())
}

/// Whether a person has stated what a count means.
fn describes_counts(given: Calibration) -> bool {
    given.states_scale() || given.unit().is_some()
}

fn counts_refused(label: &str, bits: Option<u32>) -> String {
    let counts = words_of_counts(bits);
    format!(
        "{label} holds {counts}, and {counts} cannot be g; give the g of one count (--scale; for a \
         full scale of 10 g at 16 bits 10/32768 = 0.000305), or scale and sensitivity (--scale \
         with --sensitivity)"
    )
}

fn same_unit(asked: AccelUnit, factor: f64) -> bool {
    let own = match asked {
        AccelUnit::G => M_S2_PER_G,
        AccelUnit::MetrePerSecondSquared => 1.0,
        AccelUnit::Millivolt { .. } => return false,
    };
    (own / factor - 1.0).abs() < 1e-9
}

fn option_words(given: Calibration) -> String {
    scaled_words(&given.unit().unwrap_or_default().to_string(), given)
}

fn scaled_words(unit: &str, given: Calibration) -> String {
    if (given.scale() - 1.0).abs() < 1e-12 {
        return unit.to_owned();
    }
    let scale = given.scale();
    let scale = match scale.abs() {
        tiny if tiny < 1e-6 => format!("{scale:.6e}"),
        small if small < 0.001 => format!("{scale:.9}").trim_end_matches('0').to_owned(),
        _ => short(scale),
    };
    format!("{unit} at {scale} a count")
}

/// `16-bit counts`, or `counts` where nothing tells their bits.
fn words_of_counts(bits: Option<u32>) -> String {
    let bits =
        bits.filter(|bits| *bits > 0).map_or_else(String::new, |bits| format!("{bits}-bit "));
    format!("{bits}counts")
}
