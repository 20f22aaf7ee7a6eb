//! The language of a page, and its words (`texts.toml`).

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::http::{HeaderMap, header};
use pdm_shared::text::{Language, Text};

use crate::access::cookie;

/// The cookie that keeps a viewer's choice.
pub(crate) const COOKIE: &str = "pdm_language";

static TEXTS: LazyLock<BTreeMap<String, Text>> =
    LazyLock::new(|| toml::from_str(include_str!("texts.toml")).unwrap_or_default());

/// The viewer's language: the choice, else what the browser prefers, else Korean.
pub(crate) fn language_of(headers: &HeaderMap) -> Language {
    if let Some(chosen) = cookie(headers, COOKIE).as_deref().and_then(parse) {
        return chosen;
    }
    let preferred = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    preferred
        .into_iter()
        .flat_map(|list| list.split(','))
        .find_map(|entry| parse(entry.trim().get(..2)?))
        .unwrap_or_default()
}

/// A language by its code.
pub(crate) fn parse(code: &str) -> Option<Language> {
    match code {
        "ko" => Some(Language::Ko),
        "en" => Some(Language::En),
        _ => None,
    }
}

/// The code of a language.
pub(crate) const fn code(language: Language) -> &'static str {
    match language {
        Language::Ko => "ko",
        Language::En => "en",
    }
}

/// The words of a language by their keys, for the templates.
pub(crate) fn words(language: Language) -> BTreeMap<&'static str, &'static str> {
    TEXTS.iter().map(|(key, text)| (key.as_str(), text.in_language(language))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_has_two_languages() {
        assert!(!TEXTS.is_empty(), "texts.toml is read");
        for (key, text) in TEXTS.iter() {
            assert!(!text.ko.is_empty() && !text.en.is_empty(), "{key}");
        }
    }

    #[test]
    fn the_choice_stands_above_what_the_browser_prefers() {
        let mut headers = HeaderMap::new();
        assert_eq!(language_of(&headers), Language::Ko);
        headers.insert(header::ACCEPT_LANGUAGE, "de, en-GB;q=0.8, ko;q=0.5".parse().expect("v"));
        assert_eq!(language_of(&headers), Language::En);
        headers.insert(header::COOKIE, "pdm_language=ko".parse().expect("v"));
        assert_eq!(language_of(&headers), Language::Ko);
    }
}
