//! The texts of a notification, in the order that a person needs them: the asset and its fault;
//! what to do until when; safety; since when; what happens otherwise; how fast; evidence and
//! certainty.

use pdm_expert::case::BearingState;
use pdm_routes::Zone;
use pdm_shared::diagnosis::{Diagnosis, SecondOpinion, UncertaintyLevel};
use pdm_shared::event::{Change, Event};
use pdm_shared::fault::finding_in_words;
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;

use crate::workflow::documents::Written;

mod broker;
mod change;
mod developed;
mod elsewhere;
mod itself;
mod meanwhile;
mod no_data;
mod refused;
mod removed;
mod timing;
mod troubled;
mod unmeasured;
mod watching;

pub(super) use broker::{
    broker_away, broker_lacks, broker_mute, flood, gateway_thrown_out, store_full, thrown_out,
    too_large,
};
pub(super) use change::changed;
pub(super) use developed::{developed, since_told};
pub(super) use elsewhere::elsewhere;
pub(crate) use itself::missing_rows_line;
pub(super) use itself::{configuration_refused, missing_rows};
pub(super) use meanwhile::{Ended, meanwhile};
pub(super) use no_data::{Unheard, no_data, no_data_line, no_longer_watched, words_of_data};
pub(super) use refused::{admitted, refused, refused_alarms, refused_line};
pub(super) use removed::removed;
pub(super) use timing::{ahead, ahead_line, behind, behind_line, timing};
pub(super) use troubled::{
    confirmed_gone, events_lost, events_missing, first_lines, missing_line, troubled, twin,
    untroubled,
};
pub(super) use unmeasured::{measured_again, unmeasured, unmeasured_line};
pub(super) use watching::{
    file_set_aside, sensor_back, sensor_failed, sighted, silent, words_of_blindness,
    words_of_return,
};

/// Gateways that one message names.
const NAMED: usize = 40;

/// The title, one line: level, asset, fault.
pub(super) fn title(key: &BearingKey, diagnosis: &Diagnosis) -> Text {
    let label = diagnosis.risk_level.label();
    let what = fault(diagnosis);
    let (equipment, bearing) = (&key.equipment, &key.bearing);
    Text::new(
        format!("[{}] {equipment} {bearing} {}", label.ko, what.ko),
        format!("[{}] {equipment} {bearing}: {}", label.en, what.en),
    )
}

/// The title of a message to staff about a machine.
pub(super) fn message(key: &BearingKey, risk: RiskLevel) -> Text {
    let (label, equipment) = (risk.label(), &key.equipment);
    Text::new(
        format!("[{}] {equipment} 정비 담당자 알림", label.ko),
        format!("[{}] {equipment}: message to maintenance staff", label.en),
    )
}

/// Title and body when documents that an alarm named could not be written.
pub(super) fn not_written(
    key: &BearingKey,
    event_id: EventId,
    missing: &[Written],
) -> (Text, Text) {
    let (equipment, bearing) = (&key.equipment, &key.bearing);
    let title = Text::new(
        format!("[문서 미작성] {equipment} {bearing}"),
        format!("[Documents] {equipment} {bearing}: not written"),
    );
    let places: Vec<&str> = missing.iter().map(|one| one.place.as_str()).collect();
    let places = places.join("\n");
    let body = Text::new(
        format!(
            "알림에 적힌 문서를 작성하지 못함:\n{places}\n조치: 로그와 저장 공간 확인 후 `pdm-agent report {event_id}` 실행"
        ),
        format!(
            "The documents that the alarm named could not be written:\n{places}\nAction: check the \
             log and the disk, then run `pdm-agent report {event_id}`"
        ),
    );
    (title, body)
}

/// The title of a level that comes back again and again.
pub(super) fn again(title: &Text) -> Text {
    Text::new(format!("[반복 발생] {}", title.ko), format!("[Again] {}", title.en))
}

