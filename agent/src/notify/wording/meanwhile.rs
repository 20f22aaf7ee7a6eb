//! The words for what rose or resolved while staff was told nothing of a bearing.

use pdm_episode::Tell;
use pdm_routes::Zone;
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;

/// The end of a suppression, after which staff is told again.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ended<'a> {
    /// Somebody's shelf.
    Shelf,
    /// The work on its machine.
    Work,
    /// The silence of its gateway.
    GatewayLost,
    /// Another gateway measures the bearing than the one that is silent.
    GatewayReplaced,
    /// The alarm of this bearing, with which its own was told.
    Cause(&'a BearingKey),
    /// The time for which it may be told with the alarm of this bearing.
    Bound(&'a BearingKey),
}

impl Ended<'_> {
    fn words(self) -> Text {
        match self {
            Self::Shelf => Text::new("보류 종료", "end of its shelf"),
            Self::Work => Text::new("정비 작업 종료", "the work on the machine is over"),
            Self::GatewayLost => Text::new("게이트웨이 통신 복구", "its gateway is back"),
            Self::GatewayReplaced => Text::new(
                "다른 게이트웨이가 측정 중",
                "another gateway than the silent one measures it",
            ),
            Self::Bound(source) => {
                let (equipment, bearing) = (&source.equipment, &source.bearing);
                Text::new(
                    format!("{equipment} {bearing} 알람과 별도로 지속"),
                    format!("stands, besides the alarm of {equipment} {bearing}"),
                )
            }
            Self::Cause(source) => {
                let (equipment, bearing) = (&source.equipment, &source.bearing);
                Text::new(
                    format!("함께 알린 {equipment} {bearing} 알람 종료"),
                    format!("the alarm of {equipment} {bearing} that it was told with is over"),
                )
            }
        }
    }

    /// Says in which time staff was told nothing of this bearing by itself.
    fn meanwhile(self) -> Text {
        match self {
            Self::Cause(source) | Self::Bound(source) => {
                let (equipment, bearing) = (&source.equipment, &source.bearing);
                Text::new(
                    format!("{equipment} {bearing} 알람과 함께 알린 동안"),
                    format!("while it was told with {equipment} {bearing}"),
                )
            }
            Self::Shelf | Self::Work | Self::GatewayLost | Self::GatewayReplaced => {
                Text::new("알림이 보류된 동안", "while staff was told nothing")
            }
        }
    }
}

/// Title and body at the end of a suppression: what rose or resolved meanwhile.
pub(in crate::notify) fn meanwhile(
    key: &BearingKey,
    tell: Tell,
    stands: RiskLevel,
    (until, ended): (Timestamp, Ended<'_>),
    zone: Zone,
) -> (Text, Text) {
    let (equipment, bearing) = (&key.equipment, &key.bearing);
    let at = zone.in_words(until);
    let now = stands.label();
    let (meanwhile, ended) = (ended.meanwhile(), ended.words());
    let (level, what) = match tell {
        Tell::Raised(level) | Tell::Insisted(level) | Tell::Developed(level) => (
            level,
            Text::new(
                format!("{} 위험도가 상승해 현재도 유지됨", meanwhile.ko),
                format!("The risk rose {}, and stands", meanwhile.en),
            ),
        ),
        Tell::Passed(level) => (
            level,
            Text::new(
                format!("{} 위험도가 상승했다가 내려감. 현재 위험도: {}", meanwhile.ko, now.ko),
                format!("The risk rose {}, and fell. It is now {}", meanwhile.en, now.en),
            ),
        ),
        Tell::Cleared(level) => (
            level,
            Text::new(format!("{} 해제됨", meanwhile.ko), format!("It was over {}", meanwhile.en)),
        ),
    };
    let label = level.label();
    let title = Text::new(
        format!("[{}] {equipment} {bearing} {}", label.ko, ended.ko),
        format!("[{}] {equipment} {bearing}: {}", label.en, ended.en),
    );
    let body = Text::new(
        format!("{}\n{}: {at}\n조치: 베어링 상태와 최근 판정 확인", what.ko, ended.ko),
        format!(
            "{}\nAt {at}: {}\nAction: look at the bearing and its last judgement",
            what.en, ended.en
        ),
    );
    (title, body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_ended_is_named_by_its_own_kind() {
        let key = |bearing| BearingKey::parse("ulsan-1", "P-101", bearing).expect("names");
        let (own, source) = (key("NDE"), key("DE"));
        let at = Timestamp::from_unix_ms(0).expect("epoch");
        let words = |ended| {
            let told = Tell::Raised(RiskLevel::Watch);
            meanwhile(&own, told, RiskLevel::Watch, (at, ended), Zone::default())
        };
        let title = |ended| words(ended).0.en;
        let body = |ended| words(ended).1.en;
        assert_eq!(title(Ended::Shelf), "[Watch] P-101 NDE: end of its shelf");
        assert_eq!(title(Ended::Work), "[Watch] P-101 NDE: the work on the machine is over");
        assert_eq!(title(Ended::GatewayLost), "[Watch] P-101 NDE: its gateway is back");
        assert_eq!(
            title(Ended::Cause(&source)),
            "[Watch] P-101 NDE: the alarm of P-101 DE that it was told with is over"
        );
        assert!(body(Ended::Shelf).starts_with("The risk rose while staff was told nothing, and"));
        let told_with = body(Ended::Cause(&source));
        assert!(told_with.starts_with("The risk rose while it was told with P-101 DE, and stands"));
    }
}
