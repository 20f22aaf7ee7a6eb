//! Tells the records of the plant: its bearings, its gateways, and what no record holds.

use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Language;

use super::desk::{CoreFields, Desk, GatewayLine, ToldLine};
use super::entities::UnknownName;
use super::reader::Reader;

/// Bearings that a listing tells.
pub(super) const MAX_LISTED: usize = 10;

/// Says how many of a listing are not told.
pub(super) fn more(count: usize, language: Language) -> Option<String> {
    match (count.saturating_sub(MAX_LISTED), language) {
        (0, _) => None,
        (rest, Language::Ko) => Some(format!("그 밖에 {rest}개")),
        (rest, Language::En) => Some(format!("and {rest} more")),
    }
}

/// Says on how many messages an answer rests; `None` if there is no message.
pub(super) fn rests_on(all: &[ToldLine], reader: Reader) -> Option<String> {
    let (count, since) = (all.len(), reader.clock_time(all.last()?.at));
    Some(match reader.language {
        Language::Ko => format!("최근 알림 {count}건({since}부터)만 살펴본 결과입니다."),
        Language::En => format!("This rests on the newest {count} messages, since {since}."),
    })
}

/// Says how many bearings and machines there are.
pub(super) fn count(fleet: &[CoreFields], language: Language) -> String {
    let of = |core: &CoreFields| (core.key.site.to_string(), core.key.equipment.to_string());
    let mut machines: Vec<(String, String)> = fleet.iter().map(of).collect();
    machines.sort_unstable();
    machines.dedup();
    let (bearings, machines) = (fleet.len(), machines.len());
    let of_site = |site: &str| fleet.iter().filter(|core| core.key.site.as_str() == site).count();
    let sites = super::sites::all(fleet);
    let of_sites: Vec<String> =
        sites.iter().map(|site| format!("- {site}: {}", of_site(site))).collect();
    let of_sites =
        if sites.len() > 1 { format!("\n{}", of_sites.join("\n")) } else { String::new() };
    match language {
        Language::Ko => {
            format!("판정하는 베어링은 {bearings}개, 설비는 {machines}대입니다.{of_sites}")
        }
        Language::En => {
            let s = |count: usize| if count == 1 { "" } else { "s" };
            let (of_bearings, of_machines) = (s(bearings), s(machines));
            format!(
                "I judge {bearings} bearing{of_bearings} of {machines} \
                 machine{of_machines}.{of_sites}"
            )
        }
    }
}

/// Asks which of the bearings that stand is meant.
pub(super) fn which(fleet: &[CoreFields], language: Language) -> String {
    let standing = fleet.iter().filter(|core| core.risk > RiskLevel::Normal).take(MAX_LISTED);
    let lines = standing.map(|core| format!("- {}", core.line(language)));
    let head = match language {
        Language::Ko => "어느 베어링을 말씀하십니까? 정상이 아닌 베어링:",
        Language::En => "Which bearing do you mean? Not Normal are:",
    };
    std::iter::once(head.to_owned()).chain(lines).collect::<Vec<_>>().join("\n")
}

/// One gateway: whether it is connected, its last event, its bearings.
fn gateway_line(gateway: &GatewayLine, fleet: &[CoreFields], reader: Reader) -> String {
    let language = reader.language;
    let state = match (gateway.is_online, language) {
        (Some(true), Language::Ko) => "연결됨",
        (Some(true), Language::En) => "online",
        (Some(false), Language::Ko) => "통신 두절",
        (Some(false), Language::En) => "offline",
        (None, Language::Ko) => "연결 상태를 보낸 적 없음",
        (None, Language::En) => "has never sent its status",
    };
    let since = gateway.since.map(|at| format!(" ({})", reader.clock_time(at))).unwrap_or_default();
    let last = gateway.last_event_at.map_or_else(
        || match language {
            Language::Ko => "측정값 없음".to_owned(),
            Language::En => "no measurement yet".to_owned(),
        },
        |at| match language {
            Language::Ko => format!("마지막 수신 {}", reader.clock_time(at)),
            Language::En => format!("last message {}", reader.clock_time(at)),
        },
    );
    let of_gateway = fleet.iter().filter(|core| measures(gateway, core));
    let measured = of_gateway.filter_map(|core| core.measured_at).max();
    let last = match (measured.map(|at| reader.clock_time(at)), language) {
        (None, _) => last,
        (Some(at), Language::Ko) => format!("마지막 측정 {at}, {last}"),
        (Some(at), Language::En) => format!("last measurement {at}, {last}"),
    };
    let of = gateway.bearings.join(", ");
    let of = match (of.is_empty(), language) {
        (true, _) => String::new(),
        (false, Language::Ko) => format!(", 베어링 {of}"),
        (false, Language::En) => format!(", bearings {of}"),
    };
    format!("- {}: {state}{since}, {last}{of}", gateway.name)
}

