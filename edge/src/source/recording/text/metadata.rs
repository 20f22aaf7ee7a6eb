//! Statements in the lines above a table: rate, interval from sample to sample.
//!
//! `# rate: 2560 Hz`, `Sampling Frequency;2560`, `Delta_X 0.000390625`, `측정주파수 : 2560`.

use crate::source::interpretation::{StatedUnit, UnitKind};
use crate::tabular::Decimal;

mod several;

pub(super) use several::factor_of;
use several::{interval_of, is_of_another_quantity, rate_of_words, rates_in};

/// What the lines state.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Metadata {
    /// Samples per second, Hz.
    pub(super) rate_hz: Option<f64>,
    /// Another rate that the lines state.
    pub(super) other_rate_hz: Option<f64>,
}

/// Words for a rate, in lower case without spaces, `_` and `-`.
const RATE: [&str; 42] = [
    "采样频率",
    "采样率",
    "采样速率",
    "取样频率",
    "取樣頻率",
    "採樣頻率",
    "サンプリング周波数",
    "サンプリングレート",
    "標本化周波数",
    "fréquenced'échantillonnage",
    "frequenced'echantillonnage",
    "fréquenced’échantillonnage",
    "tauxd'échantillonnage",
    "frecuenciademuestreo",
    "tasademuestreo",
    "velocidaddemuestreo",
    "frequenzadicampionamento",
    "frequenzacampionamento",
    "frequênciadeamostragem",
    "frequenciadeamostragem",
    "bemonsteringsfrequentie",
    "частотадискретизации",
    "updaterate",
    "scanrate",
    "acquisitionrate",
    "samplingrate",
    "samplerate",
    "samplingfrequency",
    "samplefrequency",
    "datarate",
    "samplingfreq",
    "samplefreq",
    "outputdatarate",
    "abtastrate",
    "abtastfrequenz",
    "messrate",
    "샘플링주파수",
    "샘플링레이트",
    "샘플링속도",
    "측정주파수",
    "표본화율",
    "samplespersecond",
];
/// Words for a rate only where they are the whole key.
const RATE_WHOLE: [&str; 7] = ["rate", "fs", "sr", "odr", "freq", "frequency", "sampling"];
const INTERVAL: [&str; 21] = [
    "timeincrement",
    "zeitinkrement",
    "xdelta",
    "sampleperiod",
    "采样间隔",
    "采样周期",
    "サンプリング間隔",
    "サンプリング周期",
    "périoded'échantillonnage",
    "periododemuestreo",
    "deltax",
    "deltat",
    "samplinginterval",
    "sampleinterval",
    "samplingperiod",
    "timeinterval",
    "timestep",
    "abtastintervall",
    "샘플링간격",
    "xincrement",
    "sampletime",
];
const INTERVAL_WHOLE: [&str; 6] = ["dt", "dx", "increment", "interval", "tinc", "xinc"];

/// Words by which a line may speak of a rate, whatever else it says, in lower case.
const HINTS: [&str; 14] = [
    "delta",
    "increment",
    "hz",
    "sps",
    "rate",
    "freq",
    "sampl",
    "abtast",
    "échantillon",
    "muestre",
    "campion",
    "采样",
    "サンプリング",
    "샘플",
];

/// Most lines that may speak of a rate and are told.
const MOST_HINTS: usize = 3;

