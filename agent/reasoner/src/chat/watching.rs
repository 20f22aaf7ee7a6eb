//! Tells what is known of a bearing that cannot be judged now, because its machine stands still or
//! its sensor is dead. Such a bearing is never called sound, whatever its last judgement was.

use pdm_shared::event::QualityFlag;
use pdm_shared::text::{Language, Text};
use pdm_shared::time::Timestamp;

use super::desk::{CoreFields, Focus, GatewayLine, Watch};
use super::plant_records;
use super::reader::Reader;

/// Says that a bearing cannot be judged now, since when and why; `None` for one that can.
pub(super) fn unseen(core: &CoreFields, reader: Reader) -> Option<String> {
    let language = reader.language;
    let (since, is_longer, flags) = match &core.watch {
        Watch::Judged => return None,
        Watch::Silent { since, gateway: Some(gateway) } => {
            return Some(silent(core, *since, gateway, reader));
        }
        Watch::Silent { since, gateway: None } => return Some(stopped(core, *since, reader)),
        Watch::Standing { since, is_longer } => (*since, *is_longer, None),
        Watch::Invalid { since, is_longer, flags } => (*since, *is_longer, Some(flags)),
    };
    let at = reader.clock_time(since);
    let since = match (is_longer, language) {
        (false, Language::Ko) => format!("{at}부터"),
        (false, Language::En) => format!("since {at}"),
        (true, Language::Ko) => format!("{at} 이전부터"),
        (true, Language::En) => format!("since before {at}"),
    };
    let name = core.full_name(language);
    Some(match (flags, language) {
        (None, Language::Ko) => {
            format!(
                "주의: {name}의 설비는 {since} 정지해 있습니다. 정지해 있는 동안은 판정하지 않으므로 지금 정상인지는 알 수 없습니다."
            )
        }
        (None, Language::En) => format!(
            "Mind: the machine of {name} stands still {since}. It is not judged meanwhile, so \
             whether it is sound now is not known."
        ),
        (Some(flags), Language::Ko) => format!(
            "주의: {name}의 측정값은 {since} 모두 무효입니다{}. 그동안 감시되지 않으므로 지금 상태는 알 수 없습니다. 센서와 케이블을 점검하십시오.",
            reasons(flags, language)
        ),
        (Some(flags), Language::En) => format!(
            "Mind: no measurement of {name} is valid {since}{}. It is not watched meanwhile, so \
             its state now is not known. Check the sensor and its cable.",
            reasons(flags, language)
        ),
    })
}

/// Says that nothing is measured of a bearing, since when, and by which gateway it should be.
fn silent(core: &CoreFields, since: Option<Timestamp>, gateway: &str, reader: Reader) -> String {
    let (name, language) = (core.full_name(reader.language), reader.language);
    let last = since.map(|at| reader.clock_time(at));
    match (last, language) {
        (Some(at), Language::Ko) => format!(
            "주의: {name}의 측정값이 {at} 뒤로 들어오지 않습니다. 게이트웨이 {gateway}의 통신이 끊겨 있어 지금 상태는 알 수 없습니다."
        ),
        (Some(at), Language::En) => format!(
            "Mind: nothing has come in of {name} since {at}. Its gateway {gateway} is offline, so \
             its state now is not known."
        ),
        (None, Language::Ko) => format!(
            "주의: {name}의 측정값이 들어오지 않습니다. 게이트웨이 {gateway}의 통신이 끊겨 있습니다."
        ),
        (None, Language::En) => {
            format!("Mind: {name} is not measured. Its gateway {gateway} is offline.")
        }
    }
}

/// Says that the measuring of a bearing stopped, while its gateway is not told to be offline.
fn stopped(core: &CoreFields, since: Option<Timestamp>, reader: Reader) -> String {
    let (name, language) = (core.full_name(reader.language), reader.language);
    let at = since.map(|at| reader.clock_time(at)).unwrap_or_default();
    match language {
        Language::Ko => format!(
            "주의: {name}의 측정값이 {at} 뒤로 들어오지 않습니다. 평소 간격보다 오래되어 지금 \
             상태는 알 수 없습니다. 센서, 케이블, 게이트웨이를 점검하십시오."
        ),
        Language::En => format!(
            "Mind: nothing has come in of {name} since {at}, which is longer than usual, so its \
             state now is not known. Check the sensor, its cable and the gateway."
        ),
    }
}

