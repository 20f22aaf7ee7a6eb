//! The words for what keeps machines from being watched: a sensor that fails, a gateway that is
//! silent, a store that does not answer; and for their return.

use pdm_expert::screening::flags;
use pdm_expert::standing::Sensor;
use pdm_knowledge::SetAside;
use pdm_routes::Zone;
use pdm_shared::delivery::Presence;
use pdm_shared::id::{BearingKey, GatewayId};
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;

use crate::vitals::{Blindness, Teller, Trouble};

/// Title and body when a sensor has told nothing that can be judged for long.
pub(in crate::notify) fn sensor_failed(
    key: &BearingKey,
    point: &str,
    sensor: &Sensor,
    zone: Zone,
) -> (Text, Text) {
    let (equipment, bearing) = (&key.equipment, &key.bearing);
    let title = Text::new(
        format!("[센서 이상] {equipment} {bearing} ({point})"),
        format!("[Sensor] {equipment} {bearing} ({point})"),
    );
    let flags = flags(&sensor.flags);
    let since = sensor.invalid_since.map_or_else(|| Text::new("", ""), |at| super::since(at, zone));
    let body = Text::new(
        format!(
            "신호 불량: {}\n{}\n조치: 센서·케이블·취부 상태 확인. 그동안 이 측정점은 감시되지 않으며 기존 위험도는 유지됨",
            flags.ko, since.ko
        ),
        format!(
            "Bad signal: {}\n{}\nAction: check sensor, cable and mounting. Meanwhile this point is \
             not watched; the standing risk is kept",
            flags.en, since.en
        ),
    );
    (title, body)
}

/// Title and body when such a sensor is back.
pub(in crate::notify) fn sensor_back(key: &BearingKey, point: &str) -> (Text, Text) {
    let (equipment, bearing) = (&key.equipment, &key.bearing);
    let title = Text::new(
        format!("[센서 복구] {equipment} {bearing} ({point})"),
        format!("[Sensor back] {equipment} {bearing} ({point})"),
    );
    (title, Text::new("유효한 신호가 다시 수신됨", "Valid windows come in again"))
}

/// Title and body when a gateway has gone silent.
pub(in crate::notify) fn silent(
    gateway: &GatewayId,
    last_event_at: Option<Timestamp>,
    presence: Option<Presence>,
    zone: Zone,
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
            let at = zone.in_words(at);
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
            "{}\n{}\nAction: check power, network and sensors. Meanwhile its bearings are not \
             watched; their standing risks are kept",
            why.en, last.en
        ),
    );
    (title, body)
}

/// Title and body when a gateway that was silent sends again.
pub(in crate::notify) fn words_of_return(gateway: &GatewayId) -> (Text, Text) {
    (
        Text::new(format!("[통신 복구] 게이트웨이 {gateway}"), format!("[Back] gateway {gateway}")),
        Text::new("측정 수신이 재개됨", "Events come in again"),
    )
}

/// Title and body when the agent is blind: what is wrong, and in one sentence what to do.
pub(in crate::notify) fn words_of_blindness(
    since: Timestamp,
    blindness: &Blindness,
) -> (Text, Text) {
    let (what, action) = match blindness {
        Blindness::Store(trouble) => (trouble.kind.what(), trouble.kind.action()),
        Blindness::Unjudged { events, why } => {
            let what = Text::new(
                format!("측정값 {events}건이 판정되지 않음"),
                format!("{events} measurements wait and are not judged"),
            );
            let log = Text::new(
                "에이전트 로그 확인 후 재시작",
                "look into the agent's log, then restart it",
            );
            match why {
                None => (what, log),
                Some(trouble) => {
                    let cause = trouble.kind.what();
                    let what = Text::new(
                        format!("{} ({})", what.ko, cause.ko),
                        format!("{} ({})", what.en, cause.en),
                    );
                    (what, trouble.kind.action())
                }
            }
        }
        Blindness::Untold { teller, why } => (untold(teller, why), why.kind.action()),
        Blindness::Secret(_) => (
            Text::new("비밀 값 파일을 기다리는 중", "it waits for the file of a secret"),
            Text::new(
                "설정이 가리키는 비밀 파일을 마운트(재시작 불필요)",
                "put the file that the configuration names in place; no restart is needed",
            ),
        ),
    };
    let is_mute = matches!(blindness, Blindness::Untold { .. });
    let word = if is_mute { "mute" } else { "blind" };
    let title = Text::new(
        format!("[경고] 진단 에이전트 중단: {}", what.ko),
        format!("[Warning] the diagnosis agent is {word}: {}", what.en),
    );
    let at = since.date_time().format("%Y-%m-%d %H:%M UTC");
    if is_mute {
        return (title, mute(&at.to_string(), &action));
    }
    let body = Text::new(
        format!(
            "시작: {at}\n새 측정값이 판정되지 않으며 알림이 전송되지 않음. 측정값은 보관되고 복구 후 판정됨\n조치: {}. 그동안 설비를 직접 점검",
            action.ko
        ),
        format!(
            "Since: {at}\nNew measurements are not judged and no alarm is sent. The measurements \
             are kept and judged afterwards\nAction: {}. Look at the machines meanwhile",
            action.en
        ),
    );
    (title, body)
}

