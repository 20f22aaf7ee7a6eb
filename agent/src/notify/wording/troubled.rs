//! The words for a gateway's reports about itself, and for events that it no longer has.

use pdm_reasoner::links::without_links;
use pdm_shared::bounds::in_one_line;
use pdm_shared::id::{GatewayId, GatewayKey};
use pdm_shared::text::Text;

/// Characters of a gateway's own words that a message quotes.
const SAID_CHARS: usize = 200;

/// Title and body where a gateway cannot measure or keep its events.
pub(in crate::notify) fn troubled(gateway: &GatewayId, trouble: &str) -> (Text, Text) {
    let trouble = in_one_line(trouble, SAID_CHARS);
    let said = |mark: &str| without_links(&trouble, mark);
    let (ko, en) = (said("[링크 삭제]"), said("[link removed]"));
    (
        Text::new(
            format!("[통신] 게이트웨이 {gateway} 이상"),
            format!("[Connection] gateway {gateway} is in trouble"),
        ),
        Text::new(
            format!(
                "게이트웨이의 보고(사람이 확인하지 않음): {ko}\n해당 기계는 감시되지 않거나, 새 측정값이 남지 않거나, 바꾼 설정이 적용되지 않음\n조치: \
                 게이트웨이의 디스크, 센서와 배선, 설정(edge.toml), 로그 확인(`pdm-edge check`)"
            ),
            format!(
                "The gateway says, not checked by a person: {en}\nWhat it measures there is not \
                 watched, new measurements are not kept, or what its configuration changes has no \
                 effect\nAction: check the gateway's disk, its sensors and cables, its \
                 configuration (edge.toml) and its log (`pdm-edge check`)"
            ),
        ),
    )
}

/// Title and body where a gateway says that nothing is wrong any more.
pub(in crate::notify) fn untroubled(gateway: &GatewayId) -> (Text, Text) {
    (
        Text::new(
            format!("[해제] 게이트웨이 {gateway} 이상"),
            format!("[Cleared] gateway {gateway} is out of trouble"),
        ),
        Text::new(
            "게이트웨이가 다시 측정하고 측정값을 보관함",
            "The gateway measures and keeps its events again",
        ),
    )
}

/// Title and body where events of a gateway will never arrive.
pub(in crate::notify) fn events_lost(gateway: &GatewayId, count: u64) -> (Text, Text) {
    let (events, are) = if count == 1 { ("event", "is") } else { ("events", "are") };
    (
        Text::new(
            format!("[데이터] 게이트웨이 {gateway}의 측정값 {count}건 없음"),
            format!("[Data] {count} {events} of gateway {gateway} {are} missing"),
        ),
        Text::new(
            format!(
                "{count}건이 저장소에 없고 게이트웨이에도 더 이상 없음. 백업을 복원한 저장소에는 백업 이후의 측정값이 없음\n조치: 더 새로운 백업이 \
                 있으면 복원(docs/operations.md). 없으면 그 기간의 추세에 빈 곳이 있음을 감안할 것"
            ),
            format!(
                "{count} {events} {are} not in the store, and the gateway no longer has what is \
                 missing. A store that was restored from a backup lacks what came after the \
                 backup\nAction: restore a later backup if there is one (docs/operations.md); else \
                 read trends of that time with the gap in mind"
            ),
        ),
    )
}

/// Title and body where events of an online gateway have been missing for long.
pub(in crate::notify) fn events_missing(gateway: &GatewayId, count: u64) -> (Text, Text) {
    let (events, have) = if count == 1 { ("event", "has") } else { ("events", "have") };
    (
        Text::new(
            format!("[데이터] 게이트웨이 {gateway}의 측정값 {count}건이 1시간 넘게 오지 않음"),
            format!("[Data] {count} {events} of gateway {gateway} {have} not come for an hour"),
        ),
        Text::new(
            "게이트웨이는 온라인이고 다른 측정값은 옴. 에이전트가 계속 요청하지만 다시 보내지 않음. 그 가운데 경보가 있었을 수 있음\n조치: 게이트웨이의 로그와 \
             스풀, 브로커의 대기열 한도와 접근 규칙 확인. 측정값이 broker.max_packet_bytes보다 크거나, 내려간 복제본의 세션이 공유 구독에 남아 \
             있을 수도 있음(docs/operations.md)",
            "The gateway is online and other measurements come. The agent goes on asking for \
             these, and they are not sent again; an alarm may have been among them\nAction: check \
             the gateway's log and spool, the broker's limits of its queues and its access rules. \
             They may be larger than broker.max_packet_bytes, or go to a replica of the shared \
             subscription that is gone (docs/operations.md)",
        ),
    )
}

