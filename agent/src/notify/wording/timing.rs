//! The words for a gateway's times: a clock that was moved, windows at another period.

use pdm_expert::wording::figure;
use pdm_routes::Zone;
use pdm_shared::event::{Event, PeriodChange, Timing};
use pdm_shared::id::{GatewayId, GatewayKey};
use pdm_shared::text::Text;

/// A year, s.
const YEAR_S: f64 = 365.25 * 86_400.0;

/// Title and body when the edge noticed either; both in one message if both came with one window.
pub(in crate::notify) fn timing(
    event: &Event,
    timing: &Timing,
    zone: Zone,
) -> Option<(Text, Text)> {
    let clock = timing.clock_moved_s.map(|moved_s| clock(event, moved_s, zone));
    let period = timing.period.as_ref().map(|period| another_period(event, period, zone));
    match (clock, period) {
        (Some((title, clock)), Some((_, period))) => {
            let both = |a: &str, b: &str| format!("{a}\n{b}");
            Some((title, Text::new(both(&clock.ko, &period.ko), both(&clock.en, &period.en))))
        }
        (clock, period) => clock.or(period),
    }
}

fn clock(event: &Event, moved_s: f64, zone: Zone) -> (Text, Text) {
    let gateway = &event.gateway_id;
    let by = length(moved_s.abs());
    let (ko, en) = if moved_s > 0.0 { ("앞으로", "ahead") } else { ("뒤로", "back") };
    let title = Text::new(
        format!("[시계] 게이트웨이 {gateway}: 시각이 {ko} 바뀜"),
        format!("[Clock] gateway {gateway}: the time was set {en}"),
    );
    let now = super::since(event.measured_at, zone);
    let body = Text::new(
        format!(
            "약 {} {ko} 바뀜. {} (바뀐 시각 기준)\n조치: 게이트웨이의 시각 동기(NTP) 확인. 측정은 계속되며 진동 경보가 아님. 바뀌기 전후의 \
             시각은 서로 맞지 않음",
            by.ko, now.ko
        ),
        format!(
            "Moved {en} by about {}. {} (by the new time)\nAction: check the gateway's time \
             service (NTP). Measuring goes on, this is no vibration alarm; times before and after \
             the change do not fit together",
            by.en, now.en
        ),
    );
    (title, body)
}

fn another_period(event: &Event, period: &PeriodChange, zone: Zone) -> (Text, Text) {
    let gateway = &event.gateway_id;
    let (equipment, bearing) = (&event.equipment_id, &event.bearing_id);
    let (before, after) = (length(period.before_s), length(period.after_s));
    let title = Text::new(
        format!("[측정 간격] 게이트웨이 {gateway}: {}에서 {}(으)로 바뀜", before.ko, after.ko),
        format!("[Period] gateway {gateway}: a window each {} instead of {}", after.en, before.en),
    );
    let since = super::since(period.since, zone);
    let body = Text::new(
        format!(
            "{equipment} {bearing} 및 같은 입력의 측정점. {}\n조치: 의도한 변경인지 확인. 경보는 여러 번의 측정으로 확정되므로, 간격이 \
             길어지면 경보까지의 시간도 그만큼 길어짐",
            since.ko
        ),
        format!(
            "{equipment} {bearing} and the other points of its source. {}\nAction: check whether \
             this is meant. An alarm wants several windows, so with longer pauses it comes as much \
             later",
            since.en
        ),
    );
    (title, body)
}

/// Title and body when events of a gateway lie ahead of the agent's clock.
pub(in crate::notify) fn ahead(gateway: &GatewayId, by_s: f64) -> (Text, Text) {
    let by = length(by_s);
    (
        Text::new(
            format!("[시계] 게이트웨이 {gateway}: 시각이 {} 앞섬", by.ko),
            format!("[Clock] gateway {gateway}: its time is {} ahead", by.en),
        ),
        Text::new(
            format!(
                "측정 시각이 에이전트의 시계보다 약 {} 앞섬. 측정값은 판정되고 경보도 전송되지만 추세와 마지막 측정에는 쓰이지 않음\n조치: 게이트웨이와 \
                 에이전트의 시각 동기(NTP) 확인. 진동 경보가 아님",
                by.ko
            ),
            format!(
                "Its measurements are about {} ahead of the agent's clock. They are judged and \
                 alarms are sent, but they move neither trends nor the last measurement\nAction: \
                 check the time service (NTP) of the gateway and of the agent; this is no \
                 vibration alarm",
                by.en
            ),
        ),
    )
}

/// Returns the line of health on a clock that is ahead.
pub(in crate::notify) fn ahead_line(gateway: &GatewayKey, by_s: f64) -> String {
    format!(
        "the clock of gateway {gateway} is about {} ahead of the agent's: check the time service \
         of both",
        length(by_s).en
    )
}

/// Title and body when events of a gateway lie behind the agent's clock for long.
pub(in crate::notify) fn behind(gateway: &GatewayId, by_s: f64) -> (Text, Text) {
    let by = length(by_s);
    (
        Text::new(
            format!("[시계] 게이트웨이 {gateway}: 시각이 {} 늦음", by.ko),
            format!("[Clock] gateway {gateway}: its time is {} behind", by.en),
        ),
        Text::new(
            format!(
                "지금 보내는 측정값의 시각이 에이전트의 시계보다 약 {} 늦음. 측정값은 판정되고 경보도 전송되지만 추세와 화면에 지난 시각으로 나타남\n조치: \
                 게이트웨이와 에이전트의 시각 동기(NTP) 확인. 진동 경보가 아님",
                by.ko
            ),
            format!(
                "What it sends live was measured about {} before the agent's clock. It is judged \
                 and alarms are sent, but it stands in the past in trends and on the \
                 pages\nAction: check the time service (NTP) of the gateway and of the agent; this \
                 is no vibration alarm",
                by.en
            ),
        ),
    )
}

/// Returns the line of health on a clock that is behind.
pub(in crate::notify) fn behind_line(gateway: &GatewayKey, by_s: f64) -> String {
    format!(
        "the clock of gateway {gateway} is about {} behind the agent's: check the time service of \
         both",
        length(by_s).en
    )
}

/// A length of time in the unit that people would choose.
fn length(seconds: f64) -> Text {
    let (value, ko, en) = match seconds {
        s if s < 120.0 => (s, "초", "s"),
        s if s < 7200.0 => (s / 60.0, "분", "min"),
        s if s < 48.0 * 3600.0 => (s / 3600.0, "시간", "h"),
        s if s < 2.0 * YEAR_S => (s / 86_400.0, "일", "days"),
        s => (s / YEAR_S, "년", "years"),
    };
    let value = figure(value);
    Text::new(format!("{value}{ko}"), format!("{value} {en}"))
}
