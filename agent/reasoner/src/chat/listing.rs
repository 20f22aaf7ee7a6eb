//! Lists of bearings, worst first: all, those of a rank, a level or a damage, those to be stopped,
//! and those that are sound.

use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Language;

use super::desk::CoreFields;
use super::plant_records::{MAX_LISTED, more};
use super::reader::Reader;
use super::{figures, intent, watching};

/// Every bearing, worst first: as many as a clause asks for (`top 5`), else [`MAX_LISTED`].
pub(super) fn fleet(fleet: &[CoreFields], clause: &str, reader: Reader) -> String {
    let language = reader.language;
    if fleet.is_empty() {
        return match language {
            Language::Ko => "아직 판정된 베어링이 없습니다.".to_owned(),
            Language::En => "No bearing has been judged yet.".to_owned(),
        };
    }
    let mut order: Vec<&CoreFields> = fleet.iter().collect();
    order.sort_by(|a, b| a.worst_first(b));
    if let Some(told) = of_rank(&order, clause, reader).or_else(|| of_kind(&order, clause, reader))
    {
        return told;
    }
    let asked = listed_in(clause);
    let shown = asked.unwrap_or(MAX_LISTED);
    let lines: Vec<String> =
        order.iter().take(shown).map(|core| line_with_age(core, reader)).collect();
    let all = fleet.len();
    let head = fleet_head(fleet, language);
    let more = more(all, language).filter(|_| asked.is_none());
    std::iter::once(head).chain(lines).chain(more).collect::<Vec<_>>().join("\n")
}

/// Says how many bearings are not Normal, and how many cannot be judged now.
fn fleet_head(fleet: &[CoreFields], language: Language) -> String {
    let standing = fleet.iter().filter(|core| core.risk > RiskLevel::Normal).count();
    let unseen = fleet.iter().filter(|core| core.is_unseen()).count();
    let all = fleet.len();
    let also = match (unseen, language) {
        (0, _) => String::new(),
        (_, Language::Ko) => format!(" 지금 판정할 수 없는 것 {unseen}개(정지 또는 측정값 무효)."),
        (_, Language::En) => {
            format!(" Cannot be judged now: {unseen} (standing still, or not validly measured).")
        }
    };
    match (standing, unseen, language) {
        (0, 0, Language::Ko) if all == 1 => "베어링 1개는 정상입니다.".to_owned(),
        (0, 0, Language::En) if all == 1 => "The one bearing is Normal.".to_owned(),
        (0, 0, Language::Ko) => format!("베어링 {all}개가 모두 정상입니다."),
        (0, 0, Language::En) => format!("All {all} bearings are Normal."),
        (0, _, Language::Ko) => {
            format!("베어링 {all}개 가운데 이상으로 판정된 것은 없습니다.{also}")
        }
        (0, _, Language::En) => format!("None of {all} bearings is judged abnormal.{also}"),
        (_, _, Language::Ko) => {
            format!("베어링 {all}개 가운데 {standing}개가 정상이 아닙니다.{also} 나쁜 순서:")
        }
        (_, _, Language::En) => {
            format!("Not Normal: {standing} of {all} bearings.{also} Worst first:")
        }
    }
}

/// The one bearing of a rank that a clause asks for: `second worst`, `두 번째로 나쁜`.
fn of_rank(order: &[&CoreFields], clause: &str, reader: Reader) -> Option<String> {
    const RANKS: [(usize, &[&str]); 3] = [
        (
            1,
            &[
                "second worst",
                "second most",
                "next worst",
                "runner-up",
                "두 번째",
                "두번째",
                "둘째",
                "2번째",
                "2위",
                "그다음",
                "그 다음",
            ],
        ),
        (2, &["third worst", "third most", "세 번째", "세번째", "셋째", "3번째", "3위"]),
        (3, &["fourth worst", "fourth most", "네 번째", "네번째", "넷째", "4번째", "4위"]),
    ];
    let lower = clause.to_lowercase();
    let (rank, _) =
        RANKS.into_iter().find(|(_, words)| words.iter().any(|word| lower.contains(word)))?;
    Some(match (order.get(rank), reader.language) {
        (Some(core), Language::Ko) => {
            format!("{}번째로 나쁜 베어링:\n{}", rank + 1, line_with_age(core, reader))
        }
        (Some(core), Language::En) => {
            format!("Number {} from the worst:\n{}", rank + 1, line_with_age(core, reader))
        }
        (None, Language::Ko) => format!("베어링이 {}개뿐입니다.", order.len()),
        (None, Language::En) => format!("There are {} bearings only.", order.len()),
    })
}

