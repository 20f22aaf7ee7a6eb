//! The fields of the page of settings: the tables of `agent.toml` and their keys, with the words
//! and the form of each. Other keys (secrets, the broker, the store) are changed in the file
//! itself.

use pdm_shared::text::{Language, Text};
use toml::Value;

use super::settings_people::{GROUP, QUIET, RECIPIENT};
use crate::configuration::ConfigStep;
use crate::problem::Problem;

/// How a key's value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldKind {
    /// A text.
    Text,
    /// A number with or without a fraction.
    Number,
    /// A whole number.
    Count,
    /// Texts, with commas between them.
    List,
    /// A local time, as a browser's field writes it.
    Moment,
    /// One of these words.
    Choice(&'static [&'static str]),
}

/// A key of a table.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) key: &'static str,
    pub(super) kind: FieldKind,
    ko: &'static str,
    en: &'static str,
}

/// A table, or the tables of a list, that the page offers.
#[derive(Debug)]
pub(super) struct TableForm {
    /// The keys that lead to it from the table above.
    pub(super) way: &'static [&'static str],
    pub(super) is_list: bool,
    pub(super) ko: &'static str,
    pub(super) en: &'static str,
    pub(super) fields: &'static [Field],
    pub(super) below: &'static [Self],
}

/// A part of the page.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) word: &'static str,
    pub(super) tables: &'static [TableForm],
}

const LEVELS: FieldKind = FieldKind::Choice(&["Watch", "Warning", "Critical"]);
const ALL_LEVELS: FieldKind = FieldKind::Choice(&["Normal", "Watch", "Warning", "Critical"]);

pub(super) const fn field(
    key: &'static str,
    kind: FieldKind,
    ko: &'static str,
    en: &'static str,
) -> Field {
    Field { key, kind, ko, en }
}

use FieldKind::{Choice, Count, List, Moment, Number, Text as Words};

/// The parts of the page.
pub(super) static SECTIONS: [Section; 5] = [
    Section { word: "settings_thresholds", tables: &[NOTIFY, SILENCE, INTAKE] },
    Section { word: "settings_rota", tables: &[ROTA] },
    Section { word: "settings_people", tables: &[RECIPIENT, GROUP, QUIET] },
    Section { word: "settings_routes", tables: &[ROUTE] },
    Section { word: "settings_hooks", tables: &[HOOK] },
];

const NOTIFY: TableForm = TableForm {
    way: &["notify"],
    is_list: false,
    ko: "알림",
    en: "Notifications",
    fields: &[
        field("from", LEVELS, "알리는 최저 위험도", "Lowest risk that is told"),
        field("repeat_from", LEVELS, "다시 알리는 최저 위험도", "Lowest risk that is repeated"),
        field(
            "repeat_after_h",
            Number,
            "확인이 없을 때 다시 알리는 간격 (시간)",
            "Repeated without acknowledgement after (h)",
        ),
        field("repeat_limit", Count, "이 간격으로 다시 알리는 횟수", "Repeats at this interval"),
        field(
            "hold_h",
            Number,
            "단계가 내려간 뒤 다시 알리기까지 (시간)",
            "Time below a level before its return is told again (h)",
        ),
        field("hold_most_h", Number, "그 시간의 상한 (시간)", "The longest of these times (h)"),
        field(
            "over_h",
            Number,
            "정상으로 돌아온 뒤 종료를 알리기까지 (시간)",
            "Time without risk before the end is told (h)",
        ),
        field(
            "close_after_h",
            Number,
            "끝난 경보를 확인 없이 닫기까지 (시간)",
            "Ended alarms close without acknowledgement after (h)",
        ),
        field(
            "related_within_min",
            Number,
            "같은 원인의 경보를 함께 알리는 시간 (분)",
            "Alarms of one cause are told together within (min)",
        ),
        field(
            "group_wait_s",
            Number,
            "한 설비의 알림을 모으는 시간 (초)",
            "Messages of a machine wait for each other (s)",
        ),
        field(
            "sensor_after_h",
            Number,
            "측정값이 무효일 때 센서를 알리기까지 (시간)",
            "Invalid measurements are told after (h)",
        ),
        field(
            "give_up_after_h",
            Number,
            "보내지 못한 알림을 포기하기까지 (시간)",
            "Undeliverable messages are given up after (h)",
        ),
        field(
            "per_recipient_per_hour",
            Count,
            "채널마다 시간당 알림 수",
            "Messages of each channel in an hour",
        ),
        field(
            "changes_at",
            Words,
            "운전 변경을 모아 알리는 시각 (예: 08:00)",
            "Time of day at which operating changes are told (such as 08:00)",
        ),
        field(
            "zone",
            Words,
            "사업장의 시간대 (예: Asia/Seoul)",
            "Zone of the plant's clock (such as Asia/Seoul)",
        ),
    ],
    below: &[],
};

