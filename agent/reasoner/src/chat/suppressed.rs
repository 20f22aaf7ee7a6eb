//! Alarms that staff is not told of for a while, and sensors that cannot be judged.

use pdm_shared::episode::Suppression;
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Language;

use super::desk::{CoreFields, ToldLine, Watch};
use super::extract::Sources;
use super::reader::Reader;
use super::{plant_records, sites, watching};

/// Sensors that a listing tells.
const MAX_LISTED: usize = 20;

/// The alarms that are put off: of one bearing, or all.
pub(super) fn shelved(fleet: &[CoreFields], of: Option<&CoreFields>, reader: Reader) -> String {
    let language = reader.language;
    if let Some(core) = of {
        return suppressed(core, reader).unwrap_or_else(|| {
            let name = core.full_name(language);
            match language {
                Language::Ko => format!("{name}: 보류된 경보가 없습니다."),
                Language::En => format!("{name}: no alarm of it is shelved."),
            }
        });
    }
    let all: Vec<String> = fleet.iter().filter_map(|core| suppressed(core, reader)).collect();
    let count = all.len();
    let head = match (count, language) {
        (0, Language::Ko) => "보류된 경보가 없습니다.".to_owned(),
        (0, Language::En) => "No alarm is shelved.".to_owned(),
        (_, Language::Ko) => format!("보류되었거나 알리지 않는 경보 {count}건:"),
        (_, Language::En) => format!("Alarms that are shelved or not told: {count}"),
    };
    let lines = all.into_iter().map(|line| format!("- {line}"));
    std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n")
}

/// Says until when, by whom and why staff is not told of a bearing; `None` if it is told.
pub(super) fn suppressed(core: &CoreFields, reader: Reader) -> Option<String> {
    let language = reader.language;
    let name = core.full_name(language);
    Some(match &core.suppression {
        Suppression::None => return None,
        Suppression::ByDesign { reason } => match language {
            Language::Ko => format!("{name}: 다른 경보와 함께 알림({})", in_korean(reason)),
            Language::En => format!("{name}: told with another alarm ({reason})"),
        },
        Suppression::Shelved { until, by, reason } => {
            let until = reader.clock_time(*until);
            match language {
                Language::Ko => format!("{name}: {by} 님이 {until}까지 보류함. 사유: {reason}"),
                Language::En => format!("{name}: shelved by {by} until {until}. Reason: {reason}"),
            }
        }
        Suppression::OutOfService { until, by, reason, work_order } => {
            let until = reader.clock_time(*until);
            let order = work_order.as_ref().map(|order| format!(", {order}")).unwrap_or_default();
            match language {
                Language::Ko => {
                    format!("{name}: {by} 님이 {until}까지 정비 중으로 둠. 사유: {reason}{order}")
                }
                Language::En => {
                    format!("{name}: out of service by {by} until {until}. Reason: {reason}{order}")
                }
            }
        }
    })
}

/// The agent's own reason for telling a bearing with another one, in Korean; another reason as it
/// is.
fn in_korean(reason: &str) -> String {
    let parts = reason.strip_prefix("one cause with ").and_then(|rest| rest.rsplit_once(" at "));
    let level = parts.and_then(|(_, level)| level.parse::<RiskLevel>().ok());
    match (parts, level) {
        (Some((name, _)), Some(level)) => {
            format!("{name} {} 경보와 한 원인", level.label().in_language(Language::Ko))
        }
        (Some(_) | None, _) => reason.to_owned(),
    }
}

/// Lists the sensors that staff was last told of as bad, of one bearing or of all; `None` if the
/// messages cannot be read.
pub(super) async fn bad_sensors(
    sources: &Sources<'_>,
    of: Option<&BearingKey>,
    reader: Reader,
) -> Option<String> {
    let language = reader.language;
    let is_asked = |key: &BearingKey| match of {
        Some(asked) => asked == key,
        None => sources.fleet.iter().any(|core| core.key == *key),
    };
    let dead = sources.fleet.iter().filter(|core| is_asked(&core.key));
    let dead = dead.filter(|core| matches!(core.watch, Watch::Invalid { .. }));
    let dead: Vec<String> = dead.filter_map(|core| watching::unseen(core, reader)).collect();
    let mut told = sources.desk.told_lately().await.ok()?;
    let sites = sites::all(sources.fleet);
    told.retain(|line| sites.is_empty() || sites.contains(&line.key.site.as_str()));
    let mut seen: Vec<&BearingKey> = Vec::new();
    let mut bad: Vec<&ToldLine> = Vec::new();
    let of_sensors = told.iter().filter(|line| line.title.en.starts_with("[Sensor"));
    // the newest message of a bearing says how its sensor stands
    for line in of_sensors.filter(|line| of.is_none_or(|key| *key == line.key)) {
        if seen.contains(&&line.key) {
            continue;
        }
        seen.push(&line.key);
        if line.title.en.starts_with("[Sensor]") {
            bad.push(line);
        }
    }
    let lines = bad.iter().take(MAX_LISTED).map(|line| {
        let (title, at) = (line.title.in_language(language), reader.clock_time(line.at));
        match language {
            Language::Ko => format!("- {title} ({at} 알림)"),
            Language::En => format!("- {title} (told {at})"),
        }
    });
    let lines: Vec<String> = lines.collect();
    let head = match (bad.is_empty(), language) {
        (true, Language::Ko) if !dead.is_empty() => "측정값이 무효인 센서:",
        (true, Language::En) if !dead.is_empty() => "Sensors without valid measurements:",
        (true, Language::Ko) => "최근 알림에 센서 이상이 없습니다.",
        (true, Language::En) => "No recent message is about a bad sensor.",
        (false, Language::Ko) => "센서 이상(점검 필요, 그동안 감시되지 않음):",
        (false, Language::En) => "Bad sensors (to be checked; not watched meanwhile):",
    };
    let bound = plant_records::rests_on(&told, reader);
    let all = std::iter::once(head.to_owned()).chain(lines).chain(dead).chain(bound);
    Some(all.collect::<Vec<_>>().join("\n"))
}