/// Whether a gateway measures a bearing.
pub(super) fn measures(gateway: &GatewayLine, core: &CoreFields) -> bool {
    let site = gateway.name.split_once('/').map_or("", |(site, _)| site);
    let is_at_site = site.is_empty() || site == core.key.site.as_str();
    is_at_site && gateway.bearings.contains(&core.name_at_site())
}

/// The gateway that measures a bearing, where it is told to be offline.
pub(super) async fn silent_gateway(
    desk: &dyn Desk,
    fleet: &[CoreFields],
    core: &CoreFields,
    reader: Reader,
) -> Option<String> {
    let all = desk.gateways().await.ok()?;
    let silent = all.iter().find(|one| one.is_online == Some(false) && measures(one, core))?;
    Some(gateway_line(silent, fleet, reader))
}

/// Says which gateways report, and which do not.
pub(super) async fn gateways(
    desk: &dyn Desk,
    fleet: &[CoreFields],
    clause: &str,
    of: Option<&CoreFields>,
    reader: Reader,
) -> Option<String> {
    let language = reader.language;
    let mut all = desk.gateways().await.ok()?;
    let lower = clause.to_lowercase();
    let is_named = |one: &GatewayLine| {
        let name = one.name.rsplit('/').next().unwrap_or_default().to_lowercase();
        let number = name.trim_start_matches(|c: char| !c.is_ascii_digit()).trim_start_matches('0');
        let by_number = ["번", "호"].iter().any(|unit| lower.contains(&format!(" {number}{unit}")));
        let is_whole = lower.match_indices(&name).any(|(at, _)| {
            !lower[at + name.len()..].starts_with(|c: char| c.is_ascii_alphanumeric())
        });
        !name.is_empty() && (is_whole || !number.is_empty() && by_number)
    };
    let measures = |one: &GatewayLine| of.is_some_and(|core| measures(one, core));
    let count_of_all = all.len();
    if all.iter().any(is_named) {
        all.retain(is_named);
    } else if all.iter().any(measures) {
        all.retain(measures);
    }
    if all.is_empty() {
        return Some(match language {
            Language::Ko => "제 기록에 게이트웨이가 없습니다.".to_owned(),
            Language::En => "There is no gateway in my records.".to_owned(),
        });
    }
    let line = |gateway: &GatewayLine| gateway_line(gateway, fleet, reader);
    let (silent, others): (Vec<_>, Vec<_>) =
        all.iter().partition(|one| one.is_online == Some(false));
    let head = match (silent.len(), language) {
        (0, Language::Ko) => "통신이 끊겼다고 알린 게이트웨이는 없습니다.".to_owned(),
        (0, Language::En) => "No gateway is told to be offline.".to_owned(),
        (count, Language::Ko) => format!("통신이 끊긴 게이트웨이 {count}개:"),
        (count, Language::En) => format!("Offline gateways: {count}"),
    };
    // of some of them each line says how it is; a sentence of all would be about the others, too
    let head = (silent.len() + others.len() == count_of_all).then_some(head);
    let between = (head.is_some() && !silent.is_empty() && !others.is_empty()).then(|| {
        let count = others.len();
        match language {
            Language::Ko => format!("그 밖의 게이트웨이 {count}개:"),
            Language::En => format!("Other gateways: {count}"),
        }
    });
    let silent: Vec<String> = silent.into_iter().take(2 * MAX_LISTED).map(line).collect();
    let others = others.into_iter().take(2 * MAX_LISTED).map(line);
    let lines = head.into_iter().chain(silent).chain(between).chain(others);
    Some(lines.collect::<Vec<_>>().join("\n"))
}

