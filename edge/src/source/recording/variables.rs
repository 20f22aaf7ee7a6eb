//! Choice of a recording among the variables of a file: MAT-files, HDF5, TDMS, universal files,
//! archives of arrays and documents hold several vectors, of which some are channels.
//!
//! 1. `--variable NAME[,NAME…]` names them: by the path, by the stated name, by the last part of
//!    the path if one variable alone has it, or by the matrix whose columns they are.
//! 2. Else vectors of one length and rate belong together. A set that is shorter than an eighth of
//!    the longest is left out (lists of settings, features, spectra of an average) and told. If one
//!    of the rest alone speaks of acceleration, it is the recording; if none does and there is one
//!    set alone, that one is. Anything else is refused with the candidates. So is a set beside it
//!    of another stated rate that may be vibration, however short it is.
//! 3. A vector that rises evenly beside others is time: it gives the rate and is no channel. Where
//!    several structs or groups have times of their own, each is that of its own vectors.
//!
//! Invariant: no order within the file and no length alone decides between candidates; which of the
//! channels of a set are used is decided by the interpretation, from their names and units.

use std::path::Path;

use ndarray::Array2;

use super::bounds::check_samples;
use super::{RawRecording, SourceError, StatedChannel, StatedStart, spectrum};
use crate::source::interpretation::{ChannelRole, role};
use apart::{TimesApart, refusal_of_snapshots};
use rising::{TimeAxis, rate_of_named_time, time_axis};
use starts::{begin_apart, starts_of_times};

pub(super) use rising::{even_step, rate_of_step};

mod apart;
mod rising;
mod starts;

/// Most channels of a recording: a rack of sensors has fewer, a vector of samples more.
pub(super) const MAX_CHANNELS: usize = 1024;

/// A set whose length is below this part of the longest one is no candidate. Chosen: an average of
/// spectra and a list of features are shorter, a slower channel of the same test (a force beside a
/// vibration, 1:16 in the public bearing sets) is not what is looked for.
const LEAST_PART: usize = 8;

/// Numbers from which on a vector that is left out may be a recording of its own. Chosen: lists of
/// settings and features are shorter.
const LEAST_TOLD: usize = 64;

/// Most vectors left out that a note names.
const MOST_TOLD: usize = 8;

/// The least rate of vibration, Hz: a set that is sampled more slowly is no rival of the recording.
/// Chosen: no bearing can be judged below, and a trend of levels has one value a second at most.
const LEAST_RIVAL_HZ: f64 = 100.0;

/// Candidates that an error lists.
const LISTED: usize = 20;

/// A vector of a file that may be a channel.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Variable {
    /// Its place in the file, by which a person can name it: `bearing.gs`, `/run/acc`, `data[1]`.
    pub(super) path: String,
    /// The file's statements on it.
    pub(super) stated: StatedChannel,
    /// The rate that the file states for it, Hz.
    pub(super) rate_hz: Option<f64>,
    /// The time of its first sample.
    pub(super) started_at: Option<StatedStart>,
    /// A note on its time for the person.
    pub(super) time_note: Option<String>,
    pub(super) numbers: Vec<f64>,
}

impl Variable {
    /// The name of the matrix of which this is a column.
    fn matrix(&self) -> &str {
        match self.path.rsplit_once('[') {
            Some((matrix, column)) if column.ends_with(']') => matrix,
            _ => &self.path,
        }
    }

    /// The name, the path where it differs, and the length.
    fn described(&self) -> String {
        let path = &self.path;
        let name = match &self.stated.name {
            Some(name) if name != path => format!("{path} ({name})"),
            _ => path.clone(),
        };
        let unit = self.stated.unit.as_ref().map_or(String::new(), |unit| format!(" in {unit}"));
        let rate = self.rate_hz.map_or(String::new(), |hz| format!(" at {hz} Hz"));
        format!("{name}{unit}{rate}, {} numbers", self.numbers.len())
    }

    /// The struct or group that holds it.
    fn scope(&self) -> &str {
        let matrix = self.matrix();
        matrix.rfind(['.', '/']).map_or("", |at| matrix.get(..at).unwrap_or_default())
    }

