//! The last judgements, told in a sentence: "5일 전 정상 판정, 15일 전 Watch 판정 이력 존재".

use pdm_shared::diagnosis::MemoryUse;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;

use crate::case::Remembered;
use crate::wording::ago;

/// A stretch of judgements with one risk, newest and oldest.
struct Stretch {
    risk: RiskLevel,
    newest: Timestamp,
    oldest: Timestamp,
    count: usize,
}

/// Tells the recalled judgements, newest first.
pub fn tell(recent: &[Remembered], now: Timestamp) -> MemoryUse {
    if recent.is_empty() {
        return MemoryUse::default();
    }
    let told: Vec<Text> =
        stretches(recent).iter().map(|stretch| one(stretch, recent.len(), now)).collect();
    let ko: Vec<&str> = told.iter().map(|text| text.ko.as_str()).collect();
    let en: Vec<&str> = told.iter().map(|text| text.en.as_str()).collect();
    MemoryUse {
        used: u32::try_from(recent.len()).unwrap_or(u32::MAX),
        summary: Text::new(
            format!("{} 이력 존재", ko.join(", ")),
            format!("On record: {}", en.join(", ")),
        ),
    }
}

fn stretches(recent: &[Remembered]) -> Vec<Stretch> {
    let mut out: Vec<Stretch> = Vec::new();
    for judgement in recent {
        match out.last_mut() {
            Some(last) if last.risk == judgement.risk => {
                last.oldest = judgement.measured_at;
                last.count += 1;
            }
            _ => out.push(Stretch {
                risk: judgement.risk,
                newest: judgement.measured_at,
                oldest: judgement.measured_at,
                count: 1,
            }),
        }
    }
    out
}

fn one(stretch: &Stretch, all: usize, now: Timestamp) -> Text {
    let ko_risk = if stretch.risk == RiskLevel::Normal { "정상" } else { stretch.risk.as_str() };
    let en_risk = stretch.risk.as_str();
    let newest = ago(now.seconds_since(stretch.newest));
    let oldest = ago(now.seconds_since(stretch.oldest));
    let count = stretch.count;
    if count == 1 {
        return Text::new(
            format!("{} {ko_risk} 판정", newest.ko),
            format!("{en_risk} {}", newest.en),
        );
    }
    let latest = count == all;
    let ko_which = if latest { format!("최근 {count}건 모두") } else { format!("{count}회") };
    let (ko_span, en_span) = if newest == oldest {
        (newest.ko, newest.en)
    } else {
        (format!("{}부터 {}까지", oldest.ko, newest.ko), format!("{} to {}", oldest.en, newest.en))
    };
    if latest {
        Text::new(
            format!("{ko_which} {ko_risk} 판정({ko_span})"),
            format!("all of the last {count} {en_risk} ({en_span})"),
        )
    } else {
        Text::new(
            format!("{ko_span} {ko_risk} 판정 {ko_which}"),
            format!("{en_risk} {count} times ({en_span})"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(days_ago: f64, risk: RiskLevel) -> Remembered {
        let now = Timestamp::from_unix_ms(1_795_238_000_000).expect("in range");
        let measured_at = now.plus_seconds(-days_ago * 86_400.0);
        Remembered { measured_at, risk, stage: 0, fault: None }
    }

    fn tell_now(recent: &[Remembered]) -> Text {
        tell(recent, Timestamp::from_unix_ms(1_795_238_000_000).expect("in range")).summary
    }

    /// R-AGENT-9: the seed's own example.
    #[test]
    fn history_is_told_as_the_seed_tells_it() {
        let told = tell_now(&[at(5.2, RiskLevel::Normal), at(15.5, RiskLevel::Watch)]);
        assert_eq!(told.ko, "5일 전 정상 판정, 15일 전 Watch 판정 이력 존재");
        assert_eq!(told.en, "On record: Normal 5 days ago, Watch 15 days ago");
    }

    #[test]
    fn judgements_of_one_risk_in_a_row_are_told_together() {
        let recent =
            [at(1.5, RiskLevel::Watch), at(2.5, RiskLevel::Normal), at(3.5, RiskLevel::Normal)];
        assert_eq!(
            tell_now(&recent).ko,
            "1일 전 Watch 판정, 3일 전부터 2일 전까지 정상 판정 2회 이력 존재"
        );
        let all = [at(0.1, RiskLevel::Normal), at(0.2, RiskLevel::Normal)];
        assert_eq!(
            tell_now(&all).ko,
            "최근 2건 모두 정상 판정(4시간 전부터 2시간 전까지) 이력 존재"
        );
    }

    #[test]
    fn no_history_is_said_so() {
        assert_eq!(tell_now(&[]).ko, "이전 판정 이력 없음");
    }
}
