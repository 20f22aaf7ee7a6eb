//! The sites that a text names: by their id (`yeosu-2`), by its letters in Latin or Hangul
//! (`yeosu`, `여수`), and sites that nobody here knows (`광양 공장`).
//!
//! A question that names a site is about the machines there and no others.

pub(super) use called::with_ids;

use super::desk::CoreFields;
use super::intent::{QUESTION_WORDS, has};
use super::reader::Reader;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Language;

mod called;

/// Shortest begin of a site's id that names it alone, letters.
const SHORTEST: usize = 3;
/// Words before `사업장` and `site` that name none.
const NO_NAMES: [&str; 28] = [
    "per", "by", "of", "at", "우리", "전체", "모든", "어느", "어떤", "다른", "해당", "양쪽", "각",
    "두", "이", "그", "저", "무슨", "the", "this", "which", "each", "every", "our", "what",
    "other", "a", "any",
];

/// The sites of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct NamedSites {
    /// Sites of the plant, in the order of their names.
    pub(super) known: Vec<String>,
    /// Names that no site has.
    pub(super) unknown: Vec<String>,
}

/// The sites of the bearings, each once.
pub(super) fn all(fleet: &[CoreFields]) -> Vec<&str> {
    let mut sites: Vec<&str> = fleet.iter().map(|core| core.key.site.as_str()).collect();
    sites.sort_unstable();
    sites.dedup();
    sites
}

/// Notes at each bearing whether the plant has several sites, so that its name tells its own.
pub(super) fn mark<'a>(fleet: impl Iterator<Item = &'a mut CoreFields>, is_of_many_sites: bool) {
    for core in fleet {
        core.is_of_many_sites = is_of_many_sites;
    }
}

/// The sites that a text names.
pub(super) fn named_in(text: &str, fleet: &[CoreFields]) -> NamedSites {
    let (lower, sites) = (text.to_lowercase(), all(fleet));
    let of_machines = |word: &str| {
        fleet.iter().any(|core| {
            let names = core.machine_name.iter().flat_map(|name| [&name.ko, &name.en]);
            let mut names = names.map(|name| name.to_lowercase());
            let machine = core.key.equipment.as_str().to_lowercase();
            machine.contains(word) || names.any(|name| name.contains(word))
        })
    };
    let is_whole = |site: &&&str| is_in_whole(&lower, &site.to_lowercase());
    let whole: Vec<&&str> = sites.iter().filter(is_whole).collect();
    let words: Vec<&str> = words(&lower);
    let by_stem = |site: &&&str| {
        let stem = stem(site);
        let is_stem = |word: &&&str| is_stem_of(word, &stem, sites.len()) && !of_machines(word);
        whole.is_empty() && words.iter().any(|word| is_stem(&word))
    };
    let mut known: Vec<String> = sites
        .iter()
        .filter(by_stem)
        .chain(whole.iter().copied())
        .map(|site| (*site).to_owned())
        .collect();
    known.dedup();
    let is_strange = |word: &&&str| {
        let latin = romanized(word);
        let is_known = sites.iter().any(|site| {
            let stem = stem(site);
            latin.starts_with(&stem) || word.starts_with(&stem)
        });
        !is_known && !of_machines(word)
    };
    let towns = &QUESTION_WORDS.towns;
    let is_town = |word: &&&str| {
        towns.iter().any(|town| word.strip_prefix(town.as_str()).is_some_and(is_behind_town))
    };
    let mut unknown: Vec<String> =
        words.iter().filter(is_town).filter(is_strange).map(|word| (*word).to_owned()).collect();
    unknown
        .extend(before_the_word_site(&words).filter(|word| is_strange(&word)).map(str::to_owned));
    unknown.sort_unstable();
    unknown.dedup();
    NamedSites { known, unknown }
}

/// The bearings of the sites that a text names; all where it names none.
pub(super) fn in_scope(text: &str, fleet: &[CoreFields]) -> Vec<CoreFields> {
    let named = named_in(text, fleet);
    let is_in = |core: &&CoreFields| {
        named.known.is_empty() || named.known.iter().any(|site| site == core.key.site.as_str())
    };
    fleet.iter().filter(is_in).cloned().collect()
}

/// Whether a text asks which of several sites is worse off.
pub(super) fn compares(text: &str, fleet: &[CoreFields]) -> bool {
    let lower = text.to_lowercase();
    let several = all(fleet).len() > 1;
    let names = named_in(text, fleet).known.len() > 1
        || has(&lower, &QUESTION_WORDS.site_words) && has(&lower, &QUESTION_WORDS.plural);
    several && names && (has(&lower, &QUESTION_WORDS.compare) || has(&lower, &QUESTION_WORDS.fleet))
}

