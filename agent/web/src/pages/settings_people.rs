//! The fields of the page of settings for people, groups and quiet hours. The ways by which a hook
//! reaches a person (`hooks`) are a list of tables in a line and are changed in the file itself;
//! they stay as they are.

use super::settings_fields::FieldKind::{List, Text as Words};
use super::settings_fields::{TableForm, field};

pub(super) const RECIPIENT: TableForm = TableForm {
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

pub(super) const GROUP: TableForm = TableForm {
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

pub(super) const QUIET: TableForm = TableForm {
    way: &["notify", "quiet"],
    is_list: true,
    ko: "주의 알림을 미루는 시간",
    en: "Hours in which a Watch waits",
    fields: &[
        field(
            "days",
            List,
            "요일 (mon, tue, …; 비우면 매일)",
            "Days (mon, tue, …; empty: every day)",
        ),
        field("from", Words, "시작 (예: 22:00)", "From (such as 22:00)"),
        field("to", Words, "끝 (예: 07:00)", "To (such as 07:00)"),
    ],
    below: &[],
};