/// The bearings of the level or with the damage alone that a clause asks for.
fn of_kind(order: &[&CoreFields], clause: &str, reader: Reader) -> Option<String> {
    let (lower, language) = (clause.to_lowercase(), reader.language);
    let (level, fault) = (intent::level_in(&lower), intent::fault_in(&lower));
    if level.is_none() && fault.is_none() {
        return None;
    }
    let is_asked = |core: &&&CoreFields| {
        level.is_none_or(|level| core.risk == level)
            && fault.is_none_or(|fault| core.fault == Some(fault) && core.risk > RiskLevel::Normal)
    };
    let lines: Vec<String> =
        order.iter().filter(is_asked).map(|core| line_with_age(core, reader)).collect();
    let level = level.map(|level| level.label().in_language(language).to_owned());
    let fault =
        fault.map(|fault| pdm_expert::wording::element(fault).in_language(language).to_owned());
    let what = level.into_iter().chain(fault).collect::<Vec<_>>().join(", ");
    let (count, all) = (lines.len(), order.len());
    let head = match language {
        Language::Ko => format!("{what}: 베어링 {all}개 가운데 {count}개"),
        Language::En => format!("{what}: {count} of {all} bearings"),
    };
    Some(std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n"))
}

/// The bearings that are to be stopped: those judged Critical.
pub(super) fn stops(fleet: &[CoreFields], reader: Reader) -> String {
    let language = reader.language;
    let critical = fleet.iter().filter(|core| core.risk == RiskLevel::Critical);
    let lines: Vec<String> =
        critical.map(|core| format!("- {}", line_with_age(core, reader))).collect();
    let unseen = fleet.iter().filter(|core| core.is_unseen()).count();
    let head = match (lines.is_empty(), language) {
        (true, Language::Ko) => "위험 판정이 없어 당장 세우라는 베어링은 없습니다.",
        (true, Language::En) => "No bearing is judged Critical, so none has to stop at once.",
        (false, Language::Ko) => {
            "안전하게 멈출 수 있는 가장 빠른 때에 정지해야 하는 베어링(위험 판정):"
        }
        (false, Language::En) => "To be stopped at the earliest safe time (judged Critical):",
    };
    let also = (unseen > 0).then(|| match language {
        Language::Ko => {
            format!("지금 판정할 수 없는 베어링이 {unseen}개 더 있습니다(정지 또는 측정값 무효).")
        }
        Language::En => format!(
            "Besides, {unseen} cannot be judged now (standing still, or not validly measured)."
        ),
    });
    std::iter::once(head.to_owned()).chain(lines).chain(also).collect::<Vec<_>>().join("\n")
}

/// A bearing's line, with how long ago it was measured where that is long.
fn line_with_age(core: &CoreFields, reader: Reader) -> String {
    let line = core.line(reader.language);
    let age_h = reader.now.zip(core.measured_at).map(|(now, at)| now.seconds_since(at) / 3600.0);
    match (age_h.filter(|age_h| *age_h >= figures::OLD_H), reader.language) {
        (None, _) => line,
        (Some(age_h), Language::Ko) => format!("{line}, {age_h:.0}시간째 측정 없음"),
        (Some(age_h), Language::En) => format!("{line}, not measured for {age_h:.0} h"),
    }
}

/// Returns how many of a listing a clause asks for: `top 5`, `상위 3개`, `3대만`.
fn listed_in(clause: &str) -> Option<usize> {
    const ONE: [&str; 8] =
        ["하나만", "한 개만", "한개만", "한 대만", "한대만", "딱 하나", "just one", "only one"];
    let lower = clause.to_lowercase();
    let is_asked = ["top", "상위", "worst", "만 ", "개만", "대만", "first", "제일", "가장"]
        .iter()
        .any(|word| lower.contains(word));
    if ONE.iter().any(|word| lower.contains(word)) {
        return Some(1);
    }
    let mut words = lower.split(|c: char| !c.is_ascii_digit()).filter(|word| !word.is_empty());
    let number: usize = words.next()?.parse().ok()?;
    (is_asked && (1..=MAX_LISTED).contains(&number)).then_some(number)
}

/// The bearings that are judged Normal; one that is no longer measured is told to be so.
pub(super) fn sound(fleet: &[CoreFields], reader: Reader) -> String {
    let language = reader.language;
    let normal: Vec<&CoreFields> =
        fleet.iter().filter(|core| core.risk == RiskLevel::Normal && !core.is_unseen()).collect();
    let (all, count) = (fleet.len(), normal.len());
    let head = match (count, language) {
        (0, Language::Ko) => format!("베어링 {all}개 가운데 정상인 것이 없습니다."),
        (0, Language::En) => format!("None of the {all} bearings is Normal."),
        (_, Language::Ko) => format!("베어링 {all}개 가운데 정상은 {count}개:"),
        (_, Language::En) => format!("Normal: {count} of {all} bearings"),
    };
    let lines = normal.iter().take(MAX_LISTED).map(|core| {
        let old = figures::age(core, reader).map(|old| format!(". {old}"));
        let (name, risk) = (core.full_name(language), core.risk.label());
        format!("- {name}: {}{}", risk.in_language(language), old.unwrap_or_default())
    });
    let more = more(count, language);
    let unseen: Vec<String> = fleet
        .iter()
        .filter(|core| core.is_unseen())
        .filter_map(|core| watching::unseen(core, reader))
        .collect();
    std::iter::once(head).chain(lines).chain(more).chain(unseen).collect::<Vec<_>>().join("\n")
}