    /// Whether it may be a recording of vibration of its own: by its length and its stated rate,
    /// and nothing says that it is another quantity.
    fn may_be_rival(&self) -> bool {
        let key = self.stated.name.as_deref().unwrap_or(&self.path);
        let named = StatedChannel {
            name: key.rsplit(['.', '/']).next().map(str::to_owned),
            ..self.stated.clone()
        };
        let is_other = !matches!(role(&named), ChannelRole::Acceleration | ChannelRole::Unknown);
        self.numbers.len() >= LEAST_TOLD
            && self.rate_hz.is_some_and(|rate| rate >= LEAST_RIVAL_HZ)
            && (!is_other || self.says_acceleration())
            && time_axis(self).is_none()
    }

    pub(super) fn says_acceleration(&self) -> bool {
        let name = self.stated.name.as_deref().unwrap_or("").to_lowercase();
        let path = self.path.to_lowercase();
        let words = ["acc", "vib", "beschl", "schwing", "가속", "진동"];
        let unit = self.stated.unit.as_deref().unwrap_or("").trim().to_lowercase();
        words.iter().any(|word| name.contains(word) || path.contains(word))
            || ["g", "gn", "mg", "m/s2", "m/s^2", "m/s²", "m/s**2", "m·s⁻²", "m s-2", "m s^-2"]
                .contains(&unit.as_str())
    }
}

/// The recording among the variables of a file. `others` are arrays that are no vectors of real
/// numbers, each with the reason, for the error.
pub(super) fn recording_of_variables(
    path: &Path,
    format: &'static str,
    mut variables: Vec<Variable>,
    others: &[String],
    wanted: Option<&str>,
) -> Result<RawRecording, SourceError> {
    take_rates_of_times(&mut variables, wanted.is_some());
    let starts = starts_of_times(&variables);
    let abscissas = abscissas_of(&variables);
    let times = TimesApart::of(&variables);
    let (chosen, left_out) = match wanted {
        Some(names) => (named(path, variables, others, names)?, Vec::new()),
        None => fitting(path, format, variables, others, &abscissas)?,
    };
    let spectrum_over =
        abscissas.into_iter().find(|abscissa| chosen.iter().any(|one| abscissa.is_of(one)));
    let (channels, time) = without_time(chosen);
    if let Some(what) = refusal_of_snapshots(&channels).filter(|_| wanted.is_none()) {
        return Err(SourceError::options(path, what));
    }
    let samples = channels.first().map_or(0, |first| first.numbers.len());
    check_samples(path, samples.saturating_mul(channels.len()))?;
    let stated_rate = channels.iter().find_map(|channel| channel.rate_hz);
    let (time, time_path) = time.unzip();
    let time_rate = time.as_ref().and_then(|time| time.rate_hz);
    let begins_apart = begin_apart(&channels);
    let of_times = time.as_ref().and_then(|time| time.started_at.clone());
    let start = starts::start_of(&channels, of_times, &starts);
    let time_note = channels.iter().find_map(|channel| channel.time_note.clone());
    let mut data = Array2::zeros((channels.len(), samples));
    let mut stated = Vec::new();
    for (mut row, channel) in data.outer_iter_mut().zip(channels) {
        row.iter_mut().zip(&channel.numbers).for_each(|(to, &from)| *to = from);
        let name = channel.stated.name.clone().or_else(|| Some(channel.path.clone()));
        stated.push(StatedChannel { name, ..channel.stated });
    }
    let rate_hz = stated_rate.or(time_rate);
    let (of_apart, told) =
        times.rate_for(samples).filter(|_| rate_hz.is_none() && wanted.is_none()).unzip();
    let mut recording = RawRecording::described(format, data, stated, rate_hz.or(of_apart));
    recording.notes.extend(told);
    if let Some(StatedStart { at, is_local, origin }) = start {
        recording.stated_start = Some(at);
        (recording.is_start_local, recording.start_origin) = (is_local, Some(origin));
    }
    recording.notes.extend(begins_apart);
    recording.notes.extend(time_note);
    recording.spectrum_over = spectrum_over.map(|abscissa| abscissa.path);
    recording.unread = others.to_vec();
    if !left_out.is_empty() {
        let more = if left_out.len() > MOST_TOLD { ", …" } else { "" };
        let named = left_out[..left_out.len().min(MOST_TOLD)].join(", ");
        recording.notes.push(format!("not read, of another length or rate: {named}{more}"));
    }
    // a field with a rate may be left over from another recording: both are stated, none is chosen
    if let (Some(rate_hz), Some(time_path)) = (stated_rate.and(time_rate), time_path) {
        recording.time = Some(crate::source::time_axis::TimeAxis::even(time_path, rate_hz));
    }
    Ok(recording)
}

