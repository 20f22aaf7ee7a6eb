//! The words for bearings that their gateway no longer measures by its configuration.

use pdm_shared::id::{BearingKey, GatewayId, GatewayKey};
use pdm_shared::text::Text;

/// Bearings that a message names.
const NAMED: usize = 20;

/// Title and body where the configuration of a gateway names bearings no more that it measured.
pub(in crate::notify) fn unmeasured(gateway: &GatewayId, bearings: &[BearingKey]) -> (Text, Text) {
    let names: Vec<String> = bearings.iter().take(NAMED).map(BearingKey::within_site).collect();
    let left = bearings.len().saturating_sub(names.len());
    let (more_ko, more_en) = match left {
        0 => (String::new(), String::new()),
        left => (format!(" 외 {left}개"), format!(" and {left} more")),
    };
    let names = names.join(", ");
    let first = bearings.first().map_or_else(String::new, BearingKey::to_string);
    (
        Text::new(
            format!("[측정 제외] 게이트웨이 {gateway}: {names}{more_ko}"),
            format!("[Not measured] gateway {gateway}: {names}{more_en}"),
        ),
        Text::new(
            format!(
                "게이트웨이 {gateway}의 설정(edge.toml)에서 빠져 더 이상 측정되지 않음: {names}{more_ko}\n이 베어링은 감시되지 \
                 않으며 기존 위험도와 경보는 유지됨\n조치: 의도한 것이 아니면 edge.toml에 다시 넣고 게이트웨이 재시작. 철거했으면 `pdm-agent \
                 forget {first}`, 다른 게이트웨이로 옮겼으면 `pdm-agent gateways release {first}`"
            ),
            format!(
                "No longer measured by the configuration (edge.toml) of gateway {gateway}: \
                 {names}{more_en}\nNobody watches these bearings; their standing risks and alarms \
                 are kept\nAction: if this is not meant, put them back into edge.toml and start \
                 the gateway again. Taken out of use: `pdm-agent forget {first}`; moved to another \
                 gateway: `pdm-agent gateways release {first}`"
            ),
        ),
    )
}

/// Title and body where all of them are measured again, forgotten, or another gateway's.
pub(in crate::notify) fn measured_again(gateway: &GatewayId) -> (Text, Text) {
    (
        Text::new(
            format!("[해제] 게이트웨이 {gateway} 측정 제외"),
            format!("[Cleared] gateway {gateway} measures what it measured before"),
        ),
        Text::new(
            "빠졌던 베어링이 다시 측정되거나 이 게이트웨이의 것이 아님",
            "The bearings are measured again, or are this gateway's no more",
        ),
    )
}

/// Returns the line of health on bearings that are no longer measured.
pub(in crate::notify) fn unmeasured_line(
    gateway: &GatewayKey,
    count: usize,
    names: &[String],
) -> String {
    let more = if count > names.len() { ", …" } else { "" };
    format!(
        "no longer measured by the configuration of gateway {gateway}: {}{more} (put back into \
         edge.toml, or `pdm-agent forget`)",
        names.join(", ")
    )
}
