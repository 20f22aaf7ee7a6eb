//! The open work whose time ends next, and who has it.

use pdm_shared::follow_up::FollowUpState;
use pdm_shared::text::{Language, Text};
use pdm_shared::time::Timestamp;

use super::desk::{Desk, Focus, WorkLine};
use super::on_duty;
use super::plant_records::{MAX_LISTED, more};
use super::reader::Reader;
use super::records::worked;

/// The open work that is not late, by when its time ends.
pub(super) fn due_next(foci: &[Focus], reader: Reader) -> String {
    let language = reader.language;
    let open = |focus: &'_ Focus| -> Vec<(Timestamp, String)> {
        let name = focus.core.full_name(language);
        let waits = |work: &&WorkLine| work.state == FollowUpState::Open;
        let due = focus.work.iter().filter(waits).filter_map(|work| Some((work.due_at?, work)));
        let ahead = due.filter(|(at, _)| reader.now.is_none_or(|now| *at >= now));
        ahead.map(|(at, work)| (at, format!("{} ({name})", worked(work, reader)))).collect()
    };
    let mut all: Vec<(Timestamp, String)> = foci.iter().flat_map(open).collect();
    all.sort_by_key(|(at, _)| *at);
    let none =
        Text::new("앞으로 기한이 있는 열린 작업이 없습니다.", "No open work has a time ahead.");
    if all.is_empty() {
        return none.in_language(language).to_owned();
    }
    let head = Text::new(
        "기한이 가까운 순서(지난 것 제외):",
        "Due next, the nearest first (without what is overdue):",
    );
    let count = all.len();
    let lines = all.into_iter().take(MAX_LISTED).map(|(_, line)| line);
    let lines = std::iter::once(head.in_language(language).to_owned()).chain(lines);
    lines.chain(more(count, language)).collect::<Vec<_>>().join("\n")
}

/// The open work of a bearing whose person is asked for.
pub(super) fn open_work(focus: &Focus, reader: Reader) -> String {
    let language = reader.language;
    let name = focus.core.full_name(language);
    let open = focus.work.iter().filter(|work| work.state == FollowUpState::Open);
    let lines: Vec<String> = open.map(|work| worked(work, reader)).collect();
    match (lines.is_empty(), language) {
        (true, Language::Ko) => format!("{name}: 열린 작업이 없습니다."),
        (true, Language::En) => format!("{name}: no work is open."),
        (false, Language::Ko) => format!("{name}, 열린 작업:\n{}", lines.join("\n")),
        (false, Language::En) => format!("{name}, open work:\n{}", lines.join("\n")),
    }
}

/// Says who has work: no record assigns it to a person, so the answer names who is on duty.
pub(super) async fn assigned(desk: &dyn Desk, reader: Reader) -> String {
    let language = reader.language;
    let nobody = match language {
        Language::Ko => {
            "작업을 맡은 사람은 기록에 없습니다(작업은 사람에게 배정되지 않습니다). 지금 당직:"
        }
        Language::En => "Nobody is assigned: my records assign no work to a person. On duty now:",
    };
    let duty = on_duty::duty(desk, &[], "", reader).await.unwrap_or_else(|| match language {
        Language::Ko => "당직을 알 수 없습니다.".to_owned(),
        Language::En => "who is on duty is not known.".to_owned(),
    });
    format!("{nobody}\n{duty}")
}
