//! What the records say of one bearing, in sentences.

use pdm_shared::follow_up::FollowUpState;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::{Language, Text};
use pdm_shared::time::Timestamp;

use super::desk::{Focus, WorkLine, told_time};
use super::figures::age;
use super::intent::Lookup;

/// Messages that are told.
const MAX_TOLD: usize = 10;

/// What a look-up of one bearing finds.
pub(super) fn record_in_words(
    lookup: Lookup,
    focus: &Focus,
    now: Option<Timestamp>,
    language: Language,
) -> Option<String> {
    match lookup {
        Lookup::State => Some(state(focus, now, language)),
        Lookup::Why => why(focus, language),
        Lookup::Onset => Some(onset(focus, language)),
        Lookup::Stop => Some(stop(focus, now, language)),
        Lookup::Doubts => Some(doubts(focus, language)),
        Lookup::Life => Some(life(focus, language)),
        Lookup::Work => Some(work(focus, language)),
        Lookup::Told => Some(notified(focus, language)),
        Lookup::Past => Some(focus.memory.in_language(language).to_owned()),
        Lookup::Changes
        | Lookup::Fleet
        | Lookup::Count
        | Lookup::Sound
        | Lookup::Alarms
        | Lookup::ToldOfAll
        | Lookup::WorkOfAll
        | Lookup::Heard
        | Lookup::Zones
        | Lookup::Figures
        | Lookup::Identity
        | Lookup::Unmeasured
        | Lookup::Compare
        | Lookup::Duty
        | Lookup::Gateways
        | Lookup::Meaning
        | Lookup::Value
        | Lookup::Manual
        | Lookup::Cases
        | Lookup::Which
        | Lookup::Act
        | Lookup::Help => None,
    }
}

fn list(head: &Text, lines: Vec<String>, language: Language) -> Option<String> {
    let head = head.in_language(language);
    (!lines.is_empty()).then(|| format!("{head}\n{}", lines.join("\n")))
}

fn bullets(texts: &[Text], language: Language) -> Vec<String> {
    texts.iter().map(|text| format!("- {}", text.in_language(language))).collect()
}

fn uncertain(focus: &Focus, language: Language) -> Option<String> {
    list(&Text::new("불확실성:", "Uncertainty:"), bullets(&focus.doubts, language), language)
}

