//! Says who is told of an alarm at once, and who after how long while nobody acknowledges it.

use pdm_shared::text::{Language, Text};

use super::desk::{AlarmRoute, AlarmStep, CoreFields, Desk};
use super::reader::Reader;

/// Routes that a listing tells.
const MOST: usize = 8;

/// The routes of alarms: the one that takes the alarms of a bearing at its level, or all.
pub(super) async fn routes(
    desk: &dyn Desk,
    fleet: &[CoreFields],
    of: Option<&CoreFields>,
    reader: Reader,
) -> Option<String> {
    let language = reader.language;
    let bearing = of.map(|core| (&core.key, core.risk));
    let mut all = desk.routes(bearing).await.ok()?;
    if of.is_none() {
        all.retain(|route| is_of_sites(route, fleet));
    }
    if all.is_empty() {
        return Some(told_to_all(desk, language).await);
    }
    let count = all.len();
    let mut lines: Vec<String> = all.iter().take(MOST).map(|one| route(one, language)).collect();
    if let Some(core) = of {
        let name = core.full_name(language);
        let seen = core.alarm.as_ref().and_then(|alarm| alarm.acknowledged_by.as_ref());
        lines.insert(
            0,
            match (seen, language) {
                (Some(by), Language::Ko) => {
                    format!("{name}: {by} 님이 확인했으므로 다음 사람에게 알리지 않습니다.")
                }
                (Some(by), Language::En) => {
                    format!("{name}: acknowledged by {by}, so nobody further is told.")
                }
                (None, _) => format!("{name}:"),
            },
        );
    }
    if count > MOST {
        lines.push(match language {
            Language::Ko => format!("그 밖에 {}개", count - MOST),
            Language::En => format!("and {} more", count - MOST),
        });
    }
    Some(lines.join("\n"))
}

/// Whether a route takes alarms of one of the sites that are asked about.
pub(super) fn is_of_sites(route: &AlarmRoute, fleet: &[CoreFields]) -> bool {
    route.sites.is_empty()
        || fleet.is_empty()
        || fleet.iter().any(|core| takes_site(route, core.key.site.as_str()))
}

/// Whether a route names a site, by its id or by a begin of it with `*`.
pub(super) fn takes_site(route: &AlarmRoute, site: &str) -> bool {
    route.sites.iter().any(|pattern| {
        let begin = pattern.split('*').next().unwrap_or_default();
        let is_whole = begin.len() == pattern.len();
        site == pattern || !is_whole && site.starts_with(begin)
    })
}

/// Says that everybody is told at once, where no route decides.
async fn told_to_all(desk: &dyn Desk, language: Language) -> String {
    let everybody = desk.duty().await.ok().flatten().map(|roster| roster.everybody);
    let everybody = everybody.unwrap_or_default().join(", ");
    let none = Text::new(
        "알림 경로가 설정되어 있지 않아 모두에게 바로 알리고, 다음 순서는 없습니다.",
        "No route is configured: everybody is told at once, and there is no next step.",
    );
    let none = none.in_language(language);
    if everybody.is_empty() { none.to_owned() } else { format!("{none} {everybody}") }
}

/// `여수 (경고부터): 바로 당직조(지금 강대리), 확인이 없으면 45분 뒤 서과장`.
fn route(route: &AlarmRoute, language: Language) -> String {
    let of_places: Vec<&str> =
        route.sites.iter().chain(&route.equipment).map(String::as_str).collect();
    let levels = match (route.from, route.to, language) {
        (None, None, _) => None,
        (from, to, _) => {
            let label = |level: Option<pdm_shared::risk::RiskLevel>| {
                level.map(|level| level.label().in_language(language).to_owned())
            };
            Some(match (label(from), label(to), language) {
                (Some(from), None, Language::Ko) => format!("{from}부터"),
                (Some(from), None, Language::En) => format!("from {from} on"),
                (None, Some(to), Language::Ko) => format!("{to}까지"),
                (None, Some(to), Language::En) => format!("up to {to}"),
                (from, to, _) => {
                    format!("{}–{}", from.unwrap_or_default(), to.unwrap_or_default())
                }
            })
        }
    };
    let hours = route.is_of_hours.then(|| {
        let hours = Text::new("정해진 시간에만", "in its hours alone");
        hours.in_language(language).to_owned()
    });
    let places = (!of_places.is_empty()).then(|| of_places.join(", "));
    let about: Vec<String> = [places, levels, hours].into_iter().flatten().collect();
    let about = if about.is_empty() { String::new() } else { format!(" ({})", about.join("; ")) };
    let steps: Vec<String> = route.steps.iter().map(|one| step(one, language)).collect();
    format!("{}{about}:\n{}", route.name, steps.join("\n"))
}

fn step(step: &AlarmStep, language: Language) -> String {
    let is_behind = |person: &&String| !step.to.contains(person);
    let behind: Vec<&str> = step.people.iter().filter(is_behind).map(String::as_str).collect();
    let nobody = step.people.is_empty();
    let now = match (behind.is_empty(), nobody, language) {
        (_, true, Language::Ko) => " (지금 아무도 없음)".to_owned(),
        (_, true, Language::En) => " (nobody now)".to_owned(),
        (true, false, _) => String::new(),
        (false, false, Language::Ko) => format!(" (지금 {})", behind.join(", ")),
        (false, false, Language::En) => format!(" (now {})", behind.join(", ")),
    };
    let to = step.to.join(", ");
    match (step.after_minutes, language) {
        (0, Language::Ko) => format!("- 바로: {to}{now}"),
        (0, Language::En) => format!("- at once: {to}{now}"),
        (minutes, Language::Ko) => format!("- 확인이 없으면 {minutes}분 뒤: {to}{now}"),
        (minutes, Language::En) => {
            format!("- after {minutes} min without an acknowledgement: {to}{now}")
        }
    }
}
