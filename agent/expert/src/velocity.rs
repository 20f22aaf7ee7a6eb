//! Puts the velocity of vibration and its zone into words.

use pdm_shared::text::Text;

use crate::case::Case;
use crate::wording::figure;

/// The lowest limit to zone C of any group, mm/s (ISO 20816-3: medium machines on a rigid support).
pub(crate) const ZONE_C_OF_SMALLEST: f64 = 2.8;

/// The velocity and its zone in words; where the machine's group is not stated, the mildest zone of
/// any.
pub(crate) fn zone_words(case: &Case<'_>) -> Text {
    let Some(zone) = case.zone() else { return velocity_without_zone(case) };
    if case.event.time_domain.iso_zone.is_some() {
        return Text::new(
            format!("진동속도가 {zone:?}구역"),
            format!("the velocity is in zone {zone:?}"),
        );
    }
    let velocity = figure(case.event.time_domain.velocity_rms_mm_s.unwrap_or_default());
    Text::new(
        format!("진동속도 {velocity} mm/s가 기계 그룹과 무관하게 {zone:?}구역 이상"),
        format!(
            "the velocity of {velocity} mm/s is in zone {zone:?} or worse whatever the machine's \
             group"
        ),
    )
}

/// The velocity, where its zone depends on a group of machines that nobody has stated.
pub(crate) fn velocity_without_zone(case: &Case<'_>) -> Text {
    let Some(velocity) = case.event.time_domain.velocity_rms_mm_s else {
        return Text::new("진동속도를 측정하지 않음", "The velocity was not measured");
    };
    let told = figure(velocity);
    if velocity < ZONE_C_OF_SMALLEST {
        return Text::new(
            format!("진동속도 {told} mm/s: 기계 그룹이 입력되지 않아 구역을 정하지 않음"),
            format!(
                "The velocity is {told} mm/s; its zone is not told, as the machine's group is not \
                 stated"
            ),
        );
    }
    Text::new(
        format!(
            "진동속도 {told} mm/s는 기계 그룹(출력·지지)에 따라 B구역에서 D구역까지 될 수 있음: 기계 그룹을 입력"
        ),
        format!(
            "The velocity of {told} mm/s may be in zone B, C or D, by the machine's group (power, \
             support): state the group"
        ),
    )
}