const SILENCE: TableForm = TableForm {
    way: &["silence"],
    is_list: false,
    ko: "게이트웨이 무응답",
    en: "Silent gateways",
    fields: &[
        field(
            "offline_after_s",
            Number,
            "연결이 끊긴 뒤 알리기까지 (초)",
            "Told after a lost connection (s)",
        ),
        field(
            "silent_after_s",
            Number,
            "측정이 오지 않을 때 알리기까지 (초)",
            "Told after no measurement for (s)",
        ),
        field(
            "store_after_s",
            Number,
            "저장소가 응답하지 않을 때 알리기까지 (초)",
            "Told after no answer of the store for (s)",
        ),
        field("risk", LEVELS, "알리는 위험도", "Risk that is told"),
    ],
    below: &[],
};

const INTAKE: TableForm = TableForm {
    way: &["intake"],
    is_list: false,
    ko: "측정 수신",
    en: "Intake of measurements",
    fields: &[
        field(
            "ahead_s",
            Number,
            "앞선 측정 시각의 허용 폭 (초)",
            "How far ahead of the clock a measurement may be (s)",
        ),
        field(
            "gap_lost_after_h",
            Number,
            "빠진 측정을 다시 요청하는 기간 (시간)",
            "Missing measurements are asked for during (h)",
        ),
    ],
    below: &[],
};

const ROTA: TableForm = TableForm {
    way: &["notify", "rota"],
    is_list: true,
    ko: "당직표",
    en: "Rota",
    fields: &[
        field("name", Words, "이름", "Name"),
        field("zone", Words, "시간대 (예: Asia/Seoul)", "Zone (such as Asia/Seoul)"),
        field("weeks", Count, "반복되는 주 수", "Weeks after which it begins anew"),
        field(
            "since",
            Words,
            "첫째 주의 하루 (예: 2026-11-23)",
            "A day of the first week (such as 2026-11-23)",
        ),
    ],
    below: &[
        TableForm {
            way: &["shift"],
            is_list: true,
            ko: "근무",
            en: "Shift",
            fields: &[
                field(
                    "days",
                    List,
                    "요일 (mon, tue, …; 비우면 매일)",
                    "Days (mon, tue, …; empty: every day)",
                ),
                field("from", Words, "시작 (예: 07:00)", "From (such as 07:00)"),
                field("to", Words, "끝 (예: 19:00)", "To (such as 19:00)"),
                field("week", Count, "몇째 주 (비우면 매주)", "Week (empty: every week)"),
                field("who", List, "당직자 (쉼표로 구분)", "Who (with commas between)"),
            ],
            below: &[],
        },
        TableForm {
            way: &["override"],
            is_list: true,
            ko: "대행",
            en: "Stands in",
            fields: &[
                field("from", Moment, "시작", "From"),
                field("to", Moment, "끝", "To"),
                field(
                    "who",
                    List,
                    "대행자 (쉼표로 구분; 비우면 아무도 없음)",
                    "Who (with commas between; empty: nobody)",
                ),
            ],
            below: &[],
        },
    ],
};

const ROUTE: TableForm = TableForm {
    way: &["notify", "route"],
    is_list: true,
    ko: "알림 경로",
    en: "Route",
    fields: &[
        field("name", Words, "이름", "Name"),
        field(
            "sites",
            List,
            "사업장 (쉼표로 구분, * 사용 가능; 비우면 모두)",
            "Sites (commas between, * allowed; empty: all)",
        ),
        field(
            "equipment",
            List,
            "설비 (쉼표로 구분, * 사용 가능; 비우면 모두)",
            "Machines (commas between, * allowed; empty: all)",
        ),
        field("from", ALL_LEVELS, "최저 위험도", "Lowest risk"),
        field("to", ALL_LEVELS, "최고 위험도", "Highest risk"),
        field("zone", Words, "시간대", "Zone"),
    ],
    below: &[TableForm {
        way: &["step"],
        is_list: true,
        ko: "차례",
        en: "Step",
        fields: &[
            field(
                "after_minutes",
                Count,
                "첫 알림에서 몇 분 뒤 (확인이 없을 때)",
                "Minutes after the first message, without acknowledgement",
            ),
            field(
                "to",
                List,
                "받는 사람·조·당직표·채널 (쉼표로 구분)",
                "People, groups, rotas, channels (commas between)",
            ),
        ],
        below: &[],
    }],
};

const HOOK: TableForm = TableForm {
    way: &["notify", "webhook"],
    is_list: true,
    ko: "웹훅",
    en: "Web hook",
    fields: &[
        field("name", Words, "이름", "Name"),
        field(
            "url",
            Words,
            "주소 (비밀이면 파일의 url_secret 사용)",
            "Address (where it is a secret: url_secret in the file)",
        ),
        field("format", Choice(&["generic", "slack", "teams"]), "형식", "Form"),
        field("preset", Words, "준비된 서비스 이름", "Prepared service"),
        field("to", Words, "번호·대화방·주제", "Number, chat or topic"),
        field("language", Choice(&["ko", "en", "both"]), "언어", "Language"),
        field("from", LEVELS, "최저 위험도", "Lowest risk"),
    ],
    below: &[],
};

