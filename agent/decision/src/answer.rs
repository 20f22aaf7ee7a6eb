//! The answer in Markdown, in the language that is asked for, else Korean first and English after
//! it. Every figure is the edge's; the words and the advice are those of the series' domain
//! ([`super::domain`]).

use std::fmt::Write as _;

use pdm_shared::text::Language;

use super::analysis::{Analysis, Finding};
use super::domain::{self, FindingKind, SeriesDomain};
use super::series::{Case, Window, write_time};

/// The text of a language.
fn pick(language: Language, ko: &'static str, en: &'static str) -> &'static str {
    match language {
        Language::Ko => ko,
        Language::En => en,
    }
}

/// The subject and form of an answer.
#[derive(Debug, Clone, Copy)]
pub struct AnalysisAsked<'a> {
    /// The stretch of the series.
    pub window: &'a Window,
    /// The subject of the series.
    pub domain: &'a SeriesDomain,
    /// The unit of its values.
    pub unit: Option<&'a str>,
    /// The language of the answer; both where none is asked for.
    pub language: Option<Language>,
}

/// The whole answer.
pub fn markdown(asked: &AnalysisAsked<'_>, analysis: &Analysis, cases: &[Case]) -> String {
    let AnalysisAsked { window, domain, unit, language } = *asked;
    let told = ToldWindow { window, domain, unit: unit.unwrap_or_default(), analysis, cases };
    match language {
        Some(language) => told.section(language),
        None => format!("{}\n---\n\n{}", told.section(Language::Ko), told.section(Language::En)),
    }
}

/// The contents of an answer.
struct ToldWindow<'a> {
    window: &'a Window,
    domain: &'a SeriesDomain,
    unit: &'a str,
    analysis: &'a Analysis,
    cases: &'a [Case],
}

impl ToldWindow<'_> {
    fn section(&self, language: Language) -> String {
        let mut text = String::new();
        let Window { station_id, element, from_s, to_s } = self.window;
        let element = escaped(&self.domain.element(element, language));
        let head = pick(language, "판정", "Verdict");
        let subject = escaped(&self.domain.subject(*station_id, language));
        let verdict = match domain::leading(self.analysis) {
            Some(kind) => told_kind(kind, language),
            None => verdict(&self.analysis.verdict, language),
        };
        // writing to a String cannot fail
        let _never = writeln!(text, "## {head}: {verdict} — {subject}, {element}\n");
        let period = pick(language, "기간", "Period");
        let (from, to) = (write_time(*from_s), write_time(*to_s));
        let _never = writeln!(text, "- {period}: {from} – {to}");
        let _never = writeln!(text, "- {}", self.figures(language));
        for finding in &self.analysis.findings {
            let _never = writeln!(text, "- {}", self.finding(finding, language));
        }
        if let Some(trend) = self.trend(language) {
            let _never = writeln!(text, "- {trend}");
        }
        self.similar(language, &mut text);
        let head = pick(language, "할 일", "What to do");
        let _never = write!(text, "\n### {head}\n\n");
        for advice in self.advice(language) {
            let _never = writeln!(text, "- {advice}");
        }
        text
    }

    fn figures(&self, language: Language) -> String {
        let figures = &self.analysis.figures;
        let (count, missing) = (figures.count, figures.missing);
        let head = match language {
            Language::Ko => format!("값 {count}개, 결측 {missing}개"),
            Language::En => format!("{count} values, {missing} missing"),
        };
        match (figures.median, figures.min, figures.max) {
            (Some(median), Some(min), Some(max)) => {
                let word = pick(language, "중앙값", "median");
                let (median, min, max) = (self.value(median), self.value(min), self.value(max));
                format!("{head}; {word} {median} ({min} … {max})")
            }
            _ => head,
        }
    }

    fn finding(&self, finding: &Finding, language: Language) -> String {
        let kind = told_kind(domain::kind_of(finding), language);
        let span = if finding.from == finding.to {
            instant(&finding.from)
        } else {
            format!("{} – {}", instant(&finding.from), instant(&finding.to))
        };
        let strength = short(finding.strength);
        let amount = finding.amount.map(|amount| self.value(amount));
        let what = match (finding.kind.as_str(), amount, language) {
            ("spike", Some(amount), Language::Ko) => {
                format!("주변 값보다 {amount}, 강건 표준편차의 {strength}배")
            }
            ("spike", Some(amount), Language::En) => {
                format!("{amount} against its neighbours, {strength} robust standard deviations")
            }
            ("drift", Some(amount), Language::Ko) => {
                format!("수준 변화 {amount}, 평소 하루 변화의 {strength}배")
            }
            ("drift", Some(amount), Language::En) => {
                format!("level changed by {amount}, {strength} times its usual change in a day")
            }
            (_, Some(amount), Language::Ko) => format!("{amount}에 멈춤, 값 {strength}개"),
            (_, Some(amount), Language::En) => format!("stands at {amount} for {strength} values"),
            (_, None, Language::Ko) => format!("값 없음, {strength}개"),
            (_, None, Language::En) => format!("{strength} values missing"),
        };
        format!("**{kind}** {span}: {what}")
    }

    fn trend(&self, language: Language) -> Option<String> {
        let trend = self.analysis.trend.as_ref()?;
        let direction = match trend.trend_direction.as_str() {
            "rising" => pick(language, "상승", "rising"),
            "falling" => pick(language, "하강", "falling"),
            "stable" => pick(language, "안정", "stable"),
            _ => return None,
        };
        let head = pick(language, "마지막 값들의 추세", "Trend of the last values");
        Some(format!("{head}: {direction}"))
    }

    /// Returns the expert's advice for each kind of finding, the leading one first.
    fn advice(&self, language: Language) -> Vec<String> {
        let findings = self.analysis.findings.iter().map(domain::kind_of);
        let mut kinds: Vec<FindingKind> = domain::leading(self.analysis).into_iter().collect();
        for kind in findings {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        let advice = kinds.into_iter().map(|kind| self.domain.advice(kind, &self.window.element));
        let advice: Vec<String> =
            advice.map(|text| text.in_language(language).to_owned()).collect();
        if !advice.is_empty() {
            return advice;
        }
        let other = match self.analysis.verdict.as_str() {
            "sound" => pick(language, "할 일이 없다.", "Nothing is to be done."),
            _ => pick(
                language,
                "값이 24개보다 적다: 더 긴 기간을 묻는다.",
                "There are fewer than 24 values: ask for a longer time.",
            ),
        };
        vec![other.to_owned()]
    }

    fn similar(&self, language: Language, text: &mut String) {
        let head = pick(language, "비슷한 과거 사례", "Similar past cases");
        let _never = write!(text, "\n### {head}\n\n");
        let find = |id: &str| self.cases.iter().find(|case| case.id == id);
        let near = self.analysis.nearest.iter();
        let near: Vec<_> = near.filter_map(|near| Some((near, find(&near.id)?))).collect();
        if near.is_empty() {
            text.push_str(pick(
                language,
                "- 비교할 사례가 없다.\n",
                "- There is no case to compare with.\n",
            ));
        }
        for (place, (near, case)) in near.iter().enumerate() {
            let (what, outcome) = match language {
                Language::Ko => (&case.what.ko, &case.outcome.ko),
                Language::En => (&case.what.en, &case.outcome.en),
            };
            let became = pick(language, "결과", "outcome");
            let alike = pick(language, "유사도", "likeness");
            let _never = writeln!(
                text,
                "{}. {} ({alike} {:.2}; {} {}, {}): {} → {became}: {}",
                place + 1,
                escaped(&case.id),
                near.likeness,
                case.window.station_id,
                escaped(&case.window.element),
                write_time(case.window.from_s),
                escaped(what),
                escaped(outcome)
            );
        }
    }

    fn value(&self, value: f64) -> String {
        format!("{} {}", short(value), escaped(self.unit)).trim_end().to_owned()
    }
}