impl Metadata {
    /// Reads the lines; the first statement of a kind counts.
    pub(super) fn of_lines<'a>(lines: impl Iterator<Item = &'a str>) -> Self {
        let mut found = Self::default();
        for line in lines {
            let line = line.trim().trim_start_matches(['#', '%', '/', '*', ';', '!', '"', ' ']);
            found.rate_hz = found.rate_hz.or_else(|| rate_of_fields(line));
            for part in statements_in(line).flat_map(parts_of) {
                found.take(part, false);
            }
        }
        found
    }

    /// Reads the lines of a file whose numbers have this decimal sign.
    pub(super) fn of_form<'a>(decimal: Decimal, lines: impl Iterator<Item = &'a str>) -> Self {
        match decimal {
            Decimal::Comma => Self::of_comma_lines(lines),
            Decimal::Point => Self::of_lines(lines),
        }
    }

    /// Reads the lines of a file whose numbers have a decimal comma: there a point before three
    /// digits is one of thousands (`Abtastrate;12.800 Hz`).
    pub(super) fn of_comma_lines<'a>(lines: impl Iterator<Item = &'a str>) -> Self {
        let lines: Vec<String> = lines.map(without_points_of_thousands).collect();
        Self::of_lines(lines.iter().map(String::as_str))
    }

    /// Takes the statement of a part. Below a heading a word alone (`Mains: frequency = 50 Hz`) is
    /// that of the heading, so only words that speak of sampling count.
    fn take(&mut self, part: &str, has_heading: bool) {
        let Some((key, value)) = key_and_value(part) else {
            self.rate_hz =
                self.rate_hz.or_else(|| rate_in_sentence(part)).or_else(|| rate_of_words(part));
            return;
        };
        let key_unit = StatedUnit::in_header(key).map(|unit| unit.kind);
        let name: String = key.split(['(', '[']).next().unwrap_or(key).to_lowercase();
        let name: String = name.chars().filter(|c| !matches!(c, ' ' | '_' | '-' | '.')).collect();
        let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
        let is = |words: &[&str]| !has_heading && words.contains(&name.as_str());
        if is_of_another_quantity(key) {
            return;
        }
        if has(&RATE) || is(&RATE_WHOLE) {
            let factor = if key.to_lowercase().contains("khz") { 1000.0 } else { 1.0 };
            let rate = rate_of(value).map(|hz| hz * factor);
            self.rate_hz = self.rate_hz.or(rate);
            let is_sure = !has_heading && has(&RATE);
            let mut others = rates_in(value).into_iter().chain(rate.filter(|_| is_sure));
            let differs =
                |other: &f64| self.rate_hz.is_some_and(|own| (other / own - 1.0).abs() > 1e-3);
            self.other_rate_hz = self.other_rate_hz.or(others.rfind(differs));
        } else if has(&INTERVAL) || is(&INTERVAL_WHOLE) {
            let unit_s = match key_unit {
                Some(UnitKind::Time(seconds)) => seconds,
                _ => 1.0,
            };
            let rate = interval_of(value, unit_s).map(|seconds| 1.0 / seconds);
            self.rate_hz = self.rate_hz.or(rate);
        } else if is(&["delta"]) {
            // `Delta: 7.8125e-005 sec.`: without a unit it may be anything
            let is_time = || {
                let (_, rest) = leading_number(value)?;
                let word = rest.split_whitespace().next()?;
                Some(matches!(StatedUnit::parse(word)?.kind, UnitKind::Time(_)))
            };
            let rate = interval_of(value, 1.0).map(|seconds| 1.0 / seconds);
            self.rate_hz = self.rate_hz.or(rate.filter(|_| is_time() == Some(true)));
        } else if value.contains(['=', ':']) {
            // `Config: data_rate = 2000 Hz`: a heading before the statement
            self.take(value, true);
        }
    }
}

/// A text without the points between one to three digits and three more.
fn without_points_of_thousands(line: &str) -> String {
    let bytes = line.as_bytes();
    let count = |bytes: &mut dyn Iterator<Item = &u8>| -> (usize, Option<u8>) {
        let mut digits = 0;
        for byte in bytes {
            if !byte.is_ascii_digit() {
                return (digits, Some(*byte));
            }
            digits += 1;
        }
        (digits, None)
    };
    let is_thousands = |at: usize| {
        let (before, left) = count(&mut bytes[..at].iter().rev());
        let (behind, right) = count(&mut bytes[at + 1..].iter());
        let starts_with_zero = bytes.get(at - before) == Some(&b'0');
        (1..=3).contains(&before)
            && behind == 3
            && !starts_with_zero
            && left != Some(b'.')
            && right != Some(b'.')
    };
    let kept = line.char_indices().filter(|(at, c)| *c != '.' || !is_thousands(*at));
    kept.map(|(_, c)| c).collect()
}