/// Each site with how many of its bearings stand at each level, worst first.
pub(super) fn of_sites(fleet: &[CoreFields], reader: Reader) -> String {
    const LEVELS: [RiskLevel; 3] = [RiskLevel::Critical, RiskLevel::Warning, RiskLevel::Watch];
    let language = reader.language;
    let mut sites: Vec<(Vec<usize>, &str)> = all(fleet)
        .into_iter()
        .map(|site| {
            let at = |level: RiskLevel| {
                let is_it =
                    |core: &&CoreFields| core.key.site.as_str() == site && core.risk == level;
                fleet.iter().filter(is_it).count()
            };
            (LEVELS.map(at).to_vec(), site)
        })
        .collect();
    sites.sort_by(|a, b| b.cmp(a));
    let line = |(counts, site): &(Vec<usize>, &str)| {
        let told = LEVELS
            .iter()
            .zip(counts)
            .map(|(level, count)| format!("{} {count}", level.label().in_language(language)));
        let of = fleet.iter().filter(|core| core.key.site.as_str() == *site);
        let mut of: Vec<&CoreFields> = of.collect();
        of.sort_by(|a, b| a.worst_first(b));
        let worst = of.first().filter(|core| core.risk > RiskLevel::Normal);
        let worst = worst.map(|core| format!("\n  {}", core.line(language))).unwrap_or_default();
        format!("- {site}: {}{worst}", told.collect::<Vec<_>>().join(", "))
    };
    let head = match (sites.as_slice(), language) {
        ([(first, _), (second, _), ..], Language::Ko) if first == second => {
            "같은 정도입니다:".to_owned()
        }
        ([(first, _), (second, _), ..], Language::En) if first == second => {
            "They stand alike:".to_owned()
        }
        ([(_, worst), ..], Language::Ko) => format!("더 급한 곳: {worst}"),
        ([(_, worst), ..], Language::En) => format!("More urgent: {worst}"),
        ([], Language::Ko) => "아직 판정된 베어링이 없습니다.".to_owned(),
        ([], Language::En) => "No bearing has been judged yet.".to_owned(),
    };
    std::iter::once(head).chain(sites.iter().map(line)).collect::<Vec<_>>().join("\n")
}

/// Says that a site does not exist, with those that do.
pub(super) fn unknown_site(name: &str, fleet: &[CoreFields], language: Language) -> String {
    let all = all(fleet).join(", ");
    match language {
        Language::Ko => format!("{name}: 제 기록에 없는 사업장입니다. 있는 사업장: {all}"),
        Language::En => format!("There is no site {name} in my records. Sites: {all}"),
    }
}

/// Whether this text may follow the name of a town: nothing, a particle, or a word for a site.
fn is_behind_town(rest: &str) -> bool {
    let endings = [
        "",
        "시",
        "에",
        "에서",
        "은",
        "는",
        "이",
        "가",
        "의",
        "도",
        "과",
        "와",
        "랑",
        "이랑",
        "쪽",
        "쪽은",
        "건",
        "꺼",
        "거",
        "에서는",
        "에는",
        "까지",
        "로",
        "으로",
    ];
    endings.contains(&rest) || rest.starts_with("공장") || rest.starts_with("사업장")
}

/// Words directly before `사업장` or `site` that stand for a name.
fn before_the_word_site<'a>(words: &[&'a str]) -> impl Iterator<Item = &'a str> {
    let pairs: Vec<&'a str> = words
        .windows(2)
        .filter_map(|pair| match pair {
            [name, word] if word.starts_with("사업장") || *word == "site" => Some(*name),
            _ => None,
        })
        .filter(|name| !NO_NAMES.contains(name) && name.chars().count() > 1)
        .filter(|name| name.chars().all(|c| c.is_alphabetic() || c == '-' || c.is_numeric()))
        .collect();
    pairs.into_iter()
}

/// Whether a text has an id as a word of its own.
fn is_in_whole(text: &str, id: &str) -> bool {
    text.match_indices(id).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + id.len()..].chars().next();
        let is_part = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        !is_part(before) && !is_part(after)
    })
}

/// The letters of an id before its number: `yeosu` of `yeosu-2`.
fn stem(site: &str) -> String {
    let lower = site.to_lowercase();
    lower.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default().to_owned()
}

/// Whether a word is the stem of a site, in Latin letters or in Hangul with particles behind it.
fn is_stem_of(word: &str, stem: &str, sites: usize) -> bool {
    if stem.chars().count() < SHORTEST || sites < 2 && word.is_ascii() {
        return false;
    }
    if word.is_ascii() || !stem.is_ascii() {
        return word == stem || !stem.is_ascii() && word.starts_with(stem);
    }
    (1..=word.chars().count()).any(|count| {
        let begin: String = word.chars().take(count).collect();
        let rest: String = word.chars().skip(count).collect();
        is_same_sound(&romanized(&begin), stem) && is_behind_town(&rest)
    })
}