/// A vector of frequencies, over which vectors of its length beside it are a spectrum.
struct Abscissa {
    path: String,
    scope: String,
    length: usize,
}

impl Abscissa {
    fn is_of(&self, variable: &Variable) -> bool {
        self.length == variable.numbers.len() && self.scope == variable.scope()
    }
}

fn is_over_abscissa(variable: &Variable, abscissas: &[Abscissa]) -> bool {
    abscissas.iter().any(|abscissa| abscissa.is_of(variable))
}

/// The abscissas of spectra, without those beside which there is a time of their length.
fn abscissas_of(variables: &[Variable]) -> Vec<Abscissa> {
    let named = |variable: &Variable| StatedChannel {
        name: variable.stated.name.clone().or_else(|| Some(variable.path.clone())),
        ..variable.stated.clone()
    };
    let mut all: Vec<Abscissa> = variables
        .iter()
        .filter(|variable| spectrum::is_abscissa(&named(variable), &variable.numbers))
        .map(|variable| Abscissa {
            path: variable.path.clone(),
            scope: variable.scope().to_owned(),
            length: variable.numbers.len(),
        })
        .collect();
    let is_time = |variable: &&Variable| {
        let own = named(variable);
        let key = own.name.as_deref().and_then(|name| name.rsplit(['.', '/']).next());
        key.is_some_and(|key| ChannelRole::by_name(key) == ChannelRole::Time)
            && time_axis(variable).is_some()
    };
    if !all.is_empty() {
        let times: Vec<&Variable> = variables.iter().filter(is_time).collect();
        all.retain(|abscissa| !times.iter().any(|time| abscissa.is_of(time)));
    }
    all
}

/// Gives vectors without a rate that of the times beside them, where several structs have times of
/// different rates, or a person names vectors without their time.
fn take_rates_of_times(variables: &mut [Variable], is_named: bool) {
    let mut times: Vec<(String, usize, f64)> = Vec::new();
    for variable in variables.iter() {
        if let Some(rate) = rate_of_named_time(variable) {
            times.push((variable.scope().to_owned(), variable.numbers.len(), rate));
        }
    }
    let differs = |other: &(String, usize, f64)| !is_same_rate(times[0].2, other.2);
    if times.is_empty() || !(is_named || times.iter().any(differs)) {
        return;
    }
    for variable in variables.iter_mut().filter(|variable| variable.rate_hz.is_none()) {
        let own = |(scope, length, _): &&(String, usize, f64)| {
            scope == variable.scope() && *length == variable.numbers.len()
        };
        variable.rate_hz = times.iter().find(own).map(|(.., rate)| *rate);
    }
}

/// Rates of two statements that are one: they are written with six digits or more.
fn is_same_rate(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * a.abs()
}