/// Title and body of the message that a language model sees a higher risk.
pub(super) fn opined(
    key: &BearingKey,
    risk: RiskLevel,
    diagnosis: &Diagnosis,
    opinion: &SecondOpinion,
) -> (Text, Text) {
    let (model, expert) = (risk.label(), diagnosis.risk_level.label());
    let (equipment, bearing) = (&key.equipment, &key.bearing);
    let title = Text::new(
        format!(
            "[{}] {equipment} {bearing} 언어 모델의 의견: 규칙의 판정({})보다 높음",
            model.ko, expert.ko
        ),
        format!(
            "[{}] {equipment} {bearing}: a language model sees more than the rules ({})",
            model.en, expert.en
        ),
    );
    let mut body = Text::new(
        "규칙 기반 판정과 알람은 그대로이며, 사람이 확인해야 합니다.",
        "The judgement by rules and its alarm stand as they are; a person has to look.",
    );
    let words = [&opinion.reason, &opinion.recommendation];
    for text in words.into_iter().flatten() {
        body = Text::new(format!("{}\n{}", body.ko, text.ko), format!("{}\n{}", body.en, text.en));
    }
    (title, body)
}

fn fault(diagnosis: &Diagnosis) -> Text {
    finding_in_words(diagnosis.fault_type, diagnosis.fault_stage)
}

/// The body, one statement a line: what to do and until when stands first, since a phone shows the
/// first lines alone; the grounds stand last.
pub(super) fn body(diagnosis: &Diagnosis, state: &BearingState, zone: Zone) -> Text {
    let thought = |index: usize, ko: &str, en: &str| {
        diagnosis.thoughts.get(index).map(|thought| {
            Text::new(
                format!("{ko}: {}", said_once(ko, &thought.conclusion.ko)),
                format!("{en}: {}", said_once(en, &thought.conclusion.en)),
            )
        })
    };
    let mut lines = vec![Text::new(
        format!("조치: {}", diagnosis.recommendation.ko),
        format!("Action: {}", diagnosis.recommendation.en),
    )];
    lines.extend(thought(3, "잔여수명", "Remaining life"));
    if diagnosis.risk_level >= RiskLevel::Warning {
        lines.push(Text::new(
            "안전: 점검·교체 전 잠금·표지(LOTO) 실시, 회전부 접근 금지",
            "Safety: lock out and tag out before work, keep away from rotating parts",
        ));
    }
    lines.extend(state.since.map(|at| since(at, zone)));
    // two sites may have a machine of one name
    lines.extend(
        diagnosis
            .site
            .as_ref()
            .map(|site| Text::new(format!("사업장: {site}"), format!("Site: {site}"))),
    );
    lines.extend(otherwise(diagnosis.risk_level));
    lines.extend(thought(2, "진행", "Progress"));
    lines.extend(thought(0, "근거", "Evidence"));
    lines.extend(thought(1, "단계", "Stage"));
    lines.push(certainty(diagnosis));
    let join = |pick: fn(&Text) -> &str| lines.iter().map(pick).collect::<Vec<_>>().join("\n");
    Text::new(join(|line| &line.ko), join(|line| &line.en))
}

/// A conclusion without the label of its line, where it begins with the same words.
fn said_once<'t>(label: &str, conclusion: &'t str) -> &'t str {
    let rest = conclusion.strip_prefix(label).filter(|rest| rest.starts_with([' ', ':']));
    rest.map_or(conclusion, |rest| rest.trim_start_matches([' ', ':']))
}

fn certainty(diagnosis: &Diagnosis) -> Text {
    let (ko, en) = match diagnosis.uncertainty.level {
        UncertaintyLevel::Low => ("높음", "high"),
        UncertaintyLevel::Medium => ("중간", "medium"),
        UncertaintyLevel::High => ("낮음", "low"),
    };
    // a doubt that a thought tells already is told once
    let is_told = |cause: &&Text| {
        let told = |conclusion: &Text| conclusion.ko.contains(&cause.ko);
        diagnosis.thoughts.iter().any(|thought| told(&thought.conclusion))
    };
    let causes = diagnosis.uncertainty.causes.iter().filter(|cause| !is_told(cause));
    let causes: Vec<&Text> = causes.collect();
    if causes.is_empty() {
        return Text::new(format!("확신: {ko}"), format!("Certainty: {en}"));
    }
    let list = |pick: fn(&Text) -> &str| {
        causes.iter().map(|cause| pick(cause)).collect::<Vec<_>>().join("; ")
    };
    Text::new(
        format!("확신: {ko} ({})", list(|cause| &cause.ko)),
        format!("Certainty: {en} ({})", list(|cause| &cause.en)),
    )
}

fn since(at: Timestamp, zone: Zone) -> Text {
    let at = zone.in_words(at);
    Text::new(format!("시작: {at}"), format!("Since: {at}"))
}

