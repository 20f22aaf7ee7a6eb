//! Units that the lines above a table state in words, for columns that have none of their own.
//!
//! `Y-axis unit: m/s²`, `# Units: time s, acceleration mg`, `# acc in m/s^2`, `Einheit: mm/s²`. A
//! unit of time and one of an X axis are not units of samples. Invariant: a text that states
//! several units states none, and is refused with all of them; a number in front of a unit (`range:
//! 16 g`) is an amount and no statement.

use super::metadata::statements_in;
use crate::source::interpretation::{StatedUnit, UnitKind};

/// Words for a unit within the key of a line.
const UNIT_WORDS: [&str; 18] = [
    "unit",
    "units",
    "einheit",
    "einheiten",
    "단위",
    "uom",
    "unidad",
    "unidades",
    "unità",
    "unita",
    "unidade",
    "eenheid",
    "jednostka",
    "jednotka",
    "enhet",
    "единица",
    "единицы",
    "ед",
];

/// Words for a unit in languages that write without blanks, within a word of the key.
const JOINED_UNIT_WORDS: [&str; 5] = ["单位", "單位", "単位", "단위", "unité"];

/// Words for the axis of time in such languages.
const JOINED_ABSCISSA_WORDS: [&str; 6] = ["时间", "時間", "x轴", "x軸", "横轴", "횡축"];

/// Words for the axis of time or frequency within such a key.
const ABSCISSA_WORDS: [&str; 9] =
    ["x", "time", "zeit", "horizontal", "abscissa", "abszisse", "frequency", "frequenz", "시간"];

/// Longest value of a key that is taken for a unit that is not known, in letters.
const LONGEST_UNIT: usize = 10;

/// The units that lines state.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct HeadUnits {
    /// Units in a line whose key says unit.
    by_key: Vec<StatedUnit>,
    /// Units in a sentence.
    in_words: Vec<StatedUnit>,
    /// Words that a line calls a unit, and by which no unit is known.
    unknown: Vec<String>,
    /// Units of the axis of time.
    of_time: Vec<StatedUnit>,
    /// Units of acceleration with an amount in front of them.
    of_amounts: Vec<StatedUnit>,
}

/// The unit by the lines.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum HeadUnit {
    /// No line has a unit.
    Nothing,
    /// This unit, as the lines spell it.
    One(String),
    /// The lines cannot be followed; in words.
    Open(String),
}