/// Lines that may speak of a rate by a word and a number, for a person who is asked for it.
pub(super) fn rate_hints<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let speaks = |line: &&str| {
        let lower = line.to_lowercase();
        lower.contains(|c: char| c.is_ascii_digit())
            && HINTS.iter().any(|word| lower.contains(word))
    };
    let shown = |line: &str| line.trim().chars().take(80).collect::<String>();
    lines.filter(speaks).take(MOST_HINTS).map(shown).collect()
}

/// Words beside a rate by which it is not the rate of one channel's rows, in lower case.
const RATE_OF_OTHERS: [&str; 8] =
    ["total", "aggregate", "combined", "gesamt", "overall", "summen", "총 ", "合计"];

/// The line by which a stated rate may be another one than that of the rows: samples are left out,
/// or it is that of all channels together.
pub(super) fn rate_doubt<'a>(lines: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let number = |line: &str| -> Option<f64> {
        let digits =
            line.rsplit(|c: char| !(c.is_ascii_digit() || c == '.')).find(|part| !part.is_empty());
        digits?.trim_matches('.').parse().ok()
    };
    let is_doubt = |line: &&str| {
        let lower = line.to_lowercase();
        let has_rate = || Metadata::of_lines(std::iter::once(*line)).rate_hz.is_some();
        let leaves_out =
            ["decimat", "downsampl", "dezimation"].iter().any(|word| lower.contains(word))
                && number(&lower).is_some_and(|factor| factor > 1.0);
        leaves_out || (RATE_OF_OTHERS.iter().any(|word| lower.contains(word)) && has_rate())
    };
    lines.map(str::trim).find(is_doubt)
}

/// The statements of a line that stand apart by many blanks, as analyzers print them: `Date: 1 May
/// Units: G`.
pub(super) fn statements_in(line: &str) -> impl Iterator<Item = &str> {
    const APART: &str = "   ";
    let has_several = line.split(APART).filter(|part| part.contains([':', '='])).count() > 1;
    // a key may stand apart from its own value
    let joint = if has_several { APART } else { "\u{0}" };
    line.split(joint).map(str::trim).filter(|part| !part.is_empty())
}

/// The rate of a row that states one for each column: `12800 Hz<tab>12800 Hz`.
pub(super) fn rate_of_fields(line: &str) -> Option<f64> {
    let fields = fields_of_rates(line)?;
    let first = *fields.first()?;
    fields.iter().all(|other| (other / first - 1.0).abs() < 1e-9).then_some(first)
}

/// The rates of such a row.
pub(super) fn fields_of_rates(line: &str) -> Option<Vec<f64>> {
    let rate = |field: &str| {
        let field = field.trim().trim_matches('"');
        let has_unit = field.to_lowercase().ends_with("hz");
        rate_of(field).filter(|_| has_unit && field.starts_with(|c: char| c.is_ascii_digit()))
    };
    let rates: Vec<f64> = line
        .trim()
        .trim_end_matches([';', '\t'])
        .split(['\t', ';'])
        .map(rate)
        .collect::<Option<_>>()?;
    (rates.len() > 1).then_some(rates)
}

/// The statements of one line: `data_rate = 2560.0 Hz, acc_range = 4 g` has two.
fn parts_of(line: &str) -> impl Iterator<Item = &str> {
    let count = line.matches(['=', ':']).count();
    // `Fs=8192;N=8192`
    let by_semicolon = count > 1 && line.matches(';').count() + 1 == line.matches('=').count();
    let separator = match (count > 1, by_semicolon) {
        (_, true) => ";",
        (true, false) => ", ",
        (false, false) => "\u{0}",
    };
    line.split(separator).map(str::trim)
}

fn key_and_value(part: &str) -> Option<(&str, &str)> {
    // the comma of `sampled at 2,560 Hz` belongs to the number
    let is_between_digits = |at: &usize| {
        let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        digit(part[..*at].chars().next_back()) && digit(part[*at + 1..].chars().next())
    };
    let comma = || part.find(',').filter(|at| !is_between_digits(at));
    let at = part.find(['=', ':', '：', ';', '\t']).or_else(comma)?;
    let (key, value) = part.split_at(at);
    let value = value.trim_start_matches(['=', ':', '：', ';', '\t', ',', ' ']);
    let value = value.trim_end_matches([';', ',', '\t', '"', ' ']);
    Some((key.trim().trim_matches('"'), value.trim_start_matches('"')))
}