/// Title and body when the agent sees again.
pub(in crate::notify) fn sighted(since: Timestamp, blindness: &Blindness) -> (Text, Text) {
    let at = since.date_time().format("%Y-%m-%d %H:%M UTC");
    let title = match blindness {
        Blindness::Store(_) => Text::new(
            "진단 에이전트 복구: 저장소 응답",
            "The diagnosis agent works again: its store answers",
        ),
        Blindness::Unjudged { .. } => Text::new(
            "진단 에이전트 복구: 측정값이 판정됨",
            "The diagnosis agent works again: measurements are judged",
        ),
        Blindness::Untold { .. } => Text::new(
            "진단 에이전트 복구: 알림이 다시 전송됨",
            "The diagnosis agent works again: messages leave its store",
        ),
        Blindness::Secret(_) => Text::new(
            "진단 에이전트 복구: 비밀 파일 확인됨",
            "The diagnosis agent works again: the secret is there",
        ),
    };
    let body = match blindness {
        Blindness::Untold { .. } => Text::new(
            format!("중단 시작: {at}\n그동안의 알림을 전송하는 중"),
            format!("Away since: {at}\nThe messages of that time are being sent"),
        ),
        Blindness::Store(_) | Blindness::Unjudged { .. } | Blindness::Secret(_) => Text::new(
            format!("중단 시작: {at}\n그동안의 측정값을 판정하는 중"),
            format!("Away since: {at}\nThe measurements of that time are being judged"),
        ),
    };
    (title, body)
}

/// The body while events are judged and what is found does not reach staff.
fn mute(since: &str, action: &Text) -> Text {
    Text::new(
        format!(
            "시작: {since}\n측정값은 판정되지만 결과가 담당자에게 전달되지 않음. 복구 후 전달됨\n조치: {}. \
             그동안 화면에서 위험 등급 확인",
            action.ko
        ),
        format!(
            "Since: {since}\nMeasurements are judged, and staff is not told of what is found; it \
             is told afterwards\nAction: {}. Look at the pages meanwhile",
            action.en
        ),
    )
}

/// Names the messages that are not told while the store takes events and judgements.
fn untold(teller: &Teller, why: &Trouble) -> Text {
    let cause = why.kind.what();
    match teller {
        Teller::Lane(lane) => Text::new(
            format!("{lane} 알림이 저장소에서 나가지 못함({})", cause.ko),
            format!("messages by {lane} do not leave its store ({})", cause.en),
        ),
        Teller::Watch => Text::new(
            format!("통신 두절, 다음 담당자, 재알림을 살피지 못함({})", cause.ko),
            format!(
                "silent gateways, next steps and reminders are not looked after ({})",
                cause.en
            ),
        ),
    }
}

/// Title and body when a damaged file of derived data was set aside.
pub(in crate::notify) fn file_set_aside(file: &SetAside) -> (Text, Text) {
    let name = file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (aside, saved) = (file.aside.display(), file.saved);
    let title = Text::new(
        format!("[에이전트] 손상된 {name} 파일을 옆에 두고 다시 채움"),
        format!("[Agent] the damaged file {name} was set aside and is filled again"),
    );
    let body = Text::new(
        format!(
            "경보에는 영향 없음. 읽을 수 있던 {saved}건을 옮겼고 기본 문서와 판정은 다시 채워짐\n조치: 디스크 확인, 직접 올린 문서가 빠졌으면 \
             `pdm-agent knowledge ingest`로 다시 등록. 손상된 파일: {aside}"
        ),
        format!(
            "Alarms are not affected. {saved} rows could be read and were taken over; shipped \
             documents and judgements are filled in again\nAction: check the disk, and ingest \
             documents of your own that are missing again (`pdm-agent knowledge ingest`). The \
             damaged file: {aside}"
        ),
    );
    (title, body)
}