fn verdict(word: &str, language: Language) -> &'static str {
    match word {
        "sound" => pick(language, "이상 없음", "sound"),
        _ => pick(language, "판정할 수 없음", "cannot say"),
    }
}

fn told_kind(kind: FindingKind, language: Language) -> &'static str {
    match kind {
        FindingKind::Spike => pick(language, "급등(spike)", "spike"),
        FindingKind::Drop => pick(language, "급락(drop)", "drop"),
        FindingKind::Drift => pick(language, "드리프트(drift)", "drift"),
        FindingKind::Dropout => pick(language, "측정 끊김(dropout)", "drop-out"),
    }
}

/// An RFC 3339 instant as the caller writes it.
fn instant(text: &str) -> String {
    text.get(..19).map_or_else(|| text.to_owned(), |text| text.replace('T', " "))
}

/// A number with four significant digits.
fn short(value: f64) -> String {
    if value.abs() < f64::MIN_POSITIVE {
        return "0".to_owned();
    }
    let digits = (3 - value.abs().log10().floor() as i32).clamp(0, 9) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Text of the data on one line, without Markdown of its own.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '*' | '_' | '`' | '[' | ']' | '<' | '>' | '#' | '|' | '\\' | '!') {
            safe.push('\\');
        }
        safe.push(if c.is_control() { ' ' } else { c });
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits_and_data_brings_no_markdown() {
        for (value, text) in
            [(0.006_123_4, "0.006123"), (44.0, "44"), (1234.56, "1235"), (0.0, "0"), (-0.5, "-0.5")]
        {
            assert_eq!(short(value), text);
        }
        assert_eq!(escaped("a\n# [b](c)"), "a \\# \\[b\\](c)");
        assert_eq!(instant("2026-11-05T13:00:00.000Z"), "2026-11-05 13:00:00");
    }
}
