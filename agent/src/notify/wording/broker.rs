//! The words for what goes wrong between gateways, broker and agent.

use pdm_shared::bounds::in_one_line;
use pdm_shared::delivery::GatewayTooLarge;
use pdm_shared::id::GatewayId;
use pdm_shared::text::Text;

use crate::progress::BrokerLack;

/// Characters of an error that a message quotes.
const ERROR_CHARS: usize = 160;

/// Events of a gateway are larger than its broker takes.
pub(in crate::notify) fn too_large(gateway: &GatewayId, large: &GatewayTooLarge) -> (Text, Text) {
    let GatewayTooLarge { without_spectra, parked, limit_bytes } = large;
    let (ko, en) = match limit_bytes {
        Some(bytes) => (
            format!("브로커가 받는 최대 크기는 {bytes}바이트"),
            format!("The broker takes packets of at most {bytes} bytes"),
        ),
        None => (
            "브로커가 확인 응답을 하고도 전달하지 않음".to_owned(),
            "The broker acknowledges them and does not deliver them".to_owned(),
        ),
    };
    (
        Text::new(
            format!("[통신] {gateway}의 이벤트가 브로커에 비해 너무 큼"),
            format!("[Connection] events of {gateway} are too large for the broker"),
        ),
        Text::new(
            format!(
                "{ko}\n스펙트럼 없이 전송: {without_spectra}건, 게이트웨이에 보류: {parked}건\n조치: 브로커의 크기 \
                 제한(Mosquitto: message_size_limit, max_packet_size)을 262144바이트 이상으로 올릴 것. 그동안 스펙트럼 \
                 없이 판정됨"
            ),
            format!(
                "{en}\nSent without spectra: {without_spectra}, kept at the gateway: \
                 {parked}\nAction: raise the broker's limit (Mosquitto: message_size_limit, \
                 max_packet_size) to 262144 bytes or more. Judgements go without spectra meanwhile"
            ),
        ),
    )
}

/// The broker ends a gateway's connection again and again.
pub(in crate::notify) fn gateway_thrown_out(gateway: &GatewayId) -> (Text, Text) {
    (
        Text::new(
            format!("[통신] {gateway} 이름의 게이트웨이가 둘로 보임"),
            format!("[Connection] two gateways seem to use the name {gateway}"),
        ),
        Text::new(
            format!(
                "브로커가 {gateway}의 연결을 계속 끊거나, 이미 쓰인 번호의 측정값이 옴. 같은 이름의 게이트웨이가 있거나, 옛 스풀이 복원되었거나, \
                 스풀이 새로 만들어졌거나(이때는 몇 분 뒤 에이전트가 스스로 따름), 접근 규칙이 거부함\n조치: 복제된 게이트웨이(같은 gateway_id, \
                 같은 spool)가 있는지 확인하고 하나의 이름을 바꿀 것. 두 기계의 측정값이 한 베어링에 섞일 수 있음"
            ),
            format!(
                "The broker ends the connection of {gateway} again and again, or measurements come \
                 with numbers that were used before: another gateway uses its name, an old copy of \
                 its spool was put back, its spool is new (then the agent follows it by itself \
                 after some minutes), or the access rules refuse it\nAction: look for a copied \
                 gateway (the same gateway_id, the same spool) and rename one of them. \
                 Measurements of two machines may be taken for one bearing"
            ),
        ),
    )
}

/// The agent has had no connection to the broker for long.
pub(in crate::notify) fn broker_away(client_id: &str, error: &str) -> (Text, Text) {
    let error = in_one_line(error, ERROR_CHARS);
    (
        Text::new(
            "[경고] 진단 에이전트가 브로커에 접속하지 못함",
            "[Warning] the diagnosis agent has no connection to the broker",
        ),
        Text::new(
            format!(
                "5분 동안 접속하지 못함. 클라이언트 이름 {client_id}: {error}\n새 측정값이 오지 않아 기계가 감시되지 않음. 게이트웨이는 \
                 측정값을 보관함\n조치: 브로커와 네트워크, 에이전트의 로그인과 인증서, 브로커의 차단 목록 확인"
            ),
            format!(
                "No connection for five minutes. Client id {client_id}: {error}\nNo measurement \
                 arrives, so the machines are not watched; the gateways keep theirs\nAction: check \
                 the broker and the network, the agent's login and certificate, and the broker's \
                 list of banned clients"
            ),
        ),
    )
}

/// Events come from the broker, and the agent has had no connection to publish by for long.
pub(in crate::notify) fn broker_mute(client_id: &str, error: &str) -> (Text, Text) {
    let error = in_one_line(error, ERROR_CHARS);
    (
        Text::new(
            "[경고] 진단 에이전트가 브로커에 발행하지 못함",
            "[Warning] the diagnosis agent cannot publish to the broker",
        ),
        Text::new(
            format!(
                "5분 동안 발행용 접속이 없음. 클라이언트 이름 {client_id}: {error}\n측정값은 오고 판정됨. 브로커 토픽의 알림, 판정, 수신 \
                 확인은 기다리고, 게이트웨이는 측정값을 계속 보관함\n조치: 브로커의 접속 수 제한(max_connections)과 이 클라이언트 이름의 로그인, \
                 인증서, 접근 규칙 확인"
            ),
            format!(
                "No connection to publish by for five minutes. Client id {client_id}: \
                 {error}\nMeasurements come and are judged; messages on the broker's topics, \
                 judgements and receipts wait, and the gateways keep their events\nAction: check \
                 the broker's limit of connections (max_connections), and login, certificate and \
                 access rules of this client id"
            ),
        ),
    )
}

