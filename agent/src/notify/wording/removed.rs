//! The words for an alarm that ends because its bearing was taken out or has another name.

use pdm_shared::episode::AcknowledgementState;
use pdm_shared::text::Text;
use pdm_store::RemovedAlarm;

/// Returns title and body. `by` and `reason` are the person's who took it out or renamed it.
pub(in crate::notify) fn removed(
    gone: &RemovedAlarm,
    (by, reason): (&str, &str),
) -> Option<(Text, Text)> {
    let risk = gone.record.alarm.as_ref()?.risk;
    let (equipment, bearing) = (&gone.key.equipment, &gone.key.bearing);
    let seen = acknowledged(&gone.record.episode.acknowledgement);
    let level = risk.label().ko;
    let (title, act, then) = match &gone.new {
        None => (
            Text::new(
                format!("[제외] {equipment} {bearing}: {level} 알람이 함께 종료됨"),
                format!("[Taken out] {equipment} {bearing}: its alarm ({risk}) ends with it"),
            ),
            Text::new("감시 대상에서 제외", "Taken out of monitoring"),
            Text::new(
                "설비가 계속 운전 중이면 제외가 맞는지 확인. 다시 측정되면 새로 판정하여 알림",
                "If the machine still runs, ask whether this is right. If it is measured again, it \
                 is judged and told anew",
            ),
        ),
        Some(new) => {
            let to = format!("{} {}", new.equipment, new.bearing);
            (
                Text::new(
                    format!(
                        "[이름 변경] {equipment} {bearing} → {to}: 이전 이름의 {level} 알람 종료"
                    ),
                    format!(
                        "[Renamed] {equipment} {bearing} is {to}: the alarm ({risk}) of the former \
                         name ends"
                    ),
                ),
                Text::new("이름 변경", "Renamed"),
                Text::new(
                    "이름만 바뀌었고 베어링 상태는 그대로임. 이전 알람의 조치를 계속 수행. 새 \
                     이름으로 다음 측정이 들어오면 새 알람으로 알림",
                    "Only the name has changed, not the bearing: go on with what the alarm asked \
                     for. The next measurement under the new name is told as a new alarm",
                ),
            )
        }
    };
    let body = Text::new(
        format!("{}: {by} ({reason})\n{}\n조치: {}", act.ko, seen.ko, then.ko),
        format!("{} by {by} ({reason})\n{}\nAction: {}", act.en, seen.en, then.en),
    );
    Some((title, body))
}

/// Whether somebody had seen the alarm.
fn acknowledged(state: &AcknowledgementState) -> Text {
    match state {
        AcknowledgementState::Unacknowledged => Text::new(
            "이 알람은 아무도 확인하지 않은 상태였음",
            "Nobody had acknowledged the alarm",
        ),
        AcknowledgementState::Acknowledged { by, .. } => {
            Text::new(format!("이 알람의 확인자: {by}"), format!("{by} had acknowledged the alarm"))
        }
    }
}
