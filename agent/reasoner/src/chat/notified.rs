//! What staff was told of a bearing, and what decides who is told.

use pdm_shared::text::{Language, Text};
use pdm_shared::time::Timestamp;

use super::desk::Focus;
use super::reader::Reader;
use super::records::{list, written};
use super::{intent, suppressed, watching};

/// How the titles of reminders begin.
const AGAIN: [&str; 2] = ["[Reminder", "[Unacknowledged"];
/// Messages that are told.
const MAX_TOLD: usize = 10;

/// Who has acknowledged the alarm, and when.
pub(super) fn acknowledged(focus: &Focus, reader: Reader) -> Option<String> {
    let (by, at) = focus.record.onset.as_ref()?.acknowledged.as_ref()?;
    let at = reader.clock_time(*at);
    Some(match reader.language {
        Language::Ko => format!("{by}: {at} 확인함"),
        Language::En => format!("Acknowledged by {by}, {at}"),
    })
}

/// What staff was told of a bearing, who it went to, and who has acknowledged it; where somebody
/// asks why a person was not told, what decides that.
pub(super) fn notified(focus: &Focus, clause: &str, reader: Reader) -> String {
    let language = reader.language;
    let line = |(at, title): &&(_, Text)| {
        format!("- {} {}", reader.clock_time(*at), title.in_language(language))
    };
    // a reminder says again what was told
    let is_again =
        |told: &&(Timestamp, Text)| AGAIN.iter().any(|begin| told.1.en.starts_with(begin));
    let again = focus.told.iter().filter(is_again).count();
    let first = focus.told.iter().filter(|told| !is_again(told));
    let mut lines: Vec<String> = first.take(MAX_TOLD).map(|told| line(&told)).collect();
    lines.extend((again > 0).then(|| match language {
        Language::Ko => format!("- 그 밖에 재알림 {again}건"),
        Language::En => format!("- and {again} reminders"),
    }));
    let none = Text::new("이 베어링에 대한 알림이 없습니다.", "Nothing was told of this bearing.");
    let head = Text::new("보낸 알림:", "What staff was told:");
    let listed = list(&head, lines, language);
    let is_told = listed.is_some();
    let listed = listed.unwrap_or_else(|| none.in_language(language).to_owned());
    let to: Vec<&str> = focus.record.told_to.iter().map(|to| to.in_language(language)).collect();
    let whom = (!to.is_empty()).then(|| match language {
        Language::Ko => format!("마지막 알림을 받은 곳: {}", to.join(", ")),
        Language::En => format!("The last message went to: {}", to.join(", ")),
    });
    let seen = match (acknowledged(focus, reader), language) {
        (Some(seen), _) => Some(seen),
        (None, _) if !is_told => {
            let unseen = watching::unseen(&focus.core, reader);
            // one that is told with another's alarm has no message of its own
            let beside = suppressed::suppressed(&focus.core, reader);
            let told = format!("{}: {listed}", focus.core.name());
            let untold = untold(clause, language);
            let parts = untold.into_iter().chain([told]).chain(beside).chain(unseen);
            return parts.collect::<Vec<_>>().join("\n");
        }
        (None, _) if focus.core.alarm.is_none() => None,
        (None, Language::Ko) => Some("아직 확인한 사람이 없습니다.".to_owned()),
        (None, Language::En) => Some("Nobody has acknowledged it yet.".to_owned()),
    };
    let notes: Vec<String> = focus.record.notes.iter().map(|note| written(note, reader)).collect();
    let head = Text::new("적힌 메모:", "What people wrote:");
    let notes = list(&head, notes, language);
    let put_off = suppressed::suppressed(&focus.core, reader);
    let untold = untold(clause, language);
    let parts = [untold, seen, put_off, notes, Some(listed), whom];
    let name = focus.core.full_name(language);
    std::iter::once(name).chain(parts.into_iter().flatten()).collect::<Vec<_>>().join("\n")
}

/// What decides who is told, where a clause asks why somebody was not.
fn untold(clause: &str, language: Language) -> Option<String> {
    intent::asks_why_untold(&clause.to_lowercase()).then(|| match language {
        Language::Ko => {
            "누가 묻는지는 알 수 없습니다. 알림은 아래 경로의 단계에 있는 사람에게 가며, 당직조가 있는 단계에서는 그때 당직인 사람에게만 갑니다. 그때 당직이 \
             없거나 다음 단계의 시간이 되기 전에 확인되면 그 사람에게는 가지 않습니다."
                .to_owned()
        }
        Language::En => {
            "I cannot know who asks. A message goes to the people of the steps below, and of a \
             rota to those alone who are on duty at that time. Who is in no step, was not on duty \
             then, or comes in a later step of an alarm that was acknowledged before gets none."
                .to_owned()
        }
    })
}
