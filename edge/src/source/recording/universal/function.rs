//! The header of a function: what it is, how its numbers are written, labels and units of its axes.

use super::created::{StatedCreation, creation_of};
use super::{Lines, Variable, is_delimiter};
use crate::source::recording::variables::{even_step, rate_of_step};
use crate::source::recording::{NumberEncoding, StatedChannel};

/// Kinds of functions (record 6, field 1) that are no time response.
const OTHER_FUNCTIONS: [(i64, &str); 12] = [
    (2, "an auto spectrum"),
    (3, "a cross spectrum"),
    (4, "a frequency response"),
    (5, "a transmissibility"),
    (6, "a coherence"),
    (7, "an auto correlation"),
    (8, "a cross correlation"),
    (9, "a power spectral density"),
    (10, "an energy spectral density"),
    (11, "a probability density"),
    (12, "a spectrum"),
    (16, "a spectrum"),
];

/// The statements on an axis (records 8 to 11).
#[derive(Debug, Clone, Default)]
struct Axis {
    kind: i64,
    label: String,
    unit: String,
}

/// The header of dataset 58.
pub(super) struct FunctionHead {
    function: i64,
    /// 2 and 5 are single precision, 4 and 6 double; 5 and 6 are complex.
    ordinate_form: i64,
    pub(super) points: usize,
    pub(super) is_even: bool,
    step: f64,
    /// The first value of an even abscissa.
    least: f64,
    creation: StatedCreation,
    abscissa: Axis,
    ordinate: Axis,
    identifier: String,
    response: String,
    unit_code: Option<i64>,
}

impl FunctionHead {
    /// Reads the eleven lines.
    pub(super) fn parse(lines: &mut Lines<'_>, unit_code: Option<i64>) -> Result<Self, String> {
        let mut header = Vec::new();
        for _ in 0..11 {
            let line = lines.next_line().ok_or("the file ends within the header")?;
            if header.len() >= 5 && is_delimiter(line) {
                return Err(format!("its header has {} lines of 11", header.len()));
            }
            header.push(text_of(line));
        }
        let function = tokens(&header[5]);
        let form = tokens(&header[6]);
        let whole = |tokens: &[String], at: usize, what: &str| -> Result<i64, String> {
            let token = tokens.get(at).ok_or_else(|| format!("its header states no {what}"))?;
            token.parse().map_err(|_| format!("{token:?} is no {what}"))
        };
        let points = whole(&form, 1, "number of points")?;
        let step = form.get(4).and_then(|token| super::numbers::number_of(token)).unwrap_or(0.0);
        Ok(Self {
            function: whole(&function, 0, "kind of function")?,
            ordinate_form: whole(&form, 0, "form of the numbers")?,
            points: usize::try_from(points).map_err(|_| format!("it states {points} points"))?,
            is_even: whole(&form, 2, "spacing")? != 0,
            step,
            least: form.get(3).and_then(|token| super::numbers::number_of(token)).unwrap_or(0.0),
            creation: creation_of(&header[..5]),
            abscissa: axis(&header[7]),
            ordinate: axis(&header[8]),
            identifier: header[0].trim().to_owned(),
            response: response_of(&header[5]),
            unit_code,
        })
    }

    pub(super) const fn is_double(&self) -> bool {
        matches!(self.ordinate_form, 4 | 6)
    }

    pub(super) const fn is_complex(&self) -> bool {
        matches!(self.ordinate_form, 5 | 6)
    }

    /// Numbers of the whole dataset.
    pub(super) fn count(&self) -> Result<usize, String> {
        if !matches!(self.ordinate_form, 2 | 4 | 5 | 6) {
            let form = self.ordinate_form;
            return Err(format!("numbers of the form {form}; 2, 4, 5 and 6 are known"));
        }
        let each = 1 + usize::from(self.is_complex()) + usize::from(!self.is_even);
        let points = self.points;
        points.checked_mul(each).ok_or_else(|| format!("{points} points are more than any memory"))
    }

    /// Returns why the function is no recording.
    pub(super) fn refusal(&self) -> Option<String> {
        let named = OTHER_FUNCTIONS.iter().find(|(code, _)| *code == self.function);
        if let Some((code, name)) = named {
            return Some(format!("{name}, function type {code}"));
        }
        if self.is_complex() {
            return Some("complex numbers".to_owned());
        }
        if self.abscissa.kind == 18 || self.abscissa.unit.eq_ignore_ascii_case("hz") {
            return Some("a function of frequency".to_owned());
        }
        None
    }

