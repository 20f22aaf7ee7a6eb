//! The texts of a notification, in the order that a person needs them (ISA-18.2 practice): the asset and
//! its fault; certainty and evidence; since when; how fast; what to do until when; what happens
//! otherwise; safety.

use pdm_episode::Tell;
use pdm_expert::case::BearingState;
use pdm_expert::screening::flags;
use pdm_expert::standing::Sensor;
use pdm_expert::wording::element;
use pdm_shared::delivery::Presence;
use pdm_shared::diagnosis::{Diagnosis, SecondOpinion, UncertaintyLevel};
use pdm_shared::event::{Change, ChangeKind, Event};
use pdm_shared::id::{BearingId, BearingKey, EventId, GatewayId};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;

use crate::workflow::documents::Written;

mod timing;

pub(super) use timing::timing;

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

/// The agent's store does not answer.
pub(super) fn store_away(since: Timestamp) -> (Text, Text) {
    let title = Text::new(
        "[경고] 진단 에이전트 중단: 저장소 무응답",
        "[Warning] the diagnosis agent is blind: its store does not answer",
    );
    let at = since.date_time().format("%Y-%m-%d %H:%M UTC");
    let body = Text::new(
        format!(
            "시작: {at}\n모든 설비의 새 측정값이 판정되지 않으며 알림이 전송되지 않음. 측정값은 엣지에 보관되고 복구 후 판정됨\n조치: 데이터베이스 서버와 네트워크 확인, 그동안 설비를 직접 점검"
        ),
        format!(
            "Since: {at}\nNo measurement of any machine is judged and no alarm is sent. The edges keep the measurements; they are judged afterwards\nAction: check the database server and the network; look at the machines meanwhile"
        ),
    );
    (title, body)
}

/// The agent's store answers again.
pub(super) fn store_back(since: Timestamp) -> (Text, Text) {
    let at = since.date_time().format("%Y-%m-%d %H:%M UTC");
    (
        Text::new(
            "진단 에이전트 복구: 저장소 응답",
            "The diagnosis agent works again: its store answers",
        ),
        Text::new(
            format!("중단 시작: {at}\n그동안의 측정값을 판정하는 중"),
            format!("Away since: {at}\nThe measurements of that time are being judged"),
        ),
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
            "The documents that the alarm named could not be written:\n{places}\nAction: check the log and the disk, then run `pdm-agent report {event_id}`"
        ),
    );
    (title, body)
}

/// The title of a level that comes back again and again.
pub(super) fn again(title: &Text) -> Text {
    Text::new(format!("[반복 발생] {}", title.ko), format!("[Again] {}", title.en))
}