/// Whether two spellings in Latin letters are of one name: `yeosu` and `yosu`, `pusan` and `busan`.
fn is_same_sound(own: &str, other: &str) -> bool {
    let plain = |name: &str| {
        name.replace("eo", "o")
            .replace("eu", "u")
            .replace('p', "b")
            .replace('k', "g")
            .replace('t', "d")
    };
    !own.is_empty() && plain(own) == plain(other)
}

fn words(text: &str) -> Vec<&str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '-';
    text.split(|c: char| !is_part(c)).filter(|word| !word.is_empty()).collect()
}

const INITIALS: [&str; 19] = [
    "g", "kk", "n", "d", "tt", "r", "m", "b", "pp", "s", "ss", "", "j", "jj", "ch", "k", "t", "p",
    "h",
];
const VOWELS: [&str; 21] = [
    "a", "ae", "ya", "yae", "eo", "e", "yeo", "ye", "o", "wa", "wae", "oe", "yo", "u", "wo", "we",
    "wi", "yu", "eu", "ui", "i",
];
const FINALS: [&str; 28] = [
    "", "k", "k", "k", "n", "n", "n", "t", "l", "k", "m", "l", "l", "l", "p", "l", "m", "p", "p",
    "t", "t", "ng", "t", "t", "k", "t", "p", "t",
];

/// Hangul in Latin letters by the Revised Romanization, syllable by syllable; other letters as they
/// are.
fn romanized(word: &str) -> String {
    let mut latin = String::new();
    for c in word.chars() {
        let Some(code) = u32::from(c).checked_sub(0xAC00).filter(|code| *code < 11_172) else {
            latin.extend(c.to_lowercase());
            continue;
        };
        let part = |table: &[&'static str], at: u32| {
            usize::try_from(at).ok().and_then(|at| table.get(at).copied()).unwrap_or_default()
        };
        latin.push_str(part(&INITIALS, code / 588));
        latin.push_str(part(&VOWELS, code % 588 / 28));
        latin.push_str(part(&FINALS, code % 28));
    }
    latin
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::desk::Watch;
    use pdm_shared::id::BearingKey;

    fn fleet() -> Vec<CoreFields> {
        let core = |(site, machine): (&str, &str)| CoreFields {
            key: BearingKey::parse(site, machine, "DE").expect("names"),
            risk: RiskLevel::Normal,
            stage: 0,
            fault: None,
            rul_hours: None,
            event_id: None,
            measured_at: None,
            alarm: None,
            machine_name: None,
            location: None,
            suppression: pdm_shared::episode::Suppression::None,
            abnormal_since: None,
            risen: Vec::new(),
            watch: Watch::Judged,
            is_of_many_sites: true,
        };
        [
            ("pohang-1", "P-1"),
            ("daesan-3", "P-1"),
            ("gunsan", "F-7"),
            ("busan-2", "부산물 이송펌프"),
        ]
        .map(core)
        .into()
    }

    #[test]
    fn a_site_is_named_by_its_id_and_by_its_letters_in_both_scripts() {
        for (text, site) in [
            ("daesan-3 P-1 상태", "daesan-3"),
            ("P-1 at Daesan-3", "daesan-3"),
            ("포항 펌프 상태", "pohang-1"),
            ("포항은?", "pohang-1"),
            ("대산공장 목록", "daesan-3"),
            ("how is gunsan doing", "gunsan"),
            ("군산 쪽은 어때", "gunsan"),
            ("Pohang 건?", "pohang-1"),
        ] {
            let named = named_in(text, &fleet());
            assert_eq!((named.known, named.unknown), (vec![site.to_owned()], vec![]), "{text}");
        }
    }

    #[test]
    fn a_site_that_nobody_has_is_told_and_is_no_other_one() {
        for (text, name) in [
            ("광양 1공장 펌프들 상태는?", "광양"),
            ("당진공장 어때", "당진공장"),
            ("청하 사업장 목록", "청하"),
            ("what about the incheon site", "incheon"),
        ] {
            let named = named_in(text, &fleet());
            assert_eq!((named.known, named.unknown), (vec![], vec![name.to_owned()]), "{text}");
        }
    }

    #[test]
    fn a_text_without_a_site_names_none() {
        for text in [
            "P-1 상태",
            "우리 사업장 상태",
            "부산물 이송펌프 상태",
            "모든 공장 목록",
            "which site is worse",
            "대구경 배관은",
            "거제조사",
            "포장 라인",
        ] {
            assert_eq!(named_in(text, &fleet()), NamedSites::default(), "{text}");
        }
    }
}