/// Says that a machine does not exist, with the names that are near.
pub(super) fn unknown(name: &UnknownName, is_registered: bool, language: Language) -> String {
    let (name, near) = (&name.name, name.near.join(", "));
    if is_registered {
        return match language {
            Language::Ko => format!("{name}: 설비 목록에는 있지만 판정하는 베어링이 없습니다."),
            Language::En => {
                format!("{name} is in the register of machines, but no bearing of it is judged.")
            }
        };
    }
    match (near.is_empty(), language) {
        (true, Language::Ko) => format!("{name}: 제 기록에 없는 설비입니다."),
        (true, Language::En) => format!("There is no {name} in my records."),
        (false, Language::Ko) => {
            format!("{name}: 제 기록에 없습니다. 혹시 {near} 가운데 하나입니까?")
        }
        (false, Language::En) => {
            format!("There is no {name} in my records. Did you mean one of: {near}?")
        }
    }
}

/// Says that the chat changes nothing, and where it is done.
pub(super) const fn read_only(language: Language) -> &'static str {
    match language {
        Language::Ko => {
            "이 대화는 기록을 조회만 하고 아무것도 바꾸지 않습니다. 경보 확인, 보류, 작업 보고는 베어링과 작업 페이지에서, 또는 `pdm-agent ack`, \
             `shelve`, `follow-up` 명령으로 합니다."
        }
        Language::En => {
            "This chat only looks up records and changes nothing. Acknowledge, shelve and report \
             work on the pages of the bearing and of the work, or by `pdm-agent ack`, `shelve` and \
             `follow-up`."
        }
    }
}

/// Describes what the programs do and need.
pub(super) const fn of_program(language: Language) -> &'static str {
    match language {
        Language::Ko => {
            "이 프로그램은 베어링의 진동을 판정하고 알리기만 합니다. 설비를 세우거나 켜지 않으며, 정지는 현장의 사람과 보호 장치가 합니다. \
             판정과 이 대화는 정해진 규칙과 기록, 문서로 하므로 인터넷이나 인공지능 모델이 없어도 됩니다. 언어 모델을 설정하면 그 모델이 기록과 도구로 답합니다."
        }
        Language::En => {
            "These programs judge the vibration of bearings and tell people. They stop and start \
             no machine: people and the machine's own protection do that. Judgements and this chat \
             rest on rules, records and documents, so neither the internet nor an AI model is \
             needed. Where a language model is configured, it answers with these records and tools."
        }
    }
}

/// Lists the questions that the chat answers without a model.
pub(super) const fn help(language: Language) -> &'static str {
    match language {
        Language::Ko => {
            "답할 수 있는 것: 베어링의 상태와 판정 근거, 언제부터 이상인지, 무엇이 변했는지, 측정값과 회전 속도(날짜별로도), 두 베어링의 비교, 잔여수명, \
             세워야 하는지와 할 일, 열린 경보, 보낸 알림과 확인, 당직, 게이트웨이와 측정이 끊긴 설비, 교체 절차와 토크·그리스·가열·틈새 값, 비슷한 사례, \
             용어의 뜻."
        }
        Language::En => {
            "I can answer: the state of a bearing and its grounds, since when it is abnormal, what \
             has changed, its figures and speed (of a day too), a comparison, the remaining life, \
             whether to stop and what to do, open alarms, what staff was told and who \
             acknowledged, who is on duty, gateways and what is no longer measured, procedures and \
             values for torque, grease, heating and clearance, similar cases, and what a word \
             means."
        }
    }
}

/// Says that neither a document of the plant nor a record answers.
pub(super) const fn not_in_documents(language: Language) -> &'static str {
    match language {
        Language::Ko => {
            "현장 문서와 제 기록에서 그 답을 찾지 못했습니다. 제가 판정하는 것은 진동뿐입니다. 담당자나 현장 수칙에 확인하십시오."
        }
        Language::En => {
            "I found no answer to that in the plant's documents or in my records. What I judge is \
             vibration alone: ask the person in charge or the plant's own rules."
        }
    }
}

/// Says that the records do not hold the answer, and what they hold.
pub(super) fn not_recorded(language: Language) -> String {
    let help = help(language);
    match language {
        Language::Ko => format!("그 답은 제 기록에 없습니다. {help}"),
        Language::En => format!("That is not in my records. {help}"),
    }
}

/// Says which part of a question was not understood, beside the answer to the rest.
pub(super) fn not_read(clause: &str, language: Language) -> String {
    match language {
        Language::Ko => format!("답하지 못한 부분: \"{clause}\". 다른 말로 다시 물어 주십시오."),
        Language::En => {
            format!("Not answered: \"{clause}\". Please ask it again in other words.")
        }
    }
}