/// Title and body where events that were confirmed to a gateway are gone from the store.
pub(in crate::notify) fn confirmed_gone(
    gateway: &GatewayId,
    [first, last]: [u64; 2],
) -> (Text, Text) {
    let count = last.saturating_sub(first) + 1;
    (
        Text::new(
            format!("[데이터] 게이트웨이 {gateway}의 저장된 측정값 {count}건이 저장소에서 사라짐"),
            format!("[Data] {count} stored events of gateway {gateway} are gone from the store"),
        ),
        Text::new(
            format!(
                "{first}~{last}번. 뒤처진 데이터베이스 서버가 이어받았거나 백업이 복원됨. 게이트웨이가 이미 지운 것은 다시 오지 않으며, 그 가운데 \
                 위험(Critical)이 있었을 수 있음\n조치: 이 게이트웨이의 기계를 확인하고 동기 복제 또는 지연 감시 \
                 설정(docs/operations.md)"
            ),
            format!(
                "Numbers {first} to {last}: a database server that was behind took over, or a \
                 backup was put back. What the gateway has deleted does not come again; a Critical \
                 may have been among them\nAction: look at the machines of this gateway; replicate \
                 synchronously, or watch the delay (docs/operations.md)"
            ),
        ),
    )
}

/// Returns the line of health on missing events.
pub(in crate::notify) fn missing_line(gateway: &GatewayKey, count: u64) -> String {
    let (events, have) = if count == 1 { ("event", "has") } else { ("events", "have") };
    format!(
        "{count} {events} of gateway {gateway} {have} been missing for over an hour although it is \
         online: check its log, its spool and the broker's limits (larger than \
         broker.max_packet_bytes? a replica of the shared subscription that is gone?)"
    )
}

/// Lines of health that are told; of further ones their number. Chosen: what a person reads at
/// once.
const LINES: usize = 30;

/// Returns the first lines of health, and how many more there are.
pub(in crate::notify) fn first_lines(mut lines: Vec<String>) -> Vec<String> {
    let more = lines.len().saturating_sub(LINES);
    lines.truncate(LINES);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines
}

/// Returns the line of health where two gateways seem to use one name.
pub(in crate::notify) fn twin(gateway: &GatewayKey) -> String {
    format!(
        "two gateways seem to use the name {gateway}, or an old copy of its spool was put back: \
         rename one of them (gateway_id in edge.toml) and give it a spool of its own"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-AGENT-12: the troubles of 18,000 invented gateways made a health of 240 KB.
    #[test]
    fn health_tells_the_first_lines_and_how_many_more_there_are() {
        let lines = |count: usize| (0..count).map(|n| format!("line {n}")).collect::<Vec<_>>();
        assert_eq!(first_lines(lines(LINES)), lines(LINES));
        let told = first_lines(lines(18_000));
        assert_eq!(told.len(), LINES + 1);
        assert_eq!(told[LINES], "and 17970 more");
    }

    /// Issue 33, points 2 and 9.
    #[test]
    fn what_a_gateway_says_and_lacks_is_told_with_what_to_do() {
        let gateway: GatewayId = "gw-01".parse().expect("name");
        let (title, body) = troubled(&gateway, "the spool cannot be written\u{202e}");
        assert_eq!(title.en, "[Connection] gateway gw-01 is in trouble");
        assert!(body.en.contains("the spool cannot be written") && !body.en.contains('\u{202e}'));
        let (title, body) = events_lost(&gateway, 60);
        assert_eq!(title.en, "[Data] 60 events of gateway gw-01 are missing");
        assert!(body.ko.contains("60건") && body.en.contains("Action:"));
        let (title, body) = events_missing(&gateway, 54);
        assert_eq!(title.en, "[Data] 54 events of gateway gw-01 have not come for an hour");
        assert!(title.ko.contains("54건") && body.ko.contains("조치:"));
        let (title, _body) = events_lost(&gateway, 1);
        assert_eq!(title.en, "[Data] 1 event of gateway gw-01 is missing");
    }
}
