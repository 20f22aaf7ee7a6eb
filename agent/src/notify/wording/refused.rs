//! The words for a gateway whose events are refused, with the command that admits them.

use pdm_shared::id::{BearingKey, GatewayKey};
use pdm_shared::text::Text;
use pdm_store::{RefusalCause, RefusedEvents};

use pdm_web::plant::Admission;

use crate::admission::admission;
use crate::settings::BearingOwners;

/// Bearings that one message names.
const NAMED: usize = 20;

/// What refused events mean and what to do, in Korean and English.
const REFUSED: (&str, &str) = (
    "거부된 측정값은 판정되지 않으며 알림도 없음. 받아들이면 게이트웨이가 보관 중인 측정값을 다시 보냄\n조치: 게이트웨이를 교체하거나 옮겼다면 위 명령 실행, 아니면 \
     설정과 브로커의 접근 규칙 확인",
    "What is refused is not judged, and no alarm comes of it. Once admitted, the gateway sends \
     again what it keeps\nAction: run these commands if the gateway was replaced or moved; else \
     check its configuration and the broker's access rules",
);
/// The same of events that cannot be read.
const UNREAD: (&str, &str) = (
    "읽을 수 없는 측정값은 판정되지 않으며 알림도 없음. 게이트웨이는 확인되지 않은 측정값을 보관함\n조치: 게이트웨이와 에이전트의 버전 확인(에이전트를 먼저 갱신), \
     다른 프로그램이 보낸다면 위의 이유대로 형식과 토픽을 고칠 것",
    "What cannot be read is not judged, and no alarm comes of it. The gateway keeps what is not \
     confirmed\nAction: compare the versions of gateway and agent (the agent is updated first); of \
     another program put the form and the topic right, as the reason says",
);

/// Title and body where events of a gateway are refused.
pub(in crate::notify) fn refused(
    gateway: &GatewayKey,
    events: &[RefusedEvents],
    owners: &BearingOwners,
) -> (Text, Text) {
    let name = &gateway.gateway;
    let title = Text::new(
        format!("[거부됨] 게이트웨이 {name}의 측정값"),
        format!("[Refused] events of gateway {name} are refused"),
    );
    let mut lines = Text::new("", "");
    for one in events.iter().take(NAMED) {
        let line = refused_line(one, owners);
        lines =
            Text::new(format!("{}{}\n", lines.ko, line.ko), format!("{}{}\n", lines.en, line.en));
    }
    let left = events.len().saturating_sub(NAMED);
    if left > 0 {
        lines = Text::new(
            format!("{}외 {left}건 (`pdm-agent gateways list`)\n", lines.ko),
            format!("{}and {left} more (`pdm-agent gateways list`)\n", lines.en),
        );
    }
    let (ko, en) = if events.iter().all(|one| one.cause == RefusalCause::Unreadable) {
        UNREAD
    } else {
        REFUSED
    };
    let body = Text::new(format!("{}{ko}", lines.ko), format!("{}{en}", lines.en));
    (title, body)
}

/// Title and body where refused events of new bearings are Critical by the rules.
pub(in crate::notify) fn refused_alarms(
    gateway: &GatewayKey,
    bearings: &[BearingKey],
) -> (Text, Text) {
    let name = &gateway.gateway;
    let names = bearings.iter().take(NAMED).map(BearingKey::within_site).collect::<Vec<_>>();
    let names = names.join(", ");
    let left = bearings.len().saturating_sub(NAMED);
    let (more_ko, more_en) = match left {
        0 => (String::new(), String::new()),
        left => (format!(" 외 {left}개"), format!(" and {left} more")),
    };
    (
        Text::new(
            format!("[위험] 거부된 측정값에 위험 상태가 있음: 게이트웨이 {name}"),
            format!("[Critical] among refused measurements of gateway {name}"),
        ),
        Text::new(
            format!(
                "{names}{more_ko}: 규칙으로는 위험(Critical)이지만 새 베어링이 너무 많아 받아들이지 \
                 않음(intake.quota.new_bearings_per_hour). 알림은 이것뿐임\n조치: 기계를 확인하고, 이 게이트웨이의 베어링이 맞으면 \
                 한도를 올리거나 `[[gateways]]` 에 적을 것. 전체 목록은 게이트웨이 화면과 `pdm-agent gateways list`"
            ),
            format!(
                "{names}{more_en}: Critical by the rules, and not taken, because their gateway has \
                 brought too many new bearings in this hour (intake.quota.new_bearings_per_hour). \
                 No other alarm comes of them\nAction: look at the machines; if the bearings are \
                 this gateway's, raise the quota or name them in `[[gateways]]`. The page of \
                 gateways and `pdm-agent gateways list` have all of them"
            ),
        ),
    )
}