/// Notes at each bearing whose gateway is told to be offline that nothing is measured of it.
pub(super) fn mark_silent<'a>(
    fleet: impl Iterator<Item = &'a mut CoreFields>,
    gateways: &[GatewayLine],
) {
    for core in fleet {
        let is_its =
            |one: &&GatewayLine| one.is_online == Some(false) && plant_records::measures(one, core);
        if let Some(gateway) = gateways.iter().find(is_its) {
            let (since, gateway) = (core.measured_at, Some(gateway.name.clone()));
            core.watch = Watch::Silent { since, gateway };
        }
    }
}

/// ` (센서 출력이 움직이지 않음, flat_line)`; nothing without a flag.
fn reasons(flags: &[QualityFlag], language: Language) -> String {
    let told: Vec<String> = flags
        .iter()
        .map(|flag| {
            let word = serde_json::to_value(flag).ok();
            let word = word.as_ref().and_then(|word| word.as_str()).unwrap_or_default().to_owned();
            format!("{}, {word}", in_words(*flag).in_language(language))
        })
        .collect();
    if told.is_empty() { String::new() } else { format!(" ({})", told.join("; ")) }
}

fn in_words(flag: QualityFlag) -> Text {
    match flag {
        QualityFlag::NotFinite => Text::new("숫자가 아닌 값", "values that are no numbers"),
        QualityFlag::Clipping => {
            Text::new("측정 범위를 벗어나 잘림", "clipped at the converter's limits")
        }
        QualityFlag::FlatLine => Text::new("신호가 움직이지 않음", "the signal does not move"),
        QualityFlag::DropOut => Text::new(
            "같은 값이 이어짐(신호 끊김 또는 분해능 부족)",
            "stretches of identical samples (drop-out or too coarse a resolution)",
        ),
        QualityFlag::DcDrift => Text::new("영점이 흐름", "the mean drifts"),
        QualityFlag::SkiSlope => Text::new("저주파 왜곡", "distorted at low frequencies"),
        QualityFlag::WrongRate => Text::new("표본 수가 맞지 않음", "a wrong number of samples"),
        QualityFlag::MachineOff => Text::new("설비 정지", "the machine is off"),
        QualityFlag::TooShort => Text::new("측정이 너무 짧음", "too short"),
        QualityFlag::Implausible => {
            Text::new("비현실적 값(단위·배율 확인)", "levels that no bearing reaches")
        }
    }
}

/// Answers the question whether such a machine may run.
pub(super) const fn cannot_say(language: Language) -> &'static str {
    match language {
        Language::Ko => {
            "돌려도 되는지 제 기록으로는 말할 수 없습니다. 유효한 측정이 다시 들어온 뒤에 판정할 수 있습니다."
        }
        Language::En => {
            "My records cannot say whether it may run. It can be judged again after a valid \
             measurement."
        }
    }
}

/// The machines that stand still.
pub(super) fn standing(fleet: &[CoreFields], reader: Reader) -> String {
    let language = reader.language;
    let of = fleet.iter().filter(|core| matches!(core.watch, Watch::Standing { .. }));
    let lines: Vec<String> =
        of.filter_map(|core| unseen(core, reader)).map(|line| format!("- {line}")).collect();
    match (lines.is_empty(), language) {
        (true, Language::Ko) => "마지막 측정에서 정지해 있던 설비가 없습니다.".to_owned(),
        (true, Language::En) => "No machine stood still in its last measurement.".to_owned(),
        (false, Language::Ko) => format!("정지해 있는 설비:\n{}", lines.join("\n")),
        (false, Language::En) => format!("Machines that stand still:\n{}", lines.join("\n")),
    }
}

/// The temperature in the last window.
pub(super) fn temperature(focus: &Focus, language: Language) -> Option<String> {
    let celsius = focus.record.temperature_c?;
    Some(match language {
        Language::Ko => format!("온도 {celsius:.1} °C"),
        Language::En => format!("Temperature {celsius:.1} °C"),
    })
}

/// The answer to a question for the temperature of a bearing.
pub(super) fn temperature_asked(focus: &Focus, reader: Reader) -> String {
    let language = reader.language;
    let name = focus.core.full_name(language);
    let at = focus.core.measured_at.map(|at| reader.clock_time(at)).unwrap_or_default();
    match (temperature(focus, language), language) {
        (Some(told), _) => format!("{name}: {told} ({at})"),
        (None, Language::Ko) => format!("{name}: 마지막 측정({at})에는 온도가 없습니다."),
        (None, Language::En) => format!("{name}: the last measurement ({at}) has no temperature."),
    }
}