/// The number at the beginning of a value, and the text behind it.
fn leading_number(value: &str) -> Option<(f64, &str)> {
    let end = value
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | '+' | 'e' | 'E')))
        .unwrap_or(value.len());
    let (number, rest) = value.split_at(end);
    let number = number.trim_end_matches(['e', 'E', ',', '.']);
    let number =
        if number.contains('.') { number.replace(',', "") } else { number.replace(',', ".") };
    let number: f64 = number.parse().ok()?;
    (number.is_finite() && number > 0.0).then_some((number, rest))
}

/// A rate with a unit. `5,120 Hz` is 5120 Hz: nobody states a rate to a thousandth of a hertz and
/// without thousands. In kHz three digits behind a comma are decimals.
fn rate_of(value: &str) -> Option<f64> {
    let (number, rest) = leading_number(value)?;
    let is_kilo = rest.trim_start().to_lowercase().starts_with('k');
    let number = if is_kilo { number } else { thousands(value).unwrap_or(number) };
    if !is_kilo && may_be_thousands(value, number) {
        return None;
    }
    let unit = rest.trim_matches([' ', '[', ']', '(', ')', ';', ',', '\t', '"']).to_lowercase();
    let unit = unit.split([';', ',', '\t', ' ']).next().unwrap_or("").trim_end_matches('.');
    match unit {
        "khz" | "ks/s" | "ksps" | "ksa/s" | "кгц" => Some(number * 1000.0),
        "" | "hz" | "s/s" | "sps" | "sa/s" | "samples/s" | "samples/sec" | "1/s" | "hertz"
        | "samples" | "гц" | "赫兹" | "ヘルツ" | "헤르츠" => Some(number),
        _ => None,
    }
}

/// Rate below which nothing with three decimals is believed without a look, Hz: no vibration is
/// sampled so slowly.
const LEAST_WITH_DECIMALS_HZ: f64 = 100.0;

/// Whether a rate such as `12.800 Hz` may be 12,800 Hz, as it is where the comma is the decimal
/// sign.
fn may_be_thousands(value: &str, number: f64) -> bool {
    let digits: &str =
        value.split(|c: char| !(c.is_ascii_digit() || c == '.')).next().unwrap_or("");
    let has_form = digits.split_once('.').is_some_and(|(whole, part)| {
        (1..=3).contains(&whole.len()) && !whole.starts_with('0') && part.len() == 3
    });
    has_form && number < LEAST_WITH_DECIMALS_HZ
}

/// The number of `5,120`: one comma with one to three digits before it, the first not 0, and three
/// behind it.
fn thousands(value: &str) -> Option<f64> {
    let end = value.find(|c: char| !(c.is_ascii_digit() || c == ',')).unwrap_or(value.len());
    let (whole, rest) = value.get(..end)?.split_once(',')?;
    let fits = (1..=3).contains(&whole.len()) && !whole.starts_with('0') && rest.len() == 3;
    fits.then(|| format!("{whole}{rest}").parse().ok()).flatten()
}

