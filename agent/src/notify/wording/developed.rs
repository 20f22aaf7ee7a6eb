//! The texts of an alarm whose damage has gone on within its level.

use pdm_episode::{Finding, ToldFinding};
use pdm_shared::text::Text;

/// The title of damage that has gone on since it was told.
pub(in crate::notify) fn developed(title: &Text) -> Text {
    Text::new(format!("[진행] {}", title.ko), format!("[Update] {}", title.en))
}

/// The title without the mark of damage that has gone on.
pub(super) fn of_the_alarm(title: &Text) -> Text {
    let ko = title.ko.strip_prefix("[진행] ").unwrap_or(&title.ko);
    let en = title.en.strip_prefix("[Update] ").unwrap_or(&title.en);
    Text::new(ko, en)
}

/// The body of such a message: what differs from what staff was told, before what is known now.
pub(in crate::notify) fn since_told(
    body: Text,
    before: Option<&ToldFinding>,
    now: Finding,
) -> Text {
    let unknown = ToldFinding::default();
    let before = before.unwrap_or(&unknown);
    let mut ko = Vec::new();
    let mut en = Vec::new();
    if now.stage > before.stage {
        ko.push(format!("P-F {}단계 → {}단계", before.stage, now.stage));
        en.push(format!("P-F stage {} to {}", before.stage, now.stage));
    }
    if let Some(fault) = now.fault.filter(|fault| !before.elements.contains(fault)) {
        let name = fault.name();
        let was = before.elements.last().map(|fault| fault.name());
        let was = was.unwrap_or_else(|| Text::new("부위 미특정", "element not named"));
        ko.push(format!("{} → {}", was.ko, name.ko));
        en.push(format!("{} to {}", was.en, name.en));
    }
    if now.is_urgent && !before.is_urgent {
        ko.push("조치: 부품 긴급 발주로 바뀜".to_owned());
        en.push("action: now expedite the parts".to_owned());
    }
    Text::new(
        format!("앞선 알림 뒤 달라짐: {}\n{}", ko.join("; "), body.ko),
        format!("Since the last message: {}\n{}", en.join("; "), body.en),
    )
}

#[cfg(test)]
mod tests {
    use pdm_shared::fault::Fault;

    use super::*;

    #[test]
    fn what_differs_from_what_was_told_is_named() {
        let body = || Text::new("본문", "body");
        let before = ToldFinding { stage: 1, ..ToldFinding::default() };
        let now = Finding { stage: 3, fault: Some(Fault::Cage), is_urgent: true };
        let told = since_told(body(), Some(&before), now);
        assert_eq!(
            told.en,
            "Since the last message: P-F stage 1 to 3; element not named to cage; action: now \
             expedite the parts\nbody"
        );
        assert!(
            told.ko.starts_with("앞선 알림 뒤 달라짐: P-F 1단계 → 3단계; 부위 미특정 → "),
            "{}",
            told.ko
        );
    }
}
