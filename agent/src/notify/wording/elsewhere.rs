//! The words of an alarm that reaches somebody because another did not take it.

use pdm_shared::text::Text;

/// The body of a notification that `lane` did not take.
pub(in crate::notify) fn elsewhere(body: &Text, lane: &str) -> Text {
    let way = way(lane);
    Text::new(
        format!(
            "{}\n전달 안 됨: {way}에 보내지 못해 여기로 전송됨. 조치: 이 알림을 담당자에게 직접 알리고 알림 화면에서 원인 확인",
            body.ko
        ),
        format!(
            "{}\nNot delivered: {way} did not take this message, so it comes to you. Action: tell \
             whoever is responsible, and see the page Notifications for the cause",
            body.en
        ),
    )
}

/// A lane as people name it: the person and the way, or the channel.
fn way(lane: &str) -> String {
    let person = lane.strip_prefix("to:").and_then(|rest| rest.rsplit_once(':'));
    match person {
        Some((person, way)) => format!("{person} ({way})"),
        None => lane.strip_prefix("webhook:").unwrap_or(lane).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-AGENT-10
    #[test]
    fn a_message_that_comes_instead_names_whose_way_did_not_take_it() {
        let body = Text::new("근거", "Evidence");
        let told = elsewhere(&body, "to:lee:email");
        assert!(told.en.starts_with("Evidence\nNot delivered: lee (email) did"), "{}", told.en);
        assert!(told.ko.contains("lee (email)에"), "{}", told.ko);
        assert_eq!((way("webhook:ops"), way("email")), ("ops".to_owned(), "email".to_owned()));
    }
}
