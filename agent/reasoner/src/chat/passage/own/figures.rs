//! The figures that a question asks for, and the words before pieces that may not answer it.

use pdm_shared::text::Language;

use super::super::small_words::QUANTITY_WORDS;

/// Whether a question asks for a figure.
pub(super) fn asks_figure(clause: &str) -> bool {
    let lower = clause.to_lowercase();
    QUANTITY_WORDS.iter().any(|word| lower.contains(word.as_str()))
}

/// Whether a line has a figure that stands by itself: not in a name (`CH-1`), nor the number of a
/// step.
pub(super) fn has_free_figure(line: &str) -> bool {
    if has_number_in_words(line) {
        return true;
    }
    let line = line.trim_start();
    let step = line.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
    let line = if line[step..].starts_with('.') { &line[step..] } else { line };
    let is_in_name = |c: char| c.is_ascii_alphabetic() || c == '-' || c == '_';
    let mut before = ' ';
    for c in line.chars() {
        if c.is_ascii_digit() && !is_in_name(before) && !before.is_ascii_digit() {
            return true;
        }
        // the digits of a name go on: `CHP-12`
        if !(c.is_ascii_digit() && is_in_name(before)) {
            before = c;
        }
    }
    false
}

/// Numbers in words, and what they count: a figure as well.
const NUMBERS: [&str; 16] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve",
    "half", "한", "두", "세", "네",
];
const COUNTED: [&str; 24] = [
    "hour",
    "hours",
    "minute",
    "minutes",
    "day",
    "days",
    "week",
    "weeks",
    "month",
    "months",
    "year",
    "years",
    "people",
    "persons",
    "times",
    "metres",
    "turns",
    "시간",
    "시간은",
    "명",
    "명이",
    "달",
    "번",
    "바퀴",
];

/// Whether a line has a number in words before what it counts: `two days`, `한 시간`.
fn has_number_in_words(line: &str) -> bool {
    let lower = line.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.windows(2).any(|pair| NUMBERS.contains(&pair[0]) && COUNTED.contains(&pair[1]))
        || ["하루", "이틀", "사흘"].iter().any(|one| lower.contains(one))
}

/// Units of an amount of grease or oil, and what counts it.
const AMOUNTS: [&str; 20] = [
    "g",
    "gram",
    "grams",
    "kg",
    "ml",
    "cc",
    "cm3",
    "cm³",
    "l",
    "litre",
    "litres",
    "liter",
    "liters",
    "그램",
    "리터",
    "밀리리터",
    "shots",
    "strokes",
    "drops",
    "방울",
];

/// Whether a text says an amount of grease or oil in some units: `12 g`, `3 l`.
fn has_amount(text: &str, units: &[&str]) -> bool {
    let lower = text.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| c.is_whitespace() || ",;:()".contains(c)).collect();
    let is_number = |word: &str| word.ends_with(|c: char| c.is_ascii_digit());
    words
        .iter()
        .zip(words.iter().skip(1))
        .any(|(number, unit)| is_number(number) && units.contains(&unit.trim_end_matches('.')))
        || words.iter().any(|word| {
            let unit = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
            unit.len() < word.len() && units.contains(&unit.trim_end_matches('.'))
        })
}

/// Units of volume, as a question for an amount names one.
const VOLUMES: [&str; 7] = ["litre", "liter", "리터", "ml", "cc", "밀리리터", "gallon"];
/// The same behind a number of a document.
const VOLUMES_TOLD: [&str; 10] =
    ["l", "litre", "litres", "liter", "liters", "리터", "ml", "cc", "밀리리터", "gallons"];

/// Whether a question asks how much grease or oil, and what is told says no amount, or none in
/// litres where these are asked for: the grams of a motor's grease are no answer.
pub(super) fn lack_amount(clause: &str, told: &[String]) -> bool {
    let lower = clause.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    let is_of_volume = words.any(|word| VOLUMES.iter().any(|unit| word.starts_with(unit)));
    let units: &[&str] = if is_of_volume { &VOLUMES_TOLD } else { &AMOUNTS };
    asks_figure(clause) && !told.is_empty() && !told.iter().any(|text| has_amount(text, units))
}

/// Says that pieces are those that come nearest, and which words of the question they lack. Whether
/// they answer, the reader sees: the same may be said in other words.
pub(super) fn nearest(words: &str, language: Language) -> String {
    match (words.is_empty(), language) {
        (true, Language::Ko) => {
            "현장 문서에서 가장 가까운 곳입니다. 답이 맞는지 읽어 보십시오:".to_owned()
        }
        (false, Language::Ko) => format!(
            "현장 문서에서 가장 가까운 곳입니다(문서에 없는 말: {words}). 답이 맞는지 읽어 보십시오:"
        ),
        (true, Language::En) => {
            "What comes nearest in the plant's documents; read whether it answers:".to_owned()
        }
        (false, Language::En) => format!(
            "What comes nearest in the plant's documents (they do not say: {words}); read whether \
             it answers:"
        ),
    }
}

/// Says that the pieces about it state no figure.
pub(super) const fn no_figure(language: Language) -> &'static str {
    match language {
        Language::Ko => "현장 문서에 그 수치는 적혀 있지 않습니다. 관련된 곳:",
        Language::En => "The plant's documents state no figure for that. What they say of it:",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Grams of the motor's grease stood as the answer to litres of the gearbox's oil.
    #[test]
    fn litres_are_not_answered_by_grams() {
        let grams = ["- Tag: KX-4 motor; DE 22 g".to_owned()];
        let litres = ["- KX-4 gearbox: 14 l of VG 220".to_owned()];
        for question in ["how many litres of oil does KX-4 take", "KX-4 오일 몇 리터 들어가"]
        {
            assert!(lack_amount(question, &grams), "{question}");
            assert!(!lack_amount(question, &litres), "{question}");
        }
        assert!(!lack_amount("how much grease does KX-4 take", &grams));
    }
}