/// The variables that a person names.
fn named(
    path: &Path,
    variables: Vec<Variable>,
    others: &[String],
    names: &str,
) -> Result<Vec<Variable>, SourceError> {
    let mut indices = Vec::new();
    // a path may hold a comma
    let names: Vec<&str> = match indices_of(&variables, names) {
        Some(_) => vec![names],
        None => names.split(',').map(str::trim).collect(),
    };
    for name in names {
        let Some(found) = indices_of(&variables, name) else {
            let reason = others.iter().find(|other| other.starts_with(&format!("{name} ")));
            let what = reason.map_or_else(
                || {
                    format!(
                        "no numeric variable {name:?}; there are {}",
                        listed(&variables, others)
                    )
                },
                |reason| format!("variable {reason}; a recording is a vector of real numbers"),
            );
            return Err(SourceError::options(path, what));
        };
        indices.extend(found);
    }
    indices.dedup();
    let mut chosen: Vec<Variable> = Vec::new();
    for index in indices {
        chosen.push(variables[index].clone());
    }
    let length = chosen.first().map_or(0, |first| first.numbers.len());
    if length < 2 {
        let what = format!(
            "{}: a recording has more than one sample; there are {}",
            chosen.first().map_or_else(String::new, Variable::described),
            listed(&variables, others)
        );
        return Err(SourceError::options(path, what));
    }
    if let Some(other) = chosen.iter().find(|other| other.numbers.len() != length) {
        let what = format!(
            "{} and {} are not equally long; name those of one length (--variable)",
            chosen[0].described(),
            other.described()
        );
        return Err(SourceError::options(path, what));
    }
    let rated = chosen.iter().find(|own| own.rate_hz.is_some());
    let differs = |other: &&Variable| {
        let rates = rated.and_then(|own| own.rate_hz).zip(other.rate_hz);
        rates.is_some_and(|(own, other)| !is_same_rate(own, other))
    };
    if let (Some(own), Some(other)) = (rated, chosen.iter().find(differs)) {
        let what = format!(
            "{} and {} are of different rates; name those of one rate (--variable)",
            own.described(),
            other.described()
        );
        return Err(SourceError::options(path, what));
    }
    check_count(path, chosen.len())?;
    Ok(chosen)
}

/// The variables of this name: one, or the columns of a matrix.
fn indices_of(variables: &[Variable], name: &str) -> Option<Vec<usize>> {
    let all = |is_meant: &dyn Fn(&Variable) -> bool| -> Vec<usize> {
        variables.iter().enumerate().filter(|(_, v)| is_meant(v)).map(|(i, _)| i).collect()
    };
    let by_path = all(&|v| v.path == name);
    let by_matrix = all(&|v| v.matrix() == name);
    let by_name = all(&|v| v.stated.name.as_deref() == Some(name));
    let last = |v: &Variable| v.matrix().rsplit(['.', '/']).next().map(str::to_owned);
    let by_last = all(&|v| last(v).as_deref() == Some(name));
    if !by_path.is_empty() {
        return Some(by_path);
    }
    if !by_matrix.is_empty() {
        return Some(by_matrix);
    }
    [by_name, by_last].into_iter().find(|found| found.len() == 1)
}

/// The set of equally long variables that can be the recording.
fn fitting(
    path: &Path,
    format: &str,
    variables: Vec<Variable>,
    others: &[String],
    abscissas: &[Abscissa],
) -> Result<(Vec<Variable>, Vec<String>), SourceError> {
    let longest = variables.iter().map(|v| v.numbers.len()).max().unwrap_or(0);
    if longest < 2 {
        let what = format!(
            "no vector of numbers in this {format}; there are {}",
            listed(&variables, others)
        );
        return Err(SourceError::malformed(path, what));
    }
    let mut sets: Vec<Vec<Variable>> = Vec::new();
    let mut left_out = Vec::new();
    for variable in variables {
        let is_short = variable.numbers.len() * LEAST_PART < longest && !variable.may_be_rival();
        if variable.numbers.len() < 2 || is_short {
            left_out.extend(told(&variable));
            continue;
        }
        match sets.iter_mut().find(|set| belongs(&variable, set)) {
            Some(set) => set.push(variable),
            None => sets.push(vec![variable]),
        }
    }
    sets.retain(|set| set.iter().any(|v| time_axis(v).is_none()) || set.len() == 1);
    // a spectrum beside the recording is no rival of it
    let is_spectrum = |set: &Vec<Variable>| set.iter().any(|one| is_over_abscissa(one, abscissas));
    if sets.iter().any(|set| !is_spectrum(set)) {
        let spectra = sets.extract_if(.., |set| is_spectrum(set));
        left_out.extend(spectra.flatten().map(|one| format!("{} (a spectrum)", one.path)));
    }
    let Some(index) = chosen_set(&sets) else {
        let all: Vec<Variable> = sets.into_iter().flatten().collect();
        let what = format!(
            "several variables could be the recording, of different length or rate; name one \
             (--variable): {}",
            listed(&all, &[])
        );
        return Err(SourceError::options(path, what));
    };
    let set = sets.swap_remove(index);
    check_count(path, set.len())?;
    left_out.extend(sets.iter().flatten().filter_map(told));
    Ok((set, left_out))
}

