//! Lines of a topic and a JSON document behind it, as `mosquitto_sub -v` prints messages.
//!
//! Invariant: messages of several topics are refused, since they are those of several sensors.

use std::collections::BTreeSet;

use serde_json::Value;

use super::MAX_BYTES;

/// Longest word in front of a document, in bytes.
const LONGEST_TOPIC: usize = 256;

/// The documents behind the topics, and a note; `None` if the text is of another form.
///
/// # Errors
/// There are several topics; in words.
pub(in super::super) fn documents(text: &str) -> Result<Option<(Vec<Value>, String)>, String> {
    if text.len() > MAX_BYTES {
        return Ok(None);
    }
    let mut topics = BTreeSet::new();
    let mut all = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let Some((topic, document)) = split(line) else { return Ok(None) };
        topics.insert(topic);
        all.push(document);
    }
    let mut names = topics.iter();
    match (names.next(), names.next()) {
        (Some(topic), None) => {
            let note = format!("messages of the topic {topic:?}: {}", all.len());
            Ok(Some((all, note)))
        }
        (Some(_), Some(_)) => Err(format!(
            "the lines are JSON messages of {} topics ({}); save those of each topic in a file of \
             its own",
            topics.len(),
            topics.iter().take(8).copied().collect::<Vec<_>>().join(", ")
        )),
        (None, _) => Ok(None),
    }
}

/// The last word in front of a document, and the document.
fn split(line: &str) -> Option<(&str, Value)> {
    let at = line.find([' ', '\t']).and_then(|from| {
        let opened = line.get(from..)?.find(['{', '['])?;
        Some(from + opened)
    })?;
    let (front, document) = line.split_at_checked(at)?;
    let is_topic = front.len() <= LONGEST_TOPIC && !front.contains(['{', '[', '"', ',']);
    let topic = front.split_whitespace().last().filter(|_| is_topic)?;
    let document: Value = serde_json::from_str(document.trim()).ok()?;
    (document.is_object() || document.is_array()).then_some((topic, document))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_behind_one_topic_are_messages_and_several_topics_are_refused() {
        let line = |topic: &str| format!("{topic} {{\"fs\": 500, \"x\": [0.5, 0.25]}}\n");
        let (all, note) = documents(&line("mill/7/acc").repeat(3)).expect("one").expect("topics");
        assert!(all.len() == 3 && note.contains("mill/7/acc"), "{note}");
        let stamped = line("2026-05-04T06:07:08+0000 mill/7/acc");
        assert!(documents(&stamped).expect("one").is_some());
        let two = line("mill/7/acc") + &line("mill/8/acc");
        assert!(documents(&two).expect_err("two").contains("mill/7/acc, mill/8/acc"));
        for text in ["time,x\n1,2\n", "{\"a\": 1}\n", "", "a b\n"] {
            assert!(documents(text).expect("another form").is_none(), "{text}");
        }
    }
}