/// Title and body at the end of a suppression: what rose or resolved meanwhile.
pub(super) fn meanwhile(
    key: &BearingKey,
    tell: Tell,
    stands: RiskLevel,
    (until, is_by_design): (Timestamp, bool),
) -> (Text, Text) {
    let (equipment, bearing) = (&key.equipment, &key.bearing);
    let at = until.date_time().format("%Y-%m-%d %H:%M UTC");
    let now = stands.label();
    let (level, what) = match tell {
        Tell::Raised(level) | Tell::Insisted(level) => (
            level,
            Text::new(
                "알림이 보류된 동안 위험도가 상승해 현재도 유지됨",
                "The risk rose while staff was told nothing, and stands",
            ),
        ),
        Tell::Passed(level) => (
            level,
            Text::new(
                format!("알림이 보류된 동안 위험도가 상승했다가 내려감. 현재 위험도: {}", now.ko),
                format!(
                    "The risk rose while staff was told nothing, and fell. It is now {}",
                    now.en
                ),
            ),
        ),
        Tell::Cleared(level) => (
            level,
            Text::new("알림이 보류된 동안 해제됨", "It was over while staff was told nothing"),
        ),
    };
    let label = level.label();
    let (ko, en) = if is_by_design {
        ("게이트웨이 통신 복구", "its gateway is back")
    } else {
        ("보류 종료", "end of its shelf")
    };
    let title = Text::new(
        format!("[{}] {equipment} {bearing} {ko}", label.ko),
        format!("[{}] {equipment} {bearing}: {en}", label.en),
    );
    let body = Text::new(
        format!("{}\n{ko}: {at}\n조치: 베어링 상태와 최근 판정 확인", what.ko),
        format!("{}\nAt {at}: {en}\nAction: look at the bearing and its last judgement", what.en),
    );
    (title, body)
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
    let stage = diagnosis.fault_stage;
    match (diagnosis.fault_type, stage) {
        (Some(fault), 0) => {
            let name = element(fault);
            Text::new(
                format!("베어링 {} 결함 의심", name.ko),
                format!("{} fault suspected", name.en),
            )
        }
        (Some(fault), _) => {
            let name = element(fault);
            Text::new(
                format!("베어링 {} 결함(P-F {stage}단계)", name.ko),
                format!("{} fault (P-F stage {stage})", name.en),
            )
        }
        (None, 0) => Text::new("진동 이상", "vibration anomaly"),
        (None, _) => Text::new(
            format!("베어링 이상, 부위 미특정(P-F {stage}단계)"),
            format!("bearing anomaly, element not named (P-F stage {stage})"),
        ),
    }
}

/// The body, one statement a line.
pub(super) fn body(diagnosis: &Diagnosis, state: &BearingState) -> Text {
    let mut lines = vec![certainty(diagnosis)];
    let thought = |index: usize, ko: &str, en: &str| {
        diagnosis.thoughts.get(index).map(|thought| {
            Text::new(
                format!("{ko}: {}", thought.conclusion.ko),
                format!("{en}: {}", thought.conclusion.en),
            )
        })
    };
    lines.extend(thought(0, "근거", "Evidence"));
    lines.extend(thought(1, "단계", "Stage"));
    lines.extend(state.since.map(since));
    lines.extend(thought(2, "진행", "Progress"));
    lines.extend(thought(3, "잔여수명", "Remaining life"));
    lines.push(Text::new(
        format!("조치: {}", diagnosis.recommendation.ko),
        format!("Action: {}", diagnosis.recommendation.en),
    ));
    lines.extend(otherwise(diagnosis.risk_level));
    if diagnosis.risk_level >= RiskLevel::Warning {
        lines.push(Text::new(
            "안전: 점검·교체 전 잠금·표지(LOTO) 실시, 회전부 접근 금지",
            "Safety: lock out and tag out before work, keep away from rotating parts",
        ));
    }
    let join = |pick: fn(&Text) -> &str| lines.iter().map(pick).collect::<Vec<_>>().join("\n");
    Text::new(join(|line| &line.ko), join(|line| &line.en))
}

fn certainty(diagnosis: &Diagnosis) -> Text {
    let (ko, en) = match diagnosis.uncertainty.level {
        UncertaintyLevel::Low => ("높음", "high"),
        UncertaintyLevel::Medium => ("중간", "medium"),
        UncertaintyLevel::High => ("낮음", "low"),
    };
    let causes = &diagnosis.uncertainty.causes;
    if causes.is_empty() {
        return Text::new(format!("확신: {ko}"), format!("Certainty: {en}"));
    }
    let list = |pick: fn(&Text) -> &str| causes.iter().map(pick).collect::<Vec<_>>().join("; ");
    Text::new(
        format!("확신: {ko} ({})", list(|cause| &cause.ko)),
        format!("Certainty: {en} ({})", list(|cause| &cause.en)),
    )
}

fn since(at: Timestamp) -> Text {
    let at = at.date_time().format("%Y-%m-%d %H:%M UTC");
    Text::new(format!("시작: {at}"), format!("Since: {at}"))
}

