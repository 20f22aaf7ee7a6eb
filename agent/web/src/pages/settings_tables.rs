//! The tables of `agent.toml` that the page of settings offers, and their keys with their words.
//! Other keys (secrets, the broker, the store) are changed in the file itself, and so are the ways
//! by which a hook reaches a person (`hooks`), a list of tables in a line; they stay as they are.

use super::settings_fields::FieldKind::{self, Choice, Count, List, Moment, Number, Text as Words};
use super::settings_fields::{Section, TableForm, field};

const LEVELS: FieldKind = FieldKind::Choice(&["Watch", "Warning", "Critical"]);
const ALL_LEVELS: FieldKind = FieldKind::Choice(&["Normal", "Watch", "Warning", "Critical"]);

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
            "bearing_after_s",
            Number,
            "베어링 하나의 측정이 끊긴 뒤 알리기까지 (초)",
            "Told after one bearing is not measured for (s)",
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
                    "요일 (월, 화, …; 비우면 매일)",
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

const RECIPIENT: TableForm = TableForm {
    way: &["notify", "recipient"],
    is_list: true,
    ko: "사람",
    en: "Person",
    fields: &[
        field("name", Words, "이름 (당직표와 경로에서 쓰는 이름)", "Name (as in rotas and routes)"),
        field("email", Words, "전자우편 주소", "E-mail address"),
    ],
    below: &[],
};

const GROUP: TableForm = TableForm {
    way: &["notify", "group"],
    is_list: true,
    ko: "그룹",
    en: "Group",
    fields: &[
        field("name", Words, "이름", "Name"),
        field(
            "members",
            List,
            "구성원: 사람이나 채널 (쉼표로 구분)",
            "Members: people or channels (with commas between)",
        ),
    ],
    below: &[],
};

const QUIET: TableForm = TableForm {
    way: &["notify", "quiet"],
    is_list: true,
    ko: "주의 알림을 미루는 시간",
    en: "Hours in which a Watch waits",
    fields: &[
        field(
            "days",
            List,
            "요일 (월, 화, …; 비우면 매일)",
            "Days (mon, tue, …; empty: every day)",
        ),
        field("from", Words, "시작 (예: 22:00)", "From (such as 22:00)"),
        field("to", Words, "끝 (예: 07:00)", "To (such as 07:00)"),
    ],
    below: &[],
};
