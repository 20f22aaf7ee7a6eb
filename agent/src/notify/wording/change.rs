//! The words for a change that the edge found and that is no damage.

use pdm_routes::Zone;
use pdm_shared::event::{Change, ChangeKind};
use pdm_shared::id::{BearingId, BearingKey};
use pdm_shared::text::Text;

/// Title and body when the edge found a change that is no damage.
pub(in crate::notify) fn changed(key: &BearingKey, change: &Change, zone: Zone) -> (Text, Text) {
    let (equipment, bearing) = (&key.equipment, &key.bearing);
    let named: Vec<&str> = change.bearings.iter().map(BearingId::as_str).collect();
    let (others, ratio) = (named.join(", "), change.level_ratio);
    // bearings of other gateways are left out of what a gateway says, maybe all of them
    let (all_ko, all_en, other_ko, other_en) = match others.as_str() {
        "" => (bearing.to_string(), bearing.to_string(), "다른 채널", "another channel"),
        others => {
            (format!("{bearing} 외 {others}"), format!("{bearing} and {others}"), others, others)
        }
    };
    let title = of_operation(key, named.is_empty());
    let (ko, en, body) = match change.kind {
        ChangeKind::Operating => (
            format!("[운전 변화] {}", title.ko),
            format!("[Operating change] {}", title.en),
            Text::new(
                format!(
                    "{all_ko}: 수준 {ratio:.2}배\n조치: 부하·속도·공정이나 센서 취부의 변경 여부 확인. 변경이 없었다면 \
                     점검. 새 수준을 기준으로 계속 감시함"
                ),
                format!(
                    "{all_en}: the level is {ratio:.2} times that of before\nAction: check whether \
                     load, speed, process or the sensor were changed; if not, inspect. Watching \
                     goes on from the new level"
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
                    "The level is {ratio:.2} times that of the baseline\nAction: if the bearing \
                     was replaced or repaired, or its sensor mounted anew, run relearn; if not, \
                     inspect"
                ),
            ),
        ),
        ChangeKind::Swapped => (
            format!("[채널 확인] {equipment} {bearing}: {other_ko}와(과) 채널이 바뀐 것으로 보임"),
            format!("[Channels] {equipment} {bearing}: seems swapped with {other_en}"),
            Text::new(
                format!(
                    "두 채널의 진동 수준이 서로 바뀜\n조치: {bearing}와(과) {other_ko}의 센서 케이블과 채널 배정 확인"
                ),
                format!(
                    "The two channels have each other's levels\nAction: check cables and channel \
                     numbers of {bearing} and {other_en}"
                ),
            ),
        ),
    };
    let since = super::since(change.since, zone);
    let body =
        Text::new(format!("{}\n{}", since.ko, body.ko), format!("{}\n{}", since.en, body.en));
    (Text::new(ko, en), body)
}

/// The title of a change of operation: of the machine, or of the only bearing that is known of it.
fn of_operation(key: &BearingKey, is_lone: bool) -> Text {
    let (equipment, bearing) = (&key.equipment, &key.bearing);
    if is_lone {
        return Text::new(
            format!("{equipment} {bearing}: 진동 수준이 한 번에 변해 유지됨"),
            format!("{equipment} {bearing}: the level changed at once and stays"),
        );
    }
    Text::new(
        format!("{equipment}: 모든 베어링의 진동 수준이 함께 변함"),
        format!("{equipment}: all bearings changed together"),
    )
}