fn state(focus: &Focus, now: Option<Timestamp>, language: Language) -> String {
    let line = focus.core.line(language);
    let advice = focus.advice.in_language(language);
    let parts = [
        Some(format!("{line}\n→ {advice}")),
        levels(focus, language),
        age(&focus.core, now, language),
        uncertain(focus, language),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// `진동속도 1.9 mm/s, 첨도 5.1`
pub(super) fn levels(focus: &Focus, language: Language) -> Option<String> {
    let told = focus.record.levels.iter().map(|level| {
        let value = pdm_expert::wording::figure(level.value);
        format!("{} {value} {}", level.name.in_language(language), level.unit).trim().to_owned()
    });
    let told: Vec<String> = told.collect();
    let head = Text::new("마지막 측정: ", "Last measurement: ");
    (!told.is_empty()).then(|| format!("{}{}", head.in_language(language), told.join(", ")))
}

fn why(focus: &Focus, language: Language) -> Option<String> {
    let mut lines = bullets(&focus.grounds, language);
    lines.extend(focus.disagreement.iter().map(|text| text.in_language(language).to_owned()));
    list(&Text::new("판정 근거:", "Grounds of the judgement:"), lines, language)
}

pub(super) fn onset(focus: &Focus, language: Language) -> String {
    let name = focus.core.name();
    let Some(onset) = &focus.record.onset else {
        return match language {
            Language::Ko => format!("{name}: 제 기록에는 이상이 시작된 적이 없습니다."),
            Language::En => format!("{name}: no abnormality has begun in my records."),
        };
    };
    let begun = told_time(onset.opened_at);
    let head = match (language, onset.closed_at.map(told_time)) {
        (Language::Ko, None) => format!("{name}: {begun}부터 이상이 이어지고 있습니다."),
        (Language::En, None) => format!("{name}: abnormal since {begun}."),
        (Language::Ko, Some(over)) => {
            format!("{name}: 지금은 이상이 없습니다. 마지막 이상은 {begun}부터 {over}까지였습니다.")
        }
        (Language::En, Some(over)) => {
            format!("{name}: nothing stands now. The last abnormality was from {begun} to {over}.")
        }
    };
    let told = onset.levels.iter().filter_map(|(level, at)| {
        let (level, at) = (level.label(), told_time((*at)?));
        Some(match language {
            Language::Ko => format!("- {}: {at} 알림", level.in_language(language)),
            Language::En => format!("- {}: told {at}", level.in_language(language)),
        })
    });
    std::iter::once(head).chain(told).collect::<Vec<_>>().join("\n")
}

fn stop(focus: &Focus, now: Option<Timestamp>, language: Language) -> String {
    let core = &focus.core;
    let verdict = match core.risk {
        RiskLevel::Critical => Text::new(
            "계속 운전하지 마십시오. 위험 판정이므로 안전하게 멈출 수 있는 가장 빠른 때에 정지합니다.",
            "Do not go on running: it is judged Critical. Stop at the earliest safe time.",
        ),
        RiskLevel::Warning => Text::new(
            "당장 세우라는 판정은 아니지만, 교체를 계획하고 그때까지 감시를 늘립니다.",
            "It need not stop at once; plan the replacement and watch it closely until then.",
        ),
        RiskLevel::Watch => Text::new(
            "계속 운전해도 됩니다. 다음 측정에서 확인합니다.",
            "It may go on running; confirm by the next measurements.",
        ),
        RiskLevel::Normal => {
            Text::new("정지할 이유가 제 기록에는 없습니다.", "My records give no reason to stop.")
        }
    };
    let line = core.line(language);
    let (verdict, advice) = (verdict.in_language(language), focus.advice.in_language(language));
    let mut parts = vec![line, verdict.to_owned(), format!("→ {advice}")];
    if core.risk > RiskLevel::Normal {
        parts.push(life(focus, language));
    }
    parts.extend(age(core, now, language));
    parts.push(match language {
        Language::Ko => "정지 여부는 현장의 안전 절차와 담당자가 정합니다.".to_owned(),
        Language::En => "The plant's own safety rules and its people decide on a stop.".to_owned(),
    });
    parts.join("\n")
}

fn doubts(focus: &Focus, language: Language) -> String {
    let name = focus.core.name();
    let screening = focus.grounds.first().map(|text| text.in_language(language).to_owned());
    let none = Text::new("불확실성: 기록된 원인이 없습니다.", "Uncertainty: no cause is recorded.");
    let doubts =
        uncertain(focus, language).unwrap_or_else(|| none.in_language(language).to_owned());
    let evidence = Text::new("근거", "Evidence");
    let evidence = evidence.in_language(language);
    let parts = [Some(name), screening.map(|text| format!("{evidence}: {text}")), Some(doubts)];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

fn life(focus: &Focus, language: Language) -> String {
    let ground = focus.grounds.get(3).map(|text| text.in_language(language));
    let hours = focus.core.rul_hours.map_or_else(
        || match language {
            Language::Ko => format!("{}: 잔여수명을 추정하지 않았습니다", focus.core.name()),
            Language::En => format!("{}: no remaining life is estimated", focus.core.name()),
        },
        |hours| match language {
            Language::Ko => format!("계획에 쓰는 잔여수명 {hours:.0}시간"),
            Language::En => format!("Remaining life to plan with: {hours:.0} h"),
        },
    );
    let parts: Vec<String> = std::iter::once(hours).chain(ground.map(str::to_owned)).collect();
    parts.join(". ")
}

fn work(focus: &Focus, language: Language) -> String {
    let advice = format!("→ {}", focus.advice.in_language(language));
    let open = focus.work.iter().filter(|work| work.state == FollowUpState::Open);
    let rest = focus.work.iter().filter(|work| work.state == FollowUpState::Done);
    let lines: Vec<String> = open.chain(rest).map(|work| worked(work, language)).collect();
    let head = Text::new("요청된 조치:", "Work that is asked for:");
    let has_open = focus.work.iter().any(|work| work.state == FollowUpState::Open);
    let none = Text::new("열린 작업이 없습니다.", "No work is open, and none is ordered.");
    let none = (!has_open).then(|| none.in_language(language).to_owned());
    let listed = list(&head, lines, language);
    let line = focus.core.line(language);
    [Some(line), Some(advice), none, listed].into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// The open work of all bearings.
pub(super) fn work_of_all(foci: &[Focus], language: Language) -> String {
    let of = |focus: &Focus| {
        let open = focus.work.iter().filter(|work| work.state == FollowUpState::Open);
        let lines: Vec<String> = open.map(|work| worked(work, language)).collect();
        (!lines.is_empty())
            .then(|| format!("{}:\n{}", focus.core.full_name(language), lines.join("\n")))
    };
    let all: Vec<String> = foci.iter().filter_map(of).collect();
    let none = Text::new("열린 작업이 없습니다.", "No work is open, and none is ordered.");
    if all.is_empty() { none.in_language(language).to_owned() } else { all.join("\n") }
}

fn worked(work: &WorkLine, language: Language) -> String {
    let state = match work.state {
        FollowUpState::Open => Text::new("남음", "open"),
        FollowUpState::Done => Text::new("완료", "done"),
        FollowUpState::Dropped => Text::new("하지 않음", "dropped"),
        FollowUpState::Superseded => Text::new("대체됨", "superseded"),
    };
    let until = work.due_at.map(|at| format!(", ~{}", told_time(at))).unwrap_or_default();
    let order = work.work_order.as_ref().map(|order| format!(", {order}")).unwrap_or_default();
    let (action, state) = (work.action.in_language(language), state.in_language(language));
    format!("- {action} ({state}{until}{order})")
}

fn notified(focus: &Focus, language: Language) -> String {
    let line =
        |(at, title): &(_, Text)| format!("- {} {}", told_time(*at), title.in_language(language));
    let lines: Vec<String> = focus.told.iter().take(MAX_TOLD).map(line).collect();
    let none = Text::new("이 베어링에 대한 알림이 없습니다.", "Nothing was told of this bearing.");
    let head = Text::new("보낸 알림:", "What staff was told:");
    let listed = list(&head, lines, language);
    let is_told = listed.is_some();
    let listed = listed.unwrap_or_else(|| none.in_language(language).to_owned());
    let to = &focus.record.told_to;
    let whom = (!to.is_empty()).then(|| match language {
        Language::Ko => format!("\n마지막 알림을 받은 곳: {}", to.join(", ")),
        Language::En => format!("\nThe last message went to: {}", to.join(", ")),
    });
    let listed = format!("{listed}{}", whom.unwrap_or_default());
    let seen = focus.record.onset.as_ref().and_then(|onset| onset.acknowledged.as_ref());
    let seen = match (seen, language) {
        (Some((by, at)), Language::Ko) => format!("{by}: {} 확인함", told_time(*at)),
        (Some((by, at)), Language::En) => format!("Acknowledged by {by}, {}", told_time(*at)),
        (None, _) if !is_told => return format!("{}: {listed}", focus.core.name()),
        (None, Language::Ko) => "아직 확인한 사람이 없습니다.".to_owned(),
        (None, Language::En) => "Nobody has acknowledged it yet.".to_owned(),
    };
    format!("{listed}\n{seen}")
}
