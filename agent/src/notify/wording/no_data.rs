//! The words for bearings of which nothing comes while their gateway goes on.

use pdm_routes::Zone;
use pdm_shared::id::{BearingKey, GatewayId, GatewayKey};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;

/// Bearings that a message names.
const NAMED: usize = 20;

/// A bearing of which nothing comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::notify) struct Unheard {
    pub(in crate::notify) key: BearingKey,
    /// When it was heard last.
    pub(in crate::notify) last_at: Timestamp,
    /// The level that stands of it, and whether somebody has acknowledged it.
    pub(in crate::notify) stands: Option<(RiskLevel, bool)>,
}

impl Unheard {
    /// The bearing, since when nothing comes of it, and what stands of its alarm.
    fn line(&self, zone: Zone) -> Text {
        let (name, at) = (self.key.within_site(), zone.in_words(self.last_at));
        let mut line =
            Text::new(format!("{name}: 마지막 측정 {at}"), format!("{name}: last window {at}"));
        if let Some((level, is_acknowledged)) = self.stands {
            let label = level.label();
            let (ko, en) = if is_acknowledged {
                ("확인됨", "acknowledged")
            } else {
                ("미확인", "not acknowledged")
            };
            line.ko = format!("{}. {} 알람 지속({ko}), 더 이상 감시되지 않음", line.ko, label.ko);
            line.en =
                format!("{}. Its {} stands ({en}) and is no longer watched", line.en, label.en);
        }
        line
    }
}

/// Title and body where nothing of some bearings comes while their gateway goes on; `trouble` is
/// what the gateway says of itself.
pub(in crate::notify) fn no_data(
    gateway: &GatewayId,
    silent: &[Unheard],
    trouble: Option<&str>,
    zone: Zone,
) -> (Text, Text) {
    let lines: Vec<Text> = silent.iter().take(NAMED).map(|one| one.line(zone)).collect();
    let (more_ko, more_en) = more_of(silent.len().saturating_sub(lines.len()));
    let join = |part: fn(&Text) -> &str| lines.iter().map(part).collect::<Vec<_>>().join("\n");
    let (lines_ko, lines_en) = (join(|line| &line.ko), join(|line| &line.en));
    let first = silent.first().map_or_else(String::new, |one| one.key.to_string());
    let says = trouble.map_or_else(
        || Text::new("", ""),
        |trouble| {
            Text::new(
                format!("\n게이트웨이 보고: {trouble}"),
                format!("\nThe gateway says: {trouble}"),
            )
        },
    );
    let body = Text::new(
        format!(
            "게이트웨이 {gateway}는 다른 측정값을 보내지만 아래 베어링의 측정값이 오지 않음. 감시되지 않으며 기존 위험도는 \
             유지됨\n{lines_ko}{more_ko}{}\n조치: 센서·케이블·배터리와 게이트웨이의 해당 소스 확인(`pdm-edge check`), 그동안 \
             설비를 직접 점검. 정비 중이면 `pdm-agent shelve {first}`, 철거했으면 `pdm-agent forget {first}`",
            says.ko
        ),
        format!(
            "Gateway {gateway} sends other bearings, and nothing of these. They are not watched; \
             their standing risks are kept\n{lines_en}{more_en}{}\nAction: check sensor, cable and \
             battery, and its source at the gateway (`pdm-edge check`); look at the machine \
             meanwhile. Under work: `pdm-agent shelve {first}`; taken out of use: `pdm-agent \
             forget {first}`",
            says.en
        ),
    );
    (title_of(gateway, silent), body)
}

fn title_of(gateway: &GatewayId, silent: &[Unheard]) -> Text {
    let is_critical = |one: &Unheard| one.stands.is_some_and(|(at, _)| at == RiskLevel::Critical);
    let critical = silent.iter().filter(|one| is_critical(one)).count();
    let (stands_ko, stands_en) =
        if critical > 0 { (" (위험 알람 지속)", " (its Critical stands)") } else { ("", "") };
    if let [one] = silent {
        let (machine, bearing) = (&one.key.equipment, &one.key.bearing);
        return Text::new(
            format!("[무측정] {machine} {bearing} 측정값이 오지 않음{stands_ko}"),
            format!("[No data] {machine} {bearing}: nothing is measured{stands_en}"),
        );
    }
    // whoever reads no more than the title has to read of the Criticals
    let mut first: Vec<&Unheard> = silent.iter().collect();
    first.sort_by_key(|one| !is_critical(one));
    let names: Vec<String> = first.iter().take(3).map(|one| one.key.within_site()).collect();
    let (more_ko, more_en) = more_of(silent.len().saturating_sub(names.len()));
    let names = names.join(", ");
    let stands_en = if critical > 0 { " (a Critical stands)" } else { stands_en };
    Text::new(
        format!("[무측정] 게이트웨이 {gateway}: {names}{more_ko}{stands_ko}"),
        format!("[No data] gateway {gateway}: {names}{more_en}{stands_en}"),
    )
}

fn more_of(left: usize) -> (String, String) {
    match left {
        0 => (String::new(), String::new()),
        left => (format!(" 외 {left}개"), format!(" and {left} more")),
    }
}

/// Title and body where all of these bearings are measured again.
pub(in crate::notify) fn words_of_data(named: &[String]) -> (Text, Text) {
    let names = names_of(named);
    (
        Text::new(format!("[측정 복구] {}", names.ko), format!("[Back] {}", names.en)),
        Text::new("측정 수신이 재개됨", "Windows come in again"),
    )
}

/// Title and body where windows of some of these bearings are no longer expected.
pub(in crate::notify) fn no_longer_watched(named: &[String]) -> (Text, Text) {
    let names = names_of(named);
    (
        Text::new(
            format!("[해제] 무측정: {}", names.ko),
            format!("[Cleared] no data: {}", names.en),
        ),
        Text::new(
            "다시 측정되거나, 정비·보류·정지·철거·측정 제외로 측정값을 기다리지 않음",
            "They are measured again, or no windows are expected: out of service, shelved, \
             standing, taken out or not in the gateway's configuration",
        ),
    )
}

fn names_of(named: &[String]) -> Text {
    let names: Vec<&str> = named
        .iter()
        .take(3)
        .map(|name| name.split_once('/').map_or(name.as_str(), |(_, within)| within))
        .collect();
    let (more_ko, more_en) = more_of(named.len().saturating_sub(names.len()));
    let names = names.join(", ");
    Text::new(format!("{names}{more_ko}"), format!("{names}{more_en}"))
}

/// Returns the line of health on the bearings of a gateway of which nothing comes; it names the
/// first `shown`.
pub(in crate::notify) fn no_data_line(
    gateway: &GatewayKey,
    silent: &[Unheard],
    shown: usize,
) -> String {
    let names: Vec<String> =
        silent.iter().take(shown).map(|one| format!("{} since {}", one.key, one.last_at)).collect();
    let (_, more) = more_of(silent.len().saturating_sub(names.len()));
    format!("gateway {gateway} goes on without bearings: {}{more}", names.join(", "))
}