/// The rate of a line such as `sampled at 2560 Hz`: one number with the unit of a rate in it.
fn rate_in_sentence(line: &str) -> Option<f64> {
    let lower = line.to_lowercase();
    let words = [
        "sampl",
        "abtast",
        "gemessen mit",
        "샘플링",
        "표본화",
        "측정주파수",
        "odr",
        "采样",
        "サンプリング",
    ];
    if !words.iter().any(|word| lower.contains(word)) {
        return None;
    }
    let words: Vec<&str> = lower.split_whitespace().collect();
    let mut rates = words.iter().enumerate().filter_map(|(index, word)| {
        let word = word.trim_start_matches(['(', '@', '~']).trim_end_matches([')', '.', ',']);
        let (_, unit) = leading_number(word)?;
        if !unit.is_empty() {
            return rate_of(word);
        }
        let next = words.get(index + 1)?.trim_end_matches([')', '.', ',']);
        rate_of(&format!("{word} {next}"))
            .filter(|_| ["hz", "/s", "sps", "hertz"].iter().any(|unit| next.contains(unit)))
    });
    rates.next().filter(|_| rates.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(line: &str) -> Option<f64> {
        Metadata::of_lines(std::iter::once(line)).rate_hz
    }

    /// A file with decimal commas writes 2,560 Hz as `2.560 Hz`.
    #[test]
    fn a_point_is_one_of_thousands_where_the_comma_is_the_decimal_sign() {
        let rate = |line: &str| Metadata::of_comma_lines(std::iter::once(line)).rate_hz;
        for line in
            ["Abtastrate;2.560 Hz", "Abtastrate: 2560,0 Hz", "fs=2560", "Abtastrate;2,560 kHz"]
        {
            assert_eq!(rate(line), Some(2560.0), "{line}");
        }
        assert_eq!(rate("Abtastrate: 51.2 kHz"), Some(51_200.0));
        assert_eq!(rate("Datum 01.03.2026"), None);
    }

    /// R-EDGE-4: such an interval was asked for, though it stood in the file.
    #[test]
    fn a_delta_with_a_unit_of_time_and_an_increment_are_intervals() {
        for line in
            ["Delta: 3.90625e-004 sec.", "Time increment: 0.000390625", "Zeitinkrement;390,625 us"]
        {
            let got = rate(line).unwrap_or(f64::NAN);
            assert!((got - 2560.0).abs() < 1e-6, "{line}: {got}");
        }
        assert_eq!((rate("Delta: 0.5 g"), rate("Delta: 4")), (None, None));
    }

    #[test]
    fn a_rate_is_read_in_every_usual_form() {
        for line in [
            "# rate: 2560 Hz",
            "# data_rate = 2560.0 Hz, acc_range = 4 g",
            "Sampling Frequency;2560",
            "Sampling Frequency,2560",
            "Sampling Rate (Hz),2560",
            "Abtastrate;2560,0;Hz",
            "Sample Rate: 2.56 kHz",
            "Delta_X\t0.000390625",
            "dt:\t0.000390625\t0.000390625",
            "//  Update Rate: 2560.0Hz",
            "Sample Interval,0.390625 ms",
            "측정주파수 : 2560",
            "fs=2560",
            "# sampled at 2560 Hz",
            "sampled at 2.56kHz.",
            "# Config: data_rate = 2560.0 Hz, filter = 488 Hz, acc_range = 4 g",
            "3 axes sampled with 2560 samples/s",
            "샘플링 2560Hz",
            "Rate: 2,560 Hz",
            "Rate: 2,560 kHz",
            "# sampled at 2,560 Hz",
            "Abtastrate: 2560,000 Hz",
            "采样频率：2560 Hz",
            "# 采样率: 2.56 kHz",
            "サンプリング周波数,2560",
            "Fréquence d'échantillonnage : 2560 Hz",
            "Frecuencia de muestreo: 2560 Hz",
            "Frequenza di campionamento;2560",
            "Sample period (ms): 0.390625",
            "ODR 2560 sps",
            "2560 Hz\t2560 Hz\t2560 Hz",
            "Sample Rate: 2560 Hz. Sample values on linear scale.",
            "Time(s),CH1V,t0 =-6.0e-03s, tInc = 3.90625e-04,",
            "Point: M1H    Sampling rate: 2560 Hz    Lines: 400",
            "Частота дискретизации: 2560 Гц",
            "Sampling,2.56kHz",
            "X_Delta=0.000390625",
        ] {
            let got = rate(line).unwrap_or(f64::NAN);
            assert!((got - 2560.0).abs() < 1e-6, "{line}: {got}");
        }
        for line in [
            "range: 16 g",
            "rate: fast",
            "Samples: 1536",
            "time,x",
            "heart rate: 60 bpm",
            "16 samples of steel",
            "Mains: frequency = 50 Hz",
            "sampled in 2024",
            "sampled at 1 kHz or 2 kHz",
            "2560 Hz\t1280 Hz",
            "Abtastrate;2.560 Hz",
            "# Time: 2024-04-21 15:54:46.333682, Device: D4E9",
        ] {
            assert_eq!(rate(line), None, "{line}");
        }
    }
}