/// One bearing or cause on one line: what is refused, why, and what admits it.
pub(in crate::notify) fn refused_line(one: &RefusedEvents, owners: &BearingOwners) -> Text {
    let RefusedEvents { gateway, bearing, count, reason, .. } = one;
    if one.cause == RefusalCause::Unreadable {
        return Text::new(
            format!("{bearing}: {count}건을 읽을 수 없음 ({reason})"),
            format!("{bearing}: {count} events of {} cannot be read ({reason})", gateway.gateway),
        );
    }
    if one.cause == RefusalCause::EventId {
        return Text::new(
            format!(
                "{bearing}: {count}건 거부 ({reason}) → 이 게이트웨이가 다른 게이트웨이의 복제본인지 확인"
            ),
            format!(
                "{bearing}: {count} events of {} refused ({reason}) → check whether this gateway \
                 is a copy of another one",
                gateway.gateway
            ),
        );
    }
    let release = |what: &dyn std::fmt::Display| format!("`pdm-agent gateways release {what}`");
    let admits = match admission(one, owners) {
        Admission::ReleaseBearing(bearing) => release(&bearing),
        Admission::ReleaseGateway(gateway) => release(&gateway),
        Admission::Configuration => "`[[gateways]]`".to_owned(),
    };
    Text::new(
        format!("{bearing}: {count}건 거부 ({reason}) → {admits}"),
        format!("{bearing}: {count} events of {} refused ({reason}) → {admits}", gateway.gateway),
    )
}

/// Title and body where a gateway's events are refused no more.
pub(in crate::notify) fn admitted(gateway: &GatewayKey) -> (Text, Text) {
    let name = &gateway.gateway;
    (
        Text::new(
            format!("[해제] 게이트웨이 {name}의 측정값 거부"),
            format!("[Cleared] events of gateway {name} are refused no more"),
        ),
        Text::new(
            "측정값이 받아들여지거나 더 이상 거부되는 측정값이 없음",
            "They are taken, or none has come for two hours",
        ),
    )
}

#[cfg(test)]
mod tests {
    use pdm_shared::id::BearingKey;
    use pdm_shared::time::Timestamp;

    use super::*;

    /// Issue 33, point 7.
    #[test]
    fn a_refusal_names_the_gateway_the_bearing_and_the_command_that_admits_it() {
        let at = Timestamp::EPOCH;
        let one = RefusedEvents {
            gateway: "ulsan-1/gw-02".parse().expect("name"),
            bearing: BearingKey::parse("ulsan-1", "P-101", "DE").expect("names"),
            cause: RefusalCause::Owner,
            reason: "gateway_id is gw-02, expected gw-01".to_owned(),
            count: 300,
            first_at: at,
            last_at: at,
            told_at: None,
        };
        let none = BearingOwners::default();
        let (title, body) = refused(&one.gateway, std::slice::from_ref(&one), &none);
        assert_eq!(title.en, "[Refused] events of gateway gw-02 are refused");
        let command = "`pdm-agent gateways release ulsan-1/P-101/DE`";
        assert!(body.en.contains("ulsan-1/P-101/DE: 300 events of gw-02 refused"), "{}", body.en);
        assert!(body.en.contains(command) && body.ko.contains(command), "{}", body.ko);
        let unread = RefusedEvents { cause: RefusalCause::Unreadable, ..one.clone() };
        let (_, body) = refused(&unread.gateway, std::slice::from_ref(&unread), &none);
        assert!(body.en.contains("300 events of gw-02 cannot be read"), "{}", body.en);
        assert!(body.en.contains("the agent is updated first"), "{}", body.en);
        let epoch = RefusedEvents { cause: RefusalCause::Epoch, ..one };
        let (_, body) = refused(&epoch.gateway, std::slice::from_ref(&epoch), &none);
        assert!(body.en.contains("`pdm-agent gateways release ulsan-1/gw-02`"), "{}", body.en);
    }
}