/// Returns the consequence if nobody acts.
fn otherwise(risk: RiskLevel) -> Option<Text> {
    match risk {
        RiskLevel::Normal => None,
        RiskLevel::Watch => Some(Text::new(
            "미조치 시: 당장의 정지는 필요 없으나 진행을 놓칠 수 있음",
            "If not: no stop is needed now, but its progress may be missed",
        )),
        RiskLevel::Warning => Some(Text::new(
            "미조치 시: 손상이 커져 비계획 정지로 이어질 수 있음",
            "If not: the damage grows and may end in an unplanned stop",
        )),
        RiskLevel::Critical => Some(Text::new(
            "미조치 시: 베어링 고착과 축·하우징 손상, 돌발 정지 위험",
            "If not: seizure, damage to shaft and housing, a sudden stop",
        )),
    }
}

/// Title and body when a bearing is below the notification level again.
pub(super) fn cleared(
    key: &BearingKey,
    diagnosis: &Diagnosis,
    highest: RiskLevel,
    told_at: Option<Timestamp>,
    zone: Zone,
) -> (Text, Text) {
    let before = highest.label();
    let now = diagnosis.risk_level.label();
    let (equipment, bearing) = (&key.equipment, &key.bearing);
    let title = Text::new(
        format!("[해제] {equipment} {bearing} 위험도 {} → {}", before.ko, now.ko),
        format!("[Cleared] {equipment} {bearing}: {} to {}", before.en, now.en),
    );
    let told_at = told_at.unwrap_or(diagnosis.judged_at);
    let told = zone.in_words(told_at);
    let body = Text::new(
        format!(
            "{told} 알림의 위험도가 지속적인 정상 측정으로 해제됨\n조치: {}",
            diagnosis.recommendation.ko
        ),
        format!(
            "What was told at {told} is over after lasting normal windows\nAction: {}",
            diagnosis.recommendation.en
        ),
    );
    (title, body)
}

/// The body of an alarm that is told again: it says when it was told, since the bearing may have
/// gone on meanwhile. A body that says so already is left.
pub(super) fn as_told(body: &Text, at: Timestamp, zone: Zone) -> Text {
    const KO: &str = " 알림의 내용, 지금 상태는 페이지에서 확인";
    if body.ko.lines().next().is_some_and(|line| line.ends_with(KO)) {
        return body.clone();
    }
    let at = zone.in_words(at);
    Text::new(
        format!("{at}{KO}\n{}", body.ko),
        format!("What was told at {at}; the page shows the state now\n{}", body.en),
    )
}

/// Returns the body of a repetition. The remaining life and the progress of the first message are
/// left out, since they no longer hold.
pub(super) fn without_life(body: &Text) -> Text {
    let left = |text: &str, labels: [&str; 2], told: &str| {
        let lines = text.lines().filter(|line| !labels.iter().any(|label| line.starts_with(label)));
        let left = lines.collect::<Vec<_>>().join("\n");
        if left == text { left } else { format!("{left}\n{told}") }
    };
    Text::new(
        left(&body.ko, ["잔여수명:", "진행:"], "현재 진행과 잔여수명은 페이지에서 확인"),
        left(
            &body.en,
            ["Remaining life:", "Progress:"],
            "Progress and remaining life of now: see the page",
        ),
    )
}

/// The title of a repetition. What went on within the level was news once: a repetition is of the
/// alarm.
pub(super) fn repeated(title: &Text, times: u32) -> Text {
    let title = developed::of_the_alarm(title);
    Text::new(
        format!("[재알림 {times}회] {}", title.ko),
        format!("[Reminder {times}] {}", title.en),
    )
}

/// Returns the sentence of an alarm that is worse than others of its cause, which were told before.
pub(super) fn likely_source(milder: &[BearingKey]) -> Text {
    let names = milder.iter().take(NAMED).map(|key| format!("{} {}", key.equipment, key.bearing));
    let names = names.collect::<Vec<_>>().join(", ");
    Text::new(
        format!("먼저 알린 {names}보다 심하므로 이 베어링이 원인일 가능성이 크다"),
        format!("Likely source: this bearing, which is worse than {names}, told before"),
    )
}

