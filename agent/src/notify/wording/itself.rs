//! The words for what is wrong with the agent's own files while it works.

use pdm_shared::bounds::in_one_line;
use pdm_shared::text::Text;
use pdm_store::MissingRows;

/// Characters of a reason that a message quotes: a path, a line, a key and what is allowed.
const REASON_CHARS: usize = 400;

/// A configuration that was read again is refused.
pub(in crate::notify) fn configuration_refused(why: &str) -> (Text, Text) {
    let why = in_one_line(why, REASON_CHARS);
    (
        Text::new(
            "[에이전트] 새 설정이 거부되어 이전 설정으로 계속 동작",
            "[Agent] the new configuration is refused, the one of before stays",
        ),
        Text::new(
            format!(
                "이유: {why}\n바꾸려던 내용(담당자, 경로, 기준 등)은 적용되지 않음\n조치: 파일을 고친 뒤 `pdm-agent check`로 확인하고 \
                 다시 읽게 함(SIGHUP)"
            ),
            format!(
                "Reason: {why}\nWhat was to change (people, ways, thresholds) has no \
                 effect\nAction: mend the file, try it with `pdm-agent check`, then have it read \
                 again (SIGHUP)"
            ),
        ),
    )
}

/// The store lacks what the agent wrote last.
pub(in crate::notify) fn missing_rows(missing: &MissingRows) -> (Text, Text) {
    let MissingRows { place, is_server, written_at, found_at } = missing;
    let (state_ko, state_en) = match found_at {
        None => ("비어 있음".to_owned(), "is empty".to_owned()),
        Some(at) => (format!("{at}까지만 있음"), format!("ends at {at}")),
    };
    let (why_ko, why_en) = if *is_server {
        (
            "데이터베이스가 비워졌거나 백업으로 교체되었거나, 뒤처진 복제 서버가 넘겨받았거나, 주소가 다른 데이터베이스로 이어짐",
            "The database was emptied or put back from a backup, a replica that was behind has \
             taken over, or the address leads to another database",
        )
    } else {
        (
            "파일이나 그 로그(-wal)가 삭제되었거나 비워졌거나 백업으로 교체됨",
            "The file or its log (-wal) was removed, emptied or put back from a backup",
        )
    };
    let (recover_ko, recover_en) = if *is_server {
        ("", "")
    } else {
        (
            ", 손상된 파일이 남아 있으면 `pdm-agent store recover`",
            ", or run `pdm-agent store recover` where the damaged file is still there",
        )
    };
    (
        Text::new(
            "[에이전트] 저장소의 최근 내용이 없어짐: 서 있던 경보를 모름",
            "[Agent] the store has lost its latest rows: alarms that stood are not known",
        ),
        Text::new(
            format!(
                "{place}: {state_ko}. 에이전트가 마지막으로 기록한 시각: {written_at}\n{why_ko}. 그 사이의 판정, 경보, \
                 확인, 사용자가 없음. 게이트웨이가 아직 가진 측정값은 다시 받음\n조치: 에이전트를 멈추고 최근 백업을 \
                 복원{recover_ko}(docs/operations.md). 그동안 최근에 경보가 있던 설비를 직접 확인"
            ),
            format!(
                "{place} {state_en}; the agent last wrote into it at {written_at}\n{why_en}. \
                 Judgements, alarms, acknowledgements and users of that time are gone; what the \
                 gateways still have is asked for\nAction: stop the agent and restore the latest \
                 backup{recover_en} (docs/operations.md). Look at the machines that had alarms \
                 meanwhile"
            ),
        ),
    )
}

/// Returns the line of health on missing rows.
pub(crate) fn missing_rows_line(missing: &MissingRows) -> String {
    let MissingRows { place, is_server, written_at, found_at } = missing;
    let state = found_at.map_or_else(|| "is empty".to_owned(), |at| format!("ends at {at}"));
    if *is_server {
        return format!(
            "the store {place} {state}, and the agent last wrote into it at {written_at}: the \
             database was emptied or put back, a replica that was behind has taken over, or the \
             address leads to another database; restore the latest backup"
        );
    }
    format!(
        "the store {place} {state}, and the agent last wrote into it at {written_at}: its file or \
         its log (-wal) was removed, emptied or put back; restore the latest backup, or run \
         `pdm-agent store recover` on a damaged file"
    )
}
