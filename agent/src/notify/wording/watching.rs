//! The words for what keeps machines from being watched: a sensor that fails, a gateway that is silent, a store
//! that does not answer; and for their return.

use pdm_expert::screening::flags;
use pdm_expert::standing::Sensor;
use pdm_shared::delivery::Presence;
use pdm_shared::id::{BearingKey, GatewayId};
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;

/// Title and body when a sensor has told nothing that can be judged for long.
pub(in crate::notify) fn sensor_failed(
    key: &BearingKey,
    point: &str,
    sensor: &Sensor,
) -> (Text, Text) {
    let (equipment, bearing) = (&key.equipment, &key.bearing);
    let title = Text::new(
        format!("[센서 이상] {equipment} {bearing} ({point})"),
        format!("[Sensor] {equipment} {bearing} ({point})"),
    );
    let flags = flags(&sensor.flags);
    let since = sensor.invalid_since.map_or_else(|| Text::new("", ""), super::since);
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

/// Title and body when a gateway that was silent sends again.
pub(in crate::notify) fn heard(gateway: &GatewayId) -> (Text, Text) {
    (
        Text::new(format!("[통신 복구] 게이트웨이 {gateway}"), format!("[Back] gateway {gateway}")),
        Text::new("측정 수신이 재개됨", "Events come in again"),
    )
}

/// The agent's store does not answer.
pub(in crate::notify) fn store_away(since: Timestamp) -> (Text, Text) {
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
pub(in crate::notify) fn store_back(since: Timestamp) -> (Text, Text) {
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