/// Adds to the title the others of whom the alarm of a bearing tells.
pub(super) fn and_others(title: &Text, others: &[(BearingKey, RiskLevel)]) -> Text {
    let names = others.iter().take(NAMED).map(|(key, _)| key.bearing.to_string());
    let names = names.collect::<Vec<_>>().join(", ");
    Text::new(format!("{} (함께: {names})", title.ko), format!("{} (also: {names})", title.en))
}

/// Bearings of the same machine that rose after an alarm and are told with it.
pub(super) fn told_with(others: &[(BearingKey, RiskLevel)]) -> Text {
    let names = |pick: fn(&Text) -> &str| {
        let one = |(key, level): &(BearingKey, RiskLevel)| {
            format!("{} {} [{}]", key.equipment, key.bearing, pick(&level.label()))
        };
        others.iter().take(NAMED).map(one).collect::<Vec<_>>().join(", ")
    };
    Text::new(
        format!("같은 설비에서 함께 상승: {}. 더 심해지면 따로 알림", names(|text| &text.ko)),
        format!(
            "Risen beside it on this machine: {}. Told by itself if it gets worse",
            names(|text| &text.en)
        ),
    )
}

/// Title and body of a message that tries a channel out.
pub(super) fn trial() -> (Text, Text) {
    (
        Text::new("[시험] PdM 알림 시험", "[Test] PdM notification test"),
        Text::new(
            "이 경로로 알림이 도착하는지 확인하는 시험 메시지\n조치: 없음",
            "This message tests whether notifications arrive by this way\nAction: none",
        ),
    )
}

/// Returns title and body when nobody has acknowledged an alarm for `minutes` minutes.
pub(super) fn escalated(title: &Text, body: &Text, minutes: f64) -> (Text, Text) {
    // a half rounds up, as people round; the format alone rounds it to the even number
    let minutes = minutes.round();
    let title = Text::new(
        format!("[미확인 {minutes:.0}분] {}", title.ko),
        format!("[Unacknowledged for {minutes:.0} min] {}", title.en),
    );
    let body = Text::new(
        format!("{}\n앞 단계의 담당자가 {minutes:.0}분 동안 확인하지 않아 전달됨", body.ko),
        format!(
            "{}\nPassed on because nobody of the step before acknowledged it for {minutes:.0} min",
            body.en
        ),
    );
    (title, body)
}

/// The body of an alarm with what else its window tells: a change of the machine, the gateway's
/// times. They come with one window alone, so a message of their own would never be sent.
pub(super) fn with_beside(
    body: Text,
    key: &BearingKey,
    event: &Event,
    change: Option<&Change>,
    zone: Zone,
) -> Text {
    let change = change.map(|change| changed(key, change, zone));
    let times = event.timing.as_ref().and_then(|times| timing(event, times, zone));
    change.into_iter().chain(times).fold(body, |body, (title, what)| {
        let after = |body: &str, title: &str, what: &str| format!("{body}\n{title}\n{what}");
        Text::new(after(&body.ko, &title.ko, &what.ko), after(&body.en, &title.en, &what.en))
    })
}

/// Returns the same words for several gateways at once.
pub(super) fn with_others((title, body): (Text, Text), others: &[BearingKey]) -> (Text, Text) {
    if others.is_empty() {
        return (title, body);
    }
    let count = others.len();
    let names: Vec<&str> = others.iter().take(NAMED).map(|key| key.bearing.as_str()).collect();
    let more = if count > NAMED { ", …" } else { "" };
    let names = format!("{}{more}", names.join(", "));
    (
        Text::new(format!("{} 외 {count}대", title.ko), format!("{} and {count} more", title.en)),
        Text::new(format!("{}\n함께: {names}", body.ko), format!("{}\nWith it: {names}", body.en)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reminder told the remaining life of 18 days ago as the present one.
    #[test]
    fn a_repetition_leaves_out_the_life_and_the_progress_of_then() {
        let body = Text::new(
            "확신: 높음\n진행: 급속\n잔여수명: 하한 9.9시간\n조치: 점검",
            "Certainty: high\nProgress: rapid\nRemaining life: lower bound 9.9 h\nAction: inspect",
        );
        let told = without_life(&body);
        assert!(!told.ko.contains("9.9") && !told.en.contains("9.9"), "{told:?}");
        assert!(!told.en.contains("rapid") && told.en.contains("Action: inspect"), "{told:?}");
        assert_eq!(without_life(&told), told, "a second repetition changes nothing");
    }
}
