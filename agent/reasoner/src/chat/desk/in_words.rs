//! A bearing of a list in words: its name, its risk, its line, and when it reached its level.

use pdm_shared::episode::Suppression;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Language;
use pdm_shared::time::Timestamp;

use super::{CoreFields, StandingAlarm, Watch};
use crate::chat::reader::Reader;

impl CoreFields {
    /// `P-101 · DE`; with the site before it where the plant has several.
    pub(in crate::chat) fn name(&self) -> String {
        if self.is_of_many_sites {
            format!("{} {}", self.key.site, self.name_at_site())
        } else {
            self.name_at_site()
        }
    }

    /// `P-101 · DE`
    pub(in crate::chat) fn name_at_site(&self) -> String {
        format!("{} · {}", self.key.equipment, self.key.bearing)
    }

    /// The order of a list, worst first: by risk, then what cannot be judged now, stage, and the
    /// shortest life left.
    pub(in crate::chat) fn worst_first(&self, other: &Self) -> std::cmp::Ordering {
        let life = |core: &Self| core.rul_hours.unwrap_or(f64::INFINITY);
        let of = |core: &Self| (core.risk, core.is_unseen(), core.stage);
        of(other).cmp(&of(self)).then(life(self).total_cmp(&life(other)))
    }

    /// Whether nothing can be said of it now: it was judged Normal before it stood still or lost
    /// its sensor.
    pub(in crate::chat) fn is_unseen(&self) -> bool {
        self.risk == RiskLevel::Normal && self.watch != Watch::Judged
    }

    /// Whether the advice of its last judgement is of now: of a machine that cannot be judged now
    /// none is that lets it run.
    pub(in crate::chat) fn is_advised(&self) -> bool {
        self.watch == Watch::Judged || self.risk >= RiskLevel::Warning
    }

    /// By which measurement it first reached the level at which it stands; none where that is not
    /// known.
    pub(in crate::chat) fn level_since(&self) -> Option<Timestamp> {
        self.risen.iter().find(|(level, _)| *level == self.risk).map(|(_, at)| *at)
    }

    /// `, 위험 도달 2026-11-27 08:00 KST(측정)`, where it reached its level later than it became
    /// abnormal.
    pub(in crate::chat) fn reached_in_words(&self, reader: Reader) -> String {
        let later = self.level_since().filter(|at| Some(*at) != self.abnormal_since);
        let Some(at) = later.map(|at| reader.clock_time(at)) else { return String::new() };
        let label = self.risk.label();
        let label = label.in_language(reader.language);
        match reader.language {
            Language::Ko => format!(", {label} 도달 {at}(측정)"),
            Language::En => format!(", reached {label} {at} (measured)"),
        }
    }

    /// Returns its risk in a word; for a bearing that cannot be judged now, says that it cannot.
    pub(in crate::chat) fn risk_in_words(&self, language: Language) -> String {
        let label = self.risk.label();
        let risk = label.in_language(language);
        let (unseen, also) = match (&self.watch, language) {
            (Watch::Judged, _) => return risk.to_owned(),
            (Watch::Standing { .. }, Language::Ko) => ("판정할 수 없음(정지 중)", "지금은 정지 중"),
            (Watch::Standing { .. }, Language::En) => {
                ("cannot be judged (it stands still)", "standing still now")
            }
            (Watch::Silent { gateway: None, .. }, Language::Ko) => {
                ("판정할 수 없음(측정이 멈춤)", "지금은 측정되지 않음")
            }
            (Watch::Silent { gateway: None, .. }, Language::En) => {
                ("cannot be judged (its measuring stopped)", "not measured now")
            }
            (Watch::Silent { .. }, Language::Ko) => {
                ("판정할 수 없음(게이트웨이 통신 두절)", "지금은 측정되지 않음")
            }
            (Watch::Silent { .. }, Language::En) => {
                ("cannot be judged (its gateway is offline)", "not measured now")
            }
            (Watch::Invalid { .. }, Language::Ko) => {
                ("판정할 수 없음(측정값 무효)", "지금은 측정값 무효")
            }
            (Watch::Invalid { .. }, Language::En) => {
                ("cannot be judged (its measurements are not valid)", "not validly measured now")
            }
        };
        if self.is_unseen() { unseen.to_owned() } else { format!("{risk}({also})") }
    }

    /// One line: risk, fault, stage, remaining life, alarm.
    pub(in crate::chat) fn line(&self, language: Language) -> String {
        let is_korean = language == Language::Ko;
        let mut parts = vec![self.risk_in_words(language)];
        if let Some(fault) = self.fault {
            parts.push(pdm_expert::wording::element(fault).in_language(language).to_owned());
        }
        let (stage, hours) = (self.stage, self.rul_hours);
        parts.push(if is_korean {
            format!("P-F {stage}단계")
        } else {
            format!("P-F stage {stage}")
        });
        parts.push(match (hours, is_korean) {
            (Some(hours), true) => format!("잔여수명 {hours:.0}시간"),
            (Some(hours), false) => format!("remaining life {hours:.0} h"),
            (None, true) => "잔여수명 미상".to_owned(),
            (None, false) => "remaining life unknown".to_owned(),
        });
        if let Some(alarm) = &self.alarm {
            parts.push(alarm.in_words(language));
        }
        parts.extend(self.suppressed_in_words(language).map(str::to_owned));
        format!("{}: {}", self.full_name(language), parts.join(", "))
    }

    /// Says that staff is not told, in two words.
    pub(in crate::chat) fn suppressed_in_words(&self, language: Language) -> Option<&'static str> {
        Some(match (&self.suppression, language) {
            (Suppression::None, _) => return None,
            (Suppression::Shelved { .. }, Language::Ko) => "보류됨",
            (Suppression::Shelved { .. }, Language::En) => "shelved",
            (Suppression::ByDesign { .. }, Language::Ko) => "다른 경보와 함께 알림",
            (Suppression::ByDesign { .. }, Language::En) => "told with another alarm",
            (Suppression::OutOfService { .. }, Language::Ko) => "정비 중",
            (Suppression::OutOfService { .. }, Language::En) => "out of service",
        })
    }

    /// `P-101 · DE (냉각수 펌프)`
    pub(in crate::chat) fn full_name(&self, language: Language) -> String {
        match &self.machine_name {
            Some(name) => format!("{} ({})", self.name(), name.in_language(language)),
            None => self.name(),
        }
    }
}

impl StandingAlarm {
    /// Whether it is acknowledged, and by whom.
    pub(in crate::chat) fn in_words(&self, language: Language) -> String {
        match (&self.acknowledged_by, language) {
            (Some(by), Language::Ko) => format!("경보 확인됨({by})"),
            (Some(by), Language::En) => format!("alarm acknowledged by {by}"),
            (None, Language::Ko) => "경보 미확인".to_owned(),
            (None, Language::En) => "alarm not acknowledged".to_owned(),
        }
    }
}