impl HeadUnits {
    /// Reads the lines.
    pub(super) fn of_lines<'a>(lines: impl Iterator<Item = &'a str>) -> Self {
        let mut found = Self::default();
        for line in lines {
            let plain = line.trim().trim_start_matches(['#', '%', '/', '*', ';', '!', ' ']);
            for part in statements_in(plain) {
                if !found.take_key(part) {
                    found.take_words(part);
                }
            }
        }
        found
    }

    /// Takes the units that the lines behind the last row state, where no line above states one.
    pub(super) fn take_below(&mut self, footer: &[String]) {
        if self.decided() == HeadUnit::Nothing {
            *self = Self::of_lines(footer.iter().map(String::as_str));
        }
    }

    /// Whether a line has a key that says unit, and a unit behind it.
    pub(super) fn is_statement(line: &str) -> bool {
        let mut found = Self::default();
        let (_, value) = line.split_once('\t').unwrap_or((line, ""));
        found.take_key(line) && StatedUnit::parse(value).is_some()
    }

    /// Takes a line whose key says unit; returns false if it is no such line.
    fn take_key(&mut self, line: &str) -> bool {
        let Some(at) = line.find(['=', ':', '：', ';', '\t']).or_else(|| line.find(',')) else {
            return false;
        };
        let (key, value) = line.split_at(at);
        let key = key.to_lowercase();
        let words: Vec<&str> =
            key.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
        let is_joined = |word: &&str| ["yunit", "yunits", "yunitlabel"].contains(word);
        let contains = |list: &[&str]| list.iter().any(|word| key.contains(word));
        let has_unit_word = has(&UNIT_WORDS) || contains(&JOINED_UNIT_WORDS);
        let has_abscissa = has(&ABSCISSA_WORDS) || contains(&JOINED_ABSCISSA_WORDS);
        if has_abscissa && has_unit_word || words.iter().any(|w| w.starts_with("xunit")) {
            let value = value.trim_matches(['=', ':', '：', ';', '\t', ',', '"', ' ']);
            let is_time = |unit: &StatedUnit| matches!(unit.kind, UnitKind::Time(_));
            self.of_time.extend(StatedUnit::parse(value).filter(is_time));
            return true;
        }
        if !has_unit_word && !words.iter().any(is_joined) {
            return false;
        }
        let value = value.trim_matches(['=', ':', '：', ';', '\t', ',', '"', ' ']);
        let whole = StatedUnit::parse(value);
        let parsed: Vec<StatedUnit> = match whole {
            Some(unit) => vec![unit],
            // a number before a unit may change it: `10 g`
            None if value.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '×' | '±')) => {
                self.unknown.push(value.to_owned());
                Vec::new()
            }
            // a single letter is the name of an axis or quantity more often than a unit
            None => tokens(value)
                .filter(|word| word.chars().count() > 1 || matches!(*word, "g" | "V" | "s"))
                .filter_map(StatedUnit::parse)
                .collect(),
        };
        let is_bare = words.len() == 1 || words.iter().any(is_joined) || has(&["y"]);
        // a number in it is that of a machine: `Unit: P101`
        let may_be_unit = value.chars().any(char::is_alphabetic)
            && value.chars().count() <= LONGEST_UNIT
            && !value.contains(' ')
            && (!value.chars().any(|c| c.is_ascii_digit()) || value.contains(['/', '^']));
        if parsed.is_empty() && is_bare && may_be_unit && !states_nothing(value) {
            self.unknown.push(value.to_owned());
        }
        // `unit: g, rate: 2560 Hz`
        let is_other = |unit: &StatedUnit| {
            matches!(unit.kind, UnitKind::Time(_) | UnitKind::Other("frequency"))
        };
        self.by_key.extend(parsed.into_iter().filter(|unit| !is_other(unit)));
        true
    }

    /// The unit of the axis of time, as the one line on it spells it.
    pub(super) fn time_unit(&self) -> Option<String> {
        let (first, rest) = self.of_time.split_first()?;
        rest.iter().all(|unit| unit.kind == first.kind).then(|| first.spelling.clone())
    }

    /// Takes the units of a sentence: in brackets, behind `in`, or in a spelling that nothing else
    /// has.
    fn take_words(&mut self, line: &str) {
        // as programs for sound write their full scale
        if line.to_lowercase().contains("on linear scale") {
            self.unknown.push("linear scale".to_owned());
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_amount = |word: &str| {
            let plain = word.trim_matches(['±', '~', '(', '[', '=', ':', '+', '-', '<', '>', ',']);
            let plain = plain.rsplit(['=', ':']).next().unwrap_or(plain);
            plain.starts_with(|c: char| c.is_ascii_digit())
        };
        for (index, word) in words.iter().enumerate() {
            let before = index.checked_sub(1).map_or("", |at| words[at]);
            let before_that = index.checked_sub(2).map_or("", |at| words[at]).to_lowercase();
            let is_in = ["in", "unit", "units", "[", "("].contains(&before.to_lowercase().as_str())
                || (before.eq_ignore_ascii_case("of") && before_that.starts_with("unit"));
            let core = word.trim_matches([',', ';', '.', ':', '"', '\'']);
            let is_bracketed = core.ends_with([')', ']', '}']);
            let own = core.rsplit(['(', '[', '{', '=']).next().unwrap_or(core);
            let Some(unit) = StatedUnit::parse(own) else { continue };
            let is_spelled = own.contains(['/', '²', '^', '㎨']);
            if is_amount(before) && !is_in {
                let is_other = matches!(unit.kind, UnitKind::Acceleration(_)) && is_spelled;
                if is_other {
                    self.of_amounts.push(unit);
                }
                continue;
            }
            let is_stated = match unit.kind {
                UnitKind::Acceleration(_) => is_in || is_bracketed || is_spelled,
                UnitKind::Voltage(_) => is_in || is_bracketed,
                UnitKind::Other("velocity") => is_spelled && own != "m/s",
                UnitKind::Counts => is_in,
                UnitKind::Time(_) | UnitKind::Other(_) => false,
            };
            if is_stated {
                self.in_words.push(unit);
            }
        }
    }

    /// The unit of the samples by all lines. A line whose key says unit comes before a sentence.
    pub(super) fn decided(&self) -> HeadUnit {
        let stated = if self.by_key.is_empty() { &self.in_words } else { &self.by_key };
        let mut different: Vec<&StatedUnit> = Vec::new();
        for unit in stated {
            if !different.iter().any(|other| other.kind == unit.kind) {
                different.push(unit);
            }
        }
        let quoted = |units: &[&StatedUnit]| {
            let spellings: Vec<&str> = units.iter().map(|unit| unit.spelling.as_str()).collect();
            spellings.join(" and ")
        };
        match (different.as_slice(), self.unknown.first(), self.of_amounts.first()) {
            ([one], ..) => HeadUnit::One(one.spelling.clone()),
            ([], Some(unknown), _) => HeadUnit::Open(format!(
                "the lines above the numbers state the unit {unknown:?}, which is not known"
            )),
            ([], None, Some(amount)) => HeadUnit::Open(format!(
                "the lines above the numbers state an amount in {}, and no unit of the columns",
                amount.spelling
            )),
            ([], None, None) => HeadUnit::Nothing,
            (several, ..) => HeadUnit::Open(format!(
                "the lines above the numbers state several units ({}), and the columns none",
                quoted(several)
            )),
        }
    }

    /// The unit of acceleration or voltage that a line with `unit` as its key states, if it is the
    /// only one.
    pub(super) fn by_key(&self) -> Option<&StatedUnit> {
        let (first, rest) = self.by_key.split_first()?;
        let is_sample = matches!(
            first.kind,
            UnitKind::Acceleration(_) | UnitKind::Voltage(_) | UnitKind::Other("velocity")
        );
        (is_sample && rest.iter().all(|unit| unit.kind == first.kind)).then_some(first)
    }
}