/// The agent's broker lacks something that nothing works without.
pub(in crate::notify) fn broker_lacks(lack: BrokerLack) -> (Text, Text) {
    let (title, action) = match lack {
        BrokerLack::Version5 => (
            Text::new(
                "[경고] 브로커가 MQTT 5를 지원하지 않음",
                "[Warning] the broker does not speak MQTT 5",
            ),
            "MQTT 5를 지원하는 브로커(Mosquitto 1.6 이상 등)로 바꾸거나, 브로커 설정에서 버전 5를 허용할 \
             것(accept_protocol_versions)",
        ),
        BrokerLack::Retained => (
            Text::new(
                "[경고] 브로커가 보관(retain) 메시지를 받지 않음",
                "[Warning] the broker takes no retained messages",
            ),
            "브로커 설정에서 retain을 허용할 것(Mosquitto: retain_available true)",
        ),
        BrokerLack::Qos1 => (
            Text::new(
                "[경고] 브로커가 QoS 1을 받지 않음",
                "[Warning] the broker does not take QoS 1",
            ),
            "브로커 설정에서 QoS 1을 허용할 것(Mosquitto: max_qos 2)",
        ),
        BrokerLack::Rights => (
            Text::new(
                "[경고] 브로커에서 아무것도 오지 않음",
                "[Warning] nothing arrives from the broker",
            ),
            "브로커의 접근 규칙에서 에이전트의 읽기 권한을 확인하고, 게이트웨이가 이 브로커에 접속하는지 확인할 것",
        ),
    };
    let body = Text::new(
        format!(
            "이 브로커로는 새 측정값이 오지 않아 기계가 감시되지 않음. 게이트웨이는 측정값을 보관함\n조치: {action}"
        ),
        format!(
            "No measurement arrives by this broker, so the machines are not watched; the gateways \
             keep theirs\nAction: {}",
            lack.told()
        ),
    );
    (title, body)
}

/// The broker ends a connection of the agent again and again.
pub(in crate::notify) fn thrown_out(client_id: &str, error: &str) -> (Text, Text) {
    let error = in_one_line(error, ERROR_CHARS);
    (
        Text::new(
            "[경고] 진단 에이전트가 브로커에서 계속 끊김",
            "[Warning] the broker ends the diagnosis agent's connection again and again",
        ),
        Text::new(
            format!(
                "클라이언트 이름 {client_id}: {error}\n새 측정값이 늦거나 오지 않음. 다른 클라이언트가 같은 이름을 쓰거나 브로커의 접근 규칙이 \
                 거부함\n조치: 브로커 로그에서 이 이름의 상대 주소를 확인하고, 두 번째 에이전트나 허가되지 않은 클라이언트를 멈출 것"
            ),
            format!(
                "Client id {client_id}: {error}\nMeasurements come late or not at all. Another \
                 client uses the same client id, or the broker's access rules refuse the \
                 agent\nAction: look up the addresses of this client id in the broker's log, and \
                 stop the second agent or the stranger"
            ),
        ),
    )
}

/// A gateway sends more than its share for long.
pub(in crate::notify) fn flood(gateway: &GatewayId) -> (Text, Text) {
    (
        Text::new(
            format!("[통신] 게이트웨이 {gateway}에서 너무 많은 측정값이 옴"),
            format!("[Connection] {gateway} sends more measurements than can be stored"),
        ),
        Text::new(
            format!(
                "다른 게이트웨이의 측정값을 늦추지 않도록 {gateway}의 측정값은 미루어지고 다시 요청됨. 그 베어링의 경보는 늦을 수 있음\n조치: 오래 \
                 끊겼다가 쌓인 것을 보내는 중이면 기다릴 것. 아니면 게이트웨이의 창 간격과 인증서가 도용되었는지 확인할 것"
            ),
            format!(
                "So that no other gateway waits, measurements of {gateway} are put off and asked \
                 for again. Alarms of its bearings may come late\nAction: if it was away for long \
                 and sends what it has kept, wait. Otherwise check how often it measures, and \
                 whether somebody else uses its certificate"
            ),
        ),
    )
}

/// The store comes near its ceiling.
pub(in crate::notify) fn store_full(percent: u64, max_bytes: u64) -> (Text, Text) {
    let most_gib = max_bytes as f64 / f64::from(1 << 30);
    (
        Text::new(
            format!("[저장소] 진단 에이전트의 저장소가 한도의 {percent}%를 씀"),
            format!("[Store] the diagnosis agent's store is at {percent} % of its ceiling"),
        ),
        Text::new(
            format!(
                "[store] max_bytes는 {most_gib:.1} GiB. 한도에 이르면 가장 오래된 스펙트럼, 그다음 정상 판정 창, 그다음 나머지 \
                 오래된 창이 지워짐. 열린 경보는 남음\n조치: 디스크에 여유가 있으면 한도를 올리거나 [store.retention]의 일수를 줄일 것. 갑자기 \
                 늘었으면 어느 게이트웨이가 많이 보내는지 확인할 것"
            ),
            format!(
                "[store] max_bytes is {most_gib:.1} GiB. At the ceiling the oldest spectra are \
                 deleted, then the oldest windows judged Normal, then the oldest others; open \
                 alarms stay\nAction: raise the ceiling if the disk has room, or keep rows for \
                 fewer days ([store.retention]). If it grew at once, look which gateway sends so \
                 much"
            ),
        ),
    )
}