/// What happens if nobody acts.
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
) -> (Text, Text) {
    let before = highest.label();
    let now = diagnosis.risk_level.label();
    let (equipment, bearing) = (&key.equipment, &key.bearing);
    let title = Text::new(
        format!("[해제] {equipment} {bearing} 위험도 {} → {}", before.ko, now.ko),
        format!("[Cleared] {equipment} {bearing}: {} to {}", before.en, now.en),
    );
    let told_at = told_at.unwrap_or(diagnosis.judged_at);
    let told = told_at.date_time().format("%Y-%m-%d %H:%M UTC");
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

/// The title of a repetition.
pub(super) fn repeated(title: &Text, times: u32) -> Text {
    Text::new(
        format!("[재알림 {times}회] {}", title.ko),
        format!("[Reminder {times}] {}", title.en),
    )
}

/// What an alarm says that is worse than others of its cause, which were told before.
pub(super) fn likely_source(milder: &[BearingKey]) -> Text {
    let names = milder.iter().take(NAMED).map(|key| format!("{} {}", key.equipment, key.bearing));
    let names = names.collect::<Vec<_>>().join(", ");
    Text::new(
        format!("먼저 알린 {names}보다 심하므로 이 베어링이 원인일 가능성이 크다"),
        format!("Likely source: this bearing, which is worse than {names}, told before"),
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

/// Title and body when nobody has acknowledged an alarm for so many minutes.
pub(super) fn escalated(title: &Text, body: &Text, minutes: f64) -> (Text, Text) {
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

/// Title and body when a sensor has told nothing that can be judged for long.
pub(super) fn sensor_failed(key: &BearingKey, point: &str, sensor: &Sensor) -> (Text, Text) {
    let (equipment, bearing) = (&key.equipment, &key.bearing);
    let title = Text::new(
        format!("[센서 이상] {equipment} {bearing} ({point})"),
        format!("[Sensor] {equipment} {bearing} ({point})"),
    );
    let flags = flags(&sensor.flags);
    let since = sensor.invalid_since.map_or_else(|| Text::new("", ""), since);
    let body = Text::new(
        format!(
            "신호 불량: {}\n{}\n조치: 센서·케이블·취부 상태 확인. 그동안 이 측정점은 감시되지 않으며 기존 위험도는 유지됨",
            flags.ko, since.ko
        ),
        format!(
            "Bad signal: {}\n{}\nAction: check sensor, cable and mounting. Meanwhile this point is not watched; the standing risk is kept",
            flags.en, since.en
        ),
    );
    (title, body)
}

/// Title and body when such a sensor is back.
pub(super) fn sensor_back(key: &BearingKey, point: &str) -> (Text, Text) {
    let (equipment, bearing) = (&key.equipment, &key.bearing);
    let title = Text::new(
        format!("[센서 복구] {equipment} {bearing} ({point})"),
        format!("[Sensor back] {equipment} {bearing} ({point})"),
    );
    (title, Text::new("유효한 신호가 다시 수신됨", "Valid windows come in again"))
}

/// Title and body when the edge found a change that is no damage.
pub(super) fn changed(key: &BearingKey, change: &Change) -> (Text, Text) {
    let (equipment, bearing) = (&key.equipment, &key.bearing);
    let named: Vec<&str> = change.bearings.iter().map(BearingId::as_str).collect();
    let (others, ratio) = (named.join(", "), change.level_ratio);
    let (ko, en, body) = match change.kind {
        ChangeKind::Operating => (
            format!("[운전 변화] {equipment}: 모든 베어링의 진동 수준이 함께 변함"),
            format!("[Operating change] {equipment}: all bearings changed together"),
            Text::new(
                format!(
                    "{bearing} 외 {others}: 수준 {ratio:.2}배\n조치: 부하·속도·공정 변경 여부 확인. 변경이 없었다면 점검. 새 수준을 기준으로 계속 감시함"
                ),
                format!(
                    "{bearing} and {others}: levels × {ratio:.2}\nAction: check whether load, speed or process were changed; if not, inspect. Watching goes on from the new level"
                ),
            ),
        ),
        ChangeKind::Replaced => (
            format!("[수준 변화] {equipment} {bearing}: 정지 이후 진동 수준이 달라짐"),
            format!("[Changed] {equipment} {bearing}: other levels since a standstill"),
            Text::new(
                format!(
                    "수준 {ratio:.2}배\n조치: 베어링을 교체·수리했거나 센서를 다시 취부했다면 재학습(relearn) 실행, 아니면 점검"
                ),
                format!(
                    "Levels × {ratio:.2} of the baseline\nAction: if the bearing was replaced or repaired, or its sensor mounted anew, run relearn; if not, inspect"
                ),
            ),
        ),
        ChangeKind::Swapped => (
            format!("[채널 확인] {equipment} {bearing}: {others}와(과) 채널이 바뀐 것으로 보임"),
            format!("[Channels] {equipment} {bearing}: seems swapped with {others}"),
            Text::new(
                format!(
                    "두 채널의 진동 수준이 서로 바뀜\n조치: {bearing}와(과) {others}의 센서 케이블과 채널 배정 확인"
                ),
                format!(
                    "The two channels have each other's levels\nAction: check cables and channel numbers of {bearing} and {others}"
                ),
            ),
        ),
    };
    let since = since(change.since);
    let body =
        Text::new(format!("{}\n{}", since.ko, body.ko), format!("{}\n{}", since.en, body.en));
    (Text::new(ko, en), body)
}

/// The body of an alarm with what else its window tells: a change of the machine, the gateway's times.
/// They come with one window alone, so a message of their own would never be sent.
pub(super) fn with_beside(
    body: Text,
    key: &BearingKey,
    event: &Event,
    change: Option<&Change>,
) -> Text {
    let change = change.map(|change| changed(key, change));
    let times = event.timing.as_ref().and_then(|times| timing(event, times));
    change.into_iter().chain(times).fold(body, |body, (title, what)| {
        let after = |body: &str, title: &str, what: &str| format!("{body}\n{title}\n{what}");
        Text::new(after(&body.ko, &title.ko, &what.ko), after(&body.en, &title.en, &what.en))
    })
}

/// Title and body when a gateway has gone silent.
pub(super) fn silent(
    gateway: &GatewayId,
    last_event_at: Option<Timestamp>,
    presence: Option<Presence>,
) -> (Text, Text) {
    let title = Text::new(
        format!("[통신 두절] 게이트웨이 {gateway}"),
        format!("[Silent] gateway {gateway}"),
    );
    let why = if presence == Some(Presence::Offline) {
        Text::new("게이트웨이가 오프라인 상태임", "The gateway is offline")
    } else {
        Text::new("게이트웨이에서 측정이 오지 않음", "No event comes from the gateway")
    };
    let last = match last_event_at {
        Some(at) => {
            let at = at.date_time().format("%Y-%m-%d %H:%M UTC");
            Text::new(format!("마지막 수신: {at}"), format!("Last event: {at}"))
        }
        None => Text::new("마지막 수신: 없음", "Last event: none"),
    };
    let body = Text::new(
        format!(
            "{}\n{}\n조치: 전원·네트워크·센서 상태 확인. 그동안 이 게이트웨이의 베어링은 감시되지 않으며 기존 위험도는 유지됨",
            why.ko, last.ko
        ),
        format!(
            "{}\n{}\nAction: check power, network and sensors. Meanwhile its bearings are not watched; their standing risks are kept",
            why.en, last.en
        ),
    );
    (title, body)
}

/// The same words for several gateways at once.
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

/// Title and body when a gateway that was silent sends again.
pub(super) fn heard(gateway: &GatewayId) -> (Text, Text) {
    (
        Text::new(format!("[통신 복구] 게이트웨이 {gateway}"), format!("[Back] gateway {gateway}")),
        Text::new("측정 수신이 재개됨", "Events come in again"),
    )
}