/// Words that say that there is no unit.
fn states_nothing(value: &str) -> bool {
    ["none", "n/a", "na", "-", "nan", "null", "unknown", "default"]
        .contains(&value.to_lowercase().as_str())
}

/// The words of a value without the signs around them.
fn tokens(value: &str) -> impl Iterator<Item = &str> {
    value
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '='))
        .map(|word| word.trim_matches(['(', ')', '[', ']', '"', ':', '.']))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(lines: &[&str]) -> HeadUnit {
        HeadUnits::of_lines(lines.iter().copied()).decided()
    }

    #[test]
    fn a_unit_in_words_is_found_and_a_unit_of_time_is_none_of_samples() {
        for (line, unit) in [
            ("Ordinate unit:\tmm/s²", "mm/s²"),
            ("# Units: t s, vibration mg", "mg"),
            ("# Y unit = mg", "mg"),
            ("vibration of the fan, recorded in m/s²", "m/s²"),
            ("% values (m/s^2)", "m/s^2"),
            ("# unit: s   unit: mm/s^2", "mm/s^2"),
            ("Einheiten;mg", "mg"),
            ("단위: m/s2", "m/s2"),
            ("\"Units\",\"mV\"", "mV"),
            ("Y-axis unit: mm/s", "mm/s"),
            ("vibration velocity, mm/s RMS", "mm/s"),
            ("Date: 1 May    Amplitude Units:  G-s", "G-s"),
            ("Unidad: m/s2", "m/s2"),
            ("Unità di misura;mg", "mg"),
        ] {
            assert_eq!(decided(&[line]), HeadUnit::One(unit.to_owned()), "{line}");
        }
        for line in [
            "X-axis unit: s",
            "time unit: ms",
            "range: 16 g",
            "range ±16 g",
            "supply 24 V",
            "belt speed 2 m/s",
            "Unit: P101",
            "unit: s",
            "sensitivity 100 mV/g",
            "temperature in °C: 24",
            "serial = 4711 a",
        ] {
            assert_eq!(decided(&[line]), HeadUnit::Nothing, "{line}");
        }
    }

    #[test]
    fn several_units_and_one_that_is_not_known_are_open() {
        for lines in [
            &["# unit: g", "# unit: m/s^2"][..],
            &["acceleration in m/s^2, velocity in mm/s"],
            &["Units: furlongs"],
            &["full scale 160 m/s²"],
        ] {
            assert!(matches!(decided(lines), HeadUnit::Open(_)), "{lines:?}");
        }
    }
}