/// The set that is the recording: the only one, or the only one that speaks of acceleration,
/// without a rival of another rate.
fn chosen_set(sets: &[Vec<Variable>]) -> Option<usize> {
    let says = |set: &Vec<Variable>| set.iter().any(Variable::says_acceleration);
    let speaking: Vec<usize> = (0..sets.len()).filter(|at| says(&sets[*at])).collect();
    let index = match (speaking.as_slice(), sets.len()) {
        ([one], _) => *one,
        ([], 1) => 0,
        _ => return None,
    };
    let own = sets[index].iter().find_map(|variable| variable.rate_hz);
    let is_rival = |variable: &Variable| {
        let differs = own.zip(variable.rate_hz).is_some_and(|(own, rate)| !is_same_rate(own, rate));
        differs && variable.may_be_rival()
    };
    let others = || sets.iter().enumerate().filter(|(at, _)| *at != index);
    let has_rival = others().any(|(_, set)| set.iter().any(is_rival));
    (!has_rival).then_some(index)
}

/// Describes a variable that is left out, if it is told: a recording of its own, no list of
/// settings and no time.
fn told(variable: &Variable) -> Option<String> {
    let is_told = variable.numbers.len() >= LEAST_TOLD
        || (variable.says_acceleration() && variable.numbers.len() > 1);
    if !is_told || time_axis(variable).is_some() {
        return None;
    }
    Some(variable.described())
}

fn belongs(variable: &Variable, set: &[Variable]) -> bool {
    set.iter().all(|other| {
        other.numbers.len() == variable.numbers.len()
            && match (other.rate_hz, variable.rate_hz) {
                (Some(a), Some(b)) => is_same_rate(a, b),
                (None, None) => true,
                // a rate is that of the struct or group in which it stands
                (Some(_), None) | (None, Some(_)) => other.scope() == variable.scope(),
            }
    })
}

fn check_count(path: &Path, channels: usize) -> Result<(), SourceError> {
    if channels <= MAX_CHANNELS {
        return Ok(());
    }
    let what = format!(
        "{channels} equally long variables or columns; a recording has at most {MAX_CHANNELS} \
         channels, name those that are meant (--variable)"
    );
    Err(SourceError::options(path, what))
}

/// The channels without the vector of their times, and what the times say.
fn without_time(chosen: Vec<Variable>) -> (Vec<Variable>, Option<(TimeAxis, String)>) {
    let axes: Vec<Option<TimeAxis>> = chosen.iter().map(time_axis).collect();
    if axes.iter().all(Option::is_some) {
        return (chosen, None);
    }
    let mut time = None;
    let mut channels = Vec::new();
    for (variable, axis) in chosen.into_iter().zip(axes) {
        match axis {
            None => channels.push(variable),
            // of a count and a time the time has the rate
            Some(axis) => {
                let is_better =
                    |(old, _): &(TimeAxis, String)| old.rate_hz.is_none() && axis.rate_hz.is_some();
                if time.as_ref().is_none_or(is_better) {
                    time = Some((axis, variable.path));
                }
            }
        }
    }
    (channels, time)
}

/// A list of the variables for an error.
fn listed(variables: &[Variable], others: &[String]) -> String {
    if variables.is_empty() && others.is_empty() {
        return "no numeric variables".to_owned();
    }
    let all = variables.len() + others.len();
    let mut names: Vec<String> = variables
        .iter()
        .map(Variable::described)
        .chain(others.iter().cloned())
        .take(LISTED)
        .collect();
    if all > LISTED {
        names.push(format!("… {} more", all - LISTED));
    }
    names.join("; ")
}

#[cfg(test)]
mod tests;