    /// The function as a variable. Of an uneven abscissa the numbers are pairs.
    pub(super) fn variable(&self, path: String, numbers: Vec<f64>) -> Variable {
        let (step, numbers) = if self.is_even {
            (Some(self.step).filter(|step| *step > 0.0), numbers)
        } else {
            let times: Vec<f64> = numbers.iter().step_by(2).copied().collect();
            (even_step(&times), numbers.into_iter().skip(1).step_by(2).collect())
        };
        let is_time = matches!(self.abscissa.kind, 0 | 17);
        let rate_hz = step.filter(|_| is_time).and_then(|s| rate_of_step(s, &self.abscissa.unit));
        let stated = StatedChannel {
            name: Some(self.name()).filter(|name| !name.is_empty()),
            unit: self.unit(),
            encoding: NumberEncoding::Real,
            scale: None,
            factor: None,
        };
        let unit_s = rate_of_step(1.0, &self.abscissa.unit).filter(|_| is_time).map(|hz| 1.0 / hz);
        let started_at = self.creation.start(unit_s.map_or(0.0, |unit_s| unit_s * self.least));
        let time_note = self.creation.note.clone();
        Variable { path, stated, rate_hz, started_at, time_note, numbers }
    }

    /// The ordinate's label and the place of the response, else the first line of text.
    fn name(&self) -> String {
        let quantity = match self.ordinate.kind {
            8 => "displacement",
            9 | 13 => "force",
            11 => "velocity",
            12 => "acceleration",
            15 => "pressure",
            5 => "temperature",
            _ => "",
        };
        let label = if self.ordinate.label.is_empty() { quantity } else { &self.ordinate.label };
        let place = if self.response.is_empty() { &self.identifier } else { &self.response };
        match (label.is_empty(), is_none(place)) {
            (true, true) => String::new(),
            (true, false) => place.clone(),
            (false, true) => label.to_owned(),
            (false, false) if place.contains(label) => place.clone(),
            (false, false) => format!("{label} {place}"),
        }
    }

    /// The ordinate's unit; without one that of the file's system of units, for an acceleration.
    fn unit(&self) -> Option<String> {
        if !self.ordinate.unit.is_empty() {
            return Some(self.ordinate.unit.clone());
        }
        match (self.ordinate.kind, self.unit_code) {
            (12, Some(1)) => Some("m/s^2".to_owned()),
            (12, Some(5 | 9)) => Some("mm/s^2".to_owned()),
            _ => None,
        }
    }
}

/// The line as text: UTF-8, else Latin-1.
fn text_of(line: &[u8]) -> String {
    let text = std::str::from_utf8(line).map(str::to_owned);
    let text = text.unwrap_or_else(|_| line.iter().map(|&byte| char::from(byte)).collect());
    text.trim_end_matches(['\r', '\n']).to_owned()
}

fn tokens(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn is_none(text: &str) -> bool {
    text.is_empty() || text.eq_ignore_ascii_case("none")
}

fn columns(line: &str, from: usize, to: usize) -> String {
    let text: String = line.chars().skip(from).take(to - from).collect();
    let text = text.trim();
    if is_none(text) { String::new() } else { text.to_owned() }
}

/// An axis: `I10, 3 I5, 2 (1X, 20 A1)`.
fn axis(line: &str) -> Axis {
    Axis {
        kind: columns(line, 0, 10).parse().unwrap_or(0),
        label: columns(line, 25, 46),
        unit: columns(line, 46, 80),
    }
}

/// Name, node and direction of the response (record 6: `2(I5,I10), 2(1X,10A1,I10,I4)`).
fn response_of(line: &str) -> String {
    let entity = columns(line, 30, 41);
    let (node, direction) = (columns(line, 41, 51), columns(line, 51, 55));
    let direction = match direction.as_str() {
        "1" => "+X",
        "-1" => "-X",
        "2" => "+Y",
        "-2" => "-Y",
        "3" => "+Z",
        "-3" => "-Z",
        _ => "",
    };
    if entity.is_empty() && direction.is_empty() {
        return String::new();
    }
    let parts = [entity.as_str(), node.as_str(), direction];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(" ")
}