impl TableForm {
    /// Returns the name of the table.
    pub(super) fn name(&self, language: Language) -> &'static str {
        if language == Language::Ko { self.ko } else { self.en }
    }
}

impl Field {
    /// Returns the name of the key.
    pub(super) fn name(&self, language: Language) -> &'static str {
        if language == Language::Ko { self.ko } else { self.en }
    }

    /// Returns a value as the form shows it; `None` for one that the form cannot show.
    pub(super) fn written(&self, value: &Value) -> Option<String> {
        match (self.kind, value) {
            (FieldKind::List, Value::Array(all)) => {
                let words: Option<Vec<&str>> = all.iter().map(Value::as_str).collect();
                Some(words?.join(", "))
            }
            (FieldKind::List, _) | (_, Value::Boolean(_) | Value::Array(_) | Value::Table(_)) => {
                None
            }
            (_, Value::String(text)) => Some(text.clone()),
            (_, Value::Integer(number)) => Some(number.to_string()),
            (_, Value::Float(number)) => Some(number.to_string()),
            (_, Value::Datetime(at)) => Some(at.to_string()),
        }
    }

    /// Returns the value that was typed; `None` where the field was left empty.
    pub(super) fn value(&self, typed: &str) -> Result<Option<Value>, Problem> {
        let typed = typed.trim();
        if typed.is_empty() {
            return Ok(None);
        }
        let wrong = |allowed: &str| Problem::parameter(self.key, typed, allowed);
        let value = match self.kind {
            FieldKind::Text | FieldKind::Moment => Value::String(typed.to_owned()),
            FieldKind::Count => {
                Value::Integer(typed.parse().map_err(|_error| wrong("a whole number"))?)
            }
            FieldKind::Number => {
                let number: f64 = typed.parse().map_err(|_error| wrong("a number"))?;
                if !number.is_finite() {
                    return Err(wrong("a number"));
                }
                Value::Float(number)
            }
            FieldKind::List => {
                let words = typed.split(',').map(str::trim).filter(|word| !word.is_empty());
                Value::Array(words.map(|word| Value::String(word.to_owned())).collect())
            }
            FieldKind::Choice(words) => {
                if !words.contains(&typed) {
                    return Err(wrong(&words.join(", ")));
                }
                Value::String(typed.to_owned())
            }
        };
        Ok(Some(value))
    }
}

/// The level of a choice in the reader's words; other words stand as they are.
pub(super) fn choice(word: &str, language: Language) -> String {
    let text = match word {
        "ko" => Text::new("한국어", "Korean"),
        "en" => Text::new("영어", "English"),
        "both" => Text::new("한국어와 영어", "Korean and English"),
        "generic" => Text::new("일반 (JSON)", "Generic (JSON)"),
        "slack" => Text::new("Slack", "Slack"),
        "teams" => Text::new("Teams", "Teams"),
        level => match level.parse::<pdm_shared::risk::RiskLevel>() {
            Ok(level) => level.label(),
            Err(_no_level) => return word.to_owned(),
        },
    };
    text.in_language(language).to_owned()
}

/// A table that the page offers, by its way in one word (`notify.rota.0.shift`): its form, the
/// steps to it, and the list's key where the word ends with a list.
pub(super) fn table_of(word: &str) -> Option<(&'static TableForm, Vec<ConfigStep>)> {
    let mut words = word.split('.').peekable();
    let mut steps = Vec::new();
    let mut offered: Vec<&'static TableForm> =
        SECTIONS.iter().flat_map(|section| section.tables).collect();
    loop {
        let mut way: Vec<&str> = Vec::new();
        let found = loop {
            way.push(words.next()?);
            if let Some(found) = offered.iter().find(|form| form.way == way) {
                // notify is a table and the first word of the ways of lists
                let is_longer = words.peek().is_some_and(|next| {
                    offered
                        .iter()
                        .any(|form| form.way.len() > way.len() && form.way[way.len()] == *next)
                });
                if !is_longer {
                    break *found;
                }
            }
        };
        steps.extend(way.iter().map(|key| ConfigStep::Key((*key).to_owned())));
        if found.is_list
            && let Some(number) = words.peek().and_then(|word| word.parse().ok())
        {
            words.next();
            steps.push(ConfigStep::At(number));
        }
        if words.peek().is_none() {
            return Some((found, steps));
        }
        if !matches!(steps.last(), Some(ConfigStep::At(_))) {
            return None;
        }
        offered = found.below.iter().collect();
    }
}

#[cfg(test)]
mod tests;
